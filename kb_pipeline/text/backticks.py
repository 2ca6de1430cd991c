"""Code spans between backticks, found in one pass over any text.

Belongs here: which runs of backticks belong together (CommonMark 6.1). Does not belong here: fences, what a span says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_RUN = re.compile(r"`+")


def code_spans(text: str) -> Iterator[tuple[int, int, int, int]]:
    """Start and end of each span, start and end of its content: a run closes at the next one of its length.

    A regular expression with a back-reference does the same in quadratic time where runs stay open.
    """
    runs = [match.span() for match in _RUN.finditer(text)]
    following: dict[int, list[int]] = {}
    for index in range(len(runs) - 1, -1, -1):
        following.setdefault(runs[index][1] - runs[index][0], []).append(index)
    index = 0
    while index < len(runs):
        start, content = runs[index]
        candidates = following[content - start]
        while candidates and candidates[-1] <= index:
            candidates.pop()
        if candidates:
            closing = candidates[-1]
            yield start, runs[closing][1], content, runs[closing][0]
            index = closing
        index += 1
