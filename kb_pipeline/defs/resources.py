"""Resources: the project that the assets and jobs work on. With ``bootstrap`` the only reader of the configuration."""

import os
from pathlib import Path

import dagster as dg

from kb_pipeline.bootstrap import Project

_opened: dict[str, Project] = {}
"""One project object a root and process: its caches serve every step of a run."""


def default_root() -> Path:
    """$KB_ROOT, else $DAGSTER_HOME (which is the project's root), else the working directory."""
    return Path(os.environ.get("KB_ROOT") or os.environ.get("DAGSTER_HOME") or Path.cwd())


def adopt(project: Project) -> None:
    """Let the jobs of this process work on ``project`` itself: the command line's, or a test's."""
    _opened[str(project.root)] = project


class KnowledgeBase(dg.ConfigurableResource[Project]):
    """The knowledge base below ``root``; empty means ``default_root()``."""

    root: str = ""

    def project(self) -> Project:
        """The project, opened anew when its configuration has changed."""
        root = Path(self.root) if self.root else default_root()
        known = _opened.get(str(root))
        if known is None or known.configuration_changed():
            known = _opened[str(root)] = Project.open(root, environ=dict(os.environ))
        return known
