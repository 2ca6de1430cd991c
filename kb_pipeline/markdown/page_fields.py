"""Front matter fields of a page in the forms they may be written in (SPEC 4, 5).

Belongs here: typed access to single fields, with a problem for each that has the wrong form. Does not belong here: the
block itself (``front_matter``), the page as a whole (``pages``), whether a well-formed value is a good one (``lint``).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import date

from kb_pipeline.markdown.front_matter import FrontMatter, as_date, as_text_list
from kb_pipeline.markdown.yaml_write import one_line
from kb_pipeline.models import CompiledStamp, PageStatus, ParseProblem, Related, SourceRef

_WIKILINK = re.compile(r"\[\[([^\[\]|]+)(?:\|[^\[\]]*)?\]\]$")
_MARKDOWN_LINK = re.compile(r"\[[^\[\]]*\]\(<?([^()<>]+)>?\)$")
_PART = re.compile(r"[1-9][0-9]{0,3}/[1-9][0-9]{0,3}$")
_YES = frozenset({"true", "yes", "on", "1"})
_NO = frozenset({"false", "no", "off", "0", ""})


class FieldReader:
    """Typed access to front matter fields; what has the wrong form is told and read as absent."""

    def __init__(self, front: FrontMatter) -> None:
        self._fields = front.fields
        self._lines = front.lines
        self._comments = front.comments
        self.problems: list[ParseProblem] = []

    def text(self, name: str) -> str:
        value = self._fields.get(name)
        if value is None:
            return ""
        if isinstance(value, str):
            return one_line(value.strip() if "\n" in value else value)
        self._wrong(name, f"{name} has to be text; found {_kind_of(value)}, quote it if it is meant as text")
        return ""

    def text_list(self, name: str) -> tuple[str, ...]:
        value = self._fields.get(name)
        if value is None:
            return ()
        items = value if isinstance(value, list) else [value]
        if any(isinstance(item, (Mapping, list)) for item in items):
            self._wrong(name, f"{name} has to be a list of texts; found {_kind_of(value, items)}")
        return tuple(one_line(item) for item in as_text_list(value))

    def status(self) -> PageStatus | None:
        written = self.text("status").strip()
        if not written:
            return None
        try:
            return PageStatus(written)
        except ValueError:
            self._wrong("status", f"status has to be current, deprecated or draft; found '{written[:40]}'")
            return None

    def updated(self) -> date | None:
        value = self._fields.get("updated")
        found = as_date(value)
        if found is None and value is not None:
            shown = value[:40] if isinstance(value, str) else _kind_of(value)
            self._wrong("updated", f"updated has to be an ISO date such as 2026-08-18; found '{shown}'")
        return found

    def flag(self, name: str) -> bool:
        value = self._fields.get(name)
        if isinstance(value, bool) or value is None:
            return bool(value)
        written = value.strip().casefold() if isinstance(value, str) else "?"
        if written not in _YES | _NO:
            self._wrong(name, f"{name} has to be true or false")
        return written in _YES

    def related(self) -> tuple[Related, ...]:
        value = self._fields.get("related")
        if value is None:
            return ()
        if not isinstance(value, list):
            if isinstance(value, Mapping):
                return self._related_item(value, None)
            comment = self._comments.get("related")
            return tuple(Related(_target(item), comment) for item in as_text_list(value))
        found: list[Related] = []
        for position, item in enumerate(value):
            found += self._related_item(item, self._comments.get(f"related.{position}"))
        return tuple(found)

    def _related_item(self, item: object, comment: str | None) -> tuple[Related, ...]:
        if isinstance(item, Mapping):
            path, note = item.get("path"), item.get("comment")
            if path is None and len(item) == 1:
                path, note = next(iter(item.items()))
            if isinstance(path, str) and path.strip() and (note is None or isinstance(note, str)):
                return (Related(_target(path), note or comment),)
            self._wrong("related", "an item of related has to be a page path, with its comment behind '#'")
            return ()
        # Unquoted [[name]] is a list in a list to YAML.
        return tuple(Related(_target(text), comment) for text in as_text_list([item]))

    def sources(self) -> tuple[SourceRef, ...]:
        value = self._fields.get("sources")
        if value is None:
            return ()
        found: list[SourceRef] = []
        for item in value if isinstance(value, list) else [value]:
            path, digest = (item.get("path"), item.get("sha256")) if isinstance(item, Mapping) else (item, "")
            if isinstance(path, str) and path.strip() and isinstance(digest, str | None):
                found.append(SourceRef(unicodedata.normalize("NFC", path.strip()), digest or ""))
            elif item is not None:
                self._wrong("sources", "an item of sources has to be {path, sha256}")
        return tuple(found)

    def compiled(self) -> CompiledStamp | None:
        value = self._fields.get("compiled")
        if value is None:
            return None
        if isinstance(value, Mapping):
            by, key, part, digest = (value.get(name) for name in ("by", "key", "part", "sha256"))
            if (
                isinstance(by, str)
                and isinstance(key, str)
                and isinstance(part, str)
                and isinstance(digest, str)
                and _PART.match(part)
            ):
                return CompiledStamp(by, key, part, digest)
        self._wrong("compiled", "compiled has to be {by, key, part, sha256} as the product wrote it")
        return None

    def _wrong(self, name: str, message: str) -> None:
        self.problems.append(ParseProblem("field-type", message, self._lines.get(name), name))


def _target(written: str) -> str:
    """The page path in an item of ``related``, which may be spelt as a link."""
    text = one_line(written).strip()
    found = _WIKILINK.match(text) or _MARKDOWN_LINK.match(text)
    return unicodedata.normalize("NFC", found.group(1).strip() if found else text)


def _kind_of(value: object, items: Sequence[object] = ()) -> str:
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, Mapping) or any(isinstance(item, Mapping) for item in items):
        return "a mapping"
    return "a list in a list" if items else "a list"
