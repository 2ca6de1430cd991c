"""Whether a text bears a fact out, and on which line (SPEC 6.3 fidelity, 6.12 provenance per line).

Belongs here: comparing the facts of one text with another text. Does not belong here: what an unsupported fact means
(``rewriting.gates``), how a trace is shown (``rewriting.trace``).

A fact is borne out by an equal normal form; by the same span of time or size in another unit (60 s, 1 min); for names,
commands, URLs, paths and settings also by their literal text, whatever the markup around it; a coarser date by a finer
one. Counts may change their counting word (3 次重試, 3 retries), measurements may not change their unit.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from decimal import Decimal, InvalidOperation

from kb_pipeline.models.text import Fact, FactKind
from kb_pipeline.text.facts import extract_facts, narrowed, nested_normals
from kb_pipeline.text.wordlists import word_set

_LITERAL = frozenset((FactKind.URL, FactKind.PATH, FactKind.IDENTIFIER, FactKind.COMMAND, FactKind.VERSION))
_BASE: dict[str, tuple[str, Decimal]] = {
    **{unit: ("time", Decimal(factor)) for unit, factor in (("ns", "1"), ("us", "1e3"), ("ms", "1e6"), ("s", "1e9"), ("min", "6e10"))},
    **{unit: ("time", Decimal(factor)) for unit, factor in (("h", "3.6e12"), ("d", "8.64e13"), ("week", "6.048e14"))},
    **{unit: ("size", Decimal(1024) ** power) for power, unit in enumerate(("byte", "kib", "mib", "gib", "tib"))},
    **{unit: ("size", Decimal(1024) ** power) for power, unit in enumerate(("byte", "kb", "mb", "gb", "tb", "pb"))},
}
"""KB and KiB are one here: texts use both for 1,024 bytes."""

_MEASURED = frozenset(_BASE) | word_set(
    """month quarter year bit kbps mbps gbps token % ‰ pp x tenth twd usd eur jpy cny gbp °c °f degree mm cm metre km g kg hz
    khz mhz ghz w kw kwh v mah db px rem em pt dpi fps ping rps rpm"""
)
"""Units that are part of the fact; the other ones are counting words."""


class Evidence:
    """What one text says. Made once, asked for many facts."""

    def __init__(self, text: str) -> None:
        self._plain = narrowed(text).lower()
        self._breaks = [match.start() for match in re.finditer("\n", text)]
        self._lines: dict[str, int] = {}
        self._amounts: dict[tuple[str, Decimal], int] = {}
        self._counts: dict[str, int] = {}
        self._dates: list[tuple[str, int]] = []
        for fact in extract_facts(text, lenient=True):
            self._note(fact.kind, fact.normal, fact.line)
            for kind, normal in nested_normals(fact):
                self._note(kind, normal, fact.line)

    def _note(self, kind: FactKind, normal: str, line: int) -> None:
        self._lines.setdefault(normal, line)
        if kind is FactKind.DATE:
            self._dates.append((normal, line))
        elif kind is FactKind.NUMBER:
            amount = _amount(normal)
            if amount is not None:
                self._amounts.setdefault(amount, line)
            value, _, unit = normal.partition(" ")
            if unit.partition("/")[0] not in _MEASURED:
                self._counts.setdefault(value, line)

    def __contains__(self, fact: object) -> bool:
        return isinstance(fact, Fact) and self.line_of(fact) is not None

    def line_of(self, fact: Fact) -> int | None:
        """1-based line of the first place that bears the fact out; None when there is none."""
        if fact.normal in self._lines:
            return self._lines[fact.normal]
        if fact.kind is FactKind.NUMBER:
            return self._number(fact.normal)
        if fact.kind is FactKind.DATE:
            return next((line for date, line in self._dates if _is_coarser(fact.normal, date)), None)
        if fact.kind is FactKind.SETTING:
            return self._setting(fact.normal)
        if fact.kind in _LITERAL:
            return self._literal(fact.normal)
        return None

    def _number(self, normal: str) -> int | None:
        amount = _amount(normal)
        if amount is not None and amount in self._amounts:
            return self._amounts[amount]
        value, _, unit = normal.partition(" ")
        if unit.partition("/")[0] in _MEASURED:
            return None
        return self._counts.get(value) or self._literal(value)

    def _setting(self, normal: str) -> int | None:
        """Key and value on one line, or within two lines (a heading or table header between them)."""
        key, _, value = normal.partition("=")
        values = self._all_lines(value)
        if value in self._lines:
            values.append(self._lines[value])
        return next((line for line in self._all_lines(key) for other in values if 0 <= other - line <= 2), None)

    def _literal(self, written: str) -> int | None:
        match = _pattern(written).search(self._plain)
        return None if match is None else self._line_at(match.start())

    def _all_lines(self, written: str) -> list[int]:
        return [self._line_at(match.start()) for match in _pattern(written).finditer(self._plain)]

    def _line_at(self, offset: int) -> int:
        return bisect_right(self._breaks, offset - 1) + 1


def _amount(normal: str) -> tuple[str, Decimal] | None:
    """A span of time or a size in its base unit, with its kind."""
    value, _, unit = normal.partition(" ")
    if unit not in _BASE:
        return None
    kind, factor = _BASE[unit]
    try:
        return kind, Decimal(value) * factor
    except InvalidOperation:
        return None


def _is_coarser(date: str, finer: str) -> bool:
    """``2026-08`` and ``--08-18`` are borne out by ``2026-08-18``."""
    if date.startswith("--"):
        return finer.endswith(date[1:])
    return finer.startswith(date) and finer[len(date) : len(date) + 1] in ("-", ":")


def _pattern(written: str) -> re.Pattern[str]:
    """The text as a whole word, with any white space, continuation marks and backticks between its words."""
    words = narrowed(written).lower().split()
    body = r"[\s\\`]+".join(map(re.escape, words))
    return re.compile(rf"(?<![a-z0-9_]){body}(?![a-z0-9_])" if words and words[0][0].isalnum() else rf"{body}(?![a-z0-9_])")
