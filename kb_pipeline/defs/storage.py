"""Dagster's own storage: PostgreSQL, the embedded server of the project or the one that ``database.url`` names.

Belongs here: the class that ``dagster.yaml`` names under ``storage: custom``; it starts the embedded server on first
use. Does not belong here: the server (``storage.postgres``), what is stored.
"""

import os
from pathlib import Path
from typing import Any, Self

from dagster._serdes import ConfigurableClassData
from dagster_postgres import DagsterPostgresStorage

from kb_pipeline.bootstrap import Project


class ProjectStorage(DagsterPostgresStorage):
    """Runs, events, schedules in a database ``dagster`` beside the wiki's.

    The project is the folder that holds ``dagster.yaml``: DAGSTER_HOME.
    """

    @classmethod
    def config_type(cls) -> dict[str, Any]:
        return {}

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData | None, config_value: Any) -> Self:  # noqa: ARG003 - Dagster hands it over; there is nothing to configure
        project = Project.open(Path(os.environ["DAGSTER_HOME"]), environ=dict(os.environ))
        return cls(postgres_url=project.dagster_url(), should_autocreate_tables=True, inst_data=inst_data)
