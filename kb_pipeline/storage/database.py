"""Sessions with PostgreSQL: the embedded server or any other, the schema's migrations, and errors put into classes.

What belongs here: connecting, pooling, transactions, ``migrate``. What does not: what the tables mean (``vectors``).

The pool is our own because its first duty is to fail at once and clearly, and to start the embedded server again: the
pools at hand retry in the background until a time-out that hides the reason, and keep threads that a command would
have to join before it can leave.
"""

from __future__ import annotations

import contextlib
import re
import select
import threading
from collections.abc import Iterator
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kb_pipeline.errors import DatabaseError, DatabaseUnavailableError, SchemaVersionError
from kb_pipeline.storage.postgres import EmbeddedPostgres

if TYPE_CHECKING:
    import psycopg

    Session = psycopg.Connection[tuple[Any, ...]]

MIGRATION_LOCK = 0x6B625F77  # "kb_w"; advisory locks are numbers
CONNECT_SECONDS = 10
DRIVER = re.compile(r"^postgres(?:ql)?(?:\+\w+)?://")
MIGRATION_NAME = re.compile(r"(\d{4})_[a-z0-9_]+\.sql")


def open_database(url: str, root: Path) -> Database:
    """``url`` is ``embedded`` (files under ``root``, that is ``.kb/pg``) or a PostgreSQL URL."""
    return Database(EmbeddedPostgres(root)) if url == "embedded" else Database(url)


class Database:
    """One database, used from any number of threads; nothing is opened before the first transaction.

    ``source``: a PostgreSQL URL, or the embedded server, which is started on first use and again when it died.
    ``name``: the database on the embedded server. ``pool_size``: sessions at most; more callers wait their turn.
    """

    def __init__(self, source: str | EmbeddedPostgres, *, name: str = "kb", pool_size: int = 8) -> None:
        # SQLAlchemy's spelling names a driver of its own; the server is the same.
        self._source = DRIVER.sub("postgresql://", source) if isinstance(source, str) else source
        self._name = name
        self._turns = threading.BoundedSemaphore(pool_size)
        self._idle: list[Session] = []
        self._mutex = threading.Lock()
        self._migrated = False

    @property
    def embedded(self) -> EmbeddedPostgres | None:
        """The server behind it, if it is ours."""
        return self._source if isinstance(self._source, EmbeddedPostgres) else None

    def describe(self) -> str:
        """For messages: never with a password."""
        if isinstance(self._source, EmbeddedPostgres):
            return f"the embedded database {self._name!r}"
        import psycopg
        from psycopg.conninfo import conninfo_to_dict

        try:
            parts = conninfo_to_dict(self._source)
        except psycopg.ProgrammingError:
            return "the database of database.url (which is no PostgreSQL URL)"
        return f"the database {parts.get('dbname', '')!r} at {parts.get('host', 'the local socket')}"

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Session]:
        """A session in a transaction: committed at the end, rolled back by an exception.

        Raises DatabaseUnavailableError when the server cannot be reached or went away, DatabaseError for what it
        refused; the first call brings the schema up to date.
        """
        self.migrate()
        with self._turns, self._translated():
            session = self._borrow()
            try:
                with session.transaction():
                    yield session
            finally:
                self._give_back(session)

    def migrate(self) -> None:
        """Brings the schema up to date; any number of processes may do so at once. Raises SchemaVersionError when a
        newer version of the product made it."""
        if self._migrated:
            return
        with self._turns, self._translated():
            session = self._borrow()
            try:
                if _schema_version(session, self.describe()) < newest_migration():
                    self._apply_migrations(session)
            finally:
                session.close()  # the next one knows the types that a migration may have made
        self._migrated = True

    def close(self) -> None:
        """Closes idle sessions and leaves the embedded server; the next transaction opens and starts again."""
        with self._mutex:
            idle, self._idle = self._idle, []
        for session in idle:
            session.close()
        if isinstance(self._source, EmbeddedPostgres):
            self._source.close()

    def _apply_migrations(self, session: Session) -> None:
        with session.transaction():
            session.execute("select pg_advisory_xact_lock(%s)", (MIGRATION_LOCK,))
            done = _schema_version(session, self.describe())  # another process may just have done it
            if done >= newest_migration():
                return
            self._ensure_vector_extension(session)
            session.execute("create schema if not exists wiki")
            session.execute(
                "create table if not exists wiki.schema_versions"
                " (version integer primary key, name text not null, applied_at timestamptz not null default now())"
            )
            for version, (name, text) in migrations().items():
                if version > done:
                    session.execute(text)
                    session.execute("insert into wiki.schema_versions (version, name) values (%s, %s)", (version, name))

    def _ensure_vector_extension(self, session: Session) -> None:
        from psycopg import errors

        if session.execute("select 1 from pg_extension where extname = 'vector'").fetchone():
            return
        try:
            session.execute("create extension if not exists vector")
        except errors.InsufficientPrivilege as error:
            raise DatabaseError(
                f"In {self.describe()} this user may not create the extension 'vector'. "
                "Have a superuser run once: CREATE EXTENSION vector;"
            ) from error
        except (errors.UndefinedFile, errors.FeatureNotSupported) as error:
            raise DatabaseError(
                f"The server of {self.describe()} lacks pgvector. Install it there (image pgvector/pgvector:pg16, "
                "package postgresql-16-pgvector), or set database.url to embedded."
            ) from error

    def _borrow(self) -> Session:
        while True:
            with self._mutex:
                session = self._idle.pop() if self._idle else None
            if session is None:
                return self._connect()
            if _usable(session):
                return session
            session.close()

    def _give_back(self, session: Session) -> None:
        from psycopg.pq import TransactionStatus

        if session.closed or session.info.transaction_status != TransactionStatus.IDLE:
            session.close()
            return
        with self._mutex:
            self._idle.append(session)

    def _connect(self) -> Session:
        import psycopg

        url = self._source if isinstance(self._source, str) else self._source.start().dsn(self._name)
        try:
            session = self._open(url)
        except psycopg.OperationalError:
            if isinstance(self._source, str):
                raise
            # The database is not there yet (the usual case on a fresh machine), or the server died this moment.
            session = self._open(self._source.create_database(self._name))
        if self._migrated:
            from pgvector.psycopg import register_vector

            register_vector(session)
            session.commit()
        return session

    def _open(self, url: str) -> Session:
        import psycopg

        # Statements are not prepared: a generic plan would miss the vector index, and poolers in between lose them.
        return psycopg.connect(
            url, connect_timeout=CONNECT_SECONDS, application_name="kb", prepare_threshold=None, autocommit=False
        )

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        import psycopg
        from psycopg import errors

        try:
            yield
        except errors.DiskFull as error:
            raise DatabaseError(f"The disk of {self.describe()} is full; free some space and try again.") from error
        except (psycopg.OperationalError, psycopg.InterfaceError) as error:
            raise DatabaseUnavailableError(
                f"Cannot work with {self.describe()}: {str(error).strip() or type(error).__name__}"
            ) from error
        except psycopg.Error as error:
            raise DatabaseError(f"{self.describe()} refused: {str(error).strip()}") from error


