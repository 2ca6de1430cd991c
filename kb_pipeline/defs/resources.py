"""Resources: the project that the assets and jobs work on. With ``bootstrap`` the only reader of the configuration."""

import os
from functools import lru_cache
from pathlib import Path

import dagster as dg

from kb_pipeline.bootstrap import Project


@lru_cache(maxsize=8)
def _open(root: str) -> Project:
    """One project object a process and root: its caches serve every step of a run."""
    return Project.open(Path(root), environ=dict(os.environ))


class KnowledgeBase(dg.ConfigurableResource):
    """The knowledge base below ``root``; empty means $DAGSTER_HOME, which is the project's root."""

    root: str = ""

    def project(self) -> Project:
        """The project, read anew where its configuration has changed."""
        root = self.root or os.environ.get("KB_ROOT") or os.environ.get("DAGSTER_HOME") or str(Path.cwd())
        project = _open(root)
        if project.configuration_changed():
            _open.cache_clear()
            project = _open(root)
        return project
