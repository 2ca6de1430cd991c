"""The sentences that come first on a page: what a reader who stops there should know.

Belongs here: scoring and choosing sentences that stand in the raw text. Does not belong here: writing new ones.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kb_pipeline.rewriting.blocks import Block, BlockKind
from kb_pipeline.rewriting.condense import ANAPHORA, FILLER, Prose, Sentence, unwrapped
from kb_pipeline.rewriting.inline import links_only, plain
from kb_pipeline.rewriting.language import has_cjk
from kb_pipeline.rewriting.splitting import Part
from kb_pipeline.rewriting.structure import Section

_CONCLUDES = re.compile(
    r"結論|決議|決定|決策|總結|摘要|重點|根因|原因|解法|解決|修正|修復|處置|結果|做法"
    r"|\b(?:conclusions?|decisions?|resolution|resolved|root cause|tl;?dr|summary|outcome|results?|answer|key (?:points|takeaways)|fix)\b",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"背景|附錄|參考|另見|延伸閱讀|後續步驟|先決條件|必要條件"
    r"|\b(?:background|appendix|references?|see also|further reading|next steps|prerequisites|credits|license)\b",
    re.IGNORECASE,
)
_STATES = re.compile(
    r"因此|所以|必須|應該|建議|改為|改用|採用|決定|預設|上限|用於|用來|是一[個種套項]|是指"
    r"|\b(?:must|should|always|decided|is an?|are|default|because|use[sd]?|requires?|provides?|allows?)\b",
    re.IGNORECASE,
)
_ANNOUNCES = re.compile(
    r"^(?:以下|下列|下面|下圖|下表|上圖|接下來|此文|此頁|這個文件|這一頁)"
    r"|^(?:the following|the above|below)\b|^this (?:page|document|article|guide|note|section|file|tutorial|runbook|example|table|diagram)\b",
    re.IGNORECASE,
)
_REFERS = re.compile(
    r"^(?:please )?(?:see|refer to|check(?: out)?|read|visit|click|have a look)\b|\bfor (?:more|further) (?:details|information)\b"
    r"|^(?:請?參[閱考見照]|詳見|詳情|如需)|詳細資訊[^。]{0,12}$|more information\.?$",
    re.IGNORECASE,
)
_UNFINISHED = re.compile(r"^\W*(?:TODO|FIXME|TBD|WIP|XXX|待補|待辦|未完成)\b", re.IGNORECASE)
_QUESTION = re.compile(r"[?？]\s*$")
_COMMAND_LIKE = re.compile(r"(?:^|\s)--?[A-Za-z][\w-]*(?=[\s=]|$)|^\s*[$#>]\s|\s\|\s|&&|\$\(")
_CALLOUT = re.compile(r"^\s*>\s*\[!", re.MULTILINE)
_NOTE = re.compile(r"^\W*(?:note|warning|important|caution|tip|注意|警告|備註|提示)\W", re.IGNORECASE)

LIMIT_CJK, LIMIT_LATIN = 160, 300
_MIN_CJK, _MIN_LATIN = 12, 28


@dataclass(frozen=True, slots=True)
class Conclusion:
    """``text`` is markdown on one or more lines. ``moved`` are sentences that it takes from the part's first paragraph,
    ``quote`` a block that it takes as a whole: they are not shown twice."""

    text: str
    moved: tuple[str, ...] = ()
    quote: Block | None = None


def choose_conclusion(part: Part, prose: Prose, dropped: frozenset[int], described: str = "") -> Conclusion | None:
    """The best one or two sentences of a part. ``described`` is a description from the front matter, a candidate like
    others. None when no sentence will do."""
    quote = _opening_quote(part)
    if quote is not None:
        text = "\n".join(re.sub(r"^[ \t]*>[ \t]?", "", line) for line in quote.text.split("\n"))
        return Conclusion(text.strip(), quote=quote)
    candidates = [
        (_score(sentence, heading, position), sentence, heading)
        for position, (sentence, heading) in enumerate(_sentences(part, prose, dropped))
        if _will_do(sentence)
    ]
    best = max(candidates, key=lambda candidate: (candidate[0], -candidate[1].start), default=None)
    if described and not FILLER.match(described) and _fits(described) and (best is None or best[0] < 1.2):
        return Conclusion(described)
    if best is None:
        return None
    chosen = [best[1]]
    limit = LIMIT_CJK if has_cjk(best[1].text) else LIMIT_LATIN
    for score, sentence, heading in sorted(candidates, key=lambda candidate: (-candidate[0], candidate[1].start))[1:5]:
        tells = sentence.facts or _STATES.search(sentence.text)
        follows = (abs(sentence.start - best[1].end) <= 1 and tells) or bool(heading and _CONCLUDES.search(heading))
        if follows and score >= 0.5 * best[0] and len(sentence.text) + len(best[1].text) <= limit:
            chosen.append(sentence)
            break
    chosen.sort(key=lambda sentence: sentence.start)
    joint = "" if has_cjk(chosen[0].text) else " "
    opening = {sentence.start for sentence in _opening(part, prose)}
    moved = tuple(sentence.text for sentence in chosen if sentence.start in opening)
    return Conclusion(joint.join(unwrapped(sentence.text) for sentence in chosen), moved)


def _opening_quote(part: Part) -> Block | None:
    """A quote that the document begins with is its author's own conclusion, unless it is a call-out."""
    blocks = part.lead or (part.sections[0].blocks if part.sections else ())
    first = blocks[0] if blocks else None
    if first is None or first.kind is not BlockKind.QUOTE or _CALLOUT.search(first.text):
        return None
    text = plain(first.text)
    limit = 2 * (LIMIT_CJK if has_cjk(text) else LIMIT_LATIN)
    concludes = len(text) <= limit and "```" not in first.text and _has_words(text) and not links_only(first.text)
    leads_on = FILLER.match(text) or _ANNOUNCES.match(text) or text.endswith((":", "：", "︰", "?", "？"))
    return first if concludes and not leads_on else None


