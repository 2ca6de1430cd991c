"""Split the front matter from a text, and read the forms its values are written in (SPEC 4).

Belongs here: where the block begins and ends, its YAML as a mapping, lists written as text, dates. Does not belong
here: which keys a page has (``pages``), how a block is changed inside (``front_matter_edit``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date

from kb_pipeline.errors import PageWriteError
from kb_pipeline.markdown.front_matter_edit import FIELD_ORDER, as_read, edit_block, new_block
from kb_pipeline.markdown.yaml_safe import YamlResult, load_mapping
from kb_pipeline.models import ParseProblem

__all__ = ["FIELD_ORDER", "FrontMatter", "as_date", "as_text_list", "set_fields", "split_front_matter"]

_OPENING = re.compile(r"---[ \t]*\r?\n")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?(?:\n|\Z)", re.MULTILINE)
_LOOKS_LIKE_KEY = re.compile(r"(?:[ \t]*(?:#.*)?\r?\n)*(?:[^\s:#\-][^:\n]{0,80}?|\"[^\"\n]{1,80}\"):(?:[ \t\r\n]|\Z)")
_KNOWN_KEY = re.compile(rf"^[ \t]*(?:{'|'.join(FIELD_ORDER)}|date):", re.MULTILINE)
_SEPARATORS = re.compile(r"[,，、\n]")
_ISO_DATE = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
    r"(?:(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?[ \t]*(?:[Zz]|[-+][0-9]{2}(?::?[0-9]{2})?)?)?"
)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """``block``: the text between the marks, None without front matter; ``body``: all that follows, as written.

    ``body_line`` and ``lines`` are 1-based lines of the file; see ``YamlResult`` for ``lines`` and ``comments``.
    ``readable``: the block is absent or was understood; only then can it be changed.
    """

    fields: dict[str, object] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    block: str | None = None
    body: str = ""
    body_line: int = 1
    problems: tuple[ParseProblem, ...] = ()
    comments: dict[str, str] = field(default_factory=dict)

    @property
    def readable(self) -> bool:
        return not any(problem.code in _UNREADABLE for problem in self.problems)


_UNREADABLE = frozenset(
    {"front-matter-unclosed", "front-matter-yaml", "front-matter-not-mapping", "front-matter-duplicate-key"}
)


def split_front_matter(text: str) -> FrontMatter:
    """Front matter and body of a decoded text (LF or CR LF). Never raises; nothing of the text is lost.

    Only a block that begins with the first character counts, closed by ``---`` or ``...``. A rule on the first line
    whose content is plain text is no front matter; one whose content is a list stays in the body and is reported.
    """
    start = 1 if text.startswith("\ufeff") else 0
    opening = _OPENING.match(text, start)
    if opening is None:
        if text[start:].rstrip() == "---":
            return _without(text[start:], "front-matter-unclosed", "the front matter is never closed; add a line '---'")
        return _without(
            text[start:], "front-matter-missing", "no front matter; begin the file with '---', fields, '---'"
        )
    closing = _CLOSING.search(text, opening.end())
    if closing is None:
        if _LOOKS_LIKE_KEY.match(text, opening.end()):
            message = "the front matter is never closed; add a line '---' after its last field"
            return _without(text[start:], "front-matter-unclosed", message)
        return _without(text[start:], "front-matter-missing", "no front matter; line 1 is a rule, not an opening mark")
    block = text[opening.end() : closing.start()]
    result = load_mapping(block, first_line=2)
    if not _is_block(result, block):
        return _rule_on_first_line(text[start:], result)
    body = text[closing.end() :]
    body_line = block.count("\n") + 3
    problems = [replace(problem, code=f"front-matter-{problem.code}") for problem in result.problems]
    problems += _second_block(body, body_line)
    return FrontMatter(result.value, result.lines, block, body, body_line, tuple(problems), result.comments)


def as_text_list(value: object) -> tuple[str, ...]:
    """A list however it is written: YAML list, comma string (``,`` ``，`` ``、``), a JSON-looking string.

    Items are stripped; null, blank ones and mappings are dropped; a string is never taken letter by letter.
    """
    if value is None or isinstance(value, Mapping):
        return ()
    if isinstance(value, str):
        text = value.strip()
        if text.startswith("[") and text.endswith("]") and not text.startswith("[["):
            return as_text_list(_shown_list(text))
        return tuple(item for part in _SEPARATORS.split(text) if (item := part.strip()))
    if isinstance(value, (list, tuple)):
        return tuple(text for item in value for text in _item_texts(item))
    return (_word(value),)


def _item_texts(item: object) -> tuple[str, ...]:
    """A list's item is taken whole: commas in it are its own."""
    if isinstance(item, str):
        return (item.strip(),) if item.strip() else ()
    return as_text_list(item)


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def as_date(value: object) -> date | None:
    """An ISO date, or the date written in an ISO time stamp (never converted to another zone); None for all else."""
    if not isinstance(value, str):
        return None
    found = _ISO_DATE.fullmatch(value.strip())
    if not found:
        return None
    try:
        return date(int(found[1]), int(found[2]), int(found[3]))
    except ValueError:
        return None


