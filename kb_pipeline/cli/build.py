"""``kb build``: bring the wiki and what is published up to date."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kb_pipeline.cli.console import Exit, StderrProgress, note, open_project, out, out_json, table
from kb_pipeline.errors import UsageError

if TYPE_CHECKING:
    from kb_pipeline.bootstrap import PlannedBuild, Project


def build(
    only: Annotated[list[str] | None, typer.Argument(help="Raw documents to confine the build to.", metavar="[RAW]...")] = None,
    project: Annotated[Path | None, typer.Option("--project", "-C", help="The project's folder.")] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Say what would be done, and do nothing.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Compile every document again.")] = False,
    upgrade: Annotated[bool, typer.Option("--upgrade", help="Compile pages made by another rewriter or other rules again.")] = False,
    only_embeddings: Annotated[bool, typer.Option("--only-embeddings", help="Make missing vectors, nothing else.")] = False,
    allow_mass_delete: Annotated[bool, typer.Option("--allow-mass-delete", help="Let a build remove many documents.")] = False,
    wait: Annotated[float, typer.Option("--wait", help="Seconds to wait for a build that is running.", min=0)] = 600.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Compile what changed under raw/, link it, embed it and publish. Does nothing when nothing changed."""
    started = time.monotonic()
    kb = open_project(project)
    kb.fetch_sources()
    planned = kb.plan(full=full, upgrade=upgrade, only=_known(kb, only))
    if plan:
        _show_plan(planned, as_json=as_json)
        return
    if not only_embeddings and not full and not upgrade and kb.is_current(planned):
        _finish(kb, planned, started, as_json=as_json, did=None)
    from kb_pipeline.defs.launch import BuildRequest, run_build

    request = BuildRequest(
        full=full,
        upgrade=upgrade,
        only=tuple(only or ()),
        allow_mass_delete=allow_mass_delete,
        only_embeddings=only_embeddings,
        wait=wait,
    )
    done = run_build(kb, request, StderrProgress())
    _finish(kb, kb.plan(), started, as_json=as_json, did=done)
