"""The folder of pages: what is a page, the cache behind it, safe paths, provenance that survives a slip of the hand."""

from __future__ import annotations

import dataclasses
import os
import unicodedata
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from kb_pipeline.errors import StorageError
from kb_pipeline.markdown.pages import read_page, render_page
from kb_pipeline.models import PageDraft, Related, SourceRef, WikiPage
from kb_pipeline.storage import pages as pages_module
from kb_pipeline.storage.cache import CacheFile, PageCache
from kb_pipeline.storage.page_rows import decode_page, encode_page
from kb_pipeline.storage.pages import PageFolder

HASH = "ab" * 32
BODY = """# 權杖：換發

結論在前，見 [[夜間備份|備份]] 與 ![圖](a%20b.png)。

## 過期 `週期`

| 甲 | 乙 |
|---|---|
| [[x\\|y]] | 2 |

### 細節

```sh
kb build
```

## 過期 `週期`

同一段文字。

## 另一節

同一段文字。
"""


def text_of(path: str, title: str = "權杖：換發", body: str = BODY, document: str = "auth/token.md") -> str:
    draft = PageDraft(
        path,
        title,
        "測試環境",
        "九十天過期、三次重試、凌晨兩點",
        ("權杖", "token", "換發"),
        body,
        date(2026, 8, 18),
        related=(Related("ops/backup.md", "每晚備份"),),
        aliases=("舊名",),
        extra={"owner": "王小明", "deep": {"a": [None, True, "x"]}},
    )
    return render_page(draft, [SourceRef(document, HASH), SourceRef("other.md", HASH)], "offline", "key1", "1/2")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "knowledge"
    write(folder, "auth/token.md", text_of("auth/token.md"))
    write(folder, "mine.md", "---\ntitle: 手寫\n---\n\n# 手寫\n\n內容\n")
    return folder


def write(root: Path, path: str, text: str) -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    return file


@pytest.fixture
def folder(root: Path, tmp_path: Path) -> Callable[[], PageFolder]:
    """Opens the folder as a new process would, on one cache."""
    return lambda: PageFolder(root, PageCache(CacheFile(tmp_path / ".kb" / "cache.sqlite")))


