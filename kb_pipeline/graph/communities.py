"""Groups of pages that belong together: Louvain, seeded, named by their keywords (SPEC 11).

Belongs here: finding and naming groups. Does not belong here: edges. Only this module needs networkx (0.5 s to import,
4 s for 10,000 pages with 60,000 edges), so its result can be handed from one graph of equal edges to the next.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kb_pipeline.models import Confidence, Edge
from kb_pipeline.text.folding import fold

if TYPE_CHECKING:
    import networkx as nx

Groups = tuple[tuple[str, ...], ...]
"""Sorted page paths by group, largest group first."""

_NAME_KEYWORDS = 3


@dataclass(frozen=True, slots=True)
class Community:
    """``name``: its most telling keywords, joined; ``pages``: sorted paths, at least two."""

    name: str
    keywords: tuple[str, ...]
    pages: tuple[str, ...]


def to_networkx(paths: Iterable[str], edges: Iterable[Edge]) -> nx.Graph[str]:
    """The graph as networkx has it, nodes and edges in the order given; an edge's attributes are those of ``Edge``."""
    import networkx as nx

    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from(paths)
    for edge in edges:
        graph.add_edge(
            edge.source,
            edge.target,
            confidence=edge.confidence.value,
            kinds=edge.kinds,
            weight=edge.weight,
            comment=edge.comment,
        )
    return graph


def strongest(edges: Sequence[Edge], inferred_per_page: int) -> list[Edge]:
    """EXTRACTED edges, and INFERRED ones that are among the strongest so many of at least one of their ends."""
    inferred: dict[str, list[Edge]] = {}
    for edge in edges:
        if edge.confidence is Confidence.INFERRED:
            inferred.setdefault(edge.source, []).append(edge)
            inferred.setdefault(edge.target, []).append(edge)
    kept: set[tuple[str, str]] = set()
    for found in inferred.values():
        if len(found) > inferred_per_page:
            found.sort(key=lambda edge: (-edge.weight, edge.source, edge.target))
        kept.update((edge.source, edge.target) for edge in found[:inferred_per_page])
    return [edge for edge in edges if edge.confidence is Confidence.EXTRACTED or (edge.source, edge.target) in kept]


def find_groups(edges: Sequence[Edge], seed: int) -> Groups:
    """Louvain communities of at least two pages; equal edges in equal order give equal groups."""
    if not edges:
        return ()
    import networkx as nx

    connected = {end for edge in edges for end in (edge.source, edge.target)}
    graph = to_networkx(sorted(connected), edges)
    found = nx.community.louvain_communities(graph, weight="weight", seed=seed)
    groups = [tuple(sorted(group)) for group in found if len(group) > 1]
    return tuple(sorted(groups, key=lambda group: (-len(group), group[0])))


def name_groups(groups: Groups, keywords: Mapping[str, Sequence[str]]) -> tuple[Community, ...]:
    """Name each group by the keywords that many of its pages have and few others do."""
    overall = Counter(term for words in keywords.values() for term in set(map(fold, words)))
    return tuple(_named(group, keywords, overall) for group in groups)


def _named(group: tuple[str, ...], keywords: Mapping[str, Sequence[str]], overall: Counter[str]) -> Community:
    inside: Counter[str] = Counter()
    spellings: dict[str, Counter[str]] = {}
    for path in group:
        for word in dict.fromkeys(keywords.get(path, ())):
            folded = fold(word)
            inside[folded] += 1
            spellings.setdefault(folded, Counter())[word] += 1
    best = sorted(inside, key=lambda term: (-(inside[term] ** 2) / overall[term], term))[:_NAME_KEYWORDS]
    shown = tuple(min(spellings[term], key=lambda word: (-spellings[term][word], word)) for term in best)
    return Community(" · ".join(shown) or group[0].removesuffix(".md"), shown, group)
