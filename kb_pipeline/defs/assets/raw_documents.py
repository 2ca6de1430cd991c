"""The raw documents: made by people and adapters, so Dagster knows them as an external asset."""

import dagster as dg

from kb_pipeline.defs.partitions import documents

raw_documents = dg.AssetSpec(
    "raw_documents",
    partitions_def=documents,
    group_name="sources",
    kinds={"markdown"},
    description="Files under raw/, one partition each. No command ever changes a byte of them.",
)
