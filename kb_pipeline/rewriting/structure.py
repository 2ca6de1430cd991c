"""The outline of a raw document: its title and its sections as a tree of at most four levels.

Belongs here: how headings of any depth map to sections, tables of contents and empty
sections. Does not belong here: choosing a title (``titles``), what stays of a section's text (``condense``), how sections become pages
(``splitting``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from kb_pipeline.markdown.slugs import heading_slug
from kb_pipeline.rewriting.blocks import Block, BlockKind, BlockSource, definition_label
from kb_pipeline.rewriting.inline import links_only, plain
from kb_pipeline.rewriting.language import Words
from kb_pipeline.rewriting.titles import HEADING_ID, HeadingLine, choose_title, is_generic, one_line

_ANCHOR = re.compile(r"<a\s+[^>]*?\b(?:name|id)\s*=\s*[\"']?([^\"'\s>]+)[\"']?[^>]*>\s*(?:</a\s*>)?", re.IGNORECASE)
_ONLY_ANCHORS = re.compile(r"^(?:\s*<a\s+[^>]*?\b(?:name|id)\s*=[^>]*>\s*(?:</a\s*>)?)+\s*$", re.IGNORECASE)
_HEADING_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_CONTENTS_CAPTION = re.compile(
    r"^[*_\s]*(?:(?:table of )?contents|toc|目錄|目次)[*_:：\s]*(?:\*generated with \[DocToc\].*)?$", re.IGNORECASE
)
_REFERENCE = re.compile(r"(?<!!)\[([^\]\[]+)\](?:\[([^\]\[]*)\])?(?![(\[:])")
_BOLD_LINE = re.compile(r"^\*\*([^*\n]{2,80})\*\*[:：]?$|^__([^_\n]{2,80})__[:：]?$")


@dataclass(frozen=True, slots=True)
class Section:
    """``heading`` is inline markdown on one line. ``anchors`` are the names by which the raw document links to it."""

    heading: str
    anchors: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()
    children: tuple[Section, ...] = ()


@dataclass(frozen=True, slots=True)
class RawOutline:
    """``subtitle`` is the first H1 where the title is another text; ``lead`` what stands before the first section.

    ``title_anchors`` are names that mean the top of the document.
    """

    title: str
    subtitle: str | None
    lead: tuple[Block, ...]
    sections: tuple[Section, ...]
    title_anchors: tuple[str, ...] = ()


@dataclass(slots=True)
class _Node:
    """A heading with the blocks below it, while the tree is built. ``level`` 0 is the lead."""

    level: int
    text: str
    anchors: list[str] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)


def read_outline(source: BlockSource, raw_path: str, field_title: str | None, words: Words) -> RawOutline:
    """The outline of a parsed body. ``field_title`` is the front matter's title."""
    nodes = _nodes(source)
    _promote_bold_lines(nodes)
    _drop_contents(nodes)
    lead = nodes[0]
    opening = _opening_line(lead, alone=len(nodes) == 1)
    headings = [HeadingLine(node.level, node.text) for node in nodes[1:]]
    choice = choose_title(headings, opening, raw_path, field_title, words)
    anchors: list[str] = []
    if choice.opening:
        lead.blocks.pop(0)
    if choice.heading is not None:
        replaced = nodes.pop(choice.heading + 1)
        anchors = replaced.anchors
        lead.blocks += replaced.blocks
    return RawOutline(choice.title, choice.subtitle, tuple(lead.blocks), _tree(nodes[1:]), (*anchors, *lead.anchors))


def _opening_line(lead: _Node, *, alone: bool) -> str:
    """The first line of a text, where it stands by itself like a title; "" else. ``alone``: there are no headings."""
    first = lead.blocks[0] if lead.blocks else None
    if first is None or (alone and len(lead.blocks) < 2) or first.kind is not BlockKind.PARAGRAPH or "\n" in first.text:
        return ""
    text, written = one_line(first.text), first.text.strip()
    titled = (
        2 <= len(text) <= 60 and re.search(r"[^\W\d_]", text) and not re.search(r"[。．.!?！？:：,，;；]$", written)
    )
    return text if titled and "[" not in written and "`" not in written and "://" not in written else ""


