"""What of a raw text is a checkable detail, by place: one extraction for a document, asked many times.

Belongs here: looking facts up by offset. Does not belong here: finding them (``text.facts``).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from kb_pipeline.models import Fact
from kb_pipeline.text.facts import extract_facts


@dataclass(frozen=True, slots=True)
class FactIndex:
    """Facts of ``text`` in order of their start, and the normal forms of them all."""

    text: str
    facts: tuple[Fact, ...]
    starts: tuple[int, ...]
    normals: frozenset[str]

    @classmethod
    def of(cls, text: str) -> FactIndex:
        facts = tuple(sorted(extract_facts(text), key=lambda fact: (fact.start, fact.end)))
        return cls(text, facts, tuple(fact.start for fact in facts), frozenset(fact.normal for fact in facts))

    def between(self, start: int, end: int) -> Sequence[Fact]:
        """Facts that begin in ``start:end``."""
        return self.facts[bisect_left(self.starts, start) : bisect_left(self.starts, end)]

    def supports(self, text: str) -> bool:
        """Whether each detail that ``text`` states is one of these: a cut or joined phrase may state another."""
        return all(fact.normal in self.normals for fact in extract_facts(text))
