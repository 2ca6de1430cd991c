"""Keywords, vectors and graph together: two_stage_hybrid over a snapshot (SPEC 13).

Belongs here: the pool of candidates, scoring it by both arms, the honest answer when an arm is missing. Does not belong
here: the formula (``fusion``), which vectors count (``vectors``).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING

from kb_pipeline.errors import DatabaseError, ProviderError, SnapshotCorruptError
from kb_pipeline.models import SearchAnswer, SearchHit
from kb_pipeline.ports import Embedder
from kb_pipeline.retrieval.answers import CurrentHash, HitMaker
from kb_pipeline.retrieval.fusion import MIN_SCORE, Fused, fuse, mixed, normalise
from kb_pipeline.retrieval.keyword import find_pages, keyword_search, milliseconds, score_sections
from kb_pipeline.retrieval.query import Query, parse_query
from kb_pipeline.retrieval.vectors import SearchableStore, VectorCoverage, nearest_pages, section_similarities
from kb_pipeline.storage.catalog import PageRecord
from kb_pipeline.storage.snapshots import Snapshot

if TYPE_CHECKING:
    from kb_pipeline.text.glossary import Glossary

VECTOR_UNAVAILABLE = "vector_unavailable_fallback_to_keyword"
EMBEDDINGS_INCOMPLETE = "embeddings_incomplete"
GRAPH_UNAVAILABLE = "graph_unavailable"


@dataclass(frozen=True, slots=True)
class HybridOptions:
    """``keyword_weight``: None for the embedding model's own. ``coverage``: kept by a server between searches."""

    top_k: int = 5
    keyword_weight: float | None = None
    min_score: float = MIN_SCORE
    coverage: VectorCoverage | None = None


def hybrid_search(
    snapshot: Snapshot,
    query: str,
    embedder: Embedder,
    vector_store: SearchableStore,
    *,
    now: datetime,
    glossary: Glossary | None = None,
    options: HybridOptions | None = None,
    current_hash: CurrentHash | None = None,
) -> SearchAnswer:
    """Pages by meaning and words.

    Never fails for want of the database, the model or the graph: the answer then comes from what is left and says so in
    ``degradation``. Raises SnapshotCorruptError.
    """
    begin = time.perf_counter()
    options = options or HybridOptions()
    parsed = parse_query(query, glossary)
    if not parsed.text:
        return replace(keyword_search(snapshot, query, top_k=options.top_k, now=now), mode="hybrid")
    try:
        arms = _score_by_both(snapshot, parsed, embedder, vector_store, max(3 * options.top_k, 15))
        coverage = options.coverage or VectorCoverage(vector_store)
        complete = coverage.is_complete(snapshot, embedder.model_version)
    except (DatabaseError, ProviderError):
        answer = keyword_search(snapshot, query, glossary, options.top_k, now=now, current_hash=current_hash)
        stats = {**answer.stats, "total_ms": milliseconds(begin)}
        return replace(answer, mode="hybrid", degradation=(VECTOR_UNAVAILABLE,), stats=stats)
    fusing = time.perf_counter()
    weight = embedder.keyword_weight if options.keyword_weight is None else options.keyword_weight
    neighbours = _neighbours(snapshot, arms.records)
    fused = fuse(
        arms.keyword_by_page(),
        arms.vector_by_page(),
        keyword_weight=weight,
        neighbours=neighbours,
        min_score=options.min_score,
    )
    shown = _Shown(HitMaker(snapshot, parsed, current_hash), arms, arms.best_sections(weight), neighbours or {})
    missing = ((EMBEDDINGS_INCOMPLETE, not complete), (GRAPH_UNAVAILABLE, neighbours is None))
    return SearchAnswer(
        query=query,
        mode="hybrid",
        results=tuple(shown.hit(item) for item in fused[: options.top_k]),
        snapshot_id=snapshot.id,
        snapshot_age_seconds=snapshot.age_seconds(now),
        degradation=tuple(code for code, is_missing in missing if is_missing),
        stats={
            **arms.stats,
            "candidates": len(arms.records),
            "fusion_ms": milliseconds(fusing),
            "total_ms": milliseconds(begin),
        },
    )


