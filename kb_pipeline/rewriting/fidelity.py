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
from dataclasses import dataclass, replace
from functools import cached_property

from kb_pipeline.models import Fact, FactKind
from kb_pipeline.text.facts import extract_facts
from kb_pipeline.text.folding import fold

_NUMBER = re.compile(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?(?![\w]|\.\d)")
_MEASURE = re.compile(r"-?(\d+(?:\.\d+)?) (.+)")
_LABELLED = re.compile(r"(?:port|http) (\d+)")
_FENCE = re.compile(r"[ >]*(?:`{3}|~{3})")
_ITEM = re.compile(r"( *)(?:[-*+]|\d{1,3}[.)])[ \t]+\S")
_HEADING = re.compile(r"(#{2,4})[ \t]")
_SPACES = re.compile(r"\s+")
_MARKS = " '\"_「」『』"
_EMPHASIS = str.maketrans("", "", "`*\\")
_ALTERNATIVE = re.compile(r"alt-text=\"([^\"\n]*)\"")
_UNTOLD = re.compile(
    r"<!--\s*START doctoc.*?END doctoc[^>]*-->|<!--.*?-->"
    r"|:::image\b[^\n]*?(?::::|$)|^[ \t]*:{3,}(?![ \t]*image\b)[^\n]*$|^[ \t]*>[ \t]*\[!div\b[^\n]*$",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True)
class Side:
    """A text with the facts in it.

    ``head``: title, summary, keywords, one a line, held to the same standard as the text. ``beside``: what else is known
    on this side: names, dates; it speaks for a fact and need not be spoken for. ``known``: lines of the other side; what
    stands here word for word needs no search, which is most of what an offline rewriter writes. ``wording``: text that
    may be repeated, without being searched for facts.
    """

    text: str
    head: str = ""
    beside: str = ""
    wording: str = ""
    known: frozenset[str] = frozenset()

    @cached_property
    def lines(self) -> tuple[str, ...]:
        return tuple(line.strip() for line in self.text.split("\n"))

    @cached_property
    def _searched(self) -> str:
        if not self.known:
            return self.text
        kept = zip(self.text.split("\n"), self.lines, strict=True)
        return "\n".join("" if line in self.known and not _FENCE.match(line) else whole for whole, line in kept)

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        return tuple(extract_facts(self._searched))

    @cached_property
    def head_facts(self) -> tuple[Fact, ...]:
        return tuple(extract_facts(self.head)) if self.head else ()

    @cached_property
    def _all(self) -> tuple[Fact, ...]:
        return (*self.facts, *self.head_facts, *(extract_facts(self.beside) if self.beside else ()))

    @cached_property
    def normals(self) -> frozenset[str]:
        return frozenset(fact.normal for fact in self._all)

    @cached_property
    def _lenient_normals(self) -> frozenset[str]:
        return frozenset(fact.normal for fact in extract_facts(self.text, lenient=True))

    @cached_property
    def _folded(self) -> str:
        return _wording("\n".join((self.text, self.head, self.beside, self.wording)))

    @cached_property
    def _bare_numbers(self) -> frozenset[str]:
        """Numbers that stand without a unit, as in the cell of a table or behind an equals sign."""
        text = list(self._searched)
        for fact in self.facts:
            if fact.kind is not FactKind.SETTING and fact.kind is not FactKind.COMMAND:
                text[fact.start : fact.end] = "\0" * (fact.end - fact.start)
        return frozenset(number.replace(",", "") for number in _NUMBER.findall(fold("".join(text))))

    @cached_property
    def _dates(self) -> frozenset[str]:
        return frozenset(fact.normal for fact in self._all if fact.kind is FactKind.DATE)

    @cached_property
    def list_lengths(self) -> frozenset[int]:
        """How many items each list and how many sections each level of headings has: numbers that are counted off."""
        return frozenset(_list_lengths(self.text))

    def says(self, fact: Fact) -> bool:
        """Whether this text has the fact, in any wording that means the same."""
        if fact.normal in self.normals or self._has(fact.text):
            return True
        if fact.kind is FactKind.DATE and self._says_date(fact.normal):
            return True
        if fact.kind is FactKind.NUMBER and self._says_number(fact.normal):
            return True
        if fact.kind is FactKind.SETTING:
            key, _, value = fact.normal.partition("=")
            if self._has(key) and (value in self.normals or self._has(value)):
                return True
        if self._has(fact.normal):
            return True
        # Turns of phrase that are no facts in themselves (一次, three ways) speak for a number elsewhere.
        return fact.kind is FactKind.NUMBER and fact.normal in self._lenient_normals

    def _says_number(self, normal: str) -> bool:
        measure, labelled = _MEASURE.fullmatch(normal), _LABELLED.fullmatch(normal)
        return (measure is not None and measure[1] in self._bare_numbers) or (
            labelled is not None and self._has(labelled[1])
        )

    def _says_date(self, date: str) -> bool:
        """2026-08 and --08-18 follow from 2026-08-18, not the other way; unless the year is told elsewhere."""
        if date.startswith("--"):
            return any(known.endswith(date[1:]) for known in self._dates)
        if f"{date}t" in self._folded:
            return True  # the day of a time stamp
        year, _, rest = date.partition("-")
        return any(known.startswith(f"{date}-") for known in self._dates) or (
            f"--{rest}" in self._dates and any(known.startswith(year) for known in self._dates)
        )

    def _has(self, wording: str) -> bool:
        """Whether a wording occurs as a whole: ``5`` not in ``15``, ``token`` not in ``tokens``."""
        wanted = _wording(wording).strip(_MARKS)
        text, position = self._folded, -1
        if not wanted:
            return True
        while (position := text.find(wanted, position + 1)) >= 0:
            end = position + len(wanted)
            before, after = text[max(position - 2, 0) : position], text[end : end + 2]
            if not (_joins(before[::-1], wanted[0]) or _joins(after, wanted[-1]) or _decimal(wanted, before, after)):
                return True
        return False


@dataclass(frozen=True, slots=True)
class Fidelity:
    """``invented``: facts of the pages that the raw document does not have: page, fact, whether it stands in its head.

    ``lost``: the raw's, once each; ``page_facts``: how many different ones the pages have.

    ``kept`` is the share of the raw's different facts that the pages have; 1 when it has none.
    """

    invented: tuple[tuple[int, Fact, bool], ...]
    lost: tuple[Fact, ...]
    raw_facts: int
    page_facts: int

    @property
    def kept(self) -> float:
        return 1.0 if not self.raw_facts else 1 - len(self.lost) / self.raw_facts


def compare_facts(raw: Side, pages: Sequence[Side]) -> Fidelity:
    """``raw``: the raw document's body, what else it tells ``beside`` it: that may be used and need not be kept."""
    raw_lines = frozenset(raw.lines)
    pages = [replace(page, known=raw_lines) for page in pages]
    invented = []
    for number, page in enumerate(pages):
        known: dict[str, bool] = {}
        for fact in (*page.head_facts, *page.facts):
            if fact.normal not in known:
                known[fact.normal] = raw.says(fact) or _is_count(fact, (page, raw), len(pages))
            if not known[fact.normal]:
                invented.append((number, fact, fact in page.head_facts))
    taken = raw_lines.intersection(*[frozenset(line for page in pages for line in page.lines)])
    different = {fact.normal: fact for fact in reversed(raw.facts)}
    said = frozenset().union(*(page.normals for page in pages))
    said |= {fact.normal for fact in raw.facts if raw.lines[fact.line - 1] in taken}
    missing = [fact for normal, fact in different.items() if normal not in said]
    lost = sorted((f for f in missing if not any(page.says(f) for page in pages)), key=lambda fact: fact.start)
    return Fidelity(tuple(invented), tuple(lost), len(different), len(said))


def names_of(path: str) -> str:
    """What a file's path gives as evidence: the path, its parts, and the name with its joints opened."""
    stem = posixpath.splitext(posixpath.basename(path))[0]
    return "\n".join((path, path.removesuffix(".md"), stem, re.sub(r"[-_.]+", " ", stem), *path.split("/")))


def content_of(body: str) -> str:
    """A raw body, line for line, without what it does not tell a reader: comments, generated contents, directives."""
    if "<!--" not in body and ":::" not in body and "[!div" not in body:
        return body
    return _UNTOLD.sub(_what_is_told, body)


def _what_is_told(found: re.Match[str]) -> str:
    label = _ALTERNATIVE.search(found.group()) if found.group().startswith(":::image") else None
    return label[1] if label else "\n" * found.group().count("\n")


def _wording(text: str) -> str:
    """What two texts are compared by: folded, on one line, without emphasis and code marks."""
    return _SPACES.sub(" ", fold(text).translate(_EMPHASIS))


def _is_count(fact: Fact, sides: Iterable[Side], parts: int) -> bool:
    """Whether a number only says how many items are listed, or how many pages the document became."""
    measure = _MEASURE.fullmatch(fact.normal) if fact.kind is FactKind.NUMBER else None
    if measure is None or measure[2] not in _COUNTED or not measure[1].isdecimal():
        return False
    count = int(measure[1])
    return count == parts or any(count in side.list_lengths for side in sides)


_COUNTED = frozenset(
    {"item", "kind", "step", "section", "entry", "issue", "point", "group", "page", "file", "document"}
)
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


def _joins(outside: str, edge: str) -> bool:
    """Whether what stands outside of a wording, nearest first, makes it part of a longer word. ``_x_`` is emphasis."""
    if not outside or not _is_latin(edge):
        return False
    return _is_latin(outside[0]) or (outside[0] == "_" and _is_latin(outside[1:]))


def _is_latin(char: str) -> bool:
    return char != "" and char < "\u2e80" and char.isalnum()


def _decimal(wanted: str, before: str, after: str) -> bool:
    """``5`` is not in ``2.5`` or ``5.1``."""
    return (wanted[0].isdecimal() and before.endswith(".")) or (
        wanted[-1].isdecimal() and after[:1] in (".", ",") and after[1:].isdecimal()
    )
