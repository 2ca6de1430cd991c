"""Folding: one spelling for what one query should find, and the table that OpenCC's t2s gives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.text.data.hanzi import ONLY_SIMPLIFIED, SIMPLIFIED, TRADITIONAL
from kb_pipeline.text.folding import fold, fold_script, narrow, script_of, traditional_to_simplified

IDEOGRAPHS = [*range(0x2E80, 0x2FE0), *range(0x3400, 0xA000), *range(0xF900, 0xFB00), *range(0x20000, 0x32400)]


def big5_frequent(char: str) -> bool:
    """Big5's first plane: the 5,401 characters that ordinary Traditional text is written with."""
    try:
        code = int.from_bytes(char.encode("big5"), "big")
    except UnicodeEncodeError:
        return False
    return 0xA440 <= code <= 0xC67E


def test_the_shipped_table_is_what_opencc_gives_today() -> None:
    """Regenerates ``data/hanzi.py``: paste these into it when OpenCC's dictionaries change."""
    opencc = pytest.importorskip("opencc")
    to_simplified, to_traditional = opencc.OpenCC("t2s"), opencc.OpenCC("s2t")
    pairs = {char: to_simplified.convert(char) for char in map(chr, IDEOGRAPHS)}
    changed = {char: simple for char, simple in pairs.items() if simple != char}
    only_simplified = [
        char
        for char, simple in pairs.items()
        if simple == char and to_traditional.convert(char) != char and not big5_frequent(char)
    ]
    while any(simple in changed for simple in changed.values()):
        changed = {char: changed.get(simple, simple) for char, simple in changed.items()}
    assert "".join(changed) == TRADITIONAL
    assert "".join(changed.values()) == SIMPLIFIED
    assert "".join(only_simplified) == ONLY_SIMPLIFIED


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("權杖輪替", "权杖轮替"),
        ("ＡＰＩ　Ｔｏｋｅｎ", "api token"),
        ("臺灣", "台湾"),
        ("５０％", "50%"),
        ("㎏", "kg"),
        ("Straße", "straße"),
    ],
)
def test_spellings_that_one_query_should_find_fold_alike(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@given(st.text(alphabet=st.characters(codec=None), max_size=400))
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold_script(fold_script(text)) == fold_script(text)


@given(st.text(alphabet="權杖输入abc臺Ａ\U0002a3cf\ud800 ", min_size=190, max_size=210))
def test_long_and_short_texts_fold_by_the_same_table(text: str) -> None:
    assert fold_script(text) == text.translate(traditional_to_simplified())


@given(st.text(max_size=60))
def test_folding_the_script_and_the_width_keeps_offsets(text: str) -> None:
    assert len(fold_script(text)) == len(narrow(text)) == len(text)


@pytest.mark.parametrize(
    ("text", "leading"),
    [
        ("這份文件說明權杖輪替", "traditional"),
        ("这份文件说明令牌轮换", "simplified"),
        ("皇后在里面", None),
        ("plain English", None),
        ("乾坤", None),
    ],
)
def test_the_script_of_a_text_is_told_by_characters_that_only_one_uses(text: str, leading: str | None) -> None:
    assert script_of(text).leading == leading


def test_characters_that_traditional_text_uses_too_are_not_counted_as_simplified() -> None:
    assert script_of("后里干台云只系面").simplified == 0
