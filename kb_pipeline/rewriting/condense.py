"""Which sentences of a document's prose stay on its pages.

Belongs here: sentences with their weight, and the choice among them. Every sentence with a fact, a negation, a link or
code stays, as do lists, quotes, tables and code blocks (SPEC 6.9); of the rest the most central ones by TextRank.
Does not belong here: how the kept text is laid out over pages (``splitting``).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from kb_pipeline.rewriting.blocks import Block, BlockKind
from kb_pipeline.rewriting.evidence import FactIndex
from kb_pipeline.rewriting.inline import has_link, plain
from kb_pipeline.rewriting.structure import RawOutline, Section
from kb_pipeline.text.negation import negations
from kb_pipeline.text.sentences import split_sentences
from kb_pipeline.text.textrank import rank_sentences

KEPT_SHARE = 0.6
"""Of the characters of sentences that may be dropped, how many stay."""

LONG_PARAGRAPH = 3
"""Sentences of a paragraph from which on some may be dropped: shorter ones are terse already."""

CONDENSED_FROM = 600
"""Code points of text below which nothing is dropped: a page must not fall under its minimum."""

FILLER = re.compile(
    r"^(?:in this (?:article|section|document|guide|page|tutorial|post|chapter)\b|this (?:article|section|document|guide|page"
    r"|tutorial|post|chapter|topic) (?:is|describes|explains|covers|provides|shows|contains|outlines|will|discusses|lists)\b"
    r"|(?:the following|below) (?:section|article|table|example|list)s? (?:describe|explain|show|cover|list)"
    r"|here(?:'s| is| are)? (?:the |a |an |some )?(?:links?|videos?)\b|welcome to\b|let'?s (?:get started|begin|dive)\b|(?:we|you) will (?:learn|see|cover)\b|here (?:we|you) (?:will|can) (?:learn|see)"
    r"|本(?:文|篇|節|章|檔|教學課程|主題|頁|指南)"
    r"|這(?:篇文章|篇文件|篇|份文件|章|節)(?:將|會|中|主要|旨在|內容|說明|介紹|描述|提供|討論|列出|示範|包含)"
    r"|在(?:本|這)(?:文|篇文章|節|章|教學課程|主題|指南)(?:中|裡)?|(?:下列|以下|下面)(?:各節|章節|小節|文章)|歡迎(?:使用|來到|閱讀)"
    r"|(?:接下來|下面)(?:讓我們|我們來|將會?介紹|將會?說明))",
    re.IGNORECASE,
)
ANAPHORA = re.compile(
    r"^(?:(?:this|these|those|that|it|they|its|their|he|she|however|therefore|thus|hence|so|but|and|or|otherwise|then|also"
    r"|additionally|furthermore|moreover|instead|still|such|similarly|for example|for instance|in this case|in that case"
    r"|as a result|as such|because of this|consequently|nevertheless|finally|again|likewise)\b"
    r"|這[個些樣是種時裡也會]?|此[外時處類舉]?|該[^死]|其[中他餘]?|它們?|他們|因此|因而|所以|但是?|不過|然而|否則|而且|並且|另外"
    r"|同時|接著|然後|例如|比如|反之|如此|於是|也就是|換句話說|最後|再來)",
    re.IGNORECASE,
)
_EMPHASISED = re.compile(r"\*\*|__|==")
_DIGIT = re.compile(r"\d")
"""A number that is no fact for the extractor may be one for a reader."""

_LEADS_IN = re.compile(r"[:：]\s*$")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a paragraph. ``start``/``end``: offsets in the source; ``rank``: TextRank, 1 the most central.

    ``first`` marks the first of its paragraph. ``fixed`` ones always stay.
    """

    text: str
    start: int
    end: int
    rank: float
    facts: int
    first: bool
    fixed: bool


