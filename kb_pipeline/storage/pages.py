"""The folder ``knowledge/``: reading its pages through a cache, writing and deleting single pages.

Belongs here: which files are pages, the use of the cache, safe paths. Not here: what is in a page (``markdown``), who
owns it (planning), snapshots.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import os
import time
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kb_pipeline.errors import StorageError
from kb_pipeline.markdown.pages import read_page
from kb_pipeline.models import PageProvenance, WikiPage
from kb_pipeline.storage.cache import PageCache
from kb_pipeline.storage.files import remove_empty_parents, remove_file, write_if_changed
from kb_pipeline.storage.page_rows import decode_page, decode_provenance, encode_page, encode_provenance

_RACY_NS = 2_000_000_000  # a reading sooner than this after the file's last change may have missed another one
_SEEN, _TAG, _PROVENANCE = 4, 5, 6
"""Places in a stamp row: size, mtime, ctime, inode, when read, hash of the bytes, then the provenance."""

_Row = list[Any]


class PageFolder:
    """All pages below ``root``. Paths are relative to it, POSIX, NFC, and end with ``.md`` (in any case).

    Hidden files and folders and temporary files are passed over; links are never followed. What was refused in the
    last scan, and why, is in ``refused``. Not safe for use by several threads at once.
    """

    def __init__(self, root: Path, cache: PageCache | None = None) -> None:
        self.root = root
        self.refused: dict[str, str] = {}
        self._cache = cache
        self._known: dict[str, _Row] | None = None
        self._disk_paths: dict[str, str] = {}
        self._parsed: dict[str, tuple[str, WikiPage]] = {}

    def scan(self) -> dict[str, PageProvenance]:
        """Provenance of every page, by path, sorted; only changed files are read. Empty when there is no folder."""
        rows = self._scan()
        with _without_collection():
            return {path: decode_provenance(path, row[_PROVENANCE:]) for path, row in rows.items()}

    def load_all(self) -> dict[str, WikiPage]:
        """Every page as parsed, by path, sorted. Pages that did not change come from the cache."""
        rows = self._scan()
        found: dict[str, WikiPage] = {}
        fresh: list[tuple[str, str, bytes]] = []
        with _without_collection():
            cached = self._cache.load_pages() if self._cache is not None else {}
            for path, row in rows.items():
                tag = row[_TAG]
                page = self._take_parsed(path, tag) or _decoded(cached.get(path), tag)
                if page is None:
                    page, row = self._read_again(path)
                    rows[path] = row
                    tag = row[_TAG]
                if path not in cached or cached[path][0] != tag:
                    fresh += _encoded(page, tag)
                found[path] = page
        self._parsed.clear()
        if self._cache is not None:
            self._cache.store_pages(fresh, [path for path in cached if path not in found])
        return found

    def read(self, path: str) -> WikiPage:
        """One page as it is on disk now. Raises StorageError when it is not there."""
        try:
            return read_page(path, self._file(path).read_bytes())
        except OSError as error:
            raise StorageError(f"cannot read page {path}: {error.strerror or error}") from error

    def read_text(self, path: str) -> bytes:
        """The bytes of a page. Raises StorageError when it is not there."""
        try:
            return self._file(path).read_bytes()
        except OSError as error:
            raise StorageError(f"cannot read page {path}: {error.strerror or error}") from error

    def write(self, path: str, text: str) -> bool:
        """Write a page atomically. False when the file held exactly this already."""
        if not path.lower().endswith(".md"):
            raise StorageError(f'a page must be called something.md, not "{path}"')
        return write_if_changed(self._file(path), text.encode("utf-8", "replace"))

    def delete(self, path: str) -> bool:
        """Delete a page and the folders that are empty then. False when there was none."""
        file = self._file(path)
        removed = remove_file(file)
        if removed:
            remove_empty_parents(file, self.root)
        return removed

    def _file(self, path: str) -> Path:
        """Where a page is, or will be. Raises StorageError for a path that leaves the folder or is hidden."""
        parts = path.split("/")
        if any(part in {"", ".", ".."} or part.startswith(".") or "\0" in part for part in parts):
            raise StorageError(f'"{path}" is no path of a page: it must be relative, without hidden parts')
        file = self.root / self._disk_paths.get(path, path)
        if file.is_symlink() or not file.parent.resolve().is_relative_to(self.root.resolve()):
            raise StorageError(f'"{path}" is, or lies behind, a symbolic link: refused')
        return file

    def _scan(self) -> dict[str, _Row]:
        with _without_collection():
            known = self._known
            if known is None:
                known = self._cache.load_stamps() if self._cache is not None else {}  # type: ignore[assignment] # rows are lists
            rows: dict[str, _Row] = {}
            changed = False
            self.refused = {}
            self._disk_paths = {}
            for path, found in sorted(self._walk()):
                row = known.get(path)
                if row is None or not _holds(row, found):
                    fresh = self._read_row(path, found, row)
                    if fresh is None:
                        continue
                    row, changed = fresh, True
                rows[path] = row
        if self._cache is not None and (changed or rows.keys() != known.keys()):
            self._cache.store_stamps(rows)
        self._known = rows
        return rows

    def _walk(self) -> Iterator[tuple[str, os.DirEntry[str]]]:
        root = os.fspath(self.root)
        folders = [""]
        taken: dict[str, str] = {}
        while folders:
            relative = folders.pop()
            try:
                with os.scandir(f"{root}/{relative}") as listing:
                    entries = list(listing)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise StorageError(f"cannot read {root}/{relative}: {error.strerror or error}") from error
            for found in sorted(entries, key=lambda entry: entry.name):
                name = found.name
                if name.startswith("."):
                    continue
                if found.is_symlink():
                    self.refused[relative + name] = "symbolic links are not followed: put the page itself here"
                elif found.is_dir(follow_symlinks=False):
                    folders.append(f"{relative}{name}/")
                elif name.lower().endswith(".md") and found.is_file(follow_symlinks=False):
                    path = self._identity(relative + name, taken)
                    if path is not None:
                        yield path, found

    def _identity(self, disk_path: str, taken: dict[str, str]) -> str | None:
        if disk_path.isascii():
            path = disk_path
        else:
            try:
                disk_path.encode("utf-8")
            except UnicodeEncodeError:
                shown = os.fsencode(disk_path).decode("utf-8", "backslashreplace")
                self.refused[shown] = "the file name is not valid UTF-8: rename it"
                return None
            path = unicodedata.normalize("NFC", disk_path)
        other = taken.setdefault(path.casefold(), disk_path)
        if other != disk_path:
            self.refused[disk_path] = f'its name and "{other}" are one on other machines: rename one of them'
            return None
        if path != disk_path:
            self._disk_paths[path] = disk_path
        return path

    def _read_row(self, path: str, found: os.DirEntry[str], row: _Row | None) -> _Row | None:
        """Read a file whose signature is new; parsed only when its bytes are new too."""
        seen_ns = time.time_ns()
        try:
            stat = found.stat(follow_symlinks=False)
            content = Path(found.path).read_bytes()
        except FileNotFoundError:
            return None  # deleted while we looked
        except OSError as error:
            raise StorageError(f"cannot read page {path}: {error.strerror or error}") from error
        signature = [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino, seen_ns]
        tag = hashlib.sha256(content).hexdigest()
        if row is not None and row[_TAG] == tag:
            return [*signature, *row[_TAG:]]
        page = read_page(path, content)
        self._parsed[path] = (tag, page)
        return [*signature, tag, *encode_provenance(page)]

    def _read_again(self, path: str) -> tuple[WikiPage, _Row]:
        file = self.root / self._disk_paths.get(path, path)
        seen_ns = time.time_ns()
        try:
            stat = file.stat()
            content = file.read_bytes()
        except OSError as error:
            raise StorageError(f"cannot read page {path}: {error.strerror or error}") from error
        tag = hashlib.sha256(content).hexdigest()
        page = read_page(path, content)
        signature = [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino, seen_ns]
        return page, [*signature, tag, *encode_provenance(page)]

    def _take_parsed(self, path: str, tag: str) -> WikiPage | None:
        held = self._parsed.get(path)
        return held[1] if held is not None and held[0] == tag else None


def _holds(row: _Row, found: os.DirEntry[str]) -> bool:
    try:
        stat = found.stat(follow_symlinks=False)
    except OSError:
        return False
    return (
        row[0] == stat.st_size
        and row[1] == stat.st_mtime_ns
        and row[2] == stat.st_ctime_ns
        and row[3] == stat.st_ino
        and row[2] + _RACY_NS < row[_SEEN]
    )


def _decoded(cached: tuple[str, bytes] | None, tag: str) -> WikiPage | None:
    return decode_page(cached[1]) if cached is not None and cached[0] == tag else None


def _encoded(page: WikiPage, tag: str) -> list[tuple[str, str, bytes]]:
    """The page's row; none for front matter that has no JSON form, which is parsed again each time."""
    try:
        return [(page.path, tag, encode_page(page))]
    except (TypeError, ValueError):
        return []


@contextlib.contextmanager
def _without_collection() -> Iterator[None]:
    """No garbage collection while many small values are made that all stay: it would search them again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
