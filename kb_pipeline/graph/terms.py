"""Which tags and keywords tie two pages together, and how strongly (SPEC 11, INFERRED).

Belongs here: the rule of what is specific, and the weight. Does not belong here: edges themselves (``wiki_graph``).

A term is specific when it stands on at least two pages and on at most six or 2 % of them, whichever is more. The weight
of a term is 1 / pages that have it: it depends on nothing else, so that a page more or less somewhere in the wiki does
not change the weight of every other edge.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from kb_pipeline.models import WikiPage
from kb_pipeline.text.folding import fold

TAG = "tag:"
KEYWORD = "keyword:"


@dataclass(frozen=True, slots=True)
class GraphPolicy:
    """Limits of what counts as specific. ``stop_terms``: tags and keywords that never tie pages together.

    ``ceiling`` bounds the share: a term on ``n`` pages makes n·(n-1)/2 edges, and one on more than 20 pages, the 2 % of
    a wiki of 1,000, says little about any two of them at any size (10,000 pages: 300,000 edges at 50, 90,000 at 20). ``communities_from``: nodes from which on
    communities are looked for.
    """

    few_pages: int = 6
    share: float = 0.02
    ceiling: int = 20
    stop_terms: frozenset[str] = frozenset()
    communities_from: int = 20
    seed: int = 20_260_818

    def most_pages(self, page_count: int) -> int:
        """On how many pages a term may stand and still be specific."""
        return min(self.ceiling, max(self.few_pages, int(self.share * page_count + 1e-9)))


def terms_of(page: WikiPage, stopped: frozenset[str]) -> frozenset[str]:
    """``tag:x`` and ``keyword:x`` of a page, folded (width, case, script). ``stopped`` holds folded terms."""
    tags = {TAG + term for term in map(_folded, page.tags) if term and term not in stopped}
    return frozenset(tags | {KEYWORD + term for term in map(_folded, page.keywords) if term and term not in stopped})


def folded_terms(terms: Iterable[str]) -> frozenset[str]:
    return frozenset(map(_folded, terms))


def specific_terms(pages_by_term: Mapping[str, set[str]], page_count: int, policy: GraphPolicy) -> dict[str, int]:
    """The terms that make edges, with the number of pages that have each.

    A keyword that every page of the wiki carries tells no two of them apart, whatever the limits say; a tag is a
    deliberate choice and counts.
    """
    most = policy.most_pages(page_count)
    everywhere = page_count if page_count > 2 else -1
    return {
        term: len(pages)
        for term, pages in pages_by_term.items()
        if 2 <= len(pages) <= most and not (len(pages) == everywhere and term.startswith(KEYWORD))
    }


@lru_cache(maxsize=10_000)
def shared_weight(counts: tuple[int, ...]) -> float:
    """Weight in (0, 1) of an edge by the page counts, sorted, of the terms that its ends share: 1 − Π(1 − 1/n)."""
    apart = 1.0
    for count in counts:
        apart *= 1.0 - 1.0 / count
    return round(1.0 - apart, 6)


def _folded(term: str) -> str:
    return " ".join(fold(term).split())
