"""Cuts a text into parts that an embedding model takes whole; joined, the parts are the text again.

What belongs here: counting tokens without a vendor, and where to cut. What does not: what goes around the parts
(``chunking``). Pure.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence

from kb_pipeline.text.sentences import split_sentences

_TOKEN = re.compile(r"[A-Za-z]{1,4}|[0-9]{1,2}|[^\sA-Za-z0-9]")
_PARAGRAPH = re.compile(r"(?<=\n)[^\S\n]*\n+")
_CLAUSE = re.compile(r"(?<=[，、；：,;:|\n\t ])")
_JOINERS = frozenset("\u200d\ufe0e\ufe0f")
_SKIN_TONES = range(0x1F3FB, 0x1F400)
_FLAGS = range(0x1F1E6, 0x1F200)
_STEP_BACK = 64
"""Characters that the search for a boundary may give away; marks stacked higher than that are cut."""


def estimate_tokens(text: str) -> int:
    """An upper estimate for XLM-R and the vendors' tokenizers: one a CJK character or symbol, one for four Latin
    letters or two digits begun. Never more than the number of characters; additive over parts but for their seams."""
    return len(_TOKEN.findall(text))


def split_text(text: str, limit: int, first: int | None = None) -> list[str]:
    """Parts of at most ``limit`` estimated tokens (the first of at most ``first``), of about equal size.

    Cuts at paragraphs, else sentences, else clauses, else anywhere between two characters as readers see them.
    A text that fits comes back whole, also when it is blank.
    """
    first = limit if first is None else first
    if limit < 1 or first < 1:
        raise ValueError("A part must be allowed at least one token.")
    if len(text) <= first:
        return [text]
    total = estimate_tokens(text)
    if total <= first:
        return [text]
    # Of equal size as far as possible: a last part of ten words would make a poor vector. The slack is for the seams.
    parts = 1 + -(-(total - first) // limit)
    even = total // parts + total // (5 * parts) + 1
    packer = _Packer(min(limit, even), min(first, even))
    packer.add(text, 0)
    return packer.finish()


class _Packer:
    def __init__(self, limit: int, first: int) -> None:
        self._limit = limit
        self._room = first
        self._parts: list[str] = []
        self._open: list[str] = []
        self._used = 0

    def add(self, text: str, level: int) -> None:
        size = estimate_tokens(text)
        if self._used + size <= self._room or not size:
            self._open.append(text)
            self._used += size
            return
        if size <= self._limit:
            self._close()
            if size <= self._room:
                self._open.append(text)
                self._used = size
                return
        if level < len(_SPLITTERS):
            for piece in _SPLITTERS[level](text):
                self.add(piece, level + 1)
        else:
            self._add_hard(text)

    def _add_hard(self, text: str) -> None:
        at = 0
        while at < len(text):
            end = at + self._room - self._used
            if end < len(text):
                whole = _boundary(text, at, end)
                if whole == at and self._open:
                    self._close()
                    continue
                end = whole if whole > at else end  # a character that no part can hold is cut after all
            self._open.append(text[at:end])
            self._used += end - at
            at = end

    def _close(self) -> None:
        if self._open:
            self._parts.append("".join(self._open))
            self._open, self._used, self._room = [], 0, self._limit

    def finish(self) -> list[str]:
        self._close()
        return self._parts


def _paragraphs(text: str) -> list[str]:
    cuts = [match.end() for match in _PARAGRAPH.finditer(text)]
    return _cut(text, cuts)


def _lines(text: str) -> list[str]:
    # Not splitlines(): it would also cut at form feeds and U+2028.
    return _cut(text, [match.end() for match in re.finditer("\n", text)])


def _cut(text: str, cuts: Sequence[int]) -> list[str]:
    pieces, begin = [], 0
    for cut in [*cuts, len(text)]:
        if cut > begin:
            pieces.append(text[begin:cut])
            begin = cut
    return pieces


_SPLITTERS: tuple[Callable[[str], list[str]], ...] = (
    _paragraphs,
    split_sentences,
    _lines,
    lambda text: [piece for piece in _CLAUSE.split(text) if piece],
)


def _boundary(text: str, begin: int, end: int) -> int:
    """The last place from ``begin`` to ``end`` that does not part what a reader sees as one character."""
    for place in range(end, max(begin, end - _STEP_BACK), -1):
        if not _belongs_to_left(text, place):
            return place
    return begin


def _belongs_to_left(text: str, place: int) -> bool:
    left, right = text[place - 1], text[place]
    if right in _JOINERS or left == "\u200d" or ord(right) in _SKIN_TONES or unicodedata.category(right)[0] == "M":
        return True
    if left == "\r" and right == "\n":
        return True
    if ord(right) in _FLAGS and ord(left) in _FLAGS:
        run = place
        while run > 0 and ord(text[run - 1]) in _FLAGS:
            run -= 1
        return (place - run) % 2 == 1  # the second letter of a pair
    return False
