"""One segment of the keyword index: an immutable file of postings, read through a memory map.

Belongs here: the file's layout, writing and reading it, looking up terms and sections. Does not belong here: which
sections a segment holds (``sparse_build``), scores (``sparse_index``).

Layout: named arrays one after another, each at a multiple of 64 bytes; where they lie is recorded by the caller
(``index.json``). Postings are grouped by term (compressed sparse columns): sections ascending, weighted frequency in
quarters. Terms and section keys are sorted UTF-8 in one blob each, so that opening costs the same for any size.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

UNITS = 4
"""A weighted term frequency of 1.0 is stored as this many units: weights are multiples of 1/4, sums are exact."""

DIGEST_BYTES = 16
_ALIGNMENT = 64
_TF_BITS, _SECTION_BITS, _TERM_BITS = 16, 24, 24
_TF_MAX = (1 << _TF_BITS) - 1
_SECTION_SHIFT, _TERM_SHIFT = np.uint64(_TF_BITS), np.uint64(_TF_BITS + _SECTION_BITS)
_SECTION_MASK = np.uint64((1 << _SECTION_BITS) - 1)

ArrayPlace = tuple[str, int, int]
"""dtype, byte offset, number of items."""

Packed = NDArray[np.uint64]
"""Term, section and frequency of an entry in one number: sorted, they are grouped by term, sections ascending."""


@dataclass(frozen=True)
class Postings:
    """Everything a segment holds, in memory. ``terms`` and ``keys`` are sorted and unique.

    ``starts``: for each term where its postings begin, one more at the end. ``sections``: index into ``keys``.
    ``units``: weighted frequency × UNITS. ``lengths``: weighted length of each section × UNITS. ``digests``: content
    hash of each section, DIGEST_BYTES each.
    """

    terms: Sequence[bytes]
    starts: NDArray[np.int64]
    sections: NDArray[np.int32]
    units: NDArray[np.uint16]
    keys: Sequence[bytes]
    lengths: NDArray[np.int64]
    digests: bytes

    @classmethod
    def from_packed(
        cls, terms: Sequence[bytes], packed: Packed, keys: Sequence[bytes], lengths: NDArray[np.int64], digests: bytes
    ) -> Postings:
        """From entries in any order; the array is sorted in place.

        One sort of 64-bit numbers stands for the transpose of a sparse matrix: for eleven million entries it takes as
        long as scipy's, without the 0.6 s of its import, and an incremental build can use it too.
        """
        packed.sort()
        edges = np.arange(len(terms) + 1, dtype=np.uint64) << _TERM_SHIFT
        starts = np.searchsorted(packed, edges).astype(np.int64)
        sections = ((packed >> _SECTION_SHIFT) & _SECTION_MASK).astype(np.int32)
        return cls(terms, starts, sections, (packed & np.uint64(_TF_MAX)).astype(np.uint16), keys, lengths, digests)


def pack(terms: NDArray[Any], sections: NDArray[Any], units: NDArray[Any]) -> Packed:
    """Entries as sortable numbers. Frequencies beyond 16,383 count as that."""
    limited = np.minimum(units, _TF_MAX).astype(np.uint64)
    packed: Packed = (terms.astype(np.uint64) << _TERM_SHIFT) | (sections.astype(np.uint64) << _SECTION_SHIFT) | limited
    return packed


def renumber(packed: Packed, terms: NDArray[np.int64], sections: NDArray[np.int64]) -> None:
    """Give terms and sections their final numbers, in place. Raises ValueError beyond 16,777,216 of either."""
    if max(len(terms), len(sections)) > 1 << _TERM_BITS:
        raise ValueError("the keyword index holds at most 16,777,216 terms and as many sections")
    new_terms = terms[(packed >> _TERM_SHIFT).astype(np.int64)]
    new_sections = sections[((packed >> _SECTION_SHIFT) & _SECTION_MASK).astype(np.int64)]
    packed[:] = pack(new_terms, new_sections, packed & np.uint64(_TF_MAX))


def write_segment(path: Path, postings: Postings) -> dict[str, ArrayPlace]:
    """Write the file and return where each array lies. An unfinished file keeps a temporary name."""
    term_ends, term_blob = _blob(postings.terms)
    key_ends, key_blob = _blob(postings.keys)
    arrays: dict[str, NDArray[np.generic]] = {
        "starts": postings.starts,
        "term_ends": term_ends,
        "key_ends": key_ends,
        "lengths": postings.lengths,
        "sections": postings.sections,
        "units": postings.units,
        "digests": np.frombuffer(postings.digests, dtype=np.uint8),
        "terms": np.frombuffer(term_blob, dtype=np.uint8),
        "keys": np.frombuffer(key_blob, dtype=np.uint8),
    }
    places: dict[str, ArrayPlace] = {}
    unfinished = path.with_name(path.name + ".tmp")
    with unfinished.open("wb") as file:
        for name, array in arrays.items():
            file.write(b"\0" * (-file.tell() % _ALIGNMENT))
            places[name] = (array.dtype.str, file.tell(), int(array.size))
            file.write(np.ascontiguousarray(array).tobytes())
    unfinished.replace(path)
    return places


def _blob(texts: Sequence[bytes]) -> tuple[NDArray[np.int64], bytes]:
    ends = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, texts), dtype=np.int64, count=len(texts)), out=ends[1:])
    return ends, b"".join(texts)


class SortedTexts:
    """Sorted byte strings in one blob, looked up by bisection: nothing is built when it is opened."""

    def __init__(self, blob: memoryview, ends: NDArray[np.int64]) -> None:
        self._blob = blob
        self._ends: memoryview = ends.data

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, index: int) -> bytes:
        return bytes(self._blob[self._ends[index] : self._ends[index + 1]])

    def place(self, text: bytes) -> int:
        """Index of the first entry that is not smaller."""
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self[middle] < text:
                low = middle + 1
            else:
                high = middle
        return low

    def find(self, text: bytes) -> int | None:
        index = self.place(text)
        return index if index < len(self) and self[index] == text else None

    def all(self) -> list[bytes]:
        ends = self._ends.tolist()
        blob = bytes(self._blob)
        return [blob[start:end] for start, end in pairwise(ends)]


class Segment:
    """A segment file under a memory map, with the mask of the sections that are still valid (None: all)."""

    def __init__(self, path: Path, places: Mapping[str, ArrayPlace], alive: NDArray[np.bool_] | None) -> None:
        self.path = path
        self.places = dict(places)
        self.alive = alive
        with path.open("rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self.starts: NDArray[np.int64] = self._array("starts")
        self.lengths: NDArray[np.int64] = self._array("lengths")
        self.sections: NDArray[np.int32] = self._array("sections")
        self.units: NDArray[np.uint16] = self._array("units")
        self.terms = self._texts("terms", "term_ends")
        self.keys = self._texts("keys", "key_ends")

    def _array(self, name: str) -> NDArray[Any]:
        dtype, offset, count = self.places[name]
        if count == 0:
            return np.empty(0, dtype=dtype)
        return np.frombuffer(self._map, dtype=dtype, offset=offset, count=count)

    def _texts(self, name: str, ends: str) -> SortedTexts:
        _, offset, count = self.places[name]
        return SortedTexts(memoryview(self._map)[offset : offset + count], self._array(ends))

    @cached_property
    def digests(self) -> bytes:
        _, offset, count = self.places["digests"]
        return self._map[offset : offset + count]

    def __len__(self) -> int:
        return len(self.lengths)

    @cached_property
    def live(self) -> int:
        return len(self) if self.alive is None else int(np.count_nonzero(self.alive))

    @cached_property
    def live_length(self) -> int:
        """Sum of the weighted lengths of valid sections, in units."""
        return int(self.lengths.sum() if self.alive is None else self.lengths[self.alive].sum())

    def is_alive(self, section: int) -> bool:
        return self.alive is None or bool(self.alive[section])

    def postings(self, term: bytes) -> tuple[NDArray[np.int32], NDArray[np.uint16]]:
        """Sections that hold a term and its units in each, valid ones only."""
        index = self.terms.find(term)
        if index is None:
            return self.sections[:0], self.units[:0]
        start, end = int(self.starts[index]), int(self.starts[index + 1])
        sections, units = self.sections[start:end], self.units[start:end]
        if self.alive is None:
            return sections, units
        valid = self.alive[sections]
        return sections[valid], units[valid]

    def page_range(self, page: bytes) -> range:
        """Sections whose key begins with ``page#``."""
        return range(self.keys.place(page + b"#"), self.keys.place(page + b"$"))


