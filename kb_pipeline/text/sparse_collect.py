"""Sections → postings: analysis and counting, in one pass that keeps no text.

Belongs here: weighted term frequencies and lengths. Does not belong here: files (``sparse_segment``), what is analysed
anew (``sparse_build``).
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kb_pipeline.text.analyser import analyse
from kb_pipeline.text.sparse_segment import UNITS, Packed, Postings, pack, renumber

FIELD_WEIGHTS: Mapping[str, float] = {
    "title": 3.0,
    "keywords": 2.0,
    "aliases": 2.0,
    "headings": 2.0,
    "summary": 1.5,
    "body": 1.0,
}
"""How much one occurrence counts, by field. Multiples of 1/4, so that sums are exact."""

_SHORT = 400
"""Fields up to this many characters are remembered: a page's title and keywords stand in each of its sections."""

_CHUNK = 1_000_000


class _Numbers(dict[str, int]):
    """Numbers terms in the order they are first asked for."""

    def __missing__(self, term: str) -> int:
        number = self[term] = len(self)
        return number


class SectionCollector:
    """Takes sections in any order, gives their postings sorted by key. Eight bytes an entry while collecting."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        self._units = {name: _units(name, weight) for name, weight in weights.items()}
        self._numbers = _Numbers()
        self._short = lru_cache(maxsize=4096)(_counts)
        self._keys: list[bytes] = []
        self._digests: list[bytes] = []
        self._lengths = array("q")
        self._chunks: list[Packed] = []
        self._terms, self._frequencies, self._sizes = array("q"), array("q"), array("q")

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, key: bytes, digest: bytes, fields: Mapping[str, str]) -> None:
        units, length = self._count(fields)
        self._keys.append(key)
        self._digests.append(digest)
        self._lengths.append(length)
        self._terms.extend(map(self._numbers.__getitem__, units))
        self._frequencies.extend(units.values())
        self._sizes.append(len(units))
        if len(self._terms) >= _CHUNK:
            self._flush()

    def _count(self, fields: Mapping[str, str]) -> tuple[dict[str, int], int]:
        """Units of each term and of the whole section; a field without a weight of its own counts as body text."""
        total: dict[str, int] = {}
        length = 0
        for name, text in fields.items():
            counts, tokens = (self._short if len(text) <= _SHORT else _counts)(text)
            weight = self._units.get(name, UNITS)
            length += tokens * weight
            if total:
                for term, times in counts.items():
                    total[term] = total.get(term, 0) + times * weight
            else:
                total = {term: times * weight for term, times in counts.items()}
        return total, length

    def _flush(self) -> None:
        sizes = np.frombuffer(self._sizes, dtype=np.int64)
        first = len(self._keys) - len(sizes)
        sections = np.repeat(np.arange(first, len(self._keys), dtype=np.int64), sizes)
        terms = np.frombuffer(self._terms, dtype=np.int64)
        self._chunks.append(pack(terms, sections, np.frombuffer(self._frequencies, dtype=np.int64)))
        self._terms, self._frequencies, self._sizes = array("q"), array("q"), array("q")

    def postings(self) -> Postings:
        """Everything collected; the collector is empty afterwards but for its vocabulary."""
        if self._terms:
            self._flush()
        names = sorted(self._numbers)
        term_ranks = _ranks([self._numbers[name] for name in names])
        order = sorted(range(len(self._keys)), key=self._keys.__getitem__)
        section_ranks = _ranks(order)
        for chunk in self._chunks:
            renumber(chunk, term_ranks, section_ranks)
        packed = np.concatenate(self._chunks) if self._chunks else np.empty(0, dtype=np.uint64)
        self._chunks = []
        return Postings.from_packed(
            [name.encode("utf-8", "surrogatepass") for name in names],
            packed,
            [self._keys[at] for at in order],
            np.array(self._lengths, dtype=np.int64)[order],
            b"".join(self._digests[at] for at in order),
        )


def _ranks(order: list[int]) -> NDArray[np.int64]:
    """Inverse of a permutation."""
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order), dtype=np.int64)
    return ranks


def _units(name: str, weight: float) -> int:
    units = round(weight * UNITS)
    if units <= 0 or units != weight * UNITS:
        raise ValueError(f"weight {weight} of field {name!r} must be a positive multiple of {1 / UNITS}")
    return units


def _counts(text: str) -> tuple[Counter[str], int]:
    tokens = analyse(text)
    return Counter(tokens), len(tokens)