def unique_slug(slug: str, taken: dict[str, int]) -> str:
    """The anchor of a heading in its page, GitHub's way; ``taken`` counts and is changed."""
    name = slug
    while name in taken:
        taken[slug] += 1
        name = f"{slug}-{taken[slug]}"
    taken[name] = 0
    return name


def _nodes(source: BlockSource) -> list[_Node]:
    nodes = [_Node(0, "")]
    seen: dict[str, int] = {}
    pending: list[str] = []
    for block in source.blocks:
        if block.kind in {BlockKind.HTML, BlockKind.PARAGRAPH} and _ONLY_ANCHORS.match(block.text):
            pending += _ANCHOR.findall(block.text)
            continue
        if block.kind is not BlockKind.HEADING:
            nodes[-1].anchors += pending
            nodes[-1].blocks.append(block)
            pending = []
            continue
        anchors = [*pending, *_ANCHOR.findall(block.text)]
        text = _ANCHOR.sub("", block.text)
        identified = HEADING_ID.search(text)
        if identified:
            anchors.append(identified.group(1))
            text = text[: identified.start()]
        anchors.append(unique_slug(heading_slug(plain(text)), seen))
        node = _Node(block.level, "", anchors)
        node.text, linked = _heading_text(text, source)
        if linked:
            node.blocks.append(replace(block, kind=BlockKind.PARAGRAPH, text=linked, level=0, end=block.start))
        nodes.append(node)
        pending = []
    nodes[-1].anchors += pending
    return nodes


def _heading_text(text: str, source: BlockSource) -> tuple[str, str]:
    """A heading without links and outer emphasis, and the links that stood in it."""
    links = [match.group(0) for match in _HEADING_LINK.finditer(text)]
    if "[" in text and source.definitions:
        for match in _REFERENCE.finditer(text):
            if definition_label(match.group(2) or match.group(1)) in source.definitions:
                links.append(match.group(0))
                text = text.replace(match.group(0), match.group(1), 1)
    linked = " ".join(links)
    text = re.sub(r"</?[A-Za-z][^<>`]*>", "", text) if "<" in text and "`" not in text else text
    text = _HEADING_LINK.sub(lambda match: "" if match.group(0).startswith("!") else match.group(1), text)
    bold = re.fullmatch(r"\s*(\*\*|__|\*|_)([^*_]+)\1\s*", text)
    text = bold.group(2) if bold else text
    return re.sub(r"\s+", " ", text).strip().rstrip(":：").strip() or plain(text), linked


def _promote_bold_lines(nodes: list[_Node]) -> None:
    """A document that marks its sections by bold lines alone gets headings from them."""
    if len(nodes) > 2 or (len(nodes) == 2 and nodes[0].blocks):
        return
    holder = nodes[-1]
    marks = [i for i, b in enumerate(holder.blocks) if b.kind is BlockKind.PARAGRAPH and _BOLD_LINE.match(b.text)]
    filled = [i for i, following in zip(marks, [*marks[1:], len(holder.blocks)], strict=False) if following > i + 1]
    if len(filled) < 2:
        return
    blocks, holder.blocks = holder.blocks, holder.blocks[: filled[0]]
    for i, following in zip(filled, [*filled[1:], len(blocks)], strict=False):
        match = _BOLD_LINE.match(blocks[i].text)
        text = (match.group(1) or match.group(2)) if match else ""
        nodes.append(_Node(2, text.strip().rstrip(":：").strip(), [heading_slug(text)], blocks[i + 1 : following]))


def _drop_contents(nodes: list[_Node]) -> None:
    """Take out lists that only repeat the headings as links, and the heading or caption above them."""
    for node in nodes:
        kept = [block for block in node.blocks if not _is_contents(block) and not _CONTENTS_CAPTION.match(block.text)]
        shorter = len(kept) < len(node.blocks)
        node.blocks = kept
        if shorter and not kept and _CONTENTS_CAPTION.match(node.text):
            node.level = -1
    nodes[:] = [node for node in nodes if node.level >= 0]


