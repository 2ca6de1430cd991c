"""Options that several commands share, so that they are spelt and explained once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ProjectOption = Annotated[
    Path | None,
    typer.Option("--project", "-C", help="The project's folder; default: the nearest one upwards with a kb.yml."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
