"""A query as text: the terms it is searched by, and the words that it is explained by (SPEC 13, keyword).

Belongs here: tokens, their weights, synonyms of the glossary, what to look for in a snippet. Does not belong here: the
index, ranking. A query is never syntax: every character is either part of a token or ignored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from kb_pipeline.text.analyser import FIRST_CJK, analyse
from kb_pipeline.text.folding import fold_script, narrow
from kb_pipeline.text.sparse_index import weigh_terms

if TYPE_CHECKING:
    from kb_pipeline.text.glossary import Glossary

LONGEST_QUERY = 2_000
"""Characters that are searched for; whoever pastes a whole document means its beginning."""
MOST_TERMS = 256
SYNONYM_WEIGHT = 0.5
_SCRIPT_RUNS = re.compile(rf"[{FIRST_CJK}-\U0010ffff]+|[^{FIRST_CJK}-\U0010ffff]+")
_WORD = re.compile(r"[^\W_]+(?:[._\-/'’][^\W_]+)*")


@dataclass(frozen=True)
class Query:
    """``terms``: tokens with weights. ``telling``: those of them that are more than one Chinese character.

    ``words``: what to look for in a text, aligned by :func:`aligned`, with the form to show; the query's own first.
    """

    text: str
    terms: Mapping[str, float]
    synonyms: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.terms)

    @cached_property
    def telling(self) -> frozenset[str]:
        return frozenset(term for term in self.terms if len(term) > 1 or term < FIRST_CJK)

    @cached_property
    def words(self) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for written in (self.text, *self.synonyms):
            for run in _WORD.findall(aligned(written)):
                found.update(dict.fromkeys(_needles(run)))
        if any(len(word) > 1 for word in found):
            return tuple(word for word in found if len(word) > 1)
        return tuple(found)


def parse_query(text: str, glossary: Glossary | None = None) -> Query:
    """Terms of a query and, at half their weight, of the glossary's other words for what it names."""
    text = " ".join(text[:LONGEST_QUERY].split())
    own = weigh_terms(analyse(text)) if text else {}
    synonyms = glossary.expand(text) if glossary and own else ()
    terms = dict(own)
    for term, weight in weigh_terms([*own, *(token for word in synonyms for token in analyse(word))]).items():
        terms.setdefault(term, SYNONYM_WEIGHT * weight)
    return Query(text, dict(list(terms.items())[:MOST_TERMS]), synonyms)


def aligned(text: str) -> str:
    """Lower case, narrow, Simplified: comparable with another text so treated, one character for one."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    return fold_script(narrow(lowered))


def _needles(run: str) -> list[str]:
    """Chinese: each pair of neighbours. Latin: the word, or what it has in common with its stem."""
    found: list[str] = []
    for piece in _SCRIPT_RUNS.findall(run):
        if piece[0] >= FIRST_CJK:
            found += [piece[at : at + 2] for at in range(len(piece) - 1)] or [piece]
            continue
        tokens = analyse(piece)
        stem = _common_beginning(piece, tokens[0]) if tokens else ""
        found.append(stem if len(stem) > 2 else piece)
    return found


def _common_beginning(one: str, other: str) -> str:
    length = 0
    for here, there in zip(one, other, strict=False):
        if here != there:
            break
        length += 1
    return one[:length]
