"""The jobs of a build (ORCHESTRATION 3).

Belongs here: the op jobs ``sync_changed`` and ``embed_backlog`` and the asset job ``publish``. ``sync_changed`` is no asset job: an asset job
over two dynamic partition sets is refused by Dagster, and a run takes one partition key or one range, never the set of
documents that changed. Its ops record materializations of both sets instead. Does not belong here: the work itself.
"""

import dagster as dg

from kb_pipeline.defs.resources import KnowledgeBase
from kb_pipeline.defs.syncing import (
    SyncRequest,
    SyncResult,
    report_failures,
    report_missing_vectors,
    run_embedding,
    run_sync,
)

BUILD_TAG = {"kb/exclusive": "build"}
"""At most one run with this tag is taken from the queue at a time (dagster.yaml); the file lock guards the rest."""


@dg.op(description="Plan, re-key, remove, compile, link, embed; one materialization for each document and page done.")
def sync(context: dg.OpExecutionContext, config: SyncRequest, knowledge_base: KnowledgeBase) -> SyncResult:
    return run_sync(context, knowledge_base.project(), config)


@dg.op(description="Fail when a document or a source failed: after all others are done, so that nothing waits for it.")
def settle(context: dg.OpExecutionContext, result: SyncResult) -> None:
    report_failures(context, result)


@dg.op(description="Make every vector that is missing, in batches that are each safe on their own.")
def embed_missing(context: dg.OpExecutionContext, knowledge_base: KnowledgeBase) -> SyncResult:
    return run_embedding(context, knowledge_base.project())


@dg.op(description="Fail when model or database said no: what was made until then is stored.")
def settle_vectors(result: SyncResult) -> None:
    report_missing_vectors(result)


@dg.job(
    executor_def=dg.in_process_executor,
    resource_defs={"io_manager": dg.mem_io_manager, "knowledge_base": KnowledgeBase()},
    tags=BUILD_TAG,
    description="Compile what changed under raw/, link it and embed it.",
)
def sync_changed() -> None:
    settle(sync())


@dg.job(
    executor_def=dg.in_process_executor,
    resource_defs={"io_manager": dg.mem_io_manager, "knowledge_base": KnowledgeBase()},
    tags=BUILD_TAG,
    description="Make the vectors that a large build left for later; search runs on keywords meanwhile.",
)
def embed_backlog() -> None:
    settle_vectors(embed_missing())


publish = dg.define_asset_job(
    "publish",
    dg.AssetSelection.assets("graph", "keyword_index", "manifest", "snapshot")
    | dg.AssetSelection.checks_for_assets("wiki_pages"),
    executor_def=dg.in_process_executor,
    tags=BUILD_TAG,
    description="Lint, then build a snapshot and make it the one that is read.",
)
