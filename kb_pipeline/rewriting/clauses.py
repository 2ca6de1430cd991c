"""Clauses around facts: the pieces that a summary is made of.

Belongs here: cutting text into clauses, and how well each reads out of its sentence. Does not belong here: choosing
among them (``summary``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kb_pipeline.models import FactKind
from kb_pipeline.rewriting.blocks import Block, BlockKind
from kb_pipeline.rewriting.condense import FILLER
from kb_pipeline.rewriting.evidence import FactIndex
from kb_pipeline.rewriting.inline import plain, without_block_marks
from kb_pipeline.rewriting.language import Words, has_cjk
from kb_pipeline.rewriting.splitting import Part
from kb_pipeline.rewriting.structure import section_blocks

TOPIC_WORDS = re.compile(
    r"相關|的說明|介紹|簡介|概述|的總覽|^(?:本文|本頁|此文|此頁|這份文件|這篇|本文件)|^(?:主要)?(?:說明|描述|討論|探討|關於)"
    r"|\b(?:overview|introduc(?:es?|ing|tion)|about|describ(?:es?|ing)|explain(?:s|ing)?|explanations?|discuss(?:es|ion)?|related to"
    r"|information (?:on|about|regarding)|details (?:of|on|about)|guide to|various|this (?:page|document|article|file|note|guide))\b",
    re.IGNORECASE,
)
"""What says that a page is about something, instead of what is in it; no clause with one of these is used."""

_MARKS = (
    r"[。！？；;，]|(?<=\s)[-–—]{1,3}(?=\s)|(?:——)|,(?=\s|$)|[.!?](?=\s|$)|[（(）)](?![^\s（(]*[)）])"
    r"|\s(?:and(?!\s\d)|but|which|because|so that|while|where)\s|(?:但|而|並且|所以|因此|因為)(?=[^\s])"
)
_CUT = re.compile(_MARKS + r"|\n[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]|>|\n)|\n(?=[^\n:：]{1,40}[:：])")
"""Where a clause ends. A single line break is a soft wrap, unless an item or a quote's line begins."""

_CLOSED_BY = {"（": "）", "(": ")", "[": "]", "「": "」", "『": "』", "【": "】", "<": ">"}
_BRACKET = re.compile(r"[（）()\[\]「」『』【】]|<(?=[^\W\d])|(?<![-=])>")

_ANCHOR = re.compile(r"(\[\[[^\[\]|#\n]+)#[^\[\]|\n]*(?=\]\])")
"""Of a wikilink that is shown by its target: where in a page it leads is nothing to search for."""

_LABEL = re.compile(r"^[^:：]{1,24}[:：]\s*\S")
TRIM = " \t,，、;；:：.。!！?？–—>|「」『』"
_LEADING_WORDS = re.compile(
    r"^(?:and|but|or|so|then|also|please|note that|however|therefore|thus)\s+"
    r"|^(?:並且|並|而|但|且|也|就|則|請|因此|所以|此外|的(?!確|士))(?=\S{3})",
    re.IGNORECASE,
)
_NO_SUBJECT = re.compile(
    r"^(?:it|they|this|that|these|you (?:may|might|can|could|should|need)|we|which|there (?:is|are)|in order)\b|^[這它其此您你我]",
    re.I,
)
FRAGMENT = re.compile(
    r"^(?:[Aa]fter|[Bb]efore|[Dd]uring|[Oo]nce|[Ww]hen|[Ii]f|[Ww]hile|[Ww]ithin|for|with|by|to|in|on|at|of|from|see|else|including|such as|as|via|per|e\.g|i\.e|than|or|instead|otherwise|until|since)\b"
    r"|^(?:例如|像是|以及|或是|或者|然後|接著|否則|直到|由於|透過|根據|參閱|請參閱|詳見|以(?!上|下|太)|來(?!源))"
)
_ASKS = re.compile(
    r"^(?:can|does|do|did|is|are|was|how|what|why|when|where|who|if)\b|[嗎呢]$|^(?:如何|為什麼|是否|如果|若)", re.I
)
_TELLS = re.compile(
    r"(?<![A-Za-z])\d|預設|上限|下限|必須|不支援|不需要|不可|不得|禁止|只能|僅限|最多|至少|每[日天週月小分]|\b(?:must|only|default|never|at most|at least"
    r"|cannot|do not|required|maximum|minimum|every|per)\b",
    re.IGNORECASE,
)
"""Clauses without a fact in the strict sense that still answer a question."""

