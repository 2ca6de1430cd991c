"""What the ops and the partitioned assets do: run a sync under the project's lock and tell Dagster what became of it.

Belongs here: the lock, reading what the event log says, materialization events, partitions. Does not belong here: the
sync itself (``building.sync``), vectors (``building.vectors``), deciding (``planning``).
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import dagster as dg

from kb_pipeline.bootstrap import PlannedBuild, Project
from kb_pipeline.building.vectors import WikiVectors
from kb_pipeline.defs.event_batches import EventBatches, Metadatum, recorded_versions
from kb_pipeline.defs.partitions import DOCUMENTS, PAGES, drop, reconcile
from kb_pipeline.defs.runs import note_process
from kb_pipeline.models import DocumentOutcome, DocumentState, RawEntry, SyncReport
from kb_pipeline.planning.partitions import document_path, partition_key
from kb_pipeline.planning.planner import check_deletions, data_version

LOCK_WAIT_SECONDS = 600.0
"""A run that was queued waits for a build from the command line; that is seconds to minutes."""

PREVIEW_CHARACTERS = 1_200

RECORDED = {DocumentState.INGESTED, DocumentState.FRAGMENT, DocumentState.UNCHANGED}
PARTITIONED = {DocumentState.PENDING, DocumentState.FAILED}
"""States in a scan that make a file a document with a partition: what is empty or ignored has none."""


_FAILED_SCHEMA = dg.TableSchema([dg.TableColumn("document", "string"), dg.TableColumn("reason", "string")])
"""Given, since none can be told from no rows."""


class SyncRequest(dg.Config):
    """What a build was asked for. ``only``: raw paths; empty means every document. ``fetch``: ask the
    custom sources first. ``wait``: seconds for the lock."""

    full: bool = False
    upgrade: bool = False
    only: list[str] = []  # noqa: RUF012 - the fields of a dagster Config are pydantic's: each object gets a copy
    allow_mass_delete: bool = False
    fetch: bool = True
    wait: float = LOCK_WAIT_SECONDS


@dataclass(frozen=True)
class SyncResult:
    """What the op hands to ``settle`` and to the command line. ``unfetched``: what went wrong with custom sources."""

    outcomes: tuple[DocumentOutcome, ...] = ()
    calls: int = 0
    pages_written: int = 0
    pages_deleted: int = 0
    pending_links: tuple[str, ...] = ()
    vectors: Mapping[str, float] = field(default_factory=dict)
    vectors_error: str | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    unfetched: tuple[str, ...] = ()

    @property
    def failed(self) -> tuple[DocumentOutcome, ...]:
        return tuple(outcome for outcome in self.outcomes if outcome.state is DocumentState.FAILED)


class LogProgress:
    """Says in the run's log how far a long step is, at most every tenth of it."""

    def __init__(self, log: Callable[[str], None]) -> None:
        self._log = log
        self._told: dict[str, int] = {}

    def update(self, step: str, done: int, total: int, detail: str = "") -> None:
        tenth = done * 10 // total if total else 0
        if total >= 20 and tenth > self._told.get(step, 0):
            self._told[step] = tenth
            self._log(f"{step}: {done} of {total}{' ' + detail if detail else ''}")


def run_sync(context: dg.OpExecutionContext, project: Project, request: SyncRequest) -> SyncResult:
    """Plan inside the lock, with what the event log says, and do it. Raises MassDeletionError, LockedError, I/O."""
    note_process(context.instance, context.run_id)
    with project.lock(wait=request.wait, purpose=f"Dagster run {context.run_id}"):
        project.clear_temporaries()
        fetched = project.fetch_sources() if request.fetch else []
        unfetched = tuple(problem for report in fetched for problem in report.problems)
        recorded = {
            document_path(key): version for key, version in recorded_versions(context.instance, "wiki_pages").items()
        }
        planned = project.plan(recorded, full=request.full, upgrade=request.upgrade, only=request.only or None)
        if not request.allow_mass_delete:
            rebuild = project.settings.rebuild
            check_deletions(planned.plan, planned.documents_known, rebuild.deletion_fraction, rebuild.deletion_count)
        result = replace(_apply(context, project, planned, everything=not request.only), unfetched=unfetched)
    context.add_output_metadata(_metadata(result))
    return result


