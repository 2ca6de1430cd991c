"""Runs the project's own PostgreSQL: started by the first process that needs it, stopped when the last one leaves.

What belongs here: the server's life. What does not: its binaries (``postgres_binaries``), its files and settings
(``postgres_home``), sessions and SQL (``database``).

No pid is trusted. Every postgres process inherits a descriptor that holds ``server.lock``, so the kernel says whether
one of them lives; every process of ours that uses the server holds ``users.lock`` shared, so the kernel says who is
the last to leave; both are true after ``kill -9`` as well. ``start.lock`` is held by whoever starts or stops.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from kb_pipeline.errors import DatabaseError, DatabaseUnavailableError
from kb_pipeline.storage.postgres_binaries import Binaries, process_options, server_environment
from kb_pipeline.storage.postgres_home import (
    PORT,
    SUPERUSER,
    Home,
    find_home,
    initialise,
    make_root,
    measure,
    settle_home,
    write_settings,
)
from kb_pipeline.storage.postgres_probe import Readiness, Reply, ask

START_SECONDS = 300.0
"""Recovery after a crash may take minutes."""
ORPHAN_SECONDS = 2.0
LEAVE_SECONDS = 0.5
POLL_SECONDS = 0.01
LARGEST_LOG = 4 << 20


@dataclass(frozen=True, slots=True)
class PostgresStatus:
    """``version`` is the data's major version ("" before the first start); ``bytes`` what the data takes on disk."""

    running: bool
    pid: int | None
    socket: Path
    data: Path
    version: str
    bytes: int


