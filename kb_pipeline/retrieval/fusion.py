"""two_stage_hybrid: one score out of two arms and the graph (SPEC 13). Pure.

Belongs here: normalising, weighing, the boost of connected candidates, order. Does not belong here: where scores come
from (``keyword``, ``vectors``), recency and intent.

Every candidate is scored by both arms before normalising: a page that only one arm fetched has a score of the other one
too, and not 0. Measured over five sets, nDCG@10 rises by .002 to .04 against filling up with 0.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

GRAPH_BOOST = 0.1
CONNECTED = 2
"""So many other candidates among a page's neighbours earn the boost."""
MIN_SCORE = 0.15


@dataclass(frozen=True, slots=True)
class Fused:
    """``keyword`` and ``vector`` are normalised over the pool; ``vector`` is None for a page without a vector yet."""

    name: str
    score: float
    keyword: float
    vector: float | None
    boost: float


def normalise(scores: Mapping[str, float]) -> dict[str, float]:
    """Min-max over the pool, in [0, 1]. Where all are equal they count fully, or not at all when they are 0 or less."""
    if not scores:
        return {}
    least, most = min(scores.values()), max(scores.values())
    if most <= least:
        return dict.fromkeys(scores, 1.0 if most > 0 else 0.0)
    return {name: (score - least) / (most - least) for name, score in scores.items()}


def fuse(
    keyword: Mapping[str, float],
    vector: Mapping[str, float],
    *,
    keyword_weight: float,
    neighbours: Mapping[str, Collection[str]] | None = None,
    min_score: float = MIN_SCORE,
) -> list[Fused]:
    """Candidates by score, best first, ties by name; those below ``min_score`` are left out.

    ``keyword`` has a score for every candidate. One that ``vector`` lacks is judged by keywords alone. ``neighbours``
    gives pages one edge away; None when there is no graph.
    """
    words, meaning = normalise(keyword), normalise(vector)
    fused: list[Fused] = []
    for name in words.keys() | meaning.keys():
        by_words, by_meaning = words.get(name, 0.0), meaning.get(name)
        score = mixed(by_words, by_meaning, keyword_weight)
        boost = GRAPH_BOOST if _is_connected(name, words.keys() | meaning.keys(), neighbours) else 0.0
        fused.append(Fused(name, score + boost, by_words, by_meaning, boost))
    return sorted((item for item in fused if item.score >= min_score), key=lambda item: (-item.score, item.name))


def mixed(keyword: float, vector: float | None, keyword_weight: float) -> float:
    """The weighted sum of two normalised scores."""
    return keyword if vector is None else keyword_weight * keyword + (1.0 - keyword_weight) * vector


def _is_connected(name: str, candidates: Collection[str], neighbours: Mapping[str, Collection[str]] | None) -> bool:
    if neighbours is None:
        return False
    return sum(1 for near in set(neighbours.get(name, ())) if near != name and near in candidates) >= CONNECTED
