"""The sensor ``raw_changes``: looks at the disk, level-triggered, and asks for what is missing (ORCHESTRATION 4).

No cursor: the plan is made anew at each tick, so a request that got lost comes again. A state that failed is not tried
twice by the sensor: the nightly schedule takes it up.
"""

import hashlib
import time

import dagster as dg

from kb_pipeline.defs.jobs import embed_backlog, publish, sync_changed
from kb_pipeline.defs.resources import KnowledgeBase

STATE_TAG = "kb/state"
BUILDS = ("sync_changed", "publish", "embed_backlog")
RUNNING = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]


@dg.sensor(
    jobs=[sync_changed, publish, embed_backlog],
    minimum_interval_seconds=30,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Compiles and publishes what changed (rebuild.mode: on_change), or says what waits for the night.",
)
def raw_changes(
    context: dg.SensorEvaluationContext, knowledge_base: KnowledgeBase
) -> dg.RunRequest | dg.SkipReason:
    instance = context.instance
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
        state = hashlib.sha256("\n".join(waiting).encode()).hexdigest()[:20]
        if not instance.get_runs_count(dg.RunsFilter(tags={STATE_TAG: state})):
            return dg.RunRequest(job_name="sync_changed", tags={STATE_TAG: state})
    if planned.plan.publish_needed and project.is_synced(planned):
        if not _finished_before(instance, "publish", planned.pages_fingerprint):
            return dg.RunRequest(job_name="publish", tags={STATE_TAG: planned.pages_fingerprint})
    elif project.vectors_missing(planned) and not _finished_before(instance, "embed_backlog", planned.pages_fingerprint):
        return dg.RunRequest(job_name="embed_backlog", tags={STATE_TAG: planned.pages_fingerprint})
    if waiting:
        return dg.SkipReason(f"{len(waiting)} changes wait for the nightly build: {'; '.join(waiting[:3])}")
    return dg.SkipReason("nothing changed")


def _finished_before(instance: dg.DagsterInstance, job: str, fingerprint: str) -> bool:
    """Whether this job was done, or refused, for this very content: trying again would change nothing."""
    finished = [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE]
    return instance.get_runs_count(dg.RunsFilter(job_name=job, tags={STATE_TAG: fingerprint}, statuses=finished)) > 0
