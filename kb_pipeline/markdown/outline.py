"""What one parse of a body tells: headings, sections, links, fences, tables, first paragraph (SPEC 4).

Belongs here: the block structure, taken from markdown-it-py, and what is read off it. The parser's inline pass is left
out, since a body's links are found by ``inline_links`` and only headings need their markup dropped. Does not belong
here: front matter, judging what was found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from kb_pipeline.markdown.inline_links import Region, scan_links
from kb_pipeline.markdown.slugs import heading_slug
from kb_pipeline.models import BodyOutline, CodeFence, Heading, Section, Table

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LEAD = "_lead"
"""Section id of what stands before the first section."""
UNTITLED = "untitled"
"""Name of a heading without text."""
_DEEPEST_BLOCK = 100
_LONGEST_MARKUP = 1_000
"""Code points of inline text up to which markup is dropped by the parser; its cost grows faster than the length."""
_MARKUP = re.compile(r"[\\`*\[\]<&!~]|(?<!\w)_|_(?!\w)")
_SIMPLE = re.compile(
    r"(?<!`)`([^`\n]+)`(?!`)"
    r"|(?<!!)\[([^\[\]`*_<&\\!~]+)\]\([^()\s<>\\&]+\)"
    r"|(?<![*\w])\*\*([^\W_](?:[\w \-./，、。：]*[^\W_])?)\*\*(?![*\w])"
    r"|(?<!!)\[\[([^\[\]|\n]+)(?:\|([^\[\]|\n]+))?\]\](?!\()"
    r"|<a (?:name|id)=\"[\w.:-]*\">[ ]?</a>"
)
"""Markup so plain that its text is what stands inside; all else is left to the parser, which is ten times as slow."""
_WIKI = re.compile(r"!?\[\[([^\[\]|\n]*)(?:\|([^\[\]\n]*))?\]\]")
_CELLS = frozenset({"td", "th"})
_LISTS = frozenset({"bullet_list_open", "bullet_list_close", "ordered_list_open", "ordered_list_close"})
_CJK_BREAK = re.compile("(?<=[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef])\n(?=[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef])")


def parse_body(body: str, first_line: int = 1) -> BodyOutline:
    """Parse a body (LF line ends) that begins in line ``first_line`` of its file.

    Only headings that are blocks of their own count; one inside a list item or a quotation is part of its text. The
    sections' heading lines and texts, joined, are the body again.
    """
    md = _parser()
    env: dict[str, Any] = {}
    starts = _line_starts(body)
    blocks = _Blocks(md, env, starts, first_line)
    blocks.read(md.block.parse(body, md, env, []) or [])
    references = env.get("references", {})
    regions = blocks.regions + _footnotes(references, starts)
    destinations = {label: str(reference["href"]) for label, reference in references.items()}
    return BodyOutline(
        tuple(placed.heading for placed in blocks.headings),
        tuple(_sections(body, starts, blocks.headings, first_line)),
        scan_links(body, regions, starts, first_line, destinations),
        tuple(blocks.fences),
        tuple(blocks.tables),
        blocks.first_paragraph,
    )


@dataclass(frozen=True, slots=True)
class _Placed:
    """A heading and the lines it takes in the body, ``begin`` to before ``end``, 0-based."""

    heading: Heading
    begin: int
    end: int


class _Blocks:
    """Collects from the parser's block tokens."""

    def __init__(self, md: MarkdownIt, env: dict[str, Any], starts: Sequence[int], first_line: int) -> None:
        self._md = md
        self._env = env
        self._starts = starts
        self._first_line = first_line
        self._anchors: dict[str, int] = {}
        self._lists = 0
        self._has_paragraph = False
        self.first_paragraph = ""
        self.headings: list[_Placed] = []
        self.fences: list[CodeFence] = []
        self.tables: list[Table] = []
        self.regions: list[Region] = []

    def read(self, tokens: Sequence[Token]) -> None:
        opener = tokens[0] if tokens else None
        for token in tokens:
            kind = token.type
            if kind == "inline":
                # A row is read once and as a whole, not cell by cell.
                if opener is not None and opener.tag not in _CELLS:
                    self._inline(token, opener)
            elif kind == "tr_open":
                begin, end = _lines(token)
                self.regions.append(Region(self._starts[begin], self._starts[end], is_row=True))
            elif kind == "fence":
                self._fence(token)
            elif kind == "table_open":
                begin, end = _lines(token)
                self.tables.append(Table(begin + self._first_line, end + self._first_line - 1))
            elif kind in _LISTS:
                self._lists += token.nesting
            opener = token

    def _inline(self, token: Token, opener: Token) -> None:
        begin, end = _lines(token)
        self.regions.append(Region(self._starts[begin], self._starts[end]))
        if opener.type == "paragraph_open":
            if not self._has_paragraph and not self._lists:
                self._has_paragraph = True
                self.first_paragraph = self._plain(token.content)
        elif opener.type == "heading_open" and opener.level == 0:
            text = self._plain(token.content) or UNTITLED
            slug = _unique(heading_slug(text), self._anchors)
            begin, end = _lines(opener)
            heading = Heading(int(opener.tag[1]), text, slug, begin + self._first_line)
            self.headings.append(_Placed(heading, begin, end))

    def _fence(self, token: Token) -> None:
        begin, end = _lines(token)
        words = token.info.split(maxsplit=1)
        language = words[0] if words else ""
        self.fences.append(CodeFence(language, begin + self._first_line, end + self._first_line - 1))

    def _plain(self, content: str) -> str:
        """Inline text without its markup, on one line."""
        if not _MARKUP.search(content):
            return " ".join(content.split()) if "\n" not in content else _one_line(content)
        if not _MARKUP.search(_SIMPLE.sub("", content)):
            return _one_line(_SIMPLE.sub(_shown, content))
        if len(content) <= _LONGEST_MARKUP:
            content = "".join(_texts(self._md.inline.parse(content, self._md, self._env, [])))
        return _one_line(_WIKI.sub(lambda found: found.group(2) or found.group(1), content))


