"""``WikiGraph``: pages as nodes, one undirected edge a pair, kept up to date page by page (SPEC 11).

Belongs here: building, updating and asking the graph. Does not belong here: what makes a term specific (``terms``), how
references are read (``references``), JSON and HTML (``export``, ``render``). A graph is always made from pages: nothing
reads ``graph.json`` back.

Building costs about 0.5 s for 10,000 pages; an update costs the links of the pages given, the links elsewhere that may
now lead to another page, and the pairs of pages whose shared terms changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from itertools import combinations
from typing import TYPE_CHECKING

from kb_pipeline.graph.communities import Community, Groups, find_groups, name_groups, to_networkx
from kb_pipeline.graph.notes import PageNotes
from kb_pipeline.graph.references import names_of
from kb_pipeline.graph.terms import GraphPolicy, folded_terms, shared_weight, specific_terms
from kb_pipeline.markdown.links import LinkResolver
from kb_pipeline.models import Confidence, Edge, WikiPage

if TYPE_CHECKING:
    import networkx as nx

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class PageNode:
    """What the graph shows of a page. ``status`` is ``current`` or ``deprecated``, "" for a page without one."""

    path: str
    title: str
    scope: str
    domain: str
    status: str
    updated: date | None
    summary: str
    keywords: tuple[str, ...]


class WikiGraph:
    """Made by :meth:`from_pages`. Drafts have no node. Everything it answers is sorted or ranked, ties by path."""

    def __init__(self, policy: GraphPolicy) -> None:
        self.policy = policy
        self._pages: dict[str, WikiPage] = {}
        self._resolver = LinkResolver(())
        self._notes = PageNotes(folded_terms(policy.stop_terms))
        self._specific: dict[str, int] = {}
        self._adjacent: dict[str, dict[str, Edge]] = {}
        self._former: dict[Pair, Edge | None] = {}
        self._groups: Groups | None = None

    @classmethod
    def from_pages(cls, pages: Iterable[WikiPage], policy: GraphPolicy | None = None) -> WikiGraph:
        """The graph of exactly these pages, drafts left out; links are resolved among them."""
        graph = cls(policy or GraphPolicy())
        graph._pages = {page.path: page for page in pages if not page.is_draft}
        graph._resolver = LinkResolver(graph._pages.values())
        for page in graph._pages.values():
            graph._notes.note(page, graph._resolver)
        graph._specific = graph._specific_now()
        graph._adjacent = {path: {} for path in graph._pages}
        graph._connect_all()
        return graph

    # -- questions ---------------------------------------------------------------------------------------------------

    @property
    def nodes(self) -> tuple[PageNode, ...]:
        """Sorted by path."""
        return tuple(self.node(path) for path in sorted(self._pages))

    @property
    def edges(self) -> tuple[Edge, ...]:
        """Sorted by source, then target."""
        return tuple(edge for path in sorted(self._adjacent) for edge in self._outward(path))

    def __len__(self) -> int:
        return len(self._pages)

    def __contains__(self, path: object) -> bool:
        return path in self._pages

    def node(self, path: str) -> PageNode:
        """Raises KeyError for a page that has no node."""
        page = self._pages[path]
        return PageNode(
            path=path,
            title=page.title,
            scope=page.scope,
            domain=page.domain,
            status=page.status.value if page.status else "",
            updated=page.updated,
            summary=page.summary,
            keywords=page.keywords,
        )

    def edges_of(self, path: str) -> tuple[Edge, ...]:
        """Edges of one page, strongest first."""
        found = self._adjacent[path].values()
        return tuple(sorted(found, key=lambda edge: (edge.confidence.value, -edge.weight, edge.source, edge.target)))

    def neighbours(self, path: str, depth: int = 1) -> dict[str, int]:
        """Pages within ``depth`` steps with their distance, nearest first. Raises KeyError for an unknown page."""
        distance = {path: 0}
        frontier = [path]
        self._pages[path]
        for step in range(1, depth + 1):
            frontier = sorted({near for here in frontier for near in self._adjacent[here] if near not in distance})
            distance.update(dict.fromkeys(frontier, step))
        del distance[path]
        return distance

    def shortest_path(self, start: str, end: str) -> tuple[Edge, ...] | None:
        """Edges of a shortest way from one page to another; None when there is none, () from a page to itself.

        Of ways of equal length the one with fewest INFERRED edges, then the first by path. Breadth first from
        ``start``: milliseconds at 10,000 pages, without networkx.
        """
        reached: dict[str, tuple[int, str]] = {start: (0, "")}
        self._pages[start], self._pages[end]
        frontier = [start]
        while frontier and end not in reached:
            following: dict[str, tuple[int, str]] = {}
            for here in frontier:
                for near, edge in self._adjacent[here].items():
                    if near not in reached:
                        cost = (reached[here][0] + (edge.confidence is Confidence.INFERRED), here)
                        following[near] = min(cost, following.get(near, cost))
            reached.update(following)
            frontier = list(following)
        if end not in reached:
            return None
        way: list[Edge] = []
        while end != start:
            before = reached[end][1]
            way.append(self._adjacent[before][end])
            end = before
        return tuple(reversed(way))

    def central(self, count: int = 10) -> tuple[tuple[str, float], ...]:
        """The pages with the greatest sum of edge weights."""
        degrees = ((path, round(sum(edge.weight for edge in near.values()), 6)) for path, near in self._adjacent.items())
        return tuple(sorted(degrees, key=lambda item: (-item[1], item[0]))[:count])

    def orphans(self) -> tuple[str, ...]:
        """Pages that no link or ``related`` ties to another, sorted; shared words alone do not lead a reader there."""
        return tuple(
            path
            for path in sorted(self._adjacent)
            if not any(edge.confidence is Confidence.EXTRACTED for edge in self._adjacent[path].values())
        )

    def communities(self) -> tuple[Community, ...]:
        """Groups of at least two pages, largest first; none in a wiki of fewer pages than the policy says."""
        return name_groups(self.groups(), {path: page.keywords for path, page in self._pages.items()})

    def groups(self) -> Groups:
        """The communities' pages, found once for each state of the edges."""
        if self._groups is None:
            few = len(self._pages) < self.policy.communities_from
            self._groups = () if few else find_groups(sorted(self._pages), self.edges, self.policy.seed)
        return self._groups

    def adopt_groups(self, groups: Groups) -> None:
        """Take over groups that were found for a graph of equal :meth:`topology`, which spares Louvain."""
        self._groups = groups

    def topology(self) -> str:
        """Hash of all that the groups depend on: nodes, edges, weights, policy."""
        digest = hashlib.sha256(f"{self.policy.communities_from} {self.policy.seed}\n".encode())
        digest.update("\0".join(sorted(self._pages)).encode("utf-8", "surrogatepass"))
        for edge in self.edges:
            digest.update(f"\n{edge.source}\0{edge.target}\0{edge.weight}".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    def networkx(self) -> nx.Graph[str]:
        """A copy as a networkx graph, for questions that are not answered here."""
        return to_networkx(sorted(self._pages), self.edges)

    # -- upkeep ------------------------------------------------------------------------------------------------------

    def update(self, changed: Iterable[WikiPage], removed: Iterable[str] = ()) -> frozenset[str]:
        """Bring the graph to the state that a rebuild would give after these pages changed, appeared or went.

        Returns the pages that still have a node and whose edges are not what they were.
        """
        given = {page.path: page for page in changed}
        new = {path: page for path, page in given.items() if not page.is_draft}
        gone = {path for path in (*removed, *given) if path in self._pages and path not in new}
        renamed = self._names_that_lead_elsewhere(new, gone)
        node_count = len(self._pages)
        self._former = {}
        for path in (*new, *gone):
            self._release(path)
        for path in gone:
            del self._adjacent[path], self._pages[path]
        self._pages.update(new)
        for path in new:
            self._adjacent.setdefault(path, {})
        # Headings do not matter to edges: a resolver of the same names stays good.
        if renamed:
            self._resolver = LinkResolver(self._pages.values())
        affected = self._notes.askers(renamed) - set(new)
        for path in affected:
            self._release(path)
        for path in (*new, *affected):
            self._notes.note(self._pages[path], self._resolver)
        self._reconnect({*new, *affected})
        different = {end for pair, edge in self._former.items() if self._edge_now(pair) != edge for end in pair}
        if different or len(self._pages) != node_count:
            self._groups = None
        return frozenset(different & self._pages.keys())

    def _names_that_lead_elsewhere(self, new: Mapping[str, WikiPage], gone: Iterable[str]) -> set[str]:
        names = {name for path in gone for name in names_of(self._pages[path])}
        for path, page in new.items():
            before = names_of(self._pages[path]) if path in self._pages else frozenset()
            names |= before ^ names_of(page)
        return {name for _, name in names}

    def _release(self, path: str) -> None:
        """Forget what was noted of a page, and its edges; the node stays."""
        if path in self._pages:
            self._notes.forget(self._pages[path])
            for near in list(self._adjacent[path]):
                self._disconnect((path, near) if path < near else (near, path))

    def _reconnect(self, touched: set[str]) -> None:
        """Make anew the edges of the touched pages and of those whose shared terms count differently now."""
        before, self._specific = self._specific, self._specific_now()
        pairs: set[Pair] = set()
        for term in {term for term, _ in before.items() ^ self._specific.items()}:
            pairs.update(combinations(sorted(self._notes.pages_by_term.get(term, ())), 2))
        for path in touched:
            near = self._notes.linked(path)
            for term in self._notes.terms(path):
                if term in self._specific:
                    near |= self._notes.pages_by_term[term]
            pairs.update((path, other) if path < other else (other, path) for other in near if other != path)
        for pair in pairs:
            self._disconnect(pair)
            edge = self._edge(*pair)
            if edge is not None:
                self._connect(edge)

    # -- edges -------------------------------------------------------------------------------------------------------

    def _connect_all(self) -> None:
        for path, targets in self._notes.outgoing():
            for target in targets:
                if target not in self._adjacent[path]:
                    self._connect(self._stated(*sorted((path, target))))
        shared: dict[Pair, list[str]] = {}
        for term in self._specific:
            for pair in combinations(sorted(self._notes.pages_by_term[term]), 2):
                shared.setdefault(pair, []).append(term)
        for (source, target), terms in shared.items():
            if target not in self._adjacent[source]:
                self._connect(self._inferred(source, target, terms))

    def _specific_now(self) -> dict[str, int]:
        return specific_terms(self._notes.pages_by_term, len(self._pages), self.policy)

    def _edge(self, source: str, target: str) -> Edge | None:
        """What the notes say of a pair, ``source < target``."""
        if self._notes.mentions(source, target) or self._notes.mentions(target, source):
            return self._stated(source, target)
        shared = self._notes.terms(source) & self._notes.terms(target)
        terms = [term for term in shared if term in self._specific]
        return self._inferred(source, target, terms) if terms else None

    def _stated(self, source: str, target: str) -> Edge:
        forth, back = self._notes.mentions(source, target), self._notes.mentions(target, source)
        comments = dict.fromkeys(mention.comment for mention in (*forth, *back) if mention.comment)
        return Edge(
            source,
            target,
            Confidence.EXTRACTED,
            tuple(sorted({mention.kind for mention in (*forth, *back)})),
            1.0,
            " / ".join(comments) or None,
            tuple(path for path, said in ((source, forth), (target, back)) if said),
        )

    def _inferred(self, source: str, target: str, terms: Iterable[str]) -> Edge:
        kinds = tuple(sorted(terms))
        return Edge(source, target, Confidence.INFERRED, kinds, shared_weight(self._specific[term] for term in kinds))

    def _connect(self, edge: Edge) -> None:
        self._former.setdefault((edge.source, edge.target), None)
        self._adjacent[edge.source][edge.target] = edge
        self._adjacent[edge.target][edge.source] = edge

    def _disconnect(self, pair: Pair) -> None:
        edge = self._adjacent[pair[0]].pop(pair[1], None)
        if edge is not None:
            self._former.setdefault(pair, edge)
            del self._adjacent[pair[1]][pair[0]]

    def _edge_now(self, pair: Pair) -> Edge | None:
        return self._adjacent.get(pair[0], {}).get(pair[1])

    def _outward(self, path: str) -> Iterator[Edge]:
        """Edges whose source is the page, by target."""
        near = self._adjacent[path]
        for other in sorted(other for other in near if path < other):
            yield near[other]
