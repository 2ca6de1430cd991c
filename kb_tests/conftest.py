"""Fixtures that every part of the suite shares."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# Machines are shared: a slow moment is no failure, so no example of a property test has a deadline.
settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of this checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of handed cases, vaults and retrieval sets; tests that need it are skipped where it is missing."""
    folder = Path(os.environ.get("KB_SHARED", ROOT.parent / "shared"))
    if not folder.is_dir():
        pytest.skip("the handed material (../shared, or $KB_SHARED) is not here")
    return folder


@pytest.fixture(scope="session")
def cases(shared: Path) -> Path:
    """The folder of handed cases, one sub-folder each."""
    return shared / "cases"
