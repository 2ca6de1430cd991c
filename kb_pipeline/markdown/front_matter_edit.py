"""Change fields of a front matter in place, leaving every other byte as it is (SPEC 4 "Writing back").

Belongs here: cutting the block at the marks of the YAML parser's events and replacing only the changed values. A YAML
emitter would lay out the untouched keys anew; this cannot. Does not belong here: finding the block and proving the
result (``front_matter.set_fields``), a page written from nothing (``pages``), which keys mean what.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import yaml

from kb_pipeline.markdown.yaml_safe import parse_events, printable
from kb_pipeline.markdown.yaml_write import block_items, entry, one_line, quoted, scalar, trailing
from kb_pipeline.models import Related

ONE_A_LINE = frozenset({"related"})
"""Keys whose lists are written one item a line, with room for a comment behind each."""

FIELD_ORDER = (
    "title", "scope", "summary", "keywords", "related", "updated", "status",
    "tags", "aliases", "kind", "evergreen", "sources", "compiled",
)  # fmt: skip
"""SPEC 5: how the product orders a page's front matter. Whatever else was found follows."""

_LEAVES = frozenset({yaml.ScalarEvent, yaml.AliasEvent})
_OPENING = frozenset({yaml.MappingStartEvent, yaml.SequenceStartEvent})
_CLOSING = frozenset({yaml.MappingEndEvent, yaml.SequenceEndEvent})

_RANK = {name: rank for rank, name in enumerate(FIELD_ORDER)}


def new_block(changes: Mapping[str, object], newline: str) -> str:
    """A whole block, marks included, for a text that has none. None values are left out."""
    ordered = sorted((key for key in changes if changes[key] is not None), key=_rank)
    return newline.join(["---", *(line for key in ordered for line in _entry(key, changes[key])), "---", ""])


def edit_block(
    block: str, before: Mapping[str, object], meant: Mapping[str, object], changes: Mapping[str, object], newline: str
) -> str:
    """The block with its changed keys written anew. ``before`` and ``meant`` are its fields as read, then and now."""
    spans = _spans(block)
    if spans is None:
        ordered = sorted(meant, key=_rank)
        return newline.join([*(line for key in ordered for line in _entry(key, changes.get(key, meant[key]))), ""])
    edits: list[tuple[int, int, str]] = []
    for key, value in changes.items():
        if key not in spans or (key in meant and before[key] == meant[key]):
            continue
        span = spans[key]
        edits.append((span.first, span.last, "") if value is None else _replacement(block, span, value, newline))
    indent = _indent(block, spans)
    places: dict[int, list[str]] = {}
    for key in sorted((key for key in changes if key in meant and key not in spans), key=_rank):
        lines = [indent + line for line in _entry(key, changes[key])]
        places.setdefault(_place(key, block, spans), []).extend(lines)
    edits += [(place, place, newline.join([*lines, ""])) for place, lines in places.items()]
    for start, end, replacement in sorted(edits, key=lambda edit: edit[:2], reverse=True):
        block = block[:start] + replacement + block[end:]
    return block


def as_read(value: object) -> object:
    """A value as the reader will give it back once it is written."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Related):
        return one_line(value.target)
    if isinstance(value, Mapping):
        return {one_line(str(key)): as_read(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [as_read(item) for item in value]
    if isinstance(value, date):
        return value.isoformat()
    return one_line(str(value))


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


def _rank(key: str) -> int:
    return _RANK.get(key, len(_RANK))


def _entry(key: str, value: object) -> list[str]:
    """The lines of a key written anew."""
    if isinstance(value, Sequence) and not isinstance(value, str) and value:
        comments = [_comment(item) for item in value]
        if key in ONE_A_LINE or any(comments):
            items = block_items([_writable(item) for item in value], comments)
            return [f"{scalar(key)}:", *(f"  {line}" for line in items)]
    return entry(key, _writable(value))


def _writable(value: object) -> object:
    """A value for the writer: dates and numbers stay what they are, so that they are not quoted as texts."""
    if isinstance(value, Related):
        return value.target
    if isinstance(value, Mapping):
        return {str(key): _writable(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_writable(item) for item in value]
    return value


def _comment(value: object) -> str | None:
    return value.comment if isinstance(value, Related) else None


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
    if isinstance(value, Sequence) and not isinstance(value, str):
        if value and span.items and span.style == "flow-list" and not any(_comment(item) for item in value):
            return span.start, span.end, _flow_items(block, span, value)
        kept = _block_lines(block, span, value, newline) if value and span.style == "block-list" else None
        if kept is not None:
            return block.rfind("\n", 0, span.items[0].start) + 1, span.last, kept
    elif not isinstance(value, Mapping) and span.style == "scalar" and "\n" not in block[span.first : span.end]:
        gap = "" if block[span.start - 1 : span.start] in {" ", "\t"} else " "
        return span.start, span.end, gap + quoted(_writable(value), span.quote)
    indent = _indent(block, {"": span})
    return span.first, span.last, newline.join([*(indent + line for line in _entry(span.key, value)), ""])


def _flow_items(block: str, span: _Span, values: Sequence[object]) -> str:
    """A ``[a, "b"]`` list with known items spelt as they were."""
    spelt = {str(_read_item(block, item)): block[item.start : item.end] for item in span.items}
    parts = []
    for value in values:
        plain = as_read(value)
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
        plain = as_read(value)
        kept = known.get(plain) if isinstance(plain, str) else None
        comment = _comment(value)
        if kept and (comment is None or trailing(comment).strip() in kept[0]):
            written.append(kept.pop(0))
        else:
            written += [f"{indent}{line}{newline}" for line in block_items([_writable(value)], [comment])]
    return "".join(written)


def _spans(block: str) -> dict[str, _Span] | None:
    """Each top-level key of a block mapping; None when the mapping is written ``{…}``."""
    spans: dict[str, _Span] = {}
    depth = 0
    span: _Span | None = None
    key: Any = None
    for event in parse_events(printable(block)):
        kind = type(event)
        if kind in _CLOSING:
            depth -= 1
            _stretch(span, event, in_item=depth >= 2)
        elif kind in _OPENING or kind in _LEAVES:
            if depth == 0 and getattr(event, "flow_style", False):
                return None
            if depth == 1 and key is None:
                key = event
                continue
            if depth == 1:
                first = block.rfind("\n", 0, key.start_mark.index) + 1
                span = _Span(key.value, first, event.start_mark.index, event.end_mark.index, 0, *_style(event))
                spans[key.value] = span
            elif span is not None:
                if depth == 2:
                    span.items.append(_Item(event.start_mark.index, event.end_mark.index))
                _stretch(span, event, in_item=True)
            depth += kind in _OPENING
        if depth == 1 and span is not None:
            span.last = _line_behind(block, span)
            span = key = None
    return spans


def _stretch(span: _Span | None, event: Any, *, in_item: bool) -> None:
    """Let a value, and its last item, reach to the end of an event in it. The end of a block has no extent of its own."""
    start, end = event.start_mark.index, event.end_mark.index
    if span is not None and end > start:
        span.end = max(span.end, end)
        if in_item and span.items:
            span.items[-1].end = max(span.items[-1].end, end)


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
