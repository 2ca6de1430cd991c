"""Keywords stand in the raw document or the glossary, and are what people look for."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_pipeline.models import Compiled, RawDocument, RewriteContext
from kb_pipeline.rewriting.chinese_terms import bare_term
from kb_pipeline.rewriting.offline import OfflineRewriter
from kb_pipeline.rewriting.vocabulary import LATIN_STOP
from kb_pipeline.text.folding import fold
from kb_pipeline.text.glossary import Glossary, parse_glossary

FILLING = "這一段沒有特別的內容，只是把篇幅補到一頁所需的長度，讓文件不會被當成片段。" * 6


def keywords(text: str, glossary: Glossary | None = None, path: str = "auth/note.md") -> tuple[str, ...]:
    outcome = OfflineRewriter(glossary).rewrite(RawDocument(path, text, "0" * 64), RewriteContext("auth/note"))
    assert isinstance(outcome, Compiled)
    return outcome.pages[0].keywords


def test_a_term_and_what_stands_beside_it_in_parentheses_are_both_keywords() -> None:
    found = keywords(f"# 換發\n\n權杖（token）過期。Service Level Objective (SLO) 為準。\n\n{FILLING}")
    assert {"權杖", "token", "Service Level Objective", "SLO"} <= set(found)


def test_words_of_the_title_and_identifiers_come_first() -> None:
    found = keywords(f"# Redis 連線池\n\n設定 `max_connections` 與 `max_connections`。\n\n{FILLING}")
    assert {"Redis", "連線池", "max_connections"} <= set(found[:5])


def test_the_authors_own_keywords_come_before_all_others() -> None:
    found = keywords(f"---\nkeywords: [輪替, rotation]\ntags: devdiary, auth\n---\n# T\n\n{FILLING}")
    assert found[:3] == ("輪替", "rotation", "auth")
    assert "devdiary" not in found


def test_a_stop_word_is_never_a_keyword_however_few_others_there_are() -> None:
    body = "It is what it is and of the same, `is` `setting` (of) THE. " * 8
    found = keywords(f"# The setting of a thing\n\n{body}")
    assert len(found) >= 3
    assert not LATIN_STOP & {fold(keyword) for keyword in found}
    assert all(len(keyword) > 1 for keyword in found)


def test_at_most_two_names_of_a_numbered_series_are_keywords() -> None:
    rows = "\n".join(f"| srv-{number:04d} | {8000 + number} | rack {number % 9} |" for number in range(40))
    found = keywords(f"# Hosts\n\n| host | port | note |\n|---|---|---|\n{rows}\n")
    assert sum(keyword.startswith("srv-") for keyword in found) <= 2


def test_targets_and_anchors_of_links_are_no_keywords() -> None:
    line = (
        "See [[b#Level]], [[notes/alpha#SomeAnchor]] and [the menu](x/y.md#DeepAnchor 'OldTitle') or [[c#Low|relays]]."
    )
    found = " ".join(keywords("# Menu\n\n" + f"{line}\n\n" * 6))
    assert not re.search(r"#|Level|SomeAnchor|DeepAnchor|OldTitle|Low", found)
    assert "relays" in found


def test_glossary_words_of_a_term_in_the_text_are_added() -> None:
    glossary = parse_glossary("terms:\n  - term: 權杖\n    en: [token]\n    synonyms: [憑證]\n    avoid: [代幣]\n")
    found = keywords(f"# 輪替\n\n權杖到期後換發權杖。\n\n{FILLING}", glossary)
    assert {"權杖", "token", "憑證"} <= set(found)
    assert "代幣" not in found


@pytest.mark.parametrize(
    ("chunk", "term"),
    [("使用磁碟加密", "磁碟加密"), ("要部署", "部署"), ("用戶端", "用戶端"), ("索引標籤中", "索引標籤")],
)
def test_verbs_and_single_characters_around_a_term_are_left_out(chunk: str, term: str) -> None:
    assert bare_term(chunk) == term


_words = st.sampled_from(
    [
        "權杖",
        "過期",
        "快取",
        "服務",
        "redis",
        "token",
        "API",
        "的",
        "了",
        "和",
        "在",
        "設定",
        "`max_age`",
        "(TTL)",
        "**粗**",
        "[a](b.md)",
        "90",
        "天",
        "。",
        "，",
        "\n\n",
        "##",
        "標題",
        "-",
    ]
)


@settings(max_examples=60, deadline=None)
@given(st.lists(_words, min_size=120, max_size=260).map(" ".join))
def test_at_least_three_and_each_occurs_in_the_raw_document(text: str) -> None:
    path = "auth/權杖 note.md"
    outcome = OfflineRewriter().rewrite(RawDocument(path, text, "0" * 64), RewriteContext("auth/note"))
    if isinstance(outcome, Compiled):
        said = fold(f"{text}\n{path}".replace("*", "").replace("`", ""))
        for page in outcome.pages:
            assert 3 <= len(page.keywords) <= 12
            assert len({fold(keyword) for keyword in page.keywords}) == len(page.keywords)
            assert [keyword for keyword in page.keywords if fold(keyword) not in said] == []
