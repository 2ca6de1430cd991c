"""Blocks of a raw body and their repairs."""

from __future__ import annotations

import pytest

from kb_pipeline.rewriting.blocks import BlockKind, read_blocks


def texts(body: str) -> list[str]:
    return [block.text for block in read_blocks(body).blocks]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("```\ncode\n```", "```text\ncode\n```"),
        ("~~~py\ncode\n~~~", "~~~py\ncode\n~~~"),
        ("```\nunclosed", "```text\nunclosed\n```"),
        ("```", "```text\n```"),
        ("    indented\n\n    more", "```text\nindented\n\nmore\n```"),
        ("- a\n\n  ```\n  code\n  ```", "- a\n\n  ```text\n  code\n  ```"),
        ("- a\n\n  ```\n  code", "- a\n\n  ```text\n  code\n  ```"),
        ("> # said\n> more", "> **said**\n> more"),
        ("- ## item", "- **item**"),
        ("名稱: 甲\n期限: 90 天", "- 名稱: 甲\n- 期限: 90 天"),
        ("**Severity**: 2\n**Impact**: 18%", "- **Severity**: 2\n- **Impact**: 18%"),
        ("+---+\n| a |\n+---+", "```text\n+---+\n| a |\n+---+\n```"),
        ("| a | b |\n|---|\n| 1 | 2 |", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
    ],
)
def test_blocks_are_repaired_where_a_page_needs_it(body: str, expected: str) -> None:
    assert texts(body) == [expected]


def test_a_long_paragraph_over_a_rule_is_no_heading() -> None:
    body = "這是一段很長的文字" * 12 + "\n---\n\nShort\n---"
    kinds = [(block.kind, block.level) for block in read_blocks(body).blocks]
    assert kinds == [(BlockKind.PARAGRAPH, 0), (BlockKind.HEADING, 2)]


def test_definitions_and_footnotes_are_set_aside() -> None:
    source = read_blocks("text [a][Foo  Bar] and[^1]\n\n[foo bar]: https://x.example\n[^1]: note\n    more")
    assert source.definitions == {"foo bar": "[foo bar]: https://x.example"}
    assert source.footnotes == {"1": "[^1]: note\n    more"}
    assert [block.text for block in source.blocks] == ["text [a][Foo  Bar] and[^1]"]


def test_offsets_count_in_the_repaired_text() -> None:
    source = read_blocks("```\ncode\n```\n\n第二段\n\n- a\n- b")
    assert [source.text[block.start : block.end] for block in source.blocks] == [block.text for block in source.blocks]
    assert source.blocks[-1].items == ("- a", "- b")
