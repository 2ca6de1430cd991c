"""Keyword search over sections: BM25 with weighted fields, on memory-mapped postings (SPEC 13, keyword).

Belongs here: scores and the best of them. Does not belong here: building (``sparse_build``), the choice of one section
a page, fusion with vectors (``retrieval``).

The score of a section is Σ idf(t) · w(t) · tf·(k1+1) / (tf + k1·(1−b+b·length/mean length)), tf and length summed over
fields by weight (Robertson, Zaragoza & Taylor 2004); idf = ln(1 + (N−df+½)/(df+½)) is never negative. Sections compete
with sections: scores are never summed over a page, so that a long page has no advantage.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kb_pipeline.text.analyser import FIRST_CJK
from kb_pipeline.text.sparse_build import IndexedSection, IndexReport, build_index, open_segments, update_index
from kb_pipeline.text.sparse_collect import FIELD_WEIGHTS
from kb_pipeline.text.sparse_segment import UNITS, Segment

K1 = 1.2
B = 0.9
_LATIN_BESIDE_CJK = 2.5


__all__ = [
    "FIELD_WEIGHTS",
    "IndexReport",
    "IndexedSection",
    "SparseIndex",
    "build_index",
    "update_index",
    "weigh_terms",
]


def weigh_terms(terms: Sequence[str]) -> dict[str, float]:
    """Weight of each distinct query term.

    A Chinese word of two characters gives three tokens that agree, a Latin word gives one: beside Chinese it counts
    2.5 times, or "React 的元件" would be a search for 的元件. Measured: nDCG@10 on technical zh-TW questions .655 → .688,
    on DRCD .975 → .978, no change for queries in one language.
    """
    mixed = any(term >= FIRST_CJK for term in terms)
    return {term: _LATIN_BESIDE_CJK if mixed and term < FIRST_CJK else 1.0 for term in terms}


class SparseIndex:
    """A keyword index opened for reading. Holds file maps only; safe to share between threads."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        self._segments = tuple(segments)

    @classmethod
    def open(cls, folder: Path) -> SparseIndex:
        """Raises SnapshotCorruptError when there is no index of this version in ``folder``."""
        return cls(open_segments(folder))

    def __len__(self) -> int:
        """Number of sections."""
        return sum(segment.live for segment in self._segments)

    @cached_property
    def _norms(self) -> tuple[NDArray[np.float64], ...]:
        """k1·(1−b+b·length/mean) of each section, in units, by segment."""
        mean = sum(segment.live_length for segment in self._segments) / max(1, len(self)) or 1.0
        return tuple((K1 * UNITS) * ((1.0 - B) + B * (segment.lengths / mean)) for segment in self._segments)

    def search(self, terms: Sequence[str] | Mapping[str, float], top_k: int) -> list[tuple[str, float]]:
        """The best sections as (key, score), best first, ties by key; sections without any of the terms never.

        ``terms`` are tokens of the analyser, or such with their weights.
        """
        return self._best(self._scores(terms), top_k)

    def score(self, terms: Sequence[str] | Mapping[str, float], keys: Iterable[str]) -> dict[str, float]:
        """Scores of the named sections, exactly as ``search`` gives them; 0 for unknown ones and those without a hit."""
        found = dict.fromkeys(keys, 0.0)
        places: list[list[tuple[int, str]]] = [[] for _ in self._segments]
        for key in found:
            for number, segment in enumerate(self._segments):
                at = segment.keys.find(_encoded(key))
                if at is not None and segment.is_alive(at):
                    places[number].append((at, key))
        for term, weight in self._weighted(terms).items():
            postings = [segment.postings(_encoded(term)) for segment in self._segments]
            idf = self._idf(sum(len(sections) for sections, _ in postings))
            for (sections, units), wanted, norms in zip(postings, places, self._norms, strict=True):
                for at, key in wanted:
                    position = int(np.searchsorted(sections, at))
                    if position < len(sections) and sections[position] == at:
                        tf = np.float64(units[position])
                        found[key] += float(tf / (tf + norms[at]) * (weight * idf * (K1 + 1.0)))
        return found

    def _weighted(self, terms: Sequence[str] | Mapping[str, float]) -> Mapping[str, float]:
        return terms if isinstance(terms, Mapping) else weigh_terms(terms)

    def _idf(self, frequency: int) -> float:
        return math.log(1.0 + (len(self) - frequency + 0.5) / (frequency + 0.5))

    def _scores(self, terms: Sequence[str] | Mapping[str, float]) -> list[NDArray[np.float64]]:
        scores = [np.zeros(len(segment)) for segment in self._segments]
        for term, weight in self._weighted(terms).items():
            postings = [segment.postings(_encoded(term)) for segment in self._segments]
            frequency = sum(len(sections) for sections, _ in postings)
            if not frequency:
                continue
            factor = weight * self._idf(frequency) * (K1 + 1.0)
            for (sections, units), total, norms in zip(postings, scores, self._norms, strict=True):
                if len(sections):
                    tf = units.astype(np.float64)
                    total[sections] += tf / (tf + norms[sections]) * factor
        return scores

    def _best(self, scores: Sequence[NDArray[np.float64]], count: int) -> list[tuple[str, float]]:
        if count <= 0:
            return []
        hits: list[tuple[str, float]] = []
        for segment, values in zip(self._segments, scores, strict=True):
            found = np.flatnonzero(values)
            if len(found) > count:
                # Everything that ties with the last place stays in, so that keys decide and not places in a file.
                least = np.partition(values[found], len(found) - count)[len(found) - count]
                found = found[values[found] >= least]
            hits += [
                (segment.keys[at].decode("utf-8", "surrogatepass"), score)
                for at, score in zip(found.tolist(), values[found].tolist(), strict=True)
            ]
        hits.sort(key=lambda hit: (-hit[1], hit[0]))
        return hits[:count]


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
