"""Whether pages say what their raw document says: no fact invented, few lost (SPEC 6.3 "fidelity").

Belongs here: comparing facts and their wording. Does not belong here: finding facts (``text.facts``), what follows from
a difference (``gates``).

A fact counts as said when its normal form occurs on the other side, or when its wording does as a whole token: the two
sides may see one detail as a setting and as a table row. A number keeps its value when only the unit moved into a
column's heading.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from kb_pipeline.models import Fact, FactKind
from kb_pipeline.text.facts import extract_facts
from kb_pipeline.text.folding import fold

_NUMBER = re.compile(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?(?![\w]|\.\d)")
_MEASURE = re.compile(r"(\d+(?:\.\d+)?) (.+)")
_ITEM = re.compile(r"( *)(?:[-*+]|\d{1,3}[.)])[ \t]+\S")
_HEADING = re.compile(r"(#{2,4})[ \t]")
_SETTING = re.compile(r"\s*(?:[:=：＝]|\s)\s*")
_SPACES = re.compile(r"\s+")
_MARKS = " `'\"*_「」『』"
_LONGEST_COUNT = 50


@dataclass(frozen=True)
class Side:
    """A text with the facts in it. ``facts`` are those of ``text``; ``more`` is wording without lines: names, values."""

    text: str
    more: str = ""

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        return tuple(extract_facts(self.text))

    @cached_property
    def normals(self) -> frozenset[str]:
        extra = extract_facts(self.more) if self.more else ()
        return frozenset(fact.normal for fact in (*self.facts, *extra))

    @cached_property
    def _folded(self) -> str:
        return _SPACES.sub(" ", fold(f"{self.text}\n{self.more}"))

    @cached_property
    def _bare_numbers(self) -> frozenset[str]:
        """Numbers that stand without a unit, as in the cell of a table or behind an equals sign."""
        text = list(self.text)
        for fact in self.facts:
            if fact.kind is not FactKind.SETTING and fact.kind is not FactKind.COMMAND:
                text[fact.start : fact.end] = "\0" * (fact.end - fact.start)
        return frozenset(number.replace(",", "") for number in _NUMBER.findall(fold("".join(text))))

    @cached_property
    def _dates(self) -> frozenset[str]:
        return frozenset(fact.normal for fact in self.facts if fact.kind is FactKind.DATE) | frozenset(
            fact.normal for fact in extract_facts(self.more) if fact.kind is FactKind.DATE
        )

    @cached_property
    def list_lengths(self) -> frozenset[int]:
        """How many items each list and how many sections each level of headings has: numbers that are counted off."""
        return frozenset(_list_lengths(self.text))

    def says(self, fact: Fact) -> bool:
        """Whether this text has the fact, in any wording that means the same."""
        if fact.normal in self.normals or self._has(fact.text):
            return True
        if fact.kind is FactKind.NUMBER:
            measure = _MEASURE.fullmatch(fact.normal)
            return measure is not None and measure[1] in self._bare_numbers
        if fact.kind is FactKind.DATE:
            # 2026-08 follows from 2026-08-18, and 8/18 too; not the other way.
            return any(date.startswith(f"{fact.normal}-") or date.endswith(fact.normal[1:]) for date in self._dates)
        if fact.kind in {FactKind.SETTING, FactKind.COMMAND}:
            parts = [part for part in _SETTING.split(fact.text.strip(_MARKS)) if part.strip(_MARKS)]
            return len(parts) > 1 and all(self._has(part) for part in parts)
        return False

    def _has(self, wording: str) -> bool:
        """Whether a wording occurs as a whole: ``5`` not in ``15``, ``token`` not in ``tokens``."""
        wanted = _SPACES.sub(" ", fold(wording)).strip(_MARKS)
        text, position = self._folded, -1
        if not wanted:
            return True
        while (position := text.find(wanted, position + 1)) >= 0:
            end = position + len(wanted)
            before, after = text[position - 1 : position], text[end : end + 2]
            if not (_joins(before, wanted[0]) or _joins(wanted[-1], after[:1]) or _decimal(wanted, before, after)):
                return True
        return False


@dataclass(frozen=True, slots=True)
class Fidelity:
    """``invented``: facts of the pages, by page, that the raw document does not have. ``lost``: the raw's, once each.

    ``kept`` is the share of the raw's different facts that the pages have; 1 when it has none.
    """

    invented: tuple[tuple[int, Fact], ...]
    lost: tuple[Fact, ...]
    raw_facts: int
    page_facts: int

    @property
    def kept(self) -> float:
        return 1.0 if not self.raw_facts else 1 - len(self.lost) / self.raw_facts


def compare_facts(raw: Side, pages: Sequence[Side], evidence: str = "") -> Fidelity:
    """``raw`` is the raw document's body; ``evidence``: wording that pages may use and need not keep."""
    source = Side(raw.text, f"{raw.more}\n{evidence}")
    counts = raw.list_lengths
    invented = []
    for number, page in enumerate(pages):
        known: dict[str, bool] = {}
        for fact in page.facts:
            if fact.normal not in known:
                known[fact.normal] = source.says(fact) or _is_count(fact, page.list_lengths | counts, len(pages))
            if not known[fact.normal]:
                invented.append((number, fact))
    together = Side("\n".join(page.text for page in pages), "\n".join(page.more for page in pages))
    different = {fact.normal: fact for fact in reversed(raw.facts)}
    said = frozenset(fact.normal for page in pages for fact in page.facts)
    lost = [fact for normal, fact in different.items() if normal not in said and not together.says(fact)]
    lost.sort(key=lambda fact: fact.start)
    return Fidelity(tuple(invented), tuple(lost), len(different), sum(len(page.facts) for page in pages))


