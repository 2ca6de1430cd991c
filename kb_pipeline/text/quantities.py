"""Numbers with a unit in a text, each with one normal form.

Belongs here: measurements, counts, amounts of money, ranges, labelled numbers (port 8401, HTTP 429), numerals in words.
Does not belong here: dates and times of day (``calendar_facts``), versions (``versions``), names (``names``).

Normal forms: ``5 min``, ``1000 record``, ``50 %``, ``5 mb/s``, ``1920x1080``, ``port 8401``. Patterns begin with the digit and
look back afterwards (see ``calendar_facts``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kb_pipeline.text.fact_markup import Found, digit_lines
from kb_pipeline.text.units import (
    CHINESE_NUMERAL,
    CHINESE_UNITS,
    CURRENCY_PATTERN,
    ENGLISH_NUMERALS,
    LATIN_UNITS,
    LISTED,
    MULTIPLIER_PATTERN,
    SPELLED,
    SYMBOL_UNITS,
    WORD_MULTIPLIERS,
    canonical_unit,
    chinese_number,
    currency,
    plain_number,
)

# The first digit: not inside a word, a number or a path, and no ordinal (第 3 次).
_FIRST = r"\d(?<![A-Za-z0-9_.,/#第]\d)(?<!第 \d)"
_NUMBER = rf"{_FIRST}(?:\d{{0,2}}(?:,\d{{3}})+(?!\d)|\d*)(?:\.\d+)?"
_PLAIN = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
# Words that only begin like a unit: 5 分之一, 3 元件, 2 字串, 3 組件, 2 週期, 10 條件 …
_NOT_UNIT = (
    r"(?!分[之支類别別享割散析隔組區頁流級店公點數布配]|元[件素數]|字[串段典型體面]|組[件態成織合]|[週周]期|條件|筆記(?!錄)|名[稱單詞字]|位[置址於]"
    r"|台[灣北中南]|臺灣|頁[面首籤碼]|行[為動程政]|日[誌期本常]|天[氣然]|年[級度齡]|層[級次]|項目?標|人[工員類份]|點[擊選數]|次[方要]"
    r"|部[分署門份]|節[點省]|章節|本[文地身機]|家庭|間隔|道路|代[碼理表號]|回[應覆傳報復]|度量|件號|維[護持修]|封[裝包鎖]|成[功為員果本])"
)
_RATE = (
    r"(?:\s*(?:/|per\s|每)\s*(?P<per>s|sec(?:ond)?|min(?:ute)?|h(?:r|our)?|day|week|month|year|秒鐘?|分鐘?|小時|天|日|週|月|年"
    r"|user|node|call|request|人|次|頁)(?![A-Za-z0-9_]))?"
)
_UNIT = rf"(?:(?P<symbol>{SYMBOL_UNITS})|(?P<latin>{LATIN_UNITS}|m)(?![A-Za-z0-9_])|{_NOT_UNIT}(?P<chinese>{CHINESE_UNITS}))"
_MEASURE = re.compile(
    rf"(?P<number>{_NUMBER})(?:(?P<dash>-)|(?P<blank>\s?))"
    rf"(?:(?P<multiplier>{MULTIPLIER_PATTERN}|(?:{WORD_MULTIPLIERS})(?=\s)|k(?=\s?{_NOT_UNIT}(?:{CHINESE_UNITS})))\s?[多餘]?)?{_UNIT}{_RATE}",
    re.IGNORECASE,
)
_UNIT_NEXT = re.compile(rf"\s?{_UNIT}", re.IGNORECASE)
_MULTIPLIED = re.compile(
    rf"(?P<number>{_NUMBER})\s?(?P<multiplier>[萬万億亿]|(?:million|billion)\b|[kK](?![A-Za-z0-9_]))"
)
_RANGE = re.compile(rf"(?P<number>{_NUMBER})\s?(?:[-–—~～〜至到或]|to|or)\s?(?={_PLAIN})")
_MONEY = re.compile(
    rf"(?P<sign>{CURRENCY_PATTERN})\s?(?P<number>{_PLAIN})(?![\d,.]*\d)(?:\s?(?P<multiplier>[萬万億亿千百kK](?![A-Za-z])|million|billion))?",
    re.IGNORECASE,
)
_GRID = re.compile(r"(?P<width>\d(?<![A-Za-z0-9_.]\d)\d{1,4})\s?[x×*]\s?(?P<height>\d{2,5})(?![A-Za-z0-9_.])")
_PORT = re.compile(
    r"(?:\bports?|連接埠|通訊埠|埠號|端口|(?<![連通訊])埠)\s*(?:is|為|是|號|[:=#(*`])*\s*(?P<number>\d{2,5})(?![A-Za-z0-9_%]|\.\w)",
    re.IGNORECASE,
)
_HTTP = re.compile(
    r"(?:\bHTTP(?:\s*(?:status|狀態|error|錯誤))?(?:\s*(?:code|碼))?|狀態碼|\bstatus(?:\s*code)?|回應碼)"
    r"\s*(?:is|為|是|[:=(*`])*\s*(?P<number>[1-5]\d\d)(?![A-Za-z0-9_.%])"
    r"|(?:\berror|錯誤)(?:\s*code|代?碼)?\s*[:=(*`]*\s*(?P<error>[45]\d\d)(?![A-Za-z0-9_.%])",
    re.IGNORECASE,
)
_SPELLED_CHINESE = re.compile(
    rf"(?P<number>{CHINESE_NUMERAL}(?<![第某同這那哪零〇一二兩两三四五六七八九十百千萬万億亿].){CHINESE_NUMERAL}*)(?P<half>個半)?\s?{_NOT_UNIT}(?P<chinese>{CHINESE_UNITS})"
)
_HUNDREDTHS = re.compile(rf"百分之\s*(?P<number>{_PLAIN}|{CHINESE_NUMERAL}+)(?P<decimals>點{CHINESE_NUMERAL}+)?")
_SPELLED_ENGLISH = re.compile(
    rf"(?P<number>[OTFSENotfsen](?:{'|'.join(sorted({numeral[1:] for numeral in ENGLISH_NUMERALS}, key=len, reverse=True))}))"
    rf"[\s-](?P<latin>(?i:{LATIN_UNITS}))(?![A-Za-z0-9_])"
)
_COUNTED_LIST = re.compile(
    r"\s?(?:大|主要|不同的?|重要的?|常見的?|核心)?(?:步驟?|階段|部分|方面|項目|重點|原因|方法|方式|例子|範例|選項|問題|條件|層面|面向|段落|章節|要點"
    r"|情況|情形|類別|類型|種類|原則|理由|議題|建議|優點|缺點|特點|特性|目標|角色)"
    r"|[\s-](?:(?:main|key|major|different|important|common|basic|simple|possible|following)\s)?"
    r"(?:steps?|ways?|reasons?|parts?|options?|phases?|stages?|points?|types?|kinds?|cases?|examples?|sections?|things?)\b",
    re.IGNORECASE,
)
_SMALL_LIST = 20
_THINGS = frozenset(("line", "lines", "行", "page", "pages", "頁", "層", "個", "item", "items"))
"""Of the counting words for lists those that also count what a system has: 3 個副本, 5 頁."""

_SIGNED = frozenset(("%", "°c", "°f", "degree", "twd", "usd", "db"))
_WORD_SIZES = frozenset(("8", "16", "32", "64", "128", "256"))
"""32 位 is a width, 3 位 are people."""

_PORT_HINTS = ("port", "埠", "端口")
_HTTP_HINTS = ("http", "status", "狀態", "回應碼", "error", "錯誤")
_MONEY_HINTS = ("$", "€", "¥", "£", "usd", "twd", "ntd", "eur", "jpy", "gbp", "rmb", "台幣", "臺幣")


def find_numbers(text: str, *, lenient: bool = False, code: bool = False) -> Iterator[Found]:
    """Numbers with a unit or label in ``text`` (narrow), surer readings first.

    ``lenient`` adds counts of listed items and all numerals in words. In ``code`` ``$1`` is a parameter, no money.
    """
    for offset, line in digit_lines(text):
        for start, end, normal in (
            *_labelled(line),
            *(() if code else _money(line)),
            *_measures(line, lenient),
            *_multiplied(line),
        ):
            yield offset + start, offset + end, normal
    yield from _spelled(text, lenient)


def is_measured(text: str, position: int) -> bool:
    """Whether a unit follows."""
    return _UNIT_NEXT.match(text, position) is not None


def _labelled(line: str) -> Iterator[Found]:
    lowered = line.lower()
    if any(hint in lowered for hint in _PORT_HINTS):
        for match in _PORT.finditer(line):
            yield match.start(), match.end(), f"port {int(match['number'])}"
    if any(hint in lowered for hint in _HTTP_HINTS):
        for match in _HTTP.finditer(line):
            yield match.start(), match.end(), f"http {match['number'] or match['error']}"
    for match in _GRID.finditer(line):
        yield match.start(), match.end(), f"{match['width']}x{match['height']}"


def _money(line: str) -> Iterator[Found]:
    lowered = line.lower()
    if any(hint in lowered for hint in _MONEY_HINTS):
        for match in _MONEY.finditer(line):
            before = line[match.start() - 1 : match.start()]
            if not (before.isascii() and (before.isalnum() or before in ("_", "$", "=", '"', "'"))):
                amount = plain_number(match["number"], match["multiplier"] or "")
                yield match.start(), match.end(), f"{amount} {currency(match['sign'])}"


def _measures(line: str, lenient: bool) -> Iterator[Found]:
    units: dict[int, str] = {}
    for match in _MEASURE.finditer(line):
        written = match["symbol"] or match["latin"] or match["chinese"]
        value = plain_number(match["number"], match["multiplier"] or "")
        unit = _unit(written, value, attached=not match["blank"] and not match["dash"])
        if not lenient and _is_list_count(line, match.end(), value, unit, written):
            continue
        if match["per"]:
            unit += "/" + canonical_unit(match["per"])
        units[match.start()] = unit
        sign = "-" if unit in _SIGNED and _is_negative(line, match.start()) else ""
        yield match.start() - len(sign), match.end(), f"{sign}{value} {unit}"
    if units:
        for match in _RANGE.finditer(line):
            unit_of_end = units.get(match.end())
            if unit_of_end is not None:
                yield match.start(), match.end("number"), f"{plain_number(match['number'])} {unit_of_end}"


def _unit(written: str, value: str, *, attached: bool) -> str:
    if written == "M":
        return "mb"
    return "bit" if written == "位" and value in _WORD_SIZES else canonical_unit(written, attached=attached)


def _multiplied(line: str) -> Iterator[Found]:
    for match in _MULTIPLIED.finditer(line):
        yield match.start(), match.end(), plain_number(match["number"], match["multiplier"])


def _is_negative(line: str, start: int) -> bool:
    return start > 0 and line[start - 1] in "-−" and (start == 1 or line[start - 2] in " \t(（:：=為至到|")


def _is_list_count(line: str, end: int, value: str, unit: str, written: str) -> bool:
    """``3 個步驟``, ``5 項``, ``three ways``: how many a list has, not a fact of the subject (SPEC 6.3)."""
    if not value.isdecimal() or int(value) > _SMALL_LIST:
        return False
    return unit == "step" or _COUNTED_LIST.match(line, end) is not None or (unit in LISTED and written not in _THINGS)


def _spelled(text: str, lenient: bool) -> Iterator[Found]:
    if not text.isascii():
        yield from _chinese_numerals(text, lenient)
    for match in _SPELLED_ENGLISH.finditer(text):
        before = text[match.start() - 1 : match.start()]
        value = ENGLISH_NUMERALS.get(match["number"].lower())
        if value is None or (before.isascii() and (before.isalnum() or before in ("-", "_"))):
            continue
        unit = canonical_unit(match["latin"])
        if lenient or (unit in SPELLED and value > 1):
            yield match.start(), match.end(), f"{value} {unit}"


def _chinese_numerals(text: str, lenient: bool) -> Iterator[Found]:
    if "百分之" in text:
        for match in _HUNDREDTHS.finditer(text):
            written = match["number"]
            value = plain_number(written) if written[0].isdecimal() else str(chinese_number(written))
            if match["decimals"]:
                value += "." + str(chinese_number(match["decimals"][1:]))
            yield match.start(), match.end(), f"{value} %"
    for match in _SPELLED_CHINESE.finditer(text):
        unit = canonical_unit(match["chinese"])
        number = chinese_number(match["number"])
        measured = (
            unit in SPELLED and match["chinese"] != "分" and (number or 0) > (0 if len(match["chinese"]) > 1 else 1)
        )
        if number is None or not (lenient or measured):
            continue
        yield match.start(), match.end(), f"{number}{'.5' if match['half'] else ''} {unit}"
