"""What a sync does to the disk in the cases that people bring about by hand."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kb_pipeline.building.sync import Sync
from kb_pipeline.errors import KbError, SourceError, StorageError
from kb_pipeline.models import RawDocument, RawEntry
from kb_tests.fakes.bench import Bench, Silent
from kb_tests.fakes.projects import document


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Two documents with a page each."""
    made = Bench(tmp_path / "kb")
    made.write("svc/alpha.md", document("alpha", 1))
    made.write("svc/beta.md", document("beta", 2))
    made.sync()
    assert list(made.pages()) == ["svc/alpha.md", "svc/beta.md"]
    return made


def outcomes(report: object) -> list[tuple[str, str]]:
    return [(item.document, item.state.value) for item in report.outcomes]  # type: ignore[attr-defined]


def edit(bench: Bench, path: str) -> str:
    """Edit a page as a person does; returns its text."""
    text = bench.page(path).read_text().replace("## 逾時", "## 逾時\n\n人工補充：分機 8899。")
    bench.page(path).write_text(text)
    return text


def test_a_held_document_that_is_renamed_stays_held_and_is_not_asked_again(bench: Bench) -> None:
    edited = edit(bench, "svc/beta.md")
    bench.write("svc/beta.md", document("beta", 9))
    assert outcomes(bench.sync()) == [("svc/beta.md", "held")]
    bench.raw("svc/beta.md").rename(bench.raw("svc/zeta.md"))
    report = bench.sync()
    assert (report.calls, outcomes(report)) == (0, [("svc/zeta.md", "unchanged")])
    assert bench.states()["svc/zeta.md"] == "held"
    assert "分機 8899" in bench.page("svc/beta.md").read_text()
    assert bench.page("svc/beta.md").read_text().count("svc/zeta.md") >= 1
    assert edited.split("---", 2)[2] == bench.page("svc/beta.md").read_text().split("---", 2)[2]


def test_two_documents_that_swap_names_keep_two_pages(bench: Bench) -> None:
    bench.raw("svc/alpha.md").rename(bench.raw("x"))
    bench.raw("svc/beta.md").rename(bench.raw("svc/alpha.md"))
    bench.raw("x").rename(bench.raw("svc/beta.md"))
    assert bench.sync().calls == 2
    assert len(bench.pages()) == 2
    assert set(bench.states().values()) == {"unchanged"}


def test_a_hand_edited_page_whose_document_shrinks_to_a_fragment_stays(bench: Bench) -> None:
    edited = edit(bench, "svc/beta.md")
    bench.write("svc/beta.md", "短記：埠號 8443。\n")
    assert outcomes(bench.sync()) == [("svc/beta.md", "held")]
    assert bench.page("svc/beta.md").read_text() == edited
    assert bench.sync().outcomes == ()


def test_a_hand_edited_page_of_a_deleted_document_is_kept_for_good(bench: Bench) -> None:
    edit(bench, "svc/beta.md")
    bench.raw("svc/beta.md").unlink()
    bench.sync()
    assert "分機 8899" in bench.kept_for_review()
    bench.write("svc/beta.md", document("beta", 2))
    bench.sync()
    bench.raw("svc/beta.md").unlink()
    bench.sync()
    assert "分機 8899" in bench.kept_for_review()


@pytest.mark.parametrize("moved", [True, False])
def test_a_page_with_broken_yaml_is_never_written_over(bench: Bench, *, moved: bool) -> None:
    broken = edit(bench, "svc/beta.md").replace("title:", "title: [", 1)
    bench.page("svc/beta.md").write_text(broken)
    if moved:
        bench.raw("svc/beta.md").rename(bench.raw("svc/zeta.md"))
    else:
        bench.write("svc/beta.md", document("beta", 9))
    bench.sync()
    assert bench.page("svc/beta.md").read_text() == broken
    assert bench.sync().calls == 0, "it has a page beside the broken one, and comes to rest"


def test_a_block_that_somebody_put_before_the_front_matter_does_not_make_the_page_a_strangers(bench: Bench) -> None:
    page = bench.page("svc/beta.md")
    page.write_text("---\ntitle: second\n---\n" + page.read_text())
    before = bench.pages()
    assert bench.sync().calls == 0
    assert bench.pages() == before


