"""The folder ``build/``: staging a snapshot, making it current, clearing old ones (SPEC 10, 25).

Belongs here: the order of renames that makes a crash at any point leave the old snapshot usable. Does not belong here:
what is in a snapshot (``building.publishing``), reading one (``snapshot``).

A snapshot is written under ``snapshots/.staging-<id>-<pid>``, made durable, renamed to ``snapshots/<id>``, and only then
named by ``current``: a symbolic link that is replaced by a rename, or, where the file system has no such links, a file
that holds the id. Nothing in a finished snapshot is written to again but its description, which is replaced.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath

from kb_pipeline.errors import SnapshotCorruptError, SnapshotMissingError, StorageError
from kb_pipeline.storage.catalog import encode_json
from kb_pipeline.storage.files import TEMPORARY_PREFIX, sync_folder, write_atomic, write_if_changed
from kb_pipeline.storage.snapshot import DESCRIPTION, Snapshot

__all__ = ["Snapshot", "SnapshotStore", "StagedSnapshot"]

_ID = re.compile(r"[0-9a-f]{8,64}")
_UNFINISHED = re.compile(r"\.(?:staging|removing)-[0-9a-f]{8,64}-(\d+)(?:-[0-9a-f]+)?")
_SYNC_THREADS = 8


class StagedSnapshot:
    """A snapshot being written. Paths are POSIX, relative to it. Not visible to any reader."""

    def __init__(self, snapshot_id: str, folder: Path) -> None:
        self.id = snapshot_id
        self.folder = folder
        self._made: set[Path] = {folder}

    def write(self, name: str, content: bytes) -> None:
        """Write a file, replacing what was staged under this name."""
        path = self._place(name)
        # Unlinked first: it may share its bytes with a file of an older snapshot.
        path.unlink(missing_ok=True)
        path.write_bytes(content)

    def link(self, name: str, source: Path) -> bool:
        """Share a file of another snapshot. False where the file system cannot, or the file is not there."""
        path = self._place(name)
        try:
            path.hardlink_to(source)
        except FileExistsError:
            return path.samefile(source)
        except OSError:
            return False
        return True

    def clear(self, name: str) -> Path:
        """An empty sub-folder of this name."""
        path = self.folder / PurePosixPath(name)
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        return path

    def _place(self, name: str) -> Path:
        if ".." in PurePosixPath(name).parts:
            raise ValueError(f"{name!r} leaves the snapshot")
        path = self.folder / PurePosixPath(name)
        if path.parent not in self._made:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._made.add(path.parent)
        return path

    def make_durable(self) -> None:
        """Flush every file that is not shared with an older snapshot, and all folders."""
        folders: list[Path] = []
        files: list[Path] = []
        for place, _, names in os.walk(self.folder):
            folders.append(Path(place))
            files += [path for path in (Path(place, name) for name in names) if path.stat().st_nlink == 1]
        with ThreadPoolExecutor(_SYNC_THREADS) as pool:
            # Flushing waits for the disk: several at once share its work.
            list(pool.map(_sync_file, files))
            list(pool.map(sync_folder, folders))


class SnapshotStore:
    """Everything below ``build_dir``, which is made when first written to."""

    def __init__(self, build_dir: Path) -> None:
        self.build_dir = build_dir
        self._snapshots = build_dir / "snapshots"
        self._pointer = build_dir / "current"

    # -- reading -----------------------------------------------------------------------------------------------------

    def current_id(self) -> str | None:
        """Id that ``current`` names; None when nothing was published. Costs one system call."""
        try:
            named = str(self._pointer.readlink())
        except FileNotFoundError:
            return None
        except OSError:
            named = self._pointer_file()
        name = named.rstrip("/").rpartition("/")[2]
        if not _ID.fullmatch(name):
            raise SnapshotCorruptError(f"{self._pointer} names no snapshot; delete {self.build_dir} and run `kb build`")
        return name

    def _pointer_file(self) -> str:
        try:
            return self._pointer.read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise SnapshotCorruptError(
                f"{self._pointer} cannot be read ({error}); delete {self.build_dir} and run `kb build`"
            ) from error

    def required(self) -> Snapshot:
        """The current snapshot. Raises SnapshotMissingError, SnapshotCorruptError."""
        snapshot_id = self.current_id()
        if snapshot_id is None:
            raise SnapshotMissingError(f"nothing has been published in {self.build_dir} yet; run `kb build`")
        return Snapshot(self._snapshots / snapshot_id)

    def current_or_none(self) -> Snapshot | None:
        """The current snapshot, None when there is none that can be opened."""
        try:
            return self.required()
        except (SnapshotMissingError, SnapshotCorruptError):
            return None

    def reload_if_changed(self, snapshot: Snapshot) -> Snapshot:
        """``snapshot`` itself while it is the current one, else the current one."""
        return snapshot if self.current_id() == snapshot.id else self.required()

    def find(self, snapshot_id: str) -> Snapshot | None:
        """A finished snapshot by its id, whether current or kept."""
        try:
            return Snapshot(self._snapshots / snapshot_id)
        except SnapshotCorruptError:
            return None

    # -- writing -----------------------------------------------------------------------------------------------------

    def stage(self, snapshot_id: str) -> StagedSnapshot:
        """A place to write a snapshot in; what this process already staged under the id is still there."""
        if not _ID.fullmatch(snapshot_id):
            raise ValueError(f"not a snapshot id: {snapshot_id!r}")
        folder = self._snapshots / f".staging-{snapshot_id}-{os.getpid()}"
        with _told(f"cannot write to {self._snapshots}"):
            folder.mkdir(parents=True, exist_ok=True)
        return StagedSnapshot(snapshot_id, folder)

    def complete(self, staged: StagedSnapshot, description: dict[str, object]) -> Snapshot:
        """Make a staged snapshot durable and give it its name. It is not current yet."""
        target = self._snapshots / staged.id
        with _told(f"cannot write to {self._snapshots}"):
            staged.write(DESCRIPTION, encode_json(description))
            staged.make_durable()
            if target.exists():  # one that cannot be read, or the caller would have used it
                self._discard(target)
            staged.folder.rename(target)
            sync_folder(self._snapshots)
        return Snapshot(target)

    def describe_again(self, snapshot: Snapshot, description: dict[str, object]) -> Snapshot:
        """Replace the description of a finished snapshot: the same content was published once more."""
        write_if_changed(snapshot.folder / DESCRIPTION, encode_json(description))
        return Snapshot(snapshot.folder)

    def switch(self, snapshot_id: str) -> None:
        """Make a finished snapshot the current one, in one step."""
        if not (self._snapshots / snapshot_id / DESCRIPTION).is_file():
            raise SnapshotMissingError(f"there is no finished snapshot {snapshot_id} in {self._snapshots}")
        temporary = self.build_dir / f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}"
        try:
            temporary.symlink_to(f"snapshots/{snapshot_id}", target_is_directory=True)
        except (OSError, NotImplementedError):
            write_atomic(self._pointer, f"{snapshot_id}\n".encode())
            return
        with _told(f"cannot replace {self._pointer}"):
            try:
                temporary.replace(self._pointer)
                sync_folder(self.build_dir)
            finally:
                temporary.unlink(missing_ok=True)

    # -- clearing ----------------------------------------------------------------------------------------------------

    def prune(self, keep: int = 2) -> list[str]:
        """Remove all but the current snapshot and ``keep`` older ones, and what dead processes left unfinished.

        Returns the ids that went. What cannot be removed now stays for the next time.
        """
        current = self.current_id()
        removed: list[str] = []
        finished = sorted(self._finished(), key=lambda item: item[0], reverse=True)
        old = [path for _, path in finished if path.name != current]
        for path in old[keep:]:
            with contextlib.suppress(OSError):
                self._discard(path)
                removed.append(path.name)
        for path in self._entries():
            match = _UNFINISHED.fullmatch(path.name)
            if match and not _is_other_live_process(int(match[1])):
                shutil.rmtree(path, ignore_errors=True)
        return removed

    def _finished(self) -> Iterator[tuple[int, Path]]:
        """(time of publication in ns, folder); a folder without description counts as oldest."""
        for path in self._entries():
            if _ID.fullmatch(path.name) and path.is_dir():
                try:
                    yield (path / DESCRIPTION).stat().st_mtime_ns, path
                except OSError:
                    yield 0, path

    def _entries(self) -> Iterable[Path]:
        try:
            return sorted(self._snapshots.iterdir())
        except FileNotFoundError:
            return []

    def _discard(self, folder: Path) -> None:
        """Take the name away first, so that no half-removed snapshot bears it."""
        aside = folder.with_name(f".removing-{folder.name}-{os.getpid()}-{secrets.token_hex(4)}")
        folder.rename(aside)
        shutil.rmtree(aside, ignore_errors=True)


def _sync_file(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _is_other_live_process(pid: int) -> bool:
    """This process's own leftovers are stale too: only one publication runs at a time, under the build lock."""
    if pid == os.getpid():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


@contextlib.contextmanager
def _told(what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageError(
            f"{what}: {error.strerror or error}; what was published before is untouched, mend the cause and run again"
        ) from error
