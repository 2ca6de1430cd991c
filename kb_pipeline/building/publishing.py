"""Build what is published from the pages as they are now (SPEC 9 gate, 10).

Belongs here: which version of each page is published, the parts of a snapshot and their order. Does not belong here:
the layout on disk (``storage.snapshots``), the parts' own making (``graph``, ``manifest``, ``text.sparse_index``).

A snapshot's id is the hash of what is in it, so that publishing the same content again changes nothing. Each part can
be staged alone, in any order; ``finish`` stages what is missing and switches.
"""

from __future__ import annotations

import hashlib
import html
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from kb_pipeline.embeddings.chunking import chunk_page
from kb_pipeline.errors import PublishingBlockedError
from kb_pipeline.graph.export import to_json
from kb_pipeline.graph.render import render_html
from kb_pipeline.graph.wiki_graph import WikiGraph
from kb_pipeline.manifest import (
    domains,
    manifest_report,
    render_directory_manifest,
    render_domain_manifest,
    render_manifest,
)
from kb_pipeline.markdown.pages import read_page
from kb_pipeline.models import Finding, Section, Severity, WikiPage
from kb_pipeline.storage.files import write_if_changed
from kb_pipeline.storage.snapshots import (
    FORMAT,
    PublishedPage,
    PublishedSection,
    Snapshot,
    SnapshotStore,
    place_page,
    write_records,
)
from kb_pipeline.text.sparse_index import IndexedSection, build_index

PREVIEW_LINES = 40


@dataclass(frozen=True, slots=True)
class Chosen:
    """``pages``: what is published, by path. ``kept``: pages at their last published version. ``left_out``: reasons."""

    pages: Mapping[str, WikiPage]
    kept: frozenset[str]
    left_out: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class PublishSettings:
    """What of the configuration a publication depends on. ``fingerprint``: of pages and settings, for the report."""

    language: str = "zh-TW"
    gate: str = "page"
    budget_tokens: int = 25_000
    fingerprint: str = ""


def choose_publishable(
    pages: Mapping[str, WikiPage], findings: Sequence[Finding], former: Callable[[str], WikiPage | None]
) -> Chosen:
    """SPEC 9, gate ``page``: a page with an error of its own keeps its last published version, or stays out.

    ``former`` gives a page as it was last published. Drafts are never published.
    """
    faulty = {finding.path: finding for finding in findings if finding.own and finding.severity is Severity.ERROR}
    chosen: dict[str, WikiPage] = {}
    kept: set[str] = set()
    left_out: dict[str, str] = {}
    for path, page in pages.items():
        if page.is_draft:
            left_out[path] = "draft"
        elif path not in faulty:
            chosen[path] = page
        else:
            last = former(path)
            if last is None:
                left_out[path] = f"{faulty[path].rule}: {faulty[path].message}"
            else:
                chosen[path] = last
                kept.add(path)
    return Chosen(dict(sorted(chosen.items())), frozenset(kept), dict(sorted(left_out.items())))


