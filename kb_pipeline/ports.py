"""Protocols for what a stage needs from outside it. Stages take these; ``bootstrap`` supplies them; tests fake them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kb_pipeline.models import (
    Chunk,
    Finding,
    RawDocument,
    RewriteContext,
    RewriteOutcome,
    VectorHit,
    WikiPage,
)

Vectors = NDArray[np.float32]
"""Shape (n, dim)."""

PageLint = Callable[[WikiPage], Sequence[Finding]]
"""The rules of one page, own findings only: the gate ``page lint`` of SPEC 6.3."""


class Clock(Protocol):
    def now(self) -> datetime:
        """The current time, aware, UTC."""
        ...


class Rewriter(Protocol):
    """Turns one raw document into pages (SPEC 6). Implementations are pure but for their vendor."""

    @property
    def name(self) -> str:
        """What goes into ``compiled.by``: ``offline`` or ``provider/model``."""
        ...

    @property
    def key(self) -> str:
        """Hash of rewriter, model, prompt and rules (12 hex digits): another key makes pages outdated."""
        ...

    def rewrite(self, document: RawDocument, context: RewriteContext) -> RewriteOutcome:
        """Expected outcomes are returned. Raises TransientProviderError when another try may help."""
        ...


class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def model_version(self) -> str:
        """provider/model/width/prefix scheme/text scheme."""
        ...

    @property
    def dimensions(self) -> int: ...

    @property
    def keyword_weight(self) -> float:
        """Weight of the keyword arm beside this model's vectors in hybrid search, in [0, 1]."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """One row a text, in order. ``texts`` are never blank."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """Shape (1, dim)."""
        ...


class VectorStore(Protocol):
    """Vectors of chunks, by model (SPEC 12). Raises DatabaseUnavailableError when it cannot be reached."""

    def stored_hashes(self, model_version: str) -> dict[tuple[str, str], str]:
        """(concept_name, section_id) → content_hash of every row of a model; empty when it has none."""
        ...

    def known_vectors(self, model_version: str, content_hashes: Sequence[str]) -> dict[str, Vectors]:
        """Vectors already made for these texts, by content hash, shape (1, dim): a moved text costs no call."""
        ...

    def apply(
        self,
        model_version: str,
        dimensions: int,
        upserts: Iterable[tuple[Chunk, Vectors]],
        removed: Iterable[tuple[str, str]],
    ) -> None:
        """One transaction: rows written and rows of vanished sections deleted."""
        ...

    def search(self, model_version: str, query: Vectors, top_k: int) -> list[VectorHit]:
        """Nearest first."""
        ...

    def similarities(
        self, model_version: str, query: Vectors, keys: Sequence[tuple[str, str]]
    ) -> dict[tuple[str, str], float]:
        """Cosine of the named rows: so that each pooled candidate is scored by both arms."""
        ...


class Progress(Protocol):
    """Told how far a long step is; surfaces draw it on stderr, tests record it."""

    def update(self, step: str, done: int, total: int, detail: str = "") -> None: ...
