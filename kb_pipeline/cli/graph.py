"""``kb graph``: neighbours, paths and communities of the published pages."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated

import typer

from kb_pipeline.cli.console import open_project, out, out_json, table
from kb_pipeline.cli.options import JsonOption, ProjectOption
from kb_pipeline.errors import UsageError

if TYPE_CHECKING:
    from kb_pipeline.graph.wiki_graph import WikiGraph
    from kb_pipeline.models import Edge


def graph(
    page: Annotated[str | None, typer.Argument(help="A page: show its neighbours.")] = None,
    to: Annotated[str | None, typer.Option("--to", help="Another page: show the shortest path to it.")] = None,
    depth: Annotated[int, typer.Option("--depth", help="How many steps from PAGE.", min=1, max=5)] = 1,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show how pages hang together. Without PAGE: communities, central pages and orphans."""
    kb = open_project(project)
    wiki = kb.graph()
    if page is None:
        _overview(wiki, as_json=as_json, html=str(kb.settings.build / "graph.html"))
        return
    start = _page(wiki, page)
    if to is not None:
        _path(wiki, start, _page(wiki, to), as_json=as_json)
        return
    near = wiki.neighbours(start, depth)
    if as_json:
        out_json({"page": start, "depth": depth, "neighbours": near})
    else:
        out(table([(str(steps), path) for path, steps in near.items()], ("steps", "page")) if near else "no neighbours")


def _path(wiki: WikiGraph, start: str, end: str, *, as_json: bool) -> None:
    edges = wiki.shortest_path(start, end)
    if as_json:
        out_json({"from": start, "to": end, "edges": None if edges is None else [_edge(edge) for edge in edges]})
        return
    if edges is None:
        out(f"no path between {start} and {end}")
        return
    here, lines = start, [start]
    for edge in edges:
        here = edge.target if edge.source == here else edge.source
        lines.append(f"  {', '.join(edge.kinds)}{f' ({edge.comment})' if edge.comment else ''}\n{here}")
    out("\n".join(lines))


def _edge(edge: Edge) -> dict[str, object]:
    return {
        "source": edge.source,
        "target": edge.target,
        "confidence": edge.confidence.value,
        "kinds": list(edge.kinds),
        "weight": edge.weight,
        "comment": edge.comment,
    }


def _overview(wiki: WikiGraph, *, as_json: bool, html: str) -> None:
    communities = wiki.communities()
    central, orphans = wiki.central(10), wiki.orphans()
    if as_json:
        out_json(
            {
                "pages": len(wiki),
                "edges": len(wiki.edges),
                "communities": [{"name": group.name, "pages": list(group.pages)} for group in communities],
                "central": [{"page": path, "centrality": share} for path, share in central],
                "orphans": list(orphans),
            }
        )
        return
    lines = [f"{len(wiki)} pages, {len(wiki.edges)} edges; drawn in {html}"]
    if communities:
        lines += ["", table([(group.name, str(len(group.pages))) for group in communities], ("community", "pages"))]
    lines += ["", table([(path, f"{share:.3f}") for path, share in central], ("central page", "centrality"))]
    if orphans:
        lines += ["", f"{len(orphans)} orphans: {', '.join(orphans)}"]
    out("\n".join(lines))


def _page(wiki: WikiGraph, written: str) -> str:
    """The page of that path, with or without its suffix."""
    for path in (written, f"{written}.md"):
        if path in wiki:
            return path
    close = get_close_matches(written, [node.path for node in wiki.nodes], n=1)
    raise UsageError(f'no published page "{written}"' + (f'; did you mean "{close[0]}"?' if close else ""))
