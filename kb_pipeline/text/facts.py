"""Checkable details of a text: numbers with unit, dates, versions, identifiers, URLs, commands, paths, settings.

Belongs here: which of them a text has, where, in what normal form (SPEC 1 "fact", 6.3, 6.12). Does not belong here: how
each kind looks (``quantities``, ``versions``, ``calendar_facts``, ``names``, ``settings``, ``code_facts``), whether a page
says what its raw document says (``rewriting.fidelity``).

Facts never overlap; what stands further up in this list wins: URL, setting, code span, name, date, version, number.
Ordinals of lists and headings, numbers of figures and steps, counts of listed items, and targets of links inside the
wiki are no facts.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache

from kb_pipeline.models.text import Fact, FactKind
from kb_pipeline.text.calendar_facts import find_dates, find_times
from kb_pipeline.text.code_facts import command_lines, is_shell, read_code_span, setting_lines
from kb_pipeline.text.fact_markup import HIDDEN, Found, Markup, hide, hide_links, read_markup
from kb_pipeline.text.folding import narrow
from kb_pipeline.text.names import TOKEN, find_urls, name_of, normal_url
from kb_pipeline.text.quantities import find_numbers
from kb_pipeline.text.settings import find_settings
from kb_pipeline.text.versions import find_versions

_WIDE = re.compile(r"[\u3000\uff01-\uff0b\uff0d-\uff5e]")
_WIDE_COLON = "\uff1a"
_WIDE_THOUSANDS = re.compile(r"(?<=[０-９])，(?=[０-９]{3}(?![０-９]))")


def extract_facts(text: str, *, lenient: bool = False) -> list[Fact]:
    """Facts in order of their start, none overlapping.

    ``lenient`` finds more, at the price of turns of phrase (一次, three ways): for evidence, never for keeping count.
    A document is asked for its facts by summary, condensing and gates in turn: the last few texts are remembered.
    """
    return list(_facts(text, lenient))


@lru_cache(maxsize=16)
def _facts(text: str, lenient: bool) -> tuple[Fact, ...]:
    return tuple(_Scan(text, lenient=lenient).facts())


def narrowed(text: str) -> str:
    """Full-width ASCII made narrow, one character for one; the Chinese comma stays, it separates no thousands."""
    if text.isascii():
        return text
    return _WIDE.sub(lambda match: narrow(match.group()), _WIDE_THOUSANDS.sub(",", text))


class _Scan:
    """One pass over one text, block by block: the prose first, then each fenced block."""

    def __init__(self, text: str, *, lenient: bool) -> None:
        self._text = text
        self._lenient = lenient
        self._found: list[tuple[int, int, FactKind, str]] = []

    def facts(self) -> list[Fact]:
        plain = narrowed(self._text)
        markup = read_markup(plain)
        prose = _Block(markup.prose, 0)
        prose.claim(FactKind.URL, _urls(prose.free))
        prose.free = hide_links(prose.free)
        prose.claim(FactKind.SETTING, find_settings(prose.free))
        for kind, place in _code_spans(prose.free, plain, markup):
            prose.claim(kind, (place,))
        self._values(prose, code=False)
        for fence in markup.fences:
            self._fence(fence.language, _Block(plain[fence.start : fence.end], fence.start))
        return self._located()

    def _fence(self, language: str, block: _Block) -> None:
        if is_shell(language, block.free):
            block.claim(FactKind.COMMAND, command_lines(block.free, language))
            block.claim(FactKind.URL, _urls(block.free))
        else:
            block.claim(FactKind.URL, _urls(block.free))
            block.claim(FactKind.SETTING, setting_lines(block.free, language))
        self._values(block, code=True)

    def _values(self, block: _Block, *, code: bool) -> None:
        written = self._text[block.offset : block.offset + len(block.free)]
        named = list(_names(_with_wide_colons(block.free, written)))
        for kind in (FactKind.PATH, FactKind.IDENTIFIER):
            block.claim(kind, (place for its_kind, place in named if its_kind is kind))
        block.claim(FactKind.DATE, (*find_dates(block.free), *find_times(block.free)))
        block.claim(FactKind.VERSION, find_versions(block.free, code=code))
        block.claim(FactKind.NUMBER, find_numbers(block.free, lenient=self._lenient, code=code))
        self._found += block.found

    def _located(self) -> list[Fact]:
        breaks = [match.start() for match in re.finditer("\n", self._text)]
        return [
            Fact(kind, self._text[start:end], normal, bisect_right(breaks, start - 1) + 1, start, end)
            for start, end, kind, normal in sorted(self._found)
        ]


class _Block:
    """A piece of the text at ``offset``. ``free`` is what no fact has claimed yet, HIDDEN elsewhere, always as long."""

    def __init__(self, free: str, offset: int) -> None:
        self.free = free
        self.offset = offset
        self.found: list[tuple[int, int, FactKind, str]] = []

    def claim(self, kind: FactKind, places: Iterable[Found]) -> None:
        """Take what is still free, first come first served, and hide it from the kinds that follow."""
        taken: list[tuple[int, int]] = []
        mask = bytearray()
        for start, end, normal in places:
            mask = mask or bytearray(len(self.free))
            if start >= end or HIDDEN in self.free[start:end] or 1 in mask[start:end]:
                continue
            mask[start:end] = b"\1" * (end - start)
            taken.append((start, end))
            self.found.append((self.offset + start, self.offset + end, kind, normal))
        if not taken:
            return
        position, parts = 0, []
        for start, end in sorted(taken):
            parts += [self.free[position:start], hide(self.free[start:end])]
            position = end
        self.free = "".join(parts) + self.free[position:]


def _urls(text: str) -> Iterator[Found]:
    for start, end in find_urls(text):
        yield start, end, normal_url(text[start:end])


def _names(text: str) -> Iterator[tuple[FactKind, Found]]:
    for match in TOKEN.finditer(text):
        named = name_of(match.group())
        if named is not None:
            kind, normal, length = named
            if (
                kind is FactKind.PATH
                and "/" not in normal
                and text[match.start() + length : match.start() + length + 1] == "("
            ):
                kind = FactKind.IDENTIFIER  # console.log(…) is a call
            yield kind, (match.start(), match.start() + length, normal)


def _with_wide_colons(free: str, written: str) -> str:
    """A full-width colon ends a label (``Docs：src/app.py``): in names it is none of their own."""
    if _WIDE_COLON not in written:
        return free
    return "".join(
        _WIDE_COLON if original == _WIDE_COLON and mark == ":" else mark
        for mark, original in zip(free, written, strict=True)
    )


def _code_spans(free: str, plain: str, markup: Markup) -> Iterator[tuple[FactKind, Found]]:
    """Spans that nothing has claimed a part of; their content is read as written, links in code are no links."""
    for start, end, inner_start, inner_end in markup.spans:
        if HIDDEN not in free[start:end]:
            read = read_code_span(plain[inner_start:inner_end])
            if read is not None:
                yield read[0], (start, end, read[1])
