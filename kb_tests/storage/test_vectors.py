"""Rows of vectors in a real PostgreSQL."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import yaml

from kb_pipeline.embeddings.chunking import chunk_page
from kb_pipeline.errors import DatabaseError
from kb_pipeline.markdown.pages import read_page
from kb_pipeline.models import Chunk
from kb_pipeline.ports import Vectors
from kb_pipeline.storage import vector_partitions
from kb_pipeline.storage.database import Database
from kb_pipeline.storage.vectors import PgVectorStore
from kb_tests.fakes.vectors import unit
from kb_tests.storage.postgres_server import fresh_database, shared_server

MODEL = "fake/model/3/plain/t1"


@pytest.fixture
def database() -> Database:
    return fresh_database()


@pytest.fixture
def store(database: Database) -> PgVectorStore:
    return PgVectorStore(database)


def chunk(name: str, section: str = "_lead", text: str = "文字") -> Chunk:
    digest = hashlib.sha256(f"{name} {text}".encode("utf-8", "replace")).hexdigest()
    return Chunk(name, section, f"{name}.md#{section}", text, text, digest)


def random_rows(count: int, dimensions: int) -> tuple[list[Chunk], Vectors]:
    numbers = np.random.default_rng(7).standard_normal((count, dimensions)).astype(np.float32)
    chunks = [chunk(f"page-{place:05}", text=f"text {place}") for place in range(count)]
    return chunks, numbers / np.linalg.norm(numbers, axis=1, keepdims=True)


def fill(store: PgVectorStore, model: str, chunks: list[Chunk], vectors: Vectors) -> None:
    store.apply(model, vectors.shape[1], zip(chunks, vectors, strict=True), [])


def test_a_model_that_nobody_stored_has_nothing(store: PgVectorStore) -> None:
    assert store.stored_hashes(MODEL) == {}
    assert store.known_vectors(MODEL, ["00"]) == {}
    assert store.search(MODEL, unit([1, 0, 0]), 5) == []
    assert store.similarities(MODEL, unit([1, 0, 0]), [("a", "_lead")]) == {}
    assert store.models() == ()
    assert not store.optimise(MODEL)
    store.drop_model(MODEL)


def test_rows_written_and_rows_removed_are_one_transaction(store: PgVectorStore) -> None:
    a, b, c = chunk("a"), chunk("b"), chunk("c")
    store.apply(MODEL, 3, [(a, unit([1, 0, 0])), (b, unit([0, 1, 0]))], [])
    store.apply(MODEL, 3, [(c, unit([0, 0, 1]))], [("a", "_lead"), ("nobody", "_lead")])
    assert store.stored_hashes(MODEL) == {("b", "_lead"): b.content_hash, ("c", "_lead"): c.content_hash}
    assert store.stored_hashes(MODEL, ["c", "x"]) == {("c", "_lead"): c.content_hash}
    with pytest.raises(ValueError, match="finite"):
        store.apply(MODEL, 3, [(a, np.array([[1, np.nan, 0]], dtype=np.float32))], [("b", "_lead")])
    with pytest.raises(ValueError, match="2 numbers"):
        store.apply(MODEL, 3, [(chunk("d"), unit([1, 0, 0])), (a, unit([1, 0]))], [("b", "_lead")])
    assert store.row_counts() == {MODEL: 2}


def test_the_original_text_is_stored_without_what_postgres_cannot_hold(
    database: Database, store: PgVectorStore
) -> None:
    store.apply(MODEL, 3, [(chunk("a", text="權\0杖\ud800 'x' \\"), unit([1, 0, 0]))], [])
    with database.transaction() as session:
        row = session.execute("select chunk_text, address, model_version from wiki.embeddings").fetchone()
    assert row == ("權杖? 'x' \\", "a.md#_lead", MODEL)


def test_rows_that_say_the_same_are_left_alone(database: Database, store: PgVectorStore) -> None:
    def stamps() -> dict[str, object]:
        with database.transaction() as session:
            return dict(session.execute("select concept_name, xmin::text from wiki.embeddings").fetchall())

    store.apply(MODEL, 3, [(chunk("a"), unit([1, 0, 0])), (chunk("b"), unit([0, 1, 0]))], [])
    before = stamps()
    store.apply(MODEL, 3, [(chunk("a"), unit([1, 0, 0])), (chunk("b"), unit([0, 1, 1]))], [])
    after = stamps()
    assert after["a"] == before["a"]
    assert after["b"] != before["b"]


def test_the_same_key_twice_in_a_batch_is_one_row_and_the_last_wins(store: PgVectorStore) -> None:
    last = chunk("a", text="second")
    store.apply(MODEL, 3, [(chunk("a", text="first"), unit([1, 0, 0])), (last, unit([0, 1, 0]))], [("a", "_lead")])
    assert store.stored_hashes(MODEL) == {("a", "_lead"): last.content_hash}


def test_search_is_exact_and_nearest_first(store: PgVectorStore) -> None:
    chunks, vectors = random_rows(300, 48)
    fill(store, MODEL, chunks, vectors)
    query = vectors[17:18] + 0.1
    cosines = (vectors @ query[0]) / np.linalg.norm(query)
    expected = [chunks[place].concept_name for place in np.argsort(-cosines)[:20]]
    hits = store.search(MODEL, query, 20)
    assert [hit.concept_name for hit in hits] == expected
    assert hits[0].similarity == pytest.approx(cosines.max(), abs=1e-5)
    assert hits[0].content_hash == chunks[17].content_hash
    assert len(store.search(MODEL, query, 5000)) == 300
    assert store.search(MODEL, query, 0) == []


def test_named_rows_are_scored_in_one_query_a_split_section_by_its_best_part(store: PgVectorStore) -> None:
    rows = [
        (chunk("a", "setup"), unit([1, 0, 0])),
        (chunk("a", "setup~2"), unit([0, 1, 0])),
        (chunk("a", "setup~10"), unit([1, 1, 0])),
        (chunk("a", "setup~x"), unit([0, 1, 0])),
        (chunk("a", "setup-1"), unit([0, 0, 1])),
        (chunk("b", "setup"), unit([0, 0, 1])),
    ]
    store.apply(MODEL, 3, rows, [])
    keys = [("a", "setup"), ("a", "setup~10"), ("a", "setup-1"), ("b", "setup"), ("b", "missing")]
    assert store.similarities(MODEL, unit([0, 1, 0]), keys) == {
        ("a", "setup"): pytest.approx(1.0),
        ("a", "setup~10"): pytest.approx(0.70710678),
        ("a", "setup-1"): pytest.approx(0.0),
        ("b", "setup"): pytest.approx(0.0),
    }


def test_a_page_keeps_its_stamp_as_long_as_its_rows_are_those_written_with_it(store: PgVectorStore) -> None:
    rows = [(chunk("a", "x"), unit([1, 0, 0])), (chunk("a", "y"), unit([0, 1, 0])), (chunk("b"), unit([0, 0, 1]))]
    store.apply(MODEL, 3, rows, [], {"a": ("stamp", 2)})
    assert store.page_stamps(MODEL) == {"a": ("stamp", 2), "b": ("", 1)}
    assert store.page_stamps(MODEL, ["a", "z"]) == {"a": ("stamp", 2)}
    store.apply(MODEL, 3, [], [("a", "x")])
    assert store.page_stamps(MODEL)["a"] == ("", 1)
    store.apply(MODEL, 3, [], [("a", "y")], {"a": ("", 0)})
    assert store.page_stamps(MODEL) == {"b": ("", 1)}
    assert store.page_stamps("unknown") == {}


def test_vectors_are_found_again_by_the_hash_of_their_text(store: PgVectorStore) -> None:
    first = chunk("a")
    store.apply(MODEL, 3, [(first, unit([1, 0, 0]))], [])
    known = store.known_vectors(MODEL, [first.content_hash, "ff"])
    assert list(known) == [first.content_hash]
    assert known[first.content_hash].tolist() == [[1.0, 0.0, 0.0]]


def test_models_of_any_widths_stand_side_by_side_and_are_dropped_alone(store: PgVectorStore) -> None:
    # Names that differ only in what a table's name cannot hold.
    for model, width in (("p/m/3", 3), ("p_m_3", 4), ("P/M/3" + "x" * 80, 2)):
        store.apply(model, width, [(chunk("a"), unit([1.0] * width))], [])
    assert set(store.row_counts().values()) == {1}
    assert len(store.models()) == 3
    store.drop_model("p/m/3")
    assert "p/m/3" not in store.row_counts()
    assert len(store.search("p_m_3", unit([1, 1, 1, 1]), 5)) == 1


def test_another_width_for_a_stored_model_is_refused(store: PgVectorStore) -> None:
    store.apply(MODEL, 3, [(chunk("a"), unit([1, 0, 0]))], [])
    with pytest.raises(DatabaseError, match="stored with 3"):
        store.apply(MODEL, 4, [(chunk("a"), unit([1, 0, 0, 0]))], [])
    with pytest.raises(DatabaseError, match="have 3"):
        store.search(MODEL, unit([1, 0, 0, 0]), 1)
    assert store.row_counts() == {MODEL: 1}


def test_two_processes_may_register_a_model_at_once(database: Database) -> None:
    database.migrate()
    url = shared_server().dsn(database._name)

    def write(number: int) -> None:
        PgVectorStore(Database(url)).apply(MODEL, 3, [(chunk(f"page-{number}"), unit([1, 0, 0]))], [])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    assert PgVectorStore(database).row_counts() == {MODEL: 4}


def test_the_longest_keys_fit_the_index(store: PgVectorStore) -> None:
    name = "/".join(["域" * 85] * 3)
    store.apply("m" * 100, 1900, [(chunk(name, "節" * 200), unit([1.0] * 1900))], [])
    assert store.row_counts() == {"m" * 100: 1}


@pytest.mark.parametrize("width", [384, 2000, 2001])
def test_an_index_is_built_after_the_load_and_finds_what_an_exact_search_finds(
    width: int, store: PgVectorStore, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_partitions, "INDEX_FROM_ROWS", 150)
    chunks, vectors = random_rows(200, width)
    fill(store, MODEL, chunks[:100], vectors[:100])
    assert not store.optimise(MODEL)
    fill(store, MODEL, chunks, vectors)
    query = vectors[5:6] + vectors[6:7]
    exact = store.search(MODEL, query, 10)
    assert store.optimise(MODEL)
    assert not store.optimise(MODEL)
    with database.transaction() as session:
        session.execute("set local enable_seqscan = off")
        partition = vector_partitions.find_partition(session, MODEL)
        assert partition is not None
        plan = session.execute(
            partition.sql("explain select 1 from {table} order by embedding::{cast} <=> %s::{cast} limit 5"),
            (query[0],),
        ).fetchall()
        assert partition.index_name in str(plan)
    hits = store.search(MODEL, query, 10)
    assert [hit.concept_name for hit in hits[:2]] == [hit.concept_name for hit in exact[:2]]
    assert {hit.similarity for hit in hits[:2]} == {hit.similarity for hit in exact[:2]}
    assert len(store.search(MODEL, query, 60)) == 60


def test_handed_case_a_model_wider_than_an_index_takes_is_set_up_whole(
    cases: Path, store: PgVectorStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_partitions, "INDEX_FROM_ROWS", 5)
    width = yaml.safe_load((cases / "provider-hnsw-2000/files/config.yml").read_text())["embedding"]["dimension"]
    for dimensions, indexed in ((width, True), (4000, True), (4001, False)):
        model = f"openai/text-embedding-3-large/{dimensions}"
        chunks, vectors = random_rows(8, dimensions)
        fill(store, model, chunks, vectors)
        assert store.optimise(model) is indexed
        assert store.search(model, vectors[3:4], 1)[0].concept_name == chunks[3].concept_name


def test_handed_case_a_page_of_equal_headings_is_stored_whole(cases: Path, store: PgVectorStore) -> None:
    data = (cases / "chunk-duplicate-headings/files/knowledge/d.md").read_bytes()
    chunks = chunk_page(read_page("d.md", data))
    store.apply(MODEL, 3, [(each, unit([1, 0, 0])) for each in chunks], [])
    assert store.row_counts()[MODEL] == len(chunks) >= 7
