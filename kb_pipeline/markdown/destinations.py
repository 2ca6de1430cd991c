"""The part of a markdown link in round brackets: ``(destination "title")``, as CommonMark reads it.

Belongs here: where it ends and what it says. Does not belong here: the text of the link, finding links
(``inline_links``).
"""

from __future__ import annotations

import re

_BEGIN = re.compile(r"\(\s*(?:<((?:\\.|[^<>\\\n])*)>)?")
_INSIDE = re.compile(r"\\.|[()\s]")
_TITLE = re.compile(r"(?:\s+(?:\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|\((?:\\.|[^()\\])*\)))?\s*\)", re.DOTALL)
_DEEPEST = 32
"""Brackets inside a bare destination."""


def read_destination(text: str, at: int, end: int) -> tuple[str, int] | None:
    """Destination and offset behind the closing bracket, for an opening one at ``at``; None when it is no such part.

    Backslashes and entities are resolved, per cent signs are not.
    """
    found = _BEGIN.match(text, at, end)
    if not found:
        return None
    written, close = found.group(1), found.end()
    if written is None:
        begin, close = close, _end_of_bare(text, close, end)
        written = text[begin:close]
    title = _TITLE.match(text, close, end)
    return (unescaped(written), title.end()) if title else None


def unescaped(text: str) -> str:
    """A text with its backslash escapes and entities resolved."""
    if "\\" not in text and "&" not in text:
        return text
    from markdown_it.common.utils import unescapeAll

    return unescapeAll(text)


def _end_of_bare(text: str, begin: int, end: int) -> int:
    """Where a destination without angle brackets ends: at a blank, or at the bracket that closes the link."""
    depth = 0
    for found in _INSIDE.finditer(text, begin, end):
        mark = found.group()
        if mark == "(":
            depth += 1
        elif mark == ")":
            depth -= 1
        if mark.isspace() or depth < 0 or depth > _DEEPEST:
            return found.start()
    return end
