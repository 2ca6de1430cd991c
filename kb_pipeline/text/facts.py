"""Checkable details of a text: numbers with unit, dates, versions, identifiers, URLs, commands, paths, settings.

Belongs here: finding them and their normal forms. Does not belong here: comparing page and raw (``rewriting.gates``).
"""

from __future__ import annotations

import re

from kb_pipeline.models.text import Fact, FactKind
from kb_pipeline.text.folding import narrow

_PATTERNS: tuple[tuple[FactKind, re.Pattern[str]], ...] = (
    (FactKind.URL, re.compile(r"https?://[^\s<>\"'`)\]}，。、；！？」』）】]+")),
    (FactKind.COMMAND, re.compile(r"`[^`\n]+ [^`\n]+`")),
    (FactKind.DATE, re.compile(r"\d{4}[-/]\d{1,2}[-/]\d{1,2}|(?:民國 ?)?\d{2,4} ?年(?: ?\d{1,2} ?月(?: ?\d{1,2} ?日)?)?")),
    (FactKind.VERSION, re.compile(r"\bv?\d+(?:\.\d+){2,}\b|\bv\d+(?:\.\d+)*")),
    (FactKind.PATH, re.compile(r"(?<![\w/])(?:~|\.{1,2})?/?(?:[\w.-]+/)+[\w.-]*[\w]|\b[\w-]+\.(?:py|md|yml|yaml|json|toml|sh|txt|sql)\b")),
    (FactKind.IDENTIFIER, re.compile(r"\b[A-Za-z]\w*_\w+\b|\b[a-z]+[A-Z]\w*\b|\bE\d{3,}\b|`[^`\n ]+`", re.ASCII)),
    (FactKind.NUMBER, re.compile(r"\d[\d,]*(?:\.\d+)? ?(?:%|ms|s\b|sec|min|分鐘|秒|小時|天|週|個月|次|筆|GB|MB|KB|TB|元|人|台)")),
)


def extract_facts(text: str) -> list[Fact]:
    """Facts in order of appearance, without overlaps."""
    plain = narrow(text)
    facts: list[Fact] = []
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(plain):
            start, end = match.span()
            facts.append(
                Fact(kind, text[start:end], match.group().strip("`").replace(",", ""), text.count("\n", 0, start) + 1, start, end)
            )
            plain = plain[:start] + "\0" * (end - start) + plain[end:]
    return sorted(facts, key=lambda fact: fact.start)


def fact_lines(text: str) -> set[int]:
    """1-based lines on which some fact stands."""
    return {fact.line for fact in extract_facts(text)}
