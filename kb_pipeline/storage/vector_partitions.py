"""One model's share of ``wiki.embeddings``: its partition, the width it checks, its index.

What belongs here: DDL and what depends on the width. What does not: rows (``vectors``).

pgvector indexes a ``vector`` up to 2,000 numbers and a ``halfvec`` up to 4,000; wider models are searched exactly.
"""

from __future__ import annotations

import hashlib
import logging
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, LiteralString

from kb_pipeline.errors import DatabaseError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from psycopg.sql import Composed

    from kb_pipeline.storage.database import Session

INDEX_FROM_ROWS = 20_000
WIDEST_VECTOR_INDEX = 2000
WIDEST_HALFVEC_INDEX = 4000
WIDEST_INLINE = 1900
"""A row must fit an 8 kB page beside its keys when its vector is stored inline."""
LOCK = 0x6B625F70  # "kb_p"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Partition:
    """``name`` is the table in schema ``wiki``."""

    model_version: str
    dimensions: int
    name: str

    @property
    def cast(self) -> str:
        """The type that the index stores and that queries must name to use it."""
        return "halfvec" if WIDEST_VECTOR_INDEX < self.dimensions <= WIDEST_HALFVEC_INDEX else "vector"

    def sql(self, text: LiteralString, literal: object = None) -> Composed:
        """Fills in ``{table}``, ``{index}``, ``{operators}``, ``{literal}``, and the types with their width:
        ``{exact}``, and ``{cast}`` for what the index holds."""
        from psycopg import sql

        kind = sql.SQL("halfvec" if self.cast == "halfvec" else "vector")
        width = sql.Literal(self.dimensions)
        return sql.SQL(text).format(
            table=sql.Identifier("wiki", self.name),
            index=sql.Identifier(self.index_name),
            cast=sql.SQL("{}({})").format(kind, width),
            exact=sql.SQL("vector({})").format(width),
            operators=sql.SQL("{}_cosine_ops").format(kind),
            literal=sql.Literal(literal),
        )

    def run(self, session: Session, text: LiteralString, literal: object = None) -> None:
        session.execute(self.sql(text, literal))

    @property
    def index_name(self) -> str:
        return f"{self.name}_hnsw"

    def check_width(self, vector: NDArray[np.float32]) -> None:
        if vector.shape[0] != self.dimensions:
            raise DatabaseError(
                f"The query has {vector.shape[0]} numbers, vectors of {self.model_version} have {self.dimensions}."
            )

    def count(self, session: Session) -> int:
        row = session.execute(self.sql("select count(*) from {table}")).fetchone()
        return int(row[0]) if row else 0


def find_partition(session: Session, model_version: str) -> Partition | None:
    row = session.execute(
        "select model_version, dimensions, partition from wiki.embedding_models where model_version = %s",
        (model_version,),
    ).fetchone()
    return Partition(*row) if row else None


def list_partitions(session: Session) -> list[Partition]:
    rows = session.execute(
        "select model_version, dimensions, partition from wiki.embedding_models order by created_at, model_version"
    )
    return [Partition(*row) for row in rows]


def make_partition(session: Session, model_version: str, dimensions: int) -> Partition:
    """Registers a model, in the caller's transaction: with its first rows or not at all."""
    session.execute("select pg_advisory_xact_lock(%s)", (LOCK,))
    existing = find_partition(session, model_version)
    if existing is not None:  # another process was first
        return existing
    partition = Partition(model_version, dimensions, partition_name(model_version))
    session.execute(
        "insert into wiki.embedding_models (model_version, dimensions, partition) values (%s, %s, %s)",
        (model_version, dimensions, partition.name),
    )
    run = partition.run
    run(session, "create table {table} (like wiki.embeddings including defaults)")
    run(session, "alter table {table} add constraint width check (vector_dims(embedding) = {literal})", dimensions)
    if dimensions <= WIDEST_INLINE:
        # Inline vectors make exact scans three times faster and the planner's estimates honest.
        run(session, "alter table {table} alter embedding set storage plain")
    # Attached rather than made as a partition: a weaker lock, so that searches go on.
    run(session, "alter table wiki.embeddings attach partition {table} for values in ({literal})", model_version)
    if dimensions > WIDEST_HALFVEC_INDEX:
        log.info("%s has %d numbers, more than an index takes: it is searched exactly", model_version, dimensions)
    elif partition.cast == "halfvec":
        log.info("%s has %d numbers: its index will hold them as halfvec", model_version, dimensions)
    return partition


def drop_partition(session: Session, model_version: str) -> None:
    session.execute("select pg_advisory_xact_lock(%s)", (LOCK,))
    partition = find_partition(session, model_version)
    if partition is not None:
        partition.run(session, "drop table {table}")
        session.execute("delete from wiki.embedding_models where model_version = %s", (model_version,))
        session.execute("delete from wiki.embedded_pages where model_version = %s", (model_version,))


def build_index(session: Session, partition: Partition) -> bool:
    """Statistics always; the HNSW index when there are rows enough and none yet. True when one was built."""
    session.execute("select pg_advisory_xact_lock(%s)", (LOCK,))
    partition.run(session, "analyze {table}")
    if partition.dimensions > WIDEST_HALFVEC_INDEX or _has_index(session, partition):
        return False
    if partition.count(session) <= INDEX_FROM_ROWS:
        return False
    version = _extension_version(session)
    if partition.cast == "halfvec" and version < (0, 7):
        log.warning("pgvector %s has no halfvec: %s is searched exactly", version, partition.model_version)
        return False
    session.execute("set local maintenance_work_mem = '512MB'")
    if version < (0, 8, 2):
        session.execute("set local max_parallel_maintenance_workers = 0")  # CVE-2026-3172
    partition.run(session, "create index {index} on {table} using hnsw ((embedding::{cast}) {operators})")
    return True


def partition_name(model_version: str) -> str:
    """Readable and unique: names that differ in what a table name cannot show differ in the hash."""
    readable = re.sub(r"[^a-z0-9]+", "_", model_version.lower()).strip("_")[:36]
    return f"embeddings_{readable}_{hashlib.sha256(model_version.encode()).hexdigest()[:8]}"


def _has_index(session: Session, partition: Partition) -> bool:
    query = "select 1 from pg_catalog.pg_indexes where schemaname = 'wiki' and indexname = %s"
    return session.execute(query, (partition.index_name,)).fetchone() is not None


def _extension_version(session: Session) -> tuple[int, ...]:
    row = session.execute("select extversion from pg_extension where extname = 'vector'").fetchone()
    return tuple(int(part) for part in str(row[0] if row else "0").split(".") if part.isdigit())
