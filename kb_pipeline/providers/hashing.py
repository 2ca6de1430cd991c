"""``hashing``: words and character pairs hashed into a vector. For tests and dry runs: no model, no download.

It finds texts that share words, like a keyword search does; it knows no meaning. The same on every machine.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise

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
        features = _features(text)
        digests = np.fromiter(map(_digest, features), dtype=np.uint64, count=len(features))
        weights = 1.0 + np.log(np.fromiter(features.values(), dtype=np.float64, count=len(features)))
        signs = np.where(digests & np.uint64(1), weights, -weights)
        places = ((digests >> np.uint64(1)) % np.uint64(self._dimensions)).astype(np.intp)
        vector = np.bincount(places, weights=signs, minlength=self._dimensions).astype(np.float32)
        length = float(np.linalg.norm(vector))
        if not length:  # no word, or words that cancel each other out
            vector[0] = length = 1.0
        return vector / np.float32(length)


@lru_cache(maxsize=1 << 16)
def _digest(feature: str) -> int:
    return int.from_bytes(blake2b(feature.encode(), digest_size=8).digest(), "big")


def _features(text: str) -> Counter[str]:
    features: Counter[str] = Counter()
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).lower()):
        if word.isascii():
            features[word] += 1
        else:
            features.update([*word, *map("".join, pairwise(word))])
    return features
