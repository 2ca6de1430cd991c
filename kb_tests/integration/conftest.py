"""The real thing: the console script in a process of its own, the embedded PostgreSQL, Dagster's own event log."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True)
class KnowledgeBaseOnDisk:
    """``kb`` runs the command on it, with hashing vectors: the model has its own tests."""

    root: Path

    def kb(self, *arguments: str, **environ: str) -> Ran:
        program = Path(sys.executable).with_name("kb")
        done = subprocess.run(
            [str(program), *arguments],
            cwd=self.root,
            env={**_clean_environment(), "KB_EMBEDDING__PROVIDER": "hashing", **environ},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return Ran(done.returncode, done.stdout, done.stderr)


def _clean_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("KB_", "DAGSTER_"))}


@pytest.fixture
def sample(tmp_path: Path, repository: Path) -> KnowledgeBaseOnDisk:
    """A copy of the sample project as a clone has it: sources and compiled pages, nothing built."""
    root = tmp_path / "示範 project"
    root.mkdir()
    for name in ("raw", "knowledge"):
        shutil.copytree(repository / name, root / name)
    for name in ("kb.yml", "glossary.yml", "dagster.yaml", "workspace.yaml"):
        shutil.copy(repository / name, root / name)
    return KnowledgeBaseOnDisk(root)
