"""Vectors of the sections: the partitions of ``pages``, those written by hand too.

The data version of a partition is the page's fingerprint and the embedding model's version. A build goes through
``sync_changed``; here the chosen pages get the vectors that they lack.
"""

from collections.abc import Iterator

import dagster as dg

from kb_pipeline.defs.partitions import pages
from kb_pipeline.defs.resources import KnowledgeBase
from kb_pipeline.defs.syncing import embed_chosen
from kb_pipeline.planning.partitions import document_path


@dg.multi_asset(
    name="embed_chosen",
    specs=[
        dg.AssetSpec(
            "embeddings",
            # The default for two dynamic sets would be identity; a page's key is not its document's key.
            deps=[dg.AssetDep("wiki_pages", partition_mapping=dg.AllPartitionMapping())],
            group_name="wiki",
            kinds={"postgres"},
            skippable=True,
            description="Rows of wiki.embeddings, one a section; data version = page fingerprint and model version.",
        )
    ],
    partitions_def=pages,
    backfill_policy=dg.BackfillPolicy.single_run(),
    op_tags={"kb/exclusive": "build"},
)
def embeddings(context: dg.AssetExecutionContext, knowledge_base: KnowledgeBase) -> Iterator[dg.Output[None]]:
    embed_chosen(context, knowledge_base.project(), [document_path(key) for key in context.partition_keys])
    yield from ()
