"""Provenance of pages whose front matter no longer reads as YAML (a slip of the hand, a merge left half-way).

Belongs here: finding ``sources`` and ``compiled`` in such a block, so that the page stays its document's: otherwise the
next build would take it for a stranger's and compile the document a second time beside it. Not here: reading good
front matter (``markdown.pages``); the page's problems stay reported, and it counts as edited by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from kb_pipeline.errors import UnreadableTextError
from kb_pipeline.markdown.decoding import decode_text
from kb_pipeline.markdown.pages import read_page
from kb_pipeline.models import WikiPage

_LONGEST_BLOCK = 400  # lines
_KEYS = ("sources", "compiled")
_TOP_KEY = re.compile(r"[^\s:#-][^:]*:(?:\s|$)")


def read_page_of_disk(path: str, content: bytes) -> WikiPage:
    """``read_page``, with the provenance found where the front matter is broken."""
    page = read_page(path, content)
    if page.compiled is not None or b"compiled:" not in content or not _is_broken(page):
        return page
    try:
        block = "\n".join(_kept(decode_text(content)))
    except UnreadableTextError:
        return page
    found = read_page(path, f"---\n{block}\n---\n".encode("utf-8", "surrogatepass"))
    if found.compiled is None:
        return page
    return replace(page, sources=found.sources, compiled=found.compiled)


def _is_broken(page: WikiPage) -> bool:
    return any(problem.code.startswith("front-matter-") for problem in page.problems)


def _block_lines(lines: Sequence[str]) -> Iterator[str]:
    """The lines of the first block, and of one that follows it at once."""
    fences = 0
    for line in lines:
        if line.startswith(("---", "...")):
            fences += 1
            if fences == 3:
                return
        elif line.startswith("# ") or (fences == 1 and line.strip()):
            return
        else:
            yield line


def _kept(text: str) -> Iterator[str]:
    """The lines of the block that belong to ``sources`` and ``compiled``: of a conflict, our side.

    A block that somebody put before the product's own is passed over: the second one is read too.
    """
    inside = theirs = False
    seen: set[str] = set()
    for line in _block_lines(text.split("\n")[1:_LONGEST_BLOCK]):
        if line.startswith(("<<<<<<<", "=======", ">>>>>>>", "|||||||")):
            theirs = line[0] in "=|"
            continue
        if theirs:
            continue
        if _TOP_KEY.match(line):
            key = line.partition(":")[0].strip()
            inside = key in _KEYS and key not in seen
            seen.add(key)
        if inside:
            yield line
