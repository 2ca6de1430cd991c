"""Partition keys: reversible, without collision, harmless for Dagster and its UI."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.planning.partitions import document_path, partition_key

FORBIDDEN = ("...", "..", ",", "|", "[", "]", '"', "'", "*", " ", "\n", "\t", "\0", "\u200b", "\u2028")


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("a/b.md", "a/b.md"),
        ("a.b.md", "a.b.md"),
        ("會議/等等...md", "會議/等等%2E%2E%2Emd"),
        ("x, y.md", "x%2C%20y.md"),
        ("p|q.md", "p%7Cq.md"),
        ("[k].md", "%5Bk%5D.md"),
        ("100%.md", "100%25.md"),
        ("%2C.md", "%252C.md"),
        ("a\nb.md", "a%0Ab.md"),
        ("零\u200b寬.md", "零%E2%80%8B寬.md"),
    ],
)
def test_a_key_can_be_read_and_read_back(path: str, key: str) -> None:
    assert partition_key(path) == key
    assert document_path(key) == path


@given(st.text())
def test_any_path_comes_back_and_its_key_is_harmless(path: str) -> None:
    path = path.encode("utf-8", "replace").decode()
    key = partition_key(path)
    assert document_path(key) == path
    assert not [mark for mark in FORBIDDEN if mark in key]
    assert key.isprintable()


@given(st.lists(st.text(alphabet="a.%2EC, /"), unique=True))
def test_different_paths_have_different_keys(paths: list[str]) -> None:
    assert len({partition_key(path) for path in paths}) == len(paths)


def test_the_handed_case(cases: Path) -> None:
    raw = cases / "ingest-partition-keys" / "files" / "raw"
    paths = [file.relative_to(raw).as_posix() for file in raw.rglob("*.md")]
    keys = [partition_key(path) for path in paths]
    assert len(set(keys)) == 8
    assert [document_path(key) for key in keys] == paths
    assert not [key for key in keys if "..." in key or "\n" in key or "\t" in key]
