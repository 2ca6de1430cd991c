"""Making a snapshot of the pages and making it current (SPEC 10): what graph, index and manifest have in common.

Belongs here: which files a snapshot consists of, what is taken over from the one before, the order of steps. Does not
belong here: which pages may be published (``gate``), what is kept of one page (``page_records``), renames and links on
disk (``storage.snapshots``).

Nothing is visible before ``finish``, which switches in one step; a crash anywhere leaves the snapshot before in place
and the staged files are cleared by a later publication. A snapshot's id is a hash of all that it is made of: publishing
the same content again only notes that it was.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any

from kb_pipeline.building.gate import Gate, Publishable, choose_publishable, last_published
from kb_pipeline.building.page_records import indexed_sections, page_record
from kb_pipeline.embeddings.chunking import chunk_page
from kb_pipeline.errors import PublishingBlockedError, SnapshotCorruptError
from kb_pipeline.graph.export import FORMAT as JSON_FORMAT
from kb_pipeline.graph.export import to_json
from kb_pipeline.graph.render import page_version, render_html
from kb_pipeline.graph.terms import GraphPolicy
from kb_pipeline.graph.wiki_graph import WikiGraph
from kb_pipeline.manifest.budget import ManifestReport, manifest_report
from kb_pipeline.manifest.render import render_directory_manifest, render_domain_manifest, render_manifest
from kb_pipeline.markdown.decoding import text_hash
from kb_pipeline.models import TEXT_SCHEME, Confidence, Finding, Severity, WikiPage
from kb_pipeline.storage import snapshot as names
from kb_pipeline.storage.catalog import FORMAT as CATALOG_FORMAT
from kb_pipeline.storage.catalog import encode_json, encode_lines, encode_neighbours, encode_record
from kb_pipeline.storage.snapshots import Snapshot, SnapshotStore, StagedSnapshot
from kb_pipeline.text.analyser import ANALYSER_VERSION
from kb_pipeline.text.sparse_index import IndexReport, build_index, update_index

FORMAT = 1
"""Raised when the same page gives other records, sections or files: then nothing is taken over from older snapshots."""
MADE_BY = f"{FORMAT}/{names.FORMAT}/{CATALOG_FORMAT}/{ANALYSER_VERSION}/{TEXT_SCHEME}"
KEPT_SNAPSHOTS = 2
_PREVIEW_LINES = 60

Figures = dict[str, int | float]


@dataclass(frozen=True, slots=True)
class PublishSettings:
    """``fingerprint`` stands for pages and configuration; it is only noted, so that a plan can compare it."""

    language: str = "zh-TW"
    gate: Gate = "page"
    token_budget: int = 25_000
    fingerprint: str = ""
    graph: GraphPolicy = field(default_factory=GraphPolicy)


class Publication:
    """One publication of ``pages``. Its steps can be called one by one, in any order and more than once.

    ``read_text`` gives the decoded text of a page as it is on disk; only pages that differ from the current snapshot are
    read. ``findings`` are lint's, of all pages. Raises PublishingBlockedError from every step while the gate is closed.
    """

    def __init__(
        self,
        store: SnapshotStore,
        pages: Mapping[str, WikiPage],
        findings: Iterable[Finding],
        read_text: Callable[[str], str],
        now: Callable[[], datetime],
        settings: PublishSettings,
    ) -> None:
        self.findings = tuple(findings)
        self._store = store
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

    # -- steps -------------------------------------------------------------------------------------------------------

    def refuse_if_blocked(self) -> None:
        """Raise PublishingBlockedError when the gate is ``all`` and an error stands."""
        if blocking := self.chosen.blocking:
            first = blocking[0]
            raise PublishingBlockedError(
                f"nothing is published: lint.gate is all and {len(blocking)} errors stand, the first is {first.rule} in "
                f"{first.path}: {first.message}; see `kb lint`"
            )

    def stage_pages(self) -> Figures:
        """Texts, catalogue and the hashes that vectors are checked against."""
        return self._step("pages", self._stage_pages)

    def stage_graph(self) -> Figures:
        """``graph.json``, ``graph.html`` and what search needs of the graph."""
        return self._step("graph", self._stage_graph)

    def stage_index(self) -> Figures:
        """The keyword index."""
        return self._step("keyword_index", self._stage_index)

    def stage_manifest(self) -> Figures:
        """The manifest, whole and in two stages, and the report on its size."""
        return self._step("manifest", self._stage_manifest)

    def finish(self) -> Snapshot:
        """Stage what is still missing, make the snapshot current, write its faces and clear old ones."""
        self.refuse_if_blocked()
        current = _current_id(self._store)
        snapshot = self._existing
        if snapshot is None:
            figures = {"pages": self.stage_pages(), "graph": self.stage_graph()}
            figures |= {"keyword_index": self.stage_index(), "manifest": self.stage_manifest()}
            self._staged.write(names.REPORT, encode_json(self._report(figures)))
            snapshot = self._store.complete(self._staged, self._description(self._now()))
        else:
            published_at = snapshot.published_at if current == self.id else self._now()
            snapshot = self._store.describe_again(snapshot, self._description(published_at))
        if current != self.id:
            self._store.switch(self.id)
        self._write_faces(snapshot)
        self._store.prune(KEPT_SNAPSHOTS)
        self._existing = snapshot
        return snapshot

    def manifest_hash(self) -> str:
        """Hex SHA-256 of the whole manifest's bytes."""
        return hashlib.sha256(self._manifest.encode("utf-8", "replace")).hexdigest()

    def manifest_preview(self, lines: int = _PREVIEW_LINES) -> str:
        """The manifest's beginning."""
        return "\n".join(self._manifest.split("\n", lines)[:lines])

    def _step(self, name: str, stage: Callable[[], Figures]) -> Figures:
        self.refuse_if_blocked()
        if self._existing is not None:
            return dict(self._existing.report["figures"][name])
        if name not in self._figures:
            self._figures[name] = stage()
        return self._figures[name]

    # -- pages -------------------------------------------------------------------------------------------------------

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

    def _stage_pages(self) -> Figures:
        reusable = self._reusable
        records: list[bytes] = []
        chunks: list[bytes] = []
        sections = written = 0
        for page in self.chosen.pages:
            unchanged = self._place_text(page)
            if unchanged and reusable is not None:
                record, chunk = reusable.lines(page.path)
            else:
                record = encode_record(page_record(page, self._text(page.path)))
                chunk = json.dumps({found.section_id: found.content_hash for found in chunk_page(page)}).encode()
            records.append(record)
            chunks.append(chunk)
            sections += len(page.outline.sections)
            written += not unchanged
        self._staged.write(
            names.NAMES,
            json.dumps([(page.path, page.content_sha256) for page in self.chosen.pages], separators=(",", ":")).encode(),
        )
        for name, lines in ((names.CATALOG, records), (names.CHUNKS, chunks)):
            content, offsets = encode_lines(lines)
            self._staged.write(f"{name}.jsonl", content)
            self._staged.write(f"{name}.offsets", offsets)
        return {"pages": len(self.chosen.pages), "sections": sections, "written": written}

    def _place_text(self, page: WikiPage) -> bool:
        """Put a page's text into the snapshot. True when it is the one of the snapshot before."""
        name = f"{names.PAGES}/{page.path}"
        if page.path in self._texts:
            self._staged.write(name, self._texts[page.path].encode())
            return False
        if self._previous is None or not self._staged.link(name, self._previous.page_file(page.path)):
            self._staged.write(name, self._text(page.path).encode())
        return True

    def _text(self, path: str) -> str:
        if path not in self._texts and self._previous is not None:
            return self._previous.page_text(path)
        return self._texts[path]

    # -- graph -------------------------------------------------------------------------------------------------------

    def _stage_graph(self) -> Figures:
        graph = WikiGraph.from_pages(self.chosen.pages, self._settings.graph)
        memo = self._graph_memo()
        if memo.get("topology") == graph.topology():
            graph.adopt_groups(memo["topology"], tuple(tuple(group) for group in memo["groups"]))
        signature = f"{graph.signature()} {JSON_FORMAT} {page_version()} {self._settings.language}"
        files = (names.GRAPH_JSON, names.GRAPH_HTML, names.GRAPH_MEMO, names.NEIGHBOURS)
        if memo.get("signature") == signature and self._link_all(files):
            return dict(memo["figures"])
        number = {page.path: at for at, page in enumerate(self.chosen.pages)}
        edges = graph.edges
        extracted = sum(edge.confidence is Confidence.EXTRACTED for edge in edges)
        figures: Figures = {
            "nodes": len(graph),
            "extracted": extracted,
            "inferred": len(edges) - extracted,
            "communities": len(graph.communities()),
            "orphans": len(graph.orphans()),
        }
        memo = {
            "signature": signature,
            "topology": graph.topology(),
            "groups": graph.groups(),
            "figures": figures,
        }
        near = ([number[other] for other in graph.adjacent(page.path)] for page in self.chosen.pages)
        self._staged.write(names.GRAPH_JSON, to_json(graph).encode())
        self._staged.write(names.GRAPH_HTML, render_html(graph, self._settings.language).encode())
        self._staged.write(names.NEIGHBOURS, encode_neighbours(near))
        self._staged.write(names.GRAPH_MEMO, json.dumps(memo, separators=(",", ":")).encode())
        return figures

    def _graph_memo(self) -> dict[str, Any]:
        """What the snapshot before noted of its graph. The graph itself is never read back."""
        if self._reusable is None:
            return {}
        try:
            return dict(json.loads(self._reusable.text(names.GRAPH_MEMO)))
        except (SnapshotCorruptError, ValueError, TypeError):
            return {}

    def _link_all(self, files: Iterable[str]) -> bool:
        previous = self._previous
        return previous is not None and all(self._staged.link(name, previous.folder / name) for name in files)

    # -- keyword index -----------------------------------------------------------------------------------------------

    def _stage_index(self) -> Figures:
        folder = self._staged.clear(names.INDEX)
        report = self._updated_index() if self._reusable is not None else None
        if report is None:
            folder = self._staged.clear(names.INDEX)
            report = build_index(folder, (one for page in self.chosen.pages for one in indexed_sections(page)))
        return {"sections": report.sections, "analysed": report.analysed, "reused": report.reused}

    def _updated_index(self) -> IndexReport | None:
        """The index of the snapshot before with the changed pages replaced; None when it cannot be used."""
        previous = self._reusable
        if previous is None:
            return None
        known = previous.page_hashes
        changed = {
            page.path: indexed_sections(page)
            for page in self.chosen.pages
            if known.get(page.path) != page.content_sha256
        }
        removed = known.keys() - {page.path for page in self.chosen.pages}
        try:
            return update_index(self._staged.folder / names.INDEX, previous.index_folder, changed, removed)
        except SnapshotCorruptError:
            return None

    # -- manifest ----------------------------------------------------------------------------------------------------

    @cached_property
    def _manifest(self) -> str:
        return render_manifest(self.chosen.pages, self._settings.language)

    def _stage_manifest(self) -> Figures:
        pages, language = self.chosen.pages, self._settings.language
        report = self._measured
        self._staged.write(names.MANIFEST, self._manifest.encode("utf-8", "replace"))
        if report.two_stage:
            self._staged.write(names.DIRECTORY, render_directory_manifest(pages).encode("utf-8", "replace"))
        files = {}
        for domain, _, _ in report.domains:
            files[domain] = f"{names.DOMAINS}/{domain}.txt"
            self._staged.write(files[domain], render_domain_manifest(pages, domain, language).encode("utf-8", "replace"))
        shown = {
            "pages": report.pages,
            "tokens": report.tokens,
            "tokens_are": "estimated",
            "token_budget": report.token_budget,
            "tokens_per_page": report.tokens_per_page,
            "two_stage": report.two_stage,
            "advice": list(report.advice),
            "fattest": report.fattest,
            "left_out": dict(report.left_out),
            "domains": files,
        }
        self._staged.write(names.MANIFEST_REPORT, encode_json(shown))
        return {"pages": report.pages, "tokens": report.tokens, "tokens_per_page": report.tokens_per_page}

    @cached_property
    def _measured(self) -> ManifestReport:
        return manifest_report(
            self.chosen.pages,
            language=self._settings.language,
            token_budget=self._settings.token_budget,
            left_out=tuple(self.chosen.left_out.items()),
        )

    # -- the whole ---------------------------------------------------------------------------------------------------

    @cached_property
    def _staged(self) -> StagedSnapshot:
        return self._store.stage(self.id)

    @cached_property
    def _reusable(self) -> Snapshot | None:
        """The snapshot before, when its files have the form of today."""
        return self._previous if self._previous is not None and self._previous.made_by == MADE_BY else None

    def _content_id(self) -> str:
        settings = self._settings
        policy = replace(settings.graph, stop_terms=frozenset())
        made_of = [
            [MADE_BY, JSON_FORMAT, page_version(), settings.language, settings.token_budget],
            [repr(policy), sorted(settings.graph.stop_terms)],
            [(page.path, page.content_sha256) for page in self.chosen.pages],
            [sorted(self.chosen.left_out.items()), sorted(self.chosen.kept.items())],
        ]
        return hashlib.sha256(json.dumps(made_of).encode()).hexdigest()[:16]

    def _report(self, figures: Mapping[str, Figures]) -> dict[str, object]:
        return {
            "pages": len(self.chosen.pages),
            "sections": figures["keyword_index"]["sections"],
            "kept": dict(self.chosen.kept),
            "left_out": dict(self.chosen.left_out),
            "figures": dict(figures),
        }

    def _latest(self) -> dict[str, object]:
        """What may differ between two publications of the same content."""
        severities = [finding.severity for finding in self.findings]
        return {
            "fingerprint": self._settings.fingerprint,
            "lint_errors": severities.count(Severity.ERROR),
            "lint_warnings": severities.count(Severity.WARNING),
        }

    def _description(self, published_at: datetime) -> dict[str, object]:
        return {
            "format": names.FORMAT,
            "made_by": MADE_BY,
            "published_at": published_at.isoformat(),
            "language": self._settings.language,
            "pages": len(self.chosen.pages),
            "two_stage": self._measured.two_stage,
            "latest": self._latest(),
        }

    def _write_faces(self, snapshot: Snapshot) -> None:
        for name in (names.MANIFEST, names.GRAPH_JSON, names.GRAPH_HTML):
            self._store.write_face(name, (snapshot.folder / name).read_bytes())
        self._store.write_face("manifest.hash", f"{self.manifest_hash()}\n".encode())


def _current_id(store: SnapshotStore) -> str | None:
    try:
        return store.current_id()
    except SnapshotCorruptError:
        return None
