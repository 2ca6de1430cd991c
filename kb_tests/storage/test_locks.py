"""The build lock: one at a time, told who holds it, free again when its holder dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kb_pipeline.errors import LockedError, StorageError
from kb_pipeline.storage.locks import BuildLock

HOLDER = (
    "import sys, time; from pathlib import Path; from kb_pipeline.storage.locks import BuildLock\n"
    "with BuildLock(Path(sys.argv[1]), purpose='nightly run'):\n"
    "    print('held', flush=True); time.sleep(60)\n"
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".kb" / "build.lock"


@pytest.fixture
def holder(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock."""
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_a_lock_is_held_inside_the_block_alone(path: Path) -> None:
    lock = BuildLock(path)
    with lock:
        assert lock.held
    assert not lock.held
    with lock:
        pass


def test_a_second_build_is_told_who_holds_it_and_since_when(path: Path, holder: subprocess.Popen[str]) -> None:
    with pytest.raises(LockedError) as caught, BuildLock(path):
        pass
    text = str(caught.value)
    assert f"held by nightly run (process {holder.pid} on " in text
    assert "since 20" in text


def test_a_build_may_wait_for_another(path: Path, holder: subprocess.Popen[str]) -> None:
    threading.Timer(0.2, holder.terminate).start()
    with BuildLock(path, wait=20) as lock:
        assert lock.held


def test_waiting_ends(path: Path, holder: subprocess.Popen[str]) -> None:
    started = time.monotonic()
    with pytest.raises(LockedError), BuildLock(path, wait=0.3):
        pass
    assert 0.3 <= time.monotonic() - started < 10


def test_a_killed_holder_leaves_no_lock(path: Path, holder: subprocess.Popen[str]) -> None:
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    with BuildLock(path) as lock:
        assert lock.held


def test_a_lock_is_given_back_when_the_build_fails(path: Path) -> None:
    with pytest.raises(ValueError, match="boom"), BuildLock(path):
        raise ValueError("boom")
    with BuildLock(path):
        pass


def test_two_objects_of_one_process_exclude_each_other(path: Path) -> None:
    with BuildLock(path, purpose="kb watch"), pytest.raises(LockedError, match="kb watch"), BuildLock(path):
        pass


def test_a_lock_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / ".kb").write_text("a file in the way")
    with pytest.raises(StorageError, match="cannot open the lock"), BuildLock(tmp_path / ".kb" / "build.lock"):
        pass
