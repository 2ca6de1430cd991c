"""The sample that the project ships: compiled pages as the rewriter makes them, lint-green, and the story of README."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import yaml

from kb_tests.integration.conftest import KnowledgeBaseOnDisk


def contents(folder: Path) -> dict[str, bytes]:
    return {
        file.relative_to(folder).as_posix(): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()
    }


def test_a_full_build_in_a_copy_reproduces_the_committed_pages_byte_for_byte(
    sample: KnowledgeBaseOnDisk, repository: Path
) -> None:
    raw = contents(sample.root / "raw")
    done = sample.kb("build", "--full")
    assert done.code == 0, done.err
    assert contents(sample.root / "knowledge") == contents(repository / "knowledge")
    assert contents(sample.root / "raw") == raw


def test_a_build_from_nothing_makes_the_same_pages(sample: KnowledgeBaseOnDisk, repository: Path) -> None:
    committed = contents(repository / "knowledge")
    for file in sorted((sample.root / "knowledge").rglob("*.md")):
        file.unlink()
    assert sample.kb("build").code == 0
    assert contents(sample.root / "knowledge") == committed


def test_the_story_one_changed_file_is_compiled_alone_found_and_then_nothing_is_left_to_do(
    sample: KnowledgeBaseOnDisk,
) -> None:
    first = sample.kb("build", "--json").json()
    assert first["calls"] == 0, "a clone adopts the committed pages"
    assert first["counts"].keys() <= {"unchanged", "fragment"}

    document = sample.root / "raw" / "ops" / "on-call.md"
    document.write_text(document.read_text() + "\n## 分機\n\n夜間值班分機改為 8642，僅限 SEV-1 使用。\n")
    second = sample.kb("build", "--json").json()
    assert (second["compiled"], second["calls"]) == (["ops/on-call.md"], 1)
    assert _materialized_in_last_sync(sample) == ["ops/on-call.md"]

    found = sample.kb("search", "夜間值班分機 8642", "--json").json()
    assert found["results"][0]["path"] == "ops/on-call.md"
    hybrid = sample.kb("search", "夜間值班分機 8642", "--hybrid", "--json").json()
    assert (hybrid["results"][0]["path"], hybrid["degradation"]) == ("ops/on-call.md", [])

    third = sample.kb("build", "--json").json()
    assert (third["did"], third["calls"]) == ([], 0)


def _materialized_in_last_sync(sample: KnowledgeBaseOnDisk) -> list[str]:
    """Documents that Dagster's own event log says were materialized by the last run of sync_changed."""
    script = (
        "import dagster as dg\n"
        "with dg.DagsterInstance.get() as instance:\n"
        "    run = instance.get_runs(filters=dg.RunsFilter(job_name='sync_changed'), limit=1)[0]\n"
        "    logs = instance.all_logs(run.run_id, of_type=dg.DagsterEventType.ASSET_MATERIALIZATION)\n"
        "    events = [log.dagster_event for log in logs]\n"
        "    print([e.partition for e in events if e.asset_key == dg.AssetKey('wiki_pages')])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "DAGSTER_HOME": str(sample.root)},
        capture_output=True,
        text=True,
        check=True,
    )
    found = yaml.safe_load(done.stdout)
    assert isinstance(found, list)
    return [str(name) for name in found]


def test_the_committed_pages_have_no_lint_errors(sample: KnowledgeBaseOnDisk) -> None:
    done = sample.kb("lint", "--json")
    assert [item for item in done.json() if item["severity"] == "error"] == []
    assert done.code == 0


def test_the_template_of_init_is_the_projects_own_dagster_configuration(repository: Path) -> None:
    templates = repository / "kb_pipeline" / "cli" / "templates"
    for name in ("dagster.yaml", "workspace.yaml"):
        assert (templates / name).read_text() == (repository / name).read_text()


def test_commands_without_a_publication_say_what_to_do(sample: KnowledgeBaseOnDisk) -> None:
    for command in (["search", "x"], ["manifest"], ["graph"], ["stats"]):
        done = sample.kb(*command)
        assert "kb build" in done.err
        assert done.code == 4
