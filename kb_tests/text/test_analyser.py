"""Tokens, alike for index and query (SPEC 13)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.text.analyser import STOP_WORDS, analyse
from kb_pipeline.text.snowball import _english, stem_english


def test_chinese_gives_each_character_and_each_pair() -> None:
    assert analyse("備份檔") == ["备", "份", "档", "备份", "份档"]


def test_a_single_character_is_one_token() -> None:
    assert analyse("鍵") == ["键"]


def test_pairs_do_not_reach_across_punctuation_or_latin() -> None:
    assert analyse("權，杖 API 令") == ["权", "杖", "api", "令"]


def test_traditional_and_simplified_text_give_the_same_tokens() -> None:
    assert analyse("權杖輪替失敗") == analyse("权杖轮替失败")


def test_full_width_text_gives_the_tokens_of_narrow_text() -> None:
    assert analyse("ＡＰＩ Ｔｏｋｅｎ　１２３") == analyse("API Token 123")


def test_english_is_lower_cased_freed_of_stop_words_and_stemmed() -> None:
    assert analyse("The tokens are Rotated by its owners") == ["token", "rotat", "owner"]


@pytest.mark.parametrize("text", ["the", "to be or not to be", "It"])
def test_a_text_of_stop_words_only_keeps_them(text: str) -> None:
    assert analyse(text) == text.lower().split()


@pytest.mark.parametrize("text", ["", "   ", "。，！？", "---"])
def test_a_text_without_words_has_no_tokens(text: str) -> None:
    assert analyse(text) == []


@pytest.mark.parametrize(
    ("written", "whole", "parts"),
    [
        ("max_retry_count", "max_retry_count", {"max", "retri", "count"}),
        ("getUserId", "getuserid", {"get", "user", "id"}),
        ("HTTPServer", "httpserver", {"http", "server"}),
        ("UserIDs", "useridsid"[:7], {"user", "id"}),
        ("kb_pipeline.text.folding", "kb_pipeline.text.folding", {"kb", "pipelin", "text", "fold"}),
        ("pre-commit-hook", "pre-commit-hook", {"pre", "commit", "hook"}),
        ("docs/setup/install.md", "docs/setup/install.md", {"install.md", "doc", "setup", "instal", "md"}),
        ("std::fs::File", "std::fs::file", {"std", "fs", "file"}),
        ("node.js", "node.js", {"node", "js"}),
        ("C++", "c++", {"c"}),
        ("deploy.sh", "deploy.sh", {"deploy", "sh"}),
    ],
)
def test_identifiers_are_kept_whole_and_split(written: str, whole: str, parts: set[str]) -> None:
    tokens = analyse(written)
    assert parts <= set(tokens)
    assert whole in tokens or stem_english(whole) in tokens


@pytest.mark.parametrize(
    ("written", "tokens"),
    [
        ("v1.2.3", ["v1.2.3", "1.2.3"]),
        ("1.2.3-rc1", ["1.2.3-rc1"]),
        ("E1001", ["e1001"]),
        ("10.0.0.1", ["10.0.0.1"]),
        ("2026-08-18", ["2026-08-18"]),
        ("1,000,000", ["1000000"]),
        ("sha256", ["sha256"]),
    ],
)
def test_versions_addresses_codes_and_numbers_stay_whole(written: str, tokens: list[str]) -> None:
    assert analyse(written) == tokens


def test_a_version_is_found_with_and_without_its_v() -> None:
    assert set(analyse("1.2.3")) & set(analyse("v1.2.3"))


def test_possessives_and_curly_apostrophes_are_no_words_of_their_own() -> None:
    assert analyse("the page’s links") == analyse("page links") == ["page", "link"]
    assert analyse("don’t restart") == ["restart"]


def test_mixed_text_keeps_the_order_of_its_runs() -> None:
    assert analyse("deploy流程 v2") == ["deploy", "流", "程", "流程", "v2"]


@given(st.text(max_size=80))
def test_any_text_can_be_analysed_and_tokens_are_never_empty(text: str) -> None:
    assert all(analyse(text)) or analyse(text) == []


@given(st.lists(st.sampled_from(["權杖", "token", "E1001", "a_b", "，", " "]), max_size=8))
def test_blanks_around_a_text_change_nothing(parts: list[str]) -> None:
    text = " ".join(parts)
    assert analyse(f"  {text}\n") == analyse(text)


def test_the_shortcut_before_the_stemmer_never_changes_a_stem() -> None:
    roots = "relat organiz optim configur generat commun gener arsenal happ tr caress poni agree plaster hopp fail fil geolog"
    endings = [
        "", "s", "es", "ed", "ing", "ly", "e", "y", "ational", "ization", "fulness", "iveness", "ist", "ogist", "ism", "al", "or",
        "er", "ic", "ment", "ness", "ous", "ible", "able", "l", "ll", "t", "d", "g", "n", "m", "k", "x", "o", "a", "ogi", "li", "i",
        "ful", "ance", "ant", "ent", "ence", "ion", "ium", "us", "ual", "ur", "th", "ck", "p", "r", "c", "w", "f", "b", "z", "'s",
    ]  # fmt: skip
    words = {root + ending for root in roots.split() for ending in endings} | STOP_WORDS
    assert {word: stem_english(word) for word in words} == {word: _english()(word) for word in words}
