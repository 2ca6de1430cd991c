"""Forms of a field that a person writes and the product does not: other dates, lists as text (SPEC 4, 5).

Reading them for a mend, and the rule that names them. Nothing here changes a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date

from kb_pipeline.lint import catalogue as rules
from kb_pipeline.markdown.front_matter import as_date, as_text_list, split_front_matter
from kb_pipeline.models import Finding, WikiPage

LISTS = ("keywords", "related", "tags", "aliases")

_MONTHS = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), start=1
    )
}
_TIME = r"(?:[T\s]\s*\d{1,2}:\d{2}.*)?"
_NUMBERS = re.compile(
    rf"(?P<year>\d{{4}})(?:[-/.]|\s*年\s*)(?P<month>\d{{1,2}})(?:[-/.]|\s*月\s*)(?P<day>\d{{1,2}})(?:\s*日)?{_TIME}"
)
_COMPACT = re.compile(r"(?P<year>(?:19|20)\d{2})(?P<month>\d{2})(?P<day>\d{2})")
_REPUBLIC = re.compile(r"(?:中華)?民國\s*(?P<year>\d{2,3})\s*年\s*(?P<month>\d{1,2})\s*月\s*(?P<day>\d{1,2})\s*日?")
_ORDINAL = r"(?:st|nd|rd|th)?"
_DAY_FIRST = re.compile(rf"(?P<day>\d{{1,2}}){_ORDINAL}[\s.-]+(?P<name>[A-Za-z]{{3,9}})\.?,?[\s.-]+(?P<year>\d{{4}})")
_MONTH_FIRST = re.compile(rf"(?P<name>[A-Za-z]{{3,9}})\.?\s+(?P<day>\d{{1,2}}){_ORDINAL},?\s+(?P<year>\d{{4}})")
_FULL_NAMES = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip


def date_as_written(value: object) -> date | None:
    """The one day that a text can mean: ``2026/8/18``, ``18 Aug 2026``, ``民國115年8月18日``. ``08/07/2026`` is two."""
    if not isinstance(value, str):
        return None
    text = value.strip()
    exact = as_date(text)
    if exact is not None:
        return exact
    for pattern in (_NUMBERS, _COMPACT, _REPUBLIC, _DAY_FIRST, _MONTH_FIRST):
        found = pattern.fullmatch(text)
        if found is not None:
            return _date(found.groupdict(), republic=pattern is _REPUBLIC)
    return None


def _date(parts: Mapping[str, str], *, republic: bool) -> date | None:
    if "name" in parts:
        name = parts["name"].lower()
        if name not in _FULL_NAMES and name not in {*_MONTHS, "sept"}:
            return None
        month = _MONTHS[name[:3]]
    else:
        month = int(parts["month"])
    try:
        return date(int(parts["year"]) + (1911 if republic else 0), month, int(parts["day"]))
    except ValueError:
        return None


def lint_text(path: str, text: str) -> list[Finding]:
    """What is written in a form that only this product's reader understands. ``text`` is a decoded file."""
    front = split_front_matter(text)
    page = WikiPage(path=path, field_lines=front.lines)
    return list(form_rules(page, front.fields)) if front.readable else []


def form_rules(page: WikiPage, fields: Mapping[str, object]) -> Iterator[Finding]:
    """``fields``: the front matter as YAML gives it."""
    for name in LISTS:
        value = fields.get(name)
        if isinstance(value, str) and as_text_list(value):
            yield rules.FIELD_FORM.at(page, field=name, name=name, form="a text with commas", wanted="a list")
    updated = fields.get("updated")
    day = as_date(updated)
    if day is not None and updated != day.isoformat():
        yield rules.FIELD_FORM.at(page, field="updated", name="updated", form="a date with a time", wanted=str(day))
