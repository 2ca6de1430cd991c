"""Two pages of one scope that give one thing different numbers or dates (SPEC 9, conflict).

A *statement* is the clause around one number with a unit, or around a date: ``權杖 90 天過期``, ``timeout: 30 s``. Two
statements speak of one thing if, with the number taken out, they are the same clause and their pages share a keyword
or title; or if they hold the same two or more of their pages' keywords beside the same unit. Precise before complete:
a clause in quite other words is not found here.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kb_pipeline.lint import catalogue as rules
from kb_pipeline.lint.vocabulary import folded
from kb_pipeline.models import Finding, PageStatus, WikiPage

MOST_VALUES = 4
"""A skeleton with more values than this in one scope is an attribute that differs by nature (a size, a price)."""

SPECIFIC = 4
"""Weight from which a skeleton names its thing by itself; lighter ones count only under equal headings."""

_UNITS = {
    "毫秒": "ms", "秒鐘": "s", "秒": "s", "分鐘": "min", "小時": "h", "天": "d", "日": "d", "週": "week", "周": "week",
    "個月": "month", "年": "year", "次": "times", "筆": "rows", "人": "people", "台": "machines", "元": "twd",
    "%": "%", "％": "%", "ms": "ms", "milliseconds": "ms", "s": "s", "sec": "s", "secs": "s", "second": "s",
    "seconds": "s", "min": "min", "mins": "min", "minute": "min", "minutes": "min", "h": "h", "hr": "h", "hrs": "h",
    "hour": "h", "hours": "h", "d": "d", "day": "d", "days": "d", "week": "week", "weeks": "week", "month": "month",
    "months": "month", "year": "year", "years": "year", "times": "times", "retries": "times", "rows": "rows",
    "users": "people", "kb": "kb", "mb": "mb", "gb": "gb", "tb": "tb", "kib": "kib", "mib": "mib", "gib": "gib",
    "rps": "rps", "qps": "qps", "rpm": "rpm", "tokens": "tokens",
}  # fmt: skip
_UNIT = "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))
_DIGITS = re.compile(r"\d+")
_VALUE = re.compile(
    r"(?<![\w.\-/:#第])(?:"
    r"(?P<date>\d{4}-\d{1,2}-\d{1,2}|\d{4}\s?年\s?\d{1,2}\s?月\s?\d{1,2}\s?日)"
    rf"|(?P<number>\d[\d,]*(?:\.\d+)?)\s?(?P<unit>{_UNIT})(?![a-z0-9_])"
    r"|(?<=[:=：＝]\s)(?P<bare>\d[\d,]*)(?=\s*(?:$|[。，,;；、)）|`]))"
    r")",
    re.IGNORECASE | re.MULTILINE,
)
"""Tried at runs of digits only: a search for it from each character would cost five times as much."""
_LONGEST_LABEL = 60
_BOUNDARY = re.compile(r"[。；;，,、（）()！!？?\n]")
_LIST_MARK = re.compile(r"^\s*(?:[-*+>]\s+|\d+[.)、]\s*)+")
_LIST_STARTS = frozenset("-*+> \t0123456789")
_COPULAS = frozenset(":=：＝為是")
_NOISE = re.compile(r"[\s*_`|>「」\"'#]+")
_WIDE = re.compile(r"[\uff00-\uffef]")
_WORD = re.compile(r"[a-z0-9_][a-z0-9_./-]*")
_LATIN = re.compile(r"[a-z]{3,}")


@dataclass(frozen=True, slots=True)
class Statement:
    """A value and the clause it stands in. ``at`` is its offset in the body; ``weight`` how much the skeleton says."""

    page: WikiPage
    skeleton: str
    value: str
    text: str
    at: int
    weight: int

    @property
    def line(self) -> int:
        """1-based, in the file."""
        return self.page.body_line + self.page.body.count("\n", 0, self.at)


def statements(page: WikiPage) -> Iterator[Statement]:
    """The statements of a page, code blocks left out."""
    text = _without_code(page)
    end = 0
    for digits in _DIGITS.finditer(text):
        if digits.start() < end:
            continue
        found = _VALUE.match(text, digits.start())
        if found is not None:
            end = found.end()
            statement = _statement(page, text, found)
            if statement is not None:
                yield statement


def _without_code(page: WikiPage) -> str:
    """The body with its code blocks blanked, so that offsets stay."""
    if not page.outline.fences:
        return page.body
    lines = page.body.split("\n")
    for fence in page.outline.fences:
        for at in range(fence.line - page.body_line, min(fence.end_line - page.body_line + 1, len(lines))):
            lines[at] = " " * len(lines[at])
    return "\n".join(lines)


def _statement(page: WikiPage, text: str, found: re.Match[str]) -> Statement | None:
    first = max(text.rfind("\n", 0, found.start()) + 1, found.start() - _LONGEST_LABEL)
    last = text.find("\n", found.end())
    last = min(len(text) if last < 0 else last, found.end() + _LONGEST_LABEL)
    before, after = text[first : found.start()], text[found.end() : last]
    if before.startswith("|"):
        if before.count("|") + after.count("|") != 3:
            return None  # In a wider table the column says what the number is; a row alone does not.
        before, after = before.replace("|", " "), after.replace("|", " ")
    if before[:1] in _LIST_STARTS:
        before = _LIST_MARK.sub("", before)
    before = _BOUNDARY.split(before)[-1]
    cut = _BOUNDARY.search(after)
    after = after[: cut.start()] if cut else after
    clause = _narrow(f"{_without_copula(before)}\0{after}")
    if _DIGITS.search(clause):
        return None  # A clause with two values needs a reading that this is not.
    label, _, rest = _NOISE.sub("", clause).partition("\0")
    # In UTF-8 a CJK character has two bytes more than code points.
    weight = (len(clause.encode()) - len(clause)) // 2 + 2 * len(_LATIN.findall(clause))
    if weight < 2:
        return None
    unit = found["unit"]
    kind = "date" if found["date"] else _UNITS[unit.lower()] if unit else ""
    written = (before + found.group() + after).strip(" |")
    return Statement(page, f"{label}<{kind}>{rest}", _normal(found), written, found.start(), weight)


def _without_copula(label: str) -> str:
    """``逾時為``, ``逾時：``, ``timeout is``, ``timeout =``: the same label."""
    bare = label.rstrip()
    if bare[-1:] in _COPULAS:
        return bare[:-1]
    return bare.removesuffix(" is").removesuffix(" are")


def _narrow(text: str) -> str:
    """NFKC only where it changes something that matters here: it costs more than all the rest."""
    return text.lower() if text.isascii() or not _WIDE.search(text) else unicodedata.normalize("NFKC", text).lower()


def _normal(found: re.Match[str]) -> str:
    if found["date"]:
        year, month, day = re.findall(r"\d+", found["date"])
        return f"{int(year):04}-{int(month):02}-{int(day):02}"
    return str(float((found["number"] or found["bare"]).replace(",", "")))


class ConflictIndex:
    """Statements of all pages. ``update`` costs what the changed pages hold; ``findings`` the number of conflicts."""

    def __init__(self) -> None:
        self._keys: dict[str, set[str]] = {}
        self._statements: defaultdict[str, dict[str, Statement | None]] = defaultdict(dict)
        self._found: dict[str, list[Finding]] = {}

    def update(self, changed: Iterable[WikiPage], removed: Iterable[str]) -> None:
        changed = list(changed)
        touched: set[str] = set()
        for path in (*removed, *(page.path for page in changed)):
            for key in self._keys.pop(path, ()):
                touched.add(key)
                del self._statements[key][path]
        for page in changed:
            touched |= self._add(page)
        for key in touched:
            self._judge(key)

    def findings(self) -> Iterator[Finding]:
        """One for each contradiction, on the older page, against the newest that says otherwise."""
        # One contradiction may show in the clause and in its terms.
        yield from dict.fromkeys(finding for key in sorted(self._found) for finding in self._found[key])

    def _add(self, page: WikiPage) -> set[str]:
        if page.status is not PageStatus.CURRENT or not page.scope.strip():
            return set()
        scope = folded(page.scope)
        names = sorted(name for name in _names(page) if len(name) > (2 if name.isascii() else 1))
        keys = self._keys[page.path] = set()
        for statement in statements(page):
            for key in (statement.skeleton, _terms(statement, names)):
                if key:
                    keys.add(f"{scope}\n{key}")
                    self._place(f"{scope}\n{key}", statement)
        return keys

    def _place(self, key: str, statement: Statement) -> None:
        earlier = self._statements[key].setdefault(statement.page.path, statement)
        if earlier is not None and earlier.value != statement.value:
            self._statements[key][statement.page.path] = None  # Several values on one page: cases, not one thing.

    def _judge(self, key: str) -> None:
        by_page = self._statements[key]
        self._found.pop(key, None)
        if not by_page:
            del self._statements[key]
        elif len(by_page) > 1:
            found = list(_conflicts([statement for statement in by_page.values() if statement is not None]))
            if found:
                self._found[key] = found


def _conflicts(rivals: Sequence[Statement]) -> Iterator[Finding]:
    """Statements of one skeleton in one scope, at most one a page."""
    if not 1 < len({statement.value for statement in rivals}) <= MOST_VALUES:
        return
    newest = max(rivals, key=_age)
    for older in sorted(rivals, key=_age, reverse=True):
        if older.value != newest.value and _same_subject(older, newest):
            yield _finding(older, newest)


def _terms(statement: Statement, names: Sequence[str]) -> str:
    """The keywords that a clause holds, with its unit; "" for fewer than two, which say too little."""
    clause = statement.text.lower()
    words = set(_WORD.findall(clause))
    held = [name for name in names if (name in words if name.isascii() and " " not in name else name in clause)]
    unit = statement.skeleton.partition("<")[2].partition(">")[0]
    return f"{unit}\t" + "\t".join(held) if len(held) > 1 and unit else ""


def _age(statement: Statement) -> tuple[str, str]:
    return str(statement.page.updated or ""), statement.page.path


def _same_subject(one: Statement, other: Statement) -> bool:
    """The pages share a keyword or their title; for a short clause, the heading above it too."""
    if _names(one.page).isdisjoint(_names(other.page)):
        return False
    return one.weight >= SPECIFIC or _heading(one) == _heading(other)


def _names(page: WikiPage) -> set[str]:
    return {folded(name) for name in (page.title, *page.keywords, *page.aliases)}


def _heading(statement: Statement) -> str:
    above = [heading for heading in statement.page.outline.headings if heading.line <= statement.line]
    return folded(above[-1].text) if above else ""


def _finding(older: Statement, newest: Statement) -> Finding:
    return rules.CONFLICT.at(
        older.page,
        line=older.line,
        statement=older.text,
        updated=older.page.updated or "without a date",
        other_statement=newest.text,
        other=f"{newest.page.path}:{newest.line}",
        other_updated=newest.page.updated or "without a date",
    )
