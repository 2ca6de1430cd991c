"""A document's sections dealt out over pages (SPEC 5, 6.1).

Belongs here: sizes, and where to cut: at H2, then H3, then between blocks, never inside a table or a code block. Does
not belong here: what a page is called (``offline``) and where it lives (``naming``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from kb_pipeline.rewriting.blocks import Block, BlockKind, read_blocks
from kb_pipeline.rewriting.language import Words
from kb_pipeline.rewriting.structure import Section, flat_blocks
from kb_pipeline.text.sentences import split_sentences

MIN_BODY = 200
MAX_BODY = 2500
ADVISED = (500, 2000)
"""Code points of a page's body, H1 included: hard limits, and what is good to read."""

CONCLUSION_ROOM = 220
"""Reserved on each page for its conclusion and the rest of its title, before they are known."""

LONGEST_BLOCK = MAX_BODY - MIN_BODY
"""A block longer than this has a page to itself, over the limit if need be."""

_UNIT = 1500
"""Sections longer than this may be cut when a document is: what is left fits with title and conclusion."""

_ITEM = re.compile(r"^\s*(?:[-*+]|\d{1,9}[.)])\s+(?=\S)")
_MARKER = re.compile(r"^(\s*)(\d{1,9})([.)])(\s+)")
_CUT_INSIDE_H2, _CUT_INSIDE_H3 = 2.0, 4.0
_PART_COST, _SQUEEZED_COST, _OVER_COST, _TINY_COST = 3.0, 25.0, 60.0, 1000.0


@dataclass(frozen=True, slots=True)
class Part:
    """What one page holds: ``lead`` before its first H2, then ``sections``.

    ``heading`` tells it from the other parts; "" for the first. ``anchors`` are names that mean its top. ``oversize``:
    one block alone is over the limit. ``lead_heading`` is the heading that the lead stood under.
    """

    lead: tuple[Block, ...]
    sections: tuple[Section, ...]
    heading: str = ""
    anchors: tuple[str, ...] = ()
    oversize: bool = False
    lead_heading: str = ""


@dataclass(frozen=True, slots=True)
class _Unit:
    """The smallest thing that is placed: blocks below one H2 (``h2`` -1: the lead) and possibly one H3 (-1: none)."""

    h2: int
    h3: int
    blocks: tuple[Block, ...]
    size: int
    opens_h2: bool
    opens_h3: bool
    children: tuple[Section, ...] = ()
    whole: bool = False
    oversize: bool = False


def split_document(
    lead: Sequence[Block], sections: Sequence[Section], title: str, words: Words, room: int = CONCLUSION_ROOM
) -> list[Part]:
    """One part when all fits into a page, else the best cut. ``room`` is kept free on each page."""
    overhead = len(title) + room
    size = overhead + blocks_size(lead) + sum(section_size(section) for section in sections)
    if size <= MAX_BODY:
        return [Part(tuple(lead), tuple(sections))]
    units = list(_units(lead, sections))
    bounds = _best_cut(units, overhead, room)
    return [_part(units[a:b], sections, words, first=a == 0) for a, b in bounds]


def blocks_size(blocks: Sequence[Block]) -> int:
    return sum(len(block.text) + 2 for block in blocks)


def section_size(section: Section) -> int:
    """Code points of a section on its page, headings and blank lines included."""
    return len(section.heading) + 6 + blocks_size(section.blocks) + sum(section_size(child) for child in section.children)


def _units(lead: Sequence[Block], sections: Sequence[Section]) -> Iterator[_Unit]:
    if lead:
        yield from _block_units(-1, -1, lead, 0)
    for index, section in enumerate(sections):
        size = section_size(section)
        if size <= _UNIT:
            yield _Unit(index, -1, section.blocks, size, True, False, section.children, whole=True)
            continue
        heading = len(section.heading) + 6
        own = list(_block_units(index, -1, section.blocks, heading))
        yield from own
        for number, child in enumerate(section.children):
            opens = not own and number == 0
            size = section_size(child) + (heading if opens else 0)
            if size <= _UNIT:
                yield _Unit(index, number, child.blocks, size, opens, True, child.children, whole=True)
                continue
            below = list(_block_units(index, number, flat_blocks(child), len(child.heading) + 6 + (heading if opens else 0)))
            yield from (replace(unit, opens_h2=opens and place == 0) for place, unit in enumerate(below))


