"""Where in the raw documents each fact of a page comes from: ``raw/x.md:42-58`` (SPEC 6.12).

Belongs here: aligning facts by normal form and by the words around them. Does not belong here: finding facts
(``text.facts``), showing them (the surfaces).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kb_pipeline.models import Fact, WikiPage
from kb_pipeline.text.facts import extract_facts
from kb_pipeline.text.similarity import words

_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})")
_ITEM = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+|[ \t>]*#{1,6}[ \t]|[ \t>]*\|")


@dataclass(frozen=True, slots=True)
class TracedFact:
    """``page_line``: 1-based in the page's file. ``source``: ``raw/x.md:42-58`` or ``raw/x.md:42``; None: not found."""

    fact: Fact
    page_line: int
    source: str | None


def trace_facts(page: WikiPage, raw_texts: Mapping[str, str]) -> list[TracedFact]:
    """Each fact of a page in order of its line, those of title and summary that the body does not repeat first.

    ``raw_texts``: text of each raw document by its path under ``raw/``, those of ``page.sources`` at least; they are
    searched in the order of the sources. Where a fact stands in several places, the one whose surroundings share the
    most words with the page's wins; where that is equal, the first.
    """
    order = [source.path for source in page.sources if source.path in raw_texts]
    places = _Places([(path, raw_texts[path]) for path in order or sorted(raw_texts)])
    body = page.body.split("\n")
    traced = []
    in_body = extract_facts(page.body)
    known = {fact.normal for fact in in_body}
    for name, text in (("title", page.title), ("summary", page.summary)):
        for fact in extract_facts(text):
            if fact.normal not in known:
                known.add(fact.normal)
                line = page.field_lines.get(name, 1)
                traced.append(TracedFact(fact, line, places.of(fact, text)))
    for fact in in_body:
        context = "\n".join(body[max(fact.line - 2, 0) : fact.line + 1])
        traced.append(TracedFact(fact, page.body_line + fact.line - 1, places.of(fact, context)))
    return traced


@dataclass(frozen=True, slots=True)
class _Place:
    path: str
    first: int
    last: int
    words: frozenset[str]


class _Places:
    """Every place of every fact in the raw documents."""

    def __init__(self, texts: Sequence[tuple[str, str]]) -> None:
        self._by_normal: dict[str, list[_Place]] = defaultdict(list)
        self._texts: list[tuple[str, list[str], list[tuple[int, int]]]] = []
        for path, text in texts:
            lines = text.split("\n")
            blocks = list(_blocks(lines))
            self._texts.append((path, lines, blocks))
            for fact in extract_facts(text):
                last = fact.line + fact.text.count("\n")
                self._by_normal[fact.normal].append(self._place(path, lines, blocks, fact.line, last))

    def of(self, fact: Fact, context: str) -> str | None:
        found = self._by_normal.get(fact.normal) or list(self._worded(fact.text.strip("`")))
        if not found:
            return None
        around = frozenset(words(context))
        best = max(found, key=lambda place: len(place.words & around))
        lines = f"{best.first}-{best.last}" if best.last > best.first else str(best.first)
        return f"raw/{best.path}:{lines}"

    def _worded(self, wording: str) -> Iterator[_Place]:
        """Where the same characters stand, though not as a fact of their own: inside a command, a path, a table."""
        pattern = re.compile(rf"(?<![A-Za-z0-9]){re.escape(wording)}(?![A-Za-z0-9])", re.IGNORECASE)
        for path, lines, blocks in self._texts:
            for number, line in enumerate(lines, 1):
                if wording and pattern.search(line):
                    yield self._place(path, lines, blocks, number, number)

    def _place(self, path: str, lines: list[str], blocks: Sequence[tuple[int, int]], first: int, last: int) -> _Place:
        start, end = blocks[first - 1][0], blocks[last - 1][1]
        around = lines[max(start - 2, 0) : end + 1]
        return _Place(path, start, end, frozenset(words("\n".join(around))))


def _blocks(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """For each line the first and last line that belong to it: the paragraph, the item with its continuation; a row, a
    heading or a line of code stands for itself."""
    spans: list[tuple[int, int]] = []
    start: int | None = None
    fence = ""
    for number, line in enumerate((*lines, ""), 1):
        mark = _FENCE.match(line)
        in_code = bool(fence)
        if mark and not fence:
            fence = mark[1]
        elif mark and fence and mark[1].startswith(fence) and not line.split(fence, 1)[1].strip("`~ \t"):
            fence = ""
        alone = in_code or bool(mark) or not line.strip() or line.lstrip(" \t>").startswith(("#", "|"))
        if start is not None and (alone or _ITEM.match(line)):
            spans += [(start, number - 1)] * (number - start)
            start = None
        if alone:
            spans.append((number, number))
        elif start is None:
            start = number
    yield from spans[: len(lines)]
