"""Paragraphs → sentences, Chinese and English, losing nothing.

Belongs here: where a sentence ends. Does not belong here: which sentences matter (``textrank``), markdown blocks.
"""

from __future__ import annotations

import re

from kb_pipeline.text.backticks import code_spans

# What ends a sentence outright, with the closing quotes and brackets that belong to it.
_CLOSERS = "」』）】》〉”’\"')\\]*_~"
_END = re.compile(
    rf"(?<![。！？])[。！？]+[{_CLOSERS}]*[^\S\n]*\n?"  # full-width marks need no blank after them
    rf"|(?<!…)…{{2,}}[{_CLOSERS}]*(?=\s|$)[^\S\n]*\n?"
    rf"|(?<![.!?])[.!?]+[{_CLOSERS}]*(?:[^\S\n]+|(?=\n)\n?|$)"  # narrow marks do
    r"|\n[^\S\n]*(?:\n\s*)+"  # a blank line
    r"|\n(?=[^\S\n]*(?:[-*+]|\d{1,3}[.)]|\#{1,6}|>|\|)\s)"  # a list item, heading, quote or row begins
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[“\"'/])(?:e\.g|i\.e|etc|vs|cf|al|approx|resp|incl|excl|no|nos|fig|figs|eq|sec|ch|vol|pp|p|ver|v|mr|mrs|ms|dr|prof"
    r"|st|jr|sr|inc|ltd|co|corp|dept|est|min|max|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|a\.m|p\.m|u\.s|[a-z])\.$",
    re.IGNORECASE,
)
_LIST_NUMBER = re.compile(r"(?:^|\n)\s*\d{1,3}\.$")
_LOWER_START = re.compile(r"\s*[a-z,;:)]")
_ALWAYS_SHORT = re.compile(r"(?:e\.g|i\.e|vs|cf|approx|resp|incl|excl|fig|figs|eq|mr|mrs|ms|dr|prof)\.$", re.IGNORECASE)


def split_sentences(text: str) -> list[str]:
    """Sentences in order; joined they are the text again. White space stays with the sentence before it.

    A single line break is a soft wrap, not an end, unless a list item, heading, quote or table row follows.
    """
    shielded = [(start, end) for start, end, _, _ in code_spans(text)] if "`" in text else []
    sentences: list[str] = []
    start = shield = 0
    for match in _END.finditer(text):
        at = match.start()
        while shield < len(shielded) and shielded[shield][1] <= at:
            shield += 1
        if shield < len(shielded) and shielded[shield][0] <= at:
            continue
        if text[at] in ".!?" and not _ends_here(text, start, match):
            continue
        end = match.end()
        if not text[start:end].strip():
            continue
        sentences.append(text[start:end])
        start = end
    if start < len(text):
        if sentences and not text[start:].strip():
            sentences[-1] += text[start:]
        else:
            sentences.append(text[start:])
    return sentences


def _ends_here(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether a narrow mark followed by white space ends a sentence: not after an abbreviation or a list number."""
    if match.end() >= len(text) or text[match.start()] != ".":
        return True
    mark = match.start() + 1
    window = text[max(start, mark - 12) : mark]
    if _LIST_NUMBER.search(window) and not text[start : mark - len(window.lstrip())].strip():
        return False
    if _ALWAYS_SHORT.search(window) and _ABBREVIATION.search(window):
        return False
    if _ABBREVIATION.search(window):
        # "etc. The next" ends, "Jan. 5" and "J. Smith" do not: an initial or what is followed by small letters.
        follows = text[match.end() : match.end() + 1]
        return len(window.split()[-1]) > 2 and (follows.isupper() or follows > "\u2e80")
    return not _LOWER_START.match(text, match.end())