class EmbeddedPostgres:
    """The server of one project. Several objects and processes may share a root; all methods are thread-safe.

    ``root``: ``.kb/pg``. ``stop_on_exit=False`` leaves the server to whoever uses it next.
    Everything raises DatabaseUnavailableError when the server cannot be had.
    """

    def __init__(self, root: Path, *, stop_on_exit: bool = True) -> None:
        self._root = root.expanduser().absolute()
        self._stop_on_exit = stop_on_exit
        self._home: Home | None = None
        self._users: int | None = None
        self._databases: set[str] = set()
        self._mutex = threading.RLock()

    def start(self) -> EmbeddedPostgres:
        """Returns when the server takes sessions. Cheap when it does already; repairs it when it died."""
        with self._mutex:
            try:
                self._start()
            except OSError as error:
                raise DatabaseUnavailableError(
                    f"The embedded database in {self._root} cannot be started: {error}. "
                    "Check the folder's owner and the free space, or set database.url to a server of your own."
                ) from error
        return self

    def close(self) -> None:
        """Leaves; the last one out stops the server, without waiting for it."""
        with self._mutex:
            if self._users is None:
                return
            atexit.unregister(self.close)
            os.close(self._users)
            self._users = None
            if self._stop_on_exit:
                # Without its folder there is no lock to ask; the server notices the loss itself within a minute.
                with contextlib.suppress(FileNotFoundError):
                    self._stop_if_unused()

    def stop(self, timeout: float = 60.0) -> None:
        """Stops the server whoever uses it, and waits until no process of it is left."""
        with self._mutex:
            self.close()
            home = self._known_home()
            if not home.initialised:
                return
            with self._locked("start.lock"):
                self._signal(home)
            deadline = time.monotonic() + timeout
            while self._alive():
                if time.monotonic() > deadline:
                    raise DatabaseUnavailableError(f"The server of {home.data} did not stop within {timeout:.0f} s.")
                time.sleep(POLL_SECONDS)

    def status(self) -> PostgresStatus:
        """Looks without starting, locking or creating anything."""
        home = self._known_home()
        try:
            version = (home.data / "PG_VERSION").read_text().strip() if home.initialised else ""
            reply = self._ask(home)
            return PostgresStatus(
                running=reply.readiness is not Readiness.SILENT,
                pid=reply.pid,
                socket=home.socket,
                data=home.data,
                version=version,
                bytes=measure(home.data) if version else 0,
            )
        except OSError as error:
            raise DatabaseUnavailableError(f"The database folder {home.folder} cannot be read: {error}.") from error

    def dsn(self, database: str = "kb") -> str:
        """A URL for psycopg; the server must have been started. It holds no secret: see ``postgres_home``."""
        return self._url("postgresql", database)

    def psycopg2_url(self, database: str) -> str:
        """A URL for SQLAlchemy with psycopg2, on a started server with that database: what Dagster's storage takes.

        SQLAlchemy 2.1 reads a plain ``postgresql://`` as psycopg 3, which dagster-postgres cannot use.
        """
        self.create_database(database)
        return self._url("postgresql+psycopg2", database)

    def create_database(self, name: str) -> str:
        """Makes sure of it, on a started server; any number of processes may ask at once. Returns its ``dsn``."""
        import psycopg
        from psycopg import sql

        self.start()
        if name in self._databases:
            return self.dsn(name)
        try:
            with psycopg.connect(self.dsn("postgres"), autocommit=True, connect_timeout=30) as session:
                # One at a time: two CREATE DATABASE copy the same template and one of them would fail.
                session.execute("select pg_advisory_lock(hashtext('kb.create_database'))")
                if not session.execute("select 1 from pg_database where datname = %s", (name,)).fetchone():
                    session.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
        except psycopg.OperationalError as error:
            raise DatabaseUnavailableError(f"The embedded database does not answer: {error}") from error
        except psycopg.Error as error:
            raise DatabaseError(f"The database {name!r} could not be made: {error}") from error
        self._databases.add(name)
        return self.dsn(name)

    def __enter__(self) -> EmbeddedPostgres:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self) -> None:
        if self._users is not None and self._home is not None and self._ready(self._home):
            return
        make_root(self._root)
        self._root = self._root.resolve()
        with self._locked("start.lock"):
            home = settle_home(self._root)
            if not self._ready(home):
                self._launch(home)
                self._databases.clear()
            self._home = home
            if self._users is None:
                self._users = self._open("users.lock")
                fcntl.flock(self._users, fcntl.LOCK_SH)
                atexit.register(self.close)

    def _launch(self, home: Home) -> None:
        deadline = time.monotonic() + START_SECONDS
        # Twice: whatever killed the last server may hit the next one while it recovers.
        if not self._try_launch(home, deadline) and not self._try_launch(home, deadline):
            raise DatabaseUnavailableError(f"PostgreSQL did not start in {home.data}:\n{_log_tail(home)}")

    def _try_launch(self, home: Home, deadline: float) -> bool:
        """True when a server is ready; False when the one that was started is dead again."""
        descriptor = self._open("server.lock")
        try:
            if not self._wait_for_server_lock(descriptor, home, deadline):
                return True
            # No postgres of this folder lives, and no initdb: what it left behind is stale, whoever has those pids now.
            binaries = Binaries.locate(home.account)
            initialise(home, binaries, descriptor)
            write_settings(home, int(binaries.version().partition(".")[0]))
            for leftover in (home.data / "postmaster.pid", Path(f"{home.socket}.lock"), home.socket):
                leftover.unlink(missing_ok=True)
            self._spawn(home, binaries, descriptor)
        finally:
            os.close(descriptor)  # the server keeps its copy, and with it the lock
        while not self._ready(home):
            if not self._alive():
                return False
            if time.monotonic() > deadline:
                raise DatabaseUnavailableError(
                    f"PostgreSQL is still recovering {home.data} after {START_SECONDS:.0f} s; try again later.\n"
                    f"{_log_tail(home)}"
                )
            time.sleep(POLL_SECONDS)
        return True

    def _wait_for_server_lock(self, descriptor: int, home: Home, deadline: float) -> bool:
        """True when the lock is ours: no server lives. False when one has become ready meanwhile."""
        begun = time.monotonic()
        while True:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            readiness = self._ask(home).readiness
            if readiness is Readiness.READY:
                return False
            if readiness is Readiness.SILENT and time.monotonic() - begun > ORPHAN_SECONDS:
                _end_orphans(home)
            if time.monotonic() > deadline:
                raise DatabaseUnavailableError(
                    f"A PostgreSQL that does not answer holds {home.data}. End its processes and try again."
                )
            time.sleep(POLL_SECONDS)

    def _spawn(self, home: Home, binaries: Binaries, descriptor: int) -> None:
        log = home.folder / "startup.log"
        _trim_logs(home)
        with log.open("wb") as output:
            home.hand_over(log)
            # Through a shell that leaves at once, so that the server is nobody's child and nobody's zombie. Its path
            # comes as an argument: no quoting. A session of its own keeps the terminal's Ctrl-C from it.
            subprocess.run(
                ["/bin/sh", "-c", '"$0" -D "$1" &', str(binaries.bindir / "postgres"), str(home.data)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=server_environment(),
                pass_fds=(descriptor,),
                start_new_session=True,
                check=True,
                **process_options(home.account),
            )

    def _stop_if_unused(self) -> None:
        deadline = time.monotonic() + LEAVE_SECONDS
        starting = self._open("start.lock")
        users = self._open("users.lock")
        try:
            while not _try_lock(starting):
                # Whoever holds it this long is starting: a user to come, who will stop the server in his turn.
                if time.monotonic() > deadline:
                    return
                time.sleep(POLL_SECONDS / 2)
            if _try_lock(users) and self._home is not None:
                self._signal(self._home)
        finally:
            os.close(users)
            os.close(starting)

    def _signal(self, home: Home) -> None:
        pid = self._ask(home).pid
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGINT)  # "fast": sessions are ended, everything is written

    def _alive(self) -> bool:
        descriptor = self._open("server.lock")
        try:
            return not _try_lock(descriptor, fcntl.LOCK_SH)
        finally:
            os.close(descriptor)

    def _ready(self, home: Home) -> bool:
        return self._ask(home).readiness is Readiness.READY

    def _ask(self, home: Home) -> Reply:
        return ask(home.socket, user=SUPERUSER)

    def _known_home(self) -> Home:
        return self._home or find_home(self._root.resolve())

    def _url(self, scheme: str, database: str) -> str:
        host = quote(os.fsencode(self._known_home().socket_folder), safe="")
        return f"{scheme}://{SUPERUSER}@/{quote(database, safe='')}?host={host}&port={PORT}"

    def _open(self, name: str) -> int:
        path = self._root / name
        new = not path.exists()
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if new:
            find_home(self._root).hand_over(path)
        return descriptor

    @contextlib.contextmanager
    def _locked(self, name: str) -> Iterator[None]:
        descriptor = self._open(name)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def _try_lock(descriptor: int, kind: int = fcntl.LOCK_EX) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _end_orphans(home: Home) -> None:
    """Sessions that outlived a killed server and are busy: each works in the data folder, by the kernel's word.

    Where there is no /proc they end by themselves as soon as they look up from their statement.
    """
    if not sys.platform.startswith("linux") or not home.initialised:
        return
    data = home.data.stat()
    for process in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if process.name.isdigit() and os.path.samestat((process / "cwd").stat(), data):
                os.kill(int(process.name), signal.SIGKILL)


def _trim_logs(home: Home) -> None:
    """A server that is often started never reaches the day on which it would truncate its own log."""
    with contextlib.suppress(OSError):
        for log in (home.data / "log").glob("*.log"):
            if log.stat().st_size > LARGEST_LOG:
                log.unlink()


def _log_tail(home: Home) -> str:
    newest = sorted((home.data / "log").glob("*.log"), key=lambda log: log.stat().st_mtime)[-1:]
    logs = [log for log in (home.folder / "startup.log", *newest) if log.exists()]
    return "\n".join(log.read_text(errors="replace")[-1500:].strip() for log in logs)
