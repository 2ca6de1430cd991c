"""The graph as one interactive page that needs nothing but itself: no network, no other file (SPEC 10, 11).

Belongs here: which parts of the graph the page gets, first positions, safe embedding. Does not belong here: how the page
draws and reacts (``page/*.js``, ``page/graph.css``).
"""

from __future__ import annotations

import hashlib
import html
import json
import math
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.resources import files
from string import Template

from kb_pipeline.graph.communities import Community, strongest
from kb_pipeline.graph.wiki_graph import PageNode, WikiGraph
from kb_pipeline.models import Confidence, Edge

FORMAT = 1
"""Raised with every change here that makes another page of the same graph."""
_SCRIPTS = ("layout.js", "view.js", "controls.js")
_DRAWN_INFERRED = 4
"""INFERRED edges drawn a page where there are many: more of them make a grey cloud."""
_MANY_EDGES = 1_500
_GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))
_TITLES = {"zh-TW": "知識圖譜", "en": "Knowledge graph"}
_NOSCRIPT = {"zh-TW": "這一頁需要 JavaScript；內容見 graph.json。", "en": "This page needs JavaScript; see graph.json."}


def render_html(graph: WikiGraph, language: str = "zh-TW") -> str:
    """The page, labels in ``language`` first (zh-TW or en; the reader can switch). Equal graphs give equal bytes."""
    language = language if language in _TITLES else "en"
    style = _asset("graph.css")
    script = "(() => {\n" + "\n".join(_asset(name).replace('"use strict";\n', "") for name in _SCRIPTS) + "})();\n"
    return Template(_asset("graph.html")).substitute(
        language=language,
        title=html.escape(_TITLES[language]),
        noscript=html.escape(_NOSCRIPT[language]),
        style=style,
        style_hash=_csp_hash(style),
        script=script,
        script_hash=_csp_hash(script),
        graph=embed_json(_content(graph, language)),
    )


def page_version() -> str:
    """Changes with anything that makes another page of the same graph."""
    parts = [str(FORMAT), *map(_asset, (*_SCRIPTS, "graph.css", "graph.html"))]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def embed_json(value: object) -> str:
    """JSON that may stand inside a ``script`` element: nothing in it can close the element or begin a comment."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def _content(graph: WikiGraph, language: str) -> dict[str, object]:
    nodes, communities, edges = graph.nodes, graph.communities(), graph.edges
    drawn = strongest(edges, _DRAWN_INFERRED) if len(edges) > _MANY_EDGES else edges
    number = {node.path: at for at, node in enumerate(nodes)}
    member_of = {path: at for at, group in enumerate(communities) for path in group.pages}
    domains = _by_frequency(node.domain for node in nodes)
    scopes = _by_frequency(node.scope for node in nodes)
    kinds = _by_frequency(kind for edge in drawn for kind in edge.kinds)
    places = first_positions(nodes, communities)
    return {
        "language": language,
        "domains": domains,
        "scopes": scopes,
        "kinds": kinds,
        "communities": [group.name for group in communities],
        "omitted": len(edges) - len(drawn),
        "nodes": _node_rows(nodes, _numbers(domains), _numbers(scopes), member_of, places),
        "edges": _edge_rows(drawn, number, _numbers(kinds)),
    }


def _node_rows(
    nodes: Sequence[PageNode],
    domains: dict[str, int],
    scopes: dict[str, int],
    member_of: dict[str, int],
    places: Sequence[tuple[float, float]],
) -> list[list[object]]:
    return [
        [
            node.path,
            node.title,
            domains[node.domain],
            scopes[node.scope],
            int(node.status == "deprecated"),
            node.updated.isoformat() if node.updated else "",
            node.summary,
            node.keywords,
            member_of.get(node.path, -1),
            *place,
        ]
        for node, place in zip(nodes, places, strict=True)
    ]


def _edge_rows(edges: Sequence[Edge], number: dict[str, int], kinds: dict[str, int]) -> list[list[object]]:
    return [
        [
            number[edge.source],
            number[edge.target],
            int(edge.confidence is Confidence.INFERRED),
            edge.weight,
            [kinds[kind] for kind in edge.kinds],
            edge.comment or "",
        ]
        for edge in edges
    ]


def first_positions(nodes: Sequence[PageNode], communities: Sequence[Community]) -> list[tuple[float, float]]:
    """Where each node starts: its community's members in a disc, the discs around the middle, the largest inside.

    Seeds of a sunflower (Vogel 1979) fill each disc evenly. Below the size for communities, domains take their place.
    """
    groups = [list(group.pages) for group in communities]
    grouped = {path for group in groups for path in group}
    rest: dict[str, list[str]] = {}
    for node in nodes:
        if node.path not in grouped:
            rest.setdefault("" if communities else node.domain, []).append(node.path)
    groups += [paths for _, paths in sorted(rest.items(), key=lambda item: (-len(item[1]), item[0]))]
    place: dict[str, tuple[float, float]] = {}
    filled = 0
    for turn, group in enumerate(groups):
        distance = 26 * math.sqrt(filled * 2.2 + (len(group) if turn else 0))
        middle = (distance * math.cos(turn * _GOLDEN_ANGLE), distance * math.sin(turn * _GOLDEN_ANGLE))
        for at, path in enumerate(group):
            radius, angle = 22 * math.sqrt(at + 0.5), at * _GOLDEN_ANGLE
            place[path] = (
                round(middle[0] + radius * math.cos(angle), 1),
                round(middle[1] + radius * math.sin(angle), 1),
            )
        filled += len(group)
    return [place[node.path] for node in nodes]


def _by_frequency(values: Iterable[str]) -> list[str]:
    counts = Counter(values)
    return sorted(counts, key=lambda value: (-counts[value], value))


def _numbers(values: Sequence[str]) -> dict[str, int]:
    return {value: at for at, value in enumerate(values)}


def _asset(name: str) -> str:
    return (files("kb_pipeline.graph") / "page" / name).read_text(encoding="utf-8")


def _csp_hash(text: str) -> str:
    return b64encode(hashlib.sha256(text.encode()).digest()).decode()
