"""Checkable details of a text: numbers with unit, dates, versions, identifiers, URLs, commands, paths, settings.

Belongs here: which of them a text has, where, in what normal form (SPEC 1 "fact", 6.3, 6.12). Does not belong here: how
each kind looks (``quantities``, ``calendar_facts``, ``names``), evidence for a page's facts (``fact_evidence``).

Facts never overlap; what stands further up in this list wins: URL, setting, code span, name, date, version, number.
Ordinals of lists and headings, numbers of figures and steps, counts of listed items, and targets of links inside the
wiki are no facts.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from kb_pipeline.models.text import Fact, FactKind
from kb_pipeline.text.calendar_facts import Found, find_dates, find_times
from kb_pipeline.text.code_facts import command_lines, is_shell, read_code_span, setting_lines
from kb_pipeline.text.fact_markup import HIDDEN, Markup, hide, hide_links, read_markup
from kb_pipeline.text.names import TOKEN, URL, name_of, normal_url, trim_url
from kb_pipeline.text.quantities import find_numbers, find_versions
from kb_pipeline.text.settings import find_settings

_WIDE = {0x3000: " ", **{wide: chr(wide - 0xFEE0) for wide in range(0xFF01, 0xFF5F) if wide != 0xFF0C}}
_WIDE_THOUSANDS = re.compile(r"(?<=[０-９])，(?=[０-９]{3}(?![０-９]))")


def extract_facts(text: str, *, lenient: bool = False) -> list[Fact]:
    """Facts in order of their start, none overlapping.

    ``lenient`` finds more, at the price of turns of phrase (一次, three ways): for evidence, never for keeping count.
    """
    return _Scan(text, lenient=lenient).facts()


def fact_lines(text: str) -> set[int]:
    """1-based lines on which some fact stands; a command over several lines counts with all of them."""
    lines: set[int] = set()
    for fact in extract_facts(text):
        lines.update(range(fact.line, fact.line + fact.text.count("\n") + 1))
    return lines


def narrowed(text: str) -> str:
    """Full-width ASCII made narrow, one character for one; the Chinese comma stays, it separates no thousands."""
    if text.isascii():
        return text
    return _WIDE_THOUSANDS.sub(",", text).translate(_WIDE)


class _Scan:
    """One pass over one text. ``_free`` is what no fact has claimed yet; the same length as the text throughout."""

    def __init__(self, text: str, *, lenient: bool) -> None:
        self._text = text
        self._lenient = lenient
        self._found: list[tuple[int, int, FactKind, str]] = []

    def facts(self) -> list[Fact]:
        plain = narrowed(self._text)
        markup = read_markup(plain)
        self._free = markup.prose
        self._urls()
        self._free = hide_links(self._free)
        self._claim(FactKind.SETTING, find_settings(self._free))
        self._spans(markup, plain)
        self._values()
        for fence in markup.fences:
            self._free = hide(plain[: fence.start]) + plain[fence.start : fence.end] + hide(plain[fence.end :])
            self._code(fence.language, fence.start, fence.end)
        return self._located()

    def _code(self, language: str, start: int, end: int) -> None:
        shell = is_shell(language, self._free[start:end])
        if shell:
            self._claim(FactKind.COMMAND, command_lines(self._free, start, end))
        self._urls()
        if not shell:
            self._claim(FactKind.SETTING, setting_lines(self._free, start, end, language))
        self._values()

    def _values(self) -> None:
        self._names()
        self._claim(FactKind.DATE, find_dates(self._free))
        self._claim(FactKind.DATE, find_times(self._free))
        self._claim(FactKind.VERSION, find_versions(self._free))
        self._claim(FactKind.NUMBER, find_numbers(self._free, lenient=self._lenient))

    def _urls(self) -> None:
        if "://" not in self._free:
            return
        found = []
        for match in URL.finditer(self._free):
            url = trim_url(match.group())
            found.append((match.start(), match.start() + len(url), normal_url(url)))
        self._claim(FactKind.URL, found)

    def _spans(self, markup: Markup, plain: str) -> None:
        for start, end, inner_start, inner_end in markup.spans:
            free = self._free[start:end]
            if HIDDEN in free:
                continue
            kind_and_normal = read_code_span(plain[inner_start:inner_end])
            if kind_and_normal is not None:
                kind, normal = kind_and_normal
                self._claim(kind, [(start, end, normal)])

    def _names(self) -> None:
        found: dict[FactKind, list[Found]] = {}
        for match in TOKEN.finditer(self._free):
            named = name_of(match.group())
            if named is not None:
                kind, normal, length = named
                found.setdefault(kind, []).append((match.start(), match.start() + length, normal))
        for kind, places in found.items():
            self._claim(kind, places)

    def _claim(self, kind: FactKind, found: Iterable[Found]) -> None:
        """Take what is still free, first come first served, and hide it from the kinds that follow."""
        pieces: list[tuple[int, int]] = []
        for start, end, normal in found:
            if start >= end or HIDDEN in self._free[start:end] or any(a < end and start < b for a, b in pieces):
                continue
            pieces.append((start, end))
            self._found.append((start, end, kind, normal))
        if not pieces:
            return
        position, parts = 0, []
        for start, end in sorted(pieces):
            parts += [self._free[position:start], hide(self._free[start:end])]
            position = end
        self._free = "".join(parts) + self._free[position:]

    def _located(self) -> list[Fact]:
        breaks = [match.start() for match in re.finditer("\n", self._text)]
        return [
            Fact(kind, self._text[start:end], normal, bisect_right(breaks, start - 1) + 1, start, end)
            for start, end, kind, normal in sorted(self._found)
        ]


def iter_normals(facts: Iterable[Fact]) -> Iterator[tuple[FactKind, str]]:
    """What facts are compared by."""
    for fact in facts:
        yield fact.kind, fact.normal