def set_fields(text: str, changes: Mapping[str, object]) -> str:
    """Set, add (in the order of SPEC 5) or delete (value None) fields of a text's front matter.

    Values: str, bool, number, date, ``Related``, mappings and sequences of these. Unknown keys, order, quotes,
    comments, line ends (CR LF too) and the body stay; a text without front matter gets one. Raises PageWriteError when
    the block cannot be read or the result would not read back as meant.
    """
    before = split_front_matter(text)
    if not before.readable:
        problem = next(problem for problem in before.problems if problem.code in _UNREADABLE)
        raise PageWriteError(f"front matter not changed, line {problem.line}: {problem.message}")
    meant = before.fields | {key: as_read(value) for key, value in changes.items()}
    meant = {key: value for key, value in meant.items() if changes.get(key, "") is not None}
    if meant == before.fields:
        return text
    first_line_end = text.find("\n") + 1
    newline = "\r\n" if text[:first_line_end].endswith("\r\n") else "\n"
    if before.block is None:
        mark = "\ufeff" if text.startswith("\ufeff") else ""
        gap = newline if before.body and not before.body.startswith(("\n", "\r")) else ""
        written = mark + new_block(changes, newline) + gap + before.body
    else:
        block = edit_block(before.block, before.fields, meant, changes, newline)
        written = text[:first_line_end] + block + text[first_line_end + len(before.block) :]
    after = split_front_matter(written)
    if after.fields != meant or not after.readable or not after.body.endswith(before.body):
        names = ", ".join(sorted(changes))
        raise PageWriteError(f"front matter not changed: {names} cannot be set without touching more; edit it by hand")
    return written


def _without(text: str, code: str, message: str) -> FrontMatter:
    return FrontMatter(body=text, problems=(ParseProblem(code, message, 1),))


def _is_block(result: YamlResult, block: str) -> bool:
    if not result.problems:
        return True
    if any(problem.code == "not-mapping" for problem in result.problems):
        return False
    # Prose between two rules may be broken YAML too; it is front matter only if it begins like one.
    unreadable = any(problem.code == "yaml" for problem in result.problems)
    if not unreadable or _LOOKS_LIKE_KEY.match(block) or block.lstrip()[:1] in {"{", "\t"}:
        return True
    return _KNOWN_KEY.search(block) is not None


def _rule_on_first_line(text: str, result: YamlResult) -> FrontMatter:
    if any(problem.code == "not-mapping" for problem in result.problems) and not result.is_text:
        message = "the front matter is a list; write 'key: value' lines"
        return _without(text, "front-matter-not-mapping", message)
    return _without(text, "front-matter-missing", "no front matter; line 1 is a rule, not an opening mark")


def _second_block(body: str, body_line: int) -> list[ParseProblem]:
    """Another mapping between marks right behind the first: tools that add a block instead of changing it."""
    blank = len(body) - len(body.lstrip())
    opening = _OPENING.match(body, blank)
    closing = _CLOSING.search(body, opening.end()) if opening else None
    if opening is None or closing is None:
        return []
    block = body[opening.end() : closing.start()]
    if not _LOOKS_LIKE_KEY.match(block) or not load_mapping(block).value:
        return []
    line = body_line + body.count("\n", 0, blank)
    return [ParseProblem("front-matter-second", "a second front matter block; move its fields into the first", line)]


def _shown_list(text: str) -> list[object]:
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        return [item.strip().strip("\"'") for item in text[1:-1].split(",")]
    return list(parsed) if isinstance(parsed, list) else [text]
