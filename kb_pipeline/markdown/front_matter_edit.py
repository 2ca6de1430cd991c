"""Change fields of a front matter in place, leaving every other byte as it is (SPEC 4 "Writing back").

Belongs here: cutting the block at the marks of the YAML parser's events, replacing only the changed values, and proof
by reading the result again. A YAML emitter would lay out the untouched keys anew; this cannot. Does not belong here:
a page written from nothing (``pages``), which keys mean what.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import yaml

from kb_pipeline.errors import PageWriteError
from kb_pipeline.markdown.front_matter import FIELD_ORDER, FrontMatter, split_front_matter
from kb_pipeline.markdown.yaml_safe import parse_events, printable
from kb_pipeline.markdown.yaml_write import block_items, entry, one_line, quoted, scalar, trailing
from kb_pipeline.models import Related

ONE_A_LINE = frozenset({"related"})
"""Keys whose lists are written one item a line, with room for a comment behind each."""

_RANK = {name: rank for rank, name in enumerate(FIELD_ORDER)}


def set_fields(text: str, changes: Mapping[str, object]) -> str:
    """Set, add (in the order of SPEC 5) or delete (value None) fields of a text's front matter.

    Values: str, bool, number, date, ``Related``, mappings and sequences of these. Unknown keys, order, quotes,
    comments, line ends and the body stay; a text without front matter gets one. Raises PageWriteError when the block
    cannot be read or the result would not read back as meant.
    """
    before = split_front_matter(text)
    if not before.readable:
        problem = next(problem for problem in before.problems if problem.code != "front-matter-missing")
        raise PageWriteError(f"front matter not changed, line {problem.line}: {problem.message}")
    meant = _meant(before, changes)
    if meant == before.fields and before.block is not None:
        return text
    newline = "\r\n" if "\r\n" in (before.block or text[: text.find("\n") + 1]) else "\n"
    if before.block is None:
        written = _with_new_block(text, meant, changes, newline)
    else:
        start = text.index("\n") + 1
        block = _edited(before.block, before, meant, changes, newline)
        written = text[:start] + block + text[start + len(before.block) :]
    after = split_front_matter(written)
    if after.fields != meant or after.body.lstrip() != before.body.lstrip():
        names = ", ".join(sorted(changes))
        raise PageWriteError(f"front matter not changed: {names} cannot be set without touching more; edit it by hand")
    return written


@dataclass(slots=True)
class _Item:
    start: int
    end: int


@dataclass(slots=True)
class _Span:
    """Where a key and its value stand in the block (code point offsets).

    ``first``: beginning of the key's line; ``start``..``end``: the value; ``last``: beginning of the line behind it.
    """

    key: str
    first: int
    start: int
    end: int
    last: int
    style: str
    quote: str | None = None
    items: list[_Item] = field(default_factory=list)


def _meant(before: FrontMatter, changes: Mapping[str, object]) -> dict[str, object]:
    fields = dict(before.fields)
    for key, value in changes.items():
        if value is None:
            fields.pop(key, None)
        else:
            fields[key] = _as_read(value)
    return fields


def _as_read(value: object) -> object:
    """A value as the reader will give it back."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Related):
        return one_line(value.target)
    if isinstance(value, Mapping):
        return {one_line(str(key)): _as_read(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_as_read(item) for item in value]
    if isinstance(value, date):
        return value.isoformat()
    return one_line(str(value))


def _entry(key: str, value: object) -> list[str]:
    """The lines of a key written anew."""
    if isinstance(value, Sequence) and not isinstance(value, str) and value:
        comments = [_comment(item) for item in value]
        plain = [_as_read(item) for item in value]
        if key in ONE_A_LINE or any(comments):
            return [f"{scalar(key)}:", *(f"  {line}" for line in block_items(plain, comments))]
    return entry(key, value if isinstance(value, bool) or value is None else _as_read(value))


def _comment(value: object) -> str | None:
    return value.comment if isinstance(value, Related) else None


def _with_new_block(text: str, meant: Mapping[str, object], changes: Mapping[str, object], newline: str) -> str:
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    body = text.removeprefix("\ufeff")
    ordered = sorted(meant, key=lambda key: _RANK.get(key, len(_RANK)))
    lines = [line for key in ordered for line in _entry(key, changes[key])]
    blank = newline if body and not body.startswith(("\n", "\r")) else ""
    return mark + newline.join(["---", *lines, "---", ""]) + blank + body


def _edited(
    block: str, before: FrontMatter, meant: Mapping[str, object], changes: Mapping[str, object], newline: str
) -> str:
    spans = _spans(block)
    if spans is None:
        ordered = sorted(meant, key=lambda key: _RANK.get(key, len(_RANK)))
        lines = [line for key in ordered for line in _entry(key, changes.get(key, meant[key]))]
        return newline.join([*lines, ""])
    edits: list[tuple[int, int, str]] = []
    for key, value in changes.items():
        span = spans.get(key)
        if span is None or (key in meant and before.fields[key] == meant[key]):
            continue
        if value is None:
            edits.append((span.first, span.last, ""))
        else:
            edits.append(_replacement(block, span, value, newline))
    indent = _indent(block, spans)
    added = [key for key in changes if key not in spans and key in meant]
    places: dict[int, list[str]] = {}
    for key in sorted(added, key=lambda key: _RANK.get(key, len(_RANK))):
        lines = [indent + line for line in _entry(key, changes[key])]
        places.setdefault(_place(key, block, spans), []).extend(lines)
    for place, lines in places.items():
        # A block whose last line has no end cannot be: the closing mark stands on a line of its own.
        edits.append((place, place, newline.join([*lines, ""])))
    # Deletions before insertions at one place: an insertion stands behind the span it follows.
    for start, end, replacement in sorted(edits, key=lambda edit: (edit[0], edit[1]), reverse=True):
        block = block[:start] + replacement + block[end:]
    return block


def _place(key: str, block: str, spans: Mapping[str, _Span]) -> int:
    """Where a new key goes: behind the last key that SPEC 5 puts before it, else before the first that follows."""
    rank = _RANK.get(key)
    if rank is None:
        return max((span.last for span in spans.values()), default=len(block))
    earlier = [span for name, span in spans.items() if _RANK.get(name, len(_RANK)) < rank]
    if earlier:
        return max(span.last for span in earlier)
    later = [span for name, span in spans.items() if name in _RANK]
    if later:
        return min(span.first for span in later)
    return min((span.first for span in spans.values()), default=len(block))


def _indent(block: str, spans: Mapping[str, _Span]) -> str:
    for span in spans.values():
        line = block[span.first :]
        return line[: len(line) - len(line.lstrip(" "))]
    return ""


def _replacement(block: str, span: _Span, value: object, newline: str) -> tuple[int, int, str]:
    is_list = isinstance(value, Sequence) and not isinstance(value, str)
    is_scalar = not is_list and not isinstance(value, Mapping)
    one_lined = "\n" not in block[span.first : span.end]
    if is_scalar and span.style == "scalar" and one_lined:
        gap = "" if block[span.start - 1 : span.start] in {" ", "\t"} else " "
        return span.start, span.end, gap + quoted(_as_read(value), span.quote)
    if is_list and value and not any(_comment(item) for item in value):
        if span.style == "flow-list" and span.items:
            return span.start, span.end, _flow_items(block, span, value)
    if is_list and value and span.style == "block-list":
        lines = _block_lines(block, span, value, newline)
        if lines is not None:
            first = block.rfind("\n", 0, span.items[0].start) + 1
            return first, span.last, lines
    indent = _indent(block, {"": span})
    lines = [indent + line for line in _entry(span.key, value)]
    return span.first, span.last, newline.join([*lines, ""])


def _flow_items(block: str, span: _Span, values: Sequence[object]) -> str:
    """A ``[a, "b"]`` list with known items spelt as they were."""
    spelt = {str(_read_item(block, item)): block[item.start : item.end] for item in span.items}
    parts = []
    for value in values:
        plain = _as_read(value)
        known = spelt.get(plain) if isinstance(plain, str) else None
        parts.append(known if known is not None else entry("x", [plain])[0][4:-1])
    return "[" + ", ".join(parts) + "]"


def _read_item(block: str, item: _Item) -> object:
    for event in parse_events("[" + block[item.start : item.end] + "]"):
        if type(event) is yaml.ScalarEvent:
            return event.value
    return None


def _block_lines(block: str, span: _Span, values: Sequence[object], newline: str) -> str | None:
    """``- item`` lines with those of known items kept whole: quotes, comments behind and below them."""
    bounds = [block.rfind("\n", 0, item.start) + 1 for item in span.items] + [span.last]
    indent = ""
    known: dict[str, list[str]] = {}
    for item, first, last in zip(span.items, bounds, bounds[1:], strict=False):
        lead = block[first : item.start]
        if lead.strip(" ") != "-":
            return None
        indent = lead[: lead.index("-")]
        text = _read_item(block, item)
        if isinstance(text, str):
            known.setdefault(text, []).append(block[first:last])
    written = []
    for value in values:
        plain = _as_read(value)
        kept = known.get(plain) if isinstance(plain, str) else None
        comment = _comment(value)
        if kept and (comment is None or trailing(comment).strip() in kept[0]):
            written.append(kept.pop(0))
        else:
            written += [f"{indent}{line}{newline}" for line in block_items([plain], [comment])]
    return "".join(written)


def _spans(block: str) -> dict[str, _Span] | None:
    """Each top-level key of a block mapping; None when the mapping is written ``{…}``."""
    spans: dict[str, _Span] = {}
    depth = 0
    span: _Span | None = None
    key: Any = None
    for event in parse_events(printable(block)):
        kind = type(event)
        start, end = event.start_mark.index, event.end_mark.index
        opens = kind in {yaml.MappingStartEvent, yaml.SequenceStartEvent}
        closes = kind in {yaml.MappingEndEvent, yaml.SequenceEndEvent}
        if closes:
            depth -= 1
            if span and end > start:
                span.end = max(span.end, end)
                if depth == 2 and span.items:
                    span.items[-1].end = end
        elif opens or kind in {yaml.ScalarEvent, yaml.AliasEvent}:
            if depth == 0:
                if kind is yaml.MappingStartEvent and event.flow_style:
                    return None
            elif depth == 1 and key is None:
                key = event
            elif depth == 1:
                span = _Span(key.value, start_of_line(block, key), start, end, 0, *_style(event))
                spans[key.value] = span
            elif span:
                span.end = max(span.end, end)
                if depth == 2:
                    span.items.append(_Item(start, end))
                elif span.items:
                    span.items[-1].end = max(span.items[-1].end, end)
            depth += opens
        if depth == 1 and span and kind is not yaml.MappingStartEvent and key is not event:
            span.last = _line_behind(block, span)
            span = key = None
    return spans


def start_of_line(block: str, event: Any) -> int:
    """Offset of the beginning of the line on which an event begins."""
    return block.rfind("\n", 0, event.start_mark.index) + 1


def _style(event: Any) -> tuple[str, str | None]:
    if type(event) is yaml.ScalarEvent:
        return ("block-scalar", None) if event.style in {"|", ">"} else ("scalar", event.style or None)
    if type(event) is yaml.SequenceStartEvent:
        return ("flow-list" if event.flow_style else "block-list"), None
    return "other", None


def _line_behind(block: str, span: _Span) -> int:
    if span.end > 0 and block[span.end - 1 : span.end] == "\n":
        return span.end
    line_end = block.find("\n", span.end)
    return len(block) if line_end < 0 else line_end + 1
