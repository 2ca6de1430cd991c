"""``hashing``: words and character pairs hashed into a vector. For tests and dry runs: no model, no download.

It finds texts that share words, like a keyword search does; it knows no meaning. The same on every machine.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from kb_pipeline.errors import PermanentProviderError
from kb_pipeline.providers.embedding import EmbeddingProvider

_WORD = re.compile(r"[a-z0-9_]+|[^\W_a-z0-9]+")


class HashingEmbedder(EmbeddingProvider):
    """``dimensions``: 64 to 4,096."""

    def __init__(self, dimensions: int = 128) -> None:
        if not 64 <= dimensions <= 4096:
            raise PermanentProviderError(f"hashing makes vectors of 64 to 4096 numbers, not {dimensions}.")
        self._dimensions = dimensions

    @property
    def provider(self) -> str:
        return "hashing"

    @property
    def model(self) -> str:
        return "words-and-pairs"

    @property
    def dimensions(self) -> int:
        return self._dimensions

    @property
    def prefix_scheme(self) -> str:
        return "plain"

    @property
    def keyword_weight(self) -> float:
        return 0.7

    def _embed(self, texts: Sequence[str], *, query: bool) -> NDArray[np.floating]:  # noqa: ARG002 - one kind of text
        return np.stack([self._vector(text) for text in texts])

    def _vector(self, text: str) -> NDArray[np.float32]:
        vector = np.zeros(self._dimensions, dtype=np.float32)
        for feature, count in _features(text).items():
            digest = int.from_bytes(blake2b(feature.encode(), digest_size=8).digest(), "big")
            sign = 1.0 if digest & 1 else -1.0
            vector[(digest >> 1) % self._dimensions] += sign * (1.0 + math.log(count))
        length = float(np.linalg.norm(vector))
        if not length:  # no word, or words that cancel each other out
            vector[0] = length = 1.0
        return vector / np.float32(length)


def _features(text: str) -> Counter[str]:
    features: Counter[str] = Counter()
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).lower()):
        if word.isascii():
            features[word] += 1
        else:
            features.update(word)
            features.update(word[place : place + 2] for place in range(len(word) - 1))
    return features
