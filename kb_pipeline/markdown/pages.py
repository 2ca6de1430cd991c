"""Pages: bytes to ``WikiPage``, ``PageDraft`` to bytes, and the fingerprint that tells a person's edit (SPEC 5).

Belongs here: which front matter keys a page has, in what form and order. Does not belong here: judging values (``lint``),
where files are (``storage``), changing single fields of a file (``front_matter_edit``).
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import date

from kb_pipeline.errors import UnreadableTextError
from kb_pipeline.markdown.decoding import conflict_marks, decode_text, text_hash
from kb_pipeline.markdown.front_matter import (
    FIELD_ORDER,
    FrontMatter,
    as_date,
    as_text_list,
    set_fields,
    split_front_matter,
)
from kb_pipeline.markdown.outline import parse_body
from kb_pipeline.markdown.yaml_write import block_items, entry, flow_list, one_line
from kb_pipeline.models import (
    CompiledStamp,
    PageDraft,
    PageStatus,
    ParseProblem,
    Related,
    SourceRef,
    WikiPage,
)

_WIKILINK = re.compile(r"\[\[([^\[\]|]+)(?:\|[^\[\]]*)?\]\]$")
_MARKDOWN_LINK = re.compile(r"\[[^\[\]]*\]\(<?([^()<>]+)>?\)$")
_SEPARATOR = re.compile("[\x0b\x0c\x85\u2028\u2029]")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_PART = re.compile(r"[1-9]\d{0,3}/[1-9]\d{0,3}$")
_YES = frozenset({"true", "yes", "on", "1"})
_NO = frozenset({"false", "no", "off", "0", ""})
_KNOWN = frozenset(FIELD_ORDER)


def read_page(path: str, data: bytes) -> WikiPage:
    """Read one page. Never raises: what cannot be read is empty and told in ``problems``."""
    path = unicodedata.normalize("NFC", path)
    try:
        text = decode_text(data)
    except UnreadableTextError as error:
        problem = ParseProblem("unreadable-text", str(error))
        return WikiPage(path, problems=(problem,), content_sha256=hashlib.sha256(data).hexdigest())
    front = split_front_matter(text)
    reader = _FieldReader(front)
    title, scope, summary = reader.text("title"), reader.text("scope"), reader.text("summary")
    keywords = reader.text_list("keywords")
    status = reader.status()
    body = front.body
    problems = [*front.problems, *_conflicts(text)]
    return WikiPage(
        path=path,
        title=title,
        scope=scope,
        summary=summary,
        keywords=keywords,
        related=reader.related(),
        updated=reader.updated(),
        status=status,
        tags=tuple(tag for item in reader.text_list("tags") if (tag := item.lstrip("#").strip())),
        aliases=reader.text_list("aliases"),
        kind=reader.text("kind") or None,
        evergreen=reader.flag("evergreen"),
        sources=reader.sources(),
        compiled=reader.compiled(),
        extra={key: value for key, value in front.fields.items() if key not in _KNOWN},
        fields=tuple(front.fields),
        field_lines=front.lines,
        body=body,
        body_line=front.body_line,
        outline=parse_body(body, front.body_line),
        problems=(*problems, *reader.problems),
        fingerprint=fingerprint(title, scope, summary, keywords, status, body),
        content_sha256=text_hash(text),
    )


def fingerprint(
    title: str, scope: str, summary: str, keywords: Iterable[str], status: PageStatus | str | None, body: str
) -> str:
    """Hex SHA-256 over what a compilation decides. Blank lines around the body do not count: editors change them."""
    values = [title, scope, summary, list(keywords), str(status or ""), body.strip("\n")]
    return hashlib.sha256(json.dumps(values, ensure_ascii=True).encode()).hexdigest()


def render_page(draft: PageDraft, sources: Sequence[SourceRef], by: str, key: str, part: str) -> str:
    """The canonical text of a compiled page, stamped: the same bytes for the same draft.

    Keys in the order of SPEC 5, optional ones only where set; control characters are dropped. ``read_page`` of it has
    the stamped fingerprint.
    """
    title, scope, summary = one_line(draft.title), one_line(draft.scope), one_line(draft.summary)
    keywords = _items(draft.keywords)
    body = _clean(draft.body).strip("\n") + "\n"
    stamp = {
        "by": by,
        "key": key,
        "part": part,
        "sha256": fingerprint(title, scope, summary, keywords, draft.status, body),
    }
    lines = [
        *entry("title", title),
        *entry("scope", scope),
        *entry("summary", summary),
        f"keywords: {flow_list(keywords)}",
        *_related_lines(draft.related),
        f"updated: {draft.updated.isoformat()}",
        f"status: {draft.status.value}",
    ]
    for name, values in (("tags", draft.tags), ("aliases", draft.aliases)):
        if items := _items(values):
            lines.append(f"{name}: {flow_list(items)}")
    if draft.kind:
        lines += entry("kind", draft.kind)
    if draft.evergreen:
        lines.append("evergreen: true")
    lines += entry("sources", [{"path": source.path, "sha256": source.sha256} for source in sources])
    lines += entry("compiled", stamp)
    for name, value in draft.extra.items():
        if name not in _KNOWN:
            lines += entry(name, value)
    return "\n".join(["---", *lines, "---", "", body])


def restamp(text: str) -> str:
    """Bring ``compiled.sha256`` up to date after the product itself changed a page; other texts stay as they are.

    The caller has made sure that the fingerprint matched before its own change.
    """
    front = split_front_matter(_lf(text))
    reader = _FieldReader(front)
    compiled = reader.compiled()
    written = front.fields.get("compiled")
    if compiled is None or not isinstance(written, Mapping):
        return text
    now = reader.fingerprint()
    return text if compiled.sha256 == now else set_fields(text, {"compiled": {**written, "sha256": now}})


def _lf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _clean(body: str) -> str:
    """A body as a page may hold it: LF line ends, nothing that breaks a line unseen, a database or a log."""
    return _CONTROL.sub("", _SEPARATOR.sub(" ", _lf(body)))


def _items(values: Iterable[str]) -> tuple[str, ...]:
    return as_text_list([one_line(value) for value in values])


def _related_lines(related: Sequence[Related]) -> list[str]:
    if not related:
        return ["related: []"]
    items = block_items([item.target for item in related], [item.comment for item in related])
    return ["related:", *(f"  {line}" for line in items)]


def _conflicts(text: str) -> list[ParseProblem]:
    marks = conflict_marks(text)
    if not marks:
        return []
    message = f"git conflict marks in line {', '.join(map(str, marks[:6]))}; resolve the merge"
    return [ParseProblem("conflict-marks", message, marks[0])]


class _FieldReader:
    """Typed access to front matter fields; what has the wrong form is told and read as absent."""

    def __init__(self, front: FrontMatter) -> None:
        self._body = front.body
        self._fields = front.fields
        self._lines = front.lines
        self._comments = front.comments
        self.problems: list[ParseProblem] = []

    def fingerprint(self) -> str:
        values = self.text("title"), self.text("scope"), self.text("summary"), self.text_list("keywords")
        return fingerprint(*values, self.status(), self._body)

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
