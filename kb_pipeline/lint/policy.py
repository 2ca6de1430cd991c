"""What a project may set about lint: limits, scopes, extra words, silenced rules. No rule and no reading of kb.yml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class LintPolicy:
    """Limits and lists of the rules; the defaults are those of SPEC 5 and 9. Lengths are code points.

    ``scopes``: the allowed scopes, empty allows any. ``categories`` and ``document_types`` add to the built-in words
    (``vocabulary``). ``stale_after_days``: None never calls a page stale. ``rewriter_key``: the key that compiles now;
    None leaves "outdated" unjudged. ``near_duplicate``: share
    of the longer body from which two pages count as copies. ``silenced``: rule id → reason, for the whole project.
    ``raw_folder``: the way from the wiki to the raw documents (``../raw``); a page may link to other files there.
    """

    scopes: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    document_types: tuple[str, ...] = ()
    min_body: int = 200
    max_body: int = 2500
    advised: tuple[int, int] = (500, 2000)
    min_summary: int = 15
    min_keywords: int = 3
    max_related: int = 8
    max_folders: int = 2
    stale_after_days: int | None = 365
    rewriter_key: str | None = None
    near_duplicate: float = 0.7
    paired_at_least: int = 3
    raw_folder: str | None = None
    silenced: Mapping[str, str] = field(default_factory=dict)