def _is_contents(block: Block) -> bool:
    if block.kind is not BlockKind.LIST:
        return False
    lines = [line for line in block.text.split("\n") if line.strip()]
    own = sum(1 for line in lines if re.match(r"^[\s\d.>*+-]*\[.*\]\(#[^)]*\)[\s.:：]*$", line))
    return own >= 2 and own >= 0.8 * len(lines)


def _tree(nodes: Sequence[_Node]) -> tuple[Section, ...]:
    """Levels as they occur, four deep: the highest becomes H2, the next H3; what is deeper than the fourth stays as a
    bold line in its section."""
    levels = sorted({node.level for node in nodes})
    rank = {level: index for index, level in enumerate(levels)}
    filled = {node.text for node in nodes if node.blocks}
    roots: list[_Branch] = []
    path: list[_Branch] = []
    for node in nodes:
        depth = min(rank[node.level], len(path))
        if depth < _DEPTH:
            del path[depth:]
            branch = _Branch(node, [])
            (path[-1].children if path else roots).append(branch)
            path.append(branch)
            continue
        holder = path[_DEPTH - 1].node
        holder.anchors += node.anchors
        if node.text and (node.blocks or node.text not in filled):
            holder.blocks.append(lead_in(node.text))
        holder.blocks += node.blocks
    return tuple(branch.section() for branch in roots)


_DEPTH = 4


@dataclass(slots=True)
class _Branch:
    node: _Node
    children: list[_Branch]

    def section(self) -> Section:
        below = tuple(child.section() for child in self.children)
        return Section(self.node.text, tuple(self.node.anchors), tuple(self.node.blocks), below)


def lead_in(heading: str) -> Block:
    """A heading that is too deep for a page, as a bold line."""
    return Block(BlockKind.PARAGRAPH, f"**{heading}**", 0, 0)


def without_empty(sections: Sequence[Section]) -> tuple[tuple[Block, ...], tuple[Section, ...]]:
    """Takes out sections without text of their own or below them. Their heading becomes a list item of the section
    before, so that no word is lost, unless a section of that name has text; before the first section there is none:
    these items come back for the text above."""
    reduced: list[Section] = []
    for section in sections:
        above, children = without_empty(section.children)
        reduced.append(replace(section, blocks=(*section.blocks, *above), children=children))
    filled = {section.heading for section in reduced if section.blocks or section.children}
    kept: list[Section] = []
    above_all: list[Block] = []
    for section in reduced:
        if section.blocks or section.children:
            kept.append(section)
            continue
        said = not section.heading or section.heading in filled or is_generic(plain(section.heading))
        item = Block(BlockKind.LIST, f"- {section.heading}", 0, 0, items=(f"- {section.heading}",))
        if kept:
            kept[-1] = _with_last_block(kept[-1], None if said else item, section.anchors)
        elif not said:
            above_all.append(item)
    return tuple(above_all), tuple(kept)


def _with_last_block(section: Section, item: Block | None, anchors: tuple[str, ...]) -> Section:
    anchored = replace(section, anchors=(*section.anchors, *anchors))
    if item is None:
        return anchored
    if section.children:
        *before, last = section.children
        return replace(anchored, children=(*before, _with_last_block(last, item, ())))
    return replace(anchored, blocks=(*section.blocks, item))


def is_link_list(outline: RawOutline) -> bool:
    """Whether the document consists of links: at least three, and hardly a word beside them."""
    lines: list[str] = []
    for block in (*outline.lead, *(block for section in outline.sections for block in section_blocks(section))):
        if block.kind in {BlockKind.CODE, BlockKind.TABLE, BlockKind.HTML}:
            return False
        lines += [line for line in block.text.split("\n") if line.strip()]
    linked = sum(1 for line in lines if links_only(line))
    return linked >= 3 and linked >= 0.8 * len(lines)


def section_blocks(section: Section) -> Iterator[Block]:
    """Blocks of a section and of those below it, in order, without headings."""
    yield from section.blocks
    for child in section.children:
        yield from section_blocks(child)
