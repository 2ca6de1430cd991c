"""Where an embedded database keeps its files: the data folder, the socket, the settings.

What belongs here: choosing the folders (paths may be long, quoted, closed to the account), making the cluster, writing
its settings. What does not: locks, starting and stopping (``postgres``).

In the root (``.kb/pg``): ``data/`` unless ``LOCATION`` names another folder, ``socket`` (where the running server
listens, "." for the data folder), and the locks. At another location: ``data/`` and ``OWNER`` (the root it serves).
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from kb_pipeline.errors import DatabaseUnavailableError
from kb_pipeline.storage.postgres_binaries import (
    Account,
    Binaries,
    can_run,
    choose_account,
    open_folder,
    state_folder,
)

SUPERUSER = "kb"
PORT = 5432
SOCKET_NAME = f".s.PGSQL.{PORT}"
LONGEST_SOCKET_FOLDER = 104 - len(SOCKET_NAME) - 2
"""Bytes; sun_path holds 104 on macOS, 108 on Linux."""
UNSAFE_IN_HOST = frozenset(",\n")
"""libpq splits a host at commas."""
UNSAFE_IN_SETTINGS = frozenset("\"'\\")
SMALL_SHARED_MEMORY = 512 << 20


@dataclass(frozen=True, slots=True)
class Home:
    """``root``: the folder in the project; ``folder``: where the files are (mostly the same)."""

    root: Path
    folder: Path
    account: Account | None

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def initialised(self) -> bool:
        return self.data.is_dir()

    @property
    def socket_folder(self) -> Path:
        """Where the server listens, or would."""
        try:
            recorded = (self.root / "socket").read_text(encoding="utf-8", errors="surrogateescape").strip()
        except OSError:
            recorded = "."
        return self.data if recorded in {"", "."} else Path(recorded)

    @property
    def socket(self) -> Path:
        return self.socket_folder / SOCKET_NAME

    def hand_over(self, path: Path) -> None:
        """A file that root made in somebody's project becomes his."""
        if self.account is not None and self.account.owns_project:
            self.account.own(path)


def find_home(root: Path) -> Home:
    """Reads where the database is, without making anything."""
    folder = _recorded_location(root) or root
    return Home(root, folder, choose_account(folder / "data", root))


def settle_home(root: Path) -> Home:
    """Makes the root and decides where the data goes; call it under the start lock.

    The data stays in the project wherever that works. It does not where the account that must run postgres cannot
    come (a project below /root), or where the file system keeps neither permissions nor locks.
    """
    home = find_home(root)
    if home.folder != root:
        if _claims(home):
            return home
        home = Home(root, root, choose_account(root / "data", root))
    if home.initialised or _usable(root, home.account):
        return home
    fallback = state_folder(home.account) / f"pg-{hashlib.sha256(os.fsencode(root)).hexdigest()[:16]}"
    open_folder(fallback.parent)
    fallback.mkdir(mode=0o700, exist_ok=True)
    if home.account is not None:
        home.account.own(fallback)
    if not _usable(fallback, home.account):
        who = "this user" if home.account is None else f"the account with uid {home.account.uid} that runs PostgreSQL"
        raise DatabaseUnavailableError(
            f"Neither {root} nor {fallback} can hold the database: {who} cannot write there, or the file system keeps "
            "no permissions or locks. Set database.url to a server of your own."
        )
    _write(fallback / "OWNER", os.fsencode(root) + b"\n")
    _write(root / "LOCATION", os.fsencode(fallback) + b"\n")
    home.hand_over(root / "LOCATION")
    return find_home(root)


def make_root(root: Path) -> None:
    """Creates ``.kb/pg``; what root makes in somebody's project is handed to him."""
    missing = [folder for folder in (root, *root.parents) if not folder.exists()]
    try:
        home = find_home(root)
        root.mkdir(parents=True, exist_ok=True)
        for folder in missing:
            home.hand_over(folder)
    except OSError as error:
        raise DatabaseUnavailableError(f"The database folder {root} cannot be made: {error.strerror}.") from error


def initialise(home: Home, binaries: Binaries, lock: int) -> None:
    """Makes the cluster, or checks that these binaries can open the one that is there.

    ``lock`` is held by the caller, and by initdb for as long as it runs: it may outlive a killed caller.
    """
    version = binaries.version()
    if home.initialised:
        made_by = (home.data / "PG_VERSION").read_text().strip()
        if made_by != version.partition(".")[0]:
            raise DatabaseUnavailableError(
                f"The database in {home.data} was made by PostgreSQL {made_by}; the installed binaries are {version}. "
                f"Install binaries of that version (KB_PG_BINDIR names their folder), or move {home.data} away: "
                "vectors and run history are made anew by the next build."
            )
        return
    # initdb writes PG_VERSION first and needs a second for the rest: only a whole cluster gets the name "data".
    unfinished = home.folder / "data.new"
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(mode=0o700)
    if home.account is not None:
        home.account.own(unfinished)
    arguments = ["-D", str(unfinished), "-U", SUPERUSER, "-E", "UTF8", "--no-instructions", "--locale=C"]
    if int(version.partition(".")[0]) >= 17:
        arguments += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    # "trust" asks for no password because the only way in is a socket in a folder that nobody else can open (0700,
    # checked); a password beside it would be one more secret to leak and guard nothing.
    binaries.run("initdb", *arguments, "--auth=trust", hold=lock)
    unfinished.rename(home.data)


