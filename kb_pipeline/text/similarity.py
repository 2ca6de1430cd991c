"""How much one text copies another, and which of many texts are nearly the same.

Belongs here: shingles, containment, near-duplicate pairs. Does not belong here: thresholds and what follows from them
(``rewriting.gates``, ``lint``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from kb_pipeline.text.facts import fact_lines
from kb_pipeline.text.folding import fold

SHINGLE = 8
"""Tokens of a shingle (SPEC 6.3)."""

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]|[^\W_\u3040-\u9fff]+")
_FENCE = re.compile(r"\s*(?:>\s*)*(?:(?:[-*+]|\d+[.)])\s+)?(`{3,}|~{3,})")
_SPACE_AND_MARKS = re.compile(r"[\W_]+")
_WINDOW = 12  # characters of a near-duplicate shingle: about eight Chinese tokens or two English words
_SKETCH = 96
_COMMON = 24  # a sketch value that more texts share than this is boilerplate and proposes no pairs


def words(text: str) -> list[str]:
    """Folded words, one token a Chinese character: what a reader would call the same wording."""
    return _WORD.findall(fold(text))


def shingles(tokens: Sequence[str], size: int = SHINGLE) -> set[tuple[str, ...]]:
    """Every run of ``size`` tokens; none when there are fewer."""
    return set(zip(*(tokens[offset:] for offset in range(size)), strict=False))


def containment(page_text: str, raw_text: str, size: int = SHINGLE) -> float:
    """Share, 0 to 1, of the raw's shingles that the page repeats. Code, tables and fact lines of the raw do not count.

    0 when the raw has no prose long enough for one shingle.
    """
    raw: set[tuple[str, ...]] = set()
    for passage in _prose(raw_text):
        raw |= shingles(words(passage), size)
    if not raw:
        return 0.0
    return len(raw & shingles(words(page_text), size)) / len(raw)


def _prose(text: str) -> Iterator[str]:
    """Runs of lines outside code, tables and fact lines."""
    with_facts = fact_lines(text)
    passage: list[str] = []
    fence: str | None = None
    for number, line in enumerate(text.split("\n"), start=1):
        mark = _FENCE.match(line)
        if mark and (fence is None or (mark.group(1)[0] == fence[0] and len(mark.group(1)) >= len(fence))):
            fence = mark.group(1) if fence is None else None
        elif fence is None and number not in with_facts and not line.lstrip().startswith("|"):
            passage.append(line)
            continue
        if passage:
            yield "\n".join(passage)
            passage = []
    if passage:
        yield "\n".join(passage)


def near_duplicates(texts: Sequence[str], threshold: float = 0.8) -> list[tuple[int, int, float]]:
    """Pairs ``(i, j, similarity)`` with ``i < j`` whose texts are nearly the same, in order.

    Similarity is Jaccard over 12-character windows of the folded text without white space and punctuation. Pairs are
    proposed by rare values that two bottom-k sketches (Broder 1997) share, then measured exactly: cost grows with the
    number of texts, not of pairs.
    """
    prints = [_fingerprints(text) for text in texts]
    pairs: list[tuple[int, int, float]] = []
    for first, second in sorted(_candidates([each[:_SKETCH] for each in prints])):
        a, b = prints[first], prints[second]
        if min(a.size, b.size) < threshold * max(a.size, b.size):
            continue
        common = np.intersect1d(a, b, assume_unique=True).size
        score = common / (a.size + b.size - common)
        if score >= threshold:
            pairs.append((first, second, float(score)))
    return pairs


def _candidates(sketches: Sequence[NDArray[np.uint64]]) -> set[tuple[int, int]]:
    sizes = [sketch.size for sketch in sketches]
    if not sum(sizes):
        return set()
    values = np.concatenate(list(sketches))
    owners = np.repeat(np.arange(len(sketches)), sizes)
    order = np.argsort(values, kind="stable")
    values, owners = values[order], owners[order]
    starts = np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1])))
    lengths = np.diff(np.append(starts, values.size))
    pairs: set[tuple[int, int]] = set()
    for start, length in zip(starts[lengths > 1].tolist(), lengths[lengths > 1].tolist(), strict=True):
        if length > _COMMON:
            continue
        group = owners[start : start + length].tolist()
        pairs.update((a, b) for at, a in enumerate(group) for b in group[at + 1 :])
    return pairs


def _fingerprints(text: str) -> NDArray[np.uint64]:
    """Sorted distinct hashes of all windows; of the whole when it is shorter than one window."""
    plain = _SPACE_AND_MARKS.sub("", fold(text))
    codes = np.frombuffer(plain.encode("utf-32-le", "replace"), dtype=np.uint32).astype(np.uint64)
    if not codes.size:
        return np.empty(0, dtype=np.uint64)
    width = min(_WINDOW, codes.size)
    hashed = np.zeros(codes.size - width + 1, dtype=np.uint64)
    for offset in range(width):
        hashed = hashed * np.uint64(1_000_003) + codes[offset : codes.size - width + 1 + offset]
    # Polynomial hashes of like windows lie close together; the sketch needs them spread (murmur3's finaliser).
    hashed ^= hashed >> np.uint64(33)
    hashed *= np.uint64(0xFF51AFD7ED558CCD)
    hashed ^= hashed >> np.uint64(33)
    return np.unique(hashed)
