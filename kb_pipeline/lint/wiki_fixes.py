"""``fix_wiki``: the mends that need the other pages. Pure: texts in, changed texts out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from kb_pipeline.errors import PageWriteError
from kb_pipeline.lint import catalogue as rules
from kb_pipeline.lint.policy import LintPolicy
from kb_pipeline.lint.silencing import silenced_rules
from kb_pipeline.lint.wiki import Wiki
from kb_pipeline.markdown.front_matter import set_fields
from kb_pipeline.models import Related, WikiPage


def fix_wiki(pages: Sequence[WikiPage], texts: Mapping[str, str], policy: LintPolicy | None = None) -> dict[str, str]:
    """Make ``related`` mutual: each missing counterpart is added to the page that lacks it. Path → text of what changed.

    A page gets no more than ``policy.max_related`` entries, and one whose block cannot be changed without loss stays
    as it is; what finds no place stays reported. ``related`` is no part of a fingerprint, so that no stamp changes.
    """
    policy = policy or LintPolicy()
    wiki = Wiki(pages)
    missing: defaultdict[str, list[str]] = defaultdict(list)
    for page in sorted(pages, key=lambda page: page.path):
        if page.is_draft or not page.related or rules.RELATED_NOT_MUTUAL.id in silenced_rules(page, policy):
            continue
        for target in wiki.one_way(page):
            missing[target].append(page.path)
    changed: dict[str, str] = {}
    for path in sorted(missing):
        entries = wiki.by_path[path].related
        room = policy.max_related - len(entries)
        if room > 0 and path in texts:
            try:
                changed[path] = set_fields(texts[path], {"related": [*entries, *map(Related, missing[path][:room])]})
            except PageWriteError:
                continue  # Reported by its own rule already; the other pages are mended all the same.
    return changed
