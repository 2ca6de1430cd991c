"""Dates and times of day in a text, each with one normal form.

Belongs here: ISO, Chinese, 民國 and English dates, times of day. Does not belong here: durations (``quantities``).

Normal forms: ``2026-08-18``, ``2026-08``, ``2026``, ``--08-18`` (no year), ``2026-Q3``, ``T03:00`` (24 hours; seconds only
where they are not zero).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from kb_pipeline.text.units import CHINESE_NUMERAL, chinese_number

Found = tuple[int, int, str]
"""Start, end, normal form."""

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
_MONTH = r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"  # noqa: E501
_N = rf"(?:\d{{1,4}}|{CHINESE_NUMERAL}{{1,6}})"
_ROC_FIRST = 1911

_ISO = re.compile(
    r"(?<![\w./-])(?P<year>(?:19|20|21)\d\d)(?P<joint>[-/.])(?P<month>0?[1-9]|1[0-2])"
    r"(?:(?P=joint)(?P<day>0?[1-9]|[12]\d|3[01]))?(?![\d]|[-/.]\d)(?=[T\s\W]|_|$|[^\x00-\x7f])"
)
_ROC_SHORT = re.compile(
    r"(?:民國\s*(?P<year>\d{2,3})|(?<![\w./-])(?P<bare>1[0-4]\d))[-/.](?P<month>0?[1-9]|1[0-2])[-/.](?P<day>0?[1-9]|[12]\d|3[01])(?![\w/-]|\.\d)"
)
_CHINESE = re.compile(
    rf"(?P<era>民國|民国|西元|公元)?\s*(?<!\d)(?P<year>{_N}|元)\s*年(?:\s*(?P<month>{_N})\s*月(?:份)?(?:\s*(?P<day>{_N})\s*[日號号])?)?"
)
_MONTH_DAY = re.compile(rf"(?<![\d年])(?P<month>{_N})\s*月\s*(?P<day>{_N})\s*[日號号]")
_QUARTER = re.compile(r"(?<!\w)(?P<year>20\d\d)\s*(?:年\s*)?(?:[-/]?\s*Q(?P<quarter>[1-4])(?!\w)|第\s*(?P<nth>[1-4一二三四])\s*季)")
_WEEK = re.compile(r"(?<!\w)(?P<year>20\d\d)-?W(?P<week>[0-5]\d)(?!\w)")
_ENGLISH = re.compile(
    rf"(?<!\w){_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?!\d|:|\.\d)(?:,?\s+(?P<year>(?:19|20)\d\d)(?!\d))?", re.IGNORECASE
)
_ENGLISH_DAY_FIRST = re.compile(
    rf"(?<!\w)(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}(?!\w)(?:,?\s+(?P<year>(?:19|20)\d\d)(?!\d))?", re.IGNORECASE
)
_ENGLISH_MONTH = re.compile(rf"(?<!\w){_MONTH},?\s+(?P<year>(?:19|20)\d\d)(?!\d)", re.IGNORECASE)
_AMERICAN = re.compile(r"(?<![\w./-])(?P<first>\d{1,2})/(?P<second>\d{1,2})/(?P<year>(?:19|20)\d\d)(?![\w/-])")
_HALF = r"(?P<half>凌晨|清晨|早上|上午|中午|下午|傍晚|晚上|晚間|半夜|深夜|午夜)"
_CLOCK = re.compile(
    rf"(?:{_HALF}\s*)?(?<![\d:.])(?P<hour>[01]?\d|2[0-4]):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d)(?:[.,]\d+)?)?(?![\d:])\s*(?P<ampm>[ap]\.?m\b\.?)?",
    re.IGNORECASE,
)
_CHINESE_CLOCK = re.compile(
    rf"(?:{_HALF}\s*(?P<hour>\d{{1,2}}|{CHINESE_NUMERAL}{{1,3}})\s*[點点时時](?!間|间)"
    rf"|(?<![\d第.])(?P<bare>\d{{1,2}})\s*[點点](?=[半整鐘]|\s*\d{{1,2}}\s*分))"
    rf"(?:(?P<half_past>半)|\s*(?P<minute>\d{{1,2}}|{CHINESE_NUMERAL}{{1,3}})\s*分(?!鐘)|[整鐘])?"
)
_ENGLISH_CLOCK = re.compile(r"(?<![\w.:])(?P<hour>\d{1,2})\s*(?P<ampm>[ap]\.?m\b\.?)", re.IGNORECASE)


def find_dates(text: str) -> Iterator[Found]:
    """Dates in ``text`` (narrow), pattern by pattern: a caller keeps the first of overlapping ones."""
    has_digit = any(char.isdigit() for char in text)
    if has_digit:
        yield from _each(_ISO, text, _iso)
        yield from _each(_ROC_SHORT, text, _roc_short)
        yield from _each(_QUARTER, text, _quarter)
        yield from _each(_WEEK, text, lambda match: f"{match['year']}-W{match['week']}")
    if "月" in text or "年" in text:
        yield from _each(_CHINESE, text, _chinese)
        yield from _each(_MONTH_DAY, text, _month_day)
    if has_digit:
        yield from _each(_ENGLISH_DAY_FIRST, text, _english)
        yield from _each(_ENGLISH, text, _english)
        yield from _each(_ENGLISH_MONTH, text, lambda match: f"{match['year']}-{_month(match):02}")
        yield from _each(_AMERICAN, text, _american)


def find_times(text: str) -> Iterator[Found]:
    """Times of day in ``text`` (narrow)."""
    if ":" in text:
        yield from _each(_CLOCK, text, _clock)
    if "點" in text or "点" in text or "時" in text or "时" in text:
        yield from _each(_CHINESE_CLOCK, text, _chinese_clock)
    if "m" in text or "M" in text:
        yield from _each(_ENGLISH_CLOCK, text, _clock)


def _each(pattern: re.Pattern[str], text: str, normal: Callable[[re.Match[str]], str | None]) -> Iterator[Found]:
    for match in pattern.finditer(text):
        form = normal(match)
        if form is not None:
            lead = len(match.group()) - len(match.group().lstrip())
            yield match.start() + lead, match.start() + len(match.group().rstrip()), form


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


def _roc_short(match: re.Match[str]) -> str | None:
    return _joined(int(match["year"] or match["bare"]) + _ROC_FIRST, int(match["month"]), int(match["day"]))


def _quarter(match: re.Match[str]) -> str:
    return f"{match['year']}-Q{match['quarter'] or _number(match['nth'])}"


def _chinese(match: re.Match[str]) -> str | None:
    year = 1 if match["year"] == "元" else _number(match["year"])
    if year is None or (match["year"] == "元" and not match["era"]):
        return None
    republic = match["era"] in ("民國", "民国")
    if not match["era"] and not match["month"] and not 1900 <= year <= 2100:
        return None  # 三年, 10 年: a duration
    if republic or (not match["era"] and 80 <= year <= 199):
        year += _ROC_FIRST
    elif not match["era"] and year < 1000:
        return None
    return _joined(year, _number(match["month"]), _number(match["day"]))


def _month_day(match: re.Match[str]) -> str | None:
    return _joined(None, _number(match["month"]), _number(match["day"]))


def _month(match: re.Match[str]) -> int:
    return _MONTHS[match["month"].lower()]


def _english(match: re.Match[str]) -> str | None:
    if not match["year"] and match["month"].islower():
        return None  # "may 5", "march 3 times"
    return _joined(_number(match["year"]), _month(match), int(match["day"]))


def _american(match: re.Match[str]) -> str | None:
    first, second = int(match["first"]), int(match["second"])
    month, day = (second, first) if first > 12 else (first, second)
    return _joined(int(match["year"]), month, day)


def _clock(match: re.Match[str]) -> str | None:
    groups = match.groupdict()
    minute, second = int(groups.get("minute") or 0), int(groups.get("second") or 0)
    hour = int(match["hour"])
    ampm = (groups.get("ampm") or "").lower()
    if ampm:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if ampm.startswith("p") else 0)
    return _time(_afternoon(hour, groups.get("half")), minute, second)


def _chinese_clock(match: re.Match[str]) -> str | None:
    hour = _number(match["hour"] or match["bare"])
    minute = 30 if match["half_past"] else _number(match["minute"]) or 0
    return None if hour is None else _time(_afternoon(hour, match["half"]), minute, 0)


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
