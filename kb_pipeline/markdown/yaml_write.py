"""Write YAML values as one canonical text: the same bytes for the same value, read back equal by every YAML loader.

Belongs here: quoting of scalars, lists, small mappings, comments. Does not belong here: where they stand in a page
(``pages``, ``front_matter_edit``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date

# A plain scalar may hold neither ": " nor " #", and may not begin with an indicator, blank or look like another type.
_INDICATOR = "!&*?|>@`%{}[],#\"'-:=<~. "
_NEEDS_QUOTES = re.compile(r":(?:\s|$)|\s#|\s$|^\s|^---|^\.\.\.|[\t]")
_FLOW_MARKS = re.compile(r"[,\[\]{}:#\"']")
# Everything YAML 1.1 or 1.2 loaders would turn into a number, date, boolean, null or merge key.
_OTHER_TYPE = re.compile(
    r"[-+]?(?:[0-9][0-9_,]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:e[-+]?[0-9]+)?$"
    r"|[-+]?0[box][0-9a-f_]+$"
    r"|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$"
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:$|[t \t][ \t]*[0-9])"
    r"|(?:[-+]?\.(?:inf|nan)|y|n|yes|no|on|off|true|false|null|~|<<|=)$",
    re.IGNORECASE,
)
_FOLDED = re.compile("[\\s\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]*[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029][\\s]*")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff\ufeff]")


def one_line(text: str) -> str:
    """A text as front matter keeps it: line breaks folded to one space each, control characters gone to a space."""
    if text.isprintable():
        return text
    return _CONTROL.sub(" ", _FOLDED.sub(" ", text))


def scalar(value: object, *, flow: bool = False) -> str:
    """One scalar on one line, quoted only where it has to be. ``flow``: it stands inside ``[…]`` or ``{…}``."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, (int, float)):
        return str(value)
    text = one_line(str(value))
    if not _must_quote(text, flow):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def quoted(value: object, style: str | None) -> str:
    """One scalar in the quotes its predecessor had: ``style`` is ``'``, ``"`` or None."""
    if not isinstance(value, str) or style not in {"'", '"'}:
        return scalar(value)
    text = one_line(value)
    if style == "'":
        return "'" + text.replace("'", "''") + "'"
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def flow_list(values: Sequence[object]) -> str:
    """``[a, b]``; scalars, and lists or mappings of them."""
    return "[" + ", ".join(_flow(value) for value in values) + "]"


def entry(key: str, value: object, comments: Sequence[str | None] = ()) -> list[str]:
    """The lines of ``key: value`` at the top level of a block mapping, without line ends.

    Lists of scalars are written ``[a, b]`` unless an item has a comment or ``related`` asks for one item a line;
    lists of mappings and mappings are indented blocks.
    """
    name = scalar(key)
    if isinstance(value, Mapping):
        if not value:
            return [f"{name}: {{}}"]
        return [f"{name}:", *(f"  {line}" for key_, item in value.items() for line in entry(str(key_), item))]
    if isinstance(value, Sequence) and not isinstance(value, str):
        if not value:
            return [f"{name}: []"]
        if any(comments) or any(isinstance(item, Mapping) for item in value):
            return [f"{name}:", *(f"  {line}" for line in block_items(value, comments))]
        return [f"{name}: {flow_list(value)}"]
    return [f"{name}: {scalar(value)}"]


def block_items(values: Sequence[object], comments: Sequence[str | None] = ()) -> list[str]:
    """``- item`` lines, each followed by its comment if it has one."""
    lines: list[str] = []
    for position, value in enumerate(values):
        comment = comments[position] if position < len(comments) else None
        if isinstance(value, Mapping) and value:
            inner = [line for key, item in value.items() for line in entry(str(key), item)]
            lines += [("- " if number == 0 else "  ") + line for number, line in enumerate(inner)]
        else:
            lines.append(f"- {_flow(value) if _is_nested(value) else scalar(value)}{trailing(comment)}")
    return lines


def trailing(comment: str | None) -> str:
    """A comment behind a value, two spaces before it; "" for none."""
    text = one_line(comment).strip() if comment else ""
    return f"  # {text}" if text else ""


def _is_nested(value: object) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, Sequence) and not isinstance(value, str))


def _flow(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{scalar(key, flow=True)}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return flow_list(value)
    return scalar(value, flow=True)


def _must_quote(text: str, flow: bool) -> bool:
    if not text or text[0] in _INDICATOR:
        return True
    if _NEEDS_QUOTES.search(text) or _OTHER_TYPE.match(text):
        return True
    return flow and _FLOW_MARKS.search(text) is not None
