"""Which configured source a raw document belongs to: its scope and its domain.

Belongs here: the longest-prefix rule. Not here: reading the configuration, naming pages.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath


@dataclass(frozen=True, slots=True)
class SourceRule:
    """``folder`` is below ``raw/`` ("" or "." for all of it); ``scope`` and ``domain`` hold for the documents in it."""

    folder: str
    scope: str | None = None
    domain: str | None = None


class SourceLayout:
    """Finds the rule of a document: the one with the longest folder that holds it; what it leaves open comes from
    the next longer one above."""

    def __init__(self, rules: Iterable[SourceRule]) -> None:
        self._rules = {_folder(rule.folder): rule for rule in rules}

    def scope_of(self, path: str) -> str | None:
        return next((rule.scope for rule in self._above(path) if rule.scope is not None), None)

    def domain_of(self, path: str) -> str | None:
        return next((rule.domain for rule in self._above(path) if rule.domain is not None), None)

    def _above(self, path: str) -> list[SourceRule]:
        found = []
        folder = path
        while folder:
            folder = folder.rpartition("/")[0]
            rule = self._rules.get(folder)
            if rule is not None:
                found.append(rule)
        return found


def _folder(written: str) -> str:
    name = PurePosixPath(written).as_posix()
    return "" if name == "." else name
