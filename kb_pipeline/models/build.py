"""What the planner believes, what it decides, and what a build did (SPEC 6.6, ORCHESTRATION 1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from kb_pipeline.models.finding import Finding
from kb_pipeline.models.page import CompiledStamp, SourceRef


class DocumentState(StrEnum):
    """State of a raw document; each is counted after a build and in ``kb status``."""

    PENDING = "pending"
    INGESTED = "ingested"
    UNCHANGED = "unchanged"
    FRAGMENT = "fragment"
    HELD = "held"
    FAILED = "failed"
    EMPTY = "empty"
    IGNORED = "ignored"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class PageProvenance:
    """What the planner needs of a page: where it comes from and whether it is still what was written.

    ``content_sha256`` hashes the whole decoded file (LF line ends): what publishing compares.
    """

    path: str
    sources: tuple[SourceRef, ...]
    compiled: CompiledStamp | None
    fingerprint: str
    content_sha256: str = ""

    @property
    def owner(self) -> str | None:
        return self.sources[0].path if self.sources else None

    @property
    def edited_by_hand(self) -> bool:
        return self.compiled is not None and self.compiled.sha256 != self.fingerprint


@dataclass(frozen=True, slots=True)
class ReviewEntry:
    """A committed verdict on one version of a document: ``review/<document>/<hash>/verdict.yml``.

    ``verdict`` is ``held``, ``rejected``, ``accepted`` or ``failed`` (permanently). It counts as done for exactly this
    ``sha256`` and ``key``. ``removed`` keeps pages of a removed document for a person; the planner passes it over.
    """

    document: str
    sha256: str
    key: str
    verdict: str
    reason: str


@dataclass(frozen=True, slots=True)
class Move:
    """A document whose content now lives under another name."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class BuildPlan:
    """What a build has to do. All tuples are sorted; a document stands in at most one of the compile lists.

    ``new`` and ``stale`` are compiled; ``outdated`` (made by another key) only when upgrading; ``moved`` are re-keyed;
    ``removed`` lose their pages; ``adopted`` have matching pages but no (or another) record in the event log and are
    recorded without a model call; ``unchanged`` need nothing. ``forgotten`` are partitions that the log still lists
    although neither document nor page exists. ``settled`` maps documents that are done without a page to their state
    (held, failed, empty, ignored) and the reason. ``publish_needed``: the pages differ from the current snapshot's.
    """

    new: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    outdated: tuple[str, ...] = ()
    moved: tuple[Move, ...] = ()
    removed: tuple[str, ...] = ()
    adopted: tuple[str, ...] = ()
    forgotten: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    settled: Mapping[str, tuple[DocumentState, str]] = field(default_factory=dict)
    compile: tuple[str, ...] = ()
    publish_needed: bool = False

    @property
    def sync_needed(self) -> bool:
        return bool(self.compile or self.moved or self.removed or self.adopted or self.forgotten)

    def __bool__(self) -> bool:
        return self.sync_needed or self.publish_needed


@dataclass(frozen=True, slots=True)
class DocumentOutcome:
    """What a build did with one document. ``pages`` are page paths; ``seconds`` wall time of its compilation.

    ``key``: by which key its pages were made, where that is not the rewriter's of now ("" otherwise).
    """

    document: str
    state: DocumentState
    sha256: str | None = None
    pages: tuple[str, ...] = ()
    reason: str | None = None
    seconds: float = 0.0
    key: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SyncReport:
    """Outcome of one sync: one entry for each document that was touched, page paths written and deleted.

    ``calls``: how often a rewriter was asked. ``pending_links``: links that lead nowhere yet, one line of text each.
    """

    outcomes: tuple[DocumentOutcome, ...]
    pages_written: tuple[str, ...]
    pages_deleted: tuple[str, ...]
    calls: int
    findings: tuple[Finding, ...] = ()
    pending_links: tuple[str, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)

    def count(self, state: DocumentState) -> int:
        return sum(1 for outcome in self.outcomes if outcome.state is state)
