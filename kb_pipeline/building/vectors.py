"""Vectors of a whole wiki within a build: what is missing is made, and a failure of database or model is a value.

Belongs here: the time that a build spends on vectors before it publishes, and which pages have all of theirs. Does not
belong here: chunking, batches, transactions (``embeddings``), events (``defs``).
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kb_pipeline.embeddings.indexing import EmbeddingReport, IndexableStore, embed_pages, plan_embeddings
from kb_pipeline.errors import DatabaseError, ProviderError
from kb_pipeline.models import WikiPage
from kb_pipeline.ports import Embedder, Progress

INLINE_SECONDS = 20.0
"""How long vectors may hold up a publication. A longer backlog is made after it: keywords find everything meanwhile,
and a vector counts as soon as its row's hash is the one that the snapshot names."""


@dataclass(frozen=True, slots=True)
class WikiVectors:
    """``complete_pages``: page path → data version, of pages all of whose sections have their vector."""

    report: EmbeddingReport
    complete_pages: Mapping[str, str]
    error: str | None = None

    @property
    def complete(self) -> bool:
        return self.error is None and self.report.complete

    def figures(self) -> dict[str, float]:
        report = self.report
        return {
            "embedded": report.embedded,
            "reused": report.reused,
            "removed": report.removed,
            "unchanged": report.unchanged,
            "seconds": report.seconds,
        }


def embed_wiki(
    pages: Sequence[WikiPage],
    embedder: Embedder,
    store: IndexableStore,
    progress: Progress,
    *,
    within: float | None = INLINE_SECONDS,
    whole: bool = True,
) -> WikiVectors:
    """Make what is missing, for at most ``within`` seconds (None: until all is made). Drafts have no vectors.

    ``whole``: ``pages`` are all there are, and rows of others go. What database or model could not do is ``error``.
    """
    budget = _Budget(within)
    published = [page for page in pages if not page.is_draft]
    try:
        report = embed_pages(published, embedder, store, progress, gone=None if whole else (), stop=budget.is_spent)
        missing = set() if report.complete else _incomplete(published, embedder, store)
        versions = {
            page.path: vector_version(page, embedder.model_version)
            for page in published
            if page.concept_name not in missing
        }
    except (DatabaseError, ProviderError) as error:
        return WikiVectors(EmbeddingReport(complete=False, problem=str(error)), {}, str(error))
    # Vectors left for later are no fault; a model that said no is.
    return WikiVectors(report, versions, None if budget.spent else report.problem)


class _Budget:
    """Says when the time for vectors is over, and remembers that it did."""

    def __init__(self, seconds: float | None) -> None:
        self._deadline = None if seconds is None else time.monotonic() + seconds
        self.spent = False

    def is_spent(self) -> bool:
        self.spent = self._deadline is not None and time.monotonic() > self._deadline
        return self.spent


def _incomplete(pages: Sequence[WikiPage], embedder: Embedder, store: IndexableStore) -> set[str]:
    """Concept names of pages with a section whose vector is missing or old."""
    stored = store.stored_hashes(embedder.model_version)
    plan = plan_embeddings(pages, stored, gone=())
    return {page.concept_name for page in plan.pages if page.changed or page.removed}


def vector_version(page: WikiPage, model_version: str) -> str:
    """Data version of a page's partition of ``embeddings``."""
    return f"{page.fingerprint[:32]}-{model_version}"