def _block_units(h2: int, h3: int, blocks: Sequence[Block], heading: int) -> Iterator[_Unit]:
    """Blocks gathered up to the unit size. A paragraph that leads in stays with the block that it leads to."""
    group: list[Block] = []
    size, opens = heading, True

    def unit(*, oversize: bool = False) -> _Unit:
        return _Unit(h2, h3, tuple(group), size, opens and h3 < 0, opens and h3 >= 0, oversize=oversize)

    pieces = [piece for block in blocks for piece in _pieces(block)]
    for index, piece in enumerate(pieces):
        length = len(piece.text) + 2
        follows = len(pieces[index + 1].text) + 2 if index + 1 < len(pieces) else 0
        keep_with_next = _leads_in(piece) and length + follows <= _UNIT
        if group and size + length + (follows if keep_with_next else 0) > _UNIT:
            yield unit()
            group, size, opens = [], 0, False
        group.append(piece)
        size += length
        if length > LONGEST_BLOCK:
            yield unit(oversize=True)
            group, size, opens = [], 0, False
    if group:
        yield unit()


def _leads_in(block: Block) -> bool:
    return block.kind is BlockKind.PARAGRAPH and len(block.text) < 300


def _pieces(block: Block) -> Iterator[Block]:
    """A long list at its items, a long paragraph at its sentences, a long quote at its blank lines; the rest whole."""
    if len(block.text) <= _UNIT:
        yield block
    elif block.kind is BlockKind.LIST and block.items:
        for piece in _list_pieces(block):
            yield from _opened_item(piece) if len(piece.text) > _UNIT and len(piece.items) == 1 else (piece,)
    elif block.kind is BlockKind.PARAGRAPH:
        for group in _groups(split_sentences(block.text)):
            yield replace(block, text="".join(group).strip())
    elif block.kind is BlockKind.QUOTE:
        for group in _groups(re.split(r"(?<=\n)(?=[ \t]*>[ \t]*\n)", block.text)):
            yield replace(block, text=re.sub(r"^(?:[ \t]*>[ \t]*\n)+", "", "".join(group)).rstrip("\n"))
    else:
        yield block


def _list_pieces(block: Block) -> Iterator[Block]:
    first = _MARKER.match(block.items[0])
    number = int(first.group(2)) if first else 1
    for index, group in enumerate(_groups(block.items)):
        if block.ordered and index:
            group[0] = _renumbered(group[0], number)
        yield replace(block, text="\n".join(group), items=tuple(group))
        number += len(group)


def _opened_item(block: Block) -> Iterator[Block]:
    """One item that is longer than a unit: its first paragraph stays an item, what is nested in it follows below."""
    item = _ITEM.match(block.text)
    if item is None:
        yield block
        return
    width = len(item.group(0))
    lines = block.text.split("\n")
    inner = "\n".join([lines[0][width:], *(line[width:] if not line[:width].strip() else line for line in lines[1:])])
    source = read_blocks(inner)
    for index, piece in enumerate(source.blocks):
        text = piece.text
        if piece.kind is BlockKind.HEADING:
            text = f"**{text}**"
        if index == 0 and piece.kind is BlockKind.PARAGRAPH:
            text = item.group(0) + text.replace("\n", "\n" + " " * width)
        opened = replace(piece, kind=BlockKind.PARAGRAPH if piece.kind is BlockKind.HEADING else piece.kind, text=text)
        yield from _pieces(replace(opened, start=block.start, end=block.start))
    for text in (*source.definitions.values(), *source.footnotes.values()):
        yield Block(BlockKind.PARAGRAPH, text, block.start, block.start)


def _renumbered(text: str, number: int) -> str:
    """The first marker set to ``number``; the item's further lines moved along when the marker gets longer."""
    match = _MARKER.match(text)
    if match is None:
        return text
    wider = len(str(number)) - len(match.group(2))
    marker = f"{match.group(1)}{number}{match.group(3)}{match.group(4)}"
    lines = (marker + text[match.end() :]).split("\n")
    for index, line in enumerate(lines[1:], start=1):
        if line and not line.startswith((" ", "\t")):
            break
        lines[index] = " " * max(0, wider) + line if line else line
    return "\n".join(lines)