_WEIGHTS = {
    FactKind.NUMBER: 3.0,
    FactKind.SETTING: 2.6,
    FactKind.COMMAND: 1.8,
    FactKind.VERSION: 1.6,
    FactKind.PATH: 1.5,
    FactKind.IDENTIFIER: 1.3,
    FactKind.DATE: 1.0,
    FactKind.URL: -2.0,
}
_MOST_ROWS = 40
_WIDEST_CJK, _WIDEST_LATIN = 28, 64


@dataclass(frozen=True, slots=True)
class Clause:
    """``text`` as an item of a summary; ``start`` in the source; ``place``: number of its H2, 0 the lead; ``facts``: normal
    forms, so that no fact is told twice."""

    text: str
    start: int
    score: float
    place: int
    facts: frozenset[str]


def read_clauses(part: Part, facts: FactIndex, taken_from: Sequence[Block], words: Words) -> Iterator[Clause]:
    """All clauses of a part with a fact or a telling word; ``taken_from`` are blocks that became the conclusion."""

    def of(block: Block, place: int, bonus: float) -> Iterator[Clause]:
        if block.kind is BlockKind.TABLE:
            return _row_clauses(block, facts, place, bonus, words)
        if block.kind is BlockKind.CODE:
            return _command_clauses(block, facts, place, bonus)
        return _block_clauses(block, facts, place, bonus)

    for block in taken_from:
        yield from of(block, 0, 0.8)
    for block in part.lead:
        yield from of(block, 0, 0.5)
    for place, section in enumerate(part.sections, start=1):
        for block in section.blocks:
            yield from of(block, place, 0.0)
        for child in section.children:
            for block in section_blocks(child):
                yield from of(block, place, -0.2)


def _command_clauses(block: Block, facts: FactIndex, place: int, bonus: float) -> Iterator[Clause]:
    """The first commands of a code block: what a runbook is searched for."""
    commands = [fact for fact in facts.between(block.start, block.end) if fact.kind is FactKind.COMMAND]
    for fact in commands[:2]:
        text = balanced(" ".join(fact.text.lstrip(" `$#>").rstrip(" `").split()))
        if (
            6 <= len(text) <= _WIDEST_LATIN
            and ";" not in text
            and "、" not in text
            and "://" not in text
            and not TOPIC_WORDS.search(text)
        ):
            yield Clause(text, fact.start, 1.0 + min(bonus, 0.0), place, frozenset((fact.normal,)))


