"""Chunks, edges, hits and the one answer object of CLI, REST and MCP (SPEC 11, 12, 13)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum


class Confidence(StrEnum):
    EXTRACTED = "EXTRACTED"
    INFERRED = "INFERRED"


@dataclass(frozen=True, slots=True)
class Edge:
    """One undirected edge a pair, ``source < target`` (page paths). EXTRACTED outranks INFERRED.

    ``kinds`` say where it comes from (``wikilink``, ``markdown``, ``embed``, ``related``, ``tag:x``, ``keyword:x``);
    ``comment`` is the relation comment of ``related``. ``weight`` is 1 for EXTRACTED, rarity in (0, 1] else.
    ``stated_by`` are the pages whose text states an EXTRACTED edge: one or both of its ends, sorted.
    """

    source: str
    target: str
    confidence: Confidence
    kinds: tuple[str, ...]
    weight: float
    comment: str | None = None
    stated_by: tuple[str, ...] = ()


TEXT_SCHEME = "t1"
"""How ``Chunk.embed_text`` is made (``embeddings.chunking``): part of each ``model_version``, raised with each change."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """What is embedded: a section, or one part of a long one.

    ``concept_name``: page path without ``.md``. ``section_id``: the section's, with ``~2``, ``~3`` … for further
    parts. ``text``: the original (the parts joined give the section). ``embed_text``: breadcrumb + text, what the
    provider sees. ``content_hash``: hex SHA-256 of ``embed_text``.
    """

    concept_name: str
    section_id: str
    address: str
    text: str
    embed_text: str
    content_hash: str


@dataclass(frozen=True, slots=True)
class EmbeddedChunk:
    """A chunk with its vector (``dim`` floats, L2-normalised where the provider does so)."""

    chunk: Chunk
    vector: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class VectorHit:
    """``similarity`` is cosine, ``1 - (embedding <=> query)``."""

    concept_name: str
    section_id: str
    content_hash: str
    similarity: float


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One page found, by its best section. ``breakdown`` explains ``score``: each arm's raw and normalised part."""

    path: str
    section_id: str
    address: str
    title: str
    section_title: str
    scope: str
    status: str
    updated: date | None
    snippet: str
    score: float
    breakdown: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""
    stale: bool = False


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """``degradation`` holds codes: ``vector_unavailable_fallback_to_keyword``, ``graph_unavailable``,
    ``embeddings_incomplete``. ``snapshot_age_seconds`` is the age of what was searched."""

    query: str
    mode: str
    results: tuple[SearchHit, ...]
    snapshot_id: str
    snapshot_age_seconds: float
    degradation: tuple[str, ...] = ()
    stats: Mapping[str, float] = field(default_factory=dict)
