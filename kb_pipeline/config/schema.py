"""The keys of ``kb.yml``: types, ranges, defaults (SPEC 2).

Belongs here: a section for each part of the product that reads one, and nothing that no part reads. Not here: where
values come from (``layers``), checks that need several keys or the disk (``checks``). Secrets are never values, only
the names of environment variables.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, StringConstraints

from kb_pipeline.errors import ConfigError

KNOWN_VERSION = 1
"""The newest ``version`` of ``kb.yml`` that this program understands."""

EMBEDDED = "embedded"

Fraction = Annotated[float, Field(ge=0, le=1)]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
VariableName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]

_COMMAS = re.compile(r"[,，、]")


def _as_list(value: object) -> object:
    """A list may be written as one line with commas, as an environment variable has to be; nothing is no item."""
    if value is None:
        return []
    if isinstance(value, str):
        return [item.strip() for item in _COMMAS.split(value) if item.strip()]
    return value


TextList = Annotated[tuple[Text, ...], BeforeValidator(_as_list)]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)


class PathSettings(_Section):
    """Folders and files of the project, relative to its root."""

    raw: Text = "raw"
    knowledge: Text = "knowledge"
    build: Text = "build"
    review: Text = "review"
    glossary: Text = "glossary.yml"
    state: Text = ".kb"


class SourceSettings(_Section):
    """Where documents come from.

    ``filesystem`` reads ``path`` below the raw folder in place; ``custom`` fetches with the adapter class ``module``
    (``package.module.Class``) into ``target``; its ``options`` are texts, true, false, lists and mappings of those, as
    written. ``scope`` and ``domain`` hold for the documents of the source.
    """

    type: Literal["filesystem", "custom"] = "filesystem"
    path: Text | None = None
    target: Text | None = None
    module: Text | None = None
    options: dict[str, object] = Field(default_factory=dict)
    scope: Text | None = None
    domain: Text | None = None


class EmbeddingSettings(_Section):
    """``offline``: multilingual e5 small; ``light``: quicker and weaker; ``hashing``: for tests, no meaning in it."""

    provider: Literal["offline", "light", "hashing"] = "offline"
    model: Text | None = None


class DatabaseSettings(_Section):
    """``url``: ``embedded`` or a DSN without password; ``url_env`` names the variable that holds a whole DSN."""

    url: Text = EMBEDDED
    url_env: VariableName | None = None


class RewriteSettings(_Section):
    """``concurrency``: documents compiled at once by a rewriter that waits for a vendor; the offline one never waits."""

    provider: Literal["offline"] = "offline"
    concurrency: Annotated[int, Field(ge=1, le=64)] = 4


class SilencedRule(_Section):
    """A lint rule that is not reported, and why."""

    rule: Text
    reason: Text


class LintSettings(_Section):
    """``gate``: ``page`` keeps a faulty page at its last published version, ``all`` publishes nothing while any error
    stands. ``categories``: words that are categories and so never a scope."""

    gate: Literal["page", "all"] = "page"
    silenced: tuple[SilencedRule, ...] = ()
    categories: TextList = ()


class RetrievalSettings(_Section):
    """``keyword_weight``: share of the keyword arm, default that of the embedding model."""

    keyword_weight: Fraction | None = None
    top_k: Annotated[int, Field(ge=1, le=100)] = 5
    min_score: Fraction = 0.15


class ManifestSettings(_Section):
    """``budget_tokens``: what the manifest may cost in a prompt before it is cut in two stages."""

    budget_tokens: Annotated[int, Field(ge=1_000, le=1_000_000)] = 25_000


class RebuildSettings(_Section):
    """When Dagster builds. ``deletion_*``: a build that removes at least ``deletion_count``
    documents and more than ``deletion_fraction`` of them is refused."""

    mode: Literal["nightly", "on_change"] = "nightly"
    cron: Text = "0 3 * * *"
    timezone: Text = "Asia/Taipei"
    quiet_seconds: Annotated[int, Field(ge=0, le=86_400)] = 30
    deletion_fraction: Fraction = 0.2
    deletion_count: Annotated[int, Field(ge=1, le=1_000_000)] = 5


class Settings(_Section):
    """The effective configuration of one project. ``origins`` tells for each leaf (``rewrite.concurrency``) where its
    value comes from: ``flag``, ``env``, ``kb.yml:LINE`` or ``default``."""

    version: Annotated[int, Field(ge=1)] = KNOWN_VERSION
    language: Literal["zh-TW", "en"] = "zh-TW"
    paths: PathSettings = PathSettings()
    sources: tuple[SourceSettings, ...] = (SourceSettings(),)
    ignore: TextList = ()
    scopes: TextList = ()
    default_scope: Text | None = None
    embedding: EmbeddingSettings = EmbeddingSettings()
    database: DatabaseSettings = DatabaseSettings()
    rewrite: RewriteSettings = RewriteSettings()
    lint: LintSettings = LintSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    manifest: ManifestSettings = ManifestSettings()
    rebuild: RebuildSettings = RebuildSettings()

    _root: Path = PrivateAttr(default=Path())
    _origins: dict[str, str] = PrivateAttr(default_factory=dict)
    _secrets: dict[str, str] = PrivateAttr(default_factory=dict)

    @property
    def root(self) -> Path:
        """The project's folder, absolute."""
        return self._root

    @property
    def origins(self) -> dict[str, str]:
        return dict(self._origins)

    @property
    def raw(self) -> Path:
        return self._root / self.paths.raw

    @property
    def knowledge(self) -> Path:
        return self._root / self.paths.knowledge

    @property
    def build(self) -> Path:
        return self._root / self.paths.build

    @property
    def review(self) -> Path:
        return self._root / self.paths.review

    @property
    def glossary(self) -> Path:
        return self._root / self.paths.glossary

    @property
    def state(self) -> Path:
        return self._root / self.paths.state

    def database_url(self) -> str:
        """``embedded`` or the DSN, with its password. Raises ConfigError when the named variable is not set."""
        name = self.database.url_env
        if name is None:
            return self.database.url
        if not self._secrets.get(name):
            raise ConfigError(
                [f"database.url_env names {name}, which is not set: set it to a DSN, or use database.url: embedded"]
            )
        return self._secrets[name]

    def masked(self) -> dict[str, str]:
        """Every leaf as text for ``kb config``; a password in a DSN is replaced."""
        return {key: _masked(_shown(value)) for key, value in leaves(self).items()}