@cache
def migrations() -> dict[int, tuple[str, str]]:
    """Version → file name and SQL, in order."""
    found = {}
    for file in resources.files("kb_pipeline.storage").joinpath("migrations").iterdir():
        if match := MIGRATION_NAME.fullmatch(file.name):
            found[int(match[1])] = (file.name, file.read_text(encoding="utf-8"))
    return dict(sorted(found.items()))


def newest_migration() -> int:
    return max(migrations())


def _schema_version(session: Session, where: str) -> int:
    with session.transaction():
        # Not to_regclass(): it asks a cache that another session's migration has not reached yet.
        known = "select 1 from pg_catalog.pg_tables where schemaname = 'wiki' and tablename = 'schema_versions'"
        if session.execute(known).fetchone() is None:
            return 0
        row = session.execute("select coalesce(max(version), 0) from wiki.schema_versions").fetchone()
    version = int(row[0]) if row else 0
    if version > newest_migration():
        raise SchemaVersionError(
            f"The schema 'wiki' of {where} has version {version}; this program knows up to {newest_migration()}. "
            "Upgrade kb-pipeline, or drop the schema: it is rebuilt from the pages."
        )
    return version


def _usable(session: Session) -> bool:
    """Whether an idle session still stands: a server that went away has said so, or hung up, on its socket."""
    if session.closed:
        return False
    poll = select.poll()
    poll.register(session.fileno(), select.POLLIN)
    return not poll.poll(0)
