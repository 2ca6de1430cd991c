"""The sensor asks for what is missing: again when a state comes back, never twice for what just failed."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import pytest

from kb_pipeline.defs.build import build_definitions
from kb_pipeline.defs.resources import KnowledgeBase, adopt
from kb_pipeline.defs.runs import PROCESS_TAG, end_abandoned, this_process
from kb_pipeline.defs.sensors import NIGHT_TAG
from kb_tests.fakes.projects import Workshop, document

ON_CHANGE = "rebuild: {mode: on_change, quiet_seconds: 0}\n"


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as found:
        yield found


def workshop(root: Path, instance: dg.DagsterInstance, settings: str = ON_CHANGE) -> Workshop:
    made = Workshop(root / "kb", instance, settings)
    made.write("svc/alpha.md", document("alpha", 1))
    made.write("svc/beta.md", document("beta", 2))
    return made


def night(shop: Workshop) -> dg.RunRequest | dg.SkipReason:
    """One evaluation of the nightly schedule."""
    adopt(shop.open())
    base = KnowledgeBase(root=str(shop.root))
    context = dg.build_schedule_context(
        instance=shop.instance,
        scheduled_execution_time=datetime(2026, 11, 30, 3, tzinfo=UTC),
        resources={"knowledge_base": base},
    )
    definitions = build_definitions(shop.root, knowledge_base=base)
    data = definitions.get_repository_def().get_schedule_def("nightly_rebuild").evaluate_tick(context)
    return data.run_requests[0] if data.run_requests else dg.SkipReason(data.skip_message)


def test_a_state_that_comes_back_is_built_and_published_again(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    shop = workshop(tmp_path, instance)
    for number in (2, 9, 2, 9):
        shop.write("svc/beta.md", document("beta", number))
        assert shop.loop() == ["sync_changed", "publish"]
        assert shop.loop() == []


def test_a_page_edited_and_reverted_by_hand_is_published_each_time(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    shop = workshop(tmp_path, instance)
    shop.loop()
    page = shop.root / "knowledge/svc/beta.md"
    first = page.read_text()
    for text in (first.replace("寬限", "寬限期"), first, first.replace("寬限", "寬限期")):
        page.write_text(text)
        assert shop.loop()[-1] == "publish"
        published = shop.open().snapshot().page_text("svc/beta.md")
        assert published.splitlines() == page.read_text().splitlines()


def test_a_closed_gate_is_red_once_and_tried_again_after_a_night(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    shop = workshop(tmp_path, instance, f"{ON_CHANGE}lint: {{gate: all}}\n")
    shop.loop()
    page = shop.root / "knowledge/svc/beta.md"
    page.write_text(page.read_text().replace("status: current", "status: someday"))
    assert shop.loop()[-1] == "publish failed"
    assert shop.loop() == []
    request = night(shop)
    assert isinstance(request, dg.RunRequest)
    assert NIGHT_TAG in request.tags
    instance.create_run_for_job(_noted, tags=dict(request.tags), status=dg.DagsterRunStatus.SUCCESS)
    assert shop.loop() == ["publish failed"]
    assert shop.loop() == []


@dg.job(name="sync_changed")
def _noted() -> None:
    """A run of that name."""


def test_the_night_is_quiet_when_nothing_changed_but_not_where_sources_must_be_asked(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    shop = workshop(tmp_path, instance, "")
    shop.build()
    assert isinstance(night(shop), dg.SkipReason)
    with (shop.root / "kb.yml").open("a") as file:
        file.write("sources:\n  - {type: custom, module: nowhere.Adapter, target: fetched}\n")
    shop.build(full=True)
    assert isinstance(night(shop), dg.RunRequest)


def test_by_night_mode_the_day_only_says_what_waits(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    shop = workshop(tmp_path, instance, "")
    skipped = shop.tick()
    assert isinstance(skipped, dg.SkipReason)
    assert "2 changes wait for the nightly build" in str(skipped.skip_message)


def test_a_run_whose_process_was_killed_does_not_stop_the_sensor(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    shop = workshop(tmp_path, instance)
    host = this_process().split("/")[0]
    dead = instance.create_run_for_job(
        _noted, tags={PROCESS_TAG: f"{host}/999999999/1"}, status=dg.DagsterRunStatus.STARTED
    )
    assert shop.loop() == ["sync_changed", "publish"]
    ended = instance.get_run_by_id(dead.run_id)
    assert ended is not None
    assert ended.status is dg.DagsterRunStatus.FAILURE


def test_a_run_of_a_living_process_or_of_another_machine_is_waited_for(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    for process in (this_process(), "elsewhere/1/1"):
        instance.create_run_for_job(_noted, tags={PROCESS_TAG: process}, status=dg.DagsterRunStatus.STARTED)
    assert end_abandoned(instance) == []
    assert isinstance(workshop(tmp_path, instance).tick(), dg.SkipReason)


def test_ticks_come_from_threads_of_the_code_server_one_after_the_other(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    """The daemon asks the code server, which evaluates each tick in whatever thread is free, on one project object."""
    shop = workshop(tmp_path, instance)
    shop.build()
    project = shop.open()
    project.plan()
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as another:
        assert not one.submit(project.plan).result().plan.sync_needed
        shop.write("svc/late.md", document("late", 7))
        assert another.submit(project.plan).result().plan.new == ("svc/late.md",)
        assert one.submit(project.plan).result().plan.new == ("svc/late.md",)