def compile_documents(context: dg.AssetExecutionContext, project: Project, documents: Sequence[str]) -> SyncResult:
    """Compile exactly these documents, changed or not: what "Materialize" in the UI means.

    It removes nothing: that is for a build, with its guard. Raises dg.Failure for documents that are not there.
    """
    with project.lock(wait=LOCK_WAIT_SECONDS, purpose=f"Dagster run {context.run.run_id}"):
        planned = project.plan(full=True, only=documents)
        missing = sorted(set(documents) - set(planned.plan.compile))
        if missing:
            told = [f"{path} ({planned.plan.settled.get(path, ('', 'not under raw/'))[1]})" for path in missing]
            raise dg.Failure(f"nothing was compiled, these cannot be: {', '.join(told)}; choose others, or build first")
        planned = replace(planned, plan=replace(planned.plan, removed=()))
        return _apply(context.op_execution_context, project, planned, everything=False)


def _apply(context: dg.OpExecutionContext, project: Project, planned: PlannedBuild, *, everything: bool) -> SyncResult:
    """Do it, record it, and leave both partition sets as the disk is. Not ``everything``: the plan was confined to some
    documents, so that the rest may be neither linked nor on record."""
    instance = context.instance
    was_synced = project.is_synced(planned)
    keys = {partition_key(entry.path) for entry in planned.raw.values() if _has_partition(entry)}
    new = keys - set(instance.get_dynamic_partitions(DOCUMENTS))
    if new:
        instance.add_dynamic_partitions(DOCUMENTS, sorted(new))
    progress = project.progress or LogProgress(context.log.info)
    with _events(context) as events:
        report = project.sync(planned.raw, progress).run(
            planned.plan, planned.raw, lambda outcome: _record(events, outcome, project)
        )
        # Taken now: what a person writes from here on is the next build's.
        fingerprint = project.fingerprint_now()
        vectors = project.embed(progress, backlog=False)
        _record_vectors(context, vectors, events)
    if everything:
        reconcile(instance, DOCUMENTS, keys)
    else:
        gone = {*planned.plan.removed, *(move.old for move in planned.plan.moved)}
        drop(instance, DOCUMENTS, {partition_key(path) for path in gone} - keys)
    reconcile(instance, PAGES, {partition_key(path) for path in project.published_pages()})
    if everything or was_synced:
        project.note_synced(fingerprint, vectors_complete=vectors.complete)
    else:
        project.note_vectors(fingerprint, complete=vectors.complete)
    return _result(report, vectors)


def _has_partition(entry: RawEntry) -> bool:
    """Whether an entry of a scan is a document; a folder that could not be entered is not."""
    return entry.state in PARTITIONED and not entry.path.endswith("/")


def run_embedding(context: dg.OpExecutionContext, project: Project) -> SyncResult:
    """Make every vector that is missing, however long it takes."""
    note_process(context.instance, context.run_id)
    with project.lock(wait=LOCK_WAIT_SECONDS, purpose=f"Dagster run {context.run_id}"):
        fingerprint = project.fingerprint_now()
        vectors = project.embed(project.progress or LogProgress(context.log.info), backlog=True)
        with _events(context) as events:
            _record_vectors(context, vectors, events)
        project.note_vectors(fingerprint, complete=vectors.complete)
    result = SyncResult(vectors=vectors.figures(), vectors_error=vectors.error)
    context.add_output_metadata(_metadata(result))
    return result


def embed_chosen(context: dg.AssetExecutionContext, project: Project, pages: Sequence[str]) -> None:
    """Make the vectors that these pages lack and record each of them: what "Materialize" in the UI means.

    Raises dg.Failure, after all others are on record, for pages that have none.
    """
    run = context.op_execution_context
    with project.lock(wait=LOCK_WAIT_SECONDS, purpose=f"Dagster run {context.run.run_id}"):
        vectors = project.embed(LogProgress(context.log.info), backlog=True, only=frozenset(pages))
    with _events(run) as events:
        for path in pages:
            if path in vectors.complete_pages:
                events.materialized("embeddings", partition_key(path), vectors.complete_pages[path])
    left = [path for path in pages if path not in vectors.complete_pages]
    if left:
        why = vectors.error or "they are drafts, or no pages; the next build drops their partitions"
        raise dg.Failure(f"{len(left)} pages have no vectors: {', '.join(left[:20])}: {why}")