def _shown(found: re.Match[str]) -> str:
    return next((group for group in reversed(found.groups()) if group), "")


def _one_line(text: str) -> str:
    return " ".join(_CJK_BREAK.sub("", text).split())


def _lines(token: Token) -> tuple[int, int]:
    begin, end = token.map or (0, 0)
    return begin, end


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # Past the nesting limit the parser drops the rest of the text; the preset's 20 is reached by nested lists.
    return MarkdownIt("commonmark", {"maxNesting": _DEEPEST_BLOCK}).enable("table")


def _line_starts(body: str) -> list[int]:
    """Offset of each line, and the body's length at the end, so that a line range is a slice."""
    return [0, *(found.end() for found in re.finditer("\n", body)), len(body)]


def _footnotes(references: dict[str, Any], starts: Sequence[int]) -> list[Region]:
    """``[^1]: [[page]]`` is a footnote with a link in it, though CommonMark reads a definition."""
    found = []
    for label, reference in references.items():
        if label.startswith("^"):
            first, last = reference["map"]
            found.append(Region(starts[first], starts[last]))
    return found


def _unique(slug: str, taken: dict[str, int]) -> str:
    """GitHub's way: the second ``a`` is ``a-1``, also when a heading is itself named so."""
    name = slug
    while name in taken:
        taken[slug] += 1
        name = f"{slug}-{taken[slug]}"
    taken[name] = 0
    return name


def _sections(body: str, starts: Sequence[int], placed: Sequence[_Placed], first_line: int) -> Iterator[Section]:
    """The lead, then each H2, H3, H4 with its own text; a further H1 begins a section too."""
    title = placed[0] if placed and placed[0].heading.level == 1 else None
    cuts = [each for each in placed if each.heading.level <= 4 and each is not title]
    # The H1 is the lead's heading line; text before it is part of the lead, and then the H1 is as well.
    lead_begin = title.end if title and not body[: starts[title.begin]].strip() else 0
    behind = body.count("\n") + (not body.endswith("\n"))
    ends = [each.begin for each in cuts] + [behind]
    yield Section(
        section_id=LEAD,
        slug="",
        level=1,
        title=title.heading.text if title else "",
        parent=None,
        breadcrumb=(),
        text=body[starts[lead_begin] : starts[ends[0]]],
        line=first_line,
        end_line=ends[0] + first_line - 1,
    )
    taken = {LEAD: 1}
    above: list[Section] = []
    for each, end in zip(cuts, ends[1:], strict=True):
        heading = each.heading
        while above and above[-1].level >= heading.level:
            above.pop()
        parent = above[-1] if above else None
        name = heading_slug(heading.text)
        section = Section(
            section_id=_section_id(f"{parent.section_id}/{name}" if parent else name, taken),
            slug=heading.slug,
            level=heading.level,
            title=heading.text,
            parent=parent.section_id if parent else None,
            breadcrumb=(*parent.breadcrumb, heading.text) if parent else (heading.text,),
            text=body[starts[each.end] : starts[end]],
            line=each.begin + first_line,
            end_line=end + first_line - 1,
        )
        above.append(section)
        yield section


def _section_id(wanted: str, taken: dict[str, int]) -> str:
    name = wanted
    while name in taken:
        taken[wanted] += 1
        name = f"{wanted}-{taken[wanted]}"
    taken[name] = 1
    return name


def _texts(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type in {"text", "code_inline", "text_special"}:
            yield token.content
        elif token.type in {"softbreak", "hardbreak"}:
            yield "\n"
        elif token.type == "image":
            yield from _texts(token.children or [])