def leaves(section: BaseModel, prefix: str = "") -> dict[str, object]:
    """Dotted key → value of every setting; a list or a mapping is one leaf."""
    found: dict[str, object] = {}
    for name in type(section).model_fields:
        value = getattr(section, name)
        if isinstance(value, BaseModel):
            found.update(leaves(value, f"{prefix}{name}."))
        else:
            found[prefix + name] = value
    return found


_PASSWORD_IN_URL = re.compile(r"(?<=://)([^/@\s:]*):[^@\s/]*@")
_PASSWORD_WORD = re.compile(r"\b(password|sslpassword)\s*=\s*('(?:[^'\\]|\\.)*'|[^\s&]*)", re.IGNORECASE)


def has_password(url: str) -> bool:
    """Whether a DSN, as URL or as words, carries a password."""
    return bool(_PASSWORD_IN_URL.search(url) or _PASSWORD_WORD.search(url))


def _masked(text: str) -> str:
    return _PASSWORD_WORD.sub(r"\1=***", _PASSWORD_IN_URL.sub(r"\1:***@", text))


def _shown(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, tuple):
        return ", ".join(_shown(item) for item in value) or "-"
    if isinstance(value, BaseModel):
        given = value.model_dump(exclude_none=True)
        given = {key: item for key, item in given.items() if item not in ((), {})}
        return "{" + ", ".join(f"{key}: {item}" for key, item in given.items()) + "}"
    return str(value)
