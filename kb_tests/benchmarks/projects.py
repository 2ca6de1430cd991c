"""Synthetic projects on disk, built once and used by every benchmark that needs one of their size.

Belongs here: the files of a project, building it, a bare reading of its raw files. Does not belong here: measuring what
the build took apart from keeping its report.
"""

from __future__ import annotations

import json
import shutil
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

from kb_tests.benchmarks.corpus import Corpus
from kb_tests.benchmarks.measuring import Sample, run_process

SETTINGS = "version: 1\nlanguage: zh-TW\ndefault_scope: 內部 API Gateway\nembedding:\n  provider: hashing\n"
BARE = (
    "import hashlib, os, sys\n"
    "for folder, _, names in os.walk(sys.argv[1]):\n"
    "    for name in names:\n"
    "        with open(os.path.join(folder, name), 'rb') as file:\n"
    "            hashlib.sha256(file.read()).hexdigest()\n"
)
"""What nobody can do without when he wants to know whether 2,000 files are what they were."""


class Projects:
    """All below ``work``; a project that is there already, from an earlier run, is used again."""

    def __init__(self, work: Path) -> None:
        self.work = work

    def corpus(self, size: int) -> Corpus:
        return Corpus(size)

    def fresh(self, size: int) -> Path:
        """A project whose documents were never compiled."""
        root = self.work / f"project-{size}"
        if root.exists():
            shutil.rmtree(root)
        templates = files("kb_pipeline.cli") / "templates"
        root.mkdir(parents=True)
        (root / "kb.yml").write_text(SETTINGS, encoding="utf-8")
        for name in ("dagster.yaml", "workspace.yaml"):
            (root / name).write_text((templates / name).read_text(encoding="utf-8"), encoding="utf-8")
        self.corpus(size).write(root / "raw")
        return root

    def built(self, size: int) -> tuple[Path, dict[str, Any]]:
        """A built project, and the report of ``phases`` on that build, with the process's wall, CPU and peak."""
        root, report = self.work / f"project-{size}", self.work / f"project-{size}.json"
        if not report.exists():
            self.fresh(size)
            told = self.work / f"phases-{size}.json"
            done = run_process([sys.executable, "-m", "kb_tests.benchmarks.phases", str(root), str(told)])
            if done.code or not told.exists():
                raise RuntimeError(f"the build of {size} documents ended with {done.code}:\n{done.output[-4000:]}")
            found = {
                **json.loads(told.read_text(encoding="utf-8")),
                "wall": done.wall,
                "cpu": done.cpu,
                "peak": done.peak,
            }
            report.write_text(json.dumps(found, ensure_ascii=False), encoding="utf-8")
        return root, dict(json.loads(report.read_text(encoding="utf-8")))

    def bare_reading(self, root: Path) -> Sample:
        """A bare script that reads and hashes every raw file."""
        return run_process([sys.executable, "-c", BARE, str(root / "raw")])
