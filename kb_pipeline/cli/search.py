"""``kb search``: the published pages that answer a question."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from kb_pipeline.cli.console import note, open_project, out, out_json
from kb_pipeline.cli.options import JsonOption, ProjectOption
from kb_pipeline.errors import UsageError

if TYPE_CHECKING:
    from kb_pipeline.bootstrap import Project
    from kb_pipeline.models import SearchAnswer, SearchHit

DEGRADED = {
    "vector_unavailable_fallback_to_keyword": "the vectors could not be asked: these were found by their words alone",
    "embeddings_incomplete": "some sections have no vector yet: kb build --only-embeddings makes them",
    "graph_unavailable": "the graph could not be read: no page was lifted by its neighbours",
}


def search(
    query: Annotated[str, typer.Argument(help="A question or words; text, never syntax.")],
    project: ProjectOption = None,
    hybrid: Annotated[bool, typer.Option("--hybrid", help="By meaning too: uses the vectors in the database.")] = False,
    top_k: Annotated[int | None, typer.Option("--top-k", "-k", help="How many pages.", min=1, max=100)] = None,
    as_json: JsonOption = False,
) -> None:
    """Find pages, in Chinese and English at once.

    Keywords alone need neither database nor model; --hybrid asks the vectors too.
    """
    if not query.strip():
        raise UsageError("the query is empty; write a question or some words")
    kb = open_project(project)
    answer = kb.search(query, top_k or kb.settings.retrieval.top_k, hybrid=hybrid)
    if as_json:
        found = asdict(answer)
        for hit in found["results"]:
            hit["updated"] = hit["updated"].isoformat() if hit["updated"] else None
        out_json(found)
        return
    out("\n".join(_shown(number, hit) for number, hit in enumerate(answer.results, start=1)) or "nothing found")
    _remarks(kb, answer)


def _shown(number: int, hit: SearchHit) -> str:
    marks = "".join((" [deprecated]" if hit.status == "deprecated" else "", " [stale]" if hit.stale else ""))
    where = f" › {hit.section_title}" if hit.section_title and hit.section_title != hit.title else ""
    return f"{number}. {hit.title}{where} [{hit.scope}]{marks}  {hit.score:.2f}\n   {hit.address}\n   {hit.snippet}"


def _remarks(kb: Project, answer: SearchAnswer) -> None:
    for code in answer.degradation:
        note(DEGRADED.get(code, code))
    if any(hit.stale for hit in answer.results):
        note("[stale]: the page was changed after it was published; kb build publishes it")
    snapshot = kb.snapshot()
    note(f"snapshot {answer.snapshot_id}, {kb.age_text(snapshot)} old")
