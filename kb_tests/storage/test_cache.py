"""The disposable cache: whatever happens to it, answers are right, only slower."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path

import pytest

from kb_pipeline.models import FileReading
from kb_pipeline.storage.cache import CacheFile, PageCache, RawCache, reader_version

READING = FileReading(1, 2, 3, 4, 5, "pending", None, "ab" * 32)
TAG = "0" * 64


def stored(path: Path, version: str = "v1") -> None:
    file = CacheFile(path, version)
    RawCache(file).store({f"筆記/{number}.md": READING for number in range(50)}, [])
    PageCache(file).store_stamps({"a.md": [1, "二"]}, [])
    PageCache(file).store_pages({"a.md": (TAG, b"content" * 100)}, [])
    file.close()


def loaded(path: Path, version: str = "v1") -> tuple[int, dict[str, list[object]], dict[str, tuple[str, bytes]]]:
    file = CacheFile(path, version)
    found = (len(RawCache(file).load()), PageCache(file).load_stamps(), PageCache(file).load_pages())
    file.close()
    return found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".kb" / "cache.sqlite"


def test_what_was_stored_comes_back(path: Path) -> None:
    stored(path)
    assert loaded(path) == (50, {"a.md": [1, "二"]}, {"a.md": (TAG, b"content" * 100)})


def test_rows_are_replaced_and_deleted(path: Path) -> None:
    stored(path)
    file = CacheFile(path, "v1")
    cache = RawCache(file)
    cache.store({"筆記/1.md": READING._replace(size=9)}, ["筆記/2.md", "none"])
    readings = cache.load()
    file.close()
    assert readings["筆記/1.md"].size == 9
    assert "筆記/2.md" not in readings


def test_another_version_empties_it(path: Path) -> None:
    stored(path)
    assert loaded(path, "v2") == (0, {}, {})
    assert loaded(path, "v1") == (0, {}, {})


def test_the_version_is_that_of_the_code_that_reads() -> None:
    assert reader_version() == reader_version()
    assert len(reader_version()) == 32


@pytest.mark.parametrize(
    "content", [b"", b"not a database at all, but long enough to look at" * 50, b"SQLite format 3\0"]
)
def test_a_file_that_is_no_cache_is_begun_anew(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    assert loaded(path) == (0, {}, {})
    stored(path)
    assert loaded(path)[0] == 50


def test_a_database_of_another_shape_is_begun_anew(path: Path) -> None:
    path.parent.mkdir()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE raw (unrelated)")
    connection.execute("CREATE TABLE about (version)")
    connection.execute("INSERT INTO about VALUES ('v1')")
    connection.commit()
    connection.close()
    assert loaded(path) == (0, {}, {})
    stored(path)
    assert loaded(path)[0] == 50


@pytest.mark.parametrize("seed", range(40))
def test_damaged_bytes_never_give_a_wrong_answer(path: Path, seed: int) -> None:
    stored(path)
    content = bytearray(path.read_bytes())
    rng = random.Random(seed)
    for _ in range(200):
        content[rng.randrange(len(content))] = rng.randrange(256)
    path.write_bytes(content)
    count, stamps, pages = loaded(path)
    assert count <= 50
    assert stamps in ({}, {"a.md": [1, "二"]})
    assert pages in ({}, {"a.md": (TAG, b"content" * 100)})


def test_a_cache_that_another_process_holds_is_done_without(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kb_pipeline.storage.cache._BUSY_MS", 10)
    stored(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    file = CacheFile(path, "v1")
    RawCache(file).store({"new.md": READING}, [])
    assert len(RawCache(file).load()) == 50
    other.execute("ROLLBACK")
    other.close()
    file.close()
    assert loaded(path)[0] == 50


def test_a_place_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    (tmp_path / ".kb").write_text("a file in the way")
    stored(tmp_path / ".kb" / "cache.sqlite")
    assert loaded(tmp_path / ".kb" / "cache.sqlite") == (0, {}, {})


def test_a_cache_deleted_under_an_open_connection_is_no_error(path: Path) -> None:
    file = CacheFile(path, "v1")
    RawCache(file).store({"a.md": READING}, [])
    path.unlink()
    RawCache(file).store({"b.md": READING}, [])
    file.close()
    assert loaded(path)[0] in (0, 1, 2)
