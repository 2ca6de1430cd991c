"""Drops what markdown adds around the words, so that a vector is made of the words (SPEC 12 "embedded text").

What belongs here: marks, targets of links, comments, table rules. What does not: meaning; no word of the text is
dropped, and the text that is stored and shown stays as written. Pure; linear in the length of any input.
"""

from __future__ import annotations

import re

_FENCE = re.compile(r"[ \t]{0,3}(?:>[ \t]?)*[ \t]*(`{3,}|~{3,})(.*)$")
_RULE = re.compile(r"[ \t>]*(?:(?:[-*_=][ \t]*){3,}|\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)+\|?[ \t]*)$")
_BEFORE = re.compile(r"[ \t]*(?:(?:>|[-*+]|\#{1,6})[ \t]+|>)*(?:\[[ xX]\][ \t]+|\[![A-Za-z]+\][-+]?)?[ \t]*")
_IMAGE_OR_LINK = re.compile(r"!?\[([^\[\]\n]*)\](?:\((?:[^()\n]|\([^()\n]*\))*\)|\[[^\[\]\n]*\])")
_WIKILINK = re.compile(r"!?\[\[([^\[\]|\n]*)(?:\\?\|([^\[\]\n]*))?\]\]")
# Named one by one: <your-token> and List<String> are words.
_TAG = re.compile(
    r"</?(?:a|abbr|b|blockquote|br|center|code|dd|del|details|div|dl|dt|em|figure|figcaption|font|h[1-6]|hr|i|iframe|img|ins"
    r"|kbd|li|mark|ol|p|pre|s|section|small|source|span|strong|sub|summary|sup|table|tbody|td|tfoot|th|thead|tr|u|ul|video)"
    r"(?:[\s/][^<>\n]{0,500})?/?>",
    re.IGNORECASE,
)
_MARKS = re.compile(r"\\([!-/:-@\[-`{-~])|\*{1,3}|~~|`+|(?<!\w)_{1,3}(?=\w)|(?<=\w)_{1,3}(?!\w)")
_CELLS = re.compile(r"[ \t]*(?<!\\)\|[ \t]*")
_BLANKS = re.compile(r"[ \t\u00a0\u3000]+")
_INVISIBLE = re.compile("[\x00-\x08\x0b-\x1f\x7f\u200b\u2060\ufeff\u00ad]+")
_COMMENTS = (("<!--", "-->"), ("%%", "%%"))


def reduce_markdown(text: str, fence: str = "") -> tuple[str, str]:
    """The words of a piece of markdown, and the fence that is still open at its end.

    ``fence``: the one that is open where the piece begins (a long code block was cut): its lines are code.
    """
    lines: list[str] = []
    for line in _without_comments(text, fence).split("\n"):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
            else:
                lines.append(line)
        elif mark and not (mark[1][0] == "`" and "`" in mark[2]):
            fence = mark[1]
        elif not _RULE.match(line):
            lines.append(_words(line))
    cleaned = (_BLANKS.sub(" ", _INVISIBLE.sub("", line)).strip() for line in lines)
    return "\n".join(line for line in cleaned if line), fence


def _words(line: str) -> str:
    line = line[_BEFORE.match(line).end() :]  # type: ignore[union-attr]  # it matches the empty text
    if "[" in line:
        line = _WIKILINK.sub(lambda link: link[2] or link[1].replace("#", " ").strip(), line)
        line = _IMAGE_OR_LINK.sub(r"\1", line)
    if "<" in line:
        line = _TAG.sub(" ", line)
    if "|" in line:
        line = _CELLS.sub(", ", line.strip(" \t|"))
    return _MARKS.sub(r"\1", line)


def _without_comments(text: str, fence: str) -> str:
    # Inside code a comment mark is code; telling the two apart costs more than the rare stray mark is worth.
    if fence or "```" in text or "~~~" in text:
        return text
    for begin, end in _COMMENTS:
        if begin not in text:
            continue
        kept, at = [], 0
        while (start := text.find(begin, at)) >= 0:
            stop = text.find(end, start + len(begin))
            if stop < 0:
                break
            kept.append(text[at:start])
            at = stop + len(end)
        text = "".join(kept) + text[at:]
    return text
