"""Dates and times of day in a text, each with one normal form.

Belongs here: ISO, Chinese, 民國 and English dates, times of day. Does not belong here: durations (``quantities``).

Normal forms: ``2026-08-18``, ``2026-08``, ``2026``, ``--08-18`` (no year), ``2026-Q3``, ``T03:00`` (24 hours; seconds only
where they are not zero).

Patterns begin with the digit itself and look back afterwards: Python's matcher then skips ahead to digits, where one
that begins with a look-behind would be tried at every character.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from kb_pipeline.text.fact_markup import Found, digit_lines
from kb_pipeline.text.units import CHINESE_NUMERAL, chinese_number

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "jan january", "feb february", "mar march", "apr april", "may", "jun june", "jul july", "aug august",
            "sep sept september", "oct october", "nov november", "dec december",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
_MONTH_HINT = re.compile(
    r"[JFMASONDjfmasond](?:an|eb|ar|pr|ay|un|ul|ug|ep|ct|ov|ec|AN|EB|AR|PR|AY|UN|UL|UG|EP|CT|OV|EC)"
)
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_N = rf"(?:\d{{1,4}}|{CHINESE_NUMERAL}{{1,6}})"
_START = rf"(?:\d|{CHINESE_NUMERAL})"
_ROC_FIRST = 1911
"""民國 year 1 is 1912."""

_ISO = re.compile(
    r"(?P<year>(?:19|20|21)\d\d(?<![A-Za-z0-9_./-]\d{4}))(?P<joint>[-/.])(?P<month>1[0-2]|0?[1-9])"
    r"(?:(?P=joint)(?P<day>3[01]|[12]\d|0?[1-9]))?(?!\d|[-/.]\d)(?=T\d|[^A-Za-z0-9]|$)"
)
_ROC_SHORT = re.compile(
    r"(?P<year>1[0-4]\d(?<![A-Za-z0-9_./-]\d{3}))[-/.](?P<month>1[0-2]|0?[1-9])[-/.](?P<day>3[01]|[12]\d|0?[1-9])(?![A-Za-z0-9_/-]|\.\d)"
)
_ROC_NAMED = re.compile(
    r"[民]國\s*(?P<year>\d{2,3})[-/.](?P<month>1[0-2]|0?[1-9])[-/.](?P<day>3[01]|[12]\d|0?[1-9])(?![A-Za-z0-9_/-]|\.\d)"
)
_CHINESE = re.compile(
    rf"(?P<year>\d(?<!\d\d)\d{{0,3}}|{CHINESE_NUMERAL}{{1,6}}|元)\s*年"
    rf"(?:\s*(?P<month>{_N})\s*月(?:份)?(?:\s*(?P<day>{_N})\s*[日號号])?)?"
)
_MONTH_DAY = re.compile(rf"(?P<month>{_START}(?<![\d年].)\d?{CHINESE_NUMERAL}{{0,3}})\s*月\s*(?P<day>{_N})\s*[日號号]")
_QUARTER = re.compile(
    r"(?P<year>20\d\d(?<![A-Za-z0-9_]\d{4}))\s*(?:年\s*)?(?:[-/]?\s*Q(?P<quarter>[1-4])(?![A-Za-z0-9_])|第\s*(?P<nth>[1-4一二三四])\s*季)"
)
_WEEK = re.compile(r"(?P<year>20\d\d(?<![A-Za-z0-9_]\d{4}))-?W(?P<week>[0-5]\d)(?![A-Za-z0-9_])")
_ENGLISH = re.compile(
    rf"(?<![A-Za-z0-9_]){_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?!\d|:|\.\d)(?:,?\s+(?P<year>(?:19|20)\d\d)(?!\d))?",
    re.IGNORECASE,
)
_ENGLISH_DAY_FIRST = re.compile(
    rf"(?P<day>\d(?<![A-Za-z0-9_]\d)\d?)(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}(?![A-Za-z0-9_])(?:,?\s+(?P<year>(?:19|20)\d\d)(?!\d))?",
    re.IGNORECASE,
)
_ENGLISH_MONTH = re.compile(rf"(?<![A-Za-z0-9_]){_MONTH},?\s+(?P<year>(?:19|20)\d\d)(?!\d)", re.IGNORECASE)
_AMERICAN = re.compile(
    r"(?P<first>\d(?<![A-Za-z0-9_./-]\d)\d?)/(?P<second>\d{1,2})/(?P<year>(?:19|20)\d\d)(?![A-Za-z0-9_/-])"
)
_DAY_FIRST = re.compile(
    r"(?P<day>\d(?<![A-Za-z0-9_./-]\d)\d?)(?P<joint>[-.])(?P<month>1[0-2]|0?[1-9])(?P=joint)(?P<year>(?:19|20)\d\d)(?![A-Za-z0-9_/-]|\.\d)"
)
_IN_YEAR = re.compile(r"(?P<year>(?:19|20)\d\d(?<= \d{4}))(?![A-Za-z0-9_%/-]|[.,:]\d)")
_BEFORE_YEAR = re.compile(r"\b(?:in|since|until|by|of|early|mid|late|year|during|from)\s$", re.IGNORECASE)
_AMPM = r"(?P<ampm>[AaPp]\.?[Mm]\b\.?)"
_CLOCK = re.compile(
    rf"(?P<hour>\d(?<![A-SU-Za-z0-9_:.+]\d)\d?):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d)(?:[.,]\d+)?)?(?![\d:])(?:\s*{_AMPM})?"
)
_ENGLISH_CLOCK = re.compile(rf"(?P<hour>\d(?<![A-Za-z0-9_.:]\d)\d?)\s*{_AMPM}")
_CHINESE_CLOCK = re.compile(
    rf"(?P<hour>{_START}(?<![\d.].)\d?{CHINESE_NUMERAL}{{0,2}})\s*[點点時时](?!間|间)"
    rf"(?:(?P<half_past>半)|\s*(?P<minute>\d{{1,2}}|{CHINESE_NUMERAL}{{1,3}})\s*分(?!鐘|钟)|(?P<sharp>[整鐘]))?"
)
_HALF_BEFORE = re.compile(r"(凌晨|清晨|早上|上午|中午|下午|傍晚|晚上|晚間|半夜|深夜|午夜)\s?$")
_ERA_BEFORE = re.compile(r"(民國|民国|西元|公元)\s*$")


def find_dates(text: str) -> Iterator[Found]:
    """Dates in ``text`` (narrow), likelier readings first: of overlapping ones a caller keeps the first."""
    for offset, line in digit_lines(text):
        yield from _each(_ISO, line, offset, _iso)
        if "民國" in line:
            yield from _each(_ROC_NAMED, line, offset, _roc)
        yield from _each(_ROC_SHORT, line, offset, _roc)
        if "Q" in line or "季" in line:
            yield from _each(_QUARTER, line, offset, _quarter)
        if "W" in line:
            yield from _each(_WEEK, line, offset, lambda match: f"{match['year']}-W{match['week']}")
        if _MONTH_HINT.search(line):
            yield from _each(_ENGLISH_DAY_FIRST, line, offset, _english)
            yield from _each(_ENGLISH, line, offset, _english)
            yield from _each(_ENGLISH_MONTH, line, offset, lambda match: f"{match['year']}-{_month(match):02}")
        if "/" in line:
            yield from _each(_AMERICAN, line, offset, _american)
        yield from _each(_DAY_FIRST, line, offset, _iso)
        yield from _each(_IN_YEAR, line, offset, _in_year)
    if "年" in text:
        yield from _each(_CHINESE, text, 0, _chinese)
    if "月" in text:
        yield from _each(_MONTH_DAY, text, 0, _month_day)


def find_times(text: str) -> Iterator[Found]:
    """Times of day in ``text`` (narrow)."""
    for offset, line in digit_lines(text):
        if ":" in line:
            yield from _each(_CLOCK, line, offset, _clock)
        if "m" in line or "M" in line:
            yield from _each(_ENGLISH_CLOCK, line, offset, _clock)
    if "點" in text or "点" in text or "時" in text or "时" in text:
        yield from _each(_CHINESE_CLOCK, text, 0, _chinese_clock)


def _each(
    pattern: re.Pattern[str], text: str, offset: int, normal: Callable[[re.Match[str]], tuple[int, str] | str | None]
) -> Iterator[Found]:
    """``normal`` gives the normal form, with the start where that lies before the match."""
    for match in pattern.finditer(text):
        form = normal(match)
        if form is None:
            continue
        start, form = form if isinstance(form, tuple) else (match.start(), form)
        yield offset + start, offset + match.end(), form


def _number(text: str | None) -> int | None:
    if not text:
        return None
    return int(text) if text.isdecimal() else chinese_number(text)


def _joined(year: int | None, month: int | None, day: int | None) -> str | None:
    if (month is not None and not 1 <= month <= 12) or (day is not None and not 1 <= day <= 31):
        return None
    head = "-" if year is None else f"{year:04}"
    return head + (f"-{month:02}" if month is not None else "") + (f"-{day:02}" if day is not None else "")


def _iso(match: re.Match[str]) -> str | None:
    if match["day"] is None and match["joint"] == ".":
        return None
    return _joined(int(match["year"]), int(match["month"]), _number(match["day"]))


def _roc(match: re.Match[str]) -> str | None:
    return _joined(int(match["year"]) + _ROC_FIRST, int(match["month"]), int(match["day"]))


def _quarter(match: re.Match[str]) -> str:
    return f"{match['year']}-Q{match['quarter'] or _number(match['nth'])}"


def _chinese(match: re.Match[str]) -> tuple[int, str] | None:
    before = _ERA_BEFORE.search(match.string, max(0, match.start() - 6), match.start())
    era = before[1] if before else None
    year = 1 if match["year"] == "元" else _number(match["year"])
    if (
        year is None
        or (match["year"] == "元" and not era)
        or (not era and not match["month"] and not 1900 <= year <= 2100)
    ):
        return None  # 三年, 10 年: durations
    if era in ("民國", "民国") or (not era and 80 <= year <= 199):
        year += _ROC_FIRST
    elif not era and year < 1000:
        return None
    form = _joined(year, _number(match["month"]), _number(match["day"]))
    return None if form is None else (before.start() if before else match.start(), form)


def _month_day(match: re.Match[str]) -> str | None:
    return _joined(None, _number(match["month"]), _number(match["day"]))


def _month(match: re.Match[str]) -> int:
    return _MONTHS[match["month"].lower()]


def _english(match: re.Match[str]) -> str | None:
    if not match["year"] and match["month"].islower():
        return None  # "may 5", "march 3 times"
    return _joined(_number(match["year"]), _month(match), int(match["day"]))


def _in_year(match: re.Match[str]) -> str | None:
    """Four digits alone are a year behind "in", "since" and the like only."""
    before = _BEFORE_YEAR.search(match.string, max(0, match.start() - 8), match.start())
    return match["year"] if before else None


def _american(match: re.Match[str]) -> str | None:
    first, second = int(match["first"]), int(match["second"])
    month, day = (second, first) if first > 12 else (first, second)
    return _joined(int(match["year"]), month, day)


def _half_before(match: re.Match[str]) -> re.Match[str] | None:
    return _HALF_BEFORE.search(match.string, max(0, match.start() - 4), match.start())


def _clock(match: re.Match[str]) -> tuple[int, str] | None:
    groups = match.groupdict()
    hour = int(match["hour"])
    ampm = (match["ampm"] or "").lower()
    if ampm:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if ampm.startswith("p") else 0)
    half = _half_before(match)
    form = _time(
        _afternoon(hour, half[1] if half else None), int(groups.get("minute") or 0), int(groups.get("second") or 0)
    )
    return None if form is None else (half.start() if half else match.start(), form)


def _chinese_clock(match: re.Match[str]) -> tuple[int, str] | None:
    """With a part of the day before it, or 整, 半, 鐘 or minutes behind: "3 點建議" is no time."""
    half = _half_before(match)
    telling = match["half_past"] or match["minute"] or match["sharp"]
    if half is None and not (telling and match.group().find("點") + match.group().find("点") > -2):
        return None
    hour = _number(match["hour"])
    minute = 30 if match["half_past"] else _number(match["minute"]) or 0
    form = None if hour is None else _time(_afternoon(hour, half[1] if half else None), minute, 0)
    return None if form is None else (half.start() if half else match.start(), form)


def _afternoon(hour: int, half: str | None) -> int:
    if half in ("下午", "傍晚", "晚上", "晚間") and hour < 12:
        return hour + 12
    if half == "中午" and hour < 11:
        return hour + 12
    return 0 if half in ("凌晨", "半夜", "深夜", "午夜") and hour == 12 else hour


def _time(hour: int, minute: int, second: int) -> str | None:
    if hour > 24 or minute > 59:
        return None
    return f"T{hour % 24:02}:{minute:02}" + (f":{second:02}" if second else "")
