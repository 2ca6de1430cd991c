"""``kb build``: bring the wiki and what is published up to date."""

from __future__ import annotations

import time
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from kb_pipeline.cli.console import Exit, StderrProgress, note, open_project, out, out_json, table
from kb_pipeline.cli.options import JsonOption, ProjectOption
from kb_pipeline.errors import UsageError
from kb_pipeline.models import DocumentState

if TYPE_CHECKING:
    from kb_pipeline.bootstrap import PlannedBuild, Project
    from kb_pipeline.defs.launch import BuildResult

NOT_COMPILED = {DocumentState.REMOVED, DocumentState.UNCHANGED}
"""States of outcomes that cost no call: gone, moved, adopted."""


def build(
    only: Annotated[
        list[str] | None, typer.Argument(help="Raw documents to confine the build to.", metavar="[RAW]...")
    ] = None,
    project: ProjectOption = None,
    plan: Annotated[bool, typer.Option("--plan", help="Say what would be done, and do nothing.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Compile every document again.")] = False,
    upgrade: Annotated[
        bool, typer.Option("--upgrade", help="Compile pages made by another rewriter or other rules again.")
    ] = False,
    only_embeddings: Annotated[
        bool, typer.Option("--only-embeddings", help="Make missing vectors, nothing else.")
    ] = False,
    allow_mass_delete: Annotated[
        bool, typer.Option("--allow-mass-delete", help="Let a build remove many documents.")
    ] = False,
    wait: Annotated[float, typer.Option("--wait", help="Seconds to wait for a build that is running.", min=0)] = 600.0,
    as_json: JsonOption = False,
) -> None:
    """Compile what changed and publish it.

    Compiles, links and embeds what changed under raw/ and publishes a snapshot; does nothing when nothing changed.
    """
    started = time.monotonic()
    kb = open_project(project)
    problems = [] if plan or only_embeddings else _fetch(kb, wait)
    planned = kb.plan(full=full, upgrade=upgrade, only=_known(kb, only))
    if plan:
        _show_plan(planned, as_json=as_json)
        return
    if not only_embeddings and not full and not upgrade and kb.is_current(planned):
        _finish(kb, planned, started, as_json=as_json, did=None, unfetched=problems)
    from kb_pipeline.defs.launch import BuildRequest, run_build

    request = BuildRequest(
        full=full,
        upgrade=upgrade,
        only=tuple(_known(kb, only) or ()),
        allow_mass_delete=allow_mass_delete,
        only_embeddings=only_embeddings,
        wait=wait,
    )
    done = run_build(kb, request, StderrProgress())
    _finish(kb, kb.plan(), started, as_json=as_json, did=done, unfetched=problems)


def _fetch(kb: Project, wait: float) -> list[str]:
    """Ask the custom sources, if there are any; returns, and says, what went wrong."""
    if not kb.has_custom_sources:
        return []
    with kb.lock(wait=wait, purpose="kb build, fetching sources"):
        problems = [problem for report in kb.fetch_sources() for problem in report.problems]
    for problem in problems:
        note(problem)
    return problems


def _known(kb: Project, only: list[str] | None) -> list[str] | None:
    """The named documents as paths below raw/. Raises UsageError for one that is not there."""
    if not only:
        return None
    folder = kb.settings.paths.raw.strip("/") + "/"
    entries = {entry.path for entry in kb.scan()}
    wanted = [unicodedata.normalize("NFC", name).removeprefix("./").removeprefix(folder) for name in only]
    missing = [name for name in wanted if name not in entries]
    if missing:
        raise UsageError(f"not under {folder}: {', '.join(missing)}; kb status --all lists what is")
    return wanted


def _show_plan(planned: PlannedBuild, *, as_json: bool) -> None:
    plan = planned.plan
    lists = {
        "new": list(plan.new),
        "stale": list(plan.stale),
        "outdated": list(plan.outdated),
        "moved": [f"{move.old} -> {move.new}" for move in plan.moved],
        "removed": list(plan.removed),
        "compile": list(plan.compile),
    }
    if as_json:
        out_json({**lists, "unchanged": len(plan.unchanged), "publish_needed": plan.publish_needed})
        return
    rows: list[tuple[str, ...]] = [(name, path) for name, paths in lists.items() for path in paths if name != "compile"]
    out(table(rows) if rows else "no document changed")
    out(
        f"{len(plan.compile)} to compile, {len(plan.unchanged)} unchanged"
        + (", to be published" if plan.publish_needed else "")
    )
    if plan.outdated and not set(plan.outdated) <= set(plan.compile):
        out(f"{len(plan.outdated)} were made by another rewriter or other rules; --upgrade compiles them again")


