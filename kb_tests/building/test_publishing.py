"""Publishing: which pages, what is taken over, what an unchanged wiki costs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kb_pipeline.building.gate import choose_publishable
from kb_pipeline.building.publishing import PublishSettings
from kb_pipeline.errors import PublishingBlockedError
from kb_pipeline.text.sparse_index import SparseIndex
from kb_tests.fakes.wiki import Press, error_in, page_text, parsed, read_folder

TEXTS = {
    "auth/a.md": page_text("權杖", "結論 [[b]]。", keywords=("權杖",)),
    "ops/b.md": page_text("備份", "凌晨。", keywords=("備份",)),
    "ops/draft.md": page_text("草稿", status="draft"),
}


@pytest.fixture
def press(tmp_path: Path) -> Press:
    return Press(tmp_path / "build")


# -- the gate --------------------------------------------------------------------------------------------------------


def test_drafts_are_left_out_and_everything_else_is_published() -> None:
    chosen = choose_publishable(parsed(TEXTS), [], "page", None)
    assert [page.path for page in chosen.pages] == ["auth/a.md", "ops/b.md"]
    assert chosen.left_out == {"ops/draft.md": "draft"}


def test_a_page_with_an_error_of_its_own_stays_out_or_at_its_last_published_version(press: Press) -> None:
    press.publish(TEXTS)
    broken = {**TEXTS, "ops/b.md": page_text("備份", "壞掉。"), "ops/c.md": page_text("新的壞頁")}
    snapshot = press.publish(broken, [error_in("ops/b.md"), error_in("ops/c.md", "h1-missing")])
    assert snapshot.pages() == ("auth/a.md", "ops/b.md")
    assert snapshot.page_text("ops/b.md") == TEXTS["ops/b.md"]
    assert snapshot.report["kept_at_last_version"] == {"ops/b.md": "errors: summary-short"}
    assert snapshot.report["left_out"] == {"ops/c.md": "errors: h1-missing", "ops/draft.md": "draft"}
    assert snapshot.report["lint_errors"] == 2


def test_a_kept_page_stays_kept_over_many_publications_and_goes_when_its_file_goes(press: Press) -> None:
    press.publish(TEXTS)
    for n in range(4):
        snapshot = press.publish(
            {**TEXTS, "ops/b.md": f"kaputt {n}", "n.md": page_text(f"n{n}")}, [error_in("ops/b.md")]
        )
        assert snapshot.page_text("ops/b.md") == TEXTS["ops/b.md"]
    assert press.publish({"auth/a.md": TEXTS["auth/a.md"]}).pages() == ("auth/a.md",)


def test_errors_between_pages_keep_no_page_out() -> None:
    chosen = choose_publishable(parsed(TEXTS), [error_in("ops/b.md", "link-broken", own=False)], "page", None)
    assert "ops/b.md" in {page.path for page in chosen.pages}


def test_a_page_whose_status_cannot_be_read_is_not_published_even_without_a_finding() -> None:
    chosen = choose_publishable(parsed({"x.md": "no front matter"}), [], "page", None)
    assert chosen.left_out == {"x.md": "errors: status"}


def test_under_gate_all_any_error_closes_every_step_and_the_old_snapshot_stays(press: Press) -> None:
    press.publish(TEXTS)
    press.settings = PublishSettings(gate="all")
    publication = press.publication({"new.md": page_text("新")}, [error_in("ops/b.md", own=False)])
    for step in (publication.stage_graph, publication.stage_index, publication.stage_manifest, publication.finish):
        with pytest.raises(PublishingBlockedError, match=r"ops/b\.md"):
            step()
    assert press.store.required().pages() == ("auth/a.md", "ops/b.md")


# -- what is published -----------------------------------------------------------------------------------------------


def test_drafts_leave_no_trace_anywhere(press: Press) -> None:
    press.publish({**TEXTS, "ops/draft.md": page_text("草稿", "紫水晶 [[a]]", status="draft")})
    report_files = {"report.json", "manifest.json"}
    for file in press.build.rglob("*"):
        if file.is_file() and file.name not in report_files:
            assert "紫水晶".encode() not in file.read_bytes(), file
            assert b"ops/draft.md" not in file.read_bytes(), file


def test_an_edited_page_and_a_deleted_one_leave_nothing_of_the_old(press: Press, cases: Path) -> None:
    folder = cases / "search-stale-after-edit" / "files"
    press.publish(read_folder(folder / "before"))
    snapshot = press.publish(read_folder(folder / "after"))
    current = (press.build / "current").resolve()
    everything = b"".join(file.read_bytes() for file in current.rglob("*") if file.is_file())
    texts = snapshot.manifest + snapshot.graph_json + "".join(map(snapshot.page_text, snapshot.pages()))
    for absent in ("舊值是 42", "紫水晶", "b.md"):
        assert absent not in texts
        assert absent.encode() not in everything
    assert "新值是 43" in texts


def test_the_faces_for_people_are_written_only_when_their_bytes_change(press: Press) -> None:
    press.publish(TEXTS)
    names = ("manifest.txt", "manifest.hash", "graph.json", "graph.html")
    before = {name: (press.build / name).stat().st_mtime_ns for name in names}
    press.publish({**TEXTS, "ops/b.md": TEXTS["ops/b.md"].replace("凌晨", "清晨")})
    assert {name: (press.build / name).stat().st_mtime_ns for name in names} == before
    press.publish({**TEXTS, "ops/n.md": page_text("新")})
    assert all((press.build / name).stat().st_mtime_ns > before[name] for name in names)
    (press.build / "manifest.txt").unlink()
    press.publish({**TEXTS, "ops/n.md": page_text("新")})
    assert "ops/n.md" in (press.build / "manifest.txt").read_text()


def test_a_large_manifest_has_a_directory_and_a_part_for_each_domain(press: Press) -> None:
    press.settings = PublishSettings(budget_tokens=50)
    snapshot = press.publish(TEXTS)
    assert snapshot.two_stage
    assert snapshot.directory_manifest is not None
    assert "=== auth ===" in snapshot.directory_manifest
    assert "\n".join(map(snapshot.domain_manifest, ("auth", "ops"))) == snapshot.manifest
    with pytest.raises(KeyError):
        snapshot.domain_manifest("nowhere")
    press.settings = PublishSettings()
    assert press.publish(TEXTS).directory_manifest is None


# -- the same again --------------------------------------------------------------------------------------------------


def test_publishing_the_same_content_again_changes_nothing_but_the_note_of_it(press: Press) -> None:
    press.settings = PublishSettings(fingerprint="one")
    first = press.publish(TEXTS)
    before = {file: file.stat().st_mtime_ns for file in first.folder.rglob("*") if file.name != "snapshot.json"}
    press.reads.clear()
    press.settings = PublishSettings(fingerprint="two")
    second = press.publish(TEXTS, [error_in("auth/a.md", own=False)])
    assert second.id == first.id
    assert second.published_at == first.published_at
    assert {file: file.stat().st_mtime_ns for file in before} == before
    assert press.reads == []
    assert (second.report["fingerprint"], second.report["lint_errors"]) == ("two", 1)


def test_going_back_to_earlier_content_makes_its_snapshot_current_again(press: Press) -> None:
    first = press.publish(TEXTS)
    press.publish({**TEXTS, "new.md": page_text("新")})
    again = press.publish(TEXTS)
    assert press.store.current_id() == again.id == first.id
    assert again.published_at > first.published_at


def test_the_id_follows_language_budget_and_graph_rules_too(press: Press) -> None:
    ids = set()
    for settings in (PublishSettings(), PublishSettings(language="en"), PublishSettings(budget_tokens=9_000)):
        press.settings = settings
        ids.add(press.publish(TEXTS).id)
    assert len(ids) == 3


# -- what is taken over ----------------------------------------------------------------------------------------------


def many(count: int) -> dict[str, str]:
    return {
        f"d{n % 3}/{n:03}.md": page_text(f"頁{n}", f"第 {n} 頁 [[{(n + 1) % count:03}]]", keywords=(f"k{n}",))
        for n in range(count)
    }


def test_only_the_changed_page_is_read_analysed_and_written(press: Press) -> None:
    texts = many(30)
    first = press.publish(texts)
    press.reads.clear()
    texts["d0/003.md"] = texts["d0/003.md"].replace("第 3 頁", "第三頁")
    publication = press.publication(texts)
    assert publication.stage_index()["analysed"] == 1
    assert publication.stage_pages()["written"] == 1
    snapshot = publication.finish()
    assert press.reads == ["d0/003.md"]
    for path in texts:
        same = snapshot.page_file(path).samefile(first.page_file(path))
        assert same is (path != "d0/003.md")
    assert snapshot.folder.joinpath("graph.json").samefile(first.folder / "graph.json")


def test_an_incremental_snapshot_answers_like_one_made_at_once(tmp_path: Path) -> None:
    texts = many(25)
    step = Press(tmp_path / "steps")
    step.publish(texts)
    del texts["d1/004.md"]
    step.publish(texts)
    texts["d2/005.md"] = page_text("改名", "[[007]] 全新的內容", keywords=("新詞", "k7"))
    texts["d9/099.md"] = page_text("新域", "[[005]]", keywords=("k9",))
    steps = step.publish(texts)
    at_once = Press(tmp_path / "once").publish(texts)
    assert steps.id == at_once.id
    for name in (
        "manifest.txt",
        "graph.json",
        "graph.html",
        "neighbours.bin",
        "pages.json",
        "catalog.jsonl",
        "chunks.jsonl",
    ):
        assert (steps.folder / name).read_bytes() == (at_once.folder / name).read_bytes(), name
    for query in (["新"], ["詞", "頁"], ["k7"]):
        here, there = (SparseIndex.open(snapshot.index_folder).search(query, 10) for snapshot in (steps, at_once))
        assert here == there


def test_a_page_that_changed_after_it_was_checked_is_not_published_unchecked(press: Press) -> None:
    press.publish(TEXTS)
    edited = {**TEXTS, "ops/b.md": page_text("備份", "檢查過。"), "ops/n.md": page_text("新")}
    pages = {page.path: page for page in parsed(edited)}
    racing = {path: text + "又改了。\n" for path, text in edited.items()}
    from kb_pipeline.building.publishing import Publication

    snapshot = Publication(
        press.store, press.build, pages, [], racing.__getitem__, lambda: press.now, press.settings
    ).finish()
    assert snapshot.page_text("ops/b.md") == TEXTS["ops/b.md"]
    assert "ops/n.md" not in snapshot
    assert "changed while" in snapshot.report["left_out"]["ops/n.md"]


def test_steps_can_be_taken_one_by_one_in_any_order_and_twice(press: Press) -> None:
    publication = press.publication(TEXTS)
    figures = publication.stage_manifest()
    assert figures["pages"] == 2
    assert publication.stage_manifest() == figures
    publication.stage_index()
    assert publication.stage_graph()["extracted"] == 1
    snapshot = publication.finish()
    assert publication.manifest_hash() == (press.build / "manifest.hash").read_text().strip()
    assert publication.manifest_preview().startswith("=== auth ===")
    again = press.publication(TEXTS)
    assert again.stage_graph() == publication.stage_graph()
    assert json.loads(snapshot.text("manifest.json"))["domains"]["ops"] == "manifest/domains/ops.txt"


def test_a_preview_for_reports_renders_no_markup(press: Press) -> None:
    publication = press.publication({"a.md": page_text("甲", summary="'<b>x</b> ``` y'")})
    assert "<b>" not in publication.manifest_preview()
    assert "```" not in publication.manifest_preview()


def test_a_snapshot_made_by_other_rules_gives_nothing_over(press: Press) -> None:
    texts = many(5)
    file = press.publish(texts).folder / "snapshot.json"
    described = json.loads(file.read_text())
    file.unlink()
    file.write_text(json.dumps({**described, "made_by": "0/older"}))
    texts["d0/000.md"] = texts["d0/000.md"].replace("第 0 頁", "第零頁")
    publication = press.publication(texts)
    assert publication.stage_index()["analysed"] == 5
    assert publication.finish().page_text("d1/001.md") == texts["d1/001.md"]
