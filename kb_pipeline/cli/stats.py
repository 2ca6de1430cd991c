"""``kb stats``: the knowledge base in figures."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from kb_pipeline.cli.console import open_project, out, out_json, table
from kb_pipeline.cli.options import JsonOption, ProjectOption
from kb_pipeline.errors import DatabaseError

if TYPE_CHECKING:
    from kb_pipeline.bootstrap import Project


def stats(project: ProjectOption = None, as_json: JsonOption = False) -> None:
    """The knowledge base in figures.

    Pages by domain and status, edges, communities, orphans, rows of vectors by model, space on disk.
    """
    kb = open_project(project)
    wiki = kb.graph()
    pages = kb.pages.load_all().values()
    rows, problem = _vector_rows(kb)
    found: dict[str, object] = {
        "pages": len(pages),
        "pages_by_domain": dict(sorted(Counter(page.domain for page in pages).items())),
        "pages_by_status": dict(
            sorted(Counter(page.status.value if page.status else "none" for page in pages).items())
        ),
        "compiled_pages": sum(1 for page in pages if page.compiled is not None),
        "edges": len(wiki.edges),
        "edges_by_confidence": dict(sorted(Counter(edge.confidence.value for edge in wiki.edges).items())),
        "edges_by_kind": dict(
            sorted(Counter(kind.partition(":")[0] for edge in wiki.edges for kind in edge.kinds).items())
        ),
        "communities": len(wiki.communities()),
        "orphans": len(wiki.orphans()),
        "sections": kb.snapshot().report["sections"],
        "vector_rows_by_model": rows,
        "bytes_on_disk": {
            name: _size(folder)
            for name, folder in (
                ("raw", kb.settings.raw),
                ("knowledge", kb.settings.knowledge),
                ("build", kb.settings.build),
                ("state", kb.settings.state),
            )
        },
    }
    if problem:
        found["database"] = problem
    if as_json:
        out_json(found)
        return
    lines = []
    for name, value in found.items():
        shown = ", ".join(f"{key} {count:,}" for key, count in value.items()) if isinstance(value, dict) else value
        lines.append((name.replace("_", " "), f"{shown:,}" if isinstance(shown, int) else str(shown) or "none"))
    out(table(lines))


def _vector_rows(kb: Project) -> tuple[dict[str, int], str | None]:
    """Rows by model, and what is wrong with the database where there are none to be had."""
    try:
        return kb.vector_store.row_counts(), None
    except DatabaseError as error:
        return {}, str(error)


def _size(folder: Path) -> int:
    """Bytes of all files below; hard links count once. What vanishes while being counted is left out."""
    seen: set[tuple[int, int]] = set()
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                found = Path(parent, name).lstat()
                if (found.st_dev, found.st_ino) not in seen:
                    seen.add((found.st_dev, found.st_ino))
                    total += found.st_size
    return total
