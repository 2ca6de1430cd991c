"""``EmbeddingProvider``: what every embedding model has in common, so that a vendor's file is only its call.

What belongs here: the checks of what goes in and comes out, and the model's version. What does not: any vendor.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kb_pipeline.errors import PermanentProviderError
from kb_pipeline.models import TEXT_SCHEME
from kb_pipeline.ports import Vectors


class EmbeddingProvider(ABC):
    """Implements ``ports.Embedder``; a vendor adds ``_embed`` and what it is called. Thread-safe if ``_embed`` is."""

    @property
    @abstractmethod
    def provider(self) -> str:
        """As in kb.yml."""

    @property
    @abstractmethod
    def model(self) -> str: ...

    @property
    @abstractmethod
    def dimensions(self) -> int: ...

    @property
    @abstractmethod
    def prefix_scheme(self) -> str:
        """Names what the provider adds to queries and passages; another scheme makes other vectors."""

    @property
    @abstractmethod
    def keyword_weight(self) -> float:
        """Weight of the keyword arm beside these vectors, in [0, 1]: the weaker the vectors, the higher."""

    @abstractmethod
    def _embed(self, texts: Sequence[str], *, query: bool) -> NDArray[np.floating]:
        """One row a text, in order. ``texts`` are neither empty nor blank, and clean of NUL and lone surrogates."""

    @property
    def model_version(self) -> str:
        return f"{self.provider}/{self.model}/{self.dimensions}/{self.prefix_scheme}/{TEXT_SCHEME}"

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """One row a text, in order.

        Raises ValueError for a blank text (a caller's mistake), PermanentProviderError when the model answers with
        another number of vectors, another width, or numbers that are none: a vector is never paired with the wrong
        text.
        """
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        return self._checked([_clean(text) for text in texts], query=False)

    def embed_query(self, text: str) -> Vectors:
        """Shape (1, dim). Raises as ``embed_passages`` does."""
        return self._checked([_clean(text)], query=True)

    def _checked(self, texts: list[str], *, query: bool) -> Vectors:
        blank = [place for place, text in enumerate(texts) if not text.strip()]
        if blank:
            raise ValueError(f"Blank texts cannot be embedded (places {blank[:5]} of {len(texts)}).")
        vectors = np.asarray(self._embed(texts, query=query), dtype=np.float32)
        expected = (len(texts), self.dimensions)
        if vectors.shape != expected:
            raise PermanentProviderError(
                f"{self.provider}/{self.model} answered with vectors of shape {vectors.shape}, not {expected}: "
                "nothing was stored. Check the model and its width in kb.yml."
            )
        if not np.isfinite(vectors).all() or not vectors.any(axis=1).all():
            raise PermanentProviderError(
                f"{self.provider}/{self.model} answered with a vector that is zero or not a number: nothing was stored."
            )
        return vectors


def _clean(text: str) -> str:
    if "\0" in text:
        text = text.replace("\0", " ")
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
