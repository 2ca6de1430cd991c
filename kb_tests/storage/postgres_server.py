"""One real server for all tests of a run, a fresh database for each that asks, and processes that use a server."""

from __future__ import annotations

import atexit
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from kb_pipeline.storage.database import Database
from kb_pipeline.storage.postgres import EmbeddedPostgres

_numbers = itertools.count(1)
_HOLD = """
import sys
from pathlib import Path
from kb_pipeline.storage.postgres import EmbeddedPostgres
server = EmbeddedPostgres(Path(sys.argv[1])).start()
print(server.create_database("kb"), flush=True)
sys.stdin.readline()
"""


def open_folder() -> Path:
    """A temporary folder that the account which runs postgres can reach (pytest's own are closed)."""
    folder = Path(tempfile.mkdtemp(prefix="kb-test-"))
    folder.chmod(0o755)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def shared_server() -> EmbeddedPostgres:
    """Started at the first call, stopped when the process leaves."""
    return EmbeddedPostgres(open_folder() / ".kb" / "pg").start()


def fresh_name() -> str:
    return f"test_{os.getpid()}_{next(_numbers)}"


def fresh_database() -> Database:
    """An empty database of its own on the shared server."""
    return Database(shared_server(), name=fresh_name())


@contextmanager
def holding_process(root: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that has started the server and uses it until its input ends; ended for good afterwards."""
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()


def wait_ready(process: subprocess.Popen[str]) -> str:
    """The database's URL, once the process has it."""
    assert process.stdout is not None
    line = process.stdout.readline().strip()
    assert line.startswith("postgresql://"), f"the process ended with {process.wait()}"
    return line


def leave(process: subprocess.Popen[str]) -> None:
    """Lets it end as a program does."""
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(timeout=30) == 0