def _opening(part: Part, prose: Prose) -> Sequence[Sentence]:
    """Sentences of the first paragraph of the lead: from there a sentence may be moved up, not only repeated."""
    first = part.lead[0] if part.lead else None
    return (
        prose.within(first.start, first.end)
        if first is not None and first.kind in {BlockKind.PARAGRAPH, BlockKind.LIST}
        else ()
    )


def _sentences(part: Part, prose: Prose, dropped: frozenset[int]) -> list[tuple[Sentence, str]]:
    found: list[tuple[Sentence, str]] = []

    def take(blocks: Sequence[Block], heading: str) -> None:
        for block in blocks:
            if block.kind in {BlockKind.PARAGRAPH, BlockKind.LIST}:
                kept = (s for s in prose.within(block.start, block.end) if s.start not in dropped)
                found.extend((s, heading) for s in kept if s.text in block.text or unwrapped(s.text) in block.text)

    def take_section(section: Section, heading: str) -> None:
        take(section.blocks, heading)
        for child in section.children:
            take_section(child, f"{heading} / {child.heading}")

    take(part.lead, "")
    for section in part.sections:
        take_section(section, section.heading)
    return found


def _score(sentence: Sentence, heading: str, position: int) -> float:
    text = sentence.text
    score = 0.8 * sentence.rank + 0.2 * min(sentence.facts, 3)
    score += 0.6 if position == 0 else 0.25 if position == 1 else 0.0
    score += 0.3 if sentence.first else 0.0
    if heading and _CONCLUDES.search(heading):
        score += 0.9 if sentence.first else 0.5
    if heading and _ASIDE.search(heading):
        score -= 0.6
    score += 0.3 if _STATES.search(text) else 0.0
    score -= 0.5 if _NOTE.match(text) else 0.0
    return score - 0.3 * max(0, text.count("](") - 1)


def _will_do(sentence: Sentence) -> bool:
    text = sentence.text
    words = plain(text)
    return not (
        FILLER.match(text)
        or ANAPHORA.match(text)
        or _ANNOUNCES.match(text)
        or _REFERS.search(text)
        or _UNFINISHED.match(text)
        or _QUESTION.search(text)
        or re.search(r"[:：︰]\s*$", text)
        or "![" in text
        or _COMMAND_LIKE.search(re.sub(r"`[^`]*`", "", text))
        or "\n\n" in text
        or "|" in text
        or links_only(text)
        or text.lstrip().startswith(("<", "[!", "|", "+-", "$$", "{%", "{{"))
        or not _has_words(words)
        or not _fits(words)
        or len(text) > 2 * LIMIT_LATIN
    )


def _fits(text: str) -> bool:
    if has_cjk(text):
        return _MIN_CJK <= len(text) <= LIMIT_CJK
    return _MIN_LATIN <= len(text) <= LIMIT_LATIN


def _has_words(text: str) -> bool:
    """A sentence, not a heap of symbols, an address or a log line."""
    letters = sum(1 for character in text if character.isalpha())
    return letters >= 0.55 * len(text.replace(" ", "")) and (has_cjk(text) or text.count(" ") >= 3)
