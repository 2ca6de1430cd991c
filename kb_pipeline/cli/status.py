"""``kb status``: the state of every document, what is published and how old it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kb_pipeline.cli.console import Exit, open_project, out, out_json, table
from kb_pipeline.cli.options import JsonOption, ProjectOption

if TYPE_CHECKING:
    from kb_pipeline.bootstrap import PlannedBuild, Project
    from kb_pipeline.planning.state import DocumentStatus

QUIET = {"unchanged", "ingested"}
SHOWN = 20


def status(
    project: ProjectOption = None,
    every: Annotated[bool, typer.Option("--all", help="List unchanged and ignored documents too.")] = False,
    as_json: JsonOption = False,
) -> None:
    """State of every document, and why.

    New, changed, held, failed, ignored; what is published and how old it is. Looks at the disk alone.
    """
    from kb_pipeline.planning.state import count_states, document_states

    kb = open_project(project)
    planned = kb.plan()
    states = document_states(planned.plan, planned.pages.values())
    counts = {state.value: count for state, count in count_states(states).items()}
    snapshot = kb.snapshot_or_none()
    if as_json:
        out_json(
            {
                "documents": [_as_json(item) for item in states],
                "counts": counts,
                "pages": len(planned.pages),
                "build_needed": not kb.is_current(planned),
                "snapshot": None
                if snapshot is None
                else {"id": snapshot.id, "age_seconds": round(snapshot.age_seconds(kb.clock.now()))},
                "pages_refused": dict(kb.pages.refused),
                "review_problems": [problem.message for problem in planned.review_problems],
            }
        )
    else:
        out(_as_text(kb, planned, states, counts, every=every))
    if any(item.state.value == "failed" for item in states):
        raise typer.Exit(Exit.PARTIAL)


def _as_json(item: DocumentStatus) -> dict[str, object]:
    return {"document": item.document, "state": item.state.value, "reason": item.reason, "pages": list(item.pages)}


def _as_text(
    kb: Project, planned: PlannedBuild, states: list[DocumentStatus], counts: dict[str, int], *, every: bool
) -> str:
    lines = [
        f"{len(states)} documents: " + (", ".join(f"{count} {state}" for state, count in counts.items()) or "none")
    ]
    told = [
        item for item in states if every or item.state.value not in QUIET | {"ignored"} or "outdated" in item.reason
    ]
    shown = told if every else told[:SHOWN]
    if shown:
        lines += ["", table([(item.state.value, item.document, item.reason) for item in shown])]
    if len(told) > len(shown):
        lines.append(f"… and {len(told) - len(shown)} more; kb status --all lists every one")
    if counts.get("ignored") and not every:
        lines.append(f"{counts['ignored']} ignored; kb status --all says why")
    lines += [f"{problem.path}: {problem.message}" for problem in planned.review_problems]
    lines += [f"not read as a page: {path}: {reason}" for path, reason in sorted(kb.pages.refused.items())]
    snapshot = kb.snapshot_or_none()
    if snapshot is None:
        lines += ["", "nothing is published yet; run: kb build"]
    else:
        lines += ["", f"published: snapshot {snapshot.id}, {len(snapshot.pages())} pages, {kb.age_text(snapshot)} old"]
        lines.append("up to date" if kb.is_current(planned) else "there is something to build; run: kb build")
    return "\n".join(lines)
