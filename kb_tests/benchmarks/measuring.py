"""Clocks, child processes and the figures that come of them.

Belongs here: wall and CPU time of a piece of code or of a process, medians with their spread, a verdict against a goal.
Does not belong here: what is measured.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Sample:
    """One run: seconds by the clock on the wall, and seconds of processor time; ``peak`` is resident memory, bytes."""

    wall: float
    cpu: float
    peak: int = 0
    code: int = 0
    output: str = ""


@dataclass(frozen=True, slots=True)
class Spread:
    """Median, least and most of some values."""

    median: float
    least: float
    most: float
    count: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        return cls(statistics.median(values), min(values), max(values), len(values))

    def times(self, factor: float) -> Spread:
        return Spread(self.median * factor, self.least * factor, self.most * factor, self.count)


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the result. ``value`` must not exceed ``goal``; without a goal it is for information."""

    benchmark: str
    what: str
    unit: str
    value: Spread
    goal: float | None = None
    note: str = ""

    @property
    def verdict(self) -> str:
        if self.goal is None:
            return ""
        if self.value.median <= self.goal:
            return "reached"
        return "reached at best" if self.value.least <= self.goal else "MISSED"

    def as_json(self) -> dict[str, object]:
        return {**asdict(self), "verdict": self.verdict}


@dataclass(slots=True)
class Result:
    """What one benchmark found: figures, and tables for people."""

    figures: list[Figure] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)
    data: dict[str, object] = field(default_factory=dict)


@contextmanager
def stopwatch(into: list[Sample]) -> Iterator[None]:
    """Append the time that the block took in this process."""
    wall, cpu = time.perf_counter(), time.process_time()
    yield
    into.append(Sample(time.perf_counter() - wall, time.process_time() - cpu))


def timed(work: Callable[[], object]) -> Sample:
    samples: list[Sample] = []
    with stopwatch(samples):
        work()
    return samples[0]


def run_process(arguments: Sequence[str], *, environ: Mapping[str, str] | None = None) -> Sample:
    """Run a program to its end: its own processor time and peak, of what it waited for too; not of servers it left."""
    with tempfile.TemporaryFile() as output:
        started = time.perf_counter()
        # PYTHONPATH: the checkout that holds these benchmarks, wherever the caller stands.
        known = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "", **(environ or {})}
        child = subprocess.Popen(arguments, stdout=output, stderr=subprocess.STDOUT, env=known)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - started
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode(errors="replace")
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return Sample(wall, usage.ru_utime + usage.ru_stime, peak, child.returncode, text)


def run_kb(root: Path, *arguments: str) -> Sample:
    """One ``kb`` command on a project. Raises RuntimeError with its output when it ends in a usage error or a traceback."""
    done = run_process([sys.executable, "-m", "kb_pipeline.cli.main", *arguments, "--project", str(root)])
    if done.code not in {0, 1} or "Traceback" in done.output:
        raise RuntimeError(f"kb {' '.join(arguments)} ended with {done.code}:\n{done.output[-3000:]}")
    return done


def table(rows: Sequence[Sequence[object]], header: Sequence[str]) -> str:
    """Columns, numbers to the right."""
    shown = [list(header), *([cell if isinstance(cell, str) else _number(cell) for cell in row] for row in rows)]
    widths = [max(len(line[column]) for line in shown) for column in range(len(header))]
    lines = [
        "  ".join(
            cell.ljust(width) if at == 0 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in shown
    ]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])


def _number(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return str(value)
