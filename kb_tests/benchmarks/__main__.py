"""``python -m kb_tests.benchmarks [names] [--json FILE]``: run the benchmarks and say which goals are reached."""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from kb_tests.benchmarks.documenting import write_figures
from kb_tests.benchmarks.full_build import full_build, growth, memory
from kb_tests.benchmarks.measuring import ROOT, Figure, Result, table
from kb_tests.benchmarks.projects import Projects
from kb_tests.benchmarks.reading import reading
from kb_tests.benchmarks.searching import search
from kb_tests.benchmarks.updates import no_op, one_change

CHART = ROOT / "docs" / "benchmarks-growth.svg"


def main() -> int:
    options = _options()
    load_before = _load()
    work = Path(options.work or tempfile.mkdtemp(prefix="kb-benchmarks-"))
    work.mkdir(parents=True, exist_ok=True)
    # The results do not depend on a shell's own settings.
    for name in ("PYTHONPROFILEIMPORTTIME", "PYTHONOPTIMIZE"):
        os.environ.pop(name, None)
    try:
        results = {name: run() for name, run in _chosen(options, Projects(work)).items() if _announce(name)}
    finally:
        if options.work is None:
            shutil.rmtree(work, ignore_errors=True)
    figures = [figure for result in results.values() for figure in result.figures]
    for result in results.values():
        print("\n" + "\n\n".join(result.tables))
    print("\n" + _summary(figures))
    conditions = {**_conditions(options.repeats), "load_before": load_before, "load_after": _load()}
    if options.docs:
        write_figures(results, conditions)
    if options.json:
        Path(options.json).write_text(
            json.dumps(_report(results, conditions), ensure_ascii=False, indent=1), encoding="utf-8"
        )
    return 1 if any(figure.verdict == "MISSED" for figure in figures) and options.strict else 0


def _chosen(options: argparse.Namespace, projects: Projects) -> dict[str, Callable[[], Result]]:
    small, middle, large = options.sizes
    built = [small, middle, *([large] if options.large else [])]
    changed = [middle, *([large] if options.large else [])]
    known: dict[str, Callable[[], Result]] = {
        "full_build": lambda: full_build(projects, [middle]),
        "no_op": lambda: no_op(projects, built, options.repeats),
        "one_change": lambda: one_change(projects, changed, max(2, options.repeats // 2)),
        "growth": lambda: growth(projects, built, CHART if options.chart else None),
        "memory": lambda: memory(projects, [built[-1]]),
        "reading": lambda: reading(projects.work, large, 3),
        "search": lambda: search(projects, [middle, large], options.repeats),
    }
    unknown = set(options.names) - known.keys()
    if unknown:
        raise SystemExit(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    return {name: run for name, run in known.items() if not options.names or name in options.names}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m kb_tests.benchmarks", description=__doc__)
    parser.add_argument(
        "names", nargs="*", help="full_build no_op one_change growth memory reading search; default: all"
    )
    parser.add_argument("--json", metavar="FILE", help="write goal, value, spread and verdict of every figure")
    parser.add_argument("--large", action="store_true", help="builds of the largest size too (10,000: many minutes)")
    parser.add_argument(
        "--sizes", type=_sizes, default=(300, 2_000, 10_000), metavar="A,B,C", help="small, middle, large"
    )
    parser.add_argument("--repeats", type=int, default=5, help="runs of what is short")
    parser.add_argument("--work", metavar="DIR", help="keep projects there and use those of an earlier run again")
    parser.add_argument("--chart", action="store_true", help=f"write {CHART.relative_to(ROOT)}")
    parser.add_argument("--docs", action="store_true", help="write the figures into docs/benchmarks.md")
    parser.add_argument("--strict", action="store_true", help="exit code 1 when a goal is missed")
    return parser.parse_args()


def _sizes(text: str) -> tuple[int, int, int]:
    small, middle, large = (int(part) for part in text.split(","))
    return small, middle, large


def _announce(name: str) -> bool:
    print(f"running {name} …", file=sys.stderr, flush=True)
    return True


def _summary(figures: list[Figure]) -> str:
    rows = [
        [
            figure.what,
            figure.value.median,
            figure.value.least,
            figure.value.most,
            figure.unit,
            "" if figure.goal is None else figure.goal,
            figure.verdict,
        ]
        for figure in figures
    ]
    return table(rows, ("figure", "median", "least", "most", "unit", "goal ≤", "verdict"))


def _conditions(repeats: int) -> dict[str, object]:
    return {
        "date": datetime.now(UTC).isoformat(timespec="minutes"),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()} with {os.cpu_count()} cores",
        "repeats": repeats,
    }


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}"


def _report(results: dict[str, Result], conditions: dict[str, object]) -> dict[str, object]:
    return {
        **conditions,
        "figures": [figure.as_json() for result in results.values() for figure in result.figures],
        "data": {name: result.data for name, result in results.items()},
    }


if __name__ == "__main__":
    raise SystemExit(main())
