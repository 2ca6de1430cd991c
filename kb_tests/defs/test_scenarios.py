"""The rows of ORCHESTRATION.md, "Scenarios that must hold": which runs, how many model calls."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from kb_pipeline.errors import MassDeletionError
from kb_tests.fakes.projects import Workshop, document

ON_CHANGE = "rebuild: {mode: on_change, quiet_seconds: 0}\n"


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as found:
        yield found


@pytest.fixture
def shop(tmp_path: Path, instance: dg.DagsterInstance) -> Workshop:
    """Four documents, sensor in on_change mode, nothing built yet."""
    made = Workshop(tmp_path / "kb", instance, ON_CHANGE)
    for number, name in enumerate(("alpha", "beta", "gamma", "delta"), start=1):
        made.write(f"svc/{name}.md", document(name, number))
    return made


@pytest.fixture
def built(shop: Workshop) -> Workshop:
    """The same after its first build."""
    shop.build()
    shop.asked()
    return shop


def test_the_first_build_compiles_each_document_once_and_publishes(shop: Workshop) -> None:
    assert shop.loop() == ["sync_changed", "publish"]
    assert shop.asked() == ["svc/alpha.md", "svc/beta.md", "svc/delta.md", "svc/gamma.md"]
    assert shop.recorded() == {"svc/alpha.md", "svc/beta.md", "svc/delta.md", "svc/gamma.md"}
    assert shop.manifest().count("svc/") == 4


def test_nothing_changed_runs_nothing_and_asks_nothing(built: Workshop) -> None:
    embedded = len(built.embedder.calls)
    assert built.loop() == []
    assert built.build().runs == ()
    assert (built.asked(), len(built.embedder.calls)) == ([], embedded)


def test_one_changed_file_is_compiled_alone_and_published(built: Workshop) -> None:
    built.write("svc/beta.md", document("beta", 9))
    assert built.loop() == ["sync_changed", "publish"]
    assert built.asked() == ["svc/beta.md"]
    assert "9 秒" in (built.root / "knowledge/svc/beta.md").read_text()


def test_only_the_sections_whose_text_changed_are_embedded(built: Workshop) -> None:
    before = len(built.embedder.texts)
    text = document("beta", 2).replace("BK-2", "BK-77")
    built.write("svc/beta.md", text)
    built.build()
    fresh = built.embedder.texts[before:]
    assert len(fresh) <= 2, fresh
    assert any("BK-77" in item for item in fresh)


def test_a_deleted_file_takes_page_rows_manifest_line_and_partitions_with_it(built: Workshop) -> None:
    (built.root / "raw/svc/gamma.md").unlink()
    assert built.loop() == ["sync_changed", "publish"]
    assert built.asked() == []
    assert "svc/gamma.md" not in built.pages()
    assert "svc/gamma.md" not in built.manifest()
    assert not any(name == "svc/gamma" for rows in built.store.rows.values() for name, _ in rows)
    documents, pages = built.partitions()
    assert ("svc/gamma.md" in documents, "svc/gamma.md" in pages) == (False, False)


def test_a_lost_publish_is_asked_for_again_without_compiling_again(built: Workshop) -> None:
    built.write("svc/new.md", document("new", 6))
    assert built.loop(lose="publish") == ["sync_changed", "publish lost", "publish"]
    assert built.asked() == ["svc/new.md"]
    assert "svc/new.md" in built.manifest()


def test_a_poison_file_fails_alone_the_others_are_published_and_then_it_is_quiet(built: Workshop) -> None:
    built.write("svc/beta.md", document("beta", 9) + "\nPOISON\n")
    built.write("svc/new.md", document("new", 6))
    ran = built.loop()
    # The second try is of another state: what else was new is done by then.
    assert ran == ["sync_changed failed", "sync_changed failed", "publish"]
    assert len(built.asked()) <= 3
    assert "svc/new.md" in built.manifest()
    assert built.loop() == []


def test_a_poisoned_document_keeps_its_page_and_is_compiled_once_it_is_mended(built: Workshop) -> None:
    before = (built.root / "knowledge/svc/beta.md").read_text()
    built.write("svc/beta.md", "POISON\n" + document("beta", 9))
    result = built.build()
    assert [outcome.document for outcome in result.sync.failed] == ["svc/beta.md"]
    assert (built.root / "knowledge/svc/beta.md").read_text() == before
    built.asked()
    built.write("svc/beta.md", document("beta", 9))
    built.build()
    assert built.asked() == ["svc/beta.md"]


def test_a_lint_error_made_by_hand_leaves_the_manifest_as_it_was_and_does_not_loop(built: Workshop) -> None:
    before = built.manifest()
    page = built.root / "knowledge/svc/beta.md"
    page.write_text(page.read_text().replace("status: current", "status: someday"))
    ran = built.loop()
    assert ran[-1] == "publish"
    assert built.manifest() == before
    assert (built.asked(), built.loop()) == ([], [])


def test_the_check_is_red_and_names_the_page(built: Workshop) -> None:
    page = built.root / "knowledge/svc/beta.md"
    page.write_text(page.read_text().replace("status: current", "status: someday"))
    result = built.build()
    assert result.checks["page_errors"] is False
    findings = built.open().publication().findings
    assert {finding.path for finding in findings if finding.severity.value == "error"} == {"svc/beta.md"}


def test_after_all_runs_were_deleted_nothing_is_compiled_and_the_log_is_repaired(built: Workshop) -> None:
    for run in built.instance.get_runs():
        built.instance.delete_run(run.run_id)
    assert built.recorded() == set()
    built.write("svc/new.md", document("new", 6))
    built.build()
    assert built.asked() == ["svc/new.md"]
    assert built.recorded() == {f"svc/{name}.md" for name in ("alpha", "beta", "gamma", "delta", "new")}


def test_a_new_dagster_home_and_a_fresh_clone_adopt_what_is_there(built: Workshop, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    for part in ("raw", "knowledge", "kb.yml"):
        source = built.root / part
        (shutil.copytree if source.is_dir() else shutil.copy)(source, _made(clone) / part)
    with dg.DagsterInstance.ephemeral() as fresh:
        there = Workshop(clone, fresh, ON_CHANGE)
        assert there.loop() == ["sync_changed", "publish"]
        assert there.asked() == []
        assert there.recorded() == built.recorded()
        assert there.manifest() == built.manifest()


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def test_a_moved_document_keeps_its_page_and_costs_no_call(built: Workshop) -> None:
    (built.root / "raw/team").mkdir()
    (built.root / "raw/svc/beta.md").rename(built.root / "raw/team/zeta.md")
    pages = built.pages()
    assert built.loop() == ["sync_changed", "publish"]
    assert (built.asked(), built.pages()) == ([], pages)
    assert "team/zeta.md" in (built.root / "knowledge/svc/beta.md").read_text()
    assert built.loop() == []


def test_a_renamed_folder_is_no_mass_deletion(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    many = Workshop(tmp_path / "many", instance)
    for number in range(12):
        many.write(f"old/doc{number}.md", document(f"doc{number}", number))
    many.build()
    many.asked()
    pages = many.pages()
    (many.root / "raw/old").rename(many.root / "raw/new")
    many.build()
    assert (many.asked(), many.pages()) == ([], pages)


def test_many_vanished_documents_are_refused_until_allowed(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    many = Workshop(tmp_path / "many", instance)
    for number in range(12):
        many.write(f"svc/doc{number}.md", document(f"doc{number}", number))
    many.build()
    pages = many.pages()
    for number in range(6):
        (many.root / f"raw/svc/doc{number}.md").unlink()
    with pytest.raises(MassDeletionError, match="--allow-mass-delete"):
        many.build()
    assert many.pages() == pages
    many.build(allow_mass_delete=True)
    assert len(many.pages()) == 6


def test_line_ends_and_touched_files_are_no_change(built: Workshop) -> None:
    for file in (built.root / "raw").rglob("*.md"):
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert built.loop() == []
    for file in (built.root / "knowledge").rglob("*.md"):
        file.touch()
    assert (built.loop(), built.build().runs, built.asked()) == ([], (), [])


def test_a_page_reverted_to_an_older_version_is_never_taken_as_current(built: Workshop) -> None:
    page = built.root / "knowledge/svc/beta.md"
    old = page.read_text()
    built.write("svc/beta.md", document("beta", 9))
    built.build()
    built.asked()
    new = page.read_text()
    page.write_text(old)
    built.build()
    assert built.asked() == ["svc/beta.md"]
    assert page.read_text() == new


def test_one_deleted_part_of_a_document_brings_that_document_back(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    shop = Workshop(tmp_path / "parts", instance)
    shop.write("svc/other.md", document("other", 3))
    sections = "\n\n".join(
        f"## 第 {n} 章 CH-{n}\n\n" + "".join(s.format(name=f"ch{n}", n=n) for s in LONG) for n in range(1, 9)
    )
    shop.write("svc/long.md", f"---\ndate: 2026-01-02\n---\n# 長文件\n\n開頭說明有 8 章。\n\n{sections}\n")
    shop.build()
    shop.asked()
    parts = [path for path in shop.pages() if path.startswith("svc/long")]
    assert len(parts) >= 2
    texts = {path: (shop.root / "knowledge" / path).read_text() for path in parts}
    (shop.root / "knowledge" / parts[-1]).unlink()
    shop.build()
    assert shop.asked() == ["svc/long.md"]
    assert {path: (shop.root / "knowledge" / path).read_text() for path in parts} == texts


LONG = tuple(
    f"本節第 {k} 點：參數 `param_{{name}}_{k}` 的上限是 {k}{{n}} MB，超過時回傳錯誤碼 E{k}0{{n}}，必須人工處理。"
    for k in range(1, 8)
)


def test_a_held_document_is_not_asked_again_while_nothing_changes(built: Workshop) -> None:
    page = built.root / "knowledge/svc/beta.md"
    page.write_text(page.read_text().replace("## 逾時", "## 逾時\n\n人工補充：值班分機 8899。"))
    edited = page.read_text()
    built.write("svc/beta.md", document("beta", 9))
    result = built.build()
    assert built.asked() == ["svc/beta.md"]
    assert [outcome.state.value for outcome in result.sync.outcomes] == ["held"]
    assert page.read_text() == edited
    assert list((built.root / "review").rglob("verdict.yml"))
    assert (built.loop(), built.build().runs, built.asked()) == ([], (), [])


def test_two_builds_at_once_do_not_compile_twice(shop: Workshop) -> None:
    from concurrent.futures import ThreadPoolExecutor

    from kb_pipeline.errors import LockedError

    project = shop.open()
    with project.lock(wait=0, purpose="another build"), ThreadPoolExecutor(1) as pool:
        refused = pool.submit(shop.build, wait=0.1)
        with pytest.raises(LockedError, match="another build"):
            refused.result()
    shop.build()
    assert len(shop.asked()) == 4


def test_a_git_checkout_of_another_branch_is_followed(built: Workshop) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments],
            cwd=built.root,
            check=True,
            capture_output=True,
        )

    git("init", "-b", "main")
    git("add", "raw", "knowledge")
    git("commit", "-m", "one")
    git("checkout", "-b", "other")
    built.write("svc/beta.md", document("beta", 9))
    built.build()
    git("add", "-A")
    git("commit", "-m", "two")
    built.asked()
    git("checkout", "main")
    built.build()
    assert built.asked() == []
    assert "9 秒" not in built.manifest()


def test_the_handed_case_ingest_resume_asks_again_only_for_what_failed(
    cases: Path, tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    shop = Workshop(tmp_path / "resume", instance)
    texts = {file.name: file.read_text() for file in sorted((cases / "ingest-resume/files/raw").iterdir())}
    for name, text in texts.items():
        shop.write(name, text)
    rewriter = shop.rewriter_of(shop.open())
    rewriter.fails = {"3.md"}
    first = shop.build()
    assert shop.asked() == ["1.md", "2.md", "3.md", "4.md", "5.md"]
    assert {outcome.document: outcome.state.value for outcome in first.sync.outcomes if outcome.document == "3.md"} == {
        "3.md": "failed"
    }
    assert len([outcome for outcome in first.sync.outcomes if outcome.state.value in {"ingested", "fragment"}]) == 4
    rewriter.fails = set()
    shop.build()
    assert shop.asked() == ["3.md"]
    shop.build()
    assert shop.asked() == []
