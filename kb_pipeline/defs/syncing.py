"""What the ops and the partitioned assets do: run a sync under the project's lock and tell Dagster what became of it.

Belongs here: the lock, reading what the event log says, materialization events, partitions. Does not belong here: the
sync itself (``building.sync``), vectors (``building.vectors``), deciding (``planning``).
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import dagster as dg

from kb_pipeline.bootstrap import PlannedBuild, Project
from kb_pipeline.building.vectors import WikiVectors
from kb_pipeline.defs.event_batches import EventBatches, Metadatum, recorded_versions
from kb_pipeline.defs.partitions import DOCUMENTS, PAGES, reconcile
from kb_pipeline.models import DocumentOutcome, DocumentState, SyncReport
from kb_pipeline.planning.partitions import document_path, partition_key
from kb_pipeline.planning.planner import check_deletions, data_version

LOCK_WAIT_SECONDS = 600.0
"""A run that was queued waits for a build from the command line; that is seconds to minutes."""

PREVIEW_CHARACTERS = 1_200

RECORDED = {DocumentState.INGESTED, DocumentState.FRAGMENT, DocumentState.UNCHANGED}
PARTITIONED = {DocumentState.PENDING, DocumentState.FAILED}
"""States in a scan that make a file a document with a partition: what is empty or ignored has none."""


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
    """What the op hands to ``settle`` and to the command line."""

    outcomes: tuple[DocumentOutcome, ...] = ()
    calls: int = 0
    pages_written: int = 0
    pages_deleted: int = 0
    pending_links: tuple[str, ...] = ()
    vectors: Mapping[str, float] = field(default_factory=dict)
    vectors_error: str | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)

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
    with project.lock(wait=request.wait, purpose=f"Dagster run {context.run_id}"):
        project.clear_temporaries()
        for report in project.fetch_sources() if request.fetch else ():
            for problem in report.problems:
                context.log.warning(problem)
        recorded = {document_path(key): version for key, version in recorded_versions(context.instance, "wiki_pages").items()}
        planned = project.plan(recorded, full=request.full, upgrade=request.upgrade, only=request.only or None)
        if not request.allow_mass_delete:
            rebuild = project.settings.rebuild
            check_deletions(planned.plan, planned.documents_known, rebuild.deletion_fraction, rebuild.deletion_count)
        result = _apply(context, project, planned, everything=not request.only)
    context.add_output_metadata(_metadata(result))
    return result


def compile_documents(context: dg.AssetExecutionContext, project: Project, documents: Sequence[str]) -> SyncResult:
    """Compile exactly these documents, changed or not: what "Materialize" in the UI means."""
    with project.lock(wait=LOCK_WAIT_SECONDS, purpose=f"Dagster run {context.run_id}"):
        planned = project.plan(full=True, only=documents)
        return _apply(context.op_execution_context, project, planned, everything=False)


def _apply(context: dg.OpExecutionContext, project: Project, planned: PlannedBuild, *, everything: bool) -> SyncResult:
    instance = context.instance
    keys = {partition_key(entry.path) for entry in planned.raw.values() if entry.state in PARTITIONED}
    new = keys - set(instance.get_dynamic_partitions(DOCUMENTS))
    if new:
        instance.add_dynamic_partitions(DOCUMENTS, sorted(new))
    progress = project.progress or LogProgress(context.log.info)
    with _events(context) as events:
        report = project.sync(planned.raw, progress).run(
            planned.plan, planned.raw, lambda outcome: _record(events, outcome, project)
        )
        vectors = project.embed(progress, backlog=False)
        _record_vectors(context, vectors, events)
    if everything:
        reconcile(instance, DOCUMENTS, keys)
        reconcile(instance, PAGES, {partition_key(path) for path in project.published_pages()})
    project.note_synced(vectors_complete=vectors.complete)
    return _result(report, vectors)


def run_embedding(context: dg.OpExecutionContext, project: Project) -> SyncResult:
    """Make every vector that is missing, however long it takes."""
    with project.lock(wait=LOCK_WAIT_SECONDS, purpose=f"Dagster run {context.run_id}"):
        vectors = project.embed(project.progress or LogProgress(context.log.info), backlog=True)
        with _events(context) as events:
            _record_vectors(context, vectors, events)
        project.note_vectors(complete=vectors.complete)
    result = SyncResult(vectors=vectors.figures(), vectors_error=vectors.error)
    context.add_output_metadata(_metadata(result))
    return result


def embed_chosen(context: dg.AssetExecutionContext, project: Project, pages: Sequence[str]) -> None:
    """Make the vectors that these pages lack and record each of them: what "Materialize" in the UI means."""
    run = context.op_execution_context
    with project.lock(wait=LOCK_WAIT_SECONDS, purpose=f"Dagster run {context.run_id}"):
        vectors = project.embed(LogProgress(context.log.info), backlog=True)
    if vectors.error:
        raise dg.Failure(f"no vectors were made: {vectors.error}")
    with _events(run) as events:
        for path in pages:
            if path in vectors.complete_pages:
                events.materialized("embeddings", partition_key(path), vectors.complete_pages[path])


def report_failures(context: dg.OpExecutionContext, result: SyncResult) -> None:
    """Fail the run when documents failed; everything else is done by then."""
    if not result.failed:
        return
    rows = [dg.TableRecord({"document": item.document, "reason": item.reason or ""}) for item in result.failed]
    raise dg.Failure(
        f"{len(result.failed)} of {len(result.outcomes)} documents failed; their pages stay as they were",
        metadata={"failed": dg.MetadataValue.table(rows)},
        allow_retries=False,
    )


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
