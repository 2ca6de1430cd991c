"""The schedule ``nightly_rebuild``: cron and time zone from ``rebuild`` in kb.yml.

It asks for a sync whenever there is anything to do, what failed by day included, and each night where custom sources
have to be asked. What the sync changed is published by the sensor's next tick: level-triggered, so that a lost request
comes again.
"""

import dagster as dg

from kb_pipeline.defs.jobs import sync_changed
from kb_pipeline.defs.resources import KnowledgeBase
from kb_pipeline.defs.sensors import NIGHT_TAG, STATE_TAG, state_of


def build_nightly_schedule(cron: str, timezone: str) -> dg.ScheduleDefinition:
    @dg.schedule(
        name="nightly_rebuild",
        job=sync_changed,
        cron_schedule=cron,
        execution_timezone=timezone,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Compiles, links and embeds all that changed since the last night; raw_changes publishes it then.",
    )
    def nightly_rebuild(
        context: dg.ScheduleEvaluationContext, knowledge_base: KnowledgeBase
    ) -> dg.RunRequest | dg.SkipReason:
        project = knowledge_base.project()
        planned = project.plan()
        if project.is_current(planned) and not project.has_custom_sources:
            return dg.SkipReason("nothing changed")
        night = context.scheduled_execution_time.date().isoformat()
        return dg.RunRequest(tags={NIGHT_TAG: night, STATE_TAG: state_of(project.sync_reasons(planned))})

    return nightly_rebuild
