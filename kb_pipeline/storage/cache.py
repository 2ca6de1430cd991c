"""The disposable cache ``.kb/cache.sqlite``: what reading raw files and pages told last time (ORCHESTRATION 1).

Belongs here: keeping and giving back. Not here: deciding whether a reading still holds (``sources.filesystem``,
``storage.pages``). Everything here may vanish at any moment: a cache that is missing, damaged, locked by another
process, on a read-only disk or written by other code is an empty cache, never an error.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
import sys
import threading
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import kb_pipeline
from kb_pipeline.models import FileReading

_TABLES = ("raw", "stamps", "pages")
_SCHEMA = "CREATE TABLE IF NOT EXISTS about (version TEXT NOT NULL);" + "".join(
    f"CREATE TABLE IF NOT EXISTS {table} (path TEXT PRIMARY KEY, checksum INTEGER NOT NULL, content BLOB NOT NULL);"
    for table in _TABLES
)
_READERS = (
    "markdown",
    "models",
    "sources/content.py",
    "storage/cache.py",
    "storage/page_rows.py",
    "storage/pages.py",
    "storage/provenance.py",
)
"""Code that decides what is kept: when any of it changes, what older code kept is thrown away."""

_BUSY_MS = 2_000
Answer = TypeVar("Answer")


class CacheFile:
    """One SQLite file, opened on first use. ``version`` other than the file's empties it."""

    def __init__(self, path: Path, version: str | None = None) -> None:
        self._path = path
        self._version = version
        self._connection: sqlite3.Connection | None = None
        self._unusable = False
        self._turn = threading.RLock()

    def ask(self, question: Callable[[sqlite3.Connection], Answer], otherwise: Answer) -> Answer:
        """Run ``question``; ``otherwise`` when the cache cannot answer. A damaged file is removed and begun anew."""
        with self._turn:
            for _ in range(2):
                if self._unusable:
                    break
                try:
                    return question(self._connect())
                except (sqlite3.Error, OSError, ValueError, TypeError) as error:
                    # The last two are how sqlite3 shows damage that it does not notice itself: text that is no UTF-8,
                    # a number where bytes were.
                    if _is_passing(error):
                        break  # locked, full or read-only: do without it this time
                    self._discard()
        return otherwise

    def close(self) -> None:
        with self._turn:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _connect(self) -> sqlite3.Connection:
        if self._connection is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # Dagster's code server asks from a thread of its own at each tick; ``ask`` lets one in at a time.
            connection = sqlite3.connect(
                self._path, timeout=_BUSY_MS / 1000, isolation_level=None, check_same_thread=False
            )
            try:
                self._prepare(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        # Durability is not wanted: what a power cut damages is noticed by the checksums and read again.
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA journal_mode = WAL")
        version = self._version or reader_version()
        connection.executescript(_SCHEMA)
        found = connection.execute("SELECT version FROM about").fetchone()
        if found != (version,):
            with _transaction(connection):
                for table in ("about", *_TABLES):
                    connection.execute(f"DELETE FROM {table}")  # noqa: S608 - names from the line above
                connection.execute("INSERT INTO about VALUES (?)", (version,))

    def _discard(self) -> None:
        self.close()
        try:
            for suffix in ("", "-wal", "-shm", "-journal"):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
        except OSError:
            self._unusable = True

    def load(self, table: str) -> dict[str, bytes]:
        """Content by path of every row whose checksum holds; empty when the cache cannot answer."""

        def question(connection: sqlite3.Connection) -> dict[str, bytes]:
            rows = connection.execute(f"SELECT path, checksum, content FROM {table}")  # noqa: S608 - one of _TABLES
            return {path: content for path, checksum, content in rows if _checksum(path, content) == checksum}

        return self.ask(question, {})

    def store(self, table: str, fresh: Mapping[str, bytes], gone: Collection[str]) -> None:
        """Write some rows and delete others, in one transaction."""
        rows = [(path, _checksum(path, content), content) for path, content in fresh.items()]

        def question(connection: sqlite3.Connection) -> None:
            with _transaction(connection):
                connection.executemany(f"INSERT OR REPLACE INTO {table} VALUES (?, ?, ?)", rows)  # noqa: S608 - as above
                connection.executemany(f"DELETE FROM {table} WHERE path = ?", [(path,) for path in gone])  # noqa: S608 - as above

        if rows or gone:
            self.ask(question, None)


class RawCache:
    """Readings of raw files by the path that the disk spells (``sources.filesystem.ReadingCache``)."""

    def __init__(self, file: CacheFile) -> None:
        self._file = file

    def load(self) -> dict[str, FileReading]:
        return {path: FileReading._make(row) for path, row in _from_rows(self._file.load("raw")).items()}

    def store(self, fresh: Mapping[str, FileReading], gone: Collection[str]) -> None:
        self._file.store("raw", _to_rows(fresh), gone)


class PageCache:
    """Stamps of pages (signature and provenance) and parsed pages."""

    def __init__(self, file: CacheFile) -> None:
        self._file = file

    def load_stamps(self) -> dict[str, list[Any]]:
        return _from_rows(self._file.load("stamps"))

    def store_stamps(self, fresh: Mapping[str, Sequence[object]], gone: Collection[str]) -> None:
        self._file.store("stamps", _to_rows(fresh), gone)

    def load_pages(self) -> dict[str, tuple[str, bytes]]:
        """Path → hash of the bytes that the page was parsed from, and the parsed page (``page_rows``)."""
        rows = self._file.load("pages")
        return {path: (row[:_TAG].decode("ascii", "replace"), row[_TAG:]) for path, row in rows.items()}

    def store_pages(self, fresh: Mapping[str, tuple[str, bytes]], gone: Collection[str]) -> None:
        rows = {path: tag.encode("ascii") + content for path, (tag, content) in fresh.items()}
        self._file.store("pages", rows, gone)


_TAG = 64  # hex digits of a SHA-256


def _to_rows(values: Mapping[str, Sequence[object]]) -> dict[str, bytes]:
    encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
    return {path: encode(value).encode("utf-8", "surrogatepass") for path, value in values.items()}


def _from_rows(rows: Mapping[str, bytes]) -> dict[str, list[Any]]:
    """All rows in one go: reading ten thousand small texts one by one takes three times as long."""
    text = b"[" + b",".join(rows.values()) + b"]"
    return dict(zip(rows, json.loads(text.decode("utf-8", "surrogatepass")), strict=True))


def reader_version() -> str:
    """Hash of the code that reads, its own and the parsers': no one has to remember to raise a number."""
    import markdown_it
    import yaml

    package = Path(kb_pipeline.__file__).parent
    digest = hashlib.sha256(f"{sys.version_info} {markdown_it.__version__} {yaml.__version__}".encode())
    for name in _READERS:
        for file in sorted((package / name).glob("*.py")) if not name.endswith(".py") else [package / name]:
            with contextlib.suppress(OSError):
                digest.update(file.read_bytes())
    return digest.hexdigest()[:32]


def _checksum(path: str, content: bytes) -> int:
    return zlib.crc32(content, zlib.crc32(path.encode("utf-8", "surrogatepass")))


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _is_passing(error: Exception) -> bool:
    """Whether the file is not to blame (another holds it, no room, no right to write)."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        return isinstance(error, OSError)
    return (code & 0xFF) in {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_NOMEM,
    }