class Reads:
    """Counts pages parsed, and lets readings count as old enough to be trusted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.parsed: list[str] = []
        parse = pages_module.read_page_of_disk

        def counting(path: str, content: bytes) -> WikiPage:
            self.parsed.append(path)
            return parse(path, content)

        monkeypatch.setattr(pages_module, "read_page_of_disk", counting)
        monkeypatch.setattr(pages_module, "_RACY_NS", -(10**18))

    def take(self) -> list[str]:
        taken, self.parsed = self.parsed, []
        return sorted(taken)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Reads:
    return Reads(monkeypatch)


class TestReading:
    def test_a_scan_gives_the_provenance_of_every_page(self, root: Path) -> None:
        found = PageFolder(root).scan()
        assert list(found) == ["auth/token.md", "mine.md"]
        page = found["auth/token.md"]
        assert page.owner == "auth/token.md"
        assert page.sources == (SourceRef("auth/token.md", HASH), SourceRef("other.md", HASH))
        assert page.compiled is not None
        assert page.compiled.part == "1/2"
        assert not page.edited_by_hand
        assert found["mine.md"].compiled is None

    def test_pages_from_the_cache_equal_pages_from_the_parser(
        self, root: Path, folder: Callable[[], PageFolder], reads: Reads
    ) -> None:
        first = folder().load_all()
        assert reads.take() == ["auth/token.md", "mine.md"]
        second = folder().load_all()
        assert reads.take() == []
        assert second == first
        assert second == {path: read_page(path, (root / path).read_bytes()) for path in second}

    def test_a_scan_fills_the_cache_for_a_load(self, folder: Callable[[], PageFolder], reads: Reads) -> None:
        folder().scan()
        reads.take()
        folder().load_all()
        assert reads.take() == []

    def test_one_changed_page_is_one_page_parsed(
        self, root: Path, folder: Callable[[], PageFolder], reads: Reads
    ) -> None:
        opened = folder()
        opened.load_all()
        reads.take()
        write(root, "mine.md", "# 新的\n")
        for each in (opened, folder()):
            assert each.load_all()["mine.md"].body == "# 新的\n"
        assert reads.take() == ["mine.md"]

    def test_touched_pages_are_not_parsed(self, root: Path, folder: Callable[[], PageFolder], reads: Reads) -> None:
        before = folder().scan()
        reads.take()
        os.utime(root / "mine.md", (1, 1))
        assert folder().scan() == before
        assert reads.take() == []

    def test_a_change_that_keeps_size_and_mtime_is_seen(
        self, root: Path, folder: Callable[[], PageFolder], reads: Reads
    ) -> None:
        before = folder().scan()
        file = root / "mine.md"
        stat = file.stat()
        file.write_text(file.read_text().replace("內容", "容內"))
        os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        assert folder().scan()["mine.md"].content_sha256 != before["mine.md"].content_sha256

    def test_a_page_just_written_is_looked_at_once_more(self, root: Path, folder: Callable[[], PageFolder]) -> None:
        """Two writes within the disk's clock may carry one time: a young reading is not trusted."""
        opened = folder()
        opened.scan()
        file = root / "mine.md"
        stat = file.stat()
        content = file.read_bytes()
        file.write_bytes(content.replace("內容".encode(), "容內".encode()))
        os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        assert "容內" in opened.load_all()["mine.md"].body

    def test_crlf_and_a_mark_are_no_change_of_content(self, root: Path) -> None:
        before = PageFolder(root).scan()["mine.md"].content_sha256
        content = (root / "mine.md").read_bytes()
        (root / "mine.md").write_bytes(b"\xef\xbb\xbf" + content.replace(b"\n", b"\r\n"))
        assert PageFolder(root).scan()["mine.md"].content_sha256 == before

    def test_a_deleted_page_is_gone_from_everything(
        self, root: Path, folder: Callable[[], PageFolder], tmp_path: Path
    ) -> None:
        opened = folder()
        opened.load_all()
        (root / "mine.md").unlink()
        for each in (opened, folder()):
            assert list(each.load_all()) == ["auth/token.md"]
        assert list(PageCache(CacheFile(tmp_path / ".kb" / "cache.sqlite")).load_pages()) == ["auth/token.md"]

    def test_an_unreadable_page_is_a_page_with_a_problem(self, root: Path, folder: Callable[[], PageFolder]) -> None:
        (root / "latin1.md").write_bytes(b"caf\xe9\n")
        for each in (folder(), folder()):
            page = each.load_all()["latin1.md"]
            assert [problem.code for problem in page.problems] == ["unreadable-text"]

    def test_a_folder_that_is_not_there_has_no_pages(self, tmp_path: Path) -> None:
        assert PageFolder(tmp_path / "none").load_all() == {}

    def test_only_markdown_files_in_sight_are_pages(self, root: Path, tmp_path: Path) -> None:
        write(root, ".obsidian/a.md", "x")
        write(root, ".hidden.md", "x")
        write(root, "picture.png", "x")
        write(root, "UPPER.MD", "# x\n")
        write(tmp_path, "outside.md", "secret")
        (root / "link.md").symlink_to(tmp_path / "outside.md")
        (root / "folder").symlink_to(tmp_path)
        opened = PageFolder(root)
        assert list(opened.scan()) == ["UPPER.MD", "auth/token.md", "mine.md"]
        assert set(opened.refused) == {"link.md", "folder"}

    def test_names_that_are_one_elsewhere_are_told(self, root: Path) -> None:
        write(root, "Mine.md", "# x\n")
        if len(list(root.glob("*.md"))) < 2:
            pytest.skip("this file system does not tell case apart")
        opened = PageFolder(root)
        assert [path.lower() for path in opened.scan()].count("mine.md") == 1
        assert "rename one of them" in next(iter(opened.refused.values()))


