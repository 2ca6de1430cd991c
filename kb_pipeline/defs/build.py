"""All definitions of the code location."""

import os
from pathlib import Path

import dagster as dg

from kb_pipeline.config import load_settings
from kb_pipeline.defs.assets.embeddings import embeddings
from kb_pipeline.defs.assets.published import graph, keyword_index, manifest, snapshot
from kb_pipeline.defs.assets.raw_documents import raw_documents
from kb_pipeline.defs.assets.wiki_pages import wiki_pages
from kb_pipeline.defs.checks import build_lint_checks
from kb_pipeline.defs.jobs import embed_backlog, publish, sync_changed
from kb_pipeline.defs.resources import KnowledgeBase, default_root
from kb_pipeline.defs.schedules import build_nightly_schedule
from kb_pipeline.defs.sensors import raw_changes


def build_definitions(root: Path | None = None, *, knowledge_base: KnowledgeBase | None = None) -> dg.Definitions:
    """Definitions for the project at ``root`` ($KB_ROOT, $DAGSTER_HOME or the working directory).

    Cron, time zone and gate are read from its ``kb.yml`` when the code location loads. Raises ConfigError.
    """
    settings = load_settings(root or default_root(), environ=dict(os.environ))
    return dg.Definitions(
        assets=[raw_documents, wiki_pages, embeddings, graph, keyword_index, manifest, snapshot],
        asset_checks=[build_lint_checks(blocking=settings.lint.gate == "all")],
        jobs=[sync_changed, publish, embed_backlog],
        schedules=[build_nightly_schedule(settings.rebuild.cron, settings.rebuild.timezone)],
        sensors=[raw_changes],
        resources={"knowledge_base": knowledge_base or KnowledgeBase(root=str(root) if root else "")},
    )
