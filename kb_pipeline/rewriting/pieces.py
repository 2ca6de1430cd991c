"""Blocks that are longer than a unit of splitting, in pieces that each stand as a block.

Belongs here: where a list, a paragraph or a quote may be cut. Tables and code blocks stay whole (SPEC 6.9). Does not
belong here: which piece goes on which page (``splitting``).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

from kb_pipeline.rewriting.blocks import Block, BlockKind, read_blocks
from kb_pipeline.text.sentences import split_sentences

PIECE = 1500
"""Code points up to which a block is left alone."""

_ITEM = re.compile(r"^\s*(?:[-*+]|\d{1,9}[.)])\s+(?=\S)")
_MARKER = re.compile(r"^(\s*)(\d{1,9})([.)])(\s+)")
_QUOTE_BREAK = re.compile(r"(?<=\n)(?=[ \t]*>[ \t]*\n)")


def pieces(block: Block) -> Iterator[Block]:
    """A long list at its items, a long paragraph at its sentences, a long quote at its blank lines; the rest whole."""
    if len(block.text) <= PIECE:
        yield block
    elif block.kind is BlockKind.LIST and block.items:
        for piece in _list_pieces(block):
            yield from _opened_item(piece) if len(piece.text) > PIECE and len(piece.items) == 1 else (piece,)
    elif block.kind is BlockKind.PARAGRAPH:
        yield from _cut_text(block, split_sentences(block.text))
    elif block.kind is BlockKind.QUOTE:
        for piece in _cut_text(block, _QUOTE_BREAK.split(block.text)):
            yield replace(piece, text=re.sub(r"^(?:[ \t]*>[ \t]*\n)+", "", piece.text))
    else:
        yield block


def _list_pieces(block: Block) -> Iterator[Block]:
    first = _MARKER.match(block.items[0])
    number = int(first.group(2)) if first else 1
    places = block.cuts if len(block.cuts) == len(block.items) else _places_of_items(block)
    done = 0
    for index, group in enumerate(_groups(block.items)):
        if block.ordered and index:
            group[0] = _renumbered(group[0], number + done)
        start, end = places[done][0], places[done + len(group) - 1][1]
        cuts = block.cuts[done : done + len(group)]
        yield replace(block, text="\n".join(group), items=tuple(group), start=start, end=end, cuts=cuts)
        done += len(group)


def _places_of_items(block: Block) -> list[tuple[int, int]]:
    """Where in the source each item stands. A list that is nowhere there (``start`` is its ``end``) stays so."""
    if block.start == block.end:
        return [(block.start, block.end)] * len(block.items)
    places: list[tuple[int, int]] = []
    position = 0
    for item in block.items:
        position = max(position, block.text.find(item, position))
        places.append((block.start + position, block.start + position + len(item)))
        position += len(item)
    return places


def _cut_text(block: Block, texts: Sequence[str]) -> Iterator[Block]:
    """``texts`` in groups, each with its own range of the source: what is told of a piece must stand in it."""
    lengths = list(accumulate((end - start for start, end in block.cuts), initial=0))

    def source(position: int) -> int:
        if block.start == block.end:
            return block.start
        if not block.cuts:
            return block.start + position
        index = min(bisect_right(lengths, position), len(block.cuts)) - 1
        return block.cuts[index][0] + position - lengths[index]

    position = 0
    for group in _groups(texts):
        text = "".join(group)
        start, end = source(position), source(position + len(text.rstrip()))
        position += len(text)
        yield replace(block, text=text.strip(), start=start, end=max(start, end), cuts=())


def _opened_item(block: Block) -> Iterator[Block]:
    """One item that is longer than a piece: its first paragraph stays an item, what is nested in it follows below."""
    item = _ITEM.match(block.text)
    if item is None:
        yield block
        return
    width = len(item.group(0))
    lines = block.text.split("\n")
    inner = "\n".join([lines[0][width:], *(line if line[:width].strip() else line[width:] for line in lines[1:])])
    source = read_blocks(inner)
    for index, nested in enumerate(source.blocks):
        kind, text = nested.kind, nested.text
        if kind is BlockKind.HEADING:
            kind, text = BlockKind.PARAGRAPH, f"**{text}**"
        if index == 0 and kind is BlockKind.PARAGRAPH:
            text = item.group(0) + text.replace("\n", "\n" + " " * width)
        yield from pieces(replace(nested, kind=kind, text=text, start=block.start, end=block.start))
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
    """Neighbours put together up to the size of a piece, to about equal lengths."""
    total = sum(len(text) + 1 for text in texts)
    aim = total / max(1, -(-total // (PIECE - 200)))
    group: list[str] = []
    size = 0
    for text in texts:
        if group and (size + len(text) > PIECE or size + len(text) / 2 > aim):
            yield group
            group, size = [], 0
        group.append(text)
        size += len(text) + 1
    if group:
        yield group
