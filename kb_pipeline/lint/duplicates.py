"""Current pages whose bodies are nearly the same (SPEC 9, near-duplicate). Linear in the text of the wiki.

Two pages of which a clause in a hundred differs still have most clauses to the letter. Shared clauses therefore
propose pairs, at the price of one dictionary; only those are measured by ``text.similarity``.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from kb_pipeline.lint import catalogue as rules
from kb_pipeline.lint.policy import LintPolicy
from kb_pipeline.models import Finding, PageStatus, WikiPage

COMMON = 24
"""A clause on more pages than this is boilerplate, or a large family: each is compared with the first one only."""

LEAST_SHARED = 0.4
"""Share of the longer page's clauses, by length, from which a pair is measured."""

_CLAUSE = re.compile(r"[^。；;!?！？\n]{8,}")


def duplicate_rules(pages: Sequence[WikiPage], policy: LintPolicy) -> Iterator[Finding]:
    """One finding for each page that repeats another, on the later path, against the first of its kind."""
    first: dict[str, WikiPage] = {}
    for page in sorted(pages, key=lambda page: page.path):
        if not _counts(page, policy):
            continue
        same = first.setdefault(_text(page), page)
        if same is not page:
            yield rules.NEAR_DUPLICATE.at(page, share=1.0, other=same.path)
    texts = list(first)
    proposed = sorted({at for pair in _proposed(texts) for at in pair})
    if not proposed:
        return
    from kb_pipeline.text.similarity import near_duplicates

    reported: set[int] = set()
    for one, other, share in near_duplicates([texts[at] for at in proposed], policy.near_duplicate):
        if other not in reported:
            reported.add(other)
            page, same = first[texts[proposed[other]]], first[texts[proposed[one]]]
            yield rules.NEAR_DUPLICATE.at(page, share=share, other=same.path)


def _counts(page: WikiPage, policy: LintPolicy) -> bool:
    """Below the least length two pages may well be equal by chance, and have another finding already."""
    return page.status is PageStatus.CURRENT and page.kind != "index" and len(page.body) >= policy.min_body


def _text(page: WikiPage) -> str:
    """The body without its H1, which equals the title."""
    text = page.body.strip()
    return text.partition("\n")[2] if text.startswith("# ") else text


def _proposed(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Pairs of positions that share enough clauses to be worth measuring."""
    owners: defaultdict[int, list[int]] = defaultdict(list)
    lengths: list[int] = []
    for at, text in enumerate(texts):
        clauses = {clause.strip() for clause in _CLAUSE.findall(text)}
        lengths.append(sum(map(len, clauses)))
        for clause in clauses:
            # Hashes are enough to propose, and do not keep every text alive twice; the length rides along.
            owners[hash(clause) << 12 | min(len(clause), 4095)].append(at)
    shared: defaultdict[tuple[int, int], int] = defaultdict(int)
    for key, found in owners.items():
        if len(found) > 1:
            length = key & 4095
            for place, one in enumerate(found if len(found) <= COMMON else found[:1]):
                for other in found[place + 1 :]:
                    shared[one, other] += length
    for (one, other), length in shared.items():
        if length >= LEAST_SHARED * max(lengths[one], lengths[other]):
            yield one, other
