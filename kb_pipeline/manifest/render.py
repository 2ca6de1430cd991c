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

from kb_pipeline.manifest.lines import estimate_tokens, one_line
from kb_pipeline.models import PageStatus, WikiPage

DEPRECATED = {"zh-TW": "[已淘汰] ", "en": "[deprecated] "}
DIGEST_KEYWORDS = 40
"""Most keywords of a domain in the directory manifest: enough to choose the domain."""
DIRECTORY_TOKENS = 8_000
"""What the directory may cost: domains share it, so that many of them have fewer keywords each."""
DIGEST_SCOPES = 12

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
    grouped = domains(pages)
    share = DIRECTORY_TOKENS // max(1, len(grouped))
    for domain, members in grouped.items():
        scopes = [scope for scope, _ in _by_frequency(page.scope for page in members)]
        keywords = [word for word, _ in _by_frequency(word for page in members for word in page.keywords)]
        head = f"=== {one_line(domain)} ===\n{COUNTED.get(language, COUNTED['en']).format(count=len(members))}"
        named = _that_fit(scopes[:DIGEST_SCOPES], (share - estimate_tokens(head)) // 2)
        words = _that_fit(keywords[:DIGEST_KEYWORDS], share - estimate_tokens(f"{head} [{named}] — \n\n"))
        lines += [f"{head} [{named}] — {words}", ""]
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


def _that_fit(items: Iterable[str], tokens: int) -> str:
    """The first items whose list stays within so many tokens; the first one always."""
    listed = ""
    for item in map(one_line, items):
        longer = f"{listed}, {item}" if listed else item
        if listed and estimate_tokens(longer) > tokens:
            break
        listed = longer
    return listed
