"""The sensor ``raw_changes``: looks at the disk, level-triggered, and asks for what is missing (ORCHESTRATION 4).

No cursor: the plan is made anew at each tick, so a request that got lost comes again. What was tried last for the very
state that is there now is not tried again by the sensor: the nightly schedule takes it up. Only the last run counts, so
that a state which comes back (another branch, an edit undone) is built again.
"""

import hashlib
import time
from collections.abc import Iterator, Sequence

import dagster as dg

from kb_pipeline.bootstrap import PlannedBuild, Project
from kb_pipeline.defs.jobs import embed_backlog, publish, sync_changed
from kb_pipeline.defs.resources import KnowledgeBase
from kb_pipeline.defs.runs import BUILDS, RUNNING, end_abandoned

STATE_TAG = "kb/state"
"""On a run: what it was asked for."""

NIGHT_TAG = "kb/night"
"""On a run of the nightly schedule: the date."""


@dg.sensor(
    jobs=[sync_changed, publish, embed_backlog],
    minimum_interval_seconds=30,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Compiles and publishes what changed (rebuild.mode: on_change), or says what waits for the night.",
)
def raw_changes(context: dg.SensorEvaluationContext, knowledge_base: KnowledgeBase) -> dg.RunRequest | dg.SkipReason:
    instance = context.instance
    end_abandoned(instance)
    for job in BUILDS:
        if instance.get_runs_count(dg.RunsFilter(job_name=job, statuses=RUNNING)):
            return dg.SkipReason(f"{job} is running")
    project = knowledge_base.project()
    planned = project.plan()
    waiting = project.sync_reasons(planned)
    if waiting and project.settings.rebuild.mode == "on_change":
        quiet = project.settings.rebuild.quiet_seconds
        if time.time() - project.newest_change(planned) < quiet:
            return dg.SkipReason(f"{len(waiting)} changes; waiting until nothing has changed for {quiet} s")
    for job, state in _due(project, planned, waiting):
        if not _tried_last(instance, job, state):
            return dg.RunRequest(job_name=job, tags={STATE_TAG: state})
    if waiting:
        return dg.SkipReason(f"{len(waiting)} changes wait for the nightly build: {'; '.join(waiting[:3])}")
    return dg.SkipReason("nothing changed")


def _due(project: Project, planned: PlannedBuild, waiting: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Jobs with the state that each would be for, the most urgent first."""
    if waiting and project.settings.rebuild.mode == "on_change":
        yield "sync_changed", state_of(waiting)
    if project.is_synced(planned):
        if planned.plan.publish_needed:
            yield "publish", planned.pages_fingerprint
        if project.vectors_missing(planned):
            yield "embed_backlog", planned.pages_fingerprint


def state_of(reasons: Sequence[str]) -> str:
    """What identifies the work that is due."""
    return hashlib.sha256("\n".join(reasons).encode("utf-8", "surrogateescape")).hexdigest()[:20]


def _tried_last(instance: dg.DagsterInstance, job: str, state: str) -> bool:
    """Whether the job's last run was for this very state: trying again would change nothing. A night gives what failed
    one more chance: disks fill and vendors fail for a while."""
    last = next(iter(instance.get_run_records(dg.RunsFilter(job_name=job), limit=1)), None)
    if last is None or last.dagster_run.tags.get(STATE_TAG) != state:
        return False
    if job == "sync_changed" or last.dagster_run.status is not dg.DagsterRunStatus.FAILURE:
        return True
    since = dg.RunsFilter(job_name="sync_changed", created_after=last.create_timestamp)
    return not any(NIGHT_TAG in run.tags for run in instance.get_runs(since, limit=1))
