"""The graph as JSON for people and other programs: equal graphs give equal bytes (SPEC 10, 11).

Belongs here: the form of ``graph.json``. Does not belong here: writing the file (``storage``), the interactive page
(``render``). Nothing in the product reads this file back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from kb_pipeline.graph.wiki_graph import PageNode, WikiGraph
from kb_pipeline.models import Confidence, Edge

FORMAT = 1
_MOST_CENTRAL = 20


def to_json(graph: WikiGraph) -> str:
    """One node, edge and community a line, sorted; no time stamps. 0.5 s for 10,000 pages with 60,000 edges."""
    communities = graph.communities()
    member_of = {path: number for number, group in enumerate(communities) for path in group.pages}
    edges = graph.edges
    extracted = sum(edge.confidence is Confidence.EXTRACTED for edge in edges)
    counts = {
        "nodes": len(graph),
        "extracted": extracted,
        "inferred": len(edges) - extracted,
        "communities": len(communities),
    }
    parts = [
        f'"format": {FORMAT}',
        f'"counts": {_line(counts)}',
        _list("nodes", (_node(node, member_of) for node in graph.nodes)),
        _list("edges", map(_edge, edges)),
        _list(
            "communities",
            ({"id": number, "name": group.name, "pages": group.pages} for number, group in enumerate(communities)),
        ),
        _list("central", ({"id": path, "weight": weight} for path, weight in graph.central(_MOST_CENTRAL))),
        _list("orphans", graph.orphans()),
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _node(node: PageNode, member_of: Mapping[str, int]) -> dict[str, object]:
    return {
        "id": node.path,
        "title": node.title,
        "scope": node.scope,
        "domain": node.domain,
        "status": node.status,
        "updated": node.updated.isoformat() if node.updated else None,
        "community": member_of.get(node.path),
    }


def _edge(edge: Edge) -> dict[str, object]:
    shown: dict[str, object] = {
        "source": edge.source,
        "target": edge.target,
        "confidence": edge.confidence.value,
        "kinds": edge.kinds,
        "weight": edge.weight,
    }
    if edge.comment:
        shown["comment"] = edge.comment
    if edge.stated_by:
        shown["stated_by"] = edge.stated_by
    return shown


def _list(name: str, items: Iterable[object]) -> str:
    lines = ",\n".join(map(_line, items))
    return f'"{name}": [\n{lines}\n]' if lines else f'"{name}": []'


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(", ", ": "))


def _line(value: object) -> str:
    # A lone surrogate in a file's name could not be written as UTF-8.
    text = _ENCODER.encode(value)
    return text if text.isascii() or text.isprintable() else text.encode("utf-8", "backslashreplace").decode()
