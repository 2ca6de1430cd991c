"""TextRank over the sentences of a section."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.text.textrank import rank_sentences

SENTENCES = [
    "權杖每五分鐘輪替一次。",
    "輪替失敗時，權杖服務會重試三次。",
    "權杖服務重試後仍失敗就發出警報。",
    "辦公室的咖啡機壞了。",
]


def test_the_sentence_off_the_subject_ranks_last() -> None:
    scores = rank_sentences(SENTENCES)
    assert min(scores) == scores[3]
    assert max(scores) == scores[1]


@given(st.lists(st.sampled_from([*SENTENCES, "", "a b", "the", "token rotates"]), min_size=1, max_size=12))
def test_scores_add_up_to_one_and_are_the_same_every_time(sentences: list[str]) -> None:
    scores = rank_sentences(sentences)
    assert sum(scores) == pytest.approx(1.0)
    assert rank_sentences(list(sentences)) == scores


def test_equal_sentences_score_alike() -> None:
    scores = rank_sentences(["甲乙丙", "丁戊", "甲乙丙", "甲乙丁"])
    assert scores[0] == pytest.approx(scores[2])


def test_nothing_in_nothing_out() -> None:
    assert rank_sentences([]) == []


def test_sentences_without_a_common_word_rank_alike() -> None:
    assert rank_sentences(["甲", "乙", "丙"]) == pytest.approx([1 / 3] * 3)


def test_a_long_section_costs_its_length_and_not_its_square() -> None:
    """2,000 sentences: a full matrix would hold four million numbers."""
    sentences = [f"第 {number} 條規則限制 token {number % 50} 的重試" for number in range(2000)]
    assert len(rank_sentences(sentences)) == 2000
