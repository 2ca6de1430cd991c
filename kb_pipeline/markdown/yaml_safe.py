"""Read a YAML mapping without surprises: front matter, configuration, glossary, review files (SPEC 4).

Scalars stay the text that was written: ``12:30``, ``no``, ``1_000``, ``1.10``, dates and numbers are ``str``; only
``null`` (``~``, empty) is None and ``true``/``false`` are bool. Built from parser events with an explicit stack, so that
neither depth nor aliases can exhaust anything. Does not belong here: what keys mean; writing YAML (``yaml_write``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from kb_pipeline.models import ParseProblem

_Loader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

LONGEST = 1_000_000
"""Code points of one document."""
DEEPEST = 32
MOST_NODES = 50_000
"""Values of one document, those behind aliases counted each time."""

_CONSTANTS: dict[str, bool | None] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
# YAML refuses these, or takes the last three for line ends, which would shift every line number behind them.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff\ufeff]")
_COMMENT = re.compile(r"[ \t]+#[ \t]*(.*?)[ \t\r]*$")


@dataclass(frozen=True, slots=True)
class YamlResult:
    """A mapping as read. Nested values are list, dict, str, bool or None.

    ``lines``: 1-based file line of each key, nested ones by dotted path, list items by number (``llm.budget``,
    ``related.0``). ``comments``: comment at the end of a value's line, by the same path.
    ``problems`` have the codes ``yaml``, ``not-mapping``, ``duplicate-key``. ``is_text``: the document is no mapping
    but a single scalar.
    """

    value: dict[str, object] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    problems: tuple[ParseProblem, ...] = ()
    comments: dict[str, str] = field(default_factory=dict)
    is_text: bool = False


def load_mapping(text: str, first_line: int = 1) -> YamlResult:
    """Read one YAML document that has to be a mapping. Never raises; ``first_line`` is the file line of its first."""
    if len(text) > LONGEST:
        message = f"YAML of {len(text):,} characters; at most {LONGEST:,} are read"
        return YamlResult(problems=(ParseProblem("yaml", message, first_line),))
    text = printable(text)
    reader = _Reader(text, first_line)
    try:
        reader.read()
    except _RefusedError as error:
        reader.problems.append(ParseProblem("yaml", str(error), error.line))
    except yaml.YAMLError as error:
        reader.problems.append(_syntax_problem(error, first_line))
    value = reader.root
    if any(problem.code == "yaml" for problem in reader.problems):
        return YamlResult({}, reader.lines, tuple(reader.problems), {})
    if value is None:
        value = {}
    if not isinstance(value, dict):
        what = "a list" if isinstance(value, list) else "plain text"
        problem = ParseProblem("not-mapping", f"{what} where 'key: value' lines are expected", first_line)
        return YamlResult({}, {}, (problem,), {}, not isinstance(value, list))
    return YamlResult(value, reader.lines, tuple(reader.problems), reader.comments)


def printable(text: str) -> str:
    """The text with each character that YAML refuses, or takes for a line end, made a space: no offset changes."""
    return text if text.isprintable() else _UNPRINTABLE.sub(" ", text)


class _RefusedError(Exception):
    def __init__(self, message: str, line: int) -> None:
        self.line = line
        super().__init__(message)


@dataclass(slots=True)
class _Open:
    """A list or mapping that is being read."""

    value: dict[str, object] | list[object]
    path: str
    anchor: str | None
    size: int = 1
    key: str | None = None


class _Reader:
    """One pass over the parser's events."""

    def __init__(self, text: str, first_line: int) -> None:
        self._source = text
        self._first = first_line
        self._split: list[str] | None = None
        self._has_comments = "#" in text
        self._anchors: dict[str, tuple[object, int]] = {}
        self._stack: list[_Open] = []
        self._documents = 0
        self.root: object = None
        self.lines: dict[str, int] = {}
        self.comments: dict[str, str] = {}
        self.problems: list[ParseProblem] = []

    def read(self) -> None:
        for event in parse_events(self._source):
            kind = type(event)
            if kind is yaml.ScalarEvent:
                self._scalar(event)
            elif kind is yaml.MappingStartEvent:
                self._begin({}, event)
            elif kind is yaml.SequenceStartEvent:
                self._begin([], event)
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                self._end(event)
            elif kind is yaml.AliasEvent:
                self._alias(event)
            elif kind is yaml.DocumentStartEvent:
                self._documents += 1
                if self._documents > 1:
                    raise _RefusedError("a second YAML document begins here", self._line(event))

    def _line(self, event: Any) -> int:
        return int(event.start_mark.line) + self._first

    def _scalar(self, event: Any) -> None:
        value: str | bool | None = event.value
        if event.implicit[0] and event.value in _CONSTANTS:
            value = _CONSTANTS[event.value]
        if event.anchor:
            self._anchors[event.anchor] = (value, 1)
        top = self._stack[-1] if self._stack else None
        if top is not None and top.key is None and isinstance(top.value, dict):
            self._key(top, event.value, self._line(event))
            return
        path = self._place(value, 1, self._line(event))
        if self._has_comments and path:
            self._comment(path, event.end_mark)

    def _key(self, top: _Open, key: str, line: int) -> None:
        path = f"{top.path}.{key}" if top.path else key
        if key in top.value:
            self.problems.append(ParseProblem("duplicate-key", f"key '{path}' stands here a second time", line, path))
        top.key = key
        self.lines[path] = line

    def _begin(self, value: dict[str, object] | list[object], event: Any) -> None:
        if len(self._stack) >= DEEPEST:
            raise _RefusedError(f"nested deeper than {DEEPEST} levels", self._line(event))
        path = self._place(value, 1, self._line(event)) if self._stack else ""
        self._stack.append(_Open(value, path, event.anchor))

    def _end(self, event: Any) -> None:
        closed = self._stack.pop()
        is_flow = event.end_mark.index > event.start_mark.index
        if is_flow and self._has_comments and closed.path:
            self._comment(closed.path, event.end_mark)
        if closed.anchor:
            self._anchors[closed.anchor] = (closed.value, closed.size)
        if self._stack:
            self._stack[-1].size += closed.size
        else:
            self.root = closed.value

    def _alias(self, event: Any) -> None:
        if event.anchor not in self._anchors:
            raise _RefusedError(f"alias *{event.anchor} has no anchor before it", self._line(event))
        value, size = self._anchors[event.anchor]
        top = self._stack[-1] if self._stack else None
        if top is not None and top.key is None and isinstance(top.value, dict):
            raise _RefusedError(f"alias *{event.anchor} used as a key; quote it", self._line(event))
        self._place(value, size, self._line(event))

    def _place(self, value: object, size: int, line: int) -> str:
        """Put a value where it belongs and tell its dotted path."""
        if not self._stack:
            self.root = value
            return ""
        top = self._stack[-1]
        top.size += size
        if top.size > MOST_NODES:
            raise _RefusedError(f"more than {MOST_NODES:,} values", line)
        if isinstance(top.value, list):
            path = f"{top.path}.{len(top.value)}"
            top.value.append(value)
            self.lines[path] = line
            return path
        if top.key is None:
            raise _RefusedError("a list or mapping cannot be a key; quote it if it is meant as text", line)
        path = f"{top.path}.{top.key}" if top.path else top.key
        top.value[top.key] = value
        top.key = None
        return path

    def _comment(self, path: str, end: Any) -> None:
        if self._split is None:
            self._split = self._source.split("\n")
        if end.line < len(self._split):
            found = _COMMENT.match(self._split[end.line], end.column)
            if found and found.group(1):
                self.comments[path] = found.group(1)


def parse_events(text: str) -> Iterator[Any]:
    """The parser's events, with marks; raises ``yaml.YAMLError``."""
    loader = _Loader(text)
    try:
        while loader.check_event():
            yield loader.get_event()
    finally:
        loader.dispose()


def _syntax_problem(error: yaml.YAMLError, first_line: int) -> ParseProblem:
    facts: Mapping[str, Any] = vars(error)
    mark = facts.get("problem_mark") or facts.get("context_mark")
    line = first_line + mark.line if mark is not None else first_line
    problem = str(facts.get("problem") or "not readable")
    return ParseProblem("yaml", f"{problem}; quote values that hold ': ', '#', '@', '{{' or begin with a mark", line)
