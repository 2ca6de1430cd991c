"""What is published: graph, keyword index and manifest, staged one by one, and the snapshot that makes them current.

Belongs here: the unpartitioned assets of the job ``publish``. Each can be materialized alone: it stages its part for
the pages as they are now. Does not belong here: which pages may be published (``building.publishing``).
"""

from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg

from kb_pipeline.building.publishing import Publication
from kb_pipeline.defs.resources import KnowledgeBase
from kb_pipeline.defs.runs import note_process

PAGES = [dg.AssetDep("wiki_pages", partition_mapping=dg.AllPartitionMapping())]


@contextmanager
def publishing(context: dg.AssetExecutionContext, knowledge_base: KnowledgeBase) -> Iterator[Publication]:
    """The publication of the pages as they are now, with the lock held."""
    note_process(context.instance, context.run.run_id)
    with knowledge_base.project().publishing(context.run.run_id) as publication:
        yield publication


@dg.asset(group_name="published", kinds={"networkx"}, deps=PAGES)
def graph(context: dg.AssetExecutionContext, knowledge_base: KnowledgeBase) -> dg.MaterializeResult[None]:
    """Pages as nodes; links, `related` and shared specific terms as edges."""
    with knowledge_base.project().publishing(context.run.run_id) as publication:
        figures = publication.stage_graph()
    return dg.MaterializeResult(metadata=dict(figures))


@dg.asset(group_name="published", kinds={"numpy"}, deps=PAGES)
def keyword_index(context: dg.AssetExecutionContext, knowledge_base: KnowledgeBase) -> dg.MaterializeResult[None]:
    """BM25 over sections, as memory-mapped arrays."""
    with knowledge_base.project().publishing(context.run.run_id) as publication:
        figures = publication.stage_index()
    return dg.MaterializeResult(metadata=dict(figures))


@dg.asset(group_name="published", kinds={"text"}, deps=PAGES)
def manifest(context: dg.AssetExecutionContext, knowledge_base: KnowledgeBase) -> dg.MaterializeResult[None]:
    """The list of pages that a model chooses from; its data version is the hash of its bytes."""
    # Blocking checks hold within one run only: whoever materializes this asset alone is refused by the stage itself.
    with knowledge_base.project().publishing(context.run.run_id) as publication:
        figures = publication.stage_manifest()
    return dg.MaterializeResult(
        metadata={**figures, "preview": dg.MetadataValue.md(f"```\n{publication.manifest_preview()}\n```")},
        data_version=dg.DataVersion(publication.manifest_hash()),
    )


@dg.asset(group_name="published", kinds={"files"}, deps=[graph, keyword_index, manifest])
def snapshot(context: dg.AssetExecutionContext, knowledge_base: KnowledgeBase) -> dg.MaterializeResult[None]:
    """One consistent set of the three and of the pages' texts; from here on it is what every reader sees."""
    with knowledge_base.project().publishing(context.run.run_id) as publication:
        published = publication.finish()
    return dg.MaterializeResult(
        metadata={
            "snapshot": published.id,
            **{name: value for name, value in published.report.items() if isinstance(value, int)},
            "left_out": dg.MetadataValue.json(dict(publication.chosen.left_out)),
        },
        data_version=dg.DataVersion(published.id),
    )
