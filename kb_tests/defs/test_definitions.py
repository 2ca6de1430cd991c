"""Names that people's tools and bookmarks rely on: asset keys, jobs, partitions, checks."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest

from kb_pipeline.defs.build import build_definitions
from kb_pipeline.errors import ConfigError


def definitions(root: Path, settings: str = "") -> dg.Definitions:
    (root / "kb.yml").write_text(f"version: 1\n{settings}")
    return build_definitions(root)


def test_the_names_are_pinned(tmp_path: Path) -> None:
    repository = definitions(tmp_path).get_repository_def()
    graph = repository.asset_graph
    assert {key.to_user_string() for key in graph.get_all_asset_keys()} == {
        *("raw_documents", "wiki_pages", "embeddings"),
        *("graph", "keyword_index", "manifest", "snapshot"),
    }
    assert {key.name for key in graph.asset_check_keys} == {"page_errors", "wiki_errors", "warnings"}
    jobs = {name for name in repository.job_names if not name.startswith("__")}
    assert jobs == {"sync_changed", "publish", "embed_backlog"}
    assert [sensor.name for sensor in repository.sensor_defs] == ["raw_changes"]
    assert [schedule.name for schedule in repository.schedule_defs] == ["nightly_rebuild"]
    sets = {key.to_user_string(): graph.get(key).partitions_def for key in graph.get_all_asset_keys()}
    named = {name: found.name for name, found in sets.items() if isinstance(found, dg.DynamicPartitionsDefinition)}
    assert named == {"raw_documents": "documents", "wiki_pages": "documents", "embeddings": "pages"}


@pytest.mark.parametrize(("gate", "blocking"), [("page", False), ("all", True)])
def test_errors_block_only_where_the_gate_is_all(tmp_path: Path, gate: str, *, blocking: bool) -> None:
    graph = definitions(tmp_path, f"lint: {{gate: {gate}}}\n").get_repository_def().asset_graph
    blocks = {key.name: graph.get(key).blocking for key in graph.asset_check_keys}
    assert blocks == {"page_errors": blocking, "wiki_errors": blocking, "warnings": False}


def test_cron_and_zone_are_those_of_the_configuration(tmp_path: Path) -> None:
    found = definitions(tmp_path, "rebuild: {cron: '5 4 * * *', timezone: Asia/Taipei}\n")
    schedule = found.get_repository_def().get_schedule_def("nightly_rebuild")
    assert (schedule.cron_schedule, schedule.execution_timezone) == ("5 4 * * *", "Asia/Taipei")


def test_a_wrong_configuration_does_not_load_and_says_where(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="rebuild"):
        definitions(tmp_path, "rebuild: {cron: 7}\n")
