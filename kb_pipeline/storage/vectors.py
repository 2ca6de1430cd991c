"""Vectors in PostgreSQL with pgvector: ``PgVectorStore`` implements ``ports.VectorStore`` (SPEC 12).

What belongs here: reading and writing rows. What does not: a model's partition and index (``vector_partitions``), what
is embedded (``embeddings``), how hits are mixed with other evidence (``retrieval``).

Keys are (concept_name, section_id). A long section is stored in parts ``id``, ``id~2``, ``id~3`` … (see ``Chunk``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from kb_pipeline.errors import DatabaseError
from kb_pipeline.models import Chunk, VectorHit
from kb_pipeline.ports import Vectors
from kb_pipeline.storage.database import Database
from kb_pipeline.storage.vector_partitions import (
    Partition,
    build_index,
    drop_partition,
    find_partition,
    list_partitions,
    make_partition,
)

if TYPE_CHECKING:
    from psycopg.sql import Composed

    from kb_pipeline.storage.database import Session

LEAST_CANDIDATES = 100
MOST_CANDIDATES = 1000
"""pgvector's limits of hnsw.ef_search that matter here: below, recall suffers; above, it is refused."""


class PgVectorStore:
    """Vectors of any number of models side by side. Methods raise DatabaseUnavailableError or DatabaseError."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def stored_hashes(self, model_version: str, concepts: Collection[str] | None = None) -> dict[tuple[str, str], str]:
        """(concept_name, section_id) → content_hash of a model's rows: of all, or of the named concepts."""
        with self._reading(model_version) as (session, partition):
            if partition is None:
                return {}
            if concepts is None:
                rows = session.execute(partition.sql("select concept_name, section_id, content_hash from {table}"))
            else:
                query = "select concept_name, section_id, content_hash from {table} where concept_name = any(%s)"
                rows = session.execute(partition.sql(query), (list(concepts),))
            return {(name, section): content for name, section, content in rows}

    def page_stamps(self, model_version: str, concepts: Collection[str] | None = None) -> dict[str, tuple[str, int]]:
        """concept_name → the stamp given to ``apply`` and the rows there are, of all pages with rows or of the named.

        The stamp is "" where the rows are not those that were written with it.
        """
        with self._reading(model_version) as (session, partition):
            if partition is None:
                return {}
            names = None if concepts is None else list(concepts)
            statement = partition.sql(
                "select found.concept_name, case when page.rows = found.rows then page.stamp else '' end, found.rows"
                " from (select concept_name, count(*) as rows from {table}"
                " where %(names)s::text[] is null or concept_name = any(%(names)s) group by concept_name) found"
                " left join wiki.embedded_pages page"
                " on page.concept_name = found.concept_name and page.model_version = %(model)s"
            )
            rows = session.execute(statement, {"names": names, "model": model_version})
            return {name: (stamp, count) for name, stamp, count in rows}

    def known_vectors(self, model_version: str, content_hashes: Sequence[str]) -> dict[str, Vectors]:
        """Vectors already made for these texts, by content hash, each of shape (1, dim)."""
        with self._reading(model_version) as (session, partition):
            if partition is None or not content_hashes:
                return {}
            query = partition.sql(
                "select distinct on (content_hash) content_hash, embedding from {table} where content_hash = any(%s)"
            )
            rows = session.execute(query, (list(content_hashes),), binary=True)
            return {content: vector.to_numpy().reshape(1, -1) for content, vector in rows}

    def apply(
        self,
        model_version: str,
        dimensions: int,
        upserts: Iterable[tuple[Chunk, Vectors]],
        removed: Iterable[tuple[str, str]],
        pages: Mapping[str, tuple[str, int]] | None = None,
    ) -> None:
        """One transaction: rows written and rows of vanished sections deleted.

        ``pages``: concept_name → a stamp of the page and the rows that it has now (none: it is forgotten).

        Raises ValueError, and writes nothing, when a vector is not ``dimensions`` finite numbers; DatabaseError when
        the model is stored with another width.
        """
        rows = {}
        for chunk, vector in upserts:
            flat = np.asarray(vector, dtype=np.float32).reshape(-1)
            if flat.shape[0] != dimensions or not np.isfinite(flat).all() or not flat.any():
                raise ValueError(
                    f"The vector of {chunk.address} has {flat.shape[0]} numbers; {dimensions} finite ones, not all zero, "
                    "are expected."
                )
            # One row a key: a statement may not touch a row twice.
            rows[chunk.concept_name, chunk.section_id] = (chunk, flat)
        gone = [key for key in dict.fromkeys(removed) if key not in rows]
        with self._database.transaction() as session:
            partition = find_partition(session, model_version) or make_partition(session, model_version, dimensions)
            if partition.dimensions != dimensions:
                raise DatabaseError(
                    f"Vectors of {model_version} are stored with {partition.dimensions} numbers, not {dimensions}. "
                    "Drop the stored ones first, or give the model another version."
                )
            if gone:
                _delete(session, partition, gone)
            if rows:
                _upsert(session, partition, rows.values())
            if pages:
                _record(session, model_version, pages)

    def search(self, model_version: str, query: Vectors, top_k: int) -> list[VectorHit]:
        """The ``top_k`` nearest rows, nearest first: exact below 20,000 rows, by HNSW above."""
        vector = np.asarray(query, dtype=np.float32).reshape(-1)
        with self._reading(model_version) as (session, partition):
            if partition is None or top_k < 1 or not vector.any():
                return []
            partition.check_width(vector)
            # A halfvec index orders by rounded numbers: fetch more and order those by the stored ones.
            pool = top_k if partition.cast == "vector" else 2 * top_k
            candidates = min(max(LEAST_CANDIDATES, 2 * pool), MOST_CANDIDATES)
            session.execute(
                "select set_config('hnsw.ef_search', %s, true), set_config('enable_seqscan', %s, true),"
                " set_config('max_parallel_workers_per_gather', '0', true)",
                (str(candidates), "off" if pool <= MOST_CANDIDATES else "on"),
            )
            statement = partition.sql(
                "with near as materialized (select concept_name, section_id, content_hash, embedding from {table}"
                " order by embedding::{cast} <=> %(query)s::{cast} limit %(pool)s)"
                " select concept_name, section_id, content_hash, 1 - (embedding <=> %(query)s::{exact}) as similarity"
                " from near order by similarity desc, concept_name, section_id limit %(top_k)s"
            )
            rows = session.execute(statement, {"query": vector, "pool": pool, "top_k": top_k}, binary=True)
            return [VectorHit(name, section, content, similarity) for name, section, content, similarity in rows]

    def similarities(
        self, model_version: str, query: Vectors, keys: Sequence[tuple[str, str]]
    ) -> dict[tuple[str, str], float]:
        """Cosine of the named rows, in one query; keys without a row are left out.

        The key of a section that was split is answered by its best part; ``id~2`` names that part alone.
        """
        vector = np.asarray(query, dtype=np.float32).reshape(-1)
        with self._reading(model_version) as (session, partition):
            if partition is None or not keys or not vector.any():
                return {}
            partition.check_width(vector)
            statement = partition.sql(
                "select k.concept_name, k.section_id, max(1 - (e.embedding <=> %(query)s::{exact}))"
                " from unnest(%(names)s::text[], %(sections)s::text[]) as k(concept_name, section_id)"
                " join {table} e on e.concept_name = k.concept_name and (e.section_id = k.section_id"
                " or (starts_with(e.section_id, k.section_id || '~')"
                " and substr(e.section_id, length(k.section_id) + 2) ~ '^[0-9]+$'))"
                " group by k.concept_name, k.section_id"
            )
            values = {"query": vector, "names": [name for name, _ in keys], "sections": [part for _, part in keys]}
            return {(name, part): cosine for name, part, cosine in session.execute(statement, values, binary=True)}

    def models(self) -> tuple[str, ...]:
        """Model versions that have been stored, oldest first."""
        with self._database.transaction() as session:
            return tuple(partition.model_version for partition in list_partitions(session))

    def row_counts(self) -> dict[str, int]:
        """Rows by model version."""
        with self._database.transaction() as session:
            return {part.model_version: part.count(session) for part in list_partitions(session)}

    def optimise(self, model_version: str) -> bool:
        """Call it after a load: refreshes statistics, and builds the HNSW index once there are rows enough.

        After it and not before: loading into an index takes fifty times as long. True when an index was built.
        """
        with self._database.transaction() as session:
            partition = find_partition(session, model_version)
            return partition is not None and build_index(session, partition)

    def drop_model(self, model_version: str) -> None:
        """Forgets a model's vectors; the others are not touched."""
        with self._database.transaction() as session:
            drop_partition(session, model_version)

    @contextmanager
    def _reading(self, model_version: str) -> Iterator[tuple[Session, Partition | None]]:
        with self._database.transaction() as session:
            yield session, find_partition(session, model_version)


