"""Apply a build plan to the folder of pages: re-key, remove, compile, link.

Belongs here: the one place that changes ``knowledge/`` and ``review/`` during a build, in an order in which a crash at
any point loses nothing: each page carries its own provenance, so the next plan sees what is missing. Does not belong
here: deciding what to do (``planning``), how a page is made (``rewriting``), vectors (``building.vectors``), Dagster.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, replace

from kb_pipeline.building.compiled import CompiledPages
from kb_pipeline.building.inbox import Inbox
from kb_pipeline.errors import KbError, PermanentProviderError, UnreadableTextError
from kb_pipeline.markdown.front_matter import split_front_matter
from kb_pipeline.models import (
    BuildPlan,
    Compiled,
    DocumentOutcome,
    DocumentState,
    Failed,
    Finding,
    Fragment,
    Held,
    Move,
    RawDocument,
    RawEntry,
    RewriteContext,
    RewriteOutcome,
    Severity,
    SyncReport,
)
from kb_pipeline.ports import Progress, Rewriter
from kb_pipeline.rewriting.linking import LinkPlan, link_pass
from kb_pipeline.rewriting.naming import NamingHints, assign_paths
from kb_pipeline.rewriting.review import ReviewQueue
from kb_pipeline.storage.pages import PageFolder

log = logging.getLogger(__name__)

OnOutcome = Callable[[DocumentOutcome], None]
"""Called in the calling thread as each document is finished, its pages being on disk."""


@dataclass(frozen=True, slots=True)
class SyncSettings:
    """What of the configuration a sync depends on."""

    scopes: tuple[str, ...] = ()
    default_scope: str | None = None
    language: str = "zh-TW"
    concurrency: int = 1
    raw_folder: str = "../raw"
    """The way from ``knowledge/`` to ``raw/``."""


class _Stopwatch:
    """Adds up wall time by phase."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self._seconds = seconds

    @contextmanager
    def __call__(self, phase: str) -> Iterator[None]:
        started = time.monotonic()
        try:
            yield
        finally:
            self._seconds[phase] = self._seconds.get(phase, 0.0) + time.monotonic() - started


