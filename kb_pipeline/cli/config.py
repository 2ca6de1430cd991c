"""``kb config``: every effective setting and where it comes from."""

from __future__ import annotations

from kb_pipeline.cli.console import open_project, out, out_json, table
from kb_pipeline.cli.options import JsonOption, ProjectOption


def config(project: ProjectOption = None, as_json: JsonOption = False) -> None:
    """Every effective setting and its origin.

    Flag, environment, kb.yml with the line, or default; passwords are masked.
    """
    settings = open_project(project).settings
    masked, origins = settings.masked(), settings.origins
    if as_json:
        out_json({key: {"value": value, "origin": origins.get(key, "default")} for key, value in masked.items()})
        return
    out(table([(key, value, origins.get(key, "default")) for key, value in masked.items()], ("key", "value", "origin")))