def _delete(session: Session, partition: Partition, keys: Sequence[tuple[str, str]]) -> None:
    session.execute(
        partition.sql(
            "delete from {table} e using unnest(%s::text[], %s::text[]) as k(concept_name, section_id)"
            " where e.concept_name = k.concept_name and e.section_id = k.section_id"
        ),
        ([name for name, _ in keys], [section for _, section in keys]),
    )


def _record(session: Session, model_version: str, pages: Mapping[str, tuple[str, int]]) -> None:
    names = list(pages)
    session.execute(
        "insert into wiki.embedded_pages as page (model_version, concept_name, stamp, rows)"
        " select %s, * from unnest(%s::text[], %s::text[], %s::int[])"
        " on conflict (model_version, concept_name) do update set stamp = excluded.stamp, rows = excluded.rows",
        (model_version, names, [pages[name][0] for name in names], [pages[name][1] for name in names]),
    )
    session.execute("delete from wiki.embedded_pages where model_version = %s and rows = 0", (model_version,))


def _upsert(session: Session, partition: Partition, rows: Collection[tuple[Chunk, Any]]) -> None:
    # The session's own table, emptied at each commit: making one for each batch would bloat the catalogue.
    session.execute(
        "create temp table if not exists kb_incoming (concept_name text, section_id text, address text,"
        " content_hash text, chunk_text text, embedding vector) on commit delete rows"
    )
    with session.cursor().copy("copy pg_temp.kb_incoming from stdin with (format binary)") as copy:
        copy.set_types(["text", "text", "text", "text", "text", "vector"])
        for chunk, vector in rows:
            texts = (chunk.concept_name, chunk.section_id, chunk.address, chunk.content_hash, chunk.text)
            copy.write_row((*map(_storable, texts), vector))
    session.execute(_upsert_statement(partition), {"model": partition.model_version})


def _upsert_statement(partition: Partition) -> Composed:
    # Rows that say the same are left alone: rewriting them would cost forty times as much and bloat the index.
    return partition.sql(
        "insert into {table} as e"
        " (concept_name, section_id, model_version, address, content_hash, chunk_text, embedding)"
        " select concept_name, section_id, %(model)s, address, content_hash, chunk_text, embedding"
        " from pg_temp.kb_incoming"
        " on conflict (concept_name, section_id, model_version) do update set address = excluded.address,"
        " content_hash = excluded.content_hash, chunk_text = excluded.chunk_text, embedding = excluded.embedding,"
        " updated_at = now()"
        " where (e.address, e.content_hash, e.chunk_text, e.embedding) is distinct from"
        " (excluded.address, excluded.content_hash, excluded.chunk_text, excluded.embedding)"
    )


def _storable(text: str) -> str:
    """PostgreSQL's text holds neither NUL nor half a surrogate pair."""
    if "\0" in text:
        text = text.replace("\0", "")
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
