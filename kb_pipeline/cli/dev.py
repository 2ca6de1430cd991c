"""``kb dev``: the Dagster UI on this project."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from kb_pipeline.cli.console import note, open_project
from kb_pipeline.cli.options import ProjectOption
from kb_pipeline.errors import UsageError


def dev(
    project: ProjectOption = None,
    port: Annotated[int, typer.Option("--port", help="Port of the webserver.", min=1, max=65535)] = 3000,
    host: Annotated[str, typer.Option("--host", help="Address to listen on; the UI has no login.")] = "127.0.0.1",
) -> None:
    """Open the Dagster UI on this project.

    Webserver and daemon: lineage, partitions, checks, sensor and schedule in the browser. Ctrl-C ends both.
    """
    kb = open_project(project)
    program = Path(sys.executable).with_name("dagster")
    if not program.exists():
        raise UsageError(
            f"the dagster program is not beside {sys.executable}; install kb-pipeline into this environment"
        )
    if not (kb.root / "dagster.yaml").exists() or not (kb.root / "workspace.yaml").exists():
        raise UsageError(f"{kb.root} has no dagster.yaml and workspace.yaml; run: kb init --project {kb.root}")
    note(f"http://{host}:{port} shows this project once it says that it serves there; Ctrl-C ends it")
    environ = {**os.environ, "DAGSTER_HOME": str(kb.root), "DAGSTER_DISABLE_TELEMETRY": "1"}
    arguments = [str(program), "dev", "--host", host, "--port", str(port), "-w", str(kb.root / "workspace.yaml")]
    os.chdir(kb.root)
    os.execve(program, arguments, environ)  # noqa: S606 - our own program takes this process's place, and its signals
