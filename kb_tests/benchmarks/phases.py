"""One full build in this process, its time split by phase: ``python -m kb_tests.benchmarks.phases PROJECT REPORT``.

Belongs here: the names of the phases and the functions whose time they are. Does not belong here: what the figures are
compared with (``full_build``).

Each function is wrapped by a clock. Phases nest, and a second belongs to the innermost: what is left when all are
subtracted is Dagster itself, and says so. A wrapped function that is gone stops the benchmark instead of making a phase
look free.
"""

from __future__ import annotations

import functools
import importlib
import json
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

REWRITER = "rewriter"
REST = "Dagster and the rest"
START = "imports, definitions, PostgreSQL start"

CLOCKED = (
    # phase, module, dotted name
    ("scan raw/", "kb_pipeline.bootstrap", "Project.scan"),
    ("scan and load pages", "kb_pipeline.storage.pages", "PageFolder.scan"),
    ("scan and load pages", "kb_pipeline.storage.pages", "PageFolder.load_all"),
    ("review queue", "kb_pipeline.rewriting.review", "ReviewQueue.scan"),
    ("plan", "kb_pipeline.bootstrap", "make_plan"),
    ("plan", "kb_pipeline.bootstrap", "Project.content_fingerprint"),
    ("read raw documents", "kb_pipeline.sources.filesystem", "read_document"),
    ("dates from git", "kb_pipeline.sources.dates", "document_dates"),
    ("names", "kb_pipeline.building.sync", "assign_paths"),
    ("names", "kb_pipeline.building.sync", "Sync._hints"),
    (REWRITER, "kb_pipeline.rewriting.offline", "OfflineRewriter.rewrite"),
    ("gates", "kb_pipeline.bootstrap", "Project._gates"),
    ("render and write pages", "kb_pipeline.building.compiled", "CompiledPages.write"),
    ("render and write pages", "kb_pipeline.building.compiled", "CompiledPages.store"),
    ("inbox", "kb_pipeline.building.inbox", "Inbox.changes"),
    ("link", "kb_pipeline.building.sync", "link_pass"),
    ("event log", "kb_pipeline.defs.event_batches", "EventBatches.flush"),
    ("event log", "kb_pipeline.defs.syncing", "recorded_versions"),
    ("event previews", "kb_pipeline.bootstrap", "Project.preview"),
    ("partitions", "kb_pipeline.defs.syncing", "reconcile"),
    ("vectors", "kb_pipeline.building.vectors", "embed_wiki"),
    ("lint", "kb_pipeline.bootstrap", "Project.lint"),
    ("snapshot: pages", "kb_pipeline.building.publishing", "Publication.stage_pages"),
    ("snapshot: graph", "kb_pipeline.building.publishing", "Publication.stage_graph"),
    ("snapshot: keyword index", "kb_pipeline.building.publishing", "Publication.stage_index"),
    ("snapshot: manifest", "kb_pipeline.building.publishing", "Publication.stage_manifest"),
    ("snapshot: switch", "kb_pipeline.building.publishing", "Publication.finish"),
)


class Phases:
    """Seconds and calls by phase, in the main thread only."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.processor: dict[str, float] = defaultdict(float)
        self.calls: dict[str, int] = defaultdict(int)
        self._open: list[str] = []
        self._since = (0.0, 0.0)

    def wrap(self, phase: str, module: str, name: str) -> None:
        owner: Any = importlib.import_module(module)
        *outer, last = name.split(".")
        for part in outer:
            owner = getattr(owner, part)
        original: Callable[..., Any] = getattr(owner, last)

        @functools.wraps(original)
        def clocked(*arguments: Any, **named: Any) -> Any:
            if threading.current_thread() is not threading.main_thread():
                return original(*arguments, **named)
            self.calls[phase] += 1
            self.enter(phase)
            try:
                return original(*arguments, **named)
            finally:
                self.leave()

        setattr(owner, last, clocked)

    def enter(self, phase: str) -> None:
        self._charge()
        self._open.append(phase)

    def leave(self) -> None:
        self._charge()
        self._open.pop()

    def _charge(self) -> None:
        now = (time.perf_counter(), time.process_time())
        if self._open:
            self.seconds[self._open[-1]] += now[0] - self._since[0]
            self.processor[self._open[-1]] += now[1] - self._since[1]
        self._since = now


class _Quiet:
    def update(self, step: str, done: int, total: int, detail: str = "") -> None:
        """Nobody looks."""


def main(root: Path, report: Path) -> None:
    import gc

    gc.set_threshold(200_000, 20, 20)  # as the command line has it
    phases = Phases()
    phases.enter(START)
    from kb_pipeline.bootstrap import Project
    from kb_pipeline.defs.launch import BuildRequest, run_build

    for phase, module, name in CLOCKED:
        phases.wrap(phase, module, name)
    project = Project.open(root, environ={})
    project.postgres.start()
    phases.leave()
    phases.enter(REST)
    done = run_build(project, BuildRequest(), _Quiet())
    phases.leave()
    phases.enter("after the build")
    planned = project.plan()
    snapshot = project.snapshot_or_none()
    phases.leave()
    found = {
        "documents": len(planned.raw),
        "pages": len(planned.pages),
        "published": len(snapshot.pages()) if snapshot else 0,
        "lint_errors": int(str(snapshot.report["lint_errors"])) if snapshot else None,
        "calls": done.sync.calls,
        "states": _states(done.sync.outcomes),
        "vectors": dict(done.sync.vectors),
        "vectors_error": done.sync.vectors_error,
        "current": project.is_current(planned),
        "seconds": dict(phases.seconds),
        "processor": dict(phases.processor),
        "phase_calls": dict(phases.calls),
    }
    report.write_text(json.dumps(found, ensure_ascii=False, indent=1), encoding="utf-8")


def _states(outcomes: Any) -> dict[str, int]:
    counted: dict[str, int] = defaultdict(int)
    for outcome in outcomes:
        counted[outcome.state.value] += 1
    return dict(counted)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
