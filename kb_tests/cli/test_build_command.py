"""``kb build`` at the command line: what it fetches, its exit codes and its words. Dagster's instance is in memory."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from kb_pipeline.cli import build as command
from kb_pipeline.cli import main as program
from kb_pipeline.defs import launch
from kb_tests.fakes.projects import Workshop, document
from kb_tests.fakes.vectors import CountingEmbedder

Kb = Callable[..., int]


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Workshop]:
    with dg.DagsterInstance.ephemeral() as instance:
        made = Workshop(tmp_path / "kb", instance)
        made.write("svc/alpha.md", document("alpha", 1))
        made.write("svc/beta.md", document("beta", 2))
        yield made


@pytest.fixture
def kb(shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> Kb:
    """Runs the program in this process on the workshop's fakes; returns its exit code."""
    run = launch.run_build
    monkeypatch.setattr(command, "open_project", lambda _: shop.open())
    monkeypatch.setattr(
        launch, "run_build", lambda project, request, progress: run(project, request, progress, shop.instance)
    )

    def call(*arguments: str) -> int:
        monkeypatch.setattr(sys, "argv", ["kb", *arguments])
        with pytest.raises(SystemExit) as left:
            program.main()
        return int(left.value.code or 0)

    return call


def report(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_a_build_and_one_with_nothing_to_do_leave_with_zero(kb: Kb, capsys: pytest.CaptureFixture[str]) -> None:
    assert kb("build", "--json") == 0
    first = report(capsys)
    assert (sorted(first["compiled"]), first["calls"]) == (["svc/alpha.md", "svc/beta.md"], 2)
    assert kb("build", "--json") == 0
    assert report(capsys)["did"] == []


def test_compiled_lists_what_was_compiled_and_not_what_moved_or_went(
    kb: Kb, shop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    kb("build")
    (shop.root / "raw/svc/alpha.md").rename(shop.root / "raw/svc/omega.md")
    (shop.root / "raw/svc/beta.md").unlink()
    capsys.readouterr()
    assert kb("build", "--json") == 0
    assert report(capsys)["compiled"] == []


def test_an_error_behind_a_closed_gate_is_one_and_says_that_nothing_was_published(
    kb: Kb, shop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    with (shop.root / "kb.yml").open("a") as file:
        file.write("lint: {gate: all}\n")
    kb("build")
    page = shop.root / "knowledge/svc/beta.md"
    page.write_text(page.read_text().replace("status: current", "status: someday"))
    capsys.readouterr()
    for _ in range(2):
        assert kb("build") == 1
        assert "nothing new was published" in capsys.readouterr().err


def test_an_error_of_one_page_is_one_also_when_there_is_nothing_to_do(kb: Kb, shop: Workshop) -> None:
    kb("build")
    page = shop.root / "knowledge/svc/beta.md"
    page.write_text(page.read_text().replace("status: current", "status: someday"))
    assert [kb("build"), kb("build")] == [1, 1]


def test_vectors_that_are_missing_are_a_partial_failure_and_said(
    kb: Kb, shop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    shop.embedder = CountingEmbedder(fails_at=1)
    assert kb("build") == 4
    assert "the vendor is overloaded" in capsys.readouterr().err


def test_an_unknown_document_is_a_usage_error_that_names_it(kb: Kb, capsys: pytest.CaptureFixture[str]) -> None:
    assert kb("build", "raw/svc/alpha.md", "raw/nope.md") == 2
    assert "nope.md" in capsys.readouterr().err


def test_a_plan_fetches_nothing_and_writes_nothing(shop: Workshop) -> None:
    with (shop.root / "kb.yml").open("a") as file:
        file.write("sources:\n  - {type: custom, module: nowhere.Adapter, target: fetched}\n")
    planned = subprocess.run(
        [sys.executable, "-m", "kb_pipeline.cli.main", "build", "--plan", "-C", str(shop.root)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "nowhere" not in planned.stderr
    assert not (shop.root / "knowledge").exists()


def test_a_source_that_fails_is_a_partial_failure_and_the_rest_is_built(
    kb: Kb, shop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    with (shop.root / "kb.yml").open("a") as file:
        file.write("sources:\n  - {type: custom, module: nowhere.Adapter, target: fetched}\n")
    assert kb("build") == 4
    assert "nowhere" in capsys.readouterr().err
    assert shop.pages() == ["svc/alpha.md", "svc/beta.md"]


def test_without_dagster_yaml_the_build_says_how_to_get_one(shop: Workshop) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "kb_pipeline.cli.main", "build", "-C", str(shop.root)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "kb init" in done.stderr
    assert not (shop.root / "history").exists()


def test_a_reader_that_goes_away_is_no_error() -> None:
    shell = f'{sys.executable} -c "{LONG_OUTPUT}" | head -n 1; exit ${{PIPESTATUS[0]}}'
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "line\n", "")


LONG_OUTPUT = "from kb_pipeline.cli.console import out; [out('line') for _ in range(200000)]"
