"""Find the links in a body, with their exact place, in one pass over its inline text (SPEC 4 "Links").

Belongs here: wikilinks, embeds, markdown links, pictures, reference links; what hides them: code spans, comments, math,
raw HTML, escapes. Works on the source itself, not on a renderer's tokens, since a link has to be replaceable where it
stands. Does not belong here: which parts of a body are inline text (``outline``), where a link leads (``links``).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from kb_pipeline.markdown.destinations import read_destination, unescaped
from kb_pipeline.models import Link, LinkKind

_MARK = re.compile(r"\\|`+|<|%%|\$\$?|!?\[\[?|\]")
_WIKI = re.compile(r"\[\[((?:(?!\[\[|\]\])[^\n])+)\]\]")
_HTML = re.compile(
    r"<[A-Za-z][A-Za-z0-9-]*(?:\s+[A-Za-z_:][\w.:-]*(?:\s*=\s*(?:[^\s\"'=<>`]+|'[^']*'|\"[^\"]*\"))?)*\s*/?>"
    r"|</[A-Za-z][A-Za-z0-9-]*\s*>"
    r"|<[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*>"
)
_HTML_OPENING = re.compile(r"<(?:!--|\?|!\[CDATA\[|!(?=[A-Za-z]))")
_HTML_ENDS = {"<!--": "-->", "<?": "?>", "<![CDATA[": "]]>", "<!": ">"}
_LABEL = re.compile(r"\[((?:\\.|[^\[\]\\]){0,999})\]", re.DOTALL)
_LABEL_BREAK = re.compile(r"[ \t]*\n[ \t>]*")
_INLINE_MATH = re.compile(r"\$(?![\s$])(?:\\.|[^$\\\n])*?(?<![\s\\])\$(?!\d)")
_CELL_END = re.compile(r"(?<!\\)\|")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|//")
_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_TABLE_OF_CONTENTS = "_TOC_"
"""What GitLab replaces by the page's headings."""
_LONGEST_LABEL = 999
_DEEPEST = 64
"""Brackets that can be open at once; more is no writing by a person."""


@dataclass(frozen=True, slots=True)
class Region:
    """A stretch of inline text: code point offsets in the body. ``is_row``: a table row, whose cells are split first."""

    start: int
    end: int
    is_row: bool = False


@dataclass(slots=True)
class _Bracket:
    position: int
    after: int
    is_image: bool
    active: bool = True


def scan_links(
    body: str,
    regions: Sequence[Region],
    line_starts: Sequence[int],
    first_line: int,
    references: Mapping[str, str],
) -> tuple[Link, ...]:
    """All links of the regions in order of their start. ``references``: destination by normalised label."""
    scanner = _Scanner(body, line_starts, first_line, references)
    scanner.scan(regions)
    return tuple(sorted(scanner.found, key=lambda link: (link.start, -link.end)))


