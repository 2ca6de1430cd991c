"""Tokens and shingles of a text's wording."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.text.similarity import SHINGLE, shingles, words


def test_shingles_are_every_run_of_eight_tokens() -> None:
    assert shingles(list("abcdefghij")) == {tuple("abcdefgh"), tuple("bcdefghi"), tuple("cdefghij")}


def test_fewer_tokens_than_a_shingle_has_give_none() -> None:
    assert shingles(list("abcdefg")) == set()


def test_words_are_single_chinese_characters_and_whole_latin_words() -> None:
    assert words("ＡPI 權杖 v2，don't") == ["api", "权", "杖", "v2", "don", "t"]


def test_width_case_script_and_marks_make_no_other_wording() -> None:
    assert words("權杖 ＴＯＫＥＮ，輪替") == words("权杖token轮替")


@given(st.lists(st.sampled_from("abc"), max_size=30))
def test_there_are_at_most_as_many_shingles_as_places_for_one(tokens: list[str]) -> None:
    assert len(shingles(tokens)) <= max(0, len(tokens) - SHINGLE + 1)
