"""What is published: graph, keyword index and manifest, staged one by one, and the snapshot that makes them current.

Belongs here: the unpartitioned assets of the job ``publish``. Each can be materialized alone: it stages its part for
the pages as they are now. Does not belong here: which pages may be published (``building.publishing``).
"""

import dagster as dg

from kb_pipeline.defs.resources import KnowledgeBase

PAGES_AND_VECTORS = [dg.AssetDep("wiki_pages", partition_mapping=dg.AllPartitionMapping())]


@dg.asset(group_name="published", kinds={"networkx"}, deps=PAGES_AND_VECTORS)
def graph(context: dg.AssetExecutionContext, knowledge_base: KnowledgeBase) -> dg.MaterializeResult:
    """Pages as nodes; links, `related` and shared specific terms as edges."""
    figures = knowledge_base.project().publication().stage_graph()
    return dg.MaterializeResult(metadata=dict(figures))


@dg.asset(group_name="published", kinds={"scipy"}, deps=PAGES_AND_VECTORS)
def keyword_index(context: dg.AssetExecutionContext, knowledge_base: KnowledgeBase) -> dg.MaterializeResult:
    """BM25 over sections, as memory-mapped arrays."""
    figures = knowledge_base.project().publication().stage_index()
    return dg.MaterializeResult(metadata=dict(figures))


@dg.asset(group_name="published", kinds={"text"}, deps=PAGES_AND_VECTORS)
def manifest(context: dg.AssetExecutionContext, knowledge_base: KnowledgeBase) -> dg.MaterializeResult:
    """The list of pages that a model chooses from; its data version is the hash of its bytes."""
    publication = knowledge_base.project().publication()
    # Blocking checks hold within one run only: someone who materializes this asset alone is refused here.
    publication.refuse_if_blocked()
    figures = publication.stage_manifest()
    return dg.MaterializeResult(
        metadata={**figures, "preview": dg.MetadataValue.md(f"```\n{publication.manifest_preview()}\n```")},
        data_version=dg.DataVersion(publication.manifest_hash()),
    )


@dg.asset(group_name="published", kinds={"files"}, deps=[graph, keyword_index, manifest])
def snapshot(context: dg.AssetExecutionContext, knowledge_base: KnowledgeBase) -> dg.MaterializeResult:
    """One consistent set of the three and of the pages' texts; from here on it is what every reader sees."""
    project = knowledge_base.project()
    published = project.publication().finish()
    return dg.MaterializeResult(
        metadata={"snapshot": published.id, **project.snapshot_figures(published)},
        data_version=dg.DataVersion(published.id),
    )
