"""Making a snapshot of the pages and making it current (SPEC 10).

Belongs here: the order of steps, what a snapshot's id stands for, what is noted of a publication. Does not belong here:
which pages may be published (``gate``), the files of each part (``snapshot_parts``), renames and links on disk
(``storage.snapshots``).

Nothing is visible before ``finish``, which switches in one step; a crash anywhere leaves the snapshot before in place
and the staged files are cleared by a later publication. A snapshot's id is a hash of all that it is made of: publishing
the same content again only notes that it was.
"""

from __future__ import annotations

import hashlib
import html
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path

from kb_pipeline.building.gate import Publishable, choose_publishable, last_published
from kb_pipeline.building.snapshot_parts import (
    Figures,
    encoded,
    manifest_digest,
    write_graph,
    write_index,
    write_manifest,
    write_pages,
)
from kb_pipeline.errors import PublishingBlockedError, SnapshotCorruptError
from kb_pipeline.graph.export import FORMAT as JSON_FORMAT
from kb_pipeline.graph.render import page_version
from kb_pipeline.graph.terms import GraphPolicy
from kb_pipeline.manifest import ManifestReport, manifest_report, render_manifest
from kb_pipeline.markdown.decoding import text_hash
from kb_pipeline.models import TEXT_SCHEME, Finding, Severity, WikiPage
from kb_pipeline.storage import snapshot as names
from kb_pipeline.storage.catalog import FORMAT as CATALOG_FORMAT
from kb_pipeline.storage.catalog import encode_json
from kb_pipeline.storage.files import write_if_changed
from kb_pipeline.storage.snapshots import Snapshot, SnapshotStore, StagedSnapshot
from kb_pipeline.text.analyser import ANALYSER_VERSION

FORMAT = 1
"""Raised when the same page gives other records, sections or files: then nothing is taken over from older snapshots."""
MADE_BY = f"{FORMAT}/{names.FORMAT}/{CATALOG_FORMAT}/{ANALYSER_VERSION}/{TEXT_SCHEME}"
KEPT_SNAPSHOTS = 2
_PREVIEW_LINES = 40


@dataclass(frozen=True, slots=True)
class PublishSettings:
    """``gate``: ``page`` or ``all``. ``budget_tokens``: manifest size from which on it has two stages.

    ``fingerprint`` stands for pages and configuration; it is only noted in the report, so that a plan can compare it.
    """

    language: str = "zh-TW"
    gate: str = "page"
    budget_tokens: int = 25_000
    fingerprint: str = ""
    graph: GraphPolicy = field(default_factory=GraphPolicy)


