"""Vectors within a build: what is left for later, what failed, and which pages are complete."""

from __future__ import annotations

import time

import pytest

from kb_pipeline.building.vectors import embed_wiki
from kb_pipeline.models import WikiPage
from kb_tests.fakes.bench import Silent
from kb_tests.fakes.vectors import CountingEmbedder, MemoryVectorStore
from kb_tests.fakes.wiki import page_text, parsed


def pages(count: int) -> list[WikiPage]:
    return parsed(
        {f"ops/p{n:02}.md": page_text(f"頁 {n}", f"## 節\n\n第 {n} 頁的逾時為 {n} 秒。") for n in range(count)}
    )


def test_a_model_that_fails_is_an_error_and_what_it_made_is_complete() -> None:
    store, wiki = MemoryVectorStore(), pages(30)
    made = embed_wiki(wiki, CountingEmbedder(fails_at=2), store, Silent())
    assert (made.complete, made.error) == (False, "the vendor is overloaded")
    assert 0 < len(made.complete_pages) < len(wiki)
    done = embed_wiki(wiki, CountingEmbedder(), store, Silent())
    assert (done.complete, done.error, len(done.complete_pages)) == (True, None, len(wiki))


def test_time_that_is_over_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter(range(10_000))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(ticks)))
    made = embed_wiki(pages(40), CountingEmbedder(), MemoryVectorStore(), Silent(), within=6.0)
    assert (made.complete, made.error) == (False, None)


def test_some_pages_alone_leave_the_rows_of_the_others() -> None:
    store, wiki = MemoryVectorStore(), pages(4)
    embed_wiki(wiki[:3], CountingEmbedder(), store, Silent())
    embedder = CountingEmbedder()
    made = embed_wiki(wiki[3:], embedder, store, Silent(), within=None, whole=False)
    assert list(made.complete_pages) == ["ops/p03.md"]
    assert all("頁 3" in text for text in embedder.texts)
    assert {name for rows in store.rows.values() for name, _ in rows} == {f"ops/p0{n}" for n in range(4)}
