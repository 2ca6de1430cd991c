"""Reading ``raw/`` in place: which documents there are, in which state, and the text of one (SPEC 3).

Belongs here: the walk, identity of documents, links, collisions, the use of the cache. Not here: judging content
(``content``), patterns (``ignoring``), advice (``kinds``), adapters. Nothing here writes.
"""

from __future__ import annotations

import json
import os
import time
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Protocol

from kb_pipeline.errors import SourceError
from kb_pipeline.markdown.decoding import decode_text, text_hash
from kb_pipeline.models import DocumentState, FileReading, RawDocument, RawEntry
from kb_pipeline.sources.content import MAX_BYTES, examine
from kb_pipeline.sources.ignoring import IGNORE_FILE, IgnoreRules
from kb_pipeline.sources.kinds import DOCUMENT_SUFFIXES, advice_for

METADATA_FOLDER = ".kb-meta"
"""Beside fetched documents: ``<folder>/.kb-meta/<name>.json`` holds what the adapter said about each."""

RACY_NS = 2_000_000_000
"""A reading is trusted only if the file had last changed this long before it was read (coarsest clock of a disk)."""

_UNWRITABLE = frozenset({"Cc", "Zl", "Zp"})

_STATES = {state.value: state for state in DocumentState}


class ReadingCache(Protocol):
    """What remembers readings between scans, by path as the disk spells it. May forget anything at any time."""

    def load(self) -> Mapping[str, FileReading]: ...

    def store(self, fresh: Mapping[str, FileReading], gone: Collection[str]) -> None: ...


def scan_raw(
    root: Path,
    ignore_file: Path | None = None,
    cache: ReadingCache | None = None,
    *,
    patterns: Sequence[str] = (),
) -> list[RawEntry]:
    """Every file under ``root`` with its state, sorted by path.

    ``ignore_file``: the project's ``.kbignore``; one in ``root`` itself is read after it. ``patterns``: ``ignore`` of
    the configuration. A folder that was not entered (ignored, hidden, a link, not readable) is one entry whose path
    ends with ``/``. Raises SourceError when ``root`` is not there: that is never the same as an empty folder.
    """
    if not root.is_dir():
        raise SourceError(
            f"the folder of raw documents is missing: {root}. Create it, mount it, or set paths.raw in kb.yml; "
            "no page was touched"
        )
    files = [ignore_file] if ignore_file is not None else []
    raw_name = _name_from(ignore_file.parent, root) if ignore_file is not None else root.name
    rules = IgnoreRules.load([*files, root / IGNORE_FILE], patterns, raw_name=raw_name)
    return _Scan(root, rules, cache).run()


def read_document(root: Path, entry: RawEntry, *, scope: str | None = None, dated: date | None = None) -> RawDocument:
    """The text of a document that ``scan_raw`` found PENDING, with the adapter's metadata.

    Raises UnreadableTextError or SourceError when the file changed for the worse since the scan. ``sha256`` is that of
    the text that was read, also when it is no longer the entry's.
    """
    file = root / entry.disk_path
    try:
        data, _ = _read_file(os.fspath(file))
    except OSError as error:
        raise SourceError(f"cannot read raw document {entry.path}: {error.strerror or error}") from error
    text = decode_text(data)
    return RawDocument(
        path=entry.path,
        text=text,
        sha256=text_hash(text),
        metadata=_metadata(file),
        scope=scope,
        dated=dated,
    )