def test_a_page_with_bytes_that_are_no_text_stops_nothing(bench: Bench) -> None:
    bench.page("svc/bad.md").write_bytes(b"\xff\xfe\x00\xd8\x81")
    bench.write("svc/beta.md", document("beta", 9))
    assert outcomes(bench.sync()) == [("svc/beta.md", "ingested")]


def test_a_folder_that_cannot_be_written_says_which_and_loses_nothing(bench: Bench) -> None:
    bench.write("ops/new.md", document("new", 3))
    before = bench.pages()
    bench.page("ops").write_text("a file stands where the folder has to be")
    with pytest.raises(StorageError, match="ops"):
        bench.sync()
    bench.page("ops").unlink()
    assert bench.pages() == before
    assert outcomes(bench.sync()) == [("ops/new.md", "ingested")]


def test_the_cache_can_be_deleted_at_any_time(bench: Bench) -> None:
    before = bench.pages()
    shutil.rmtree(bench.root / ".kb")
    assert bench.sync().outcomes == ()
    assert bench.pages() == before


def test_other_scopes_in_the_configuration_publish_again_and_compile_nothing(bench: Bench) -> None:
    before = bench.open().plan().pages_fingerprint
    bench.configure("scopes: [商店, 倉庫]\n")
    planned = bench.open().plan()
    assert planned.pages_fingerprint != before
    assert planned.plan.compile == ()


def test_a_confined_sync_leaves_the_pages_of_others(bench: Bench) -> None:
    bench.write("svc/alpha.md", document("alpha", 8))
    bench.write("svc/beta.md", document("beta", 9))
    other = bench.page("svc/beta.md").read_text()
    assert outcomes(bench.sync(only=["svc/alpha.md"])) == [("svc/alpha.md", "ingested")]
    assert bench.page("svc/beta.md").read_text() == other
    assert bench.states()["svc/beta.md"] == "pending"


def test_another_key_is_shown_and_compiled_by_upgrade_alone(bench: Bench) -> None:
    bench.write("note.md", "---\ndate: 2026-05-04\n---\n短記：埠號 8443。\n")
    bench.sync()
    bench.key = "another-key"
    assert bench.sync().calls == 0
    assert bench.open().plan().plan.outdated == ("note.md", "svc/alpha.md", "svc/beta.md")
    assert bench.sync(upgrade=True).calls == 3
    assert bench.open().plan().plan.outdated == ()


def test_a_document_that_changes_after_the_scan_is_stamped_with_what_was_read(bench: Bench) -> None:
    bench.write("svc/beta.md", document("beta", 9))
    project = bench.open()
    planned = project.plan()
    bench.write("svc/beta.md", document("beta", 11))
    project.sync(planned.raw, Silent()).run(planned.plan, planned.raw, lambda _: None)
    assert bench.states()["svc/beta.md"] == "unchanged"
    assert "11 秒" in bench.page("svc/beta.md").read_text()


@pytest.mark.parametrize("error", [SourceError("not readable for now"), StorageError("disk full")])
def test_what_may_pass_is_tried_again_by_the_next_build(bench: Bench, error: KbError) -> None:
    bench.write("svc/beta.md", document("beta", 9))
    project = bench.open()
    planned = project.plan()
    sync = project.sync(planned.raw, Silent())
    sync._read_raw = _refusing(error)
    report = sync.run(planned.plan, planned.raw, lambda _: None)
    assert outcomes(report) == [("svc/beta.md", "failed")]
    assert outcomes(bench.sync()) == [("svc/beta.md", "ingested")]


def test_when_the_disk_refuses_the_rest_of_the_pool_is_never_asked(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "kb")
    for number in range(20):
        bench.write(f"svc/d{number:02}.md", document(f"d{number}", number))
    (bench.root / "knowledge").mkdir()
    bench.page("svc").write_text("in the way")
    bench.key = "k"
    project = bench.open()
    planned = project.plan()
    sync: Sync = project.sync(planned.raw, Silent())
    sync._settings = type(sync._settings)(default_scope="商店", concurrency=2)
    with pytest.raises(StorageError):
        sync.run(planned.plan, planned.raw, lambda _: None)
    assert len(project.rewriter.asked) < 20  # type: ignore[attr-defined]


def _refusing(error: KbError) -> Callable[[RawEntry], RawDocument]:
    def read(_: RawEntry) -> RawDocument:
        raise error

    return read