class TestWriting:
    def test_a_page_is_written_read_and_deleted(self, root: Path) -> None:
        opened = PageFolder(root)
        assert opened.write("新/頁.md", "# 頁\n")
        assert not opened.write("新/頁.md", "# 頁\n")
        assert opened.read("新/頁.md").body == "# 頁\n"
        assert opened.delete("新/頁.md")
        assert not opened.delete("新/頁.md")
        assert not (root / "新").exists()
        assert root.is_dir()

    def test_a_decomposed_name_is_kept_on_disk(self, root: Path) -> None:
        decomposed = unicodedata.normalize("NFD", "é.md")
        write(root, decomposed, "# x\n")
        opened = PageFolder(root)
        name = unicodedata.normalize("NFC", "é.md")
        assert name in opened.scan()
        opened.write(name, "# y\n")
        assert (root / decomposed).read_text() == "# y\n"
        assert len(list(root.glob("*.md"))) == 2
        assert opened.delete(name)

    @pytest.mark.parametrize(
        "path", ["../x.md", "/etc/x.md", "a/../../x.md", ".git/x.md", "a//x.md", "", "x.txt", "a/./x.md", "x\0.md"]
    )
    def test_a_path_that_is_none_of_a_page_is_refused(self, root: Path, path: str) -> None:
        with pytest.raises(StorageError):
            PageFolder(root).write(path, "x")

    def test_nothing_is_written_or_deleted_behind_a_link(self, root: Path, tmp_path: Path) -> None:
        write(tmp_path, "outside/x.md", "keep")
        (root / "way").symlink_to(tmp_path / "outside")
        (root / "x.md").symlink_to(tmp_path / "outside/x.md")
        opened = PageFolder(root)
        for act in (
            lambda: opened.write("way/x.md", "y"),
            lambda: opened.delete("way/x.md"),
            lambda: opened.read("x.md"),
        ):
            with pytest.raises(StorageError, match="symbolic link"):
                act()
        assert (tmp_path / "outside/x.md").read_text() == "keep"

    def test_a_missing_page_is_told(self, root: Path) -> None:
        with pytest.raises(StorageError, match=r"cannot read page none\.md"):
            PageFolder(root).read("none.md")


class TestBrokenFrontMatter:
    """A page stays its document's when a person or a merge has broken its front matter: else it is compiled twice."""

    @pytest.mark.parametrize(
        ("find", "put"),
        [
            ("scope: 測試環境", "scope: [測試"),
            ("scope: 測試環境", "scope: a: b: c"),
            ("status: current", "status: current\nstatus: draft"),
            ("title:", "\ttitle:"),
            ("status: current", "<<<<<<< HEAD\nstatus: current\n=======\nstatus: draft\n>>>>>>> topic"),
            ("---\n\n#", "\n#"),
        ],
    )
    def test_its_provenance_is_still_found(self, root: Path, find: str, put: str) -> None:
        text = text_of("auth/token.md")
        assert find in text
        write(root, "auth/token.md", text.replace(find, put, 1))
        opened = PageFolder(root)
        page = opened.scan()["auth/token.md"]
        assert page.owner == "auth/token.md"
        assert page.sources[0].sha256 == HASH
        assert page.compiled is not None
        assert (page.compiled.key, page.compiled.part) == ("key1", "1/2")
        assert page.edited_by_hand
        assert opened.load_all()["auth/token.md"].owner == "auth/token.md"
        assert opened.load_all()["auth/token.md"].problems

    def test_of_a_conflict_our_side_counts(self, root: Path) -> None:
        ours, theirs = text_of("auth/token.md"), text_of("auth/token.md").replace(HASH, "cd" * 32)
        marked = ours.replace(
            f"    sha256: {HASH}\n",
            f"<<<<<<< HEAD\n    sha256: {HASH}\n=======\n    sha256: {'cd' * 32}\n>>>>>>> x\n",
            1,
        )
        assert theirs != marked
        write(root, "auth/token.md", marked)
        assert PageFolder(root).scan()["auth/token.md"].sources[0] == SourceRef("auth/token.md", HASH)

    def test_a_handwritten_page_gets_none(self, root: Path) -> None:
        write(root, "mine.md", "---\ntitle: [x\n---\n\ncompiled: by hand\n")
        assert PageFolder(root).scan()["mine.md"].compiled is None


class TestRows:
    def test_every_field_of_a_page_comes_back(self) -> None:
        page = read_page("auth/token.md", text_of("auth/token.md").encode())
        assert decode_page(encode_page(page)) == page
        unset = [
            field.name
            for field in dataclasses.fields(page)
            if getattr(page, field.name) in ((), "", None) and field.name not in {"tags", "problems", "kind"}
        ]
        assert unset == []
        assert all(getattr(page.outline, field.name) for field in dataclasses.fields(page.outline))

    def test_a_page_with_problems_comes_back(self) -> None:
        page = read_page("a.md", b"---\ntitle: [\n---\n\n# a\n")
        assert page.problems
        assert decode_page(encode_page(page)) == page

    def test_odd_characters_come_back(self) -> None:
        page = read_page("a.md", "# a\u2028b\u200b\x07\n\n## \U0001f600\n\n\ufffd\n".encode())
        assert decode_page(encode_page(page)) == page

    def test_the_handed_vaults_come_back(self, shared: Path) -> None:
        files = sorted((shared / "vaults").rglob("*.md"))[:150]
        assert files
        for file in files:
            page = read_page(file.name, file.read_bytes())
            assert decode_page(encode_page(page)) == page