def report_failures(context: dg.OpExecutionContext, result: SyncResult) -> None:
    """Fail the run when documents failed or a source could not be fetched; everything else is done by then."""
    for outcome in result.outcomes:
        if outcome.state is DocumentState.HELD:
            context.log.warning("%s is held: %s; see review/", outcome.document, outcome.reason)
    faults = list(result.unfetched)
    if result.failed:
        faults.append(f"{len(result.failed)} of {len(result.outcomes)} documents failed; their pages stay as they were")
    if not faults:
        return
    rows = [dg.TableRecord({"document": item.document, "reason": item.reason or ""}) for item in result.failed]
    raise dg.Failure(
        "; ".join(faults), metadata={"failed": dg.MetadataValue.table(rows, _FAILED_SCHEMA)}, allow_retries=False
    )


def report_missing_vectors(result: SyncResult) -> None:
    """Fail the run whose only purpose was vectors when model or database said no; what it made stays."""
    if result.vectors_error:
        raise dg.Failure(f"vectors are still missing: {result.vectors_error}", allow_retries=False)


def _events(context: dg.OpExecutionContext) -> EventBatches:
    return EventBatches(
        context.instance,
        run_id=context.run_id,
        job_name=context.job_name,
        step_key=context.get_step_execution_context().step.key,
    )


def _record(events: EventBatches, outcome: DocumentOutcome, project: Project) -> None:
    """One materialization for a document that is done; a held or failed one has none, its partition stays missing."""
    if outcome.state not in RECORDED:
        return
    metadata: dict[str, Metadatum] = {
        "state": outcome.state.value,
        "pages": dg.MetadataValue.json(list(outcome.pages)),
        "compile_seconds": round(outcome.seconds, 4),
        **{name: float(value) for name, value in outcome.metrics.items()},
    }
    if outcome.reason:
        metadata["reason"] = outcome.reason
    if outcome.pages and outcome.state is not DocumentState.FRAGMENT:  # an inbox page is written after all of them
        preview = project.preview(outcome.pages[0], PREVIEW_CHARACTERS)
        metadata["preview"] = dg.MetadataValue.md(preview)
    events.materialized(
        "wiki_pages",
        partition_key(outcome.document),
        data_version(outcome.sha256 or "", outcome.key or project.rewriter_key),
        metadata,
    )


def _record_vectors(context: dg.OpExecutionContext, vectors: WikiVectors, events: EventBatches) -> None:
    """One materialization for each page whose vectors are complete and not on record as they are now."""
    if not vectors.complete_pages:
        return
    recorded = recorded_versions(context.instance, "embeddings")
    keys = {partition_key(path): version for path, version in vectors.complete_pages.items()}
    missing = set(keys) - set(context.instance.get_dynamic_partitions(PAGES))
    if missing:
        context.instance.add_dynamic_partitions(PAGES, sorted(missing))
    for key, version in keys.items():
        if recorded.get(key) != version:
            events.materialized("embeddings", key, version)


def _result(report: SyncReport, vectors: WikiVectors) -> SyncResult:
    return SyncResult(
        outcomes=report.outcomes,
        calls=report.calls,
        pages_written=len(report.pages_written),
        pages_deleted=len(report.pages_deleted),
        pending_links=report.pending_links,
        vectors=vectors.figures(),
        vectors_error=vectors.error,
        seconds=report.seconds,
    )


def _metadata(result: SyncResult) -> dict[str, Metadatum]:
    counts = Counter(outcome.state.value for outcome in result.outcomes)
    shown: dict[str, Metadatum] = {
        "documents": len(result.outcomes),
        **{f"documents_{state}": count for state, count in sorted(counts.items())},
        "rewriter_calls": result.calls,
        "pages_written": result.pages_written,
        "pages_deleted": result.pages_deleted,
        "pending_links": len(result.pending_links),
        **{f"vectors_{name}": float(value) for name, value in result.vectors.items()},
        **{f"seconds_{phase.replace(' ', '_')}": round(value, 3) for phase, value in result.seconds.items()},
    }
    if result.vectors_error:
        shown["vectors_error"] = result.vectors_error
    return shown