@dataclass(frozen=True, slots=True)
class Prose:
    """Sentences of each paragraph, by the paragraph's start, and of them all in order."""

    paragraphs: Mapping[int, tuple[Sentence, ...]]
    sentences: tuple[Sentence, ...]
    starts: tuple[int, ...]

    @classmethod
    def of(cls, paragraphs: Mapping[int, tuple[Sentence, ...]]) -> Prose:
        sentences = sorted((s for own in paragraphs.values() for s in own), key=lambda sentence: sentence.start)
        return cls(paragraphs, tuple(sentences), tuple(sentence.start for sentence in sentences))

    def of_paragraph(self, start: int) -> tuple[Sentence, ...]:
        return self.paragraphs.get(start, ())

    def within(self, start: int, end: int) -> tuple[Sentence, ...]:
        """Those that begin in ``start:end``: a piece of a long paragraph has only its own."""
        return self.sentences[bisect_left(self.starts, start) : bisect_left(self.starts, end)]


def read_prose(outline: RawOutline, facts: FactIndex) -> Prose:
    """Sentences of all paragraphs, ranked together."""
    pieces: list[tuple[Block, str, int, bool, bool]] = []
    for blocks in _own_blocks(outline):
        for block, following in zip(blocks, [*blocks[1:], None], strict=False):
            if block.kind is not BlockKind.PARAGRAPH or block.start == block.end:
                continue
            # The sentence above a list, a table or code says what it is; without it two lists would run into one.
            leads_in = following is not None and following.kind is not BlockKind.PARAGRAPH
            position = block.start
            texts = split_sentences(block.text)
            for index, text in enumerate(texts):
                pieces.append((block, text, position, index == 0, leads_in and index == len(texts) - 1))
                position += len(text)
    ranks = rank_sentences([plain(text) for _, text, *_ in pieces])
    top = max(ranks, default=1.0) or 1.0
    prose: dict[int, list[Sentence]] = {}
    for (block, text, start, first, leads_in), rank in zip(pieces, ranks, strict=True):
        end = start + len(text)
        count = len(facts.between(start, end))
        fixed = leads_in or bool(
            count
            or has_link(text)
            or "`" in text
            or _LEADS_IN.search(text)
            or "|" in text
            or _DIGIT.search(text)
            or negations(text)
        )
        sentence = Sentence(text.strip(), start, end, rank / top, count, first, fixed)
        prose.setdefault(block.start, []).append(sentence)
    return Prose.of({start: tuple(sentences) for start, sentences in prose.items()})


def dropped_sentences(outline: RawOutline, prose: Prose, size: int) -> frozenset[int]:
    """Starts of the sentences that do not stay. ``size`` is the document's length in code points."""
    if size < CONDENSED_FROM:
        return frozenset()
    loose: list[Sentence] = []
    fillers: set[int] = set()
    for blocks in _own_blocks(outline):
        paragraphs = [prose.of_paragraph(b.start) for b in blocks if b.kind is BlockKind.PARAGRAPH and b.start != b.end]
        free = [sentence for sentences in paragraphs for sentence in _free(sentences)]
        if len(free) == sum(map(len, paragraphs)) and free and not _holds_more(blocks):
            free.remove(max(free, key=lambda sentence: (not _is_filler(sentence), sentence.rank, -sentence.start)))
        fillers.update(sentence.start for sentence in free if _is_filler(sentence))
        loose += [sentence for sentence in free if not _is_filler(sentence)]
    budget = KEPT_SHARE * sum(len(sentence.text) for sentence in loose)
    kept: set[int] = set()
    for sentence in sorted(loose, key=lambda sentence: (-_worth(sentence), sentence.start)):
        if budget <= 0:
            break
        kept.add(sentence.start)
        budget -= len(sentence.text)
    dropped = fillers | {sentence.start for sentence in loose if sentence.start not in kept}
    return frozenset(dropped - set(_needed_before_kept(prose, dropped)))