class Publication:
    """One publication of one state of the pages. ``read_text``: a page's file as text, LF line ends."""

    def __init__(
        self,
        store: SnapshotStore,
        build: Path,
        pages: Mapping[str, WikiPage],
        findings: Sequence[Finding],
        read_text: Callable[[str], str],
        now: Callable[[], datetime],
        settings: PublishSettings,
    ) -> None:
        self.findings = tuple(findings)
        self._store = store
        self._build = build
        self._read_text = read_text
        self._now = now
        self._settings = settings
        self._former = store.current_or_none()
        self._former_hashes = {} if self._former is None else self._former.content_hashes()
        self.chosen = choose_publishable(pages, findings, self._former_page)
        self.id = self._identity()
        self._graph: WikiGraph | None = None

    @property
    def errors(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.severity is Severity.ERROR]

    def refuse_if_blocked(self) -> None:
        """Raises PublishingBlockedError under ``lint.gate: all`` while any error stands."""
        if self._settings.gate == "all" and self.errors:
            first = self.errors[0]
            raise PublishingBlockedError(
                f"lint.gate is all and {len(self.errors)} errors stand, the first: {first.path}: {first.message}; "
                "mend them (kb lint) or set lint.gate: page"
            )

    def stage_graph(self) -> dict[str, int]:
        """Write ``graph.json`` and ``graph.html``; returns figures."""
        graph = self.graph()
        folder = self._folder()
        if not (folder / "graph.html").exists():
            (folder / "graph.json").write_text(to_json(graph), encoding="utf-8")
            (folder / "graph.html").write_text(render_html(graph, self._settings.language), encoding="utf-8")
        return {
            "nodes": len(graph),
            "edges": len(graph.edges),
            "communities": len(graph.communities()),
            "orphans": len(graph.orphans()),
        }

    def stage_index(self) -> dict[str, int]:
        """Write the keyword index, taking unchanged sections over from the former snapshot; returns figures."""
        former = self._former.index_folder if self._former is not None else None
        report = build_index(self._folder() / "index", self._indexed_sections(), former)
        return asdict(report)

    def stage_manifest(self) -> dict[str, int | float | str]:
        """Write the manifest whole, by domain and as directory; returns figures. Raises PublishingBlockedError."""
        self.refuse_if_blocked()
        pages, language = list(self.chosen.pages.values()), self._settings.language
        text = self._manifest()
        folder = self._folder()
        (folder / "manifest").mkdir(exist_ok=True)
        (folder / "manifest.txt").write_text(text, encoding="utf-8")
        (folder / "directory.txt").write_text(render_directory_manifest(pages, language), encoding="utf-8")
        names = {}
        for number, (domain, members) in enumerate(domains(pages).items()):
            names[domain] = f"manifest/{number:04}.txt"
            (folder / names[domain]).write_text(render_domain_manifest(members, domain, language), encoding="utf-8")
        report = manifest_report(
            pages, text, language, budget=self._settings.budget_tokens, left_out=self.chosen.left_out
        )
        figures = {**asdict(report), "sha256": hashlib.sha256(text.encode()).hexdigest(), "domains": names}
        (folder / "manifest.json").write_text(json.dumps(figures, ensure_ascii=False, indent=1), encoding="utf-8")
        return {name: value for name, value in figures.items() if isinstance(value, int | float | str)}

    def finish(self) -> Snapshot:
        """Make the snapshot whole and current. Raises PublishingBlockedError, StorageError."""
        self.refuse_if_blocked()
        if not self._store.is_whole(self.id):
            folder = self._folder()
            for name, stage in (("graph.html", self.stage_graph), ("index", self.stage_index), ("manifest.json", self.stage_manifest)):
                if not (folder / name).exists():
                    stage()
            self._place_pages(folder)
        snapshot = self._store.finish(self.id, self._report())
        self._write_faces(snapshot)
        self._store.prune()
        return snapshot

    def graph(self) -> WikiGraph:
        if self._graph is None:
            self._graph = WikiGraph.from_pages(self.chosen.pages.values())
        return self._graph

    def manifest_hash(self) -> str:
        return hashlib.sha256(self._manifest().encode()).hexdigest()

    def manifest_preview(self) -> str:
        """The manifest's first lines, for a report: markup in a title must not be rendered."""
        return html.escape("\n".join(self._manifest().splitlines()[:PREVIEW_LINES]).replace("```", "'''"), quote=False)

    def _manifest(self) -> str:
        return render_manifest(self.chosen.pages.values(), self._settings.language)

    def _folder(self) -> Path:
        """Where parts are staged; the snapshot itself when this very content was published before."""
        return self._store.folder(self.id) if self._store.is_whole(self.id) else self._store.staged(self.id)

    def _identity(self) -> str:
        digest = hashlib.sha256(f"{FORMAT}\0{self._settings.language}\0{self._settings.budget_tokens}\n".encode())
        for path, page in self.chosen.pages.items():
            digest.update(f"{path}\0{page.content_sha256}\n".encode("utf-8", "surrogatepass"))
        for path, reason in self.chosen.left_out.items():
            digest.update(f"-{path}\0{reason}\n".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()[:16]

    def _former_page(self, path: str) -> WikiPage | None:
        if self._former is None or path not in self._former_hashes:
            return None
        return read_page(path, self._former.page_text(path).encode())

    def _indexed_sections(self) -> Iterator[IndexedSection]:
        for page in self.chosen.pages.values():
            shared = {
                "title": page.title,
                "keywords": "\n".join((*page.keywords, *page.tags)),
                "aliases": "\n".join((*page.aliases, page.concept_name)),
                "summary": page.summary,
            }
            for section in page.outline.sections:
                fields = {**shared, "headings": "\n".join(section.breadcrumb), "body": section.text}
                yield IndexedSection(f"{page.path}#{section.section_id}", fields)

    def _place_pages(self, folder: Path) -> None:
        former = self._former.folder if self._former is not None else None
        records = []
        for path, page in self.chosen.pages.items():
            same = self._former_hashes.get(path) == page.content_sha256
            text = "" if same else self._former_text(path) if path in self.chosen.kept else self._read_text(path)
            place_page(folder, path, text, former if same else None)
            records.append(_record(page))
        write_records(folder, records)

    def _former_text(self, path: str) -> str:
        return "" if self._former is None else self._former.page_text(path)

    def _report(self) -> dict[str, object]:
        return {
            "id": self.id,
            "created": self._now().replace(microsecond=0).isoformat(),
            "fingerprint": self._settings.fingerprint,
            "pages": len(self.chosen.pages),
            "sections": sum(len(page.outline.sections) for page in self.chosen.pages.values()),
            "kept_at_last_version": sorted(self.chosen.kept),
            "left_out": dict(self.chosen.left_out),
            "lint_errors": len(self.errors),
            "lint_warnings": len(self.findings) - len(self.errors),
        }

    def _write_faces(self, snapshot: Snapshot) -> None:
        """``build/manifest.txt`` and the rest: for people; written only when their bytes change."""
        for name in ("manifest.txt", "graph.json", "graph.html"):
            write_if_changed(self._build / name, snapshot.text(name).encode())
        write_if_changed(self._build / "manifest.hash", f"{self.manifest_hash()}\n".encode())


def _record(page: WikiPage) -> PublishedPage:
    return PublishedPage(
        path=page.path,
        title=page.title,
        scope=page.scope,
        status=page.status.value if page.status else "",
        updated=page.updated,
        domain=page.domain,
        kind=page.kind,
        summary=page.summary,
        keywords=page.keywords,
        content_sha256=page.content_sha256,
        sections=tuple(_section(section) for section in page.outline.sections),
        chunk_hashes={chunk.section_id: chunk.content_hash for chunk in chunk_page(page)},
    )


def _section(section: Section) -> PublishedSection:
    return PublishedSection(
        section.section_id, section.slug, section.level, section.title, section.parent, section.line, section.end_line
    )
