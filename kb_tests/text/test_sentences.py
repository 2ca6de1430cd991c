"""Sentence splitting, Chinese and English."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.text.sentences import split_sentences


def stripped(text: str) -> list[str]:
    return [sentence.strip() for sentence in split_sentences(text)]


@given(st.text(alphabet="甲乙。！？…「」.!? \n\tab`-#1)|", max_size=60))
def test_nothing_is_lost(text: str) -> None:
    assert "".join(split_sentences(text)) == text


@given(st.text(alphabet="甲。.! \nab", max_size=40))
def test_no_sentence_is_blank_unless_the_text_is(text: str) -> None:
    assert all(sentence.strip() for sentence in split_sentences(text)) or not text.strip()


def test_chinese_sentences_end_at_full_width_marks() -> None:
    assert stripped("權杖每日輪替。失敗會重試！好嗎？") == ["權杖每日輪替。", "失敗會重試！", "好嗎？"]


def test_a_closing_quote_belongs_to_the_sentence_it_closes() -> None:
    assert stripped("他說：「不要重啟。」然後離開。") == ["他說：「不要重啟。」", "然後離開。"]


@pytest.mark.parametrize(
    "sentence",
    [
        "Use e.g. the default port.",
        "See Fig. 3 for details.",
        "Version 1.2.3 fixes it.",
        "Open kb.yml and edit it.",
        "It runs at 3 a.m. every day.",
        "J. Smith wrote it.",
        "Run `kb build. Then` again.",
        "Visit https://example.com/a.b?c=d now.",
        "1. Open the console.",
    ],
)
def test_a_full_stop_inside_a_sentence_does_not_end_it(sentence: str) -> None:
    assert split_sentences(sentence) == [sentence]


def test_english_sentences_end_at_a_mark_and_a_blank() -> None:
    assert stripped("It failed. Retry it! Did it work? Yes, etc. The end.") == [
        "It failed.",
        "Retry it!",
        "Did it work?",
        "Yes, etc.",
        "The end.",
    ]


def test_mixed_sentences_are_told_apart() -> None:
    assert stripped("部署用 deploy.sh。See the docs. 完成") == ["部署用 deploy.sh。", "See the docs.", "完成"]


def test_a_soft_wrap_is_no_end_but_a_list_item_is() -> None:
    assert stripped("one line\nand its rest\n- first\n- second") == ["one line\nand its rest", "- first", "- second"]


def test_a_blank_line_ends_a_sentence() -> None:
    assert stripped("標題\n\n內文") == ["標題", "內文"]


@pytest.mark.parametrize("unit", ["`", "` ", ".", ". ", "。", "…", "!)", "\n", "1. ", "a"])
def test_no_repetition_makes_splitting_slow(unit: str) -> None:
    """A pattern that tried every start against every end would need minutes here."""
    assert "".join(split_sentences(unit * 20_000 + "z")) == unit * 20_000 + "z"
