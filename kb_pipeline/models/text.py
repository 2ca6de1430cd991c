"""Values of the text layer: facts (SPEC 1 "fact", 6.3, 6.12)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class FactKind(StrEnum):
    NUMBER = "number"
    DATE = "date"
    VERSION = "version"
    IDENTIFIER = "identifier"
    URL = "url"
    COMMAND = "command"
    PATH = "path"
    SETTING = "setting"


@dataclass(frozen=True, slots=True)
class Fact:
    """A checkable detail of a text.

    ``text`` is as written, ``normal`` its normal form (width, separators, units, 民國 years), by which two facts are
    equal. ``line`` is 1-based in the text that was searched; ``start``/``end`` are code point offsets in it.
    """

    kind: FactKind
    text: str
    normal: str
    line: int
    start: int
    end: int