class _Scanner:
    def __init__(self, body: str, line_starts: Sequence[int], first_line: int, references: Mapping[str, str]) -> None:
        self._body = body
        self._starts = line_starts
        self._first_line = first_line
        self._references = references
        self._unclosed: dict[str, int] = {}
        self.found: list[Link] = []

    def scan(self, regions: Sequence[Region]) -> None:
        body = self._body
        literal: set[str] = set()
        hides = "%%" in body or "$$" in body
        number = 0
        resume: int | None = None
        while number < len(regions):
            region = regions[number]
            begin = region.start if resume is None else resume
            resume = None
            if not hides and body.find("[", begin, region.end) < 0:
                number += 1
                continue
            opened = self._region(region, begin, literal)
            number += 1
            if opened is None:
                continue
            # A comment or formula that begins here and ends in a later block; without an end it is plain text.
            mark, position = opened
            later = self._closing_region(mark, regions, number)
            if later is None:
                literal.add(mark)
                self.found = [link for link in self.found if link.start < position]
                number, resume = number - 1, position
            else:
                number, resume = later

    def _closing_region(self, mark: str, regions: Sequence[Region], number: int) -> tuple[int, int] | None:
        for later in range(number, len(regions)):
            position = self._body.find(mark, regions[later].start, regions[later].end)
            if position >= 0:
                return later, position + len(mark)
        return None

    def _region(self, region: Region, begin: int, literal: set[str]) -> tuple[str, int] | None:
        """Scan one region. Tells a mark that opened and was not closed in it."""
        body, end = self._body, region.end
        brackets: list[_Bracket] = []
        ticks: dict[int, list[int]] | None = None
        position = begin
        while found := _MARK.search(body, position, end):
            mark, at = found.group(), found.start()
            first = mark[0]
            if first in "![":
                position = self._open(brackets, at, mark, end)
            elif first == "]":
                position = self._close(brackets, at, end)
            elif first == "`":
                if ticks is None:
                    ticks = _tick_runs(body, begin, end)
                position = self._after_code(ticks, at, len(mark), region)
            elif mark in {"%%", "$$"} and mark not in literal:
                close = body.find(mark, at + 2, end)
                if close < 0 and not body[region.start : at].rpartition("\n")[2].strip(" \t>"):
                    return mark, at
                position = (at if close < 0 else close) + 2
            else:
                position = self._after_plain(mark, at, end)
        return None

    def _after_plain(self, mark: str, at: int, end: int) -> int:
        """Behind an escape, raw HTML, or a formula within its line; behind the mark itself if it begins none."""
        body = self._body
        if mark == "\\":
            return at + 1 + (at + 1 < end and body[at + 1] in _PUNCTUATION)
        if mark == "<":
            return self._after_html(at, end)
        if mark == "$" and not (at and body[at - 1].isalnum()):
            math = _INLINE_MATH.match(body, at, end)
            # "$5, [[plan]], 10$" names prices around a link.
            if math and not (body[at + 1].isdigit() and "[[" in math.group()):
                return math.end()
        return at + len(mark)

    def _after_html(self, at: int, end: int) -> int:
        found = _HTML_OPENING.match(self._body, at, end)
        if found:
            # Looked for once: many openings without an end would cost their number times the length.
            opening, begin = found.group(), found.end()
            closing = _HTML_ENDS[opening]
            close = -1 if self._unclosed.get(opening) == end else self._body.find(closing, begin, end)
            if close < 0:
                self._unclosed[opening] = end
            return begin if close < 0 else close + len(closing)
        html = _HTML.match(self._body, at, end)
        return html.end() if html else at + 1

    def _after_code(self, ticks: dict[int, list[int]], at: int, length: int, region: Region) -> int:
        places = ticks.get(length, [])
        index = bisect_right(places, at)
        if index == len(places):
            return at + length
        close = places[index]
        if region.is_row and _CELL_END.search(self._body, at, close):
            return at + length
        return close + length

    def _open(self, brackets: list[_Bracket], at: int, mark: str, end: int) -> int:
        is_image = mark[0] == "!"
        inner = at + is_image
        if mark.endswith("[["):
            wiki = _WIKI.match(self._body, inner, end)
            if wiki:
                close = wiki.end()
                # "[[b#[x]]]": the first of three closing brackets belongs to the heading.
                content = wiki.group(1)
                if content.count("[") > content.count("]") and self._body.startswith("]", close):
                    content, close = content + "]", close + 1
                if not self._is_bracketed_label(close, end) and self._wikilink(content, at, close, is_image):
                    if not is_image:
                        _deactivate(brackets)
                    return close
        if len(brackets) < _DEEPEST:
            brackets.append(_Bracket(at, inner + 1, is_image))
        return inner + 1

    def _is_bracketed_label(self, close: int, end: int) -> bool:
        """``[[1]](url)`` is a markdown link whose text is "[1]"."""
        return self._body.startswith("(", close) and read_destination(self._body, close, end) is not None

    def _wikilink(self, content: str, start: int, end: int, is_embed: bool) -> bool:
        target, _, label = content.replace("\\|", "|").partition("|")
        name, hash_mark, anchor = target.partition("#")
        name, anchor = name.strip(), anchor.lstrip("#").strip()
        if not (name or anchor) or name == _TABLE_OF_CONTENTS:
            return False
        kind = LinkKind.EMBED if is_embed else LinkKind.WIKILINK
        self._add(kind, name, anchor if hash_mark and anchor else None, label.strip() or None, start, end)
        return True

    def _close(self, brackets: list[_Bracket], at: int, end: int) -> int:
        if not brackets:
            return at + 1
        bracket = brackets.pop()
        if not bracket.active:
            return at + 1
        written = self._written_target(bracket, at, end)
        if written is None:
            return at + 1
        destination, close = written
        target, hash_mark, anchor = destination.partition("#")
        kind = LinkKind.IMAGE if bracket.is_image else LinkKind.MARKDOWN
        label = unescaped(_LABEL_BREAK.sub(" ", self._body[bracket.after : at])).strip() or None
        if "%" in destination and not _SCHEME.match(destination):
            # A URL is somebody else's address: it stays as written.
            target, anchor = unquote(target), unquote(anchor)
        if target or anchor:
            self._add(kind, target, anchor if hash_mark and anchor else None, label, bracket.position, close)
        if not bracket.is_image:
            _deactivate(brackets)
        return close

    def _written_target(self, bracket: _Bracket, at: int, end: int) -> tuple[str, int] | None:
        """Destination and end of the link whose text ends at ``at``; None when the brackets are plain text."""
        inline = read_destination(self._body, at + 1, end)
        if inline is not None or not self._references:
            return inline
        label = _LABEL.match(self._body, at + 1, end)
        text = label.group(1) if label and label.group(1).strip() else self._body[bracket.after : at]
        if text.startswith("^") or len(text) > _LONGEST_LABEL:
            return None
        from markdown_it.common.utils import normalizeReference

        href = self._references.get(normalizeReference(text))
        return None if href is None else (href, label.end() if label else at + 1)

    def _add(self, kind: LinkKind, target: str, anchor: str | None, label: str | None, start: int, end: int) -> None:
        line = bisect_right(self._starts, start) - 1 + self._first_line
        self.found.append(Link(kind, target, anchor, label, line, start, end))


def _deactivate(brackets: list[_Bracket]) -> None:
    """Links do not hold links: the brackets around one are text, except those of a picture."""
    for bracket in brackets:
        if not bracket.is_image:
            bracket.active = False


def _tick_runs(body: str, start: int, end: int) -> dict[int, list[int]]:
    """Where runs of backticks begin, by their length."""
    runs: dict[int, list[int]] = {}
    for found in re.finditer("`+", body[start:end]):
        runs.setdefault(len(found.group()), []).append(found.start() + start)
    return runs