def _finish(
    kb: Project, planned: PlannedBuild, started: float, *, as_json: bool, did: BuildResult | None, unfetched: list[str]
) -> NoReturn:
    """Say what was done and how things stand, and leave with the code for that: the same after a build that had
    nothing to do, since what is wrong is still wrong."""
    from kb_pipeline.planning.state import count_states, document_states

    states = document_states(planned.plan, planned.pages.values())
    failures = {outcome.document: outcome.reason or "" for outcome in did.sync.failed} if did else {}
    failures |= {item.document: item.reason for item in states if item.state is DocumentState.FAILED}
    snapshot = kb.snapshot_or_none()
    checked = did.lint_errors if did else None
    if checked is None:
        checked = int(str(snapshot.report["lint_errors"])) if snapshot else 0
    errors, refused = checked, did.refused if did else None
    partial = failures or unfetched or (did and did.sync.vectors_error)
    code = Exit.PARTIAL if partial else Exit.FINDINGS if errors or refused else Exit.FINE
    counts = {state.value: count for state, count in count_states(states).items()}
    if as_json:
        out_json(
            {
                "did": list(did.runs) if did else [],
                "compiled": [outcome.document for outcome in did.sync.outcomes if outcome.state not in NOT_COMPILED]
                if did
                else [],
                "calls": did.sync.calls if did else 0,
                "counts": counts,
                "failed": failures,
                "held": {item.document: item.reason for item in states if item.state is DocumentState.HELD},
                "sources": unfetched,
                "pending_links": list(did.sync.pending_links) if did else [],
                "vectors": dict(did.sync.vectors) if did else {},
                "vectors_error": did.sync.vectors_error if did else None,
                "snapshot": snapshot.id if snapshot else None,
                "pages": len(snapshot.pages()) if snapshot else 0,
                "lint_errors": errors,
                "publishing_refused": refused,
                "seconds": round(time.monotonic() - started, 3),
            }
        )
        raise typer.Exit(code)
    for line in _done_lines(did):
        out(line)
    out("documents: " + (", ".join(f"{count} {state}" for state, count in counts.items()) or "none under raw/"))
    for document, reason in sorted(failures.items()):
        note(f"failed: {document}: {reason}")
    for problem in kb.glossary_problems():
        note(f"glossary: {problem}")
    if counts.get(DocumentState.HELD.value):
        note("held documents keep their old pages, their drafts wait in review/; kb status says why")
    if did and did.sync.vectors_error:
        note(f"vectors are missing, search finds those sections by keywords alone: {did.sync.vectors_error}")
    if snapshot:
        out(f"published: {len(snapshot.pages())} pages in snapshot {snapshot.id}, {errors} lint errors")
    if refused:
        note(f"nothing new was published: {refused}")
    elif errors:
        note("pages with errors keep their last published version; see: kb lint")
    out(f"{'done' if did else 'nothing to do'} in {time.monotonic() - started:.1f} s")
    raise typer.Exit(code)


def _done_lines(did: BuildResult | None) -> list[str]:
    if did is None:
        return []
    lines = []
    done = Counter(outcome.state.value for outcome in did.sync.outcomes)
    if done:
        lines.append("this build: " + ", ".join(f"{count} {state}" for state, count in sorted(done.items())))
    if did.sync.pages_written or did.sync.pages_deleted:
        lines.append(f"pages: {did.sync.pages_written} written, {did.sync.pages_deleted} deleted")
    if did.sync.pending_links:
        lines.append(f"links that lead nowhere yet: {len(did.sync.pending_links)}; kb build --json lists them")
    vectors = did.sync.vectors
    if vectors.get("embedded") or vectors.get("removed"):
        lines.append(
            f"vectors: {vectors['embedded']:.0f} made, {vectors['reused']:.0f} reused, {vectors['removed']:.0f} removed"
            f" in {vectors['seconds']:.1f} s"
        )
    return lines