class _Scan:
    def __init__(self, root: Path, rules: IgnoreRules, cache: ReadingCache | None) -> None:
        self.root = os.fspath(root)
        self.real_root = os.path.realpath(self.root)
        self.rules = rules
        self.cache = cache
        self.known: Mapping[str, FileReading] = cache.load() if cache is not None else {}
        self.fresh: dict[str, FileReading] = {}
        self.seen = 0
        self.documents: list[RawEntry] = []
        self.others: list[RawEntry] = []

    def run(self) -> list[RawEntry]:
        folders = [""]
        while folders:
            folders += self._folder(folders.pop())
        if self.cache is not None and (self.fresh or self.seen != len(self.known)):
            there = {entry.disk_path for entry in self.documents}
            self.cache.store(self.fresh, [path for path in self.known if path not in there])
        entries = _refuse_collisions(self.documents) + self.others
        entries.sort(key=lambda entry: entry.path)
        return entries

    def _folder(self, relative: str) -> list[str]:
        """Take in one folder (``relative`` is "" or ends with ``/``, as the disk spells it); returns those below."""
        below: list[str] = []
        try:
            with os.scandir(f"{self.root}/{relative}") as listing:
                for found in listing:
                    name = found.name
                    disk_path = relative + name
                    if found.is_symlink():
                        self._link(disk_path, found)
                    elif name.startswith("."):
                        self._hidden(disk_path, found)
                    elif found.is_dir(follow_symlinks=False):
                        reason = self.rules.reason(_identity(disk_path) + "/")
                        if reason is None:
                            below.append(disk_path + "/")
                        else:
                            self._other(disk_path + "/", DocumentState.IGNORED, reason)
                    else:
                        self._file(disk_path, found)
        except OSError as error:
            if not relative:
                raise SourceError(f"cannot read {self.root}: {error.strerror or error}") from error
            self._other(relative, DocumentState.FAILED, f"folder not readable: {error.strerror or error}")
        return below

    def _file(self, disk_path: str, found: os.DirEntry[str]) -> None:
        path = _identity(disk_path)
        reason = self.rules.reason(path)
        if reason is not None:
            self._other(disk_path, DocumentState.IGNORED, reason)
        elif not disk_path.lower().endswith(DOCUMENT_SUFFIXES):
            self._other(disk_path, DocumentState.IGNORED, advice_for(found.name))
        elif not found.is_file(follow_symlinks=False):
            self._other(disk_path, DocumentState.IGNORED, "not a regular file")
        elif not _is_encodable(disk_path):
            self._other(disk_path, DocumentState.FAILED, "the file name is not valid UTF-8: rename it")
        elif any(unicodedata.category(char) in _UNWRITABLE for char in disk_path):
            # It could be written into front matter only escaped, and no list of files would show it as it is.
            self._other(
                disk_path, DocumentState.FAILED, "the file name holds a line break or control character: rename it"
            )
        else:
            self._document(path, disk_path, found)

    def _document(self, path: str, disk_path: str, found: os.DirEntry[str]) -> None:
        reading = self.known.get(disk_path)
        try:
            stat = found.stat(follow_symlinks=False)
            if reading is not None:
                self.seen += 1
            if (
                reading is None
                or reading[0] != stat.st_size
                or reading[1] != stat.st_mtime_ns
                or reading[2] != stat.st_ctime_ns
                or reading[3] != stat.st_ino
                or reading[2] + RACY_NS >= reading[4]
            ):
                reading = self.fresh[disk_path] = _read(found.path)
        except OSError as error:
            reason = f"not readable: {error.strerror or error}"
            self.documents.append(RawEntry(path, disk_path, DocumentState.FAILED, reason))
            return
        self.documents.append(RawEntry(path, disk_path, _STATES[reading[5]], reading[6], reading[7], reading[0]))

    def _hidden(self, disk_path: str, found: os.DirEntry[str]) -> None:
        if found.name in {METADATA_FOLDER, IGNORE_FILE} or found.name.startswith(".kb-tmp-"):
            return  # the product's own; not worth a line in the status
        if found.is_dir(follow_symlinks=False):
            self._other(disk_path + "/", DocumentState.IGNORED, "hidden folder")
        else:
            self._other(disk_path, DocumentState.IGNORED, "hidden file")

    def _link(self, disk_path: str, found: os.DirEntry[str]) -> None:
        """Links are never followed: what they lead to is read where it is, or is none of ours."""
        target = os.path.realpath(found.path)
        is_folder = Path(target).is_dir()
        if not is_folder and not disk_path.lower().endswith(DOCUMENT_SUFFIXES):
            self._other(disk_path, DocumentState.IGNORED, advice_for(found.name))
            return
        name = disk_path + "/" if is_folder else disk_path
        if not Path(target).exists():
            self._other(name, DocumentState.FAILED, "broken symbolic link (its target is missing, or it is a loop)")
        elif target == self.real_root or target.startswith(self.real_root + os.sep):
            inside = os.path.relpath(target, self.real_root)
            self._other(name, DocumentState.IGNORED, f"symbolic link: {inside} is read in its own place")
        else:
            self._other(name, DocumentState.FAILED, "refused: the symbolic link leaves the folder of raw documents")

    def _other(self, disk_path: str, state: DocumentState, reason: str) -> None:
        self.others.append(RawEntry(_identity(disk_path), disk_path, state, reason))


def _name_from(project: Path, root: Path) -> str:
    """How the folder of raw documents is written from the project's root."""
    return root.relative_to(project).as_posix() if root.is_relative_to(project) else root.name


def _identity(disk_path: str) -> str:
    if disk_path.isascii():
        return disk_path
    if not _is_encodable(disk_path):
        disk_path = os.fsencode(disk_path).decode("utf-8", "backslashreplace")
    return unicodedata.normalize("NFC", disk_path)


def _is_encodable(name: str) -> bool:
    if name.isascii():
        return True
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _read(file: str) -> FileReading:
    seen_ns = time.time_ns()
    data, stat = _read_file(file)
    judged = examine(data)
    return FileReading(
        stat.st_size,
        stat.st_mtime_ns,
        stat.st_ctime_ns,
        stat.st_ino,
        seen_ns,
        judged.state.value,
        judged.reason,
        judged.sha256,
    )


def _read_file(file: str) -> tuple[bytes, os.stat_result]:
    """Bytes of a regular file and its status before they were read; at most one byte more than the limit."""
    descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as stream:  # noqa: PTH123 - a descriptor, not a path
        stat = os.fstat(descriptor)
        return stream.read(MAX_BYTES + 1), stat


def _metadata(file: Path) -> dict[str, str]:
    described = file.parent / METADATA_FOLDER / f"{file.name}.json"
    try:
        found = json.loads(described.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise SourceError(f"cannot read metadata {described}: {error}; fetch the source again") from error
    return {str(key): str(value) for key, value in found.items()} if isinstance(found, dict) else {}


def _refuse_collisions(documents: list[RawEntry]) -> list[RawEntry]:
    """Two names that another machine would take for one: the first is read, the others fail and name it."""
    if len({entry.path.casefold() for entry in documents}) == len(documents):
        return documents
    first: dict[str, RawEntry] = {}
    kept: list[RawEntry] = []
    for entry in sorted(documents, key=lambda entry: (entry.path != entry.disk_path, entry.disk_path)):
        other = first.setdefault(entry.path.casefold(), entry)
        if other is entry:
            kept.append(entry)
            continue
        how = "in Unicode composition (NFC, NFD)" if other.path == entry.path else "in upper and lower case"
        reason = f'"{entry.path}" and "{other.path}" differ only {how}: rename one of them; "{other.path}" is read'
        kept.append(RawEntry(entry.disk_path, entry.disk_path, DocumentState.FAILED, reason, entry.sha256, entry.size))
    return kept
