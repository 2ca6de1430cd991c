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
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kb_pipeline.errors import StorageError
from kb_pipeline.models import PageProvenance, WikiPage
from kb_pipeline.storage.cache import PageCache
from kb_pipeline.storage.files import remove_empty_parents, remove_file, write_if_changed
from kb_pipeline.storage.page_rows import decode_page, decode_provenance, encode_page, encode_provenance
from kb_pipeline.storage.provenance import read_page_of_disk

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
        self._pages: dict[str, tuple[str, WikiPage]] = {}  # with the hash of the bytes that each was parsed from

    def scan(self) -> dict[str, PageProvenance]:
        """Provenance of every page, by path, sorted; only changed files are read. Empty when there is no folder."""
        rows = self._scan()
        with _without_collection():
            return {path: decode_provenance(path, row[_PROVENANCE:]) for path, row in rows.items()}

    def load_all(self) -> dict[str, WikiPage]:
        """Every page as parsed, by path, sorted. Pages that did not change come from memory or from the cache."""
        rows = self._scan()
        with _without_collection():
            missing = [path for path, row in rows.items() if self._remembered(path, row) is None]
            if missing and self._cache is not None:
                self._remember_cached(missing, rows)
            parsed = [path for path in missing if self._remembered(path, rows[path]) is None]
            for path in parsed:
                self._parse_again(path, rows)
        self._store_pages([path for path in parsed if path in rows])
        return {path: self._pages[path][1] for path in rows}

    def read(self, path: str) -> WikiPage:
        """One page as it is on disk now. Raises StorageError when it is not there."""
        try:
            return self._parsed(path, self._file(path).read_bytes())[1]
        except OSError as error:
            raise _unreadable(path, error) from error

    def read_text(self, path: str) -> bytes:
        """The bytes of a page. Raises StorageError when it is not there."""
        try:
            return self._file(path).read_bytes()
        except OSError as error:
            raise _unreadable(path, error) from error

    def write(self, path: str, text: str) -> bool:
        """Write a page atomically. False when the file held exactly this already."""
        if not path.lower().endswith(".md"):
            raise StorageError(f'a page must be called something.md, not "{path}"')
        return write_if_changed(self._file(path), text.encode("utf-8", "replace"))

    def read_written(self, path: str, text: str) -> WikiPage:
        """The page that ``text`` is. It is remembered: the next look at the folder finds it parsed, by its hash."""
        tag, page = self._parsed(path, text.encode("utf-8", "replace"))
        self._pages[path] = (tag, page)
        return page

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
        known = self._known
        if known is None:
            known = self._cache.load_stamps() if self._cache is not None else {}
        rows: dict[str, _Row] = {}
        fresh: dict[str, _Row] = {}
        parsed: list[str] = []
        self.refused = {}
        self._disk_paths = {}
        with _without_collection():
            for path, found in sorted(self._walk()):
                row = known.get(path)
                if row is None or not _holds(row, found):
                    read = self._read_row(path, found, row)
                    if read is None:
                        continue
                    if row is None or row[_TAG] != read[_TAG]:
                        parsed.append(path)
                    row = fresh[path] = read
                rows[path] = row
        gone = known.keys() - rows.keys()
        if self._cache is not None and (fresh or gone):
            self._cache.store_stamps(fresh, gone)
        self._known = rows
        self._store_pages(parsed, gone)
        for path in gone:
            self._pages.pop(path, None)
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
        """Read a file whose signature is new; parsed only when its bytes are new too. None when it just went."""
        seen_ns = time.time_ns()
        try:
            stat = found.stat(follow_symlinks=False)
            content = Path(found.path).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unreadable(path, error) from error
        signature = [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino, seen_ns]
        if row is not None and row[_TAG] == hashlib.sha256(content).hexdigest():
            return [*signature, *row[_TAG:]]
        tag, page = self._pages[path] = self._parsed(path, content)
        return [*signature, tag, *encode_provenance(page)]

    def _parsed(self, path: str, content: bytes) -> tuple[str, WikiPage]:
        """The hash of the bytes and the page that they are: from memory when it was parsed from just these bytes."""
        tag = hashlib.sha256(content).hexdigest()
        held = self._pages.get(path)
        return held if held is not None and held[0] == tag else (tag, read_page_of_disk(path, content))

    def _remembered(self, path: str, row: _Row) -> WikiPage | None:
        held = self._pages.get(path)
        return held[1] if held is not None and held[0] == row[_TAG] else None

    def _remember_cached(self, paths: list[str], rows: Mapping[str, _Row]) -> None:
        cached = self._cache.load_pages() if self._cache is not None else {}
        for path in paths:
            tag, content = cached.get(path, ("", b""))
            if tag == rows[path][_TAG]:
                self._pages[path] = (tag, decode_page(content))

    def _parse_again(self, path: str, rows: dict[str, _Row]) -> None:
        """Parse a page that neither memory nor cache has, and mend its row if it changed or went since the scan."""
        try:
            content = (self.root / self._disk_paths.get(path, path)).read_bytes()
        except FileNotFoundError:
            del rows[path]
            return
        except OSError as error:
            raise _unreadable(path, error) from error
        tag, page = self._pages[path] = self._parsed(path, content)
        rows[path] = [*rows[path][:_TAG], tag, *encode_provenance(page)]

    def _store_pages(self, paths: Sequence[str], gone: Collection[str] = ()) -> None:
        if self._cache is None:
            return
        rows: dict[str, tuple[str, bytes]] = {}
        for path in paths:
            tag, page = self._pages[path]
            with contextlib.suppress(TypeError, ValueError):  # front matter without a JSON form is parsed each time
                rows[path] = (tag, encode_page(page))
        self._cache.store_pages(rows, gone)


def _holds(row: _Row, found: os.DirEntry[str]) -> bool:
    try:
        stat = found.stat(follow_symlinks=False)
    except OSError:
        return False
    signature = [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino]
    return row[:4] == signature and int(row[2]) + _RACY_NS < row[_SEEN]


def _unreadable(path: str, error: OSError) -> StorageError:
    return StorageError(f"cannot read page {path}: {error.strerror or error}; mend its permissions or remove it")


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
