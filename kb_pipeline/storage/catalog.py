"""What a snapshot knows of each page without parsing it: one line of JSON a page, found by its number.

Belongs here: the records, their form on disk, access to single lines of a mapped file. Does not belong here: which pages
there are and where they lie (``snapshot``), how records are made of pages (``building.publishing``).

Opening costs the same for any number of pages; a record costs one line.
"""

from __future__ import annotations

import json
import mmap
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any

FORMAT = 1
"""Changes with the form of a line: lines of another format are not taken over into the next snapshot."""


@dataclass(frozen=True, slots=True)
class SectionRecord:
    """``start``/``end``: byte offsets of the section's own text in the page file (UTF-8), heading line left out."""

    section_id: str
    slug: str
    level: int
    title: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class PageRecord:
    """A published page. ``sha256`` is the hash of the text that was published (``WikiPage.content_sha256``)."""

    path: str
    sha256: str
    title: str
    scope: str
    status: str
    updated: date | None
    summary: str
    keywords: tuple[str, ...]
    sections: tuple[SectionRecord, ...]

    def section(self, section_id: str) -> SectionRecord:
        """Raises KeyError for an unknown one."""
        for section in self.sections:
            if section.section_id == section_id:
                return section
        raise KeyError(section_id)

    @property
    def concept_name(self) -> str:
        return self.path.removesuffix(".md")

    @property
    def domain(self) -> str:
        head, slash, _ = self.path.partition("/")
        return head if slash else "."

    def address(self, section: SectionRecord) -> str:
        return f"{self.path}#{section.slug}" if section.slug else self.path


def encode_record(record: PageRecord) -> bytes:
    """One line, without its end."""
    row = [
        record.path,
        record.sha256,
        record.title,
        record.scope,
        record.status,
        record.updated.isoformat() if record.updated else None,
        record.summary,
        record.keywords,
        [[s.section_id, s.slug, s.level, s.title, s.start, s.end] for s in record.sections],
    ]
    return json.dumps(row, ensure_ascii=True, separators=(",", ":")).encode()


def decode_record(line: bytes) -> PageRecord:
    """Raises ValueError, TypeError or IndexError for anything but such a line."""
    path, sha256, title, scope, status, updated, summary, keywords, sections = json.loads(line)
    return PageRecord(
        path=path,
        sha256=sha256,
        title=title,
        scope=scope,
        status=status,
        updated=date.fromisoformat(updated) if updated else None,
        summary=summary,
        keywords=tuple(keywords),
        sections=tuple(SectionRecord(*section) for section in sections),
    )


class LineTable:
    """Lines of a file by number: ``name.jsonl`` and ``name.offsets`` (64-bit, one more than there are lines)."""

    def __init__(self, folder: Path, name: str) -> None:
        self._lines_path = folder / f"{name}.jsonl"
        self._offsets_path = folder / f"{name}.offsets"

    @cached_property
    def _lines(self) -> memoryview:
        return _mapped(self._lines_path)

    @cached_property
    def _offsets(self) -> memoryview:
        return _mapped(self._offsets_path).cast("Q")

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, number: int) -> bytes:
        """Raises OSError, ValueError or IndexError when the files are missing or broken."""
        if not 0 <= number < len(self):
            raise IndexError(number)
        return bytes(self._lines[self._offsets[number] : self._offsets[number + 1] - 1])


def encode_lines(lines: Iterable[bytes]) -> tuple[bytes, bytes]:
    """The two files of a table: lines, offsets."""
    offsets = array("Q", [0])
    rows = list(lines)
    for row in rows:
        offsets.append(offsets[-1] + len(row) + 1)
    return b"".join(row + b"\n" for row in rows), offsets.tobytes()


class NeighbourTable:
    """Numbers of the pages that share an edge with a page, by its number. One file of 32-bit numbers."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @cached_property
    def _numbers(self) -> memoryview:
        return _mapped(self._path).cast("I")

    def __getitem__(self, number: int) -> list[int]:
        """Raises OSError, ValueError or IndexError when the file is missing or broken."""
        numbers = self._numbers
        count = numbers[0]
        if not 0 <= number < count or len(numbers) < count + 2:
            raise IndexError(number)
        base = count + 2
        found: list[int] = numbers[base + numbers[number + 1] : base + numbers[number + 2]].tolist()
        return found


def encode_neighbours(neighbours: Iterable[Iterable[int]]) -> bytes:
    starts, members = array("I", [0]), array("I")
    for near in neighbours:
        members.extend(sorted(near))
        starts.append(len(members))
    return (array("I", [len(starts) - 1]) + starts + members).tobytes()


def _mapped(path: Path) -> memoryview:
    with path.open("rb") as file:
        try:
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        except ValueError:  # an empty file cannot be mapped
            return memoryview(b"")


def encode_json(value: Any) -> bytes:
    """A small file of JSON for programs and curious people: sorted keys, a line end."""
    return (json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode("utf-8", "backslashreplace")