def names_of(path: str) -> str:
    """What a file's path gives as evidence: the path, its parts, and the name with its joints opened."""
    stem = posixpath.splitext(posixpath.basename(path))[0]
    return "\n".join((path, path.removesuffix(".md"), stem, re.sub(r"[-_.]+", " ", stem), *path.split("/")))


def _is_count(fact: Fact, lengths: frozenset[int], parts: int) -> bool:
    """Whether a number only says how many items are listed, or how many pages the document became."""
    measure = _MEASURE.fullmatch(fact.normal) if fact.kind is FactKind.NUMBER else None
    return measure is not None and measure[2] in _COUNTED and measure[1].isdecimal() and (
        int(measure[1]) in lengths or int(measure[1]) == parts
    )


_COUNTED = frozenset({"item", "kind", "step", "section", "entry", "issue", "point", "group", "page", "file", "document"})
"""Units of what a page itself lists; anything else (minutes, users) is a fact however many items there are."""


def _list_lengths(text: str) -> Iterable[int]:
    open_lists: dict[int, int] = {}
    headings: dict[str, int] = {}
    rows = 0
    for line in (*text.split("\n"), ""):
        if line.lstrip().startswith("|"):
            rows += 1
        elif rows:
            yield max(rows - 2, 0)
            rows = 0
        heading = _HEADING.match(line)
        if heading:
            headings[heading[1]] = headings.get(heading[1], 0) + 1
        item = _ITEM.match(line)
        if item:
            depth = len(item[1])
            for deeper in [indent for indent in open_lists if indent > depth]:
                yield open_lists.pop(deeper)
            open_lists[depth] = open_lists.get(depth, 0) + 1
        elif line.strip() and not line.startswith(" "):
            yield from open_lists.values()
            open_lists = {}
    yield from open_lists.values()
    yield from headings.values()


def _joins(before: str, after: str) -> bool:
    """Whether two neighbouring characters belong to one Latin word or number."""
    return bool(before and after) and _is_latin(before) and _is_latin(after)


def _is_latin(char: str) -> bool:
    return char == "_" or (char < "\u2e80" and char.isalnum())


def _decimal(wanted: str, before: str, after: str) -> bool:
    """``5`` is not in ``2.5`` or ``5.1``."""
    return (wanted[0].isdecimal() and before == ".") or (
        wanted[-1].isdecimal() and after[:1] in (".", ",") and after[1:].isdecimal()
    )
