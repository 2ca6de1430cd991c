"""Cutting texts into parts that a model takes whole."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.embeddings.splitting import estimate_tokens, split_text

FAMILY = "👨\u200d👩\u200d👧\u200d👦"
texts = st.text(
    st.one_of(
        st.sampled_from(list("權杖的有效期限。，\n\n \tabc XYZ019.,;|`-#!?！？\u3000")),
        st.sampled_from(["e\u0301", FAMILY, "🇹🇼", "👍🏽"]).map(lambda each: each[0]),
        st.characters(exclude_categories=("Cs",)),
    ),
    max_size=400,
)


@given(texts, st.integers(1, 60), st.integers(1, 60))
def test_the_parts_joined_are_the_text_and_each_fits(text: str, limit: int, first: int) -> None:
    parts = split_text(text, limit, first)
    assert "".join(parts) == text
    assert estimate_tokens(parts[0]) <= first
    assert all(estimate_tokens(part) <= limit for part in parts[1:])


@given(texts)
def test_a_text_never_has_more_tokens_than_characters(text: str) -> None:
    assert estimate_tokens(text) <= len(text)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("權杖", 2),
        ("token", 2),
        ("the token", 3),
        ("12345", 3),
        ("a1b2", 4),
        ("(x)", 3),
        (" \n\u3000", 0),
        ("逾時 30 秒", 4),
    ],
)
def test_tokens_are_estimated(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


def test_paragraphs_stay_whole_where_they_fit() -> None:
    first, second, third = "甲" * 30 + "。\n\n", "乙" * 30 + "。\n\n", "丙" * 30 + "。"
    assert split_text(first + second + third, 40) == [first, second, third]


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    parts = split_text("".join(f"第 {number} 句說一件完整的事情。" for number in range(40)), 60)
    assert len(parts) > 1
    assert all(part.rstrip().endswith("。") for part in parts)


def test_a_long_sentence_is_cut_between_words() -> None:
    parts = split_text("timeout " * 300, 50)
    assert all(part.endswith(" ") for part in parts)


def test_parts_are_of_about_the_same_size() -> None:
    sizes = [estimate_tokens(part) for part in split_text("一句剛好十個字的話。" * 21, 100)]
    assert max(sizes) < 2 * min(sizes)


@pytest.mark.parametrize("sign", [FAMILY, "🇹🇼🇯🇵", "👍🏽", "e\u0301\u0323", "❤\ufe0f"])
def test_what_a_reader_sees_as_one_character_is_not_parted(sign: str) -> None:
    whole = {"🇹🇼🇯🇵": ["🇹🇼", "🇯🇵"]}.get(sign, [sign])
    for part in split_text(sign * 60, 23):
        rest = part
        for each in whole * 60:
            rest = rest.replace(each, "", 1)
        assert rest == ""


def test_a_limit_below_one_is_a_callers_mistake() -> None:
    with pytest.raises(ValueError, match="one token"):
        split_text("text", 0)


def test_cost_grows_with_the_length() -> None:
    begun = time.process_time()
    split_text("甲" * 300_000, 400)
    split_text("word " * 60_000, 400)
    split_text("e" + "\u0301" * 50_000, 400)
    assert time.process_time() - begun < 8
