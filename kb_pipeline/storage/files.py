"""Writing and removing single files so that a crash leaves either the old content or the new one (SPEC 25).

Belongs here: atomic replacement, removal, and the clearing of folders that became empty. Not here: what is written,
where it belongs, caches, locks.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path

from kb_pipeline.errors import StorageError

TEMPORARY_PREFIX = ".kb-tmp-"
"""Names of half-written files begin so: hidden, so that no scan takes one for a document or a page."""


def write_atomic(path: Path, data: bytes) -> None:
    """Replace ``path`` by ``data``: temporary file beside it, fsync, rename, fsync of the folder.

    Missing folders are created. The mode of an existing file is kept. A symbolic link at ``path`` is replaced, never
    written through. Raises StorageError (disk full, read-only folder, …); then ``path`` is what it was.
    """
    folder = path.parent
    temporary = folder / f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        mode = _existing_mode(path)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        with open(descriptor, "wb") as stream:  # noqa: PTH123 - a descriptor, not a path
            if mode is not None:
                os.fchmod(stream.fileno(), mode)
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
        sync_folder(folder)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise StorageError(
            f"cannot write {path}: {error.strerror or error}; the former content is untouched, "
            "mend the cause and run again"
        ) from error


def write_if_changed(path: Path, data: bytes) -> bool:
    """Write ``data`` unless the file already holds exactly these bytes. True when it was written."""
    try:
        if not path.is_symlink() and path.stat().st_size == len(data) and path.read_bytes() == data:
            return False
    except OSError:
        pass  # missing or unreadable: writing either creates it or says why not
    write_atomic(path, data)
    return True


def remove_file(path: Path) -> bool:
    """Remove a file or a symbolic link (not its target). False when there was none."""
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise StorageError(f"cannot remove {path}: {error.strerror or error}") from error
    with contextlib.suppress(OSError):
        sync_folder(path.parent)
    return True


def remove_empty_parents(path: Path, stop: Path) -> None:
    """Remove the folders above ``path`` that hold nothing any more, up to ``stop``, which stays."""
    for folder in path.parents:
        if folder == stop or not folder.is_relative_to(stop):
            return
        try:
            folder.rmdir()
        except OSError:
            return  # not empty (or not ours to remove): neither it nor anything above it goes


def remove_temporaries(root: Path, *, older_than: float) -> int:
    """Remove what a killed process left half-written below ``root``, if older than ``older_than`` (epoch seconds)."""
    removed = 0
    for folder, _, names in os.walk(root):
        for name in names:
            if not name.startswith(TEMPORARY_PREFIX):
                continue
            file = Path(folder, name)
            with contextlib.suppress(OSError):
                if file.lstat().st_mtime < older_than:
                    file.unlink()
                    removed += 1
    return removed


def sync_folder(folder: Path) -> None:
    """Make a rename or a removal in ``folder`` durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _existing_mode(path: Path) -> int | None:
    try:
        found = path.lstat().st_mode
    except FileNotFoundError:
        return None
    return stat.S_IMODE(found) if stat.S_ISREG(found) else None
