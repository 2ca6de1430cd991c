"""Scanning ``raw/``: which files are documents, in which state, and why."""

from __future__ import annotations

import errno
import os
import shutil
import unicodedata
from collections.abc import Collection, Mapping
from pathlib import Path

import pytest

from kb_pipeline.errors import SourceError
from kb_pipeline.models import DocumentState, FileReading, RawEntry
from kb_pipeline.sources.filesystem import METADATA_FOLDER, read_document, scan_raw

TEXT = "# 標題\n\n內容。\n"


class MemoryCache:
    """A reading cache in memory that can be made to claim that its readings are old."""

    def __init__(self) -> None:
        self.readings: dict[str, FileReading] = {}
        self.stored: list[str] = []
        self.aged = True

    def load(self) -> Mapping[str, FileReading]:
        late = 10**19 if self.aged else None
        return {path: row._replace(seen_ns=late or row.seen_ns) for path, row in self.readings.items()}

    def store(self, fresh: Mapping[str, FileReading], gone: Collection[str]) -> None:
        self.stored += sorted(fresh)
        self.readings.update(fresh)
        for path in gone:
            self.readings.pop(path, None)


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    folder = tmp_path / "raw"
    folder.mkdir()
    return folder


def write(raw: Path, path: str, content: str | bytes = TEXT) -> Path:
    file = raw / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


def states(entries: list[RawEntry]) -> dict[str, str]:
    return {entry.path: entry.state.value for entry in entries}


def reason(entries: list[RawEntry], path: str) -> str:
    found = next(entry for entry in entries if entry.path == path)
    assert found.reason is not None
    return found.reason


class TestIdentity:
    def test_documents_are_told_by_their_path_sorted(self, raw: Path) -> None:
        for path in ("b/notes.md", "a/notes.md", "等等...md", "x, y.md", "[k].md", "p|q.md", "v1.0.md", "v1.1.md"):
            write(raw, path)
        paths = [entry.path for entry in scan_raw(raw)]
        assert paths == sorted(paths)
        assert set(paths) >= {"a/notes.md", "b/notes.md", "等等...md"}
        assert len(paths) == 8

    def test_suffixes_count_in_any_case(self, raw: Path) -> None:
        for name in ("a.MD", "b.Markdown", "c.mdx", "d.TXT"):
            write(raw, name)
        assert set(states(scan_raw(raw)).values()) == {"pending"}

    def test_a_decomposed_name_is_identified_by_its_composed_form(self, raw: Path) -> None:
        decomposed = unicodedata.normalize("NFD", "Café.md")
        write(raw, decomposed)
        (entry,) = scan_raw(raw)
        assert (entry.path, entry.disk_path) == (unicodedata.normalize("NFC", "Café.md"), decomposed)
        assert read_document(raw, entry).text == TEXT

    def test_two_spellings_of_one_name_are_both_told(self, raw: Path) -> None:
        write(raw, unicodedata.normalize("NFC", "é.md"))
        write(raw, unicodedata.normalize("NFD", "é.md"))
        entries = scan_raw(raw)
        assert sorted(entry.state.value for entry in entries) == ["failed", "pending"]
        kept = next(entry for entry in entries if entry.state is DocumentState.PENDING)
        assert kept.disk_path == unicodedata.normalize("NFC", "é.md")
        assert "NFC" in next(entry.reason or "" for entry in entries if entry.state is DocumentState.FAILED)

    @pytest.mark.parametrize("pair", [("Notes.md", "notes.md"), ("A/x.md", "a/x.md")])
    def test_two_names_that_differ_only_in_case_are_told_by_both_names(self, raw: Path, pair: tuple[str, str]) -> None:
        for name in pair:
            write(raw, name)
        if len(list(raw.rglob("*.md"))) < 2:
            pytest.skip("this file system does not tell case apart")
        entries = scan_raw(raw)
        assert states(entries) == {pair[0]: "pending", pair[1]: "failed"}
        assert all(name in reason(entries, pair[1]) for name in pair)

    def test_a_name_that_is_no_utf8_fails_alone(self, raw: Path) -> None:
        write(raw, "good.md")
        (Path(os.fsdecode(os.fsencode(raw) + b"/bad\xff.md"))).write_text(TEXT)
        assert states(scan_raw(raw)) == {"bad\\xff.md": "failed", "good.md": "pending"}


