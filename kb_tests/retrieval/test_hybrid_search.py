"""Hybrid search: both arms over one pool, and honest answers when one is missing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import pytest

from kb_pipeline.embeddings.chunking import chunk_page
from kb_pipeline.errors import DatabaseUnavailableError, PermanentProviderError
from kb_pipeline.models import Chunk, SearchAnswer, VectorHit
from kb_pipeline.ports import Vectors
from kb_pipeline.retrieval.hybrid import HybridOptions, hybrid_search
from kb_pipeline.retrieval.vectors import VectorCoverage
from kb_pipeline.storage.snapshots import Snapshot
from kb_tests.fakes.vectors import CountingEmbedder, MemoryVectorStore, unit
from kb_tests.fakes.wiki import START, Press, page_text, parsed

Key = tuple[str, str]
TEXTS = {
    "a.md": page_text("權杖輪替", "權杖每九十天輪替。 [[b]] [[c]]", keywords=("權杖",), summary="九十天"),
    "b.md": page_text("憑證更新", "憑證到期前更新。 [[c]]", keywords=("憑證",), summary="到期"),
    "c.md": page_text("金鑰保管", "金鑰放在保管庫。\n\n## 輪值\n\n每週換人。", keywords=("金鑰",), summary="保管庫"),
    "d.md": page_text("備份", "凌晨備份。", keywords=("備份",), summary="凌晨"),
}
MEANING = {"a": [1.0, 0.2, 0.0], "b": [0.9, 0.3, 0.0], "c": [0.6, 0.6, 0.0], "d": [0.0, 0.0, 1.0]}


class Compass(CountingEmbedder):
    """Queries point along the first axis, whatever they say."""

    @property
    def model_version(self) -> str:
        return "test/compass/3/p0/t1"

    @property
    def keyword_weight(self) -> float:
        return 0.4

    def embed_query(self, text: str) -> Vectors:
        return unit([1.0, 0.0, 0.0])


class Shelf(MemoryVectorStore):
    """Vectors by page, set by hand; counts what it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def put(self, texts: dict[str, str], only: Collection[str] | None = None) -> None:
        chunks = [chunk for page in parsed(texts) for chunk in chunk_page(page)]
        wanted = [chunk for chunk in chunks if only is None or chunk.concept_name in only]
        self.apply("test/compass/3/p0/t1", 3, [(c, unit(MEANING[c.concept_name])) for c in wanted], [])

    def search(self, model_version: str, query: Vectors, top_k: int) -> list[VectorHit]:
        self.asked.append("search")
        return super().search(model_version, query, top_k)

    def stored_hashes(self, model_version: str, concepts: Collection[str] | None = None) -> dict[Key, str]:
        self.asked.append("all hashes" if concepts is None else "hashes")
        return super().stored_hashes(model_version, concepts)


@pytest.fixture
def snapshot(tmp_path: Path) -> Snapshot:
    return Press(tmp_path / "build").publish(TEXTS)


@pytest.fixture
def shelf() -> Shelf:
    store = Shelf()
    store.put(TEXTS)
    return store


def search(snapshot: Snapshot, query: str, store: MemoryVectorStore, **more: Any) -> SearchAnswer:
    options = HybridOptions(**{"top_k": 4, **more})
    return hybrid_search(snapshot, query, Compass(), store, now=START, options=options)


def test_what_only_the_meaning_finds_and_what_the_words_find_stand_in_one_list(
    snapshot: Snapshot, shelf: Shelf
) -> None:
    answer = search(snapshot, "權杖輪替", shelf)
    assert [hit.path for hit in answer.results] == ["a.md", "b.md", "c.md"]
    assert answer.mode == "hybrid"
    assert answer.degradation == ()
    assert answer.stats["candidates"] == 4
    assert {"keyword_ms", "embed_ms", "vector_ms", "fusion_ms", "total_ms"} <= answer.stats.keys()


def test_every_candidate_is_scored_by_both_arms_and_the_breakdown_adds_up(snapshot: Snapshot, shelf: Shelf) -> None:
    for hit in search(snapshot, "權杖輪替 備份", shelf, min_score=0.0).results:
        parts = hit.breakdown
        assert {"keyword", "keyword_normalised", "vector", "vector_normalised"} <= parts.keys()
        fused = 0.4 * parts["keyword_normalised"] + 0.6 * parts["vector_normalised"] + parts.get("graph_boost", 0.0)
        assert hit.score == pytest.approx(fused, abs=1e-5)


def test_pages_linked_with_two_other_candidates_are_lifted_and_say_so(snapshot: Snapshot, shelf: Shelf) -> None:
    hits = {hit.path: hit for hit in search(snapshot, "權杖", shelf, min_score=0.0).results}
    assert {path for path, hit in hits.items() if "graph_boost" in hit.breakdown} == {"a.md", "b.md", "c.md"}
    assert "與 2 個同時命中的頁面相連" in hits["a.md"].reason
    assert "語意相近" in hits["b.md"].reason


