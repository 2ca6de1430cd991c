"""Containment and near-duplicates."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.text.similarity import containment, near_duplicates, shingles, words

PROSE = "權杖服務在輪替失敗時會自動重試並且通知值班人員處理後續的狀況直到恢復為止"
OTHER = "備份流程由排程系統在離峰時段觸發並將結果寫入共用儲存空間供稽核人員查閱"


def test_shingles_are_every_run_of_eight_tokens() -> None:
    assert shingles(list("abcdefghij")) == {tuple("abcdefgh"), tuple("bcdefghi"), tuple("cdefghij")}
    assert shingles(list("abc")) == set()


def test_words_are_single_chinese_characters_and_whole_latin_words() -> None:
    assert words("ＡPI 權杖 v2") == ["api", "权", "杖", "v2"]


def test_a_copy_contains_all_and_another_text_nothing() -> None:
    assert containment(PROSE, PROSE) == 1.0
    assert containment(OTHER, PROSE) == 0.0


def test_a_page_may_hold_more_than_the_raw_text_and_still_be_a_copy() -> None:
    assert containment(f"# 標題\n\n{OTHER}\n\n{PROSE}", PROSE) == 1.0


def test_half_a_copy_is_about_half() -> None:
    assert containment(PROSE, f"{PROSE}\n{OTHER}") == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize(
    "kept",
    [
        "```bash\nkubectl rollout restart deployment auth server in the production cluster now\n```",
        "| 名稱 | 說明文字很長很長很長很長 |\n|---|---|\n| 甲 | 這一列的說明文字也很長很長很長 |",
        "- 權杖每 5 分鐘由權杖服務輪替一次並寫入稽核紀錄供人員查閱",
    ],
)
def test_code_tables_and_fact_lines_of_the_raw_do_not_count(kept: str) -> None:
    assert containment(kept, f"{kept}\n\n{PROSE}") == 0.0


def test_a_raw_text_without_prose_contains_nothing() -> None:
    assert containment("anything", "```\ncode\n```") == 0.0


def test_script_and_width_do_not_hide_a_copy() -> None:
    assert containment(PROSE.replace("權", "权"), PROSE) == 1.0


def test_near_duplicates_are_pairs_by_position_with_their_similarity() -> None:
    texts = [PROSE * 3, OTHER * 3, PROSE * 3 + "多一句話"]
    pairs = near_duplicates(texts)
    assert [(a, b) for a, b, _ in pairs] == [(0, 2)]
    assert pairs[0][2] > 0.8


@given(st.lists(st.sampled_from([PROSE, OTHER, "短", "", "a b c"]), max_size=6))
def test_equal_texts_are_always_found_and_empty_ones_never(texts: list[str]) -> None:
    equal = {
        (a, b) for a in range(len(texts)) for b in range(a + 1, len(texts)) if texts[a] == texts[b] and texts[a]
    }
    assert {(a, b) for a, b, _ in near_duplicates(texts)} == equal


def test_punctuation_and_white_space_do_not_tell_texts_apart() -> None:
    assert near_duplicates([PROSE, "，".join(PROSE)])[0][2] == 1.0


def test_many_texts_with_the_same_boilerplate_are_no_duplicates() -> None:
    """300 pages that share a paragraph: pairs are proposed by what is rare, so that this stays quick."""
    chance = random.Random(7)
    alphabet = [chr(code) for code in range(0x4E00, 0x5200)]
    texts = [PROSE + "".join(chance.choices(alphabet, k=300)) for _ in range(300)]
    assert near_duplicates([*texts, texts[5]]) == [(5, 300, 1.0)]