class TestStates:
    def test_the_hash_does_not_depend_on_mark_line_ends_or_encoding(self, raw: Path) -> None:
        write(raw, "a.md", TEXT)
        write(raw, "b.md", TEXT.replace("\n", "\r\n"))
        write(raw, "c.md", b"\xef\xbb\xbf" + TEXT.encode())
        write(raw, "d.md", TEXT.encode("utf-16"))
        assert len({entry.sha256 for entry in scan_raw(raw)}) == 1

    @pytest.mark.parametrize(
        ("content", "why"),
        [
            ("", "empty: nothing but blanks"),
            (" \n\n　\n\u200b\n", "empty: nothing but blanks"),
            ("---\ntags: [x]\n---\n", "empty: only front matter"),
            ("---\ntags: [x]\n...\n\n  \n", "empty: only front matter"),
            ("<!-- 待寫 -->\n", "empty: only comments"),
            ("---\na: b\n---\n<!-- x -->\n%% y %%\n", "empty: only comments"),
            ("<!-- never closed\n\ntext\n", "empty: only comments"),
        ],
    )
    def test_a_document_without_content_is_empty(self, raw: Path, content: str, why: str) -> None:
        write(raw, "a.md", content)
        entries = scan_raw(raw)
        assert states(entries) == {"a.md": "empty"}
        assert reason(entries, "a.md") == why

    @pytest.mark.parametrize(
        "content", ["---\n\n---\n\ntext\n", "<!-- x --> text", "100%% sure", "```\n<!-- x -->\n```\n", "# 標題\n"]
    )
    def test_a_document_with_any_content_is_not_empty(self, raw: Path, content: str) -> None:
        write(raw, "a.md", content)
        assert states(scan_raw(raw)) == {"a.md": "pending"}

    @pytest.mark.parametrize(
        ("content", "why"),
        [
            (b"caf\xe9\n", "neither UTF-8 nor UTF-16"),
            (b"\x89PNG\r\n\x1a\n\0\0", "PNG"),
            (b"# a\n\n<<<<<<< HEAD\nold\n=======\nnew\n>>>>>>> topic\n", "git conflict marks on line 3, 5, 7"),
            (b"a" * (16 * 1024 * 1024 + 1), "larger than 16 MB"),
        ],
    )
    def test_what_cannot_be_read_fails_and_stops_nothing(self, raw: Path, content: bytes, why: str) -> None:
        write(raw, "bad.md", content)
        write(raw, "good.md")
        entries = scan_raw(raw)
        assert states(entries) == {"bad.md": "failed", "good.md": "pending"}
        assert why in reason(entries, "bad.md")

    def test_conflict_marks_in_a_fence_are_content(self, raw: Path) -> None:
        write(raw, "a.md", "# a\n\n```\n<<<<<<< HEAD\n=======\n>>>>>>> x\n```\n")
        assert states(scan_raw(raw)) == {"a.md": "pending"}

    def test_front_matter_can_leave_a_document_out(self, raw: Path) -> None:
        write(raw, "a.md", "---\nkb: skip\n---\n\ntext\n")
        write(raw, "b.md", "---\nkb: skipped\n---\n\ntext\n")
        write(raw, "c.md", "kb: skip\n")
        entries = scan_raw(raw)
        assert states(entries) == {"a.md": "ignored", "b.md": "pending", "c.md": "pending"}
        assert reason(entries, "a.md") == "front matter says kb: skip"

    def test_other_kinds_are_counted_with_advice(self, raw: Path) -> None:
        for name in ("a.pdf", "b.DOCX", "c.png", "d.xyz", "Makefile"):
            write(raw, name, b"\0")
        entries = scan_raw(raw)
        assert set(states(entries).values()) == {"ignored"}
        assert reason(entries, "a.pdf").startswith("PDF files are not read: convert it to markdown")
        assert reason(entries, "b.DOCX").startswith("Office files are not read: convert it")
        assert reason(entries, "c.png").startswith("pictures are not read: write what it shows")
        assert reason(entries, "d.xyz") == ".xyz files are not read: only .md, .markdown, .mdx, .txt are documents"
        assert "without a suffix" in reason(entries, "Makefile")

    def test_hidden_files_and_folders_are_passed_over_with_a_reason(self, raw: Path) -> None:
        write(raw, ".draft.md")
        write(raw, ".obsidian/a.md")
        entries = scan_raw(raw)
        assert states(entries) == {".draft.md": "ignored", ".obsidian/": "ignored"}
        assert reason(entries, ".obsidian/") == "hidden folder"

    def test_what_the_product_keeps_beside_documents_is_not_told(self, raw: Path) -> None:
        write(raw, f"notion/{METADATA_FOLDER}/a.md.json", "{}")
        write(raw, "notion/.kb-tmp-0123", "half")
        write(raw, ".kbignore", "*.tmp.md\n")
        assert scan_raw(raw) == []

    def test_what_may_not_be_read_fails_alone(self, raw: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Root reads everything, so the refusal is made here: at opening a file and at listing a folder."""
        write(raw, "a.md")
        write(raw, "locked/b.md")
        write(raw, "c.md")
        opening, listing = os.open, os.scandir

        def refuse(path: str, name: str) -> None:
            if path.rstrip("/").endswith(name):
                raise PermissionError(errno.EACCES, "Permission denied")

        monkeypatch.setattr(os, "open", lambda path, *rest: (refuse(str(path), "/a.md"), opening(path, *rest))[1])
        monkeypatch.setattr(os, "scandir", lambda path: (refuse(str(path), "/locked"), listing(path))[1])
        entries = scan_raw(raw)
        assert states(entries) == {"a.md": "failed", "c.md": "pending", "locked/": "failed"}
        assert reason(entries, "a.md") == "not readable: Permission denied"
        assert reason(entries, "locked/") == "folder not readable: Permission denied"

    def test_a_pipe_named_like_a_document_is_not_waited_for(self, raw: Path) -> None:
        os.mkfifo(raw / "a.md")
        assert states(scan_raw(raw)) == {"a.md": "ignored"}

    def test_a_missing_folder_is_never_the_same_as_an_empty_one(self, tmp_path: Path) -> None:
        with pytest.raises(SourceError, match=r"missing: .*raw\. Create it, mount it"):
            scan_raw(tmp_path / "raw")
        (tmp_path / "raw").mkdir()
        assert scan_raw(tmp_path / "raw") == []


class TestLinks:
    def test_a_link_to_a_document_inside_is_a_duplicate(self, raw: Path) -> None:
        write(raw, "a.md")
        (raw / "b.md").symlink_to("a.md")
        entries = scan_raw(raw)
        assert states(entries) == {"a.md": "pending", "b.md": "ignored"}
        assert reason(entries, "b.md") == "symbolic link: a.md is read in its own place"

    def test_a_link_that_leaves_the_folder_is_refused(self, raw: Path, tmp_path: Path) -> None:
        (tmp_path / "secret.md").write_text(TEXT)
        (tmp_path / "outside").mkdir()
        (raw / "a.md").symlink_to(tmp_path / "secret.md")
        (raw / "folder").symlink_to(tmp_path / "outside")
        entries = scan_raw(raw)
        assert states(entries) == {"a.md": "failed", "folder/": "failed"}
        assert "refused" in reason(entries, "a.md")

    def test_a_folder_whose_name_only_begins_like_raw_is_outside(self, raw: Path, tmp_path: Path) -> None:
        (tmp_path / "raw-other").mkdir()
        (tmp_path / "raw-other" / "a.md").write_text(TEXT)
        (raw / "a.md").symlink_to(tmp_path / "raw-other" / "a.md")
        assert states(scan_raw(raw)) == {"a.md": "failed"}

    def test_loops_and_broken_links_end(self, raw: Path) -> None:
        write(raw, "d/a.md")
        (raw / "d/up").symlink_to("..")
        (raw / "loop.md").symlink_to("loop.md")
        (raw / "gone.md").symlink_to("nowhere.md")
        entries = scan_raw(raw)
        assert states(entries) == {"d/a.md": "pending", "d/up/": "ignored", "gone.md": "failed", "loop.md": "failed"}

    def test_the_folder_itself_may_be_a_link(self, tmp_path: Path) -> None:
        write(tmp_path / "notes", "a.md")
        (tmp_path / "raw").symlink_to("notes")
        (tmp_path / "notes" / "b.md").symlink_to(tmp_path / "notes" / "a.md")
        assert states(scan_raw(tmp_path / "raw")) == {"a.md": "pending", "b.md": "ignored"}


class TestCache:
    def test_an_unchanged_file_is_not_read_again(self, raw: Path) -> None:
        write(raw, "a.md")
        cache = MemoryCache()
        first = scan_raw(raw, cache=cache)
        assert cache.stored == ["a.md"]
        assert scan_raw(raw, cache=cache) == first
        assert cache.stored == ["a.md"]

    def test_a_touched_file_is_read_and_found_the_same(self, raw: Path) -> None:
        file = write(raw, "a.md")
        cache = MemoryCache()
        first = scan_raw(raw, cache=cache)
        os.utime(file, (1, 1))
        assert scan_raw(raw, cache=cache) == first
        assert cache.stored == ["a.md", "a.md"]

    def test_a_change_that_keeps_size_and_mtime_is_seen(self, raw: Path) -> None:
        file = write(raw, "a.md", "one\n")
        cache = MemoryCache()
        (before,) = scan_raw(raw, cache=cache)
        stat = file.stat()
        file.write_text("two\n")
        os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        (after,) = scan_raw(raw, cache=cache)
        assert before.sha256 != after.sha256

    def test_a_file_read_as_soon_as_it_was_written_is_read_once_more(self, raw: Path) -> None:
        write(raw, "a.md")
        cache = MemoryCache()
        cache.aged = False
        scan_raw(raw, cache=cache)
        scan_raw(raw, cache=cache)
        assert cache.stored == ["a.md", "a.md"]

    def test_a_vanished_file_leaves_the_cache(self, raw: Path) -> None:
        write(raw, "a.md")
        file = write(raw, "b.md")
        cache = MemoryCache()
        scan_raw(raw, cache=cache)
        file.unlink()
        scan_raw(raw, cache=cache)
        assert set(cache.readings) == {"a.md"}

    def test_states_and_reasons_come_from_the_cache_too(self, raw: Path) -> None:
        write(raw, "a.md", "")
        write(raw, "b.md", b"\xff")
        cache = MemoryCache()
        assert scan_raw(raw, cache=cache) == scan_raw(raw, cache=cache)


class TestIgnoring:
    def test_patterns_of_file_and_configuration_leave_documents_out(self, raw: Path) -> None:
        for path in ("drafts/a.md", "a.tmp.md", "b.md", "old/c.md", "old/keep.md"):
            write(raw, path)
        ignore = raw.parent / ".kbignore"
        ignore.write_text("# comment\n\ndrafts/\n*.tmp.md\nold/*\n!old/keep.md\n")
        entries = scan_raw(raw, ignore, patterns=["b.md"])
        assert states(entries) == {
            "a.tmp.md": "ignored",
            "b.md": "ignored",
            "drafts/": "ignored",
            "old/c.md": "ignored",
            "old/keep.md": "pending",
        }
        assert reason(entries, "drafts/") == 'pattern "drafts/" (.kbignore:3)'
        assert reason(entries, "b.md") == 'pattern "b.md" (ignore in kb.yml)'

    def test_a_pattern_may_be_written_from_the_project_root(self, raw: Path) -> None:
        write(raw, "a/x.md")
        write(raw, "b/x.md")
        ignore = raw.parent / ".kbignore"
        ignore.write_text("/raw/a/\n")
        assert states(scan_raw(raw, ignore)) == {"a/": "ignored", "b/x.md": "pending"}

    def test_a_file_in_the_raw_folder_has_the_last_word(self, raw: Path) -> None:
        write(raw, "a.md")
        (raw / ".kbignore").write_text("!a.md\n")
        assert states(scan_raw(raw, patterns=["*.md"])) == {"a.md": "pending"}

    def test_a_missing_file_leaves_nothing_out(self, raw: Path) -> None:
        write(raw, "a.md")
        assert states(scan_raw(raw, raw.parent / ".kbignore")) == {"a.md": "pending"}


class TestReading:
    def test_a_document_is_read_with_its_metadata_scope_and_date(self, raw: Path) -> None:
        write(raw, "notion/a.md", "\ufeff# a\r\n\r\nb\0\r\n")
        write(raw, f"notion/{METADATA_FOLDER}/a.md.json", '{"author": "王小明"}')
        (entry,) = scan_raw(raw)
        document = read_document(raw, entry, scope="測試環境")
        assert document.text == "# a\n\nb\n"
        assert document.sha256 == entry.sha256
        assert dict(document.metadata) == {"author": "王小明"}
        assert document.scope == "測試環境"

    def test_a_document_that_changed_since_the_scan_has_the_hash_of_what_was_read(self, raw: Path) -> None:
        write(raw, "a.md")
        (entry,) = scan_raw(raw)
        write(raw, "a.md", "other\n")
        assert read_document(raw, entry).sha256 != entry.sha256

    def test_a_document_that_went_since_the_scan_is_told(self, raw: Path) -> None:
        file = write(raw, "a.md")
        (entry,) = scan_raw(raw)
        file.unlink()
        with pytest.raises(SourceError, match=r"cannot read raw document a\.md"):
            read_document(raw, entry)

    def test_broken_metadata_is_told(self, raw: Path) -> None:
        write(raw, "a.md")
        write(raw, f"{METADATA_FOLDER}/a.md.json", "{")
        (entry,) = scan_raw(raw)
        with pytest.raises(SourceError, match="fetch the source again"):
            read_document(raw, entry)


def test_a_scan_changes_no_byte_of_the_folder(raw: Path) -> None:
    write(raw, "a/b.md")
    write(raw, "c.pdf", b"%PDF-")

    def snapshot() -> dict[str, tuple[bytes, int]]:
        return {str(file): (file.read_bytes(), file.stat().st_mtime_ns) for file in raw.rglob("*") if file.is_file()}

    before = snapshot()
    for entry in scan_raw(raw, cache=MemoryCache()):
        if entry.state is DocumentState.PENDING:
            read_document(raw, entry)
    assert snapshot() == before


class TestHandedCases:
    def scan_case(self, cases: Path, name: str, tmp_path: Path) -> list[RawEntry]:
        shutil.copytree(cases / name / "files" / "raw", tmp_path / "raw", symlinks=True)
        return scan_raw(tmp_path / "raw")

    def test_ingest_empty_raw(self, cases: Path, tmp_path: Path) -> None:
        entries = self.scan_case(cases, "ingest-empty-raw", tmp_path)
        assert states(entries) == {
            "blank.md": "empty",
            "empty.md": "empty",
            "good.md": "pending",
            "only-comment.md": "empty",
            "only-fm.md": "empty",
        }
        assert all(entry.reason for entry in entries if entry.state is DocumentState.EMPTY)

    def test_ingest_nul_byte(self, cases: Path, tmp_path: Path) -> None:
        entries = self.scan_case(cases, "ingest-nul-byte", tmp_path)
        assert states(entries) == {"a.md": "pending", "b.md": "pending", "c.md": "failed"}
        second = next(entry for entry in entries if entry.path == "b.md")
        assert "\0" not in read_document(tmp_path / "raw", second).text

    def test_ingest_conflict_and_noise(self, cases: Path, tmp_path: Path) -> None:
        entries = self.scan_case(cases, "ingest-conflict-and-noise", tmp_path)
        assert states(entries) == {"c.md": "failed"}
        assert "conflict marks" in reason(entries, "c.md")

    def test_ingest_same_basename(self, cases: Path, tmp_path: Path) -> None:
        entries = self.scan_case(cases, "ingest-same-basename", tmp_path)
        assert states(entries) == dict.fromkeys(["README.md", "a/README.md", "a/notes.md", "b/notes.md"], "pending")

    def test_ingest_partition_keys(self, cases: Path, tmp_path: Path) -> None:
        assert len(self.scan_case(cases, "ingest-partition-keys", tmp_path)) == 8
