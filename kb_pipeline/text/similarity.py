"""Wording: the tokens and shingles by which one text is seen to copy another.

Belongs here: what counts as the same wording. Does not belong here: which lines of a raw text are compared with its pages
and how much is too much (``rewriting.gates``), near-duplicates among pages (``lint.duplicates``).

The containment of a raw text in its pages is the share of its shingles that the pages have too (SPEC 6.3).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kb_pipeline.text.folding import fold

SHINGLE = 8
"""Tokens of a shingle (SPEC 6.3)."""

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]|[^\W_\u3040-\u9fff]+")


def words(text: str) -> list[str]:
    """Folded words, one token a Chinese character: what a reader would call the same wording."""
    return _WORD.findall(fold(text))


def shingles(tokens: Sequence[str], size: int = SHINGLE) -> set[tuple[str, ...]]:
    """Every run of ``size`` tokens; none when there are fewer."""
    return set(zip(*(tokens[offset:] for offset in range(size)), strict=False))