@dataclass(frozen=True)
class _Arms:
    """Both arms' scores of every candidate: page → section → score."""

    records: Mapping[str, PageRecord]
    keyword: Mapping[str, Mapping[str, float]]
    vector: Mapping[str, Mapping[str, float]]
    stats: Mapping[str, float] = field(default_factory=dict)

    def keyword_by_page(self) -> dict[str, float]:
        return {path: max(sections.values(), default=0.0) for path, sections in self.keyword.items()}

    def vector_by_page(self) -> dict[str, float]:
        return {path: max(sections.values()) for path, sections in self.vector.items() if sections}

    def best_sections(self, keyword_weight: float) -> dict[str, str]:
        """The section of each page that both arms together like best; the first of equals."""
        words = normalise({f"{path}#{name}": s for path, found in self.keyword.items() for name, s in found.items()})
        meaning = normalise({f"{path}#{name}": s for path, found in self.vector.items() for name, s in found.items()})
        best: dict[str, str] = {}
        for path, record in self.records.items():
            keys = [f"{path}#{section.section_id}" for section in record.sections]
            # A section without a vector here has no text of its own, or none yet.
            score = {key: mixed(words.get(key, 0.0), meaning.get(key, 0.0), keyword_weight) for key in keys}
            best[path] = max(keys, key=lambda key: score[key]).rpartition("#")[2]
        return best


def _score_by_both(
    snapshot: Snapshot, query: Query, embedder: Embedder, store: SearchableStore, pool_size: int
) -> _Arms:
    """Fetch candidates from each arm and score all of them by both. Raises DatabaseError, ProviderError."""
    times = [time.perf_counter()]
    pool = dict.fromkeys(found.path for found in find_pages(snapshot, query, pool_size))
    times.append(time.perf_counter())
    vector = embedder.embed_query(query.text)
    times.append(time.perf_counter())
    version = embedder.model_version
    pool.update(dict.fromkeys(nearest_pages(snapshot, store, version, vector, pool_size)))
    similar = section_similarities(snapshot, store, version, vector, pool)
    times.append(time.perf_counter())
    records = {path: snapshot.page(path) for path in pool}
    keys = [f"{path}#{section.section_id}" for path, record in records.items() for section in record.sections]
    scores = score_sections(snapshot, query, keys)
    by_page: dict[str, dict[str, float]] = {path: {} for path in pool}
    for key, score in scores.items():
        path, _, section_id = key.rpartition("#")
        by_page[path][section_id] = score
    times.append(time.perf_counter())
    spent = [round((end - start) * 1_000, 3) for start, end in pairwise(times)]
    stats = {"keyword_ms": round(spent[0] + spent[3], 3), "embed_ms": spent[1], "vector_ms": spent[2]}
    return _Arms(records, by_page, similar, stats)


def _neighbours(snapshot: Snapshot, pages: Mapping[str, PageRecord]) -> dict[str, list[str]] | None:
    """Pages one edge from each candidate; None when the snapshot's graph cannot be read."""
    try:
        return {path: snapshot.neighbours(path) for path in pages}
    except SnapshotCorruptError:
        return None


@dataclass(frozen=True)
class _Shown:
    """Makes the hits of one answer."""

    maker: HitMaker
    arms: _Arms
    best_sections: Mapping[str, str]
    neighbours: Mapping[str, list[str]]

    def hit(self, item: Fused) -> SearchHit:
        record = self.arms.records[item.name]
        breakdown = {
            "keyword": max(self.arms.keyword[item.name].values(), default=0.0),
            "keyword_normalised": item.keyword,
        }
        if item.vector is not None:
            similarity = max(self.arms.vector[item.name].values())
            breakdown |= {"vector": similarity, "vector_normalised": item.vector}
        if item.boost:
            breakdown["graph_boost"] = item.boost
        connected = len(set(self.neighbours.get(item.name, ())) & self.arms.records.keys() - {item.name})
        return self.maker.hit(
            record,
            record.section(self.best_sections[item.name]),
            item.score,
            breakdown,
            similarity=breakdown.get("vector"),
            connected=connected if item.boost else 0,
        )