def choose_socket_folder(home: Home) -> Path:
    """The data folder, or a short one where its path is too long or not clean enough for libpq; made 0700."""
    if _fits(home.data):
        return home.data
    name = f"pg-{hashlib.sha256(os.fsencode(home.data)).hexdigest()[:12]}"
    # The second because the first may be long itself, or missing: service accounts have no home.
    choices = [state_folder(home.account) / "sockets" / name, Path("/tmp") / f"kb-{name}-{os.getuid()}"]  # noqa: S108 - a socket path must be short; owner and mode are checked
    for folder in choices:
        if _fits(folder) and not UNSAFE_IN_SETTINGS.intersection(str(folder)) and _closed_folder(folder, home.account):
            return folder
    raise DatabaseUnavailableError(
        f"The path of {home.data} is too long for a socket, and neither {choices[0]} nor {choices[1]} can be made and "
        "kept from others. Move the project to a shorter path."
    )


def _closed_folder(folder: Path, account: Account | None) -> bool:
    """Makes it for the account alone; False where that cannot be, or where somebody else was there first."""
    try:
        open_folder(folder.parent.parent)
        open_folder(folder.parent)
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
            if account is not None:
                account.own(folder)  # only what was just made: a stranger's folder stays a stranger's
        found = folder.lstat()
    except OSError:
        return False
    owner = os.getuid() if account is None else account.uid
    return not folder.is_symlink() and found.st_uid == owner and not found.st_mode & 0o077


def write_settings(home: Home, major: int) -> None:
    """Ours alone, written at each start; a person's own go to ``data/local.conf``, which is read after them."""
    socket_folder = choose_socket_folder(home)
    inside = socket_folder == home.data
    settings = {
        "listen_addresses": "''",
        "port": PORT,
        # Relative to the data folder: survives a renamed project, and needs no quoting.
        "unix_socket_directories": "'.'" if inside else f"'{socket_folder}'",
        "unix_socket_permissions": "0700",
        "max_connections": 100,
        "shared_buffers": "'128MB'",
        "work_mem": "'16MB'",
        "maintenance_work_mem": "'256MB'",
        "dynamic_shared_memory_type": "mmap" if _little_shared_memory() else "posix",
        "huge_pages": "off",
        # No replicas: less written, and one process less.
        "wal_level": "minimal",
        "max_wal_senders": 0,
        "max_logical_replication_workers": 0,
        "min_wal_size": "'32MB'",
        "max_wal_size": "'512MB'",
        "jit": "off",
        "timezone": "'UTC'",
        "log_timezone": "'UTC'",
        "logging_collector": "on",
        "log_directory": "'log'",
        "log_filename": "'server-%a.log'",
        "log_truncate_on_rotation": "on",
        "log_rotation_age": "'1d'",
        "log_rotation_size": 0,
        "log_file_mode": "0600",
        "log_checkpoints": "off",
    }
    if major >= 18:
        settings["io_method"] = "sync"  # three worker processes less; the data fits the page cache
    text = "# Written by kb at each start of the server. Put your own settings into local.conf beside it.\n"
    text += "".join(f"{name} = {value}\n" for name, value in settings.items())
    text += "include_if_exists = 'local.conf'\n"
    target = home.data / "postgresql.conf"
    _write(target, text.encode())
    if home.account is not None:
        home.account.own(target)
    _write(home.root / "socket", b"." if inside else os.fsencode(socket_folder))
    home.hand_over(home.root / "socket")


def _fits(folder: Path) -> bool:
    return len(os.fsencode(folder)) <= LONGEST_SOCKET_FOLDER and not UNSAFE_IN_HOST.intersection(str(folder))


def _recorded_location(root: Path) -> Path | None:
    try:
        recorded = (root / "LOCATION").read_bytes().strip()
    except OSError:
        return None
    return Path(os.fsdecode(recorded)) if recorded.startswith(b"/") else None


def _claims(home: Home) -> bool:
    """Whether the recorded folder is this project's: not so for a copied project, whose original still uses it."""
    try:
        owner = Path(os.fsdecode((home.folder / "OWNER").read_bytes().strip()))
    except OSError:
        owner = None
    if owner is None or (owner != home.root and _recorded_location(owner) == home.folder):
        (home.root / "LOCATION").unlink(missing_ok=True)
        return False
    if owner != home.root:
        _write(home.folder / "OWNER", os.fsencode(home.root) + b"\n")  # the project was moved
    return True


def _usable(folder: Path, account: Account | None) -> bool:
    """Whether the account can write below ``folder`` and its file system keeps permissions and locks."""
    probe: Path | None = None
    try:
        probe = Path(tempfile.mkdtemp(prefix="probe-", dir=folder))
        if account is not None:
            account.own(probe)
            if not can_run(account, ["/bin/sh", "-c", 'test -w "$0"', str(probe)]):
                return False
        descriptor = os.open(probe, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        finally:
            os.close(descriptor)
        kept = probe.stat()
        return not kept.st_mode & 0o077 and (account is None or kept.st_uid == account.uid)
    except OSError:
        return False
    finally:
        if probe is not None:
            shutil.rmtree(probe, ignore_errors=True)


def _little_shared_memory() -> bool:
    try:
        return shutil.disk_usage("/dev/shm").total < SMALL_SHARED_MEMORY  # noqa: S108 - asked for its size only
    except OSError:
        return True


def _write(path: Path, content: bytes) -> None:
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    temporary.write_bytes(content)
    temporary.replace(path)


def measure(folder: Path) -> int:
    """Bytes on disk below a folder; files that vanish meanwhile are not counted."""
    total = 0
    pending = [folder]
    while pending:
        try:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(Path(entry.path))
                    else:
                        total += entry.stat(follow_symlinks=False).st_blocks * 512
        except FileNotFoundError:
            continue
    return total
