"""``kb init``: the files of a new knowledge base."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

import typer

from kb_pipeline.cli.console import out
from kb_pipeline.errors import StorageError
from kb_pipeline.storage.files import write_if_changed

FILES = {
    "kb.yml": "kb.yml",
    "glossary.yml": "glossary.yml",
    "dagster.yaml": "dagster.yaml",
    "workspace.yaml": "workspace.yaml",
    ".gitignore": "gitignore",
}
SCOPES = {"zh-TW": "本知識庫", "en": "this knowledge base"}
"""Something true that a person will want to replace; never the name of a folder."""

FOLDERS = ("raw", "knowledge")


def init(
    folder: Annotated[Path, typer.Argument(help="Where the knowledge base shall be.")] = Path(),
    language: Annotated[
        Literal["zh-TW", "en"], typer.Option("--language", help="Language of connecting words.")
    ] = "zh-TW",
) -> None:
    """Start a new knowledge base in a folder.

    Writes kb.yml and the rest; what is there already stays as it is.
    """
    root = folder.expanduser().resolve()
    templates = files("kb_pipeline.cli") / "templates"
    made: list[str] = []
    kept: list[str] = []
    try:
        for name in FOLDERS:
            (kept if (root / name).is_dir() else made).append(f"{name}/")
            (root / name).mkdir(parents=True, exist_ok=True)
        for name, template in FILES.items():
            if (root / name).exists():
                kept.append(name)
                continue
            text = (templates / template).read_text(encoding="utf-8")
            text = text.replace("{language}", language).replace("{scope}", SCOPES[language])
            write_if_changed(root / name, text.encode())
            made.append(name)
    except OSError as error:
        raise StorageError(f"cannot write into {root}: {error.strerror or error}") from error
    out(
        f"{root}\n  made: {', '.join(made) or 'nothing'}" + (f"\n  left as they are: {', '.join(kept)}" if kept else "")
    )
    out("Set default_scope in kb.yml to the name of your system, product or team.")
    out("Next: put markdown files into raw/, then run: kb build")
