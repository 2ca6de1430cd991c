"""``kb manifest``: the published list of pages that a model chooses from."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from kb_pipeline.cli.console import open_project, out, out_json, table
from kb_pipeline.cli.options import JsonOption, ProjectOption
from kb_pipeline.errors import UsageError


def manifest(
    project: ProjectOption = None,
    domain: Annotated[str | None, typer.Option("--domain", help="Only this domain's part.")] = None,
    report: Annotated[bool, typer.Option("--report", help="Size, fattest pages and pages left out.")] = False,
    as_json: JsonOption = False,
) -> None:
    """The published list of pages, for a model.

    Whole, or one domain; --report tells its size and which pages cost most.
    """
    snapshot = open_project(project).snapshot()
    figures = json.loads(snapshot.text("manifest.json"))
    names = figures.pop("domains")
    if domain is not None and domain not in names:
        raise UsageError(f'no domain "{domain}"; there are: {", ".join(names)}')
    text = snapshot.text("manifest.txt" if domain is None else names[domain])
    if as_json:
        out_json({"snapshot": snapshot.id, "manifest": text, "report": figures})
    elif report:
        fattest, left_out = figures.pop("fattest"), figures.pop("left_out")
        out(table([(key.replace("_", " "), str(value)) for key, value in figures.items()]))
        out("\n" + table([(path, str(tokens)) for path, tokens in fattest], ("fattest pages", "tokens (estimate)")))
        if left_out:
            out("\n" + table([(path, reason) for path, reason in left_out.items()], ("left out", "why")))
    else:
        out(text)
