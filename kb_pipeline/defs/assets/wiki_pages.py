"""Compiled pages: the partitions of ``documents``, for "Materialize" and backfills of chosen documents in the UI.

A build goes through the job ``sync_changed``. Here exactly the partitions that were asked for are compiled, changed or
not. Each partition yields an event of its own: a ``MaterializeResult`` of a range run would copy one data version to
all of them (dagster#34013).
"""

from collections.abc import Iterator

import dagster as dg

from kb_pipeline.defs.partitions import documents
from kb_pipeline.defs.resources import KnowledgeBase
from kb_pipeline.defs.syncing import compile_documents, report_failures
from kb_pipeline.planning.partitions import document_path


@dg.multi_asset(
    name="compile_chosen",
    specs=[
        dg.AssetSpec(
            "wiki_pages",
            deps=["raw_documents"],
            group_name="wiki",
            kinds={"markdown"},
            skippable=True,
            description="Pages under knowledge/ that a document was compiled to; data version = content hash and key.",
        )
    ],
    partitions_def=documents,
    backfill_policy=dg.BackfillPolicy.single_run(),
    op_tags={"kb/exclusive": "build"},
)
def wiki_pages(context: dg.AssetExecutionContext, knowledge_base: KnowledgeBase) -> Iterator[dg.Output[None]]:
    keys = [document_path(key) for key in context.partition_keys]
    result = compile_documents(context, knowledge_base.project(), keys)
    report_failures(context.op_execution_context, result)
    yield from ()
