"""What is taken out of a raw body, and that code is not touched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.rewriting.cleaning import clean_body


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("a <!-- secret\n\nnote --> b", "a  b"),
        ("a %% hidden %% b", "a  b"),
        ("100%% of 50%% stay", "100%% of 50%% stay"),
        ("a <!-- never closed\n\nb", "a  never closed\n\nb"),
        ("`<!-- code -->` stays", "`<!-- code -->` stays"),
        ("```\n<!-- code -->\n```\n\n<!-- x -->", "```\n<!-- code -->\n```"),
        ("zero\u200bwidth, bell\x07, bidi\u202e, line\u2028sep", "zerowidth, bell, bidi, line sep"),
        ('<h2 align="center">Name</h2>', "## Name"),
        ("#\u00a0Title", "# Title"),
        ("[TOC]\n\ntext", "text"),
        ("<script>alert(1)</script>text", "text"),
        ('<img src="x" onerror="alert(1)">', '<img src="x">'),
        ("[x](javascript:alert(1))", "[x](#)"),
        ('<iframe src="https://video.example/1"></iframe>', "<https://video.example/1>"),
        ("see <link> for more", "see <link> for more"),
        (':::image type="content" source="media\\a b.png" alt-text="圖":::', "![圖](<media/a b.png>)"),
        ("[!INCLUDE [intro](includes/intro.md)]", "[intro](includes/intro.md)"),
        ("# [Portal](#tab/portal)", "**Portal**"),
        ("::: warning 注意\n內容\n:::", "**注意**\n內容"),
    ],
)
def test_marks_that_no_reader_needs_are_taken_out(raw: str, clean: str) -> None:
    assert clean_body(raw) == clean


def test_imports_of_mdx_are_taken_out_of_mdx_only() -> None:
    assert clean_body("import X from './x'\n\ntext", mdx=True) == "text"
    assert clean_body("import X from './x'\n\ntext").startswith("import")


@given(st.text("ab-<!>\n %*#:[]()\x00\u200b", max_size=80))
def test_whatever_the_text_no_comment_or_control_character_is_left(text: str) -> None:
    cleaned = clean_body(text)
    assert "<!--" not in cleaned
    assert not {"\x00", "\u200b"} & set(cleaned)
