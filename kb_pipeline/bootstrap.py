"""The object graph of one project, built from its configuration.

Belongs here: constructing stages, stores and providers with plain arguments, each at first use. With
``defs/resources.py`` the only reader of ``config``. Does not belong here: what the stages do.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from kb_pipeline.config import CONFIG_FILE, Settings, load_settings
from kb_pipeline.errors import DatabaseUnavailableError
from kb_pipeline.models import BuildPlan, Finding, PageProvenance, RawDocument, RawEntry, ReviewEntry, WikiPage
from kb_pipeline.planning.planner import documents_known, make_plan, pages_fingerprint
from kb_pipeline.sources.layout import SourceLayout, SourceRule
from kb_pipeline.storage.cache import CacheFile, PageCache, RawCache
from kb_pipeline.storage.pages import PageFolder

if TYPE_CHECKING:
    from kb_pipeline.building.sync import Sync
    from kb_pipeline.lint import LintPolicy
    from kb_pipeline.ports import Embedder, Progress, Rewriter
    from kb_pipeline.rewriting.review import ReviewQueue
    from kb_pipeline.storage.database import Database
    from kb_pipeline.storage.locks import BuildLock
    from kb_pipeline.storage.vectors import PgVectorStore
    from kb_pipeline.text.glossary import Glossary


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class PlannedBuild:
    """A plan with the state of the disk that it was made from."""

    plan: BuildPlan
    raw: Mapping[str, RawEntry]
    pages: Mapping[str, PageProvenance]
    reviews: tuple[ReviewEntry, ...]
    review_problems: tuple[Finding, ...]
    pages_fingerprint: str

    @property
    def documents_known(self) -> int:
        """How many documents something of the product's hangs on: the base of the deletion guard."""
        return len(documents_known(self.pages.values(), self.reviews))


