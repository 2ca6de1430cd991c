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
    added, gone = sorted(wanted - known), known - wanted
    if added:
        instance.add_dynamic_partitions(name, added)
    drop(instance, name, gone)
    return len(added), len(gone)


def drop(instance: dg.DagsterInstance, name: str, keys: set[str]) -> None:
    """Delete partitions; those that are not there are passed over."""
    for key in sorted(keys):
        instance.delete_dynamic_partition(name, key)
