"""``full_build``, ``growth`` and ``memory``: the first build of a project, by phase and by size.

Goals (BENCHMARKS, Build): at most 15 ms a document of 2 KB, the rewriter apart; every phase linear or better from 300
documents up; at most 600 MB at 10,000.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from kb_tests.benchmarks.charts import growth_chart
from kb_tests.benchmarks.measuring import Figure, Result, Spread, table
from kb_tests.benchmarks.phases import REWRITER, START
from kb_tests.benchmarks.projects import Projects

OVERHEAD_GOAL_MS = 15.0
MEMORY_GOAL_MB = 600.0
LINEAR = 1.15
"""Exponent up to which growth counts as linear: the measure of a phase of some milliseconds is not exact."""
SMALL_SECONDS = 0.25
"""Phases below this at the largest size are left out of the judgement: noise."""


def full_build(projects: Projects, sizes: list[int]) -> Result:
    result = Result()
    for size in sizes:
        _, report = projects.built(size)
        _expect_whole(report, size)
        rows = [
            [phase, report["seconds"][phase], cpu, 1000 * cpu / size, report["phase_calls"].get(phase, 0)]
            for phase, cpu in sorted(report["processor"].items(), key=lambda item: -item[1])
        ]
        result.tables.append(
            f"full build, {size} documents → {report['pages']} pages, hashing vectors\n"
            + table(rows, ("phase", "wall s", "cpu s", "cpu ms a document", "calls"))
        )
        for clock, spent in (("wall", report["seconds"]), ("cpu", report["processor"])):
            overhead = sum(spent.values()) - spent.get(REWRITER, 0.0) - spent.get(START, 0.0)
            value = Spread.of([1000 * overhead / size])
            note = "rewriter and one-time start apart, gates in it"
            what = f"overhead a document of {size}, {clock}"
            result.figures.append(Figure("full_build", what, "ms", value, OVERHEAD_GOAL_MS, note))
        result.data[f"phases, {size} documents"] = report
    return result


def memory(projects: Projects, sizes: list[int]) -> Result:
    result = Result()
    for size in sizes:
        _, report = projects.built(size)
        value = Spread.of([report["peak"] / 1e6])
        goal = MEMORY_GOAL_MB if size <= 10_000 else None
        note = "the building process; PostgreSQL apart"
        result.figures.append(Figure("memory", f"peak of a full build, {size} documents", "MB", value, goal, note))
    return result


def growth(projects: Projects, sizes: list[int], chart: Path | None) -> Result:
    """Cost of each phase by size. The exponent is that of the power law through the first and the last size."""
    result = Result()
    reports = {size: projects.built(size)[1] for size in sizes}
    first, last = sizes[0], sizes[-1]
    phases = sorted(reports[last]["processor"], key=lambda phase: -reports[last]["processor"][phase])
    rows: list[list[Any]] = []
    worst = 0.0
    for phase in phases:
        spent = [reports[size]["processor"].get(phase, 0.0) for size in sizes]
        exponent = math.log(spent[-1] / spent[0]) / math.log(last / first) if spent[0] > 0 and spent[-1] > 0 else 0.0
        if spent[-1] >= SMALL_SECONDS:
            worst = max(worst, exponent)
        rows.append([phase, *(1000 * value / size for value, size in zip(spent, sizes, strict=True)), exponent])
    header = ("cpu ms a document", *(f"{size:,}" for size in sizes), "exponent")
    result.tables.append(table(rows, header))
    result.figures.append(
        Figure("growth", f"steepest phase, {first} → {last}", "exponent", Spread.of([worst]), LINEAR, "1 is linear")
    )
    if chart is not None:
        series = {phase: [reports[size]["processor"].get(phase, 0.0) for size in sizes] for phase in phases[:8]}
        chart.write_text(growth_chart(sizes, series), encoding="utf-8")
    return result


def _expect_whole(report: dict[str, Any], size: int) -> None:
    """A build that held its documents back would look quick."""
    ingested = report["states"].get("ingested", 0)
    if ingested < 0.95 * size or report["vectors_error"] or not report["current"]:
        raise RuntimeError(f"this build is no measure: {report['states']}, {report['vectors_error']}")