def condensed(block: Block, prose: Prose, dropped: frozenset[int], *, may_list: bool = True) -> Block | None:
    """A paragraph without its dropped sentences, None when none is left; what is broken up becomes a list."""
    sentences = prose.of_paragraph(block.start) if block.kind is BlockKind.PARAGRAPH else ()
    kept = [sentence for sentence in sentences if sentence.start not in dropped]
    if len(kept) == len(sentences):
        return block
    if not kept:
        return None
    cuts = tuple((sentence.start, sentence.end) for sentence in kept)
    if may_list and len(kept) >= 3 and not any("|" in sentence.text or "\n\n" in sentence.text for sentence in kept):
        items = tuple(f"- {unwrapped(sentence.text)}" for sentence in kept)
        return replace(block, kind=BlockKind.LIST, text="\n".join(items), items=items, cuts=cuts)
    pieces = [block.text[sentence.start - block.start : sentence.end - block.start] for sentence in kept]
    return replace(block, text="".join(pieces).strip(), cuts=cuts)


def condensed_blocks(blocks: Sequence[Block], prose: Prose, dropped: frozenset[int]) -> tuple[Block, ...]:
    kept: list[Block] = []
    for block, following in zip(blocks, [*blocks[1:], None], strict=False):
        beside_list = (kept and kept[-1].kind is BlockKind.LIST) or (following and following.kind is BlockKind.LIST)
        shorter = condensed(block, prose, dropped, may_list=not beside_list)
        if shorter is not None:
            kept.append(shorter)
    return tuple(kept)


def condensed_section(section: Section, prose: Prose, dropped: frozenset[int]) -> Section:
    """A section and those below it, condensed. One that had text keeps some: ``dropped_sentences`` sees to it."""
    children = tuple(condensed_section(child, prose, dropped) for child in section.children)
    return replace(section, blocks=condensed_blocks(section.blocks, prose, dropped), children=children)


def unwrapped(text: str) -> str:
    """Soft line breaks taken out: nothing between two Chinese characters, else one space."""
    joined = re.sub(
        r"(?<=[\u3000-\u9fff\uff00-\uffef])[ \t]*\n[ \t]*(?=[\u3000-\u9fff\uff00-\uffef])", "", text.strip()
    )
    return re.sub(r"\s*\n\s*", " ", joined)


def _own_blocks(outline: RawOutline) -> Iterator[Sequence[Block]]:
    yield outline.lead
    for section in outline.sections:
        yield from _section_groups(section)


def _section_groups(section: Section) -> Iterator[Sequence[Block]]:
    yield section.blocks
    for child in section.children:
        yield from _section_groups(child)


def _free(sentences: Sequence[Sentence]) -> Iterator[Sentence]:
    """Sentences of a paragraph that may go: announcements always, others only out of a long paragraph, and never the
    reason that follows a prohibition or a fact ("It will overload the machine")."""
    for before, sentence in zip([None, *sentences], sentences, strict=False):
        if sentence.fixed or _EMPHASISED.search(sentence.text):
            continue
        explains = before is not None and before.fixed and ANAPHORA.match(sentence.text)
        if _is_filler(sentence) or (len(sentences) >= LONG_PARAGRAPH and not explains):
            yield sentence


def _holds_more(blocks: Sequence[Block]) -> bool:
    return any(block.kind is not BlockKind.PARAGRAPH or block.start == block.end for block in blocks)


def _is_filler(sentence: Sentence) -> bool:
    return FILLER.match(sentence.text) is not None


def _worth(sentence: Sentence) -> float:
    return sentence.rank + (0.25 if sentence.first else 0.0)


def _needed_before_kept(prose: Prose, dropped: set[int]) -> Iterator[int]:
    """A kept sentence that begins with "this" or "因此" says nothing without the one before it."""
    for sentences in prose.paragraphs.values():
        for before, sentence in pairwise(sentences):
            if sentence.start not in dropped and before.start in dropped and ANAPHORA.match(sentence.text):
                yield before.start
