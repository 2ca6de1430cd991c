"""The line shown for a hit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.retrieval.query import aligned, parse_query
from kb_pipeline.retrieval.snippets import plain_text, snippet, words_in


@pytest.mark.parametrize(
    ("markdown", "plain"),
    [
        ("**粗** *斜* `code` ~~刪~~ ==亮==", "粗 斜 code 刪 亮"),
        ('見 [[auth/token|換發]] 與 [[b#節]]、[文](a%20b.md "t") ![圖](x.png)', "見 換發 與 b#節、文 圖"),
        ("- 一\n- [x] 二\n1. 三\n> 引", "一 二 三 引"),
        ("| 鍵 | 值 |\n|---|:-:|\n| `a_b` | 1 |", "鍵 · 值 a_b · 1"),
        ("前<!-- 藏 -->後 <b>粗</b>", "前 後 粗"),
        ("```sh\nrun -x * 2\n```", "run -x * 2"),
        ("#### 小標\n\n2 * 3 * 4 與 snake_case_name", "小標 2 * 3 * 4 與 snake_case_name"),
        ("a\x1b[31mb\u2028c\u202ed", "a [31mb c d"),
    ],
)
def test_markdown_becomes_one_plain_line(markdown: str, plain: str) -> None:
    assert plain_text(markdown) == plain


def test_a_long_text_is_shown_around_the_words_with_its_cuts_marked() -> None:
    text = "無關的句子。" * 60 + "權杖每九十天輪替一次，過期後回傳 401。" + "其他內容。" * 60
    shown = snippet(text, parse_query("權杖輪替").words)
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert "權杖每九十天輪替一次" in shown
    assert len(shown) <= 160


def test_the_place_with_most_of_the_words_is_taken() -> None:
    text = "備份。" + "甲" * 400 + "備份保留十四天，還原演練每季一次。" + "乙" * 400
    assert "還原演練" in snippet(text, parse_query("備份 還原 演練").words)


def test_without_any_of_the_words_the_beginning_is_shown() -> None:
    text = "開頭。" + "字" * 500
    assert snippet(text, parse_query("zebra").words).startswith("開頭。")


def test_words_are_found_across_script_width_case_and_endings_and_only_at_word_beginnings() -> None:
    assert words_in("權杖輪替", parse_query("权杖").words) == ["權杖"]
    assert words_in("Token Policies", parse_query("ｔｏｋｅｎ policy").words) == ["Token", "Policies"]
    assert words_in("category", parse_query("cat ego").words) == ["category"]
    assert words_in("education", parse_query("cat").words) == []


@given(st.text(), st.text(max_size=20))
def test_any_text_and_query_give_one_short_line(text: str, query: str) -> None:
    shown = snippet(text, parse_query(query).words)
    assert len(shown) <= 160
    assert len((shown + "x").splitlines()) == 1


@given(st.text())
def test_alignment_keeps_every_place(text: str) -> None:
    assert len(aligned(text)) == len(text)


@given(st.text(), st.text(max_size=20))
def test_words_in_a_text_are_pieces_of_it(text: str, query: str) -> None:
    assert all(word in text for word in words_in(text, parse_query(query).words))
