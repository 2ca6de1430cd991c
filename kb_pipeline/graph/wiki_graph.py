"""``WikiGraph``: pages as nodes, one undirected edge a pair, kept up to date page by page (SPEC 11).

Belongs here: building, updating and asking the graph. Does not belong here: what makes a term specific (``terms``), how
references are read (``references``), JSON and HTML (``export``, ``render``). A graph is always made from pages: nothing
reads ``graph.json`` back.

Edges are not stored: they follow from the notes taken of each page (``notes``), so that a graph that was updated page by
page cannot differ from one built at once. Building costs 0.7 s for 10,000 pages; an update costs the pages given and
those whose links may now lead elsewhere.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from kb_pipeline.graph.communities import Community, Groups, find_groups, name_groups, strongest, to_networkx
from kb_pipeline.graph.notes import PageNotes
from kb_pipeline.graph.references import names_of
from kb_pipeline.graph.terms import GraphPolicy, folded_terms, shared_weight, specific_terms
from kb_pipeline.markdown.links import LinkResolver
from kb_pipeline.models import Confidence, Edge, WikiPage

if TYPE_CHECKING:
    import networkx as nx

_COMMUNITY_EDGES = 6
"""INFERRED edges a page that count for communities: the weaker ones cost time and move nothing."""


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
        self._edges: tuple[Edge, ...] | None = None
        self._topology: str | None = None
        self._groups: tuple[str, Groups] | None = None

    @classmethod
    def from_pages(cls, pages: Iterable[WikiPage], policy: GraphPolicy | None = None) -> WikiGraph:
        """The graph of exactly these pages, drafts left out; links are resolved among them."""
        graph = cls(policy or GraphPolicy())
        graph._pages = {page.path: page for page in pages if not page.is_draft}
        graph._resolver = LinkResolver(graph._pages.values())
        for page in graph._pages.values():
            graph._notes.note(page, graph._resolver)
        graph._specific = specific_terms(graph._notes.pages_by_term, len(graph._pages), graph.policy)
        return graph

    # -- questions ---------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._pages)

    def __contains__(self, path: object) -> bool:
        return path in self._pages

    @property
    def nodes(self) -> tuple[PageNode, ...]:
        """Sorted by path."""
        return tuple(self.node(path) for path in sorted(self._pages))

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

    @property
    def edges(self) -> tuple[Edge, ...]:
        """Sorted by source, then target; kept until the next update."""
        if self._edges is None:
            self._edges = tuple(self._all_edges())
        return self._edges

    def edges_of(self, path: str) -> tuple[Edge, ...]:
        """Edges of one page, strongest first. Raises KeyError for an unknown page."""
        found = [self._edge(path, near) for near in self.adjacent(path)]
        return tuple(sorted(found, key=lambda edge: (edge.confidence.value, -edge.weight, edge.source, edge.target)))

    def adjacent(self, path: str) -> set[str]:
        """Pages that share an edge with a page. Raises KeyError for an unknown page."""
        near = self._notes.linked(path)
        for term in self._notes.terms(path):
            if term in self._specific:
                near |= self._notes.pages_by_term[term]
        near.discard(path)
        return near

    def neighbours(self, path: str, depth: int = 1) -> dict[str, int]:
        """Pages within ``depth`` steps with their distance, nearest first. Raises KeyError for an unknown page."""
        distance = {path: 0}
        frontier = [path]
        for step in range(1, depth + 1):
            frontier = sorted({near for here in frontier for near in self.adjacent(here) if near not in distance})
            distance.update(dict.fromkeys(frontier, step))
        del distance[path]
        return distance

    def shortest_path(self, start: str, end: str) -> tuple[Edge, ...] | None:
        """Edges of a shortest way from one page to another; None when there is none, () from a page to itself.

        Of ways of equal length the one with fewest INFERRED edges, ties by path. Raises KeyError for an unknown page.
        Breadth first from ``start``: milliseconds at 10,000 pages, without networkx.
        """
        for path in (start, end):
            if path not in self._pages:
                raise KeyError(path)
        reached: dict[str, tuple[int, str]] = {start: (0, "")}
        frontier = [start]
        while frontier and end not in reached:
            following: dict[str, tuple[int, str]] = {}
            for here in frontier:
                linked = self._notes.linked(here)
                for near in self.adjacent(here):
                    if near not in reached:
                        cost = (reached[here][0] + (near not in linked), here)
                        following[near] = min(cost, following.get(near, cost))
            reached.update(following)
            frontier = list(following)
        if end not in reached:
            return None
        way: list[Edge] = []
        while end != start:
            before = reached[end][1]
            way.append(self._edge(before, end))
            end = before
        return tuple(reversed(way))

    def central(self, count: int = 10) -> tuple[tuple[str, float], ...]:
        """The pages with the greatest sum of edge weights."""
        degrees = dict.fromkeys(self._pages, 0.0)
        for edge in self.edges:
            degrees[edge.source] += edge.weight
            degrees[edge.target] += edge.weight
        ranked = sorted(degrees.items(), key=lambda item: (-round(item[1], 6), item[0]))
        return tuple((path, round(degree, 6)) for path, degree in ranked[:count])

    def orphans(self) -> tuple[str, ...]:
        """Pages that no link or ``related`` ties to another, sorted; shared words alone do not lead a reader there."""
        return tuple(path for path in sorted(self._pages) if not self._notes.linked(path))

    def communities(self) -> tuple[Community, ...]:
        """Groups of at least two pages, largest first; none in a wiki of fewer pages than the policy says."""
        return name_groups(self.groups(), {path: page.keywords for path, page in self._pages.items()})

    def groups(self) -> Groups:
        """The pages of each community, found anew only when :meth:`topology` changed."""
        topology = self.topology()
        if self._groups is None or self._groups[0] != topology:
            found: Groups = ()
            if len(self._pages) >= self.policy.communities_from:
                found = find_groups(strongest(self.edges, _COMMUNITY_EDGES), self.policy.seed)
            self._groups = (topology, found)
        return self._groups[1]

    def adopt_groups(self, topology: str, groups: Groups) -> None:
        """Take over groups found earlier, perhaps by another process; they count while :meth:`topology` is that one."""
        self._groups = (topology, groups)

    def topology(self) -> str:
        """Hash of all that edges and groups follow from."""
        if self._topology is None:
            shared = {term: sorted(self._notes.pages_by_term[term]) for term in sorted(self._specific)}
            linked = {path: sorted(targets) for path, targets in sorted(self._notes.outgoing()) if targets}
            known = [self.policy.communities_from, self.policy.seed, sorted(self._pages), linked, shared]
            self._topology = hashlib.sha256(json.dumps(known, separators=(",", ":")).encode()).hexdigest()
        return self._topology

    def signature(self) -> str:
        """Hash of all that JSON and page are made of: :meth:`topology`, what nodes show, kinds and comments of links."""
        nodes = [
            [node.title, node.scope, node.status, str(node.updated), node.summary, node.keywords] for node in self.nodes
        ]
        linked = [
            [path, target, [(mention.kind, mention.comment) for mention in self._notes.mentions(path, target)]]
            for path, targets in sorted(self._notes.outgoing())
            for target in sorted(targets)
        ]
        known = json.dumps([self.topology(), nodes, linked], separators=(",", ":"))
        return hashlib.sha256(known.encode()).hexdigest()

    def networkx(self) -> nx.Graph[str]:
        """A copy as a networkx graph, for questions that are not answered here."""
        return to_networkx(sorted(self._pages), self.edges)

    # -- upkeep ------------------------------------------------------------------------------------------------------

    def update(self, changed: Iterable[WikiPage], removed: Iterable[str] = ()) -> frozenset[str]:
        """Bring the graph to the state that a rebuild would give after these pages changed, appeared or went.

        Returns the pages whose references were read: those that changed, and those of which a link may lead elsewhere
        because a name appeared, went or moved.
        """
        given = {page.path: page for page in changed}
        new = {path: page for path, page in given.items() if not page.is_draft}
        gone = {path for path in (*removed, *given) if path in self._pages and path not in new}
        moved_names = self._names_that_lead_elsewhere(new, gone)
        affected = self._notes.askers(moved_names, self._pages.values()) - new.keys() - gone
        for path in (*new, *gone, *affected):
            if path in self._pages:
                self._notes.forget(self._pages[path])
        for path in gone:
            del self._pages[path]
        self._pages.update(new)
        # Headings do not matter to edges: a resolver of the same names stays good.
        if moved_names:
            self._resolver = LinkResolver(self._pages.values())
        for path in (*new, *affected):
            self._notes.note(self._pages[path], self._resolver)
        self._specific = specific_terms(self._notes.pages_by_term, len(self._pages), self.policy)
        self._edges = self._topology = None
        return frozenset({*new, *affected})

    def _names_that_lead_elsewhere(self, new: Mapping[str, WikiPage], gone: Iterable[str]) -> set[str]:
        names = {name for path in gone for name in names_of(self._pages[path])}
        for path, page in new.items():
            before = names_of(self._pages[path]) if path in self._pages else frozenset()
            names |= before ^ names_of(page)
        return {name for _, name in names}

    # -- edges -------------------------------------------------------------------------------------------------------

    def _all_edges(self) -> Iterator[Edge]:
        shared: dict[str, dict[str, list[str]]] = {path: {} for path in self._pages}
        for term in self._specific:
            members = sorted(self._notes.pages_by_term[term])
            for at, source in enumerate(members, 1):
                targets = shared[source]
                for target in members[at:]:
                    targets.setdefault(target, []).append(term)
        for source in sorted(self._pages):
            inferred = shared[source]
            linked = self._notes.linked(source)
            for target in sorted({*inferred, *(near for near in linked if source < near)}):
                if target in linked:
                    yield self._stated(source, target)
                else:
                    yield self._inferred(source, target, inferred[target])

    def _edge(self, one: str, other: str) -> Edge:
        """The edge of a pair that has one."""
        source, target = (one, other) if one < other else (other, one)
        if other in self._notes.linked(one):
            return self._stated(source, target)
        shared = self._notes.terms(source) & self._notes.terms(target)
        return self._inferred(source, target, [term for term in shared if term in self._specific])

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

    def _inferred(self, source: str, target: str, terms: list[str]) -> Edge:
        terms.sort()
        weight = shared_weight(tuple(sorted(self._specific[term] for term in terms)))
        return Edge(source, target, Confidence.INFERRED, tuple(terms), weight)