def _row_clauses(block: Block, facts: FactIndex, place: int, bonus: float, words: Words) -> Iterator[Clause]:
    """Of each table row its first two cells: ``timeout: 30 s``."""
    start = block.start
    for number, line in enumerate(block.text.split("\n")):
        begin, start = start, start + len(line) + 1
        if number > _MOST_ROWS:
            return
        cells = [tidy(cell) for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
        told = [cell for cell in cells if re.search(r"\w", cell)]
        if number < 2 or len(told) < 2:
            continue
        inside = facts.between(begin, start)
        tight = has_cjk(told[0][-1]) and (has_cjk(told[1][0]) or told[1][0].isdigit()) and "/" not in told[1]
        colon = words.colon if tight else ": "
        clause = f"{told[0]}{colon}{told[1]}"
        weight = max((_WEIGHTS.get(fact.kind, 0.5) for fact in inside), default=0.8)
        yield Clause(clause, begin, weight + bonus - 0.4 + _form(clause, inside), place, frozenset((clause,)))


def _block_clauses(block: Block, facts: FactIndex, place: int, bonus: float) -> Iterator[Clause]:
    if block.kind in {BlockKind.CODE, BlockKind.HTML} or block.start == block.end:
        return
    text = facts.text
    found = facts.between(block.start, block.end)
    if not found and not _TELLS.search(text, block.start, block.end):
        return
    shields = [(fact.start, fact.end) for fact in found]
    cuts = [block.start]
    shield = 0
    for match in _CUT.finditer(text, block.start, block.end):
        while shield < len(shields) and shields[shield][1] <= match.start():
            shield += 1
        if shield < len(shields) and shields[shield][0] < match.end() and match.start() < shields[shield][1]:
            continue
        cuts += [match.start(), match.end()]
    cuts.append(block.end)
    for start, end in zip(cuts[::2], cuts[1::2], strict=True):
        inside = facts.between(start, end)
        telling = bool(inside) or _TELLS.search(text, start, end) is not None
        closed = end + 1 if _opens_more(text, start, end) and text[end : end + 1] in {"）", ")"} else end
        clause = tidy(text[start:closed]) if telling else ""
        if not clause:
            continue
        weight = max((_WEIGHTS.get(fact.kind, 0.5) for fact in inside), default=0.0)
        weight += 0.3 * min(2, max(0, len(inside) - 1))
        if weight < 1.2 and not any(fact.kind is FactKind.URL for fact in inside):
            weight = 1.2
        score = weight + bonus + _form(clause, inside)
        yield Clause(
            clause, start, score, place, frozenset(fact.normal for fact in inside if fact.kind is not FactKind.URL)
        )


def _opens_more(text: str, start: int, end: int) -> bool:
    return any(text.count(mark, start, end) > text.count(_CLOSED_BY[mark], start, end) for mark in ("（", "("))


def _form(clause: str, inside: Sequence[object]) -> float:
    """How well a clause reads out of its sentence: neither bare nor long."""
    widest = _WIDEST_CJK if has_cjk(clause) else _WIDEST_LATIN
    if (
        len(clause) > 2 * widest
        or "`" in clause
        or TOPIC_WORDS.search(clause)
        or "://" in clause
        or FILLER.match(clause)
    ):
        return -9.0
    score = -1.5 * max(0.0, len(clause) / widest - 1)
    words_beside = len(re.findall(r"[\u4e00-\u9fff]|[A-Za-z]{2,}", clause))
    if words_beside < 2 + len(inside):
        score -= 1.5
    if re.search(r"[{}<>\\=]{2,}|\$\(|\s\|\s|^\W", clause) or clause.count('"') % 2:
        score -= 1.5
    if (
        clause.count("(") != clause.count(")")
        or clause.count("（") != clause.count("）")
        or clause.count("[") != clause.count("]")
    ):
        score -= 1.2
    if _NO_SUBJECT.match(clause) or _ASKS.match(clause):
        score -= 0.7
    if FRAGMENT.match(clause):
        score -= 0.8
    if _LABEL.match(clause):
        score += 0.4
    return score


def tidy(text: str) -> str:
    """A piece of text as an item: plain, without marks and joining words at its ends, brackets closed."""
    clause = _trimmed(plain(_ANCHOR.sub(r"\1", without_block_marks(text))))
    for _ in range(2):
        clause = _LEADING_WORDS.sub("", clause)
    return balanced(_trimmed(clause.replace("、", " / ")))


def balanced(text: str) -> str:
    """A text that may have been cut, without what follows a bracket or placeholder that is not closed; "" when hardly
    anything stands before it."""
    opened: list[tuple[int, str]] = []
    for match in _BRACKET.finditer(text):
        mark = match.group()
        if mark in _CLOSED_BY:
            opened.append((match.start(), _CLOSED_BY[mark]))
        elif any(closing == mark for _, closing in opened):
            while opened.pop()[1] != mark:
                pass
    if opened:
        before = text[: opened[0][0]].strip(TRIM)
        # Of a name like <layer>_<topic> no half is a name.
        joined = not text[opened[0][0] - 1].isspace() and opened[0][1] == ">" if opened[0][0] else False
        return balanced(before) if len(before) >= 4 and not joined else ""
    return text


def _trimmed(text: str) -> str:
    """Without marks at its ends, but for one that closes or opens what is inside."""
    text = text.strip()
    clause = text.strip(TRIM)
    start = text.find(clause)
    end = start + len(clause)
    for opening, closing in (("<", ">"), ("「", "」"), ("『", "』")):
        if clause.count(opening) > clause.count(closing) and text.startswith(closing, end):
            return clause + closing
        if clause.count(closing) > clause.count(opening) and text.endswith(opening, 0, start):
            return opening + clause
    return clause