def test_the_section_shown_is_the_one_both_arms_like_best(snapshot: Snapshot, shelf: Shelf) -> None:
    hits = {hit.path: hit for hit in search(snapshot, "金鑰 輪值", shelf, min_score=0.0).results}
    assert hits["c.md"].section_title == "輪值"


def test_the_weight_of_an_arm_can_be_set(snapshot: Snapshot, shelf: Shelf) -> None:
    assert search(snapshot, "備份", shelf, keyword_weight=1.0).results[0].path == "d.md"
    assert search(snapshot, "備份", shelf, keyword_weight=0.0).results[0].path == "a.md"


def test_a_vector_of_another_text_than_the_published_one_does_not_count(snapshot: Snapshot, shelf: Shelf) -> None:
    rows = shelf.rows["test/compass/3/p0/t1"]
    for key, (chunk, vector) in list(rows.items()):
        if key[0] == "a":
            rows[key] = (Chunk(*key, chunk.address, "newer", "newer", "0" * 64), vector)
    answer = search(snapshot, "憑證", shelf, min_score=0.0)
    assert answer.degradation == ("embeddings_incomplete",)
    assert "a.md" not in {hit.path for hit in answer.results if "vector" in hit.breakdown}


def test_rows_of_pages_that_are_not_published_crowd_nothing_out(snapshot: Snapshot, shelf: Shelf) -> None:
    rows = shelf.rows["test/compass/3/p0/t1"]
    for n in range(300):
        rows[f"gone/{n}", "_lead"] = (Chunk(f"gone/{n}", "_lead", "", "", "", "0" * 64), unit([1.0, 0.0, 0.0]))
    assert [hit.path for hit in search(snapshot, "zzz", shelf).results][:2] == ["a.md", "b.md"]


def test_while_vectors_are_being_made_the_answer_says_so_and_words_find_the_rest(snapshot: Snapshot) -> None:
    store = Shelf()
    store.put(TEXTS, only={"a", "b"})
    answer = search(snapshot, "備份", store)
    assert answer.degradation == ("embeddings_incomplete",)
    assert "d.md" in {hit.path for hit in answer.results}


def test_with_no_vectors_at_all_words_alone_decide(snapshot: Snapshot) -> None:
    answer = search(snapshot, "備份", Shelf())
    assert [hit.path for hit in answer.results] == ["d.md"]
    assert answer.degradation == ("embeddings_incomplete",)


class Down(Shelf):
    def search(self, model_version: str, query: Vectors, top_k: int) -> list[VectorHit]:
        raise DatabaseUnavailableError("PostgreSQL is not reachable")


class DownLater(Shelf):
    def similarities(self, model_version: str, query: Vectors, keys: Sequence[Key]) -> dict[Key, float]:
        raise DatabaseUnavailableError("PostgreSQL went away")


class Mute(Compass):
    def embed_query(self, text: str) -> Vectors:
        raise PermanentProviderError("no key")


@pytest.mark.parametrize(("store", "embedder"), [(Down(), Compass()), (DownLater(), Compass()), (Shelf(), Mute())])
def test_without_database_or_model_the_words_answer_and_the_answer_says_so(
    snapshot: Snapshot, store: Shelf, embedder: Compass
) -> None:
    answer = hybrid_search(snapshot, "備份", embedder, store, now=START)
    assert [hit.path for hit in answer.results] == ["d.md"]
    assert answer.mode == "hybrid"
    assert answer.degradation == ("vector_unavailable_fallback_to_keyword",)


def test_without_the_graph_nothing_is_lifted_and_the_answer_says_so(snapshot: Snapshot, shelf: Shelf) -> None:
    (snapshot.folder / "neighbours.bin").unlink()
    answer = search(snapshot, "權杖", shelf)
    assert answer.degradation == ("graph_unavailable",)
    assert answer.results
    assert not any("graph_boost" in hit.breakdown for hit in answer.results)


@pytest.mark.parametrize("query", ["", "  \n"])
def test_a_blank_query_asks_nobody(snapshot: Snapshot, shelf: Shelf, query: str) -> None:
    answer = search(snapshot, query, shelf)
    assert (answer.results, answer.mode, shelf.asked) == ((), "hybrid", [])


def test_a_server_looks_over_all_rows_once_while_they_are_complete(snapshot: Snapshot, shelf: Shelf) -> None:
    coverage = VectorCoverage(shelf)
    for _ in range(3):
        search(snapshot, "權杖", shelf, coverage=coverage)
    assert shelf.asked.count("all hashes") == 1


def test_stale_hits_are_marked(snapshot: Snapshot, shelf: Shelf) -> None:
    answer = hybrid_search(snapshot, "備份", Compass(), shelf, now=START, current_hash=lambda path: None)
    assert all(hit.stale for hit in answer.results)
