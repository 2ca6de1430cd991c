"""The two partition sets. A key is a path with what Dagster cannot carry percent-encoded (``planning.partitions``)."""

import dagster as dg

DOCUMENTS = "documents"
PAGES = "pages"

documents = dg.DynamicPartitionsDefinition(name=DOCUMENTS)
"""One partition a raw document."""

pages = dg.DynamicPartitionsDefinition(name=PAGES)
"""One partition a published page, those written by hand too."""


def reconcile(instance: dg.DagsterInstance, name: str, wanted: set[str]) -> tuple[int, int]:
    """Make the partition set hold exactly ``wanted``; returns how many were added and deleted."""
    known = set(instance.get_dynamic_partitions(name))
    added, gone = sorted(wanted - known), sorted(known - wanted)
    if added:
        instance.add_dynamic_partitions(name, added)
    for key in gone:
        instance.delete_dynamic_partition(name, key)
    return len(added), len(gone)
