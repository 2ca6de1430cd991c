"""Keyword search over a snapshot: needs neither database nor model, and imports numpy alone (SPEC 13).

Belongs here: the best section of each page by BM25. Does not belong here: tokens and weights (``query``, ``text``),
fusion with vectors (``hybrid``).
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from kb_pipeline.models import SearchAnswer
from kb_pipeline.retrieval.answers import CurrentHash, HitMaker
from kb_pipeline.retrieval.query import Query, parse_query
from kb_pipeline.storage.snapshots import Snapshot
from kb_pipeline.text.sparse_index import SparseIndex

if TYPE_CHECKING:
    from kb_pipeline.text.glossary import Glossary


@dataclass(frozen=True, slots=True)
class FoundSection:
    """The best section of a page by keywords."""

    path: str
    section_id: str
    score: float


def keyword_search(
    snapshot: Snapshot,
    query: str,
    glossary: Glossary | None = None,
    top_k: int = 5,
    *,
    now: datetime,
    current_hash: CurrentHash | None = None,
) -> SearchAnswer:
    """Pages that share telling words with the query, best first; none for a blank query.

    ``current_hash`` marks hits whose file is no longer what was published. Raises SnapshotCorruptError.
    """
    begin = time.perf_counter()
    parsed = parse_query(query, glossary)
    maker = HitMaker(snapshot, parsed, current_hash)
    hits = []
    for found in find_pages(snapshot, parsed, top_k):
        record = snapshot.page(found.path)
        hits.append(maker.hit(record, record.section(found.section_id), found.score, {"keyword": found.score}))
    return SearchAnswer(
        query=query,
        mode="keyword",
        results=tuple(hits),
        snapshot_id=snapshot.id,
        snapshot_age_seconds=snapshot.age_seconds(now),
        stats={"total_ms": milliseconds(begin), "terms": len(parsed.terms)},
    )


def find_pages(snapshot: Snapshot, query: Query, count: int) -> list[FoundSection]:
    """The best section of each of the best ``count`` pages.

    A page that shares nothing with the query but single characters is no answer, unless the query is nothing else:
    數量 does not speak of 量子糾纏.
    """
    if not query or count <= 0:
        return []
    index = open_index(snapshot.index_folder)
    wanted = max(50, 8 * count)
    while True:
        rows = index.search(query.terms, wanted)
        best: dict[str, FoundSection] = {}
        for key, score in rows:
            path, _, section_id = key.rpartition("#")
            best.setdefault(path, FoundSection(path, section_id, score))
        found = _with_telling_words(index, query, list(best.values()), count)
        if len(found) >= count or len(rows) < wanted:
            return found
        wanted *= 4


def score_sections(snapshot: Snapshot, query: Query, keys: Iterable[str]) -> dict[str, float]:
    """Scores of sections (``path.md#section_id``), 0 for those without a word of the query."""
    return open_index(snapshot.index_folder).score(query.terms, keys) if query else dict.fromkeys(keys, 0.0)


@lru_cache(maxsize=4)
def open_index(folder: Path) -> SparseIndex:
    """An index stays open between searches: a snapshot's folder never changes once it has its name."""
    return SparseIndex.open(folder)


def milliseconds(begin: float) -> float:
    return round((time.perf_counter() - begin) * 1_000, 3)


def _with_telling_words(index: SparseIndex, query: Query, found: list[FoundSection], count: int) -> list[FoundSection]:
    """The first ``count`` that hold a telling word; no more are looked at than it takes."""
    if not query.telling:
        return found[:count]
    telling = {term: query.terms[term] for term in query.telling}
    kept: list[FoundSection] = []
    for batch in (found[at : at + count] for at in range(0, len(found), count)):
        scores = index.score(telling, [f"{item.path}#{item.section_id}" for item in batch])
        kept += [item for item in batch if scores[f"{item.path}#{item.section_id}"] > 0.0]
        if len(kept) >= count:
            break
    return kept[:count]
