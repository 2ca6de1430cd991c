"""A document's sections dealt out over pages (SPEC 5, 6.1).

Belongs here: sizes, and where to cut: at H2, then at deeper headings, then between blocks, never inside a table or a
code block. Does not belong here: what a page is called (``offline``) and where it lives (``naming``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kb_pipeline.rewriting.blocks import Block, BlockKind
from kb_pipeline.rewriting.language import Words
from kb_pipeline.rewriting.pieces import PIECE, pieces
from kb_pipeline.rewriting.structure import Section

MIN_BODY = 200
MAX_BODY = 2500
ADVISED = (500, 2000)
"""Code points of a page's body, H1 included: hard limits, and what is good to read."""

CONCLUSION_ROOM = 220
"""Reserved on each page for its conclusion and the rest of its title, before they are known."""

LONGEST_BLOCK = MAX_BODY - MIN_BODY
"""A block longer than this has a page to itself, over the limit if need be."""

_GROUP = 700
"""Neighbouring blocks of a long section are placed together up to this size: small enough to fill pages evenly."""

_CUT_COST = (6.0, 0.0, 2.0, 3.0, 4.0)
"""Of a page that begins with a heading of this depth; 0: with no heading."""

_PART_COST, _SQUEEZED_COST, _OVER_COST, _TINY_COST = 3.0, 25.0, 60.0, 1000.0

Place = tuple[int, ...]
"""Where in the tree of sections: indexes from the top; () is the lead."""


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
    """The smallest thing that is placed: blocks of the section at ``place``, or all of it (``whole``).

    ``opens`` are the places of the headings that begin with it.
    """

    place: Place
    blocks: tuple[Block, ...]
    size: int
    opens: tuple[Place, ...] = ()
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
    units = list(_block_units((), lead, 0, ()))
    for index, section in enumerate(sections):
        units += _section_units((index,), section, 0, ())
    if not units:
        return [Part(tuple(lead), tuple(sections))]
    tree = Section("", (), tuple(lead), tuple(sections))
    return [_part(units[a:b], tree, words, first=a == 0) for a, b in _best_cut(units, overhead, room)]


def blocks_size(blocks: Sequence[Block]) -> int:
    return sum(len(block.text) + 2 for block in blocks)


def section_size(section: Section) -> int:
    """Code points of a section on its page, headings and blank lines included."""
    return _heading_size(section) + blocks_size(section.blocks) + sum(section_size(child) for child in section.children)


def _heading_size(section: Section) -> int:
    return len(section.heading) + 6


def _section_units(place: Place, section: Section, above: int, opens: tuple[Place, ...]) -> Iterator[_Unit]:
    """``above`` is the size of headings without text of their own that begin with this one, ``opens`` their places."""
    size = section_size(section) + above
    opens = (*opens, place)
    if size <= PIECE:
        yield _Unit(place, section.blocks, size, opens, whole=True)
        return
    own = list(_block_units(place, section.blocks, _heading_size(section) + above, opens))
    yield from own
    if own:
        above, opens = 0, ()
    else:
        above += _heading_size(section)
    for number, child in enumerate(section.children):
        yield from _section_units((*place, number), child, above, opens)
        above, opens = 0, ()


def _block_units(place: Place, blocks: Sequence[Block], heading: int, opens: tuple[Place, ...]) -> Iterator[_Unit]:
    """Blocks gathered up to a unit's size. A paragraph that leads in stays with the block that it leads to."""
    group: list[Block] = []
    size = heading
    cut = [piece for block in blocks for piece in pieces(block)]
    for index, piece in enumerate(cut):
        length = len(piece.text) + 2
        follows = len(cut[index + 1].text) + 2 if index + 1 < len(cut) else 0
        keep_with_next = _leads_in(piece) and length + follows <= PIECE
        led_to = bool(group) and _leads_in(group[-1]) and size + length <= PIECE
        if group and not led_to and size + length + (follows if keep_with_next else 0) > _GROUP:
            yield _Unit(place, tuple(group), size, opens)
            group, size, opens = [], 0, ()
        group.append(piece)
        size += length
        if length > LONGEST_BLOCK:
            yield _Unit(place, tuple(group), size, opens, oversize=True)
            group, size, opens = [], 0, ()
    if group:
        yield _Unit(place, tuple(group), size, opens)


def _leads_in(block: Block) -> bool:
    return block.kind is BlockKind.PARAGRAPH and len(block.text) < 300


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
            cost = best[start].cost + (_CUT_COST[len(unit.opens[0]) if unit.opens else 0] if start else 0.0)
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


def _part(units: Sequence[_Unit], tree: Section, words: Words, *, first: bool) -> Part:
    """The page of some units. One that lies within a single section takes that section's children as its H2."""
    oversize = any(unit.oversize for unit in units)
    inside = () if first else _common([unit.place[:-1] if unit.whole else unit.place for unit in units])
    section = _at(tree, inside)
    lead = tuple(block for unit in units if unit.place == inside and not unit.whole for block in unit.blocks)
    children = _rebuilt_children(units, inside, section, words)
    opened = not inside or any(inside in unit.opens for unit in units)
    if not inside:
        return Part(lead, children, "" if first else _heading(children, units), oversize=oversize)
    heading = section.heading
    if not opened:
        heading = (
            f"{heading}{words.title_joint}{children[0].heading}"
            if children
            else words.continued.format(heading=heading)
        )
    if not children:
        name = section.heading if opened else words.continued.format(heading=section.heading)
        return Part((), (Section(name, section.anchors if opened else (), lead),), heading, oversize=oversize)
    return Part(lead, children, heading, section.anchors if opened else (), oversize, section.heading)


def _heading(children: Sequence[Section], units: Sequence[_Unit]) -> str:
    """What a page of several sections is called by: the first that begins on it, unless the rest of the one before
    fills half of the page."""
    if not children:
        return ""
    begun = any(len(place) == 1 for place in units[0].opens)
    if begun or len(children) == 1 or section_size(children[0]) > sum(map(section_size, children[1:])):
        return children[0].heading
    return children[1].heading


def _common(places: Sequence[Place]) -> Place:
    shared = places[0]
    for place in places[1:]:
        length = 0
        while length < min(len(shared), len(place)) and shared[length] == place[length]:
            length += 1
        shared = shared[:length]
    return shared


def _at(tree: Section, place: Place) -> Section:
    for index in place:
        tree = tree.children[index]
    return tree


def _rebuilt_children(units: Sequence[_Unit], place: Place, section: Section, words: Words) -> tuple[Section, ...]:
    """The children of a section as far as they are on the page, those that began on an earlier one marked so."""
    depth = len(place)
    below = [unit for unit in units if len(unit.place) > depth]
    found = []
    for index in dict.fromkeys(unit.place[depth] for unit in below):
        mine = [unit for unit in below if unit.place[depth] == index]
        child, here = section.children[index], (*place, index)
        if mine[0].whole and mine[0].place == here:
            found.append(child)
            continue
        opened = any(here in unit.opens for unit in mine)
        own = tuple(block for unit in mine if unit.place == here for block in unit.blocks)
        heading = child.heading if opened else words.continued.format(heading=child.heading)
        found.append(
            Section(heading, child.anchors if opened else (), own, _rebuilt_children(mine, here, child, words))
        )
    return tuple(found)
