"""Findings: what lint, gates and planner report."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Finding:
    """One message: what, which, what to do.

    ``path`` is relative to the folder that was checked; ``line`` is 1-based in the file, None when it concerns the
    whole. ``own`` is False for a cross-page finding: it never keeps a page out of a snapshot (SPEC 9, gate).
    """

    rule: str
    severity: Severity
    path: str
    message: str
    line: int | None = None
    field: str | None = None
    fixable: bool = False
    own: bool = True
