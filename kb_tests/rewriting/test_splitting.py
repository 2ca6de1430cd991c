"""How a document is dealt out over pages."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from kb_pipeline.rewriting.blocks import Block, BlockKind, read_blocks
from kb_pipeline.rewriting.language import words_for
from kb_pipeline.rewriting.layout import page_body
from kb_pipeline.rewriting.pieces import PIECE, pieces
from kb_pipeline.rewriting.splitting import MAX_BODY, MIN_BODY, Part, split_document
from kb_pipeline.rewriting.structure import Section, read_outline

ZH = words_for("zh-TW")


def paragraph(size: int, letter: str = "字") -> Block:
    return Block(BlockKind.PARAGRAPH, letter * (size - 1) + "。", 0, 1)


def table(size: int) -> Block:
    return Block(BlockKind.TABLE, "| a |\n| --- |\n" + "| x |\n" * (size // 6), 0, 1)


def section(name: str, *blocks: Block, children: tuple[Section, ...] = ()) -> Section:
    return Section(name, (), blocks, children)


def split(*sections: Section, lead: tuple[Block, ...] = ()) -> list[Part]:
    return split_document(lead, sections, "標題", ZH)


def headings(part: Part) -> list[str]:
    return [section.heading for section in part.sections]


def test_what_fits_stays_on_one_page() -> None:
    assert [headings(part) for part in split(section("A", paragraph(1000)), section("B", paragraph(1000)))] == [
        ["A", "B"]
    ]


def test_cuts_fall_between_h2_and_pages_are_of_like_size() -> None:
    parts = split(*(section(name, paragraph(700)) for name in "ABCD"))
    assert [headings(part) for part in parts] == [["A", "B"], ["C", "D"]]
    assert [part.heading for part in parts] == ["", "C"]


def test_a_long_h2_is_cut_at_its_h3_which_become_h2_of_the_further_page() -> None:
    children = tuple(section(name, paragraph(900)) for name in ("甲", "乙", "丙", "丁"))
    parts = split(section("大節", paragraph(100), children=children))
    assert [headings(part) for part in parts] == [["大節"], ["丙", "丁"]]
    assert [child.heading for child in parts[0].sections[0].children] == ["甲", "乙"]
    assert parts[1].heading == "大節：丙"


def test_a_section_without_headings_is_cut_between_blocks_and_says_that_it_goes_on() -> None:
    parts = split(section("長節", *(paragraph(700) for _ in range(6))))
    assert len(parts) == 2
    assert [headings(part) for part in parts] == [["長節"], ["長節（續）"]]


def test_a_table_is_never_cut_and_a_page_of_its_own_may_be_too_long() -> None:
    parts = split(section("A", paragraph(600)), section("B", table(4000)), section("C", paragraph(600)))
    assert [part.oversize for part in parts] == [False, True, False]
    assert parts[1].sections[0].blocks[0].text == table(4000).text


def test_two_tables_that_are_too_long_have_a_page_each() -> None:
    parts = split(section("A", table(4000), table(4000)))
    assert [sum(block.kind is BlockKind.TABLE for s in part.sections for block in s.blocks) for part in parts] == [1, 1]


def test_a_short_tail_is_taken_along_by_the_page_before() -> None:
    parts = split(section("A", paragraph(1400)), section("B", paragraph(1000)), section("後續", paragraph(40)))
    assert headings(parts[-1]) == ["B", "後續"]


def test_a_long_list_is_cut_between_items_and_counts_on() -> None:
    text = "\n".join(f"1. {'步' * 200}{index}" for index in range(12))
    block = read_blocks(text).blocks[0]
    cut = list(pieces(block))
    assert len(cut) == 2
    assert all(len(piece.text) <= PIECE for piece in cut)
    assert cut[1].text.startswith(f"{len(cut[0].items) + 1}. ")


def test_an_item_longer_than_a_page_is_opened() -> None:
    text = "- 先看這裡\n\n" + "\n\n".join(f"  第 {index} 段{'字' * 400}" for index in range(6))
    cut = list(pieces(read_blocks(text).blocks[0]))
    assert cut[0].text == "- 先看這裡"
    assert len(cut) == 7
    assert not cut[1].text.startswith(" ")


def _document(sizes: list[tuple[int, int]]) -> str:
    lines = ["# 標題"]
    for number, (level, size) in enumerate(sizes):
        lines += [f"{'#' * level} 節{number}", f"文{number}" + "字" * size + "。"]
    return "\n\n".join(lines)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(2, 6), st.integers(1, 1800)), min_size=1, max_size=25))
def test_no_text_is_lost_or_said_twice_and_no_page_is_too_long_or_too_short(sizes: list[tuple[int, int]]) -> None:
    outline = read_outline(read_blocks(_document(sizes)), "x.md", None, ZH)
    parts = split_document(outline.lead, outline.sections, outline.title, ZH)
    bodies = [page_body("標題", "", part) for part in parts]
    found = [int(number) for body in bodies for number in re.findall(r"文(\d+)字", body)]
    assert found == list(range(len(sizes)))
    assert all(len(body) <= MAX_BODY for body in bodies)
    if len(bodies) > 1:
        assert all(len(body) >= MIN_BODY for body in bodies)
