"""Drops what markdown adds around the words, so that a vector is made of the words (SPEC 12 "embedded text").

What belongs here: marks, targets of links, comments, table rules. What does not: meaning; no word of the text is
dropped, and the text that is stored and shown stays as written. Pure; linear in the length of any input.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_FENCE = re.compile(r"[ \t]{0,3}(?:>[ \t]?)*[ \t]*(`{3,}|~{3,})(.*)$")
_RULE = re.compile(
    r"^[ \t>]*(?:(?:[-*_=][ \t]*){3,}|\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)+\|?[ \t]*)$", re.MULTILINE
)
_BEFORE = re.compile(r"^[ \t]*(?:(?:>|[-*+]|\#{1,6})[ \t]+|>)+(?:\[[ xX]\][ \t]+|\[![A-Za-z]+\][-+]?)?", re.MULTILINE)
_IMAGE_OR_LINK = re.compile(r"!?\[([^\[\]\n]*)\](?:\((?:[^()\n]|\([^()\n]*\))*\)|\[[^\[\]\n]*\])")
_WIKILINK = re.compile(r"!?\[\[([^\[\]|\n]*)(?:\\?\|([^\[\]\n]*))?\]\]")
# Named one by one: <your-token> and List<String> are words.
_TAG = re.compile(
    r"</?(?:a|abbr|b|blockquote|br|center|code|dd|del|details|div|dl|dt|em|figure|figcaption|font|h[1-6]|hr|i|iframe|img|ins"
    r"|kbd|li|mark|ol|p|pre|s|section|small|source|span|strong|sub|summary|sup|table|tbody|td|tfoot|th|thead|tr|u|ul|video)"
    r"(?:[\s/][^<>\n]{0,500})?/?>",
    re.IGNORECASE,
)
_ROW = re.compile(r"^.*\|.*$", re.MULTILINE)
_CELL = re.compile(r"[ \t]*(?<!\\)\|[ \t]*")
_MARKS = re.compile(r"\\([!-/:-@\[-`{-~])|\*{1,3}|~~|`+")
_UNDERSCORES = re.compile(r"_+")
_BLANKS = re.compile(r"[ \t\u00a0\u3000]{2,}|[\t\u00a0\u3000]")
_LINE_ENDS = re.compile(r" ?\n[ \n]*")
_INVISIBLE = re.compile("[\x00-\x08\x0b-\x1f\x7f\u200b\u2060\ufeff\u00ad]+")
_COMMENTS = (("<!--", "-->"), ("%%", "%%"))


def reduce_markdown(text: str, fence: str = "") -> tuple[str, str]:
    """The words of a piece of markdown, and the fence that is still open at its end.

    ``fence``: the one that is open where the piece begins (a long code block was cut): its lines are code.
    """
    if fence or "```" in text or "~~~" in text:
        pieces = []
        for is_code, block, open_fence in _blocks(text, fence):
            pieces.append(block if is_code else _words(block))
            fence = open_fence
        text = "\n".join(pieces)
    else:
        text = _words(text)
    if _INVISIBLE.search(text):
        text = _INVISIBLE.sub("", text)
    return _LINE_ENDS.sub("\n", _BLANKS.sub(" ", text)).strip(), fence


def _blocks(text: str, fence: str) -> Iterator[tuple[bool, str, str]]:
    """Runs of lines: whether they are code, the lines without the fences themselves, the fence open behind them."""
    lines: list[str] = []
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                yield True, "\n".join(lines), ""
                lines, fence = [], ""
            else:
                lines.append(line)
        elif mark and not (mark[1][0] == "`" and "`" in mark[2]):
            yield False, "\n".join(lines), mark[1]
            lines, fence = [], mark[1]
        else:
            lines.append(line)
    yield bool(fence), "\n".join(lines), fence


def _words(block: str) -> str:
    for begin, end in _COMMENTS:
        if begin in block:
            block = _without(block, begin, end)
    block = _BEFORE.sub("", _RULE.sub("", block))
    if "[" in block:
        block = _WIKILINK.sub(lambda link: link[2] or link[1].replace("#", " ").strip(), block)
        block = _IMAGE_OR_LINK.sub(r"\1", block)
    if "<" in block:
        block = _TAG.sub(" ", block)
    if "|" in block:
        block = _ROW.sub(lambda row: _CELL.sub(", ", row[0].strip(" \t|")), block)
    block = _MARKS.sub(r"\1", block)
    if "_" in block:
        block = _UNDERSCORES.sub(_inside_word, block)
    return block


def _inside_word(match: re.Match[str]) -> str:
    """Underscores of a name are kept, those of emphasis are not."""
    text, begin, end = match.string, match.start(), match.end()
    joined = begin > 0 and end < len(text) and text[begin - 1].isalnum() and text[end].isalnum()
    return match[0] if joined else ""


def _without(text: str, begin: str, end: str) -> str:
    kept, at = [], 0
    while (start := text.find(begin, at)) >= 0:
        stop = text.find(end, start + len(begin))
        if stop < 0:
            break
        kept.append(text[at:start])
        at = stop + len(end)
    return "".join(kept) + text[at:]
