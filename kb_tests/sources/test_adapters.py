"""Fetching with adapters: what is written, kept, refused, and what a failing one leaves alone."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest

from kb_pipeline.errors import SourceError, StorageError
from kb_pipeline.sources import DataSourceAdapter, RawDocument
from kb_pipeline.sources.adapters import FetchReport, fetch_into_raw, load_adapter
from kb_pipeline.sources.filesystem import read_document, scan_raw


class FakeSource(DataSourceAdapter):
    """Yields the given documents; fails after them if told so."""

    def __init__(
        self, documents: Sequence[object] = (), target: str = "notion", error: BaseException | None = None
    ) -> None:
        self.documents = documents
        self.target = target
        self.error = error

    def fetch(self) -> Iterator[RawDocument]:
        yield from self.documents  # type: ignore[misc] # tests hand in wrong things on purpose
        if self.error is not None:
            raise self.error

    def get_target_dir(self) -> str:
        return self.target


class Changes(FakeSource):
    complete = False


class Disk:
    """Writes plainly and keeps a log; fails for names that end with one of ``full``."""

    def __init__(self, *full: str) -> None:
        self.log: list[str] = []
        self.full = full

    def __call__(self, path: Path, content: bytes) -> None:
        if path.name.endswith(self.full or ("\0",)):
            raise StorageError(f"cannot write {path}: No space left on device")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        self.log.append(path.name)


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    (tmp_path / "raw").mkdir()
    return tmp_path / "raw"


def fetch(raw: Path, source: DataSourceAdapter, disk: Disk | None = None, target: str | None = None) -> FetchReport:
    return fetch_into_raw(source, raw, raw.parent / "history", write_file=disk or Disk(), target=target)


def doc(name: str, content: str | bytes = "text\n", **metadata: str) -> RawDocument:
    return RawDocument(content=content, filename=name, metadata=metadata)


def documents(raw: Path) -> list[str]:
    return [entry.path for entry in scan_raw(raw)]


def test_documents_land_under_the_target_folder_with_their_metadata(raw: Path) -> None:
    report = fetch(raw, FakeSource([doc("a.md", author="王小明"), doc("guide/b.md")]))
    assert report == FetchReport("notion", ("notion/a.md", "notion/guide/b.md"))
    entries = scan_raw(raw)
    assert [entry.path for entry in entries] == ["notion/a.md", "notion/guide/b.md"]
    assert dict(read_document(raw, entries[0]).metadata) == {"author": "王小明"}


def test_a_second_fetch_of_the_same_writes_nothing(raw: Path) -> None:
    source = FakeSource([doc("a.md", x="1"), doc("b.md")])
    fetch(raw, source)
    disk = Disk()
    assert fetch(raw, source, disk) == FetchReport("notion", (), 2)
    assert disk.log == []


def test_a_changed_document_is_written_and_its_former_version_kept(raw: Path) -> None:
    fetch(raw, FakeSource([doc("a.md", "old\n")]))
    report = fetch(raw, FakeSource([doc("a.md", "new\n")]))
    assert report.written == ("notion/a.md",)
    assert (raw / "notion/a.md").read_text() == "new\n"
    (kept,) = (raw.parent / "history/notion/a.md").iterdir()
    assert kept.read_text() == "old\n"
    assert kept.suffix == ".md"


def test_bytes_are_written_as_they_are(raw: Path) -> None:
    fetch(raw, FakeSource([doc("a.md", b"a\r\nb")]))
    assert (raw / "notion/a.md").read_bytes() == b"a\r\nb"


def test_the_target_of_the_configuration_outranks_the_adapters(raw: Path) -> None:
    assert fetch(raw, FakeSource([doc("a.md")]), target="wiki").written == ("wiki/a.md",)


def test_a_target_may_be_written_with_the_raw_folder_before_it(raw: Path) -> None:
    assert fetch(raw, FakeSource([doc("a.md")], target="raw/notion")).target == "notion"


@pytest.mark.parametrize("target", ["", ".", "raw", "../x", "/etc", "a/../../b", ".hidden", "a/.git"])
def test_a_target_that_is_no_folder_below_raw_is_refused(raw: Path, target: str) -> None:
    with pytest.raises(SourceError, match="target folder"):
        fetch(raw, FakeSource([doc("a.md")], target=target))
    assert list(raw.iterdir()) == []


def test_a_target_that_is_a_link_out_of_raw_is_refused(raw: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (raw / "notion").symlink_to(tmp_path / "outside")
    with pytest.raises(SourceError, match="symbolic link"):
        fetch(raw, FakeSource([doc("a.md")]))


def test_names_that_lead_out_are_refused_by_name_and_stop_nothing(raw: Path) -> None:
    report = fetch(raw, FakeSource([doc("../../evil.md"), doc("/etc/passwd"), doc("a\\..\\..\\b.md"), doc("good.md")]))
    assert [name for name, _ in report.refused] == ["../../evil.md", "/etc/passwd", "a\\..\\..\\b.md"]
    assert all("leads out of its folder" in reason for _, reason in report.refused)
    assert [file.name for file in raw.parent.rglob("*.md")] == ["good.md"]


def test_a_document_behind_a_link_is_not_written_through(raw: Path, tmp_path: Path) -> None:
    (tmp_path / "victim.md").write_text("keep\n")
    (raw / "notion").mkdir()
    (raw / "notion" / "a.md").symlink_to(tmp_path / "victim.md")
    (raw / "notion" / "sub").symlink_to(tmp_path)
    report = fetch(raw, FakeSource([doc("a.md"), doc("sub/victim.md")]))
    assert len(report.refused) == 2
    assert (tmp_path / "victim.md").read_text() == "keep\n"


@pytest.mark.parametrize("second", ["a.md", "A.md", "./a.md", "a.md "])
def test_the_second_of_two_documents_with_one_name_is_refused_by_both_names(raw: Path, second: str) -> None:
    report = fetch(raw, FakeSource([doc("a.md", "first\n"), doc(second, "second\n")]))
    assert (raw / "notion/a.md").read_text() == "first\n"
    ((name, reason),) = report.refused
    assert name == second
    assert f'("a.md" and "{second}"): only the first was written' in reason


@pytest.mark.parametrize("wrong", ["text", None, RawDocument(content=3, filename="a.md")])  # type: ignore[arg-type]
def test_what_is_no_document_is_refused(raw: Path, wrong: object) -> None:
    report = fetch(raw, FakeSource([wrong, doc("b.md")]))
    assert len(report.refused) == 1
    assert report.written == ("notion/b.md",)


class TestFailing:
    def test_a_failing_adapter_keeps_all_it_had_and_is_reported(self, raw: Path) -> None:
        fetch(raw, FakeSource([doc("a.md"), doc("b.md"), doc("c.md")]))
        report = fetch(raw, FakeSource([doc("a.md", "new\n")], error=ConnectionError("no network")))
        assert report.error == (
            "fetching into notion/ failed: ConnectionError: no network; what was fetched before is kept"
        )
        assert report.written == ("notion/a.md",)
        assert documents(raw) == ["notion/a.md", "notion/b.md", "notion/c.md"]

    def test_one_that_fails_before_its_first_document_is_a_report_too(self, raw: Path) -> None:
        class Broken(FakeSource):
            def fetch(self) -> Iterator[RawDocument]:
                raise ValueError

        assert fetch(raw, Broken()).error == "fetching into notion/ failed: ValueError; what was fetched before is kept"

    def test_a_full_disk_is_not_the_adapters_fault(self, raw: Path) -> None:
        with pytest.raises(StorageError, match="No space left"):
            fetch(raw, FakeSource([doc("a.md")]), Disk(".md"))

    def test_an_interrupt_is_not_swallowed(self, raw: Path) -> None:
        with pytest.raises(KeyboardInterrupt):
            fetch(raw, FakeSource([], error=KeyboardInterrupt()))


class TestRetiring:
    def test_what_a_complete_source_no_longer_has_moves_to_the_history(self, raw: Path) -> None:
        fetch(raw, FakeSource([doc("a.md"), doc("b.md", "gone\n")]))
        report = fetch(raw, FakeSource([doc("a.md")]))
        assert report.retired == ("notion/b.md",)
        assert documents(raw) == ["notion/a.md"]
        (kept,) = (raw.parent / "history/notion/b.md").iterdir()
        assert kept.read_text() == "gone\n"
        assert fetch(raw, FakeSource([doc("a.md")])).retired == ()

    def test_a_source_that_only_gives_changes_retires_nothing(self, raw: Path) -> None:
        fetch(raw, Changes([doc("a.md"), doc("b.md")]))
        assert fetch(raw, Changes([doc("a.md")])).retired == ()
        assert documents(raw) == ["notion/a.md", "notion/b.md"]

    def test_a_source_that_suddenly_gives_nothing_is_not_believed(self, raw: Path) -> None:
        fetch(raw, FakeSource([doc("a.md"), doc("b.md")]))
        report = fetch(raw, FakeSource([]))
        assert report.retired == ()
        assert report.error is not None
        assert "all are kept" in report.error
        assert documents(raw) == ["notion/a.md", "notion/b.md"]

    def test_nor_is_one_that_loses_many_at_once(self, raw: Path) -> None:
        many = [doc(f"{number:02}.md") for number in range(20)]
        fetch(raw, FakeSource(many))
        assert fetch(raw, FakeSource(many[:15])).retired == ()
        assert len(fetch(raw, FakeSource(many[:16])).retired) == 4

    def test_files_that_a_person_put_into_the_folder_are_left_alone(self, raw: Path) -> None:
        fetch(raw, FakeSource([doc("a.md")]))
        (raw / "notion" / "mine.md").write_text("mine\n")
        assert fetch(raw, FakeSource([doc("a.md")])).retired == ()
        assert (raw / "notion" / "mine.md").exists()

    def test_a_change_of_case_leaves_one_file(self, raw: Path) -> None:
        fetch(raw, FakeSource([doc("Alpha.md"), doc("b.md"), doc("c.md")]))
        fetch(raw, FakeSource([doc("alpha.md"), doc("b.md"), doc("c.md")]))
        assert documents(raw) == ["notion/alpha.md", "notion/b.md", "notion/c.md"]


class TestLoading:
    @pytest.fixture(autouse=True)
    def module(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterable[None]:
        (tmp_path / "kb_fake_adapter.py").write_text(
            "from kb_pipeline.sources import DataSourceAdapter, RawDocument\n"
            "class Wiki(DataSourceAdapter):\n"
            "    def __init__(self, space):\n"
            "        if space == 'bad': raise ValueError('no such space')\n"
            "        self.space = space\n"
            "    def fetch(self):\n"
            "        return [RawDocument(content='x', filename=self.space + '.md', metadata={})]\n"
            "    def get_target_dir(self):\n"
            "        return 'raw/wiki'\n"
            "class Other: pass\n"
        )
        (tmp_path / "kb_fake_broken.py").write_text("1 / 0\n")
        monkeypatch.syspath_prepend(tmp_path)
        yield
        sys.modules.pop("kb_fake_adapter", None)

    def test_a_class_is_constructed_with_its_options(self, raw: Path) -> None:
        adapter = load_adapter("kb_fake_adapter.Wiki", {"space": "team"})
        assert fetch(raw, adapter).written == ("wiki/team.md",)

    @pytest.mark.parametrize(
        ("name", "options", "message"),
        [
            ("Wiki", {}, "must be written as module.Class"),
            ("kb_no_such.Wiki", {}, "Install its package into this environment, or put its folder on PYTHONPATH"),
            ("kb_fake_broken.Wiki", {}, "ZeroDivisionError"),
            ("kb_fake_adapter.Missing", {}, "is not a subclass"),
            ("kb_fake_adapter.Other", {}, "is not a subclass"),
            ("kb_fake_adapter.Wiki", {"wrong": 1}, "with its options: TypeError"),
            ("kb_fake_adapter.Wiki", {"space": "bad"}, "with its options: ValueError: no such space"),
        ],
    )
    def test_what_cannot_be_loaded_says_what_to_mend(self, name: str, options: dict[str, object], message: str) -> None:
        with pytest.raises(SourceError, match=message.replace(".", r"\.")):
            load_adapter(name, options)


def test_metadata_is_stable_text(raw: Path) -> None:
    fetch(raw, FakeSource([RawDocument(content="x", filename="a.md", metadata={"b": 1, "a": "作者"})]))  # type: ignore[dict-item]
    written = (raw / "notion/.kb-meta/a.md.json").read_text("utf-8")
    assert list(json.loads(written).items()) == [("a", "作者"), ("b", "1")]
