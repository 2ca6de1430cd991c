"""What two_stage_hybrid promises for any scores at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.retrieval.fusion import CONNECTED, GRAPH_BOOST, fuse, normalise

names = st.sampled_from([f"{letter}.md" for letter in "abcdefgh"])
scores = st.dictionaries(names, st.floats(-1, 50, allow_nan=False), max_size=8)
similarities = st.dictionaries(names, st.floats(-1, 1, allow_nan=False), max_size=8)
weights = st.floats(0, 1, allow_nan=False)
graphs = st.dictionaries(names, st.lists(names, max_size=6), max_size=8)


@given(scores)
def test_normalised_scores_lie_between_0_and_1_and_keep_their_order(found: dict[str, float]) -> None:
    normal = normalise(found)
    assert normal.keys() == found.keys()
    assert all(0.0 <= value <= 1.0 for value in normal.values())
    ranked = sorted(found, key=found.__getitem__)
    assert [normal[name] for name in ranked] == sorted(normal.values())


def test_equal_scores_count_fully_and_nothing_counts_as_nothing() -> None:
    assert normalise({"a": 3.0, "b": 3.0}) == {"a": 1.0, "b": 1.0}
    assert normalise({"a": 0.0, "b": 0.0}) == {"a": 0.0, "b": 0.0}
    assert normalise({}) == {}


@given(scores, similarities, weights, graphs)
def test_the_order_is_by_score_then_name_and_nothing_below_the_minimum_is_shown(
    keyword: dict[str, float], vector: dict[str, float], weight: float, graph: dict[str, list[str]]
) -> None:
    fused = fuse(keyword, vector, keyword_weight=weight, neighbours=graph, min_score=0.15)
    assert [(-item.score, item.name) for item in fused] == sorted((-item.score, item.name) for item in fused)
    assert all(0.15 <= item.score <= 1.0 + GRAPH_BOOST + 1e-9 for item in fused)
    assert {item.name for item in fused} <= keyword.keys() | vector.keys()
    everything = fuse(keyword, vector, keyword_weight=weight, neighbours=graph, min_score=0.0)
    assert {item.name for item in everything} == keyword.keys() | vector.keys()


@given(scores, similarities, weights, st.randoms())
def test_the_result_does_not_depend_on_the_order_of_candidates(
    keyword: dict[str, float], vector: dict[str, float], weight: float, random: object
) -> None:
    shuffled = list(keyword.items())
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert fuse(keyword, vector, keyword_weight=weight) == fuse(dict(shuffled), vector, keyword_weight=weight)


@given(scores, similarities, weights, st.floats(0.1, 10), st.floats(-3, 3))
def test_scale_and_offset_of_an_arm_do_not_matter(
    keyword: dict[str, float], vector: dict[str, float], weight: float, scale: float, offset: float
) -> None:
    # Crowded similarities (.79 to .90) and wide ones must weigh alike.
    if len({round(value, 3) for value in vector.values()}) < 2:
        return
    moved = {name: value * scale + offset for name, value in vector.items()}
    before = {item.name: item.score for item in fuse(keyword, vector, keyword_weight=weight, min_score=0.0)}
    after = {item.name: item.score for item in fuse(keyword, moved, keyword_weight=weight, min_score=0.0)}
    assert after == pytest.approx(before, abs=1e-6)


@given(scores, similarities, weights, graphs)
def test_the_boost_needs_two_or_more_other_candidates_among_the_neighbours(
    keyword: dict[str, float], vector: dict[str, float], weight: float, graph: dict[str, list[str]]
) -> None:
    pool = keyword.keys() | vector.keys()
    plain = {item.name: item for item in fuse(keyword, vector, keyword_weight=weight, min_score=0.0)}
    for item in fuse(keyword, vector, keyword_weight=weight, neighbours=graph, min_score=0.0):
        others = {near for near in graph.get(item.name, []) if near != item.name and near in pool}
        assert item.boost == (GRAPH_BOOST if len(others) >= CONNECTED else 0.0)
        assert item.score == pytest.approx(plain[item.name].score + item.boost)


@given(scores.filter(bool), similarities.filter(bool))
def test_a_weight_of_one_or_zero_leaves_one_arm(keyword: dict[str, float], vector: dict[str, float]) -> None:
    both = {name: vector.get(name, 0.0) for name in keyword}
    words = {item.name: item.score for item in fuse(keyword, both, keyword_weight=1.0, min_score=0.0)}
    meaning = {item.name: item.score for item in fuse(keyword, both, keyword_weight=0.0, min_score=0.0)}
    assert words == pytest.approx(normalise(keyword))
    assert meaning == pytest.approx(normalise(both))


def test_a_page_without_a_vector_is_judged_by_its_words_and_not_by_a_zero() -> None:
    fused = {item.name: item for item in fuse({"a": 2.0, "b": 0.0, "c": 2.0}, {"a": 0.9, "b": 0.1}, keyword_weight=0.4)}
    assert fused["c"].vector is None
    assert fused["c"].score == fused["a"].score == 1.0
    assert "b" not in fused
