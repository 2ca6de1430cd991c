"""Keeping vectors in step with pages."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from kb_pipeline.embeddings.indexing import EmbeddingReport, embed_pages, plan_embeddings
from kb_pipeline.markdown.pages import read_page
from kb_pipeline.models import WikiPage
from kb_pipeline.storage.vectors import PgVectorStore
from kb_tests.fakes.vectors import CountingEmbedder, MemoryVectorStore
from kb_tests.storage.postgres_server import fresh_database


class ProgressLog:
    def __init__(self) -> None:
        self.updates: list[tuple[str, int, int, str]] = []

    def update(self, step: str, done: int, total: int, detail: str = "") -> None:
        self.updates.append((step, done, total, detail))


def page(path: str, *sections: str, status: str = "current") -> WikiPage:
    body = "".join(f"## {text[:6]}\n\n{text}\n\n" for text in sections)
    front = f"---\ntitle: {path}\nscope: x\nsummary: 摘要 {path}\nkeywords: [a, b, c]\nupdated: 2026-08-18\nstatus: {status}\n---\n"
    return read_page(path, f"{front}# {path}\n\n{body}".encode())


def figures(report: EmbeddingReport) -> tuple[int, int, int, int]:
    return report.embedded, report.reused, report.removed, report.unchanged


def keys(store: MemoryVectorStore, embedder: CountingEmbedder) -> set[tuple[str, str]]:
    return set(store.rows.get(embedder.model_version, {}))


def test_a_second_run_with_nothing_changed_calls_nobody_and_writes_nothing() -> None:
    store, embedder = MemoryVectorStore(), CountingEmbedder()
    pages = [page("a.md", "第一節"), page("b.md", "第二節")]
    assert figures(embed_pages(pages, embedder, store)) == (4, 0, 0, 0)
    calls, applied = len(embedder.calls), len(store.applied)
    assert figures(embed_pages(pages, embedder, store)) == (0, 0, 0, 4)
    assert (len(embedder.calls), len(store.applied)) == (calls, applied)


def test_a_page_that_lost_a_row_is_read_again_although_its_stamp_fits() -> None:
    store, embedder = MemoryVectorStore(), CountingEmbedder()
    pages = [page("a.md", "第一節"), page("b.md", "第二節")]
    embed_pages(pages, embedder, store)
    del store.rows[embedder.model_version]["a", "_lead"]
    assert figures(embed_pages(pages, embedder, store)) == (1, 0, 0, 3)


def test_only_what_changed_is_embedded_and_vanished_sections_go_with_it() -> None:
    store, embedder = MemoryVectorStore(), CountingEmbedder()
    embed_pages([page("a.md", "第一節", "第二節"), page("b.md", "別的頁")], embedder, store)
    embedder.calls.clear()
    store.applied.clear()
    report = embed_pages([page("a.md", "第一節", "第三節"), page("b.md", "別的頁")], embedder, store)
    assert figures(report) == (1, 0, 1, 4)
    assert [text.splitlines()[-1] for text in embedder.texts] == ["第三節"]
    assert store.applied == [([("a", "第三節")], [("a", "第二節")])]


def test_a_page_that_is_gone_loses_its_rows_and_a_draft_has_none() -> None:
    store, embedder = MemoryVectorStore(), CountingEmbedder()
    embed_pages([page("a.md", "第一節"), page("b.md", "第二節")], embedder, store)
    report = embed_pages([page("b.md", "第二節", status="draft")], embedder, store)
    assert figures(report) == (0, 0, 4, 0)
    assert keys(store, embedder) == set()


def test_equal_texts_are_embedded_once() -> None:
    store, embedder = MemoryVectorStore(), CountingEmbedder()
    same = [read_page(f"{name}.md", "# 同名\n\n## 甲\n\n同一段。\n".encode()) for name in "abc"]
    assert figures(embed_pages(same, embedder, store)) == (1, 2, 0, 0)
    assert len(embedder.texts) == 1
    assert len(keys(store, embedder)) == 3


def test_a_moved_page_keeps_its_vectors_without_a_call() -> None:
    store, embedder = MemoryVectorStore(), CountingEmbedder()
    body = "# 名\n\n前言。\n\n## 甲\n\n同一段。\n".encode()
    embed_pages([read_page("a.md", body)], embedder, store)
    embedder.calls.clear()
    assert figures(embed_pages([read_page("z/b.md", body)], embedder, store)) == (0, 2, 2, 0)
    assert embedder.calls == []
    assert keys(store, embedder) == {("z/b", "_lead"), ("z/b", "甲")}


def test_with_named_pages_only_those_are_judged() -> None:
    store, embedder = MemoryVectorStore(), CountingEmbedder()
    embed_pages([page("a.md", "甲"), page("b.md", "乙"), page("c.md", "丙")], embedder, store)
    report = embed_pages([page("a.md", "甲二")], embedder, store, gone=["c"])
    assert figures(report) == (1, 0, 3, 1)
    assert {name for name, _ in keys(store, embedder)} == {"a", "b"}


def test_a_vendor_that_fails_ends_the_run_with_what_was_done_and_the_next_goes_on_there() -> None:
    store, embedder = MemoryVectorStore(), CountingEmbedder(fails_at=3)
    pages = [page(f"{number:02}.md", "一段話") for number in range(20)]
    report = embed_pages(pages, embedder, store, batch_texts=8)
    assert not report.complete
    assert report.problem == "the vendor is overloaded"
    assert report.embedded == len(keys(store, embedder)) == 16
    second = embed_pages(pages, CountingEmbedder(), store)
    assert (second.embedded, second.unchanged, second.complete) == (24, 16, True)


def test_it_stops_when_asked_and_says_that_vectors_are_missing() -> None:
    store, embedder = MemoryVectorStore(), CountingEmbedder()
    report = embed_pages([page("a.md", "甲")], embedder, store, stop=lambda: True)
    assert (report.complete, report.embedded) == (False, 0)


def test_batches_hold_whole_pages_and_the_first_is_small() -> None:
    store, embedder = MemoryVectorStore(), CountingEmbedder()
    embed_pages([page(f"{number:02}.md", "一", "二") for number in range(30)], embedder, store, batch_texts=30)
    assert [len(call) for call in embedder.calls] == [9, 30, 30, 21]
    for written, _ in store.applied:
        names = [name for name, _ in written]
        assert all(names.count(name) == 3 for name in names)


def test_progress_tells_how_far_it_is_and_how_long_it_will_take() -> None:
    log = ProgressLog()
    embed_pages([page(f"{number}.md", "段落") for number in range(9)], CountingEmbedder(), MemoryVectorStore(), log)
    assert [update[:3] for update in log.updates] == [("embeddings", 8, 18), ("embeddings", 18, 18)]
    assert log.updates[0][3].endswith("left")
    assert log.updates[-1][3] == ""


@settings(max_examples=40)
@given(
    st.dictionaries(st.sampled_from("abcd"), st.lists(st.sampled_from(["甲甲", "乙乙", "丙丙"]), max_size=3)),
    st.dictionaries(st.sampled_from("abcd"), st.lists(st.sampled_from(["甲甲", "乙乙", "丙丙"]), max_size=3)),
)
def test_from_any_state_to_any_other_the_rows_are_those_of_a_new_build(
    before: dict[str, list[str]], after: dict[str, list[str]]
) -> None:
    def pages(wiki: dict[str, list[str]]) -> list[WikiPage]:
        return [page(f"{name}.md", *sections) for name, sections in sorted(wiki.items())]

    store, embedder = MemoryVectorStore(), CountingEmbedder()
    embed_pages(pages(before), embedder, store)
    embed_pages(pages(after), embedder, store)
    anew = MemoryVectorStore()
    embed_pages(pages(after), embedder, anew)
    assert store.stored_hashes(embedder.model_version) == anew.stored_hashes(embedder.model_version)
    assert not plan_embeddings(pages(after), store.stored_hashes(embedder.model_version))


def test_with_a_real_database_the_page_that_speaks_of_it_is_found() -> None:
    store, embedder = PgVectorStore(fresh_database()), CountingEmbedder()
    pages = [page("token.md", "權杖的有效期限是十五分鐘"), page("backup.md", "備份每天兩次")]
    assert figures(embed_pages(pages, embedder, store)) == (4, 0, 0, 0)
    assert store.search(embedder.model_version, embedder.embed_query("權杖有效期限"), 1)[0].concept_name == "token"
    assert figures(embed_pages(pages[:1], embedder, store)) == (0, 0, 2, 2)
    assert figures(embed_pages([page("token.md", "別的")], embedder, store, gone=[])) == (1, 0, 1, 1)
