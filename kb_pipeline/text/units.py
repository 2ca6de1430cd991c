"""Units of measure and counting words, Chinese and English, under one name each.

Belongs here: the table and the reading of numerals. Does not belong here: where in a text numbers stand (``quantities``).
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

from kb_pipeline.text.wordlists import word_list

# Canonical name → how it is written. Latin spellings are matched without regard to case unless in _CASED.
_UNITS: dict[str, str] = {
    # time
    "ns": "ns nanosecond nanoseconds 奈秒 纳秒",
    "us": "us μs µs usec microsecond microseconds 微秒",
    "ms": "ms msec msecs millisecond milliseconds 毫秒",
    "s": "s sec secs second seconds 秒 秒鐘 秒钟",
    "min": "min mins minute minutes 分 分鐘 分钟",
    "h": "h hr hrs hour hours 小時 小时 鐘頭 个小时 個小時 个钟头 個鐘頭",
    "d": "d day days 天 日 工作天 工作日 個工作天 個工作日 business\xa0days",
    "week": "week weeks wk wks 週 周 星期 個星期 个星期 禮拜 礼拜 個禮拜",
    "month": "month months 個月 个月 個月份",
    "quarter": "quarter quarters 季",
    "year": "year years yr yrs 年 年份",
    # information
    "bit": "bit bits 位元 比特",
    "byte": "byte bytes 位元組 字节 字節",
    "kb": "kb k位元組 千位元組",
    "mb": "mb 百萬位元組",
    "gb": "gb 十億位元組",
    "tb": "tb",
    "pb": "pb",
    "kib": "kib ki",
    "mib": "mib mi",
    "gib": "gib gi",
    "tib": "tib ti",
    "kbps": "kbps kbit/s",
    "mbps": "mbps mbit/s",
    "gbps": "gbps gbit/s",
    "token": "token tokens 詞元 個token 個tokens",
    # share and ratio
    "%": "% percent pct 個百分比",
    "‰": "‰",
    "pp": "pp 個百分點 百分點 percentage\xa0points",
    "x": "x × 倍",
    "tenth": "成",
    # money
    "twd": "元 塊 塊錢 圓 新台幣 新臺幣 twd ntd 台幣 臺幣",
    "usd": "usd 美元 美金",
    "eur": "eur euro euros 歐元",
    "jpy": "jpy 日圓 日幣 日元",
    "cny": "cny rmb 人民幣",
    "gbp": "gbp 英鎊",
    # physics and screens
    "°c": "°c ℃ 度c 攝氏度",
    "°f": "°f ℉",
    "degree": "° 度 degree degrees",
    "mm": "mm 公釐 毫米",
    "cm": "cm 公分",
    "metre": "metre metres meter meters 公尺",
    "km": "km 公里",
    "g": "公克 gram grams",
    "kg": "kg 公斤",
    "tonne": "公噸 噸 tonne tonnes",
    "ml": "ml 毫升",
    "litre": "公升 litre litres liter liters",
    "km2": "平方公里 平方千米 km² km2",
    "m2": "平方公尺 平方米 m² m2",
    "m3": "立方公尺 立方米 m³ m3",
    "hectare": "公頃 hectare hectares",
    "mile": "英里 哩 mile miles",
    "foot": "英尺 呎 feet",
    "inch": "英吋 英寸 吋 inch inches",
    "kcal": "kcal 大卡",
    "century": "世紀 centuries",
    "age": "歲",
    "hz": "hz 赫茲",
    "khz": "khz",
    "mhz": "mhz",
    "ghz": "ghz",
    "w": "watt watts 瓦",
    "kw": "kw",
    "kwh": "kwh 度電",
    "v": "volt volts 伏特",
    "mah": "mah",
    "db": "db 分貝",
    "px": "px pixel pixels 像素 畫素",
    "rem": "rem",
    "em": "em",
    "pt": "pt pts",
    "dpi": "dpi",
    "fps": "fps",
    "ping": "坪",
    # rates
    "rps": "rps qps tps req/s requests/s reqs/s",
    "rpm": "rpm",
    # things that systems count
    "time": "次 回 time times 趟",
    "record": "筆 row rows record records 筆資料 筆記錄 筆紀錄 條記錄",
    "item": "個 项 項 件 item items 個項目",
    "person": "人 位 名 people person persons 個人 人次",
    "user": "user users 個使用者 位使用者 名使用者 個用戶 位用戶",
    "machine": "台 臺 部 machine machines host hosts server servers 台伺服器 台機器 台主機 個伺服器",
    "node": "node nodes 個節點 節點",
    "pod": "pod pods 個pod 個pods",
    "replica": "replica replicas 個副本 副本 份副本",
    "instance": "instance instances 個執行個體 個實例",
    "core": "core cores 核 核心 個核心 顆核心 vcpu vcpus cpu cpus 個cpu 個vcpu",
    "thread": "thread threads 執行緒 個執行緒 條執行緒",
    "worker": "worker workers 個worker 個workers",
    "connection": "connection connections 個連線 條連線 連線",
    "request": "request requests 個請求 次請求 筆請求 請求",
    "retry": "retry retries 次重試",
    "attempt": "attempt attempts 次嘗試",
    "file": "file files 個檔案 個檔 支檔案 檔案",
    "page": "page pages 頁",
    "line": "line lines 行",
    "column": "column columns 欄 個欄位 欄位",
    "char": "char chars character characters 字元 個字元 個字 字 字符",
    "word": "word words 個單字 單字",
    "article": "篇 article articles",
    "message": "則 message messages 則訊息 封 email emails",
    "sheet": "張",
    "copy": "份",
    "floor": "樓",
    "level": "層 level levels",
    "group": "組 group groups",
    "version": "個版本",
    "partition": "partition partitions 個分割區 個分區 分區",
    "shard": "shard shards 個分片 分片",
    "dimension": "dimension dimensions 維 維度 個維度",
    "point": "point points",
    "document": "document documents docs 份文件 個文件 篇文件",
    "test": "test tests 個測試 項測試",
    "key": "keys 個金鑰 把金鑰 個key",
    "error": "error errors 個錯誤",
    "call": "call calls 次呼叫",
    "kind": "種 类 類",
    "step": "step steps 步 個步驟 步驟",
    "section": "章 節",
    "entry": "條 entry entries",
    "issue": "點",
    "hand": "支 隻 顆 把 輛 間 家 座 棟 場 本 道 批 輪 代",
}

_MULTIPLIERS: dict[str, int] = {
    "百": 10**2,
    "千": 10**3,
    "萬": 10**4,
    "万": 10**4,
    "十萬": 10**5,
    "百萬": 10**6,
    "百万": 10**6,
    "千萬": 10**7,
    "千万": 10**7,
    "億": 10**8,
    "亿": 10**8,
    "兆": 10**12,
    "k": 10**3,
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
}

LISTED = frozenset({"item", "kind", "step", "section", "entry", "issue", "hand", "group", "level", "line", "page"})
"""Counting words whose small numbers tell how many items a list has: exempt (SPEC 6.3), unless the noun is a thing."""

SPELLED = frozenset({"ns", "us", "ms", "s", "min", "h", "d", "week", "month", "year", "%", "x", "tenth"})
"""Units before which a numeral in words (五分鐘, five minutes) is a measurement and not a turn of phrase."""

_DIGITS = {
    char: value
    for value, chars in enumerate(word_list("零〇 一壹 二兩两貳 三參叁 四肆 五伍 六陸 七柒 八捌 九玖"))
    for char in chars
}
_TENS = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
_MYRIADS = {"萬": 10**4, "万": 10**4, "億": 10**8, "亿": 10**8}
CHINESE_NUMERAL = "[零〇一二兩两三四五六七八九十百千萬万億亿]"

ENGLISH_NUMERALS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "forty-five": 45, "fifty": 50,
    "sixty": 60, "ninety": 90,
}  # fmt: skip

CANONICAL: dict[str, str] = {
    spelling.replace("\xa0", " "): name for name, spellings in _UNITS.items() for spelling in spellings.split(" ")
}
_BEFORE = {"nt$": "twd", "ntd": "twd", "twd": "twd", "us$": "usd", "usd": "usd", "$": "usd", "€": "eur", "eur": "eur", "¥": "jpy", "jpy": "jpy", "£": "gbp", "gbp": "gbp", "rmb": "cny", "新台幣": "twd", "新臺幣": "twd"}  # fmt: skip


def currency(sign: str) -> str:
    """Canonical name of a currency sign that stands before its amount."""
    return _BEFORE[sign.lower()]


CURRENCY_PATTERN = "|".join(re.escape(sign) for sign in sorted(_BEFORE, key=len, reverse=True))
MULTIPLIER_PATTERN = "|".join(sorted((m for m in _MULTIPLIERS if not m.isascii()), key=len, reverse=True))
WORD_MULTIPLIERS = "thousand|million|billion"


def _alternatives(spellings: list[str]) -> str:
    ordered = sorted(spellings, key=lambda spelling: (-len(spelling), spelling))
    return "|".join(re.escape(spelling).replace(r"\ ", r"[ ]") for spelling in ordered)


LATIN_UNITS = _alternatives([s for s in CANONICAL if s[0].isascii() and s[0].isalpha()])
CHINESE_UNITS = _alternatives(
    [s for s in CANONICAL if not s.isascii() and s not in {"×", "°", "℃", "℉", "‰", "°c", "°f", "μs", "µs"}]
)
SYMBOL_UNITS = _alternatives(["%", "‰", "°c", "°f", "°", "℃", "℉", "×", "μs", "µs"])


def canonical_unit(written: str, *, attached: bool = False) -> str:
    """Name of a unit as written. ``5m`` and ``7d`` written without a blank are minutes and days."""
    folded = " ".join(written.lower().split())
    if folded == "m":
        return "min" if attached else "metre"
    return CANONICAL.get(folded, folded)


def plain_number(digits: str, multiplier: str = "") -> str:
    """``1,000.50`` → ``1000.5``; with ``萬`` → ``10005000``."""
    try:
        value = Decimal(digits.replace(",", "").replace("−", "-").replace("_", ""))
    except InvalidOperation:
        return digits
    value *= _MULTIPLIERS.get(multiplier.lower(), 1)
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def chinese_number(text: str) -> int | None:
    """``三百二十五`` → 325, ``二〇二六`` → 2026; None for what is no numeral."""
    if not text:
        return None
    if all(char in _DIGITS for char in text):
        return int("".join(str(_DIGITS[char]) for char in text))
    total = part = digit = 0
    for char in text:
        if char in _DIGITS:
            digit = _DIGITS[char]
        elif char in _TENS:
            part += (digit or 1) * _TENS[char]
            digit = 0
        elif char in _MYRIADS:
            total += (part + digit or 1) * _MYRIADS[char]
            part = digit = 0
        else:
            return None
    return total + part + digit
