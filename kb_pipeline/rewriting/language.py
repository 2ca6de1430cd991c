"""The two languages of the product's own words: which one a document is written in, and the connecting words for it.

Belongs here: detection, and every word that the offline rewriter adds to a page. Does not belong here: translation;
a document's text is never translated.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_CJK = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_LATIN_WORD = re.compile(r"[A-Za-z]{2,}")
_CODE = re.compile(
    r"^[ \t]*(`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t]*\1|\Z)|`[^`\n]+`|https?://\S+|\]\([^)\n]*\)", re.MULTILINE | re.DOTALL
)
_SAMPLE = 20_000


@dataclass(frozen=True, slots=True)
class Words:
    """Connecting words of one language. ``title_joint`` stands between a document's title and a part's heading."""

    code: str
    title_joint: str
    item_joint: str
    part_of: str
    """Relation comment between parts of one document: formatted with ``index`` and ``count``."""
    part_title: str
    """Title of a part that has no heading of its own: ``title``, ``index``."""
    continued: str
    details: str
    steps: str
    document_facts: str
    see_also: str
    superseded: str
    """Pointer of a deprecated page to its successor: formatted with ``link``."""
    inbox_title: str
    inbox_lead: str
    colon: str


_CHINESE = Words(
    code="zh-TW",
    title_joint="：",
    item_joint="、",
    part_of="同一份文件，第 {index}／{count} 部分",
    part_title="{title}（{index}）",
    continued="{heading}（續）",
    details="內容",
    steps="步驟",
    document_facts="文件資料",
    see_also="另見",
    superseded="⚠️ 此為舊版，現行內容見 {link}。",
    inbox_title="收件匣 {month}",
    inbox_lead="{month} 的零碎筆記，共 {count} 則：太短，還不能單獨回答一個問題。",
    colon="：",
)
_ENGLISH = Words(
    code="en",
    title_joint=": ",
    item_joint="; ",
    part_of="same document, part {index} of {count}",
    part_title="{title} ({index})",
    continued="{heading} (continued)",
    details="Details",
    steps="Steps",
    document_facts="Document details",
    see_also="See also",
    superseded="⚠️ Superseded; the current page is {link}.",
    inbox_title="Inbox {month}",
    inbox_lead="Fragments of {month}, {count} in all: too short to answer a question on their own yet.",
    colon=": ",
)


def words_for(language: str) -> Words:
    """Words of a language code (``zh-TW``, ``en``); anything that is not English gets Chinese, the product's first."""
    return _ENGLISH if language.lower().startswith("en") else _CHINESE


def detect_language(text: str, default: str) -> str:
    """``zh-TW`` or ``en``: by CJK characters against Latin words of the text's beginning, ``default`` without either.

    One Chinese word takes about two characters; technical Chinese is full of English terms, so a fifth is enough. Code
    does not count: it is English everywhere.
    """
    sample = _CODE.sub(" ", text[:_SAMPLE])
    chinese = len(_CJK.findall(sample)) / 2
    latin = len(_LATIN_WORD.findall(sample))
    if not chinese and not latin:
        return "en" if default.lower().startswith("en") else "zh-TW"
    return "zh-TW" if chinese >= 0.2 * (chinese + latin) else "en"


def is_cjk(character: str) -> bool:
    return _CJK.match(character) is not None


def has_cjk(text: str) -> bool:
    return _CJK.search(text) is not None
