"""The glossary: reading it, finding its words, expanding queries (SPEC 6.13)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.text.glossary import Glossary, GlossaryTerm, parse_glossary

TEXT = """\
terms:
  - term: 權杖
    en: [token, access token]
    synonyms: 通行證、憑證
    abbreviations: [JWT]
    simplified: [令牌]
    avoid: [代幣]
    note: 與加密貨幣無關
  - term: 軟體
    en: software
    simplified: 软件
    avoid: [軟件]
  - 備份
"""

GLOSSARY = parse_glossary(TEXT)


def test_every_form_is_read_from_lists_and_comma_strings() -> None:
    assert GLOSSARY.problems == ()
    assert [replace(term, line=None) for term in GLOSSARY.terms] == [
        GlossaryTerm("權杖", ("token", "access token"), ("通行證", "憑證"), ("JWT",), ("令牌",), ("代幣",)),
        GlossaryTerm("軟體", ("software",), simplified=("软件",), avoid=("軟件",)),
        GlossaryTerm("備份"),
    ]
    assert [term.line for term in GLOSSARY.terms] == [2, 9, 13]


def test_a_query_is_expanded_by_the_other_forms_of_its_terms() -> None:
    assert GLOSSARY.expand("權杖怎麼輪替") == ("通行證", "憑證", "token", "access token", "JWT", "令牌", "代幣")
    assert GLOSSARY.expand("JWT 是什麼") == ("權杖", "通行證", "憑證", "token", "access token", "令牌", "代幣")


def test_forms_that_the_query_has_already_are_not_added_in_another_spelling() -> None:
    assert GLOSSARY.expand("Ｓｏｆｔｗａｒｅ 软件 軟體") == ()


@pytest.mark.parametrize("query", ["", "沒有詞", "tokens", "tokenise", "jwts", "my_token_id"])
def test_latin_forms_are_found_as_whole_words_only(query: str) -> None:
    assert GLOSSARY.expand(query) == ()


def test_latin_forms_beside_chinese_are_whole_words() -> None:
    assert [term.term for term in GLOSSARY.terms_in("把token換成軟體")] == ["權杖", "軟體"]


def test_terms_come_in_order_of_their_first_occurrence_and_once() -> None:
    assert [term.term for term in GLOSSARY.terms_in("備份軟體的備份與 Token")] == ["備份", "軟體", "權杖"]


def test_the_longest_form_wins() -> None:
    glossary = Glossary((GlossaryTerm("備份"), GlossaryTerm("備份檔")))
    assert [term.term for term in glossary.terms_in("備份檔")] == ["備份檔"]


def test_a_form_shared_by_two_terms_finds_both() -> None:
    glossary = Glossary((GlossaryTerm("權杖", ("token",)), GlossaryTerm("詞元", ("token",))))
    assert [term.term for term in glossary.terms_in("token")] == ["權杖", "詞元"]


def test_simplified_queries_find_traditional_terms() -> None:
    assert [term.term for term in GLOSSARY.terms_in("权杖")] == ["權杖"]


def test_words_to_avoid_are_reported_where_they_stand_with_what_to_write() -> None:
    text = "第一行\n這個軟件用代幣。\n软件"
    found = GLOSSARY.avoided_in(text)
    assert [(word.text, word.preferred, word.line) for word in found] == [
        ("軟件", "軟體", 2),
        ("代幣", "權杖", 2),
        ("软件", "軟體", 3),
    ]
    assert all(text[word.start : word.end] == word.text for word in found)


def test_a_proper_form_is_never_reported_though_it_folds_like_an_avoided_one() -> None:
    glossary = Glossary((GlossaryTerm("台灣", avoid=("臺灣",)),))
    assert glossary.avoided_in("台灣") == ()
    assert [word.text for word in glossary.avoided_in("臺灣")] == ["臺灣"]


def test_an_empty_glossary_finds_nothing() -> None:
    for glossary in (Glossary.empty(), parse_glossary(""), parse_glossary("terms:\n")):
        assert not glossary
        assert (glossary.problems, glossary.expand("權杖"), glossary.terms_in("權杖"), glossary.avoided_in("權杖")) == (
            (),
            (),
            (),
            (),
        )


@pytest.mark.parametrize(
    ("text", "line", "part"),
    [
        ("- a\n- b\n", 1, "list"),
        ("terms: word\n", 1, "list of entries"),
        ("other: 1\n", 1, "unknown key 'other'"),
        ("terms:\n  - en: [token]\n", 2, "'term'"),
        ("terms:\n  - term: a\n    english: b\n", 3, "'english'"),
        ("terms:\n  - term: a\n    en: {b: c}\n", 3, "'en'"),
        ("terms:\n  - term: a\n  - term: a\n", 3, "twice"),
        ("terms: [\n", None, ""),
    ],
)
def test_each_fault_is_reported_with_its_line(text: str, line: int | None, part: str) -> None:
    problems = parse_glossary(text).problems
    assert len(problems) == 1
    assert part in problems[0].message
    assert line is None or problems[0].line == line


def test_what_is_right_is_used_in_spite_of_what_is_wrong() -> None:
    glossary = parse_glossary("terms:\n  - en: [x]\n  - term: 權杖\n    en: [token]\n")
    assert (len(glossary.problems), glossary.expand("token")) == (1, ("權杖",))


@given(st.text(max_size=40))
def test_any_text_can_be_read_and_searched(text: str) -> None:
    parse_glossary(text)
    assert set(GLOSSARY.terms_in(text)) <= set(GLOSSARY.terms)
    assert all(text[word.start : word.end] == word.text for word in GLOSSARY.avoided_in(text))
