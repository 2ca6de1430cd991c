"""The date of a document's knowledge, for ``updated`` (SPEC 5).

Belongs here: finding and reading dates in front matter, file names and, as a last resort, text. Does not belong here:
the clock, git, file times: what they know arrives as ``RawDocument.dated``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date

UNDATED = date(1970, 1, 1)
"""Nothing at all tells a date: visible as such, and older than anything that has one."""

_FIELDS = ("updated", "date", "last_updated", "lastupdated", "lastmod", "modified", "last_modified", "ms.date")
_LATER_FIELDS = ("created", "published", "日期", "更新日期")

_ROC = re.compile(r"(?:民國\s*)?(?<!\d)(1[0-4]\d)(?:\s*年\s*|[-/.])(\d{1,2})(?:\s*月\s*|[-/.])(\d{1,2})(?!\d)")
_YEAR_FIRST = re.compile(r"(?<!\d)((?:19|20)\d{2})(?:\s*年\s*|[-/._])(\d{1,2})(?:\s*月\s*|[-/._])(\d{1,2})(?!\d)")
_COMPACT = re.compile(r"(?<!\d)((?:19|20)\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?!\d)")
_YEAR_LAST = re.compile(r"(?<!\d)(\d{1,2})[/.](\d{1,2})[/.]((?:19|20)\d{2})(?!\d)")
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_WORDED = re.compile(
    r"(?<![\dA-Za-z])(?:(\d{1,2})(?:st|nd|rd|th)?\s+)?("
    + "|".join(_MONTHS)
    + r")[a-z]*\.?\s+(?:(\d{1,2})(?:st|nd|rd|th)?,?\s+)?"
    r"((?:19|20)\d{2})(?!\d)",
    re.IGNORECASE,
)


def date_of(
    fields: Mapping[str, object], raw_path: str, text: str, dated: date | None, latest: date | None = None
) -> date:
    """Front matter, else the file name (or its folder's), else ``dated``, else the latest date in ``text``.

    ``latest`` is today: a date after it is a plan, not the date of the knowledge, and is passed over.
    """
    lowered = {key.casefold(): value for key, value in fields.items()}
    for name in (*_FIELDS, *_LATER_FIELDS):
        found = _readable(_first_date(str(lowered[name])) if lowered.get(name) else None, latest)
        if found:
            return found
    for component in reversed(raw_path.split("/")):
        found = _readable(_date_in_name(component), latest)
        if found:
            return found
    if dated is not None:
        return dated
    candidates = [found for found in _dates_in(text) if _readable(found, latest)]
    return max(candidates, default=UNDATED)


def _readable(found: date | None, latest: date | None) -> date | None:
    return None if found is None or (latest is not None and found > latest) else found


def _first_date(text: str) -> date | None:
    return next(iter(_dates_in(text)), None)


def _date_in_name(name: str) -> date | None:
    for pattern in (_YEAR_FIRST, _COMPACT, _ROC):
        match = pattern.search(name)
        if match:
            year, month, day = (int(group) for group in match.groups())
            return _valid(year + 1911 if pattern is _ROC else year, month, day)
    return None


def _dates_in(text: str) -> Iterable[date]:
    for match in _YEAR_FIRST.finditer(text):
        yield from _existing(_valid(*(int(group) for group in match.groups())))
    for match in _YEAR_LAST.finditer(text):
        month, day, year = (int(group) for group in match.groups())
        yield from _existing(_valid(year, month, day) or _valid(year, day, month))
    for match in _WORDED.finditer(text):
        day_before, name, day_after, year_text = match.groups()
        number = _MONTHS.index(name[:3].lower()) + 1
        yield from _existing(_valid(int(year_text), number, int(day_before or day_after or 1)))
    for match in re.finditer(r"民國\s*(\d{2,3})\s*年\s*(\d{1,2})\s*月\s*(\d{1,2})\s*日", text):
        roc_year, month, day = (int(group) for group in match.groups())
        yield from _existing(_valid(roc_year + 1911, month, day))
    if len(text) <= 40:  # a field's whole value may be written compactly or in ROC years
        for match in _COMPACT.finditer(text):
            yield from _existing(_valid(*(int(group) for group in match.groups())))
        for match in _ROC.finditer(text):
            roc_year, month, day = (int(group) for group in match.groups())
            yield from _existing(_valid(roc_year + 1911, month, day))


def _existing(found: date | None) -> Iterable[date]:
    return () if found is None else (found,)


def _valid(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
