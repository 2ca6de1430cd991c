"""Names made from titles: heading anchors and page file names.

Belongs here: the two pure functions that turn a written title into a slug. Does not belong here: uniqueness within a
page (``outline``) or within the wiki (``rewriting.naming``).
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from functools import lru_cache

_NOT_IN_ANCHOR = re.compile(r"[^\w\- ]")
_NOT_IN_NAME = re.compile(r"[^\w]+|_+")
_LONGEST_NAME = 120
"""Bytes of UTF-8. A file name may have 255; suffixes such as ``-2`` and ``.md`` must still fit."""


@lru_cache(maxsize=16_384)
def heading_slug(text: str) -> str:
    """The anchor of a heading, the way GitHub makes it: ``"API 設計 (v2)"`` → ``"api-設計-v2"``.

    Never empty: a heading of symbols alone gets ``"section"``. Not yet unique in its page.
    """
    lowered = unicodedata.normalize("NFC", text.strip()).lower()
    return _drop(lowered, _NOT_IN_ANCHOR, "").replace(" ", "-") or "section"


def page_slug(name: str) -> str:
    """A file name, without suffix, for a page: kebab-case, NFC, lower, CJK and other letters kept.

    Never empty and never hidden: a name of symbols alone becomes ``page-<6 hex digits of its hash>``, always the same
    for the same name. Longer than a file system takes: cut, and told apart by the same hash.
    """
    written = unicodedata.normalize("NFC", name)
    kept = unicodedata.normalize("NFC", _drop(written.lower(), _NOT_IN_NAME, "-")).strip("-")
    digest = hashlib.sha256(written.encode("utf-8", "replace")).hexdigest()[:6]
    if not kept:
        return f"page-{digest}"
    if len(kept.encode()) <= _LONGEST_NAME:
        return kept
    cut = kept.encode()[: _LONGEST_NAME - 7].decode("utf-8", "ignore").rstrip("-")
    return f"{cut}-{digest}"


def _drop(text: str, pattern: re.Pattern[str], by: str) -> str:
    """Replace what is no letter, digit or mark. ``\\w`` alone would drop the vowel signs of Thai or Hindi."""
    if text.isascii():
        return pattern.sub(by, text)
    return pattern.sub(lambda found: _replace_run(found.group(), by), text)


def _replace_run(run: str, by: str) -> str:
    if all(not unicodedata.category(char).startswith("M") for char in run):
        return by
    kept = [char if _is_sign(char) else "\0" for char in run]
    return re.sub("\0+", by, "".join(kept))


def _is_sign(char: str) -> bool:
    # Variation selectors and enclosing keycaps belong to emoji, not to words.
    return unicodedata.category(char) in {"Mn", "Mc"} and not "\ufe00" <= char <= "\ufe0f"
