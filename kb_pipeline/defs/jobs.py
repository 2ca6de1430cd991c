"""The two jobs of a build (ORCHESTRATION 3).

Belongs here: the op job ``sync_changed`` and the asset job ``publish``. ``sync_changed`` is no asset job: an asset job
over two dynamic partition sets is refused by Dagster, and a run takes one partition key or one range, never the set of
documents that changed. Its ops record materializations of both sets instead. Does not belong here: the work itself.
"""

import dagster as dg

from kb_pipeline.defs.resources import KnowledgeBase
from kb_pipeline.defs.syncing import SyncResult, embed_pages, record_and_remove, sync_documents

BUILD_TAG = {"kb/exclusive": "build"}
"""At most one run with this tag is taken from the queue at a time (dagster.yaml); the file lock guards the rest."""


class SyncRequest(dg.Config):
    """What a build was asked for. ``only``: raw paths; empty means every document."""

    full: bool = False
    upgrade: bool = False
    only: list[str] = []  # noqa: RUF012 - the fields of a dagster Config are pydantic's: each object gets a copy
    allow_mass_delete: bool = False


@dg.op(description="Plan, re-key, remove, compile and link; one materialization for each document that was done.")
def compile_changed(context: dg.OpExecutionContext, config: SyncRequest, knowledge_base: KnowledgeBase) -> SyncResult:
    return sync_documents(
        context,
        knowledge_base.project(),
        full=config.full,
        upgrade=config.upgrade,
        only=config.only or None,
        allow_mass_delete=config.allow_mass_delete,
    )


@dg.op(description="Make vectors for sections whose text is new; a long backlog is left to `embed_backlog`.")
def embed_changed(context: dg.OpExecutionContext, knowledge_base: KnowledgeBase, result: SyncResult) -> SyncResult:
    return embed_pages(context, knowledge_base.project(), result, backlog=False)


@dg.op(description="Bring partitions in line with the disk; fail when a document failed, after all others are done.")
def settle(context: dg.OpExecutionContext, knowledge_base: KnowledgeBase, result: SyncResult) -> None:
    record_and_remove(context, knowledge_base.project(), result)


@dg.op(description="Make every vector that is still missing, in batches that are each safe on their own.")
def embed_missing(context: dg.OpExecutionContext, knowledge_base: KnowledgeBase) -> None:
    embed_pages(context, knowledge_base.project(), SyncResult(), backlog=True)


@dg.job(
    executor_def=dg.in_process_executor,
    resource_defs={"io_manager": dg.mem_io_manager, "knowledge_base": KnowledgeBase()},
    tags=BUILD_TAG,
    description="Compile what changed under raw/, link it and embed it.",
)
def sync_changed() -> None:
    settle(embed_changed(compile_changed()))


@dg.job(
    executor_def=dg.in_process_executor,
    resource_defs={"io_manager": dg.mem_io_manager, "knowledge_base": KnowledgeBase()},
    tags=BUILD_TAG,
    description="Make the vectors that a large build left for later; search runs on keywords meanwhile.",
)
def embed_backlog() -> None:
    embed_missing()


publish = dg.define_asset_job(
    "publish",
    dg.AssetSelection.assets("graph", "keyword_index", "manifest", "snapshot")
    | dg.AssetSelection.checks_for_assets("wiki_pages"),
    executor_def=dg.in_process_executor,
    tags=BUILD_TAG,
    description="Lint, then build a snapshot and make it the one that is read.",
)
