"""Inline markdown as text: what a reader sees of it, and what of it is a link.

Belongs here: regular expressions over one line or paragraph, for titles, summaries and link rewriting. Does not belong
here: link resolution (``markdown.links``) or anything over whole documents.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable

_IMAGE = re.compile(
    r"!\[([^\]]*)\](?:\((?:<[^>\n]*>|[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+[\"'(][^\n]*?[\"')])?\)|\[[^\]]*\])"
)
_LINK = re.compile(
    r"(?<!!)\[((?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)\]"
    r"(?:\((?:<[^>\n]*>|[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+[\"'(][^\n]*?[\"')])?\)|\[[^\]\n]*\])"
)
_WIKILINK = re.compile(r"!?\[\[([^\[\]|\n]*?)(?:\\?\|([^\[\]\n]*))?\]\]")
_AUTOLINK = re.compile(r"<((?:https?|ftp|mailto):[^>\s]*)>")
_LINE_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9-]*(?:\s[^<>]*)?/?>")
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_STRONG = re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1", re.DOTALL)
_EMPHASIS = re.compile(
    r"(?<![\w*])\*(?=[^\s*])([^*\n]+?)(?<=[^\s*])\*(?![\w*])|(?<![\w_])_(?=[^\s_])([^_\n]+?)(?<=[^\s_])_(?![\w_])"
)
_STRUCK = re.compile(r"~~(?=\S)(.+?)(?<=\S)~~")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_FOOTNOTE_MARK = re.compile(r"\[\^[^\]\s]+\]")
_LEADING_MARK = re.compile(r"^\s*(?:>\s*)*(?:\[![A-Za-z]+\][+-]?\s*)?(?:(?:[-*+]|\d{1,9}[.)])\s+)*(?:\[[ xX]\]\s+)?")

_HELD = "\ue000{}\ue001"
_HELD_BACK = re.compile("\ue000(\\d+)\ue001")


def plain(text: str) -> str:
    """One line of text as a reader sees it: marks and tags gone, links by their label, code without its ticks."""
    codes: list[str] = []

    def hold(match: re.Match[str]) -> str:
        codes.append(match.group(2).strip())
        return _HELD.format(len(codes) - 1)

    if "`" in text:
        text = _CODE.sub(hold, text)
    if "[" in text:
        text = _IMAGE.sub(lambda match: match.group(1), text)
        text = _LINK.sub(lambda match: match.group(1), text)
        text = _WIKILINK.sub(lambda match: match.group(2) or match.group(1).replace("#", " "), text)
        text = _FOOTNOTE_MARK.sub("", text)
    if "<" in text:
        text = _AUTOLINK.sub(r"\1", _LINE_BREAK.sub(" ", text))
        text = _TAG.sub("", text)
    if "*" in text or "_" in text or "~~" in text:
        for _ in range(2):
            text = _STRONG.sub(r"\2", text)
            text = _EMPHASIS.sub(lambda match: match.group(1) or match.group(2), text)
        text = _STRUCK.sub(r"\1", text)
    if "\\" in text:
        text = _ESCAPE.sub(r"\1", text)
    if "&" in text:
        text = html.unescape(text)
    if codes:
        text = _HELD_BACK.sub(lambda match: codes[int(match.group(1))], text)
    return " ".join(text.split())


def shortened(text: str, limit: int) -> str:
    """The beginning of a text, cut where no word or detail is torn: at a space or beside a Chinese character."""
    if len(text) <= limit:
        return text
    cut = limit
    while cut > 0 and not (
        text[cut].isspace() or text[cut - 1].isspace() or text[cut - 1] > "\u2e7f" or text[cut] > "\u2e7f"
    ):
        cut -= 1
    return text[:cut].rstrip(" ，,、;；:：（([「『-–—")


def without_block_marks(text: str) -> str:
    """A line of a list or quote without its marker, check box or callout mark."""
    return _LEADING_MARK.sub("", text, count=1)


def has_link(text: str) -> bool:
    """Whether a link, picture, footnote or bare address stands in the text."""
    return "](" in text or "][" in text or "[[" in text or "[^" in text or "://" in text


def links_only(text: str) -> bool:
    """Whether nothing but links (and list markers, punctuation) is in the text."""
    rest = _WIKILINK.sub("", _LINK.sub("", without_block_marks(text)))
    return rest != text and not re.search(r"\w", _AUTOLINK.sub("", rest))


def own_anchor_links(text: str, replace: Callable[[str, str], str]) -> str:
    """``text`` with each link to an anchor of its own document, ``[label](#anchor)``, replaced by ``replace(label,
    anchor)``; code spans are left alone."""
    if "](#" not in text:
        return text
    spans = [match.span() for match in _CODE.finditer(text)] if "`" in text else []

    def change(match: re.Match[str]) -> str:
        target = _OWN_ANCHOR.search(match.group(0))
        if target is None or any(a <= match.start() and match.end() <= b for a, b in spans):
            return match.group(0)
        return replace(match.group(1), target.group(1))

    return _LINK.sub(change, text)


_OWN_ANCHOR = re.compile(r"\]\(\s*<?#([^)\s>]*)>?(?:\s+[\"'(][^\n]*)?\)$")


def escaped_heading(title: str) -> str:
    """A plain title as inline markdown that renders to exactly that text on a heading line."""
    text = re.sub(
        r"\\(?=[!-/:-@\[-`{-~])|[`*]|<(?=[A-Za-z/!?])|\](?=[(\[])|~(?=~)", lambda mark: "\\" + mark.group(0), title
    )
    text = re.sub(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])", r"\\_", text)
    text = re.sub(r"&(?=#?\w+;)", r"\\&", text)
    return re.sub(r"(^|\s)(#+)$", r"\1\\\2", text)
