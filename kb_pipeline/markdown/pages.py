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

from kb_pipeline.errors import UnreadableTextError
from kb_pipeline.markdown.decoding import conflict_marks, decode_text, text_hash
from kb_pipeline.markdown.front_matter import (
    FIELD_ORDER,
    as_text_list,
    set_fields,
    split_front_matter,
)
from kb_pipeline.markdown.outline import parse_body
from kb_pipeline.markdown.page_fields import FieldReader
from kb_pipeline.markdown.yaml_write import block_items, entry, flow_list, one_line
from kb_pipeline.models import (
    PageDraft,
    PageStatus,
    ParseProblem,
    Related,
    SourceRef,
    WikiPage,
)

_SEPARATOR = re.compile("[\x0b\x0c\x85\u2028\u2029]")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
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
    reader = FieldReader(front)
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
    reader = FieldReader(front)
    compiled = reader.compiled()
    written = front.fields.get("compiled")
    if compiled is None or not isinstance(written, Mapping):
        return text
    now = _fingerprint(reader, front.body)
    return text if compiled.sha256 == now else set_fields(text, {"compiled": {**written, "sha256": now}})


def _fingerprint(reader: FieldReader, body: str) -> str:
    values = reader.text("title"), reader.text("scope"), reader.text("summary"), reader.text_list("keywords")
    return fingerprint(*values, reader.status(), body)


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
