"""``kb manifest``: the published list of pages that a model chooses from."""

from __future__ import annotations

from typing import Annotated

import typer

from kb_pipeline.cli.console import open_project, out, out_json, table
from kb_pipeline.cli.options import JsonOption, ProjectOption


def manifest(
    project: ProjectOption = None,
    domain: Annotated[str | None, typer.Option("--domain", help="Only this domain's part.")] = None,
    report: Annotated[bool, typer.Option("--report", help="Size, fattest pages and pages left out.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Print the manifest of the published snapshot, whole or one domain."""
    snapshot = open_project(project).snapshot()
    found = snapshot.manifest_report
    if report or as_json:
        if as_json:
            out_json({"snapshot": snapshot.id, "manifest": snapshot.manifest_text(domain), "report": found})
        else:
            out(table([(key, str(value)) for key, value in found.items()]))
        return
    out(snapshot.manifest_text(domain))
