"""Reading one published snapshot (SPEC 10).

Belongs here: opening it, its pages, texts, manifest, graph files and what each page's neighbours and chunks are. Does not
belong here: making and switching snapshots (``snapshots``), search (``retrieval``).

A snapshot never changes once it is published, but for its time of publication. Everything is read when first asked for
and the large files are mapped, so that opening one costs about a millisecond at any size. Safe to share between threads.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from kb_pipeline.errors import SnapshotCorruptError
from kb_pipeline.markdown.decoding import text_hash
from kb_pipeline.storage.catalog import LineTable, NeighbourTable, PageRecord, SectionRecord, decode_record

FORMAT = 1
DESCRIPTION = "snapshot.json"
PAGES, INDEX, DOMAINS = "pages", "index", "manifest/domains"
MANIFEST, DIRECTORY, MANIFEST_REPORT = "manifest.txt", "manifest/directory.txt", "manifest.json"
GRAPH_JSON, GRAPH_HTML, GRAPH_MEMO = "graph.json", "graph.html", "graph-memo.json"
CATALOG, CHUNKS, NEIGHBOURS, NAMES, REPORT = "catalog", "chunks", "neighbours.bin", "pages.json", "report.json"

_BROKEN = (OSError, ValueError, KeyError, IndexError, TypeError)
_T = TypeVar("_T")


class Snapshot:
    """One published snapshot. Raises SnapshotCorruptError wherever something in it cannot be read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.id = folder.name
        described = self._reading(self._describe)
        self.published_at: datetime = described["published_at"]
        self.language: str = described["language"]
        self.page_count: int = described["pages"]
        self.two_stage: bool = described["two_stage"]
        self.made_by: str = described["made_by"]
        self._latest: Mapping[str, Any] = described["latest"]

    def _describe(self) -> dict[str, Any]:
        found = json.loads((self.folder / DESCRIPTION).read_bytes())
        if found["format"] != FORMAT:
            raise ValueError(f"format {found['format']}, this program knows {FORMAT}")
        published = datetime.fromisoformat(found["published_at"])
        return {
            "published_at": published if published.tzinfo else published.replace(tzinfo=UTC),
            "language": str(found["language"]),
            "pages": int(found["pages"]),
            "two_stage": bool(found["two_stage"]),
            "made_by": str(found["made_by"]),
            "latest": dict(found["latest"]),
        }

    def age_seconds(self, now: datetime) -> float:
        """Time since it was published."""
        return max(0.0, (now - self.published_at).total_seconds())

    # -- pages -------------------------------------------------------------------------------------------------------

    @cached_property
    def _numbers(self) -> Mapping[str, int]:
        return {path: number for number, path in enumerate(self.page_hashes)}

    @cached_property
    def page_hashes(self) -> Mapping[str, str]:
        """Path → content hash of every page, sorted by path."""
        rows: dict[str, str] = dict(self._reading(lambda: json.loads((self.folder / NAMES).read_bytes())))
        return rows

    @cached_property
    def _catalog(self) -> LineTable:
        return LineTable(self.folder, CATALOG)

    def __contains__(self, path: object) -> bool:
        return path in self._numbers

    def page(self, path: str) -> PageRecord:
        """Raises KeyError for a page that is not published."""
        number = self._numbers[path]
        return self._reading(lambda: decode_record(self._catalog[number]))

    def pages(self) -> tuple[str, ...]:
        """Paths of every page, sorted by code points."""
        return tuple(self._numbers)

    def records(self) -> Iterator[PageRecord]:
        """Every page, by path."""
        for path in self._numbers:
            yield self.page(path)

    def lines(self, path: str) -> tuple[bytes, bytes]:
        """A page's lines in the catalogue and in the table of chunks as they stand, for the next snapshot.

        Raises KeyError for an unknown page.
        """
        number = self._numbers[path]
        return self._reading(lambda: (self._catalog[number], self._chunks[number]))

    def page_file(self, path: str) -> Path:
        return self.folder / PAGES / path

    def page_text(self, path: str) -> str:
        """The whole text of a page, front matter included. Raises KeyError for a page that is not published."""
        expected = self.page_hashes[path]
        text = self._reading(lambda: self.page_file(path).read_bytes().decode())
        if text_hash(text) != expected:
            raise self._corrupt(f"{PAGES}/{path} is not the text that was published")
        return text

    def section_text(self, record: PageRecord, section: SectionRecord) -> str:
        """A section's own text, without its heading line."""

        def read() -> str:
            with self.page_file(record.path).open("rb") as file:
                file.seek(section.start)
                return file.read(section.end - section.start).decode("utf-8", "replace")

        return self._reading(read)

    # -- what hangs on pages -----------------------------------------------------------------------------------------

    def neighbours(self, path: str) -> list[str]:
        """Pages one edge away. Raises KeyError for an unknown page."""
        number = self._numbers[path]
        return self._reading(lambda: [self._paths[near] for near in self._neighbours[number]])

    @cached_property
    def _paths(self) -> list[str]:
        return list(self._numbers)

    @cached_property
    def _neighbours(self) -> NeighbourTable:
        return NeighbourTable(self.folder / NEIGHBOURS)

    def chunk_hashes(self, path: str) -> dict[str, str]:
        """Section id of each chunk of a page → hash of the text that its vector must be of."""
        number = self._numbers[path]
        found: dict[str, str] = self._reading(lambda: json.loads(self._chunks[number]))
        return found

    def all_chunk_hashes(self) -> dict[tuple[str, str], str]:
        """(concept_name, section_id) → hash, of every chunk that the snapshot expects a vector of."""
        return {
            (path.removesuffix(".md"), section_id): digest
            for path in self._numbers
            for section_id, digest in self.chunk_hashes(path).items()
        }

    @cached_property
    def _chunks(self) -> LineTable:
        return LineTable(self.folder, CHUNKS)

    # -- files -------------------------------------------------------------------------------------------------------

    @property
    def index_folder(self) -> Path:
        return self.folder / INDEX

    @cached_property
    def manifest(self) -> str:
        """The whole manifest, whatever its size."""
        return self.text(MANIFEST)

    @cached_property
    def directory_manifest(self) -> str | None:
        """First stage of a manifest over the budget; None when the whole one is within it."""
        return self.text(DIRECTORY) if self.two_stage else None

    def domain_manifest(self, domain: str) -> str:
        """A domain's part of the manifest, the second stage. Raises KeyError for a domain without pages."""
        return self.text(self.manifest_report["domains"][domain])

    @cached_property
    def manifest_report(self) -> Mapping[str, Any]:
        """Size of the manifest, fattest pages, pages left out, and the file of each domain's part."""
        found: Mapping[str, Any] = self._reading(lambda: json.loads((self.folder / MANIFEST_REPORT).read_bytes()))
        return found

    @property
    def graph_json(self) -> str:
        return self.text(GRAPH_JSON)

    @cached_property
    def report(self) -> Mapping[str, Any]:
        """Figures of its making, and what the latest publication of this content said: see ``building.publishing``."""
        return {**self._reading(lambda: json.loads((self.folder / REPORT).read_bytes())), **self._latest}

    def text(self, name: str) -> str:
        """One of the files, by its name in the snapshot."""
        return self._reading(lambda: (self.folder / name).read_bytes().decode())

    def _reading(self, read: Callable[[], _T]) -> _T:
        try:
            return read()
        except _BROKEN as error:
            raise self._corrupt(str(error) or type(error).__name__) from error

    def _corrupt(self, reason: str) -> SnapshotCorruptError:
        return SnapshotCorruptError(
            f"the snapshot {self.id} cannot be read ({reason}); delete {self.folder.parent.parent} and run `kb build`: "
            "everything in that folder is made again from the pages"
        )
