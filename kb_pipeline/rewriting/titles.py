"""What a raw document is called.

Belongs here: choosing among front matter, headings, first line and file name; which headings say nothing. Does not
belong here: the tree of sections (``structure``), titles of further parts (``offline``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kb_pipeline.rewriting.inline import plain, shortened
from kb_pipeline.rewriting.language import Words
from kb_pipeline.rewriting.naming import humanised
from kb_pipeline.rewriting.vocabulary import GENERIC_HEADINGS

MAX_TITLE = 120

HEADING_ID = re.compile(r"\s*\{:?\s*#([\w-]+)[^}]*\}\s*$")
"""``{#id}`` at the end of a heading."""


@dataclass(frozen=True, slots=True)
class HeadingLine:
    """A heading as far as titles care: its depth in the document and its text."""

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class TitleChoice:
    """``heading`` is the index of the heading that the title replaces, None when all are sections; ``opening`` tells
    that it is the first line of the text. ``subtitle`` is a first H1 that says another thing."""

    title: str
    heading: int | None = None
    subtitle: str | None = None
    opening: bool = False


def choose_title(
    headings: Sequence[HeadingLine], opening: str, raw_path: str, field_title: str | None, words: Words
) -> TitleChoice:
    """Front matter, else the first H1, else a first line that stands alone (``opening``), else a first heading that all
    others are below, else the file name made readable. A generic one gets the file's name before it."""
    tops = [index for index, heading in enumerate(headings) if heading.level == 1]
    first = one_line(headings[tops[0]].text) if tops else ""
    named = one_line(field_title or "")
    if named:
        replaces = tops[0] if tops and (len(tops) == 1 or _same(named, first)) else None
        return TitleChoice(named, replaces, first if first and not _same(named, first) else None)
    fallback = humanised(raw_path)
    if first:
        return _from_h1(first, tops, fallback, words)
    if opening:
        return TitleChoice(opening, opening=True)
    heading = one_line(headings[0].text) if headings else ""
    if heading and not is_generic(heading) and all(other.level > headings[0].level for other in headings[1:]):
        return TitleChoice(heading, 0)
    if is_generic(fallback) or not re.search(r"[^\W\d_]", fallback):
        telling = (one_line(each.text) for each in headings)
        return TitleChoice(next((text for text in telling if text and not is_generic(text)), fallback))
    return TitleChoice(fallback)


def _from_h1(first: str, tops: Sequence[int], fallback: str, words: Words) -> TitleChoice:
    if not is_generic(first):
        return TitleChoice(first, tops[0])
    if len(tops) > 1:
        return TitleChoice(fallback)
    title = fallback if _same(fallback, first) else one_line(f"{fallback}{words.title_joint}{first}")
    return TitleChoice(title, tops[0])


def is_generic(heading: str) -> bool:
    """Whether a heading is one that any document may have, so that it says nothing about this one."""
    return heading.casefold().strip(" .!?？！:：") in GENERIC_HEADINGS


def one_line(text: str) -> str:
    """A title as plain text of bounded length: cut at a clause, else at a word."""
    title = plain(HEADING_ID.sub("", text)).strip(" #:：。，、；")
    if len(title) <= MAX_TITLE:
        return title
    cut = re.split(r"(?<=[。！？；;])|(?<=[.!?])\s", title)[0]
    return (cut if 10 <= len(cut) <= MAX_TITLE else shortened(title, MAX_TITLE)).rstrip(" ，,、;；:：。.")


def _same(one: str, other: str) -> bool:
    return re.sub(r"\W+", "", one).casefold() == re.sub(r"\W+", "", other).casefold()