def merge_segments(segments: Iterable[Segment]) -> Postings:
    """One set of postings out of the valid sections of several segments; terms that nothing uses any more go."""
    parts = list(segments)
    places: list[tuple[bytes, int, int]] = []
    for number, part in enumerate(parts):
        places += [(key, number, at) for at, key in enumerate(part.keys.all()) if part.is_alive(at)]
    places.sort()
    renumbered = [np.full(len(part), -1, dtype=np.int64) for part in parts]
    lengths = np.empty(len(places), dtype=np.int64)
    digests: list[bytes] = []
    for new, (_, number, at) in enumerate(places):
        renumbered[number][at] = new
        lengths[new] = parts[number].lengths[at]
        digests.append(parts[number].digests[at * DIGEST_BYTES : (at + 1) * DIGEST_BYTES])
    vocabularies = [part.terms.all() for part in parts]
    terms, packed = _merged_entries(parts, vocabularies, renumbered)
    return Postings.from_packed(terms, packed, [key for key, _, _ in places], lengths, b"".join(digests))


def _merged_entries(
    parts: Sequence[Segment],
    vocabularies: Sequence[Sequence[bytes]],
    renumbered: Sequence[NDArray[np.int64]],
) -> tuple[list[bytes], Packed]:
    used: set[bytes] = set()
    kept: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint16]]] = []
    for part, vocabulary, mapping in zip(parts, vocabularies, renumbered, strict=True):
        old_terms = np.repeat(np.arange(len(vocabulary), dtype=np.int64), np.diff(part.starts))
        sections = mapping[part.sections]
        valid = sections >= 0
        kept.append((old_terms[valid], sections[valid], part.units[valid]))
        used.update(vocabulary[term] for term in np.unique(kept[-1][0]).tolist())
    terms = sorted(used)
    number = {term: index for index, term in enumerate(terms)}
    packed = []
    for vocabulary, (old_terms, sections, units) in zip(vocabularies, kept, strict=True):
        new_terms = np.fromiter((number.get(term, 0) for term in vocabulary), dtype=np.int64, count=len(vocabulary))
        packed.append(pack(new_terms[old_terms], sections, units))
    return terms, np.concatenate(packed) if packed else np.empty(0, dtype=np.uint64)