def _groups(texts: Sequence[str]) -> Iterator[list[str]]:
    """Neighbours put together up to the unit size, to about equal lengths."""
    total = sum(len(text) + 1 for text in texts)
    aim = total / max(1, -(-total // (_UNIT - 200)))
    group: list[str] = []
    size = 0
    for text in texts:
        if group and (size + len(text) > _UNIT or size + len(text) / 2 > aim):
            yield group
            group, size = [], 0
        group.append(text)
        size += len(text) + 1
    if group:
        yield group


@dataclass(slots=True)
class _Cut:
    cost: float
    start: int = field(default=0)


def _best_cut(units: Sequence[_Unit], overhead: int, room: int) -> list[tuple[int, int]]:
    """Bounds of the parts at least cost: dynamic programming over the few units that fit into one page."""
    best = [_Cut(0.0)]
    for end in range(1, len(units) + 1):
        chosen: _Cut | None = None
        size, beside, oversize = overhead, overhead, 0
        for start in range(end - 1, -1, -1):
            unit = units[start]
            size += unit.size
            beside += 0 if unit.oversize else unit.size
            oversize += unit.oversize
            if start < end - 1 and (beside > MAX_BODY + room or oversize > 1):
                break
            cost = best[start].cost + _boundary_cost(unit, start)
            cost += _page_cost(size, beside, room, alone=end - start == 1, oversize=bool(oversize))
            if chosen is None or cost < chosen.cost:
                chosen = _Cut(cost, start)
        best.append(chosen or _Cut(best[-1].cost, end - 1))
    bounds: list[tuple[int, int]] = []
    end = len(units)
    while end:
        bounds.append((best[end].start, end))
        end = best[end].start
    return bounds[::-1]


def _page_cost(size: int, beside: int, room: int, *, alone: bool, oversize: bool) -> float:
    """``beside`` is the size without a block that is too long by itself."""
    if MAX_BODY < size <= MAX_BODY + room - 80 and not oversize:
        return _SQUEEZED_COST  # the page has room for a short conclusion only
    if size > MAX_BODY:
        # Beside such a block only what would else be too short a page is let in.
        return _OVER_COST + max(0, beside - room) / 10 if oversize or alone else 10 * _TINY_COST + size
    if size - room < MIN_BODY + 20:
        return _TINY_COST
    if size < ADVISED[0]:
        return _PART_COST + (ADVISED[0] - size) / 50
    return _PART_COST + max(0, size - ADVISED[1]) / 100


def _boundary_cost(unit: _Unit, start: int) -> float:
    if start == 0 or unit.opens_h2:
        return 0.0
    return _CUT_INSIDE_H2 if unit.opens_h3 else _CUT_INSIDE_H3


def _part(units: Sequence[_Unit], sections: Sequence[Section], words: Words, *, first: bool) -> Part:
    oversize = any(unit.oversize for unit in units)
    lead = tuple(block for unit in units if unit.h2 < 0 for block in unit.blocks)
    below = [unit for unit in units if unit.h2 >= 0]
    indexes = list(dict.fromkeys(unit.h2 for unit in below))
    if not first and len(indexes) == 1 and not (below[0].whole and below[0].h3 < 0) and not lead:
        return _inside_one(below, sections[indexes[0]], words, oversize=oversize)
    rebuilt = tuple(_rebuilt([u for u in below if u.h2 == index], sections[index], words) for index in indexes)
    heading = "" if first or not rebuilt else rebuilt[0].heading
    return Part(lead, rebuilt, heading, oversize=oversize)


def _inside_one(units: Sequence[_Unit], section: Section, words: Words, *, oversize: bool) -> Part:
    """A page that holds (a part of) one H2 section only: its H3 become the H2 of the page."""
    lead = tuple(block for unit in units if unit.h3 < 0 for block in unit.blocks)
    children = tuple(_children(units, section, words))
    heading = section.heading
    if not units[0].opens_h2 and children:
        heading = f"{heading}{words.title_joint}{children[0].heading}"
    elif not units[0].opens_h2:
        heading = words.continued.format(heading=heading)
    if not children:
        name = section.heading if units[0].opens_h2 else words.continued.format(heading=section.heading)
        anchors = section.anchors if units[0].opens_h2 else ()
        return Part((), (Section(name, anchors, lead),), heading, oversize=oversize)
    return Part(lead, children, heading, section.anchors if units[0].opens_h2 else (), oversize, section.heading)


def _rebuilt(units: Sequence[_Unit], section: Section, words: Words) -> Section:
    if units[0].whole and units[0].h3 < 0:
        return section
    heading = section.heading if units[0].opens_h2 else words.continued.format(heading=section.heading)
    anchors = section.anchors if units[0].opens_h2 else ()
    own = tuple(block for unit in units if unit.h3 < 0 for block in unit.blocks)
    return Section(heading, anchors, own, tuple(_children(units, section, words)))


def _children(units: Sequence[_Unit], section: Section, words: Words) -> Iterator[Section]:
    for number in dict.fromkeys(unit.h3 for unit in units if unit.h3 >= 0):
        mine = [unit for unit in units if unit.h3 == number]
        child = section.children[number]
        if mine[0].whole:
            yield child
            continue
        opened = mine[0].opens_h3
        yield Section(
            child.heading if opened else words.continued.format(heading=child.heading),
            tuple(_all_anchors(child)) if opened else (),
            tuple(block for unit in mine for block in unit.blocks),
        )


def _all_anchors(section: Section) -> Iterator[str]:
    yield from section.anchors
    for child in section.children:
        yield from _all_anchors(child)