class Sync:
    """Changes the wiki as a plan says.

    ``read_raw`` gives a document's text; it may raise KbError for that one. ``domain_of`` gives the domain configured
    for the source of a document.
    """

    def __init__(
        self,
        *,
        pages: PageFolder,
        reviews: ReviewQueue,
        rewriter: Rewriter,
        read_raw: Callable[[RawEntry], RawDocument],
        domain_of: Callable[[str], str | None],
        settings: SyncSettings,
        progress: Progress,
    ) -> None:
        self._pages = pages
        self._reviews = reviews
        self._rewriter = rewriter
        self._read_raw = read_raw
        self._domain_of = domain_of
        self._settings = settings
        self._progress = progress

    def run(self, plan: BuildPlan, raw: Mapping[str, RawEntry], on_outcome: OnOutcome) -> SyncReport:
        """Do what ``plan`` says. ``raw``: every entry of the scan that the plan was made from, by path.

        Raises only when ``knowledge/`` or ``review/`` cannot be written; what happened to a document is its outcome.
        """
        outcomes: list[DocumentOutcome] = []
        seconds: dict[str, float] = {}
        clock = _Stopwatch(seconds)

        def finish(outcome: DocumentOutcome) -> None:
            outcomes.append(outcome)
            on_outcome(outcome)

        with clock("read"):
            wiki = CompiledPages(self._pages, self._reviews, self._rewriter)
            inbox = Inbox.of(wiki.all().values(), self._settings.language, self._rewriter.key)
        with clock("rekey and remove"):
            waiting = {entry.document for entry in self._reviews.entries()} if plan.moved else set()
            due = frozenset(plan.compile)
            for move in plan.moved:
                outcome = self._rekey(move, raw[move.new], wiki, inbox, waits=move.old in waiting)
                # One that is compiled too is done only then.
                if move.new not in due or outcome.state is DocumentState.FAILED:
                    finish(outcome)
            for document in plan.removed:
                finish(self._remove(document, wiki, inbox))
        calls = 0
        with clock("compile"):
            for outcome in self._compile(plan.compile, raw, wiki, inbox):
                calls += 1
                finish(outcome)
        with clock("inbox"):
            for path, text in inbox.changes(wiki.text):
                if text is None:
                    wiki.delete(path)
                else:
                    wiki.store(path, text)
        with clock("link"):
            linked = self._link(raw, wiki)
        for document in plan.adopted:
            finish(self._adopt(raw[document], wiki, inbox))
        return SyncReport(
            outcomes=tuple(outcomes),
            pages_written=tuple(sorted(wiki.written)),
            pages_deleted=tuple(sorted(wiki.deleted)),
            calls=calls,
            seconds=seconds,
            findings=linked.findings,
            pending_links=tuple(f"{link.page}:{link.line}: {link.target}: {link.reason}" for link in linked.pending),
        )

    def _rekey(self, move: Move, entry: RawEntry, wiki: CompiledPages, inbox: Inbox, *, waits: bool) -> DocumentOutcome:
        """The pages keep their addresses and say the new name of their source: no model call."""
        if waits:
            self._reviews.rekey(move.old, move.new)
        problems = wiki.rekey(move.old, move.new)
        inbox.rekey(move.old, move.new)
        if problems:
            reason = f"moved from {move.old}, but {'; '.join(problems)}; mend that page, then build again"
            return DocumentOutcome(move.new, DocumentState.FAILED, entry.sha256, wiki.paths_of(move.new), reason)
        return DocumentOutcome(
            move.new,
            DocumentState.UNCHANGED,
            entry.sha256,
            wiki.paths_of(move.new),
            f"moved from {move.old}",
            key=_made_by(move.new, wiki, inbox),
        )

    def _adopt(self, entry: RawEntry, wiki: CompiledPages, inbox: Inbox) -> DocumentOutcome:
        """Nothing to do but to say so: the pages are right, the event log does not know."""
        return DocumentOutcome(
            entry.path,
            DocumentState.UNCHANGED,
            entry.sha256,
            wiki.paths_of(entry.path),
            "adopted: its pages were already right",
            key=_made_by(entry.path, wiki, inbox),
        )

    def _remove(self, document: str, wiki: CompiledPages, inbox: Inbox) -> DocumentOutcome:
        self._reviews.clear(document)
        paths = wiki.remove(document)
        inbox.drop(document)
        return DocumentOutcome(document, DocumentState.REMOVED, None, paths, "the raw document is gone")

    def _compile(
        self, documents: Sequence[str], raw: Mapping[str, RawEntry], wiki: CompiledPages, inbox: Inbox
    ) -> Iterator[DocumentOutcome]:
        """Rewrite in a bounded pool; store each result in this thread as it comes."""
        bases = assign_paths(
            {document: self._hints(raw[document], known=wiki.base_of(document) is not None) for document in documents},
            taken=wiki.owners(),
            existing={document: base for document in documents if (base := wiki.base_of(document))},
        )
        contexts = {
            document: RewriteContext(
                base_path=bases[document],
                existing=wiki.of(document),
                scopes=self._settings.scopes,
                default_scope=self._settings.default_scope,
                language=self._settings.language,
            )
            for document in documents
        }
        total = len(documents)
        if self._settings.concurrency == 1:
            for done, document in enumerate(documents, start=1):
                entry, result, seconds = self._rewrite(raw[document], contexts[document])
                yield self._settle(entry, result, seconds, wiki, inbox)
                self._progress.update("compile", done, total, document)
            return
        with ThreadPoolExecutor(self._settings.concurrency, thread_name_prefix="compile") as pool:
            running = {
                pool.submit(self._rewrite, raw[document], contexts[document]): document for document in documents
            }
            try:
                for done, future in enumerate(as_completed(running), start=1):
                    entry, result, seconds = future.result()
                    yield self._settle(entry, result, seconds, wiki, inbox)
                    self._progress.update("compile", done, total, running.pop(future))
            finally:
                # Where the disk refuses, nothing more is asked of the model: what is in flight ends, the rest never begins.
                pool.shutdown(wait=True, cancel_futures=True)

    def _hints(self, entry: RawEntry, *, known: bool) -> NamingHints:
        """What a document says of where it belongs: asked only of one that has no pages yet."""
        domain = self._domain_of(entry.path)
        if known:
            return NamingHints(domain)
        try:
            document = self._read_raw(entry)
        except KbError:  # told when it is compiled
            return NamingHints(domain)
        fields = split_front_matter(document.text).fields
        written, scope = fields.get("domain"), fields.get("scope")
        allowed = isinstance(scope, str) and (not self._settings.scopes or scope in self._settings.scopes)
        return NamingHints(
            domain or (written if isinstance(written, str) and written else None),
            str(scope) if allowed else document.scope,
        )

    def _rewrite(self, entry: RawEntry, context: RewriteContext) -> tuple[RawEntry, RewriteOutcome, float]:
        """The outcome, with the entry as it was read: a document may have changed since the scan."""
        started = time.monotonic()
        result: RewriteOutcome
        try:
            document = self._read_raw(entry)
            entry = replace(entry, sha256=document.sha256)
            result = self._rewriter.rewrite(document, context)
        except (PermanentProviderError, UnreadableTextError) as error:
            result = Failed(str(error), permanent=True)
        except KbError as error:  # a vendor, a disk, a cap: another build may have more luck with the same document
            result = Failed(str(error), permanent=False)
        except (
            Exception
        ) as error:  # a fault of one document never stops the others: told as its outcome, whole in the log
            log.exception("compiling %s failed", entry.path)
            result = Failed(f"internal error, please report it: {type(error).__name__}: {error}", permanent=False)
        return entry, result, time.monotonic() - started

    def _settle(
        self, entry: RawEntry, result: RewriteOutcome, seconds: float, wiki: CompiledPages, inbox: Inbox
    ) -> DocumentOutcome:
        """Put a result where it belongs and say what became of the document."""
        document, sha256 = entry.path, entry.sha256 or ""
        state, reason = DocumentState.INGESTED, None
        paths: tuple[str, ...] = ()
        metrics: Mapping[str, float] = {}
        match result:
            case Compiled():
                metrics = result.metrics
                edited = wiki.edited_pages_of(document)
                if edited:
                    reason = f"edited by hand: {', '.join(edited)}; the new version waits in review"
                    wiki.hold(entry, "held", reason, result.pages, ())
                    state, paths = DocumentState.HELD, wiki.paths_of(document)
                else:
                    paths = wiki.write(entry, result.pages)
                    inbox.drop(document)
                    self._reviews.clear(document)
            case Fragment():
                edited = wiki.edited_pages_of(document)
                closed = inbox.closed(result.month)
                if edited:
                    reason = f"too short for a page now, and edited by hand: {', '.join(edited)}; delete or keep what is there"
                    wiki.hold(entry, "held", reason, (), ())
                    state, paths = DocumentState.HELD, wiki.paths_of(document)
                elif closed:
                    state, reason, paths = DocumentState.FAILED, closed, wiki.paths_of(document)
                else:
                    self._reviews.clear(document)
                    paths = (inbox.put(document, sha256, result),)
                    wiki.remove(document)
                    state = DocumentState.FRAGMENT
            case Held():
                reason = _why(result.findings)
                wiki.hold(entry, "held", reason, result.drafts, result.findings)
                state, paths = DocumentState.HELD, wiki.paths_of(document)
            case Failed():
                reason, state, paths = result.reason, DocumentState.FAILED, wiki.paths_of(document)
                if result.permanent:
                    wiki.hold(entry, "failed", reason, (), ())
        return DocumentOutcome(document, state, sha256, paths, reason, seconds, metrics=metrics)

    def _link(self, raw: Mapping[str, RawEntry], wiki: CompiledPages) -> LinkPlan:
        """Resolve what the raw documents link to; a page is written only where the pass changes it."""
        documents = {entry.path for entry in raw.values() if not _is_other_file(entry)}
        plan = link_pass(
            wiki.all(),
            wiki.ownership(),
            wiki.text,
            files={entry.path for entry in raw.values() if _is_other_file(entry)},
            documents=documents,
            raw_folder=self._settings.raw_folder,
            language=self._settings.language,
        )
        for path, text in plan.changes.items():
            wiki.store(path, text)
        return plan


def _why(findings: Sequence[Finding]) -> str:
    """What held a document back: its errors, the first three of them in words."""
    errors = [finding.message for finding in findings if finding.severity is Severity.ERROR]
    more = f"; and {len(errors) - 3} more" if len(errors) > 3 else ""
    return "; ".join(errors[:3]) + more


def _made_by(document: str, wiki: CompiledPages, inbox: Inbox) -> str:
    """The key by which a document's pages, or its inbox page, were made; "" when it has neither."""
    return next((page.compiled.key for page in wiki.of(document) if page.compiled), "") or inbox.key_of(document)


def _is_other_file(entry: RawEntry) -> bool:
    """A file that is read by nobody (a picture, a script), but may be linked to."""
    return entry.state is DocumentState.IGNORED and entry.sha256 is None and not entry.path.endswith("/")
