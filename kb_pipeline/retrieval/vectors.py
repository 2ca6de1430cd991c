"""The vector arm: nearest pages and similarities, of the snapshot's own texts only (SPEC 13).

Belongs here: which rows count. Does not belong here: SQL (``storage.vectors``), models (``providers``), fusion.

The database may be ahead of the snapshot or behind it while vectors are being made. A row counts when its hash is the
one that the snapshot names for that chunk, so that what is found is always what was published.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

from kb_pipeline.embeddings.chunking import section_of
from kb_pipeline.models import VectorHit
from kb_pipeline.ports import Vectors
from kb_pipeline.storage.snapshots import Snapshot

Key = tuple[str, str]
_MOST_ROWS = 2_000
_LOOK_AGAIN_SECONDS = 30.0


class SearchableStore(Protocol):
    """What search needs of a vector store; ``storage.vectors.PgVectorStore`` is one."""

    def search(self, model_version: str, query: Vectors, top_k: int) -> list[VectorHit]: ...

    def similarities(self, model_version: str, query: Vectors, keys: Sequence[Key]) -> dict[Key, float]: ...

    def stored_hashes(self, model_version: str, concepts: Collection[str] | None = None) -> dict[Key, str]: ...


class VectorCoverage:
    """Whether every chunk of a snapshot has its vector. Remembers a yes for good, a no for half a minute.

    One object serves a whole server; a single search may make its own.
    """

    def __init__(self, store: SearchableStore) -> None:
        self._store = store
        self._known: dict[tuple[str, str], tuple[bool, float]] = {}

    def is_complete(self, snapshot: Snapshot, model_version: str) -> bool:
        """Raises DatabaseError. Costs one query over all rows when it has to look."""
        key = (snapshot.id, model_version)
        complete, looked = self._known.get(key, (False, float("-inf")))
        if not complete and time.monotonic() - looked > _LOOK_AGAIN_SECONDS:
            stored = self._store.stored_hashes(model_version)
            expected = snapshot.all_chunk_hashes()
            complete = all(stored.get(chunk) == digest for chunk, digest in expected.items())
            self._known = {key: (complete, time.monotonic())}
        return complete


def nearest_pages(
    snapshot: Snapshot, store: SearchableStore, model_version: str, query: Vectors, count: int
) -> list[str]:
    """Paths of the ``count`` pages with the nearest chunks, nearest first."""
    wanted = 4 * count
    while True:
        rows = store.search(model_version, query, wanted)
        pages: dict[str, None] = {}
        for row in rows:
            path = path_of(snapshot, row.concept_name)
            if path is not None and snapshot.chunk_hashes(path).get(row.section_id) == row.content_hash:
                pages[path] = None
        if len(pages) >= count or len(rows) < wanted or wanted >= _MOST_ROWS:
            return list(pages)[:count]
        wanted *= 4


def section_similarities(
    snapshot: Snapshot, store: SearchableStore, model_version: str, query: Vectors, paths: Iterable[str]
) -> dict[str, dict[str, float]]:
    """Page path → section id → similarity of its best chunk, of all chunks that have their vector."""
    expected: dict[Key, str] = {}
    pages: dict[str, str] = {}
    for path in paths:
        concept = path.removesuffix(".md")
        pages[concept] = path
        for section_id, digest in snapshot.chunk_hashes(path).items():
            expected[concept, section_id] = digest
    stored = store.stored_hashes(model_version, list(pages))
    keys = [key for key, digest in expected.items() if stored.get(key) == digest]
    found: dict[str, dict[str, float]] = {path: {} for path in pages.values()}
    for (concept, section_id), similarity in store.similarities(model_version, query, keys).items():
        sections = found[pages[concept]]
        section = section_of(section_id)
        sections[section] = max(similarity, sections.get(section, -1.0))
    return found


def path_of(snapshot: Snapshot, concept_name: str) -> str | None:
    """The published page of a concept name; None when there is none."""
    for path in (f"{concept_name}.md", concept_name):
        if path in snapshot:
            return path
    return None
