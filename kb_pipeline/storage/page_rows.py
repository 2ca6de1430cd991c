"""Parsed pages as rows of the cache: JSON arrays in the order of the dataclasses' fields.

Belongs here: the two directions. Not here: where rows are kept, whether they still hold.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from datetime import date
from typing import Any

from kb_pipeline.models import (
    BodyOutline,
    CodeFence,
    CompiledStamp,
    Heading,
    Link,
    LinkKind,
    PageProvenance,
    PageStatus,
    ParseProblem,
    Related,
    Section,
    SourceRef,
    Table,
    WikiPage,
)

_FIELDS: dict[type[Any], tuple[str, ...]] = {
    kind: tuple(field.name for field in dataclasses.fields(kind))
    for kind in (
        BodyOutline, CodeFence, CompiledStamp, Heading, Link, ParseProblem, Related, Section, SourceRef, Table, WikiPage,
    )
}  # fmt: skip
_BREADCRUMB, _TEXT = _FIELDS[Section].index("breadcrumb"), _FIELDS[Section].index("text")
_KIND = _FIELDS[Link].index("kind")
_BODY, _OUTLINE = _FIELDS[WikiPage].index("body"), _FIELDS[WikiPage].index("outline")
_SECTIONS = _FIELDS[BodyOutline].index("sections")
_KINDS = {kind.value: kind for kind in LinkKind}


def encode_page(page: WikiPage) -> bytes:
    """One page as a row. Raises TypeError or ValueError for front matter that JSON cannot hold (it is not cached)."""
    row = _row(page)
    row[_OUTLINE] = outline = _row(page.outline)
    outline[_SECTIONS] = _section_rows(page)
    return json.dumps(row, ensure_ascii=False, separators=(",", ":"), default=_row).encode("utf-8", "surrogatepass")


def decode_page(content: bytes) -> WikiPage:
    """The page that ``encode_page`` was given."""
    row = json.loads(content.decode("utf-8", "surrogatepass"))
    row[_OUTLINE] = _outline(row[_OUTLINE], row[_BODY])
    return WikiPage(*[value if read is None else read(value) for read, value in zip(_READ_PAGE, row, strict=True)])


def encode_provenance(page: WikiPage) -> list[object]:
    """Where a page comes from, as the end of a stamp row."""
    stamp = page.compiled
    return [
        [(source.path, source.sha256) for source in page.sources],
        (stamp.by, stamp.key, stamp.part, stamp.sha256) if stamp else None,
        page.fingerprint,
        page.content_sha256,
    ]


def decode_provenance(path: str, row: list[Any]) -> PageProvenance:
    """The provenance that ``encode_provenance`` was given; ``row`` is the end of a stamp row."""
    sources, stamp, fingerprint, content_sha256 = row
    return PageProvenance(
        path,
        tuple([SourceRef(*source) for source in sources]),
        CompiledStamp(*stamp) if stamp else None,
        fingerprint,
        content_sha256,
    )


def _row(value: object) -> Any:
    names = _FIELDS.get(type(value))
    if names is not None:
        return [getattr(value, name) for name in names]
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no place in a cached page")


def _section_rows(page: WikiPage) -> list[list[Any]]:
    """Sections with their text as places in the body, which holds it already; else rows would be twice as long."""
    rows = []
    position = 0
    for section in page.outline.sections:
        row = _row(section)
        found = page.body.find(section.text, position)
        if found >= 0:
            position = found + len(section.text)
            row[_TEXT] = (found, position)
        rows.append(row)
    return rows


def _outline(row: list[Any], body: str) -> BodyOutline:
    for section in row[_SECTIONS]:
        section[_BREADCRUMB] = tuple(section[_BREADCRUMB])
        if type(section[_TEXT]) is list:
            start, end = section[_TEXT]
            section[_TEXT] = body[start:end]
    return BodyOutline(
        *[value if read is None else read(value) for read, value in zip(_READ_OUTLINE, row, strict=True)]
    )


def _many(kind: type[Any]) -> Callable[[list[list[Any]]], tuple[Any, ...]]:
    return lambda rows: tuple([kind(*row) for row in rows]) if rows else ()


def _links(rows: list[list[Any]]) -> tuple[Link, ...]:
    for row in rows:
        row[_KIND] = _KINDS[row[_KIND]]
    return tuple([Link(*row) for row in rows])


_OUTLINE_READERS: dict[str, Callable[[Any], Any]] = {
    "headings": _many(Heading),
    "sections": _many(Section),
    "links": _links,
    "fences": _many(CodeFence),
    "tables": _many(Table),
}
_PAGE_READERS: dict[str, Callable[[Any], Any]] = {
    "keywords": tuple,
    "related": _many(Related),
    "updated": lambda text: None if text is None else date.fromisoformat(text),
    "status": lambda text: None if text is None else PageStatus(text),
    "tags": tuple,
    "aliases": tuple,
    "sources": _many(SourceRef),
    "compiled": lambda row: None if row is None else CompiledStamp(*row),
    "fields": tuple,
    "problems": _many(ParseProblem),
}
_READ_OUTLINE = tuple(_OUTLINE_READERS.get(name) for name in _FIELDS[BodyOutline])
_READ_PAGE = tuple(_PAGE_READERS.get(name) for name in _FIELDS[WikiPage])
