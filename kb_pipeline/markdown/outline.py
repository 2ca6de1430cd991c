"""What one parse of a body tells: headings, sections, links, fences, tables, first paragraph (SPEC 4).

Belongs here: the block structure, taken from markdown-it-py, and what is read off it. The parser's inline pass is left
out, since a body's links are found by ``inline_links`` and only headings need their markup dropped. Does not belong
here: front matter, judging what was found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate
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
_MAY_BE_MARKUP = re.compile(r"[\\`*_\[\]<&!~\n]")
_WIKI = re.compile(r"!?\[\[([^\[\]|\n]*)(?:\|([^\[\]\n]*))?\]\]")
_CJK_BREAK = re.compile("(?<=[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef])\n(?=[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef])")


def parse_body(body: str, first_line: int = 1) -> BodyOutline:
    """Parse a body (LF line ends) that begins in line ``first_line`` of its file.

    Only headings that are blocks of their own count; one inside a list item or a quotation is part of its text. The
    sections' heading lines and texts, joined, are the body again.
    """
    md = _parser()
    env: dict[str, Any] = {}
    tokens: list[Token] = md.block.parse(body, md, env, []) or []
    starts = _line_starts(body)
    headings: list[tuple[Heading, int, int]] = []
    fences: list[CodeFence] = []
    tables: list[Table] = []
    regions: list[Region] = []
    row_end = 0
    first_paragraph: str | None = None
    anchors: dict[str, int] = {}
    depth_of_list = 0
    for index, token in enumerate(tokens):
        kind = token.type
        lines = token.map
        if kind == "inline":
            assert lines is not None
            opener = tokens[index - 1].type
            if opener in {"td_open", "th_open"}:
                if lines[0] >= row_end:
                    row_end = lines[1]
                    regions.append(Region(starts[lines[0]], starts[lines[1]], is_row=True))
                continue
            regions.append(Region(starts[lines[0]], starts[lines[1]]))
            if first_paragraph is None and opener == "paragraph_open" and not depth_of_list:
                first_paragraph = _plain(token.content, md, env)
        elif kind == "heading_open" and token.level == 0:
            assert lines is not None
            text = _plain(tokens[index + 1].content, md, env) or UNTITLED
            heading = Heading(int(token.tag[1]), text, _unique(heading_slug(text), anchors), lines[0] + first_line)
            headings.append((heading, lines[0], lines[1]))
        elif kind == "fence":
            assert lines is not None
            language = token.info.strip().split(maxsplit=1)
            fences.append(CodeFence(language[0] if language else "", lines[0] + first_line, lines[1] + first_line - 1))
        elif kind == "table_open":
            assert lines is not None
            tables.append(Table(lines[0] + first_line, lines[1] + first_line - 1))
        elif kind in {"bullet_list_open", "ordered_list_open"}:
            depth_of_list += 1
        elif kind in {"bullet_list_close", "ordered_list_close"}:
            depth_of_list -= 1
    references = env.get("references", {})
    regions += _footnotes(references, starts)
    destinations = {label: str(reference["href"]) for label, reference in references.items()}
    return BodyOutline(
        tuple(heading for heading, _, _ in headings),
        tuple(_sections(body, starts, headings, first_line)),
        scan_links(body, regions, starts, first_line, destinations),
        tuple(fences),
        tuple(tables),
        first_paragraph or "",
    )


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # Past the nesting limit the parser drops the rest of the text; the preset's 20 is reached by nested lists.
    return MarkdownIt("commonmark", {"maxNesting": _DEEPEST_BLOCK}).enable("table")


def _line_starts(body: str) -> list[int]:
    """Offset of each line, and the body's length at the end, so that a line range is a slice."""
    starts = [0, *accumulate(len(line) + 1 for line in body.split("\n"))]
    starts[-1] = len(body)
    return starts


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


def _sections(
    body: str, starts: Sequence[int], headings: Sequence[tuple[Heading, int, int]], first_line: int
) -> Iterator[Section]:
    """The lead, then each H2, H3, H4 with its own text; a further H1 begins a section too."""
    cuts: list[tuple[Heading, int, int]] = []
    title: Heading | None = None
    title_end = 0
    for heading, begin, end in headings:
        if heading.level == 1 and title is None and not cuts:
            title = heading
            title_end = end if not body[: starts[begin]].strip() else 0
        elif heading.level <= 4:
            cuts.append((heading, begin, end))
    last_line = len(starts) - 1
    ends = [begin for _, begin, _ in cuts[1:]] + [last_line]
    stop = cuts[0][1] if cuts else last_line
    lead = body[starts[title_end] : starts[stop]]
    yield Section(LEAD, "", 1, title.text if title else "", None, (), lead, first_line, first_line + max(stop - 1, 0))
    taken = {LEAD: 1}
    above: list[Section] = []
    for (heading, begin, end), stop in zip(cuts, ends, strict=True):
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
            text=body[starts[end] : starts[stop]],
            line=begin + first_line,
            end_line=stop + first_line - 1,
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


def _plain(content: str, md: MarkdownIt, env: dict[str, Any]) -> str:
    """Inline text without its markup, on one line."""
    if not _MAY_BE_MARKUP.search(content):
        return content.strip()
    if len(content) <= _LONGEST_MARKUP:
        content = "".join(_texts(md.inline.parse(content, md, env, [])))
    text = _WIKI.sub(lambda found: found.group(2) or found.group(1), content)
    return " ".join(_CJK_BREAK.sub("", text).split())


def _texts(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type in {"text", "code_inline", "text_special"}:
            yield token.content
        elif token.type in {"softbreak", "hardbreak"}:
            yield "\n"
        elif token.type == "image":
            yield from _texts(token.children or [])
