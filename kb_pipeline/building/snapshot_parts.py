"""The parts of a snapshot: each writes its files and takes over from the snapshot before what did not change.

Belongs here: which files a part consists of. Does not belong here: which pages there are and when parts are made
(``publishing``), what is kept of one page (``page_records``), how graph, manifest and index are made.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from kb_pipeline.building.page_records import indexed_sections, page_record
from kb_pipeline.embeddings.chunking import chunk_page
from kb_pipeline.errors import SnapshotCorruptError
from kb_pipeline.graph.export import FORMAT as JSON_FORMAT
from kb_pipeline.graph.export import to_json
from kb_pipeline.graph.render import page_version, render_html
from kb_pipeline.graph.terms import GraphPolicy
from kb_pipeline.graph.wiki_graph import WikiGraph
from kb_pipeline.manifest import (
    ManifestReport,
    domains,
    render_directory_manifest,
    render_domain_manifest,
)
from kb_pipeline.models import Confidence, WikiPage
from kb_pipeline.storage import snapshot as names
from kb_pipeline.storage.catalog import encode_json, encode_lines, encode_neighbours, encode_record
from kb_pipeline.storage.snapshots import Snapshot, StagedSnapshot
from kb_pipeline.text.sparse_index import IndexReport, build_index, update_index

Figures = dict[str, int | float | str]
Pages = Sequence[WikiPage]


def write_pages(
    staged: StagedSnapshot,
    pages: Pages,
    new_texts: Mapping[str, str],
    previous: Snapshot | None,
    *,
    lines_fit: bool,
) -> Figures:
    """Texts, catalogue and chunk hashes. Pages without a new text are those that ``previous`` holds.

    ``lines_fit``: ``previous`` was made by today's rules, so that its records can be taken over.
    """
    records: list[bytes] = []
    chunks: list[bytes] = []
    for page in pages:
        text = new_texts.get(page.path)
        name = f"{names.PAGES}/{page.path}"
        if text is None and previous is not None:
            if not staged.link(name, previous.page_file(page.path)):
                staged.write(name, previous.page_text(page.path).encode())
            if lines_fit:
                record, chunk = previous.lines(page.path)
                records.append(record)
                chunks.append(chunk)
                continue
            text = previous.page_text(page.path)
        elif text is not None:
            staged.write(name, text.encode())
        else:
            raise ValueError(f"no text for {page.path}")
        records.append(encode_record(page_record(page, text)))
        chunks.append(json.dumps({found.section_id: found.content_hash for found in chunk_page(page)}).encode())
    hashes = [(page.path, page.content_sha256) for page in pages]
    staged.write(names.NAMES, json.dumps(hashes, separators=(",", ":")).encode())
    for name, lines in ((names.CATALOG, records), (names.CHUNKS, chunks)):
        content, offsets = encode_lines(lines)
        staged.write(f"{name}.jsonl", content)
        staged.write(f"{name}.offsets", offsets)
    return {"pages": len(pages), "written": len(new_texts)}


def write_graph(
    staged: StagedSnapshot, pages: Pages, policy: GraphPolicy, language: str, previous: Snapshot | None
) -> Figures:
    """``graph.json``, ``graph.html``, neighbours by page, and a memo that spares the next snapshot work.

    The graph itself is made from the pages each time. Files that would come out alike are shared with ``previous``, and
    so are communities where no edge changed.
    """
    graph = WikiGraph.from_pages(pages, policy)
    memo = _memo(previous)
    if memo.get("topology") == graph.topology():
        graph.adopt_groups(memo["topology"], tuple(tuple(group) for group in memo["groups"]))
    signature = f"{graph.signature()} {JSON_FORMAT} {page_version()} {language}"
    files = (names.GRAPH_JSON, names.GRAPH_HTML, names.GRAPH_MEMO, names.NEIGHBOURS)
    if (
        previous is not None
        and memo.get("signature") == signature
        and all(staged.link(name, previous.folder / name) for name in files)
    ):
        return dict(memo["figures"])
    number = {page.path: at for at, page in enumerate(pages)}
    extracted = sum(edge.confidence is Confidence.EXTRACTED for edge in graph.edges)
    figures: Figures = {
        "nodes": len(graph),
        "edges": len(graph.edges),
        "extracted": extracted,
        "inferred": len(graph.edges) - extracted,
        "communities": len(graph.communities()),
        "orphans": len(graph.orphans()),
    }
    memo = {"signature": signature, "topology": graph.topology(), "groups": graph.groups(), "figures": figures}
    staged.write(names.GRAPH_JSON, to_json(graph).encode())
    staged.write(names.GRAPH_HTML, render_html(graph, language).encode())
    near = ([number[other] for other in graph.adjacent(page.path)] for page in pages)
    staged.write(names.NEIGHBOURS, encode_neighbours(near))
    staged.write(names.GRAPH_MEMO, json.dumps(memo, separators=(",", ":")).encode())
    return figures


def _memo(previous: Snapshot | None) -> dict[str, Any]:
    try:
        return {} if previous is None else dict(json.loads(previous.text(names.GRAPH_MEMO)))
    except (SnapshotCorruptError, ValueError, TypeError):
        return {}


def write_index(staged: StagedSnapshot, pages: Pages, previous: Snapshot | None) -> Figures:
    """The keyword index; with ``previous`` only changed pages are analysed."""
    report = None if previous is None else _updated_index(staged, pages, previous)
    if report is None:
        report = build_index(staged.clear(names.INDEX), (one for page in pages for one in indexed_sections(page)))
    return dict(asdict(report))


def _updated_index(staged: StagedSnapshot, pages: Pages, previous: Snapshot) -> IndexReport | None:
    known = previous.page_hashes
    changed = {page.path: indexed_sections(page) for page in pages if known.get(page.path) != page.content_sha256}
    removed = known.keys() - {page.path for page in pages}
    try:
        return update_index(staged.clear(names.INDEX), previous.index_folder, changed, removed)
    except SnapshotCorruptError:
        return None


def write_manifest(staged: StagedSnapshot, pages: Pages, text: str, language: str, measured: ManifestReport) -> Figures:
    """The manifest whole, as directory and by domain, and its report."""
    staged.write(names.MANIFEST, encoded(text))
    staged.write(names.DIRECTORY, encoded(render_directory_manifest(pages, language)))
    files: dict[str, str] = {}
    for domain, members in domains(pages).items():
        files[domain] = f"{names.DOMAINS}/{domain}.txt"
        staged.write(files[domain], encoded(render_domain_manifest(members, domain, language)))
    report = {**asdict(measured), "sha256": manifest_digest(text), "domains": files}
    staged.write(names.MANIFEST_REPORT, encode_json(report))
    return {name: value for name, value in report.items() if isinstance(value, int | float | str)}


def manifest_digest(text: str) -> str:
    """Hex SHA-256 of the manifest's bytes."""
    return hashlib.sha256(encoded(text)).hexdigest()


def encoded(text: str) -> bytes:
    # A lone surrogate in a file's name must not keep a wiki from being published.
    return text.encode("utf-8", "replace")
