"""The level-triggered planner: what is on disk now against what the pages say they were made from (ORCHESTRATION 1).

Belongs here: the decision, as values. Not here: reading (sources, storage), applying (building), the event log itself
(``recorded`` is handed in). Order of belief: front matter of the pages and committed review entries, then the log.

A document that is gone, or was emptied, loses its pages (under the deletion guard). One that cannot be read now, or is
left out now, keeps them: that may be a slip, and what was published stays.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence

from kb_pipeline.errors import MassDeletionError
from kb_pipeline.models import (
    BuildPlan,
    DocumentState,
    Move,
    PageProvenance,
    RawEntry,
    ReviewEntry,
)
from kb_pipeline.planning.evidence import Evidence
from kb_pipeline.planning.moves import find_moves

_NAMES_SHOWN = 20


def data_version(sha256: str, key: str) -> str:
    """What the event log records for a compiled document: its content and the key that made its pages."""
    return f"{sha256[:32]}-{key}"


def pages_fingerprint(pages: Iterable[PageProvenance]) -> str:
    """Hash over every page's path and content: equal to a snapshot's when there is nothing to publish."""
    digest = hashlib.sha256()
    for path, content in sorted((page.path, page.content_sha256) for page in pages):
        digest.update(f"{path}\0{content}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def make_plan(  # noqa: PLR0913 - each is one input of the decision; only the first three are always given
    raw: Sequence[RawEntry],
    pages: Sequence[PageProvenance],
    reviews: Sequence[ReviewEntry],
    recorded: Mapping[str, str] | None,
    key: str,
    *,
    upgrade: bool = False,
    full: bool = False,
    only: Collection[str] | None = None,
    snapshot_fingerprint: str | None = None,
    current_fingerprint: str | None = None,
) -> BuildPlan:
    """Decide what a build has to do.

    ``recorded``: document path → data version in the event log; None when the log was not consulted (then nothing is
    adopted or forgotten). ``key``: the rewriter's. ``upgrade`` compiles outdated documents too; ``full`` every
    document that can be; ``only`` confines the plan to these document paths. ``publish_needed`` compares the two
    fingerprints (see ``pages_fingerprint``); None for the snapshot's: nothing has been published.
    """
    wanted = None if only is None else frozenset(only)
    return _Planner(raw, pages, reviews, key, wanted).plan(
        recorded,
        upgrade=upgrade,
        full=full,
        publish_needed=current_fingerprint is not None and snapshot_fingerprint != current_fingerprint,
    )


def check_deletions(plan: BuildPlan, total: int, fraction: float, count: int) -> None:
    """Raise MassDeletionError when ``plan`` removes at least ``count`` documents and more than ``fraction`` of them.

    ``total``: the documents known before this build (``documents_known``). Moves are no removals.
    """
    removed = len(plan.removed)
    if removed < count or removed <= fraction * total:
        return
    names = "".join(f"\n  {name}" for name in plan.removed[:_NAMES_SHOWN])
    rest = f"\n  … and {removed - _NAMES_SHOWN} more" if removed > _NAMES_SHOWN else ""
    raise MassDeletionError(
        f"{removed} of {total} documents are gone and their pages would be removed:{names}{rest}\n"
        "Nothing was changed. If a folder is not mounted or a fetch went wrong, mend that; "
        "if they are meant to go, run again with --allow-mass-delete."
    )


def documents_known(pages: Iterable[PageProvenance], reviews: Sequence[ReviewEntry]) -> frozenset[str]:
    """Documents that a compiled page, the inbox or a review entry hangs on: the base of the deletion guard."""
    return frozenset(Evidence(pages, reviews).removable())


class _Planner:
    """The working state of one ``make_plan``: evidence by document, re-keyed by the moves found."""

    def __init__(
        self,
        raw: Sequence[RawEntry],
        pages: Sequence[PageProvenance],
        reviews: Sequence[ReviewEntry],
        key: str,
        only: frozenset[str] | None,
    ) -> None:
        self.key = key
        self.only = only
        self.entries: dict[str, RawEntry] = {}
        self.folders: dict[str, RawEntry] = {}
        for entry in raw:
            path = entry.path
            if path.endswith("/"):
                self.folders[path] = entry
            elif path not in self.entries or entry.state is DocumentState.PENDING:
                self.entries[path] = entry
        self.evidence = Evidence(pages, reviews)
        self.settled: dict[str, tuple[DocumentState, str]] = {}
        self.new: list[str] = []
        self.stale: list[str] = []
        self.outdated: list[str] = []
        self.unchanged: list[str] = []
        self.done: dict[str, str] = {}

    def plan(self, recorded: Mapping[str, str] | None, *, upgrade: bool, full: bool, publish_needed: bool) -> BuildPlan:
        moves = self._find_moves()
        for move in moves:
            self.evidence.rename(move.old, move.new)
        removed = self._removed()
        for path, entry in self.entries.items():
            if self._is_wanted(path):
                self._classify(path, entry)
        for path, entry in self.folders.items():
            self.settled[path] = (entry.state, entry.reason or "")
        compiled = self._to_compile(upgrade=upgrade, full=full)
        for path in compiled:
            self.settled.pop(path, None)
        adopted, forgotten = self._against_log(recorded, compiled, moves, removed)
        return BuildPlan(
            new=tuple(sorted(self.new)),
            stale=tuple(sorted(self.stale)),
            outdated=tuple(sorted(self.outdated)),
            moved=tuple(moves),
            removed=tuple(sorted(removed)),
            adopted=tuple(sorted(adopted)),
            forgotten=tuple(sorted(forgotten)),
            unchanged=tuple(sorted(self.unchanged)),
            settled=dict(sorted(self.settled.items())),
            compile=tuple(sorted(compiled)),
            publish_needed=publish_needed,
        )

    def _is_wanted(self, path: str) -> bool:
        return self.only is None or path in self.only

    def _find_moves(self) -> list[Move]:
        """Documents without any evidence whose content is that of one that is gone, emptied or no longer read."""
        appeared = {
            path: entry.sha256
            for path, entry in self.entries.items()
            if entry.state is DocumentState.PENDING and entry.sha256 and path not in self.evidence
        }
        if not appeared:
            return []
        vanished = {
            path: self.evidence.hashes(path) for path in self.evidence.documents() if self._may_have_moved(path)
        }
        moves = find_moves(vanished, appeared)
        return [move for move in moves if self._is_wanted(move.old) or self._is_wanted(move.new)]

    def _may_have_moved(self, path: str) -> bool:
        entry = self.entries.get(path) or self._unread_folder(path)
        return entry is None or entry.state in {DocumentState.IGNORED, DocumentState.EMPTY}

    def _unread_folder(self, path: str) -> RawEntry | None:
        """The folder above ``path`` that was seen but not entered (ignored, refused, not readable)."""
        if not self.folders:
            return None
        end = path.find("/")
        while end >= 0:
            folder = self.folders.get(path[: end + 1])
            if folder is not None:
                return folder
            end = path.find("/", end + 1)
        return None

    def _removed(self) -> list[str]:
        """Documents that are gone, or were emptied, and on which something hangs that the product made."""
        gone = []
        for path in self.evidence.removable():
            if not self._is_wanted(path):
                continue
            entry = self.entries.get(path)
            if entry is None:
                folder = self._unread_folder(path)
                if folder is None:
                    gone.append(path)
                else:
                    self._settle(path, folder.state, f"{folder.path}: {folder.reason}")
            elif entry.state is DocumentState.EMPTY:
                gone.append(path)
        return gone

    def _classify(self, path: str, entry: RawEntry) -> None:
        sha256 = entry.sha256
        if entry.state is not DocumentState.PENDING or sha256 is None:
            state = DocumentState.FAILED if entry.state is DocumentState.PENDING else entry.state
            self._settle(path, state, entry.reason or "no content hash")
            return
        made_by = self.evidence.made_by(path, sha256, self.key)
        if made_by is not None:
            self.done[path] = made_by
        if made_by == self.key:
            self.unchanged.append(path)
            return
        verdict = self.evidence.verdict(path, sha256, self.key)
        if verdict is not None and verdict.verdict != "accepted":
            state = DocumentState.FAILED if verdict.verdict == "failed" else DocumentState.HELD
            self.settled[path] = (state, _verdict_reason(verdict))
        elif verdict is not None and self.evidence.parts_whole(path):
            self.unchanged.append(path)
        elif made_by is not None:
            self.outdated.append(path)
        elif self.evidence.is_removable(path):
            self.stale.append(path)
        else:
            self.new.append(path)

    def _settle(self, path: str, state: DocumentState, reason: str) -> None:
        kept = len(self.evidence.owned.get(path, ()))
        if kept and state is not DocumentState.EMPTY:
            reason += (
                f"; {kept} pages made from it earlier stay" if kept > 1 else "; the page made from it earlier stays"
            )
        self.settled[path] = (state, reason)

    def _to_compile(self, *, upgrade: bool, full: bool) -> set[str]:
        compiled = {*self.new, *self.stale}
        if upgrade or full:
            compiled.update(self.outdated)
        if full:
            compiled.update(
                path
                for path, entry in self.entries.items()
                if entry.state is DocumentState.PENDING and entry.sha256 and self._is_wanted(path)
            )
        return compiled

    def _against_log(
        self, recorded: Mapping[str, str] | None, compiled: set[str], moves: Sequence[Move], removed: Sequence[str]
    ) -> tuple[list[str], list[str]]:
        """Documents to record, and records to drop, so that the log says what the pages say."""
        if recorded is None:
            return [], []
        recorded_by_sync = compiled | {move.new for move in moves}
        adopted = [
            path
            for path, key in self.done.items()
            if path not in recorded_by_sync and recorded.get(path) != data_version(self.entries[path].sha256 or "", key)
        ]
        dropped_by_sync = {*removed, *(move.old for move in moves)}
        forgotten = [
            path
            for path in recorded
            if self._is_wanted(path) and path not in dropped_by_sync and not self._exists(path)
        ]
        return adopted, forgotten

    def _exists(self, path: str) -> bool:
        """Whether a record of ``path`` has anything behind it: a document that counts, or pages."""
        if self.evidence.is_removable(path):
            return True
        entry = self.entries.get(path) or self._unread_folder(path)
        return entry is not None and entry.state not in {DocumentState.IGNORED, DocumentState.EMPTY}


def _verdict_reason(entry: ReviewEntry) -> str:
    return f"{entry.verdict}: {entry.reason}" if entry.reason else entry.verdict
