"""A raw body as a sequence of blocks, ready to be laid out again.

Belongs here: one block-level parse (markdown-it-py without its inline pass) and the repairs that need its tokens: code
fences get a language and an end, headings inside lists and quotes become bold. Does not belong here: sections
(``structure``), sentences (``condense``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

UNKNOWN_LANGUAGE = "text"
"""Of a block that names none. Guessing another would change what its lines count as (``text.code_facts``)."""

_LONGEST_SETEXT = 100
"""A paragraph above ``---`` or ``===`` that is longer was meant as a paragraph and a rule, not as a heading."""

_FENCE_OPENING = re.compile(r"^(?P<before>.*?)(?P<mark>`{3,}|~{3,})(?P<info>[^\n]*)$")
_ATX = re.compile(
    r"^(?P<before>[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+)*[\s>]*)#{1,6}(?:[ \t]+(?P<text>.*?))?(?:[ \t]+#+)?[ \t]*$"
)
_DRAWN = re.compile(r"^(?:[ \t]*(?:\+[-=+]{3,}|\|.*\|)[^\n]*(?:\n|$)){2,}$")
"""A paragraph of rows drawn with bars and dashes, which no parser takes for a table: it is read as drawn."""

_LABELLED = re.compile(
    r"^(?:(?:(?:\*\*|__)[^*_\n]{1,40}(?:\*\*|__)[ \t]*[:：]|(?:\*\*|__)[^*_\n]{1,40}[:：](?:\*\*|__)"
    r"|[^\W\d_][^:：\n。，,.!?！？;；\[`|<*]{0,24}[:：](?!//))[ \t]*\S[^\n]*(?:\n|$)){2,}$"
)
"""A paragraph of ``label: value`` lines, which a renderer would run together: it is a list."""

_FOOTNOTE = re.compile(r"^ {0,3}\[\^([^\]\s]+)\]:[ \t]?(.*)$")


class BlockKind(StrEnum):
    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST = "list"
    QUOTE = "quote"
    CODE = "code"
    TABLE = "table"
    HTML = "html"


@dataclass(frozen=True, slots=True)
class Block:
    """One top-level block. ``text`` is its markdown without a line end; ``start``/``end`` are offsets in the source.

    ``level`` is a heading's. ``items`` are the top-level items of a list (``text`` cut before each marker);
    ``ordered`` tells its kind. ``cuts`` are places in the source of the items or sentences it was put together from,
    where ``text`` is not what stands at ``start``.
    """

    kind: BlockKind
    text: str
    start: int
    end: int
    level: int = 0
    items: tuple[str, ...] = ()
    ordered: bool = False
    cuts: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class BlockSource:
    """``text`` is the repaired body that offsets count in. ``definitions`` maps folded labels to ``[label]: target``
    lines, ``footnotes`` their ids to ``[^id]: text``, both as written."""

    text: str
    blocks: tuple[Block, ...]
    definitions: dict[str, str]
    footnotes: dict[str, str]


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.disable(["inline", "text_join"])
    return parser


def read_blocks(body: str) -> BlockSource:
    """Parse a cleaned body."""
    body, footnotes = _take_footnotes(body)
    env: dict[str, dict[str, dict[str, object]]] = {}
    tokens = _parser().parse(body, env)
    lines = body.split("\n")
    _repair(tokens, lines)
    starts = _offsets(lines)
    blocks = tuple(_top_level(tokens, lines, starts))
    return BlockSource("\n".join(lines), blocks, _definitions(env, lines), footnotes)


def definition_label(label: str) -> str:
    """The form in which labels of reference links are equal (CommonMark: case and white space do not count)."""
    return re.sub(r"\s+", " ", label.strip()).casefold()


def _top_level(tokens: list[Token], lines: list[str], starts: list[int]) -> list[Block]:
    blocks: list[Block] = []
    kinds = {
        "paragraph_open": BlockKind.PARAGRAPH,
        "bullet_list_open": BlockKind.LIST,
        "ordered_list_open": BlockKind.LIST,
        "blockquote_open": BlockKind.QUOTE,
        "table_open": BlockKind.TABLE,
        "html_block": BlockKind.HTML,
        "fence": BlockKind.CODE,
        "code_block": BlockKind.CODE,
        "heading_open": BlockKind.HEADING,
    }
    for index, token in enumerate(tokens):
        if token.level or token.map is None or token.type not in kinds:
            continue
        first, last = token.map[0], _last_line(lines, token)
        text = "\n".join(lines[first:last])
        start = starts[first]
        block = Block(kinds[token.type], text, start, start + len(text))
        if token.type == "heading_open":
            block = _heading(block, token, tokens[index + 1].content)
        elif token.type == "code_block":
            block = replace(block, text=fenced(token.content))
        elif block.kind is BlockKind.PARAGRAPH and _DRAWN.match(text):
            block = _drawn(block)
        elif block.kind is BlockKind.PARAGRAPH and _LABELLED.match(text):
            items = tuple(f"- {line.strip()}" for line in text.split("\n"))
            cuts = tuple(zip(starts[first:last], [*starts[first + 1 : last], block.end], strict=True))
            block = replace(block, kind=BlockKind.LIST, text="\n".join(items), items=items, cuts=cuts)
        elif block.kind is BlockKind.LIST:
            block = replace(block, items=_items(tokens, index, lines, last), ordered=token.type[0] == "o")
        if block.text.strip():
            blocks.append(block)
    return blocks


def _last_line(lines: list[str], token: Token) -> int:
    """End of a block's lines, the blank ones at its end left out (a list's map includes them)."""
    assert token.map is not None  # noqa: S101 - the caller skips tokens without a map
    first, last = token.map
    while token.type != "fence" and last > first + 1 and not lines[last - 1].strip():
        last -= 1
    return last


def _heading(block: Block, token: Token, content: str) -> Block:
    setext = token.markup in {"=", "-"}
    if setext and ("\n" in content or len(content) > _LONGEST_SETEXT):
        return replace(block, kind=BlockKind.PARAGRAPH, text=block.text.rpartition("\n")[0])
    return replace(block, text=" ".join(content.split()), level=int(token.tag[1]))


def _items(tokens: list[Token], index: int, lines: list[str], last: int) -> tuple[str, ...]:
    firsts: list[int] = []
    for token in tokens[index + 1 :]:
        if token.level == 0:
            break
        if token.level == 1 and token.type == "list_item_open" and token.map is not None:
            firsts.append(token.map[0])
    bounds = [*firsts, last]
    return tuple("\n".join(lines[a:b]).rstrip() for a, b in pairwise(bounds))


def _drawn(block: Block) -> Block:
    """Rows that no parser takes for a table: one whose ruler has another number of columns than its header gets the
    right one; anything else is shown as it was drawn."""
    rows = [row.strip() for row in block.text.split("\n")]
    if len(rows) > 2 and rows[0].startswith("|") and re.fullmatch(r"[\s|:-]*-[\s|:-]*", rows[1]):
        columns = max(1, len(re.findall(r"(?<!\\)\|", rows[0].strip("|"))) + 1)
        return replace(block, kind=BlockKind.TABLE, text="\n".join([rows[0], "|" + " --- |" * columns, *rows[2:]]))
    return replace(block, kind=BlockKind.CODE, text=fenced(block.text))


def fenced(content: str, language: str = UNKNOWN_LANGUAGE) -> str:
    """A code block of ``content``, its fence longer than any in it."""
    content = content.strip("\n")
    longest = max((len(run) for run in re.findall(r"`{3,}", content)), default=2)
    mark = "`" * (longest + 1)
    return f"{mark}{language}\n{content}\n{mark}"


def _repair(tokens: list[Token], lines: list[str]) -> None:
    """Edit lines in place, one element staying one line of the source so that the tokens' maps hold."""
    for token in tokens:
        if token.map is None:
            continue
        first, last = token.map
        if token.type == "fence":
            _repair_fence(token, lines, first, last)
        elif token.type == "heading_open" and token.level:
            match = _ATX.match(lines[first])
            if match:
                text = (match.group("text") or "").strip()
                lines[first] = f"{match.group('before')}**{text}**" if text else match.group("before").rstrip()
            elif token.markup in {"=", "-"}:
                lines[last - 1] = re.sub(r"[=-]+[ \t]*$", "", lines[last - 1]).rstrip()


