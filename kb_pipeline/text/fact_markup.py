"""Which parts of a markdown text are code, and which are markup that tells nothing about its subject.

Belongs here: a line scan that is good enough to look for facts, with offsets kept. Does not belong here: the document
model (``markdown.outline``); this one needs no parse and reads raw text, pages and drafts alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kb_pipeline.text.backticks import code_spans

Found = tuple[int, int, str]
"""Something found in a text: start, end, normal form."""

HIDDEN = "\0"
"""Stands for each character that must not be read as text: no word, digit, blank or mark."""

_FENCE = re.compile(r"^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}|~{3,})[ \t]*([\w+#.-]*)[^`\n]*$", re.MULTILINE)
_DIRECTIVE = re.compile(r"^[ \t]*:::[^\n]*", re.MULTILINE)
"""Lines such as ``:::image type="content" … :::``."""

_TARGET = re.compile(
    r"\]\((?P<target><[^>\n]*>|[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+[\"'(][^\n]*?[\"')])?\)"
    r"|!?\[\[(?P<wiki>[^\[\]|\n]*)(?=[\]|])"
    r"|^\s{0,3}\[[^\]\n]+\]:\s*(?P<defined>\S+)",
    re.MULTILINE,
)
_ORDINAL = re.compile(
    r"^[ \t>]*(?:\#{1,6}[ \t]+(?:<[^>\n]+>[ \t]*(?:</a>)?)?(?:(?:\d+\.)*\d+[.、)]?(?=[ \t])|\d+[.、)]|第\s*[\d一二三四五六七八九十百]+\s*[章節步部篇])"
    r"|(?:[-*+][ \t]+)?\(?\d{1,3}(?:[.)](?=[ \t])|、))"
    r"|\[\^?\d{1,3}\](?!\()"
    r"|(?<![A-Za-z0-9])(?:Step|Figure|Fig\.|Table|Chapter|Section|Part|Phase|Appendix|Note|圖|表|步驟|附錄|圖表)\s?\d{1,3}(?![A-Za-z0-9_.%])",
    re.MULTILINE,
)
_TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9]*(?=[\s/>])[^<>\n]*>")


_DIGIT = re.compile(r"\d")


def digit_lines(text: str) -> Iterator[tuple[int, str]]:
    """Offset and text of each line with a digit in it: the only ones where most patterns can match."""
    position = 0
    while (match := _DIGIT.search(text, position)) is not None:
        start = text.rfind("\n", 0, match.start()) + 1
        end = text.find("\n", match.start())
        end = len(text) if end < 0 else end
        yield start, text[start:end]
        position = end


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced block: its language (lower case), and the offsets of what stands between the fences."""

    language: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Markup:
    """``prose`` is the text outside fences, ``code`` the text inside them; all else is HIDDEN, line breaks stay."""

    prose: str
    fences: tuple[Fence, ...]
    spans: tuple[tuple[int, int, int, int], ...]
    """Code spans in prose: start, end, start and end of the content."""


def read_markup(text: str) -> Markup:
    """Offsets in all parts are those of ``text``."""
    fences = tuple(_fences(text)) if "```" in text or "~~~" in text else ()
    parts, position = [], 0
    for fence in fences:
        parts += [text[position : fence.start], hide(text[fence.start : fence.end])]
        position = fence.end
    prose = "".join(parts) + text[position:]
    for opening, closing in (("<!--", "-->"), ("%%", "%%")):
        prose = _without(prose, opening, closing)
    if ":::" in prose:
        prose = _DIRECTIVE.sub(lambda match: hide(match.group()), prose)
    prose = _ORDINAL.sub(lambda match: hide(match.group()), prose)
    return Markup(prose, fences, tuple(_spans(prose)))


def _spans(prose: str) -> Iterator[tuple[int, int, int, int]]:
    """Code spans of each line by itself: a stray backtick spoils its own line only."""
    offset = 0
    for line in prose.split("\n") if "`" in prose else ():
        if "`" in line:
            for start, end, content, content_end in code_spans(line):
                yield offset + start, offset + end, offset + content, offset + content_end
        offset += len(line) + 1


def _without(text: str, opening: str, closing: str) -> str:
    """Comments hidden; one that is never closed is text."""
    parts, position = [], 0
    start = text.find(opening)
    while start >= 0:
        end = text.find(closing, start + len(opening))
        if end < 0:
            break
        end += len(closing)
        parts += [text[position:start], hide(text[start:end])]
        position = end
        start = text.find(opening, end)
    return "".join(parts) + text[position:] if parts else text


def hide_links(text: str) -> str:
    """Targets of links inside the wiki hidden, labels kept: the link pass rewrites them, they are no facts."""
    if "](" in text or "[[" in text or "]:" in text:
        text = _TARGET.sub(_hide_target, text)
    return _TAG.sub(lambda match: hide(match.group()), text) if "<" in text else text


def _hide_target(match: re.Match[str]) -> str:
    whole = match.group()
    for name in ("target", "wiki", "defined"):
        if match[name] is not None:
            start = match.start(name) - match.start()
            end = match.end(name) - match.start()
            if name == "target":
                end = len(whole)
            return whole[:start] + hide(whole[start:end]) + whole[end:]
    return whole


def hide(text: str) -> str:
    """As long as ``text``, with its line breaks only."""
    if "\n" not in text:
        return HIDDEN * len(text)
    return "\n".join(HIDDEN * len(line) for line in text.split("\n"))


def _fences(text: str) -> Iterator[Fence]:
    opened: re.Match[str] | None = None
    for match in _FENCE.finditer(text):
        if opened is None:
            opened = match
        elif match[1][0] == opened[1][0] and len(match[1]) >= len(opened[1]) and not match[2]:
            start = opened.end() + 1
            yield Fence(opened[2].lower(), min(start, match.start()), match.start())
            opened = None
    if opened is not None and opened.end() < len(text):
        yield Fence(opened[2].lower(), opened.end() + 1, len(text))
