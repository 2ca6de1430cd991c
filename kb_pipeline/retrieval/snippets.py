"""The line of text that is shown for a hit, and the words of the query that are in a text (SPEC 13).

Belongs here: markdown made plain, the neighbourhood of the query's words. Does not belong here: ranking, reading files.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable

from kb_pipeline.retrieval.query import aligned

SNIPPET_CHARACTERS = 160
_LONGEST_TEXT = 20_000
_CUT = "…"
_SENTENCE_END = re.compile(r"[。！？!?；;\n]|\.\s")

_RULE_CELL = r"[ \t]*:?-+:?[ \t]*"

_NOISE = (
    (re.compile(r"^[ \t]*(?:```|~~~).*$", re.MULTILINE), ""),  # fence marks
    (re.compile(r"<!--.{0,2000}?-->|%%.{0,2000}?%%", re.DOTALL), " "),
    (re.compile(r"!?\[\[(?:[^\[\]|]*\\?\|)?([^\[\]]*)\]\]"), r"\1"),
    (re.compile(r"!?\[([^\[\]]*)\]\((?:[^()]|\([^()]*\))*\)"), r"\1"),
    (re.compile(r"</?[A-Za-z][^<>]*>"), " "),
    (re.compile(r"^[ \t]*(?:[-*+]|\d+[.)]|>+|#{1,6})[ \t]+(?:\[[ xX]\][ \t]+)?", re.MULTILINE), ""),
    (re.compile(r"^[ \t]*([-*_])(?:[ \t]*\1){2,}[ \t]*$", re.MULTILINE), ""),  # a rule
    (re.compile(rf"^[ \t]*\|?{_RULE_CELL}(?:\|{_RULE_CELL})+\|?[ \t]*$", re.MULTILINE), ""),  # below a table's head
    (re.compile(r"^[ \t]*\||\|[ \t]*$", re.MULTILINE), ""),
    (re.compile(r"[ \t]*\|[ \t]*"), " · "),
    (re.compile(r"(\*\*|__|~~|==|`+)(?=\S)(.{1,300}?)(?<=\S)\1"), r"\2"),
    (re.compile(r"(?<![\w*])\*(?=\S)([^*\n]{1,300}?)(?<=\S)\*(?![\w*])"), r"\1"),
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")


def plain_text(markdown: str) -> str:
    """Markdown on one line, without most of its marks. Not a renderer: what is unclear stays as written."""
    text = markdown[:_LONGEST_TEXT]
    for pattern, replacement in _NOISE:
        text = pattern.sub(replacement, text)
    return " ".join(_CONTROL.sub(" ", text).split())


def snippet(markdown: str, words: Iterable[str], most: int = SNIPPET_CHARACTERS) -> str:
    """At most ``most`` characters around the place where most of the words stand; the beginning when there is none.

    ``words`` are aligned (``query.aligned``). Cuts are marked.
    """
    text = plain_text(markdown)
    if len(text) <= most:
        return text
    places = _places(aligned(text), words)
    room = most - 2 * len(_CUT)
    begin = _sentence_begin(text, _best_begin(places, room) if places else 0)
    end = begin + room
    if end >= len(text):
        begin, end = max(0, len(text) - room), len(text)
    shown = text[begin:end].strip()
    return (_CUT if begin else "") + shown + (_CUT if end < len(text) else "")


def words_in(text: str, words: Iterable[str]) -> list[str]:
    """The words that a text holds, as it spells them; overlapping pairs of characters are joined."""
    folded = aligned(text)
    runs: list[list[int]] = []
    for start, end in sorted(span for word in words if (span := _first(folded, word))):
        if runs and start <= runs[-1][1] - 1:
            runs[-1][1] = max(runs[-1][1], end)
        else:
            runs.append([start, end])
    return list(dict.fromkeys(text[start : _word_end(text, end)] for start, end in runs))


def _first(folded: str, word: str) -> tuple[int, int] | None:
    at = _find(folded, word, 0)
    return None if at < 0 else (at, at + len(word))


def _find(folded: str, word: str, start: int) -> int:
    """Where a word begins; a Latin one only at a word's beginning."""
    at = folded.find(word, start)
    while at > 0 and _is_latin(word[0]) and _is_latin(folded[at - 1]):
        at = folded.find(word, at + 1)
    return at


def _is_latin(char: str) -> bool:
    return char.isalnum() and char < "\u2e80"


def _word_end(text: str, end: int) -> int:
    """A stem is shown as the word that it stands for."""
    if end and _is_latin(text[end - 1]):
        while end < len(text) and _is_latin(text[end]):
            end += 1
    return end


def _places(folded: str, words: Iterable[str]) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    for word in words:
        at = _find(folded, word, 0)
        while at >= 0 and len(found) < 2_000:
            found.append((at, word))
            at = _find(folded, word, at + len(word))
    return sorted(found)


def _best_begin(places: list[tuple[int, str]], most: int) -> int:
    """First place of the window that holds the most different words, some room left before it."""
    starts = [at for at, _ in places]
    room = most * 3 // 4
    best, best_count = 0, -1
    for first, (at, _) in enumerate(places):
        inside = {word for _, word in places[first : bisect_right(starts, at + room)]}
        if len(inside) > best_count:
            best, best_count = at, len(inside)
    return best


def _sentence_begin(text: str, at: int) -> int:
    """The beginning of the sentence, when that is near; else a little before."""
    nearest = max(0, at - 40)
    ends = [found.end() for found in _SENTENCE_END.finditer(text, nearest, at)]
    if ends:
        return ends[-1]
    return 0 if nearest == 0 else max(0, at - 12)
