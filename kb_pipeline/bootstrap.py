"""The object graph of one project, built from its configuration.

Belongs here: constructing stages, stores and providers with plain arguments, each at first use. With
``defs/resources.py`` the only reader of ``config``. Does not belong here: what the stages do.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import cached_property
from pathlib import Path
from threading import Lock, RLock
from typing import TYPE_CHECKING

from kb_pipeline.building.state import BuildState
from kb_pipeline.config import CONFIG_FILE, Settings, load_settings
from kb_pipeline.config.schema import EMBEDDED
from kb_pipeline.errors import SourceError, StorageError, UnreadableTextError
from kb_pipeline.models import (
    BuildPlan,
    Finding,
    PageDraft,
    PageProvenance,
    RawDocument,
    RawEntry,
    ReviewEntry,
    SearchAnswer,
    WikiPage,
)
from kb_pipeline.planning.planner import documents_known, make_plan, pages_fingerprint
from kb_pipeline.sources.layout import SourceLayout, SourceRule
from kb_pipeline.storage.cache import CacheFile, PageCache, RawCache
from kb_pipeline.storage.pages import PageFolder

if TYPE_CHECKING:
    from kb_pipeline.building.publishing import Publication
    from kb_pipeline.building.sync import Sync
    from kb_pipeline.building.vectors import WikiVectors
    from kb_pipeline.graph.wiki_graph import WikiGraph
    from kb_pipeline.lint import LintPolicy
    from kb_pipeline.ports import Embedder, Progress, Rewriter
    from kb_pipeline.rewriting.review import ReviewQueue
    from kb_pipeline.sources.adapters import FetchReport
    from kb_pipeline.storage.database import Database
    from kb_pipeline.storage.locks import BuildLock
    from kb_pipeline.storage.postgres import EmbeddedPostgres
    from kb_pipeline.storage.snapshots import Snapshot, SnapshotStore
    from kb_pipeline.storage.vectors import PgVectorStore
    from kb_pipeline.text.glossary import Glossary

ABANDONED_SECONDS = 3600.0
SCOPE_RULES = frozenset({"scope-unresolved"})


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
        self.progress: Progress | None = None
        self._publication: tuple[str, Publication] | None = None
        self._planning = RLock()  # a code server evaluates sensor and schedule in threads of their own
        self._stamps_at_start = self._stamps()

    @classmethod
    def open(cls, root: Path, *, environ: Mapping[str, str], flags: Mapping[str, object] | None = None) -> Project:
        """Raises ConfigError with every fault of the configuration."""
        return cls(load_settings(root, environ=environ, flags=flags or {}))

    def configuration_changed(self) -> bool:
        """Whether ``kb.yml`` or the glossary is no longer what this object was made from."""
        return self._stamps() != self._stamps_at_start

    def _stamps(self) -> tuple[int, ...]:
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
            SourceRule(
                (source.path if source.type == "filesystem" else source.target) or "", source.scope, source.domain
            )
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

    def glossary_problems(self) -> list[str]:
        """What in the glossary could not be read, one line each: its other entries hold."""
        name = self.settings.paths.glossary
        return [f"{name}:{problem.line or 1}: {problem.message}" for problem in self.glossary.problems]

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
        looking_up = Lock()

        def read(entry: RawEntry) -> RawDocument:
            nonlocal dates
            with looking_up:  # git is asked once, not by each thread of a pool
                if dates is None:
                    dates = document_dates(self.settings.raw, [found.disk_path for found in entries])
            return read_document(
                self.settings.raw, entry, scope=self.layout.scope_of(entry.path), dated=dates.get(entry.disk_path)
            )

        return read

    @cached_property
    def embedding_version(self) -> str:
        """What of the configuration decides which vectors there are; the model itself is not loaded for it."""
        return f"{self.settings.embedding.provider}/{self.settings.embedding.model or ''}"

    # -- planning and compiling ---------------------------------------------------------------------------------

    @cached_property
    def rewriter(self) -> Rewriter:
        from kb_pipeline.rewriting.offline import OfflineRewriter

        return OfflineRewriter(self.glossary, self._gates, today=self.today)

    @cached_property
    def rewriter_key(self) -> str:
        """``rewriter.key`` without loading the rewriter: all that a plan needs of it."""
        from kb_pipeline.rewriting.rules import offline_key

        return offline_key(self.glossary)

    def _gates(self, drafts: Sequence[PageDraft], document: RawDocument) -> Sequence[Finding]:
        """The gates of SPEC 6.3 over the drafts of one document."""
        from kb_pipeline.lint import lint_page
        from kb_pipeline.rewriting.gates import run_gates

        def page_lint(page: WikiPage) -> Sequence[Finding]:
            # A scope that is still open is for a person to name on the page itself: no reason to hold it back.
            found = lint_page(page, self.lint_policy, self.today())
            return [finding for finding in found if finding.rule not in SCOPE_RULES]

        return run_gates(drafts, document, page_lint=page_lint, model=False, glossary=self.glossary).findings

    def plan(
        self,
        recorded: Mapping[str, str] | None = None,
        *,
        upgrade: bool = False,
        full: bool = False,
        only: Sequence[str] | None = None,
    ) -> PlannedBuild:
        """Look at the disk and decide. ``recorded``: what the event log says, by document; None leaves it out."""
        with self._planning:
            return self._plan(recorded, upgrade=upgrade, full=full, only=only)

    def _plan(
        self, recorded: Mapping[str, str] | None, *, upgrade: bool, full: bool, only: Sequence[str] | None
    ) -> PlannedBuild:
        entries = self.scan()
        pages = self.pages.scan()
        reviews = self.reviews.scan()
        fingerprint = self.content_fingerprint(pages)
        plan = make_plan(
            entries,
            list(pages.values()),
            list(reviews.entries),
            recorded,
            self.rewriter_key,
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
            repr(self.glossary.terms),
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
                raw_folder=self._raw_folder,
            ),
            progress=progress,
        )

    @property
    def _raw_folder(self) -> str:
        """The way from ``knowledge/`` to ``raw/``."""
        return Path(os.path.relpath(self.settings.raw, self.settings.knowledge)).as_posix()

    @property
    def lock_path(self) -> Path:
        return self.settings.state / "build.lock"

    def lock(self, *, wait: float, purpose: str) -> BuildLock:
        """The lock that every build of this project takes: the command line's and the daemon's runs alike."""
        from kb_pipeline.storage.locks import BuildLock

        return BuildLock(self.lock_path, wait=wait, purpose=purpose)

    def clear_temporaries(self) -> None:
        """Remove what a killed process left half-written; to be called with the lock held."""
        from kb_pipeline.storage.files import remove_temporaries

        for folder in (self.settings.raw, self.settings.knowledge):
            remove_temporaries(folder, older_than=self.clock.now().timestamp() - ABANDONED_SECONDS)

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
            rewriter_key=self.rewriter_key,
            raw_folder=self._raw_folder,
            silenced={item.rule: item.reason for item in settings.lint.silenced},
        )

    def lint(self, pages: Sequence[WikiPage]) -> list[Finding]:
        """Every finding on every page, in order."""
        from kb_pipeline.lint import lint_all

        return lint_all(pages, self.lint_policy, self.today())

    def fix(self, chosen: Collection[str] | None) -> list[str]:
        """Mend what is mechanical on the chosen pages; returns the paths that changed."""
        from kb_pipeline.building.mending import mend_pages

        with self.lock(wait=60.0, purpose="kb lint --fix"):
            return mend_pages(self.pages, self.lint_policy, chosen)

    # -- vectors ------------------------------------------------------------------------------------------------

    @cached_property
    def embedder(self) -> Embedder:
        from kb_pipeline.providers.registry import build_embedder

        return build_embedder(self.settings.embedding.provider, self.settings.embedding.model)

    @cached_property
    def postgres(self) -> EmbeddedPostgres:
        from kb_pipeline.storage.postgres import EmbeddedPostgres

        return EmbeddedPostgres(self.settings.state / "pg")

    @cached_property
    def database(self) -> Database:
        from kb_pipeline.storage.database import Database

        url = self.settings.database_url()
        return Database(self.postgres if url == EMBEDDED else url)

    @cached_property
    def vector_store(self) -> PgVectorStore:
        from kb_pipeline.storage.vectors import PgVectorStore

        return PgVectorStore(self.database)

    def dagster_url(self) -> str:
        """Where Dagster keeps runs and events: a database of its own on the embedded server, or the external one."""
        url = self.settings.database_url()
        if url == EMBEDDED:
            return self.postgres.psycopg2_url("dagster")
        # SQLAlchemy 2.1 takes psycopg 3 for a plain postgresql://; dagster-postgres needs psycopg2 (dagster#33958).
        return "postgresql+psycopg2://" + url.partition("://")[2]

    def embed(self, progress: Progress, *, backlog: bool, only: Collection[str] | None = None) -> WikiVectors:
        """Make missing vectors: for a short while before a publication, or (``backlog``) all of them.

        ``only``: of these pages alone; one that does not exist has none.
        """
        from kb_pipeline.building.vectors import INLINE_SECONDS, embed_wiki

        pages = [page for path, page in self.pages.load_all().items() if only is None or path in only]
        return embed_wiki(
            pages,
            self.embedder,
            self.vector_store,
            progress,
            within=None if backlog else INLINE_SECONDS,
            whole=only is None,
        )

    # -- what the last build left -------------------------------------------------------------------------------

    @property
    def _state_file(self) -> Path:
        return self.settings.state / "state.json"

    def fingerprint_now(self) -> str:
        """Of pages and settings as they are on disk at this moment."""
        return self.content_fingerprint(self.pages.scan())

    def note_synced(self, fingerprint: str, *, vectors_complete: bool) -> None:
        """Remember that the pages of this fingerprint are linked and on record."""
        BuildState(fingerprint, fingerprint if vectors_complete else "").save(self._state_file)

    def note_vectors(self, fingerprint: str, *, complete: bool) -> None:
        """Remember whether each section of the pages of this fingerprint has its vector."""
        state = BuildState.load(self._state_file)
        replace(state, vectors=fingerprint if complete else "").save(self._state_file)

    def is_synced(self, planned: PlannedBuild) -> bool:
        """Whether the pages are as the last sync left them."""
        return BuildState.load(self._state_file).synced == planned.pages_fingerprint

    def vectors_missing(self, planned: PlannedBuild) -> bool:
        """Whether the last build knew of sections without a vector, or did not get so far."""
        return BuildState.load(self._state_file).vectors != planned.pages_fingerprint

    def is_current(self, planned: PlannedBuild) -> bool:
        """Whether there is nothing to do at all; answered from the disk, without Dagster or the database."""
        state = BuildState.load(self._state_file)
        return not planned.plan and state.synced == state.vectors == planned.pages_fingerprint

    def sync_reasons(self, planned: PlannedBuild) -> list[str]:
        """Why a sync is due, one line a document; empty when none is."""
        plan = planned.plan
        reasons = [f"compile {path} {(planned.raw[path].sha256 or '')[:16]}" for path in plan.compile]
        reasons += [f"move {move.old} {move.new}" for move in plan.moved]
        reasons += [f"remove {path}" for path in plan.removed]
        if not reasons and not self.is_synced(planned):
            reasons.append(f"pages changed {planned.pages_fingerprint[:16]}")
        return reasons

    def newest_change(self, planned: PlannedBuild) -> float:
        """When the newest of the documents to compile was written, seconds since the epoch; 0 when none is."""
        newest = 0.0
        for path in planned.plan.compile:
            with suppress(OSError):  # gone since the scan: the next plan sees that
                newest = max(newest, (self.settings.raw / planned.raw[path].disk_path).stat().st_mtime)
        return newest

    @property
    def has_custom_sources(self) -> bool:
        """Whether there is anything that only fetching would show to have changed."""
        return any(source.type == "custom" for source in self.settings.sources)

    def fetch_sources(self) -> list[FetchReport]:
        """With the lock held, let each custom adapter write what it has into ``raw/``. One that fails is a report, never a removal."""
        from kb_pipeline.sources.adapters import FetchReport, fetch_into_raw, load_adapter
        from kb_pipeline.storage.files import write_atomic

        reports = []
        for source in self.settings.sources:
            if source.type != "custom" or source.module is None:
                continue
            try:
                adapter = load_adapter(source.module, source.options)
                report = fetch_into_raw(
                    adapter,
                    self.settings.raw,
                    self.settings.state / "raw-history",
                    write_file=write_atomic,
                    target=source.target,
                )
            except SourceError as error:
                report = FetchReport(source.target or source.module, error=str(error))
            reports.append(report)
        return reports

    # -- publishing and reading ---------------------------------------------------------------------------------

    @cached_property
    def snapshots(self) -> SnapshotStore:
        from kb_pipeline.storage.snapshots import SnapshotStore

        return SnapshotStore(self.settings.build)

    def snapshot(self) -> Snapshot:
        """What is published. Raises SnapshotMissingError."""
        return self.snapshots.required()

    def snapshot_or_none(self) -> Snapshot | None:
        return self.snapshots.current_or_none()

    def published_fingerprint(self) -> str | None:
        """Of the pages and settings that the current snapshot was made from; None when there is none to be read."""
        snapshot = self.snapshot_or_none()
        return None if snapshot is None else str(snapshot.report.get("fingerprint"))

    def published_pages(self) -> list[str]:
        """Pages that have, or will have, a partition: all but drafts."""
        return [path for path, page in self.pages.load_all().items() if not page.is_draft]

    def publication(self) -> Publication:
        """The publication of the pages as they are now: the same object while nothing changes."""
        from kb_pipeline.building.publishing import Publication, PublishSettings
        from kb_pipeline.markdown.decoding import decode_text

        fingerprint = self.fingerprint_now()
        if self._publication is None or self._publication[0] != fingerprint:
            pages = self.pages.load_all()
            made = Publication(
                self.snapshots,
                self.settings.build,
                pages,
                self.lint(list(pages.values())),
                lambda path: decode_text(self.pages.read_text(path)),
                self.clock.now,
                PublishSettings(
                    self.settings.language, self.settings.lint.gate, self.settings.manifest.budget_tokens, fingerprint
                ),
            )
            self._publication = (fingerprint, made)
        return self._publication[1]

    @contextmanager
    def publishing(self, run: str) -> Iterator[Publication]:
        """The publication, with the project's lock held: no build changes a page meanwhile."""
        with self.lock(wait=600.0, purpose=f"Dagster run {run}"):
            yield self.publication()

    def preview(self, path: str, characters: int) -> str:
        """The beginning of a page's body, for a report."""
        body = self.pages.read(path).body
        return body if len(body) <= characters else body[:characters].rstrip() + " …"

    def graph(self) -> WikiGraph:
        """The graph of the published pages."""
        from kb_pipeline.graph.wiki_graph import WikiGraph
        from kb_pipeline.markdown.pages import read_page

        snapshot = self.snapshot()
        return WikiGraph.from_pages(read_page(path, snapshot.page_text(path).encode()) for path in snapshot.pages())

    def search(self, query: str, top_k: int, *, hybrid: bool) -> SearchAnswer:
        """Search what is published; with ``hybrid`` by vectors too. Raises SnapshotMissingError."""
        from kb_pipeline.markdown.decoding import decode_text, text_hash

        def current_hash(path: str) -> str | None:
            try:
                return text_hash(decode_text(self.pages.read_text(path)))
            except (StorageError, UnreadableTextError):
                return None

        now, snapshot = self.clock.now(), self.snapshot()
        if not hybrid:
            from kb_pipeline.retrieval.keyword import keyword_search

            return keyword_search(snapshot, query, self.glossary, top_k, now=now, current_hash=current_hash)
        from kb_pipeline.retrieval.hybrid import HybridOptions, hybrid_search

        options = HybridOptions(
            top_k, self.settings.retrieval.keyword_weight, min_score=self.settings.retrieval.min_score
        )
        return hybrid_search(
            snapshot,
            query,
            self.embedder,
            self.vector_store,
            now=now,
            glossary=self.glossary,
            options=options,
            current_hash=current_hash,
        )

    def age_text(self, snapshot: Snapshot) -> str:
        """How long ago a snapshot was published, in words."""
        minutes = snapshot.age_seconds(self.clock.now()) / 60
        if minutes < 1:
            return "less than a minute"
        if minutes < 120:
            return f"{minutes:.0f} minutes"
        return f"{minutes / 60:.0f} hours" if minutes < 48 * 60 else f"{minutes / 1440:.0f} days"
