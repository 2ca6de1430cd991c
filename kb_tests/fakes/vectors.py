"""A vector store in memory and an embedder that counts, for tests of what works over ``ports``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from kb_pipeline.errors import TransientProviderError
from kb_pipeline.models import Chunk, VectorHit
from kb_pipeline.ports import Vectors
from kb_pipeline.providers.hashing import HashingEmbedder

Key = tuple[str, str]


@dataclass
class MemoryVectorStore:
    """``applied`` logs each transaction as (keys written, keys removed)."""

    rows: dict[str, dict[Key, tuple[Chunk, Vectors]]] = field(default_factory=dict)
    applied: list[tuple[list[Key], list[Key]]] = field(default_factory=list)
    optimised: list[str] = field(default_factory=list)
    stamps: dict[str, dict[str, tuple[str, int]]] = field(default_factory=dict)

    def stored_hashes(self, model_version: str, concepts: Collection[str] | None = None) -> dict[Key, str]:
        rows = self.rows.get(model_version, {})
        return {key: chunk.content_hash for key, (chunk, _) in rows.items() if concepts is None or key[0] in concepts}

    def known_vectors(self, model_version: str, content_hashes: Sequence[str]) -> dict[str, Vectors]:
        wanted = set(content_hashes)
        rows = self.rows.get(model_version, {}).values()
        return {chunk.content_hash: vector for chunk, vector in rows if chunk.content_hash in wanted}

    def apply(
        self,
        model_version: str,
        dimensions: int,
        upserts: Iterable[tuple[Chunk, Vectors]],
        removed: Iterable[Key],
        pages: Mapping[str, tuple[str, int]] | None = None,
    ) -> None:
        rows = self.rows.setdefault(model_version, {})
        written = {(chunk.concept_name, chunk.section_id): (chunk, vector) for chunk, vector in upserts}
        gone = list(removed)
        for key in gone:
            rows.pop(key, None)
        rows.update(written)
        self.stamps.setdefault(model_version, {}).update(pages or {})
        self.applied.append((list(written), gone))

    def page_stamps(self, model_version: str, concepts: Collection[str] | None = None) -> dict[str, tuple[str, int]]:
        counts = Counter(name for name, _ in self.rows.get(model_version, {}))
        known = self.stamps.get(model_version, {})
        return {
            name: (known[name][0] if known.get(name, ("", 0))[1] == count else "", count)
            for name, count in counts.items()
            if concepts is None or name in concepts
        }

    def search(self, model_version: str, query: Vectors, top_k: int) -> list[VectorHit]:
        hits = [
            VectorHit(name, section, chunk.content_hash, float(query.reshape(-1) @ vector.reshape(-1)))
            for (name, section), (chunk, vector) in self.rows.get(model_version, {}).items()
        ]
        return sorted(hits, key=lambda hit: -hit.similarity)[:top_k]

    def similarities(self, model_version: str, query: Vectors, keys: Sequence[Key]) -> dict[Key, float]:
        rows = self.rows.get(model_version, {})
        return {key: float(query.reshape(-1) @ rows[key][1].reshape(-1)) for key in keys if key in rows}

    def optimise(self, model_version: str) -> bool:
        self.optimised.append(model_version)
        return False


class CountingEmbedder(HashingEmbedder):
    """Logs the texts it was given; fails from the call numbered ``fails_at`` on (1 is the first)."""

    def __init__(self, dimensions: int = 64, *, fails_at: int | None = None) -> None:
        super().__init__(dimensions)
        self.calls: list[list[str]] = []
        self._fails_at = fails_at

    @property
    def texts(self) -> list[str]:
        return [text for call in self.calls for text in call]

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if self._fails_at is not None and len(self.calls) + 1 >= self._fails_at:
            raise TransientProviderError("the vendor is overloaded")
        self.calls.append(list(texts))
        return super().embed_passages(texts)


def unit(numbers: Sequence[float]) -> Vectors:
    """One row of length 1."""
    vector = np.asarray(numbers, dtype=np.float32).reshape(1, -1)
    return vector / np.linalg.norm(vector)