class Publication:
    """One publication of ``pages``. Its steps can be called one by one, in any order and more than once.

    ``build``: the folder of the faces for people. ``findings``: lint's, of all pages. ``read_text`` gives the text of a
    page as it is on disk, LF line ends; only pages that differ from the current snapshot are read. Every step raises
    PublishingBlockedError while the gate is closed, StorageError when the disk refuses.
    """

    def __init__(
        self,
        store: SnapshotStore,
        build: Path,
        pages: Mapping[str, WikiPage],
        findings: Iterable[Finding],
        read_text: Callable[[str], str],
        now: Callable[[], datetime],
        settings: PublishSettings,
    ) -> None:
        self.findings = tuple(findings)
        self._store = store
        self._build = build
        self._now = now
        self._settings = settings
        self._previous = store.current_or_none()
        self._texts: dict[str, str] = {}
        chosen = choose_publishable(pages.values(), self.findings, settings.gate, self._previous)
        self.chosen = chosen if chosen.blocking else self._read_changed(chosen, read_text)
        self.id = self._content_id()
        self._figures: dict[str, Figures] = {}
        existing = store.find(self.id)
        self._existing = existing if existing is not None and existing.made_by == MADE_BY else None

    def refuse_if_blocked(self) -> None:
        """Raise PublishingBlockedError when the gate is ``all`` and an error stands."""
        if blocking := self.chosen.blocking:
            first = blocking[0]
            raise PublishingBlockedError(
                f"lint.gate is all and {len(blocking)} errors stand, the first: {first.path}: {first.message}; "
                "mend them (kb lint) or set lint.gate: page"
            )

    # -- steps -------------------------------------------------------------------------------------------------------

    def stage_pages(self) -> Figures:
        """Texts, catalogue and the hashes that vectors are checked against."""
        return self._step(
            "pages",
            lambda: write_pages(
                self._staged,
                self.chosen.pages,
                self._texts,
                self._previous,
                lines_fit=self._reusable is not None,
            ),
        )

    def stage_graph(self) -> Figures:
        """``graph.json``, ``graph.html`` and what search needs of the graph."""
        settings = self._settings
        return self._step(
            "graph",
            lambda: write_graph(self._staged, self.chosen.pages, settings.graph, settings.language, self._reusable),
        )

    def stage_index(self) -> Figures:
        """The keyword index."""
        return self._step("keyword_index", lambda: write_index(self._staged, self.chosen.pages, self._reusable))

    def stage_manifest(self) -> Figures:
        """The manifest, whole and in two stages, and the report on its size."""
        return self._step(
            "manifest",
            lambda: write_manifest(
                self._staged, self.chosen.pages, self._manifest, self._settings.language, self._measured
            ),
        )

    def finish(self) -> Snapshot:
        """Stage what is still missing, make the snapshot current, write its faces and clear old ones."""
        self.refuse_if_blocked()
        current = self._current_id()
        if self._existing is None:
            figures = {"pages": self.stage_pages(), "graph": self.stage_graph()}
            figures |= {"keyword_index": self.stage_index(), "manifest": self.stage_manifest()}
            self._staged.write(names.REPORT, encode_json(self._report(figures)))
            snapshot = self._store.complete(self._staged, self._description(self._now()))
        else:
            published_at = self._existing.published_at if current == self.id else self._now()
            snapshot = self._store.describe_again(self._existing, self._description(published_at))
        if current != self.id:
            self._store.switch(self.id)
        self._existing = snapshot
        self._write_faces(snapshot)
        self._store.prune(KEPT_SNAPSHOTS)
        return snapshot

    def manifest_hash(self) -> str:
        """Hex SHA-256 of the whole manifest's bytes."""
        return manifest_digest(self._manifest)

    def manifest_preview(self, lines: int = _PREVIEW_LINES) -> str:
        """The manifest's beginning, for a code block of a report: no markup in a title is rendered there."""
        shown = "\n".join(self._manifest.split("\n", lines)[:lines])
        return html.escape(shown.replace("```", "'''"), quote=False)

    def _step(self, name: str, make: Callable[[], Figures]) -> Figures:
        self.refuse_if_blocked()
        if self._existing is not None:
            return dict(self._existing.report["figures"][name])
        if name not in self._figures:
            self._figures[name] = make()
        return self._figures[name]

    # -- what goes in ------------------------------------------------------------------------------------------------

    def _read_changed(self, chosen: Publishable, read_text: Callable[[str], str]) -> Publishable:
        """Read the pages that the current snapshot does not hold as they are.

        One that changed after it was checked is not published unchecked: its last version stays, and the next build
        sees the difference.
        """
        known = self._previous.page_hashes if self._previous else {}
        pages: list[WikiPage] = []
        kept, left_out = dict(chosen.kept), dict(chosen.left_out)
        for page in chosen.pages:
            if known.get(page.path) == page.content_sha256:
                pages.append(page)
                continue
            text = read_text(page.path)
            if text_hash(text) == page.content_sha256:
                self._texts[page.path] = text
                pages.append(page)
                continue
            reason = "changed while it was being published"
            if published := last_published(page.path, self._previous):
                pages.append(published)
                kept[page.path] = reason
            else:
                left_out[page.path] = reason
        return replace(chosen, pages=tuple(pages), kept=kept, left_out=left_out)

    @cached_property
    def _staged(self) -> StagedSnapshot:
        return self._store.stage(self.id)

    @cached_property
    def _reusable(self) -> Snapshot | None:
        """The snapshot before, when its files have the form of today."""
        return self._previous if self._previous is not None and self._previous.made_by == MADE_BY else None

    @cached_property
    def _manifest(self) -> str:
        return render_manifest(self.chosen.pages, self._settings.language)

    @cached_property
    def _measured(self) -> ManifestReport:
        return manifest_report(
            self.chosen.pages,
            self._manifest,
            self._settings.language,
            budget=self._settings.budget_tokens,
            left_out=self.chosen.left_out,
        )

    # -- what is noted -----------------------------------------------------------------------------------------------

    def _content_id(self) -> str:
        settings = self._settings
        policy = replace(settings.graph, stop_terms=frozenset())
        made_of = [
            [MADE_BY, JSON_FORMAT, page_version(), settings.language, settings.budget_tokens],
            [repr(policy), sorted(settings.graph.stop_terms)],
            [(page.path, page.content_sha256) for page in self.chosen.pages],
            [sorted(self.chosen.left_out.items()), sorted(self.chosen.kept.items())],
        ]
        return hashlib.sha256(json.dumps(made_of).encode()).hexdigest()[:16]

    def _report(self, figures: Mapping[str, Figures]) -> dict[str, object]:
        return {
            "pages": len(self.chosen.pages),
            "sections": sum(len(page.outline.sections) for page in self.chosen.pages),
            "kept_at_last_version": dict(self.chosen.kept),
            "left_out": dict(self.chosen.left_out),
            "figures": dict(figures),
        }

    def _description(self, published_at: datetime) -> dict[str, object]:
        severities = [finding.severity for finding in self.findings]
        return {
            "format": names.FORMAT,
            "made_by": MADE_BY,
            "published_at": published_at.isoformat(),
            "language": self._settings.language,
            "pages": len(self.chosen.pages),
            "two_stage": self._measured.two_stage,
            # What may differ between two publications of the same content.
            "latest": {
                "fingerprint": self._settings.fingerprint,
                "lint_errors": severities.count(Severity.ERROR),
                "lint_warnings": severities.count(Severity.WARNING),
            },
        }

    def _write_faces(self, snapshot: Snapshot) -> None:
        """Files for people beside the snapshots, written only when their bytes change."""
        for name in (names.MANIFEST, names.GRAPH_JSON, names.GRAPH_HTML):
            write_if_changed(self._build / name, (snapshot.folder / name).read_bytes())
        write_if_changed(self._build / "manifest.hash", encoded(f"{self.manifest_hash()}\n"))

    def _current_id(self) -> str | None:
        try:
            return self._store.current_id()
        except SnapshotCorruptError:
            return None
