"""Apply a build plan to the folder of pages: re-key, remove, compile, link.

Belongs here: the one place that changes ``knowledge/`` and ``review/`` during a build, in an order in which a crash at
any point loses nothing: each page carries its own provenance, so the next plan sees what is missing. Does not belong
here: deciding what to do (``planning``), how a page is made (``rewriting``), vectors (``building.vectors``), Dagster.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from datetime import date

from kb_pipeline.errors import KbError, TransientProviderError
from kb_pipeline.markdown.front_matter import set_fields
from kb_pipeline.markdown.pages import read_page, render_page
from kb_pipeline.models import (
    BuildPlan,
    Compiled,
    DocumentOutcome,
    DocumentState,
    Failed,
    Finding,
    Fragment,
    Held,
    PageDraft,
    RawDocument,
    RawEntry,
    RewriteContext,
    RewriteOutcome,
    SourceRef,
    SyncReport,
    WikiPage,
)
from kb_pipeline.ports import Progress, Rewriter
from kb_pipeline.rewriting.inbox import Inbox
from kb_pipeline.rewriting.linking import link_pass
from kb_pipeline.rewriting.naming import NamingHints, assign_paths
from kb_pipeline.rewriting.review import ReviewQueue
from kb_pipeline.storage.pages import PageFolder

OnOutcome = Callable[[DocumentOutcome], None]
"""Called in the calling thread as each document is finished, its pages being on disk."""


@dataclass(frozen=True, slots=True)
class SyncSettings:
    """What of the configuration a sync depends on."""

    scopes: tuple[str, ...] = ()
    default_scope: str | None = None
    language: str = "zh-TW"
    concurrency: int = 8
    domains: Mapping[str, str] = field(default_factory=dict)
    """Configured domain by the first path segments of a source's target folder."""


class Sync:
    """One run over one plan. ``read_raw`` gives a document's text; it may raise KbError for that document alone."""

    def __init__(
        self,
        *,
        pages: PageFolder,
        reviews: ReviewQueue,
        rewriter: Rewriter,
        read_raw: Callable[[RawEntry], RawDocument],
        raw_assets: Callable[[], frozenset[str]],
        settings: SyncSettings,
        progress: Progress,
    ) -> None:
        self._pages = pages
        self._reviews = reviews
        self._rewriter = rewriter
        self._read_raw = read_raw
        self._raw_assets = raw_assets
        self._settings = settings
        self._progress = progress
        self._written: set[str] = set()
        self._deleted: set[str] = set()

    def run(self, plan: BuildPlan, raw: Mapping[str, RawEntry], on_outcome: OnOutcome) -> SyncReport:
        """Do what ``plan`` says. ``raw`` holds every document of the scan that the plan was made from.

        Raises only when ``knowledge/`` or ``review/`` cannot be written; what happened to a document is its outcome.
        """
        started = time.monotonic()
        seconds: dict[str, float] = {}
        outcomes: list[DocumentOutcome] = []

        def finish(outcome: DocumentOutcome) -> None:
            outcomes.append(outcome)
            on_outcome(outcome)

        pages = self._pages.load_all()
        owned = _by_owner(pages)
        inbox = Inbox.of(pages.values())
        for move in plan.moved:
            finish(self._rekey(move.old, move.new, raw[move.new], owned, inbox))
        for document in plan.removed:
            finish(self._remove(document, owned, inbox))
        seconds["rekey_and_remove"] = time.monotonic() - started

        phase = time.monotonic()
        calls = 0
        for outcome, fragment in self._compile(plan.compile, raw, pages, owned):
            calls += 1 if outcome.metrics.get("called") else 0
            if fragment is not None:
                inbox.put(fragment, raw[outcome.document])
            elif outcome.state is DocumentState.INGESTED:
                inbox.drop(outcome.document)
            finish(outcome)
        seconds["compile"] = time.monotonic() - phase

        phase = time.monotonic()
        for path, text in inbox.changes(read=lambda path: self._read_raw(raw[path]), language=self._settings.language):
            self._store(path, text)
        seconds["inbox"] = time.monotonic() - phase

        phase = time.monotonic()
        self.link()
        seconds["link"] = time.monotonic() - phase
        for document in plan.adopted:
            entry = raw[document]
            paths = tuple(page.path for page in owned.get(document, ()))
            finish(DocumentOutcome(document, DocumentState.UNCHANGED, entry.sha256, paths))
        return SyncReport(
            outcomes=tuple(outcomes),
            pages_written=tuple(sorted(self._written - self._deleted)),
            pages_deleted=tuple(sorted(self._deleted)),
            calls=calls,
            seconds=seconds,
        )
