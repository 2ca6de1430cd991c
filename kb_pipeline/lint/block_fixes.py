"""Mends of a front matter block that cannot be read as YAML, as edits of its lines (SPEC 9, ``--fix``).

Three faults have one obvious mend: tabs before a key, a value that needs quotes, a key repeated with the same value.
Anything else is left to a person. A mend counts only if the block is readable afterwards.
"""

from __future__ import annotations

import re
from collections import Counter

from kb_pipeline.markdown.front_matter import split_front_matter
from kb_pipeline.markdown.yaml_safe import load_mapping
from kb_pipeline.markdown.yaml_write import scalar

_MOST_QUOTES = 20
_VALUE = re.compile(r"(?P<head>[ ]*(?:-[ ]+)?(?:[^\s:#\"'\[{-][^:]*?:[ ]+)?)(?P<value>\S.*?)(?P<tail>[ \t\r]*)")
_KEY = re.compile(r"[^\s:#-][^:]*:(?:\s|$)")
_TITLE = re.compile(r"^title:[ \t]*(?P<value>[^\r\n]*?)[ \t]*(?=\r?$)", re.MULTILINE)


def mended_block(text: str) -> str:
    """The text with a readable block, or the text itself."""
    front = split_front_matter(text)
    codes = {problem.code for problem in front.problems}
    if front.block is None or codes.isdisjoint({"front-matter-yaml", "front-matter-duplicate-key"}):
        return text
    block = front.block
    if "front-matter-yaml" in codes:
        block = _quoted(_without_tabs(block))
    block = _without_repeats(block)
    start = text.index("\n") + 1
    candidate = text[:start] + block + text[start + len(front.block) :]
    after = split_front_matter(candidate)
    return candidate if after.readable and after.block == block and after.body == front.body else text


def _without_tabs(block: str) -> str:
    return re.sub(r"^[ \t]*\t[ \t]*", lambda found: found.group().replace("\t", "  "), block, flags=re.MULTILINE)


def _quoted(block: str) -> str:
    """Quote the value at which the parser stops, as long as that leads on."""
    for _ in range(_MOST_QUOTES):
        faults = [problem.line for problem in load_mapping(block).problems if problem.code == "yaml"]
        if not faults or faults[0] is None:
            break
        lines = block.split("\n")
        if faults[0] > len(lines) or (line := _with_quotes(lines[faults[0] - 1])) is None:
            break
        lines[faults[0] - 1] = line
        block = "\n".join(lines)
    return block


def _with_quotes(line: str) -> str | None:
    """``key: a: b`` → ``key: "a: b"``; None where it is not plain that the whole of the value is meant."""
    found = _VALUE.fullmatch(line)
    if found is None or not found["head"].strip():
        return None
    value = found["value"]
    if value[0] in "\"'[{|>" or " #" in value or "{{" in value:
        return None
    quoted = scalar(value)
    return None if quoted == value else found["head"] + quoted + found["tail"]


def _without_repeats(block: str) -> str:
    """Drop a top-level entry that stands there a second time, to the letter."""
    entries: list[list[str]] = []
    for line in block.split("\n"):
        if _KEY.match(line) or not entries:
            entries.append([])
        entries[-1].append(line)
    keys = Counter(entry[0].partition(":")[0].strip() for entry in entries)
    kept: list[list[str]] = []
    seen: set[str] = set()
    for entry in entries:
        written = "\n".join(entry).strip()
        if keys[entry[0].partition(":")[0].strip()] > 1 and written in seen:
            if not entry[-1]:
                kept[-1].append("")  # What follows the last line end of the block is no line of an entry.
            continue
        seen.add(written)
        kept.append(entry)
    return "\n".join("\n".join(entry) for entry in kept)


def title_cut_by_comment(block: str, title: str) -> str | None:
    """What stands after ``title:`` where YAML takes its end, from `` #`` on, for a comment; None if it does not."""
    found = _TITLE.search(block)
    if found is None or not found["value"].startswith(title) or found["value"][0] in "\"'":
        return None
    return found["value"] if re.match(r"\s+#", found["value"][len(title) :]) else None


def with_title_line(block: str, title: str) -> str:
    """The block with its title line written anew, comment and all."""
    return _TITLE.sub(lambda _: f"title: {scalar(title)}", block, count=1)
