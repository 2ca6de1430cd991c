"""Names of fetched documents: safe, stable, readable."""

from __future__ import annotations

import unicodedata
from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.errors import SourceError
from kb_pipeline.sources.kinds import is_document
from kb_pipeline.sources.names import safe_filename


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("page.md", "page.md"),
        ("會議記錄 八月.md", "會議記錄 八月.md"),
        ("Report v1.0", "Report v1.0.md"),
        ("notes.TXT", "notes.TXT"),
        ("a/b/c.md", "a/b/c.md"),
        ("a\\b.md", "a/b.md"),
        ("./a//b.md", "a/b.md"),
        ("what? a: <b>|*.md", "what- a- -b---.md"),
        ("line\nbreak\0.md", "linebreak.md"),
        (".hidden.md", "hidden.md"),
        ("trailing. ", "trailing.md"),
        ("CON.md", "CON.md-.md"),
        ("e\u0301.md", "\u00e9.md"),
        (".md", "md.md"),
    ],
)
def test_a_name_is_made_safe(name: str, safe: str) -> None:
    assert safe_filename(name) == safe


@pytest.mark.parametrize("name", ["", "   ", "...", "/", "/abs.md", "../up.md", "a/../b.md", "a/ .. /b.md", "\0"])
def test_a_name_that_says_nothing_or_leads_out_is_refused(name: str) -> None:
    with pytest.raises(SourceError, match="the adapter must give"):
        safe_filename(name)


def test_long_names_stay_apart() -> None:
    first, second = safe_filename("長" * 300 + "一"), safe_filename("長" * 300 + "二")
    assert first != second
    assert max(len(first.encode()), len(second.encode())) <= 200


@given(st.text(max_size=400))
def test_any_name_is_refused_or_safe(name: str) -> None:
    """A safe name stays below its folder, can be written on every system, is a document, and does not change again."""
    try:
        safe = safe_filename(name)
    except SourceError:
        return
    parts = PurePosixPath(safe).parts
    assert parts
    assert not PurePosixPath(safe).is_absolute()
    assert all(not part.startswith(".") and len(part.encode()) <= 255 for part in parts)
    assert is_document(safe)
    assert unicodedata.is_normalized("NFC", safe)
    assert safe_filename(safe) == safe
