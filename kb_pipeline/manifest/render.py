"""The text of the manifest, whole and in two stages (SPEC 14).

Belongs here: bytes that depend on the pages alone: no clock, no locale, no order of files. Does not belong here: size
and advice (``budget``), which pages are published (``building.publishing``).

::

    === auth ===
    auth/token-rotation.md [內部 API Gateway] — 90 天過期、/refresh 換發
      keywords: 權杖, token
      §: 過期週期 | 換發端點
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from kb_pipeline.manifest.lines import one_line
from kb_pipeline.models import PageStatus, WikiPage

DEPRECATED = {"zh-TW": "[已淘汰] ", "en": "[deprecated] "}
DIGEST_KEYWORDS = 40
"""Keywords of a domain in the directory manifest: enough to choose the domain, 2,000 pages stay below 8,000 tokens."""

COUNTED = {"zh-TW": "{count} 頁", "en": "{count} pages"}


def render_manifest(pages: Iterable[WikiPage], language: str) -> str:
    """All pages, by domain and path. Drafts are left out; "" when nothing is left."""
    grouped = domains(pages)
    return "\n".join(_domain_text(domain, members, language) for domain, members in grouped.items())


def render_domain_manifest(pages: Iterable[WikiPage], domain: str, language: str) -> str:
    """The second stage: one domain in full; "" when it has no page."""
    members = domains(pages).get(domain)
    return "" if members is None else _domain_text(domain, members, language)


def render_directory_manifest(pages: Iterable[WikiPage], language: str) -> str:
    """The first stage: each domain with its number of pages, its scopes and its most frequent keywords."""
    lines = []
    for domain, members in domains(pages).items():
        scopes = [scope for scope, _ in _by_frequency(page.scope for page in members)]
        keywords = [word for word, _ in _by_frequency(word for page in members for word in page.keywords)]
        lines += [
            f"=== {one_line(domain)} ===",
            f"{COUNTED.get(language, COUNTED['en']).format(count=len(members))} [{one_line(', '.join(scopes[:12]))}]"
            f" — {one_line(', '.join(keywords[:DIGEST_KEYWORDS]))}",
            "",
        ]
    return "\n".join(lines)


def domains(pages: Iterable[WikiPage]) -> Mapping[str, Sequence[WikiPage]]:
    """Domain → its pages by path, both in the order of code points, the root (".") first. Drafts are left out."""
    grouped: dict[str, list[WikiPage]] = defaultdict(list)
    for page in pages:
        if not page.is_draft:
            grouped[page.domain].append(page)
    return {
        domain: sorted(grouped[domain], key=lambda page: page.path.split("/"))
        for domain in sorted(grouped, key=lambda name: (name != ".", name))
    }


def page_entry(page: WikiPage, language: str) -> str:
    """The lines of one page, without the blank one after them."""
    prefix = DEPRECATED.get(language, DEPRECATED["en"]) if page.status is PageStatus.DEPRECATED else ""
    lines = [f"{prefix}{one_line(page.path)} [{one_line(page.scope)}] — {one_line(page.summary)}"]
    lines.append(f"  keywords: {', '.join(one_line(word) for word in page.keywords)}")
    headings = [one_line(heading.text) for heading in page.outline.headings if heading.level == 2]
    if headings:
        lines.append(f"  §: {' | '.join(headings)}")
    return "\n".join(lines)


def _domain_text(domain: str, members: Sequence[WikiPage], language: str) -> str:
    return "\n".join([f"=== {one_line(domain)} ===", *(page_entry(page, language) + "\n" for page in members)])


def _by_frequency(values: Iterable[str]) -> list[tuple[str, int]]:
    return sorted(Counter(value for value in values if value).items(), key=lambda item: (-item[1], item[0]))
