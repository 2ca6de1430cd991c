"""Contract test of what is not Dagster's public API: ``store_event_batch`` and ``get_latest_tags_by_partition``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from kb_pipeline.defs.event_batches import EventBatches, recorded_versions
from kb_tests.storage.postgres_server import fresh_name, shared_server

ROUND = [(f"svc/doc{number:03}.md", f"v{number}") for number in range(250)]


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as found:
        yield found


def batches(instance: dg.DagsterInstance, *, size: int = 100, every: float = 60.0) -> EventBatches:
    run = instance.create_run_for_job(_nothing)
    return EventBatches(instance, run_id=run.run_id, job_name="sync_changed", step_key="sync", size=size, every=every)


@dg.job
def _nothing() -> None:
    """A run to hang events on."""


def check_contract(instance: dg.DagsterInstance) -> None:
    with batches(instance) as events:
        for key, version in ROUND:
            events.materialized("wiki_pages", key, version, {"pages": 1, "preview": dg.MetadataValue.md("# x")})
        events.materialized("embeddings", "svc/doc000.md", "e1")
    with batches(instance) as events:
        events.materialized("wiki_pages", "svc/doc007.md", "later")
    assert recorded_versions(instance, "wiki_pages") == {**dict(ROUND), "svc/doc007.md": "later"}
    assert recorded_versions(instance, "embeddings") == {"svc/doc000.md": "e1"}
    asset = dg.AssetKey("wiki_pages")
    latest = instance.get_latest_materialization_event(asset)
    assert latest is not None
    assert latest.asset_materialization is not None
    assert latest.asset_materialization.partition == "svc/doc007.md"
    assert set(instance.get_materialized_partitions(asset)) == {name for name, _ in ROUND}
    found = instance.fetch_materializations(dg.AssetRecordsFilter(asset, asset_partitions=["svc/doc003.md"]), limit=5)
    assert [
        record.asset_materialization.metadata["pages"].value for record in found.records if record.asset_materialization
    ] == [1]


def test_events_stored_in_batches_read_like_events_that_dagster_stored(instance: dg.DagsterInstance) -> None:
    check_contract(instance)


def test_the_same_holds_on_the_embedded_postgresql_with_the_projects_storage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = shared_server().psycopg2_url(fresh_name()).replace("+psycopg2", "")
    (tmp_path / "kb.yml").write_text("version: 1\n")
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    monkeypatch.setenv("KB_DATABASE__URL", url)
    (tmp_path / "dagster.yaml").write_text(
        "telemetry: {enabled: false}\nstorage:\n  custom:\n    module: kb_pipeline.defs.storage\n"
        "    class: ProjectStorage\n    config: {}\n"
    )
    with dg.DagsterInstance.get() as instance:
        assert type(instance.event_log_storage).__name__ == "PostgresEventLogStorage"
        check_contract(instance)


def test_a_full_batch_and_a_second_that_passed_are_stored_before_the_end(instance: dg.DagsterInstance) -> None:
    events = batches(instance, size=2)
    events.materialized("wiki_pages", "a", "1")
    assert recorded_versions(instance, "wiki_pages") == {}
    events.materialized("wiki_pages", "b", "1")
    assert set(recorded_versions(instance, "wiki_pages")) == {"a", "b"}
    timed = batches(instance, every=0.0)
    timed.materialized("wiki_pages", "c", "1")
    assert "c" in recorded_versions(instance, "wiki_pages")


def test_what_was_finished_before_an_error_is_on_record(instance: dg.DagsterInstance) -> None:
    def fails() -> None:
        with batches(instance) as events:
            events.materialized("wiki_pages", "a", "1")
            raise OSError("the disk is full")

    with pytest.raises(OSError, match="disk is full"):
        fails()
    assert recorded_versions(instance, "wiki_pages") == {"a": "1"}
