"""Numbers with a unit, and versions, in a text, each with one normal form.

Belongs here: measurements, counts, amounts of money, ranges, labelled numbers (port 8401, HTTP 429), versions. Does not
belong here: dates and times of day (``calendar_facts``), names (``names``).

Normal forms: ``5 min``, ``1000 record``, ``50 %``, ``5 mb/s``, ``1920x1080``, ``port=8401``; a version without its v.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kb_pipeline.text.calendar_facts import Found
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

_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_EDGE = r"(?<![\w.,/#])(?<!第)(?<!第 )"  # ordinals (第 3 次) are no measurements
_EDGE_CJK = r"(?:(?<![A-Za-z0-9_.,/#第])(?<!第 ))"
# Words that only begin like a unit: 5 分之一, 3 元件, 2 字串, 3 組件, 2 週期, 10 條件 …
_NOT_UNIT = (
    r"(?!(?:分[之支類别別享割散析隔組區頁流級店公點數]|分布|元[件素數]|字[串段典型體面]|組[件態成織合]|[週周]期|條[件款]|筆記|名[稱單詞字]|位[置址於]|台[灣北中南]|臺灣"
    r"|頁[面首籤碼]|行[為動程政]|日[誌期本常]|天[氣然]|年[級度齡]|層[級次]|項[目]?標|人[工員類份]|點[擊選數]|次[方要]|部[分署門份]|節[點省]|章節|本[文地身機]"
    r"|家[庭]|間[隔]|道[路]|代[碼理表號]|回[應覆傳報復]|度[量]|件[號]|級|維[護持修]|封[裝包鎖]|張[貼]|把|成[功為員果本]))"
)
_RATE = r"(?:\s*(?:/|per\s|每)\s*(?P<per>s|sec(?:ond)?|min(?:ute)?|h(?:r|our)?|day|week|month|year|秒鐘?|分鐘?|小時|天|日|週|月|年|user|node|人|次|頁|call|request)(?![A-Za-z0-9_]))?"  # noqa: E501
_UNIT = (
    rf"(?:(?P<symbol>{SYMBOL_UNITS})|(?P<latin>{LATIN_UNITS}|m)(?![A-Za-z0-9_])|{_NOT_UNIT}(?P<chinese>{CHINESE_UNITS}))"
)
_MEASURE = re.compile(
    rf"(?P<sign>(?<=[\s(（:：=為至到])[-−])?{_EDGE_CJK}(?P<number>{_NUMBER})(?:(?P<dash>-)|(?P<blank>\s?))"
    rf"(?:(?P<multiplier>{MULTIPLIER_PATTERN}|(?:{WORD_MULTIPLIERS})(?=\s)|[kK](?=\s?{_NOT_UNIT}(?:{CHINESE_UNITS})))\s?(?:多|餘)?)?{_UNIT}{_RATE}",
    re.IGNORECASE,
)
_MULTIPLIED = re.compile(rf"{_EDGE_CJK}(?P<number>{_NUMBER})\s?(?P<multiplier>[萬万億亿]|million\b|billion\b|[kK](?![A-Za-z0-9_]))")
_RANGE = re.compile(
    rf"{_EDGE_CJK}(?P<number>{_NUMBER})(?P<blank>\s?)(?:[-–—~～〜]|至|到|或|to|or)\s?(?={_NUMBER})", re.IGNORECASE
)
_SPELLED_CHINESE = re.compile(
    rf"(?<![第零〇一二兩两三四五六七八九十百千萬万億亿每某同這那哪])(?P<number>{CHINESE_NUMERAL}+)(?P<half>個半)?\s?{_NOT_UNIT}(?P<chinese>{CHINESE_UNITS})(?!半)"
)
_SPELLED_ENGLISH = re.compile(
    rf"(?<![\w-])(?P<number>{'|'.join(sorted(ENGLISH_NUMERALS, key=len, reverse=True))})[\s-](?P<latin>{LATIN_UNITS})(?!\w)", re.IGNORECASE
)
_HUNDREDTHS = re.compile(rf"百分之\s*(?P<number>{_NUMBER}|{CHINESE_NUMERAL}+)(?P<decimals>點{CHINESE_NUMERAL}+)?")
_MONEY = re.compile(
    rf"(?<![\w$])(?P<sign>{CURRENCY_PATTERN})\s?(?P<number>{_NUMBER})(?![\d,.]*\d)(?:\s?(?P<multiplier>[萬万億亿千百kKmM](?![A-Za-z])|million|billion))?",
    re.IGNORECASE,
)
_GRID = re.compile(r"(?<![\w.])(?P<width>\d{2,5})\s?[x×*]\s?(?P<height>\d{2,5})(?![\w.])")
_PORT = re.compile(r"(?:\bports?|連接埠|通訊埠|埠號|端口|(?<![連通訊])埠)\s*(?:is|為|是|號|:|=|#|:\s*)*\s*(?P<number>\d{2,5})(?![\w.%])", re.IGNORECASE)
_HTTP = re.compile(
    r"(?:\bHTTP(?:\s*(?:status|狀態|error|錯誤))?(?:\s*(?:code|碼))?|狀態碼|\bstatus(?:\s*code)?|回應碼)\s*(?:is|為|是|:|=)*\s*(?P<number>[1-5]\d\d)(?![\w.%])",
    re.IGNORECASE,
)
_COUNTED_LIST = re.compile(
    r"\s?(?:大|主要|不同的?|重要的?|常見的?|核心)?(?:步驟|階段|部分|方面|項目|重點|原因|方法|方式|例子|範例|選項|問題|條件|層面|面向|段落|章節|要點|情況|情形|類別|類型|種類|步|原則|理由|議題|建議|優點|缺點|特點|特性|目標|角色)"
)
_COUNTED_LIST_EN = re.compile(
    r"[\s-](?:(?:main|key|major|different|important|common|basic|simple|possible|following)\s)?(?:steps?|ways?|reasons?|parts?|options?|phases?|stages?|points?|types?|kinds?|cases?|examples?|sections?|things?)\b",
    re.IGNORECASE,
)
_SMALL_LIST = 20

_PRODUCTS = (
    "python|java|openjdk|jdk|node(?:\\.js)?|npm|postgresql|postgres|mysql|mariadb|redis|mongodb|kafka|elasticsearch|opensearch|ubuntu|debian|centos|rhel|fedora|alpine"
    "|windows|macos|ios|android|php|ruby|go(?:lang)?|rust|django|rails|react|vue|angular|next(?:\\.js)?|nuxt|spring(?: boot)?|kubernetes|k8s|docker|helm|terraform|ansible"
    "|nginx|apache|sqlite|chrome|firefox|safari|claude|gemini|llama|qwen|pgvector|dagster|airflow|spark|tls|ssl|oauth|http|ipv|pydantic|sqlalchemy|flutter|swift|kotlin|scala|perl|tailwind|vite|webpack|typescript"
    "|wcag|openapi|\\.net|vs ?code|gitlab|jenkins|grafana|prometheus|office|sql server|oracle|cuda|pytorch|tensorflow"
)
_PRE = r"(?:[-.]?(?:alpha|beta|rc|dev|post|preview|snapshot|a|b|lts)[.\-]?\d*)?(?:\+[\w.]+)?"
_VERSION_V = re.compile(rf"(?<![\w./-])v\.?\s?(?P<number>\d+(?:\.(?:\d+|x))*{_PRE})(?![\w]|\.\d)", re.IGNORECASE)
_VERSION_LONG = re.compile(rf"(?<![\w./-])(?P<number>\d+\.\d+\.(?:\d+|x)(?:\.\d+)*{_PRE})(?![\w]|\.\d)", re.IGNORECASE)
_VERSION_NAMED = re.compile(
    rf"(?:版本(?:號)?|\bversions?|\bver\.?|\brelease)\s*(?:is|為|是|號|:|=|>=|<=|≥|≤|>|~|\^)*\s*(?P<number>\d+(?:\.(?:\d+|x))*{_PRE})(?![\w%]|\.\d)(?!\s?(?:{CHINESE_UNITS}))",
    re.IGNORECASE,
)
_VERSION_AFTER = re.compile(r"(?<![\w./第-])(?P<number>\d+(?:\.\d+)+|\d{1,4})\s?版(?![權面型塊圖次])")
_VERSION_PRODUCT = re.compile(
    rf"(?<![\w.])(?P<product>{_PRODUCTS})(?P<joint>[\s/-]{{0,2}})(?P<number>\d+(?:\.(?:\d+|x))*{_PRE}\+?)(?![\w%]|\.\d)", re.IGNORECASE
)
_VERSION_WORD = re.compile(rf"(?<![\w.])[A-Z][\w+#.]*[\w+#]\s(?P<number>\d+\.(?:\d+|x){_PRE})(?![\w%]|\.\d)(?!\s?(?:{LATIN_UNITS})(?!\w)|\s?(?:{CHINESE_UNITS}))")


def find_versions(text: str) -> Iterator[Found]:
    """Versions; ``v1.2`` and ``1.2`` are one version, ``PostgreSQL 16`` keeps its name, since 16 alone says nothing."""
    for pattern in (_VERSION_V, _VERSION_LONG, _VERSION_NAMED, _VERSION_AFTER):
        for match in pattern.finditer(text):
            yield match.start(), match.end(), match["number"].lower()
    for match in _VERSION_PRODUCT.finditer(text):
        number = match["number"].rstrip("+")
        if "." in number:
            yield match.start("number"), match.end(), number.lower()
        elif len(number) <= 2 and not _is_measured(text, match.end()):
            yield match.start(), match.end(), f"{' '.join(match['product'].lower().split())} {number}"
    for match in _VERSION_WORD.finditer(text):
        yield match.start("number"), match.end("number"), match["number"].lower()


_UNIT_NEXT = re.compile(rf"\s?(?:{_UNIT})", re.IGNORECASE)


def _is_measured(text: str, position: int) -> bool:
    return _UNIT_NEXT.match(text, position) is not None


def find_numbers(text: str, *, lenient: bool = False) -> Iterator[Found]:
    """Numbers with a unit or label. ``lenient`` adds counts of listed items and all numerals in words (as evidence)."""
    if any(char.isdigit() for char in text):
        yield from _labelled(text)
        yield from _measures(text, lenient=lenient)
        for match in _MULTIPLIED.finditer(text):
            yield match.start(), match.end(), plain_number(match["number"], match["multiplier"])
    yield from _spelled(text, lenient=lenient)


def _labelled(text: str) -> Iterator[Found]:
    for match in _PORT.finditer(text):
        yield match.start(), match.end(), f"port={int(match['number'])}"
    for match in _HTTP.finditer(text):
        yield match.start(), match.end(), f"http {match['number']}"
    for match in _GRID.finditer(text):
        yield match.start(), match.end(), f"{match['width']}x{match['height']}"
    for match in _MONEY.finditer(text):
        amount = plain_number(match["number"], match["multiplier"] or "")
        yield match.start(), match.end(), f"{amount} {currency(match['sign'])}"


def _measures(text: str, *, lenient: bool) -> Iterator[Found]:
    measured: dict[int, str] = {}
    for match in _MEASURE.finditer(text):
        written = match["symbol"] or match["latin"] or match["chinese"]
        unit = "mb" if written == "M" else canonical_unit(written, attached=not match["blank"] and not match["dash"])
        value = plain_number(match["number"], match["multiplier"] or "")
        if not lenient and _is_list_count(text, match.end(), value, unit, written):
            continue
        if match["per"]:
            unit += "/" + canonical_unit(match["per"])
        sign = "-" if match["sign"] and unit in {"%", "°c", "°f", "degree", "twd", "usd"} else ""
        measured[match.start("number")] = unit
        start = match.start("number") - (1 if sign else 0)
        yield start, match.end(), f"{sign}{value} {unit}"
    for match in _RANGE.finditer(text):
        unit_of_end = measured.get(match.end())
        if unit_of_end is not None:
            yield match.start(), match.end("number"), f"{plain_number(match['number'])} {unit_of_end}"


def _is_list_count(text: str, end: int, value: str, unit: str, written: str) -> bool:
    """``3 個步驟``, ``5 項``, ``three ways``: how many a list has, not a fact of the subject."""
    if not value.isdecimal() or int(value) > _SMALL_LIST:
        return False
    if unit == "step" or _COUNTED_LIST.match(text, end):
        return True
    return unit in LISTED and written not in {"line", "lines", "行", "page", "pages", "頁", "層", "個", "item", "items"}


def _spelled(text: str, *, lenient: bool) -> Iterator[Found]:
    if text.isascii():
        matches = _SPELLED_ENGLISH.finditer(text)
    else:
        yield from _chinese_numerals(text, lenient=lenient)
        matches = _SPELLED_ENGLISH.finditer(text)
    for match in matches:
        unit = canonical_unit(match["latin"])
        value = ENGLISH_NUMERALS[match["number"].lower()]
        if lenient or (unit in SPELLED and value > 1):
            yield match.start(), match.end(), f"{value} {unit}"


def _chinese_numerals(text: str, *, lenient: bool) -> Iterator[Found]:
    for match in _HUNDREDTHS.finditer(text):
        written = match["number"]
        value = plain_number(written) if written[0].isdecimal() else str(chinese_number(written))
        if match["decimals"]:
            value += "." + str(chinese_number(match["decimals"][1:]))
        yield match.start(), match.end(), f"{value} %"
    for match in _SPELLED_CHINESE.finditer(text):
        unit = canonical_unit(match["chinese"])
        number = chinese_number(match["number"])
        if number is None or not (lenient or (unit in SPELLED and (number > 1 or len(match["chinese"]) > 1))):
            continue
        yield match.start(), match.end(), f"{number}{'.5' if match['half'] else ''} {unit}"
