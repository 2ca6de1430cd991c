"""Settings: a named knob and its value, in prose and in configuration.

Belongs here: ``key=value``, ``key: value``, "`key` 設為 value", "key defaults to value", two-column table rows. Does not
belong here: numbers without a key (``quantities``).

Normal form: ``key=value``: the key without quotes, the value without quotes, a measured one as ``5 min``, truth values
in small letters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kb_pipeline.text.fact_markup import Found
from kb_pipeline.text.folding import fold
from kb_pipeline.text.quantities import find_numbers
from kb_pipeline.text.units import plain_number
from kb_pipeline.text.wordlists import word_set

_KEY = r"[A-Za-z_][A-Za-z0-9_]*(?:[.-][A-Za-z0-9_]+)*"
_SCALAR = r"(?:\"[^\"\n]{1,120}\"|'[^'\n]{1,120}'|[+-]?\d[A-Za-z0-9_.,%:/-]*(?:\s?(?:分鐘|秒鐘?|小時|毫秒|天|週|個月|年|次|筆|ms|sec(?:ond)?s?|min(?:ute)?s?|hours?|days?|MB|GB|KB|%))?|[A-Za-z_./~*@$-][^\s,;|`\u2e80-\uffff]*)"
_VERB = (
    r"(?:的)?(?:預設值?(?:是|為)|預設|設定?(?:為|成)|設成|改(?:為|成)|調(?:整)?(?:為|成|到)|等於|值(?:為|是)|上限(?:為|是)?"
    r"|(?:is\s+)?set\s+to|defaults?\s+to|default\s+(?:is|of)|=|equals)"
)
_VERB_HINTS = ("=", "設", "預", "改", "調", "等於", "值", "上限", "set to", "efault", "equals", "Set to")
_STATED = re.compile(
    rf"(?P<key>[A-Za-z_](?<![A-Za-z0-9_.-].)[A-Za-z0-9_]*(?:[.-][A-Za-z0-9_]+)*)(?P<tick>`?)\s*{_VERB}\s*[:：]?\s*(?P<tick2>`?)(?P<value>{_SCALAR})(?P=tick2)",
    re.IGNORECASE,
)
_ASSIGNED = re.compile(
    rf"(?<![A-Za-z0-9_.$/?&-])(?P<key>{_KEY})=(?P<value>\"[^\"\n]*\"|'[^'\n]*'|[^\s`\"',;)|&\u2e80-\uffff]+|[\u3400-\u9fff]+)"
)
_LINE = re.compile(
    rf"^[ \t>]*(?:[-*+][ \t]+)?(?P<open>\*\*|`|\"|')?(?P<key>{_KEY}(?:[ ]{_KEY}){{0,2}})(?(open)(?:\*\*|`|\"|'))[ \t]*(?P<joint>[:=])[ \t]+(?P<tick>`?)(?P<value>{_SCALAR})(?P=tick)[ \t]*[,;。.]?[ \t]*(?:[#(（][^\n]*)?$",
    re.MULTILINE,
)
_CHINESE_LINE = re.compile(
    r"^[ \t>]*(?:[-*+][ \t]+|\|[ \t]*)?(?:\*\*)?(?P<key>[\u4e00-\u9fffA-Za-z][\u4e00-\u9fffA-Za-z _-]{1,14})(?:\*\*)?[ \t]*:[ \t]*(?:\*\*)?(?P<value>\d[\d,.]*)(?:\*\*)?[ \t]*[。,;]?[ \t]*$",
    re.MULTILINE,
)
_ROW = re.compile(
    rf"^[ \t]*\|[ \t]*(?P<tick>`?)(?P<key>{_KEY})(?P=tick)[ \t]*\|[ \t]*(?P<tick2>`?)(?P<value>[+-]?\d[\d,.]*|true|false)(?P=tick2)[ \t]*(?=\|)",
    re.MULTILINE | re.IGNORECASE,
)
_PORTS = frozenset(("port", "ports", "连接埠", "通讯埠", "埠号", "端口", "埠"))
_TRUTH = word_set("true false on off yes no enabled disabled null none")
_TELLING_KEY = re.compile(r"[_.-]|[a-z][A-Z]|^[A-Z][A-Z0-9]+$")
_CONFIGURED = re.compile(
    rf"^(?P<lead>[ \t>]*(?:-[ \t]+)?(?:export[ \t]+|set[ \t]+|ENV[ \t]+)?)(?P<quote>[\"']?)(?P<key>{_KEY})(?P=quote)[ \t]*(?P<joint>:(?=[ \t])|=|:=)[ \t]*(?P<value>\S.*?)[ \t]*,?[ \t]*$"
)
_COMMENT = re.compile(r"[ \t]+(?:#|//).*$")
_TELLING_VALUE = re.compile(
    r"^[+-]?\d|^(?:true|false|on|off|yes|no|null|none|enabled|disabled)$|[_./@:\\-]|\d", re.IGNORECASE
)


def find_settings(text: str) -> Iterator[Found]:
    """Settings in prose (narrow)."""
    offset = 0
    for line in text.split("\n"):
        if any(hint in line for hint in _VERB_HINTS):
            for start, end, normal in _stated(line):
                yield offset + start, offset + end, normal
        offset += len(line) + 1
    if "=" in text:
        for match in _ASSIGNED.finditer(text):
            if match["value"][0] in "\"'" and match["key"].islower() and "_" not in match["key"]:
                continue  # an attribute of some markup: type="content"
            yield match.start(), match.end(), normal_setting(match["key"], match["value"])
    for match in _LINE.finditer(text):
        if _is_setting(match["key"], match["value"], stated=match["open"] == "`"):
            start = match.start("open") if match["open"] else match.start("key")
            yield start, match.end("value") + len(match["tick"]), normal_setting(match["key"], match["value"])
    for match in _CHINESE_LINE.finditer(text):
        yield match.start("key"), match.end("value"), normal_setting(fold(match["key"]), match["value"])
    for match in _ROW.finditer(text):
        yield match.start("key"), match.end("value"), normal_setting(match["key"], match["value"])


def _stated(line: str) -> Iterator[Found]:
    for match in _STATED.finditer(line):
        ticked = bool(match["tick"]) and line[match.start() - 1 : match.start()] == "`"
        telling = ticked or "=" in match.group() or _TELLING_KEY.search(match["key"]) is not None
        if telling and _is_setting(match["key"], match["value"], stated=True):
            yield match.start() - ticked, match.end(), normal_setting(match["key"], match["value"])


def _is_setting(key: str, value: str, *, stated: bool) -> bool:
    """Not every "Word: word" is one: the value is a number or truth value, or the key is spelled like an identifier."""
    plain = value.strip("\"'").lower()
    if re.match(r"[+-]?\d", plain) or plain in _TRUTH:
        return len(key) > 1
    return stated and _TELLING_VALUE.search(plain) is not None and _TELLING_KEY.search(key) is not None


def read_setting(line: str, *, loose: bool = True) -> tuple[int, int, str] | None:
    """Start, end and normal form of the setting on a line of configuration or in a code span.

    ``loose`` takes any key; without it a colon needs a telling value, since ``note: text`` is a phrase.
    """
    match = _CONFIGURED.match(line)
    if match is None or match["value"] in ("{", "[", "|", ">", "|-", ">-", "(", "&&"):
        return None
    value = _COMMENT.sub("", match["value"]) or match["value"]
    if not loose and (match["joint"] == ":" and (" " in value or not _TELLING_VALUE.search(value))):
        return None
    if not loose and (" " in value or "==" in line or match["joint"] == ":="):
        return None
    start = match.start("key") - len(match["quote"])
    return start, match.start("value") + len(value.rstrip(" \t,")), normal_setting(match["key"], value.rstrip(" \t,"))


def normal_setting(key: str, value: str) -> str:
    """A port is a number with a label, in a setting too: ``port: 8401`` and "連接埠 8401" are one fact."""
    name = " ".join(key.lower().split())
    if name in _PORTS or name.endswith("埠"):
        return f"port {normal_value(value)}"
    return f"{name}={normal_value(value)}"


def normal_value(value: str) -> str:
    """``"5 分鐘"`` → ``5 min``, ``1,000`` → ``1000``, ``True`` → ``true``."""
    plain = value.strip().strip("\"'`").rstrip(".。,;")
    if plain.lower() in _TRUTH:
        return plain.lower()
    if re.fullmatch(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[+-]?\d+(?:\.\d+)?", plain):
        return plain_number(plain) if plain.count(".") < 2 else plain
    for start, end, normal in find_numbers(plain):
        if start == 0 and end == len(plain):
            return normal
    return plain
