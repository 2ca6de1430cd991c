"""Take a page out of a model's answer: wrapped in a code fence, behind a chat sentence, after a thinking block.

Belongs here: recognising the wrapper, nothing of the page itself is changed (SPEC 6.2, case ingest-fenced-answer).
Does not belong here: whether the page is any good (``gates``), reading its front matter (``markdown``).

An answer without a page in it is None, never a guess: also a wrapper that is never closed, since that is what an
answer cut off in the middle looks like.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

MAX_PREAMBLE_LINES = 4
"""Non-blank lines of chat before the page. A longer text is an answer of another kind that happens to hold a page."""

_THINKING = re.compile(r"\s*<(think|thinking)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*(.*?)[ \t]*$")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]")
_FIELD = re.compile(r"[^\s#:\-][^:]*:(?:\s|$)")


def unwrap_answer(text: str) -> str | None:
    """The page in ``text``: begins with ``---``, ends with one line end, LF. None when there is no whole page."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    thinking = _THINKING.match(text)
    lines = text[thinking.end() if thinking else 0 :].split("\n")
    start = _first_line_of_page(lines)
    if start is None:
        return None
    end = _end_of_front_matter(lines, start)
    if end is None:
        return None
    fence = _wrapper_before(lines, start)
    block, body = lines[start : end + 1], lines[end + 1 :]
    if fence is not None:
        after = next((index for index, line in enumerate(body) if line.strip()), None)
        if after is not None and _closes(body[after], fence):
            body = body[after + 1 :]
        else:
            close = _wrapper_end(body, fence)
            if close is None:
                return None
            body = body[:close]
    content = "\n".join(body).strip("\n")
    if not content.strip():
        return None
    gap = "\n\n" if body[0].strip() == "" or fence is not None else "\n"
    return "\n".join(block) + gap + content.rstrip() + "\n"


def _first_line_of_page(lines: Sequence[str]) -> int | None:
    """Index of the opening ``---``, behind blank lines, a few lines of chat and at most one opening fence."""
    chat = 0
    for index, line in enumerate(lines):
        if line.rstrip() == "---":
            return index
        if not line.strip():
            continue
        if _FENCE.match(line):
            following = next((later for later in lines[index + 1 :] if later.strip()), "")
            if following.rstrip() != "---":
                return None
            continue
        chat += 1
        if chat > MAX_PREAMBLE_LINES or _HEADING.match(line):
            return None
    return None


def _end_of_front_matter(lines: Sequence[str], start: int) -> int | None:
    """Index of the line that closes the block; None when it stays open or holds no field at all."""
    fields = 0
    for index in range(start + 1, len(lines)):
        line = lines[index]
        if line.rstrip() in ("---", "..."):
            return index if fields else None
        if _FENCE.match(line):
            return None
        fields += bool(_FIELD.match(line))
    return None


def _wrapper_before(lines: Sequence[str], start: int) -> str | None:
    """The marker of the fence that the page stands in."""
    for line in reversed(lines[:start]):
        if line.strip():
            fence = _FENCE.match(line)
            return fence.group(1) if fence else None
    return None


def _wrapper_end(body: Sequence[str], fence: str) -> int | None:
    """Index of the line that closes the wrapper.

    Read without its wrapper, a page closes every block that it opens; so the wrapper's closing line is the bare fence
    that then seems to open a block which never ends. What follows it is chat.
    """
    opener: str | None = None
    opened_at, bare = 0, False
    for index, line in enumerate(body):
        match = _FENCE.match(line)
        if opener is not None:
            if _closes(line, opener):
                opener = None
        elif match and not (match.group(1)[0] == "`" and "`" in match.group(2)):
            opener, opened_at, bare = match.group(1), index, not match.group(2)
    if opener is None or not bare or not opener.startswith(fence):
        return None
    return opened_at


def _closes(line: str, opener: str) -> bool:
    match = _FENCE.match(line)
    return match is not None and not match.group(2) and match.group(1).startswith(opener)
