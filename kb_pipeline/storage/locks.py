"""The lock that keeps two builds of one project apart (ORCHESTRATION 5, SPEC 25).

Belongs here: the lock on a file of this machine. Not here: the advisory lock in PostgreSQL, queue limits.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from kb_pipeline.errors import LockedError, StorageError

_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 0.5


class BuildLock:
    """A context manager that holds ``path`` (``.kb/build.lock``) by ``flock``.

    The kernel drops the lock when its holder dies, however it dies; the file itself stays and its content (who,
    since when) is only for the message. ``wait``: seconds to wait for another holder before LockedError; 0 tries once.
    """

    def __init__(self, path: Path, *, wait: float = 0.0, purpose: str = "kb build") -> None:
        self._path = path
        self._wait = wait
        self._purpose = purpose
        self._descriptor: int | None = None

    @property
    def held(self) -> bool:
        return self._descriptor is not None

    def acquire(self) -> None:
        """Take the lock. Raises LockedError (held by another) or StorageError (the file cannot be made)."""
        if self._descriptor is not None:
            raise LockedError(f"{self._path} is already held by this build")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise StorageError(f"cannot open the lock {self._path}: {error.strerror or error}") from error
        try:
            self._wait_for(descriptor)
            _write_holder(descriptor, self._purpose)
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor

    def release(self) -> None:
        """Give the lock back; nothing happens when it is not held."""
        if self._descriptor is None:
            return
        descriptor, self._descriptor = self._descriptor, None
        try:
            os.ftruncate(descriptor, 0)
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        finally:
            os.close(descriptor)

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def _wait_for(self, descriptor: int) -> None:
        deadline = time.monotonic() + self._wait
        pause = _FIRST_PAUSE
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise LockedError(_message(descriptor, self._path)) from None
                time.sleep(min(pause, left))
                pause = min(pause * 2, _LONGEST_PAUSE)
            except OSError as error:
                raise StorageError(f"cannot lock {self._path}: {error.strerror or error}") from error
            else:
                return


def _write_holder(descriptor: int, purpose: str) -> None:
    since = datetime.now().astimezone().isoformat(timespec="seconds")
    holder = {"pid": os.getpid(), "host": socket.gethostname(), "purpose": purpose, "since": since}
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps(holder).encode(), 0)
    except OSError as error:
        raise StorageError(f"cannot write the lock: {error.strerror or error}") from error


def _message(descriptor: int, path: Path) -> str:
    try:
        holder = json.loads(os.pread(descriptor, 4096, 0))
        who = f"{holder['purpose']} (process {holder['pid']} on {holder['host']}), since {holder['since']}"
    except (OSError, ValueError, KeyError, TypeError):
        who = "another build, which just began"  # between taking the lock and writing its name
    return f"{path} is held by {who}; wait for it to end, or pass a longer wait"