def _repair_fence(token: Token, lines: list[str], first: int, last: int) -> None:
    opening = _FENCE_OPENING.match(lines[first])
    if opening is None:
        return
    before, mark = opening.group("before"), opening.group("mark")
    info = token.info.strip() or UNKNOWN_LANGUAGE
    lines[first] = f"{before}{mark}{info}"
    closing = lines[last - 1].strip(" \t>")
    closed = last - 1 > first and closing.startswith(mark) and not closing.strip(mark[0])
    if not closed:
        while last - 1 > first and not lines[last - 1].strip():
            last -= 1
        indent = re.sub(r"[^>\s]", " ", before)
        lines[last - 1] = f"{lines[last - 1]}\n{indent}{mark}"


def _offsets(lines: list[str]) -> list[int]:
    offsets: list[int] = []
    position = 0
    for line in lines:
        offsets.append(position)
        position += len(line) + 1
    return offsets


def _definitions(env: dict[str, dict[str, dict[str, object]]], lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for label, reference in env.get("references", {}).items():
        span = reference.get("map")
        if isinstance(span, (list, tuple)):
            text = "\n".join(lines[int(span[0]) : int(span[1])]).strip()
            found.setdefault(definition_label(label), text)
    return found


def _take_footnotes(body: str) -> tuple[str, dict[str, str]]:
    """Footnote definitions with their indented continuation, cut out of the body (blank lines stay in their place)."""
    if "[^" not in body:
        return body, {}
    kept: list[str] = []
    notes: dict[str, str] = {}
    current: str | None = None
    fence: str | None = None
    for line in body.split("\n"):
        mark = re.match(r"^ {0,3}(`{3,}|~{3,})", line)
        if mark and current is None:
            if fence is None:
                fence = mark.group(1)
            elif line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = None
        match = None if fence else _FOOTNOTE.match(line)
        if match:
            current = match.group(1)
            notes[current] = line.strip()
            kept.append("")
        elif current is not None and line.startswith(("    ", "\t")):
            notes[current] += "\n" + line
            kept.append("")
        else:
            current = None
            kept.append(line)
    return "\n".join(kept), notes