class Project:
    """One knowledge base on disk. Cheap to open; everything dear is made when it is first asked for."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.root = settings.root
        self.clock = SystemClock()

    @classmethod
    def open(cls, root: Path, *, environ: Mapping[str, str], flags: Mapping[str, object] | None = None) -> Project:
        """Raises ConfigError with every fault of the configuration."""
        return cls(load_settings(root, environ=environ, flags=flags or {}))

    def configuration_changed(self) -> bool:
        """Whether ``kb.yml`` or the glossary is no longer what this object was made from."""
        return self._stamps() != self._stamps_at_start

    @cached_property
    def _stamps_at_start(self) -> tuple[float, ...]:
        return self._stamps()

    def _stamps(self) -> tuple[float, ...]:
        files = (self.root / CONFIG_FILE, self.settings.glossary)
        return tuple(file.stat().st_mtime_ns if file.exists() else 0 for file in files)

    # -- what is on disk ----------------------------------------------------------------------------------------

    @cached_property
    def _cache(self) -> CacheFile:
        return CacheFile(self.settings.state / "cache.sqlite")

    @cached_property
    def pages(self) -> PageFolder:
        return PageFolder(self.settings.knowledge, PageCache(self._cache))

    @cached_property
    def reviews(self) -> ReviewQueue:
        from kb_pipeline.rewriting.review import ReviewQueue

        return ReviewQueue(self.settings.review)

    @cached_property
    def layout(self) -> SourceLayout:
        return SourceLayout(
            SourceRule((source.path if source.type == "filesystem" else source.target) or "", source.scope, source.domain)
            for source in self.settings.sources
        )

    @cached_property
    def glossary(self) -> Glossary:
        from kb_pipeline.text.glossary import Glossary, parse_glossary

        try:
            text = self.settings.glossary.read_text(encoding="utf-8")
        except FileNotFoundError:
            return Glossary.empty()
        return parse_glossary(text)

    def scan(self) -> list[RawEntry]:
        """Every file under ``raw/``. Raises SourceError when the folder is missing."""
        from kb_pipeline.sources.filesystem import scan_raw

        return scan_raw(
            self.settings.raw, self.root / ".kbignore", RawCache(self._cache), patterns=self.settings.ignore
        )

    def reader(self, entries: Sequence[RawEntry]) -> Callable[[RawEntry], RawDocument]:
        """Reads documents of a scan; their dates are looked up for all of ``entries`` at once, when first needed."""
        from kb_pipeline.sources.dates import document_dates
        from kb_pipeline.sources.filesystem import read_document

        dates: dict[str, date] | None = None

        def read(entry: RawEntry) -> RawDocument:
            nonlocal dates
            if dates is None:
                dates = document_dates(self.settings.raw, [found.disk_path for found in entries])
            return read_document(
                self.settings.raw, entry, scope=self.layout.scope_of(entry.path), dated=dates.get(entry.disk_path)
            )

        return read

    # -- planning and compiling ---------------------------------------------------------------------------------

    @cached_property
    def rewriter(self) -> Rewriter:
        from kb_pipeline.rewriting.offline import OfflineRewriter

        return OfflineRewriter(self.glossary, self._gates, today=self.today)

    def plan(
        self,
        recorded: Mapping[str, str] | None = None,
        *,
        upgrade: bool = False,
        full: bool = False,
        only: Sequence[str] | None = None,
    ) -> PlannedBuild:
        """Look at the disk and decide. ``recorded``: what the event log says, by document; None leaves it out."""
        entries = self.scan()
        pages = self.pages.scan()
        reviews = self.reviews.scan()
        fingerprint = self.content_fingerprint(pages)
        plan = make_plan(
            entries,
            list(pages.values()),
            list(reviews.entries),
            recorded,
            self.rewriter.key,
            upgrade=upgrade,
            full=full,
            only=only,
            snapshot_fingerprint=self.published_fingerprint(),
            current_fingerprint=fingerprint,
        )
        return PlannedBuild(
            plan, {entry.path: entry for entry in entries}, pages, reviews.entries, reviews.problems, fingerprint
        )

    def content_fingerprint(self, pages: Mapping[str, PageProvenance]) -> str:
        """Hash over all pages and over the settings that what is published depends on."""
        import hashlib

        settings = self.settings
        parts = (
            pages_fingerprint(pages.values()),
            settings.language,
            repr(settings.scopes),
            repr(settings.lint),
            repr(settings.manifest),
            self.glossary.digest,
            self.embedding_version,
        )
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]

    def sync(self, raw: Mapping[str, RawEntry], progress: Progress) -> Sync:
        """The one object that changes pages, for one scan."""
        from kb_pipeline.building.sync import Sync, SyncSettings

        settings = self.settings
        return Sync(
            pages=self.pages,
            reviews=self.reviews,
            rewriter=self.rewriter,
            read_raw=self.reader(list(raw.values())),
            domain_of=self.layout.domain_of,
            settings=SyncSettings(
                scopes=settings.scopes,
                default_scope=settings.default_scope,
                language=settings.language,
                concurrency=1 if self.rewriter.name == "offline" else settings.rewrite.concurrency,
                raw_folder=Path(os.path.relpath(settings.raw, settings.knowledge)).as_posix(),
            ),
            progress=progress,
        )

    @property
    def lock_path(self) -> Path:
        return self.settings.state / "build.lock"

    def lock(self, *, wait: float, purpose: str) -> BuildLock:
        """The lock that every build of this project takes: the command line's and the daemon's runs alike."""
        from kb_pipeline.storage.locks import BuildLock

        return BuildLock(self.lock_path, wait=wait, purpose=purpose)

    # -- lint ---------------------------------------------------------------------------------------------------

    def today(self) -> date:
        """The day in the project's time zone."""
        from zoneinfo import ZoneInfo

        return self.clock.now().astimezone(ZoneInfo(self.settings.rebuild.timezone)).date()

    @cached_property
    def lint_policy(self) -> LintPolicy:
        from kb_pipeline.lint import LintPolicy

        settings = self.settings
        return LintPolicy(
            scopes=settings.scopes,
            categories=settings.lint.categories,
            min_body=settings.rewrite.min_characters,
            max_body=settings.rewrite.max_characters,
            silenced={item.rule: item.reason for item in settings.lint.silenced},
        )

    def lint(self, pages: Sequence[WikiPage]) -> list[Finding]:
        """Every finding on every page, in order."""
        from kb_pipeline.lint import lint_all

        return lint_all(pages, self.lint_policy, self.today())
