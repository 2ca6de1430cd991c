"""``search``: keyword search in a warm process, and ``kb search`` from the shell.

Goals (BENCHMARKS, Search latency): p50 at most 5 ms over 2,000 pages and 10 ms over 10,000; ``kb search`` over 300 pages
at most 1.5 times its own imports.
"""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from kb_tests.benchmarks.corpus import Corpus
from kb_tests.benchmarks.measuring import Figure, Result, Spread, run_kb, run_process, table
from kb_tests.benchmarks.projects import Projects
from kb_tests.benchmarks.reading import wiki_texts

if TYPE_CHECKING:
    from kb_pipeline.storage.snapshots import Snapshot

GOALS_MS = {2_000: 5.0, 10_000: 10.0}
QUESTIONS = 300
SHELL_FACTOR = 1.5
SHELL_PAGES = 300


def search(projects: Projects, sizes: list[int], repeats: int) -> Result:
    result = Result()
    rows = []
    for size in sizes:
        built, sections, times = _keyword(projects.work / f"published-{size}", size)
        ordered = sorted(times)
        p50, p99 = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.99)]
        rows.append([f"{size} pages, {sections} sections", 1000 * p50, 1000 * p99, built])
        spread = Spread(1000 * p50, 1000 * ordered[0], 1000 * ordered[-1], len(ordered))
        result.figures.append(Figure("search", f"keyword search, {size} pages, p50", "ms", spread, GOALS_MS.get(size)))
        result.figures.append(Figure("search", f"keyword search, {size} pages, p99", "ms", Spread.of([1000 * p99])))
    result.tables.append(table(rows, ("keyword search, warm", "p50 ms", "p99 ms", "read and published s")))
    if find_spec("kb_pipeline.cli.search") is not None:
        result.figures.append(_from_the_shell(projects, repeats))
    return result


def _keyword(folder: Path, size: int) -> tuple[float, int, list[float]]:
    """The search that CLI, REST and MCP share, over a published snapshot; the whole answer with its snippets."""
    from kb_pipeline.retrieval.keyword import keyword_search

    started = time.perf_counter()
    snapshot = _published(folder, size)
    built = time.perf_counter() - started
    questions = Corpus(size).questions(QUESTIONS)
    now = datetime.now(UTC)
    for question in questions[:30]:
        keyword_search(snapshot, question, top_k=10, now=now)
    times = []
    for question in questions:
        started = time.perf_counter()
        keyword_search(snapshot, question, top_k=10, now=now)
        times.append(time.perf_counter() - started)
    return built, int(str(snapshot.report["sections"])), times


def _published(folder: Path, size: int) -> Snapshot:
    """A snapshot of ``size`` pages, without a build before it: lint and vectors have no part in this."""
    from kb_pipeline.building.publishing import Publication, PublishSettings
    from kb_pipeline.markdown.pages import read_page
    from kb_pipeline.storage.snapshots import SnapshotStore

    texts = wiki_texts(size)
    pages = {path: read_page(path, text.encode()) for path, text in texts.items()}
    made = Publication(
        SnapshotStore(folder), folder, pages, (), texts.__getitem__, lambda: datetime.now(UTC), PublishSettings()
    )
    return made.finish()


def _from_the_shell(projects: Projects, repeats: int) -> Figure:
    """Against a process that imports the modules that ``kb search`` turned out to import, and nothing else."""
    root, _ = projects.built(SHELL_PAGES)
    run_kb(root, "search", "逾時 timeout")
    loaded = run_process(
        [
            sys.executable,
            "-c",
            (
                "import sys\nfrom kb_pipeline.cli.main import app\n"
                f"sys.argv = ['kb', 'search', '逾時 timeout', '--project', {str(root)!r}]\n"
                "try:\n    app()\nexcept SystemExit:\n    pass\n"
                "print('LOADED', *(n for n, m in sys.modules.items() if n.startswith(('kb_pipeline', 'numpy', 'pydantic', 'typer', 'rich'))"
                " and getattr(m, '__spec__', None) and '__main__' not in n))"
            ),
        ]
    )
    names = loaded.output.rpartition("LOADED ")[2].split()
    imports = f"import importlib\nfor name in {names!r}:\n    importlib.import_module(name)"
    run_process([sys.executable, "-c", imports])
    ratios = []
    for _ in range(repeats):
        shell = run_kb(root, "search", "逾時 timeout")
        ratios.append(shell.wall / run_process([sys.executable, "-c", imports]).wall)
    return Figure("search", f"kb search, {SHELL_PAGES} pages / its own imports", "×", Spread.of(ratios), SHELL_FACTOR)
