"""What every command shares: where the project is, how results and progress are shown, exit codes.

Results go to stdout (``--json``: JSON and nothing else), progress and complaints to stderr; progress is drawn on a
terminal only.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from kb_pipeline.errors import BudgetExceededError, ConfigError, KbError, UsageError

if TYPE_CHECKING:
    from kb_pipeline.bootstrap import Project

CONFIG_FILE = "kb.yml"
ROOT_VARIABLE = "KB_ROOT"
DEBUG_VARIABLE = "KB_DEBUG"


class Exit(IntEnum):
    """Exit codes of SPEC 17: pinned by ``kb_tests/cli/test_exit_codes.py``."""

    FINE = 0
    FINDINGS = 1
    USAGE = 2
    BUDGET = 3
    PARTIAL = 4


def find_root(given: Path | None) -> Path:
    """The project's root: ``--project``, ``$KB_ROOT``, or the nearest folder upwards that holds a kb.yml.

    Raises UsageError when there is none.
    """
    named = given or (Path(os.environ[ROOT_VARIABLE]) if os.environ.get(ROOT_VARIABLE) else None)
    if named is not None:
        root = named.expanduser().resolve()
        if not root.is_dir():
            raise UsageError(f"{root} is not a folder; name the folder that holds {CONFIG_FILE}")
        return root
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / CONFIG_FILE).is_file():
            return folder
    raise UsageError(
        f"no {CONFIG_FILE} in {here} or above it; go to your project, use --project, or start one: kb init"
    )


def open_project(given: Path | None, *, flags: dict[str, object] | None = None) -> Project:
    """The project with ``.env`` and the environment read: this entry point is the one place that reads ``.env``."""
    from dotenv import dotenv_values

    from kb_pipeline.bootstrap import Project

    root = find_root(given)
    from_file = {key: value for key, value in dotenv_values(root / ".env").items() if value is not None}
    for key, value in from_file.items():
        os.environ.setdefault(key, value)
    return Project.open(root, environ=dict(os.environ), flags=flags or {})


def out(text: str) -> None:
    """One result for stdout."""
    try:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader went away (``kb manifest | head``): nothing is wrong, and nothing more is to be said.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(Exit.FINE) from None


def out_json(value: object) -> None:
    out(json.dumps(value, ensure_ascii=False, indent=2))


def note(text: str) -> None:
    """A remark for people, on stderr."""
    sys.stderr.write(text + "\n")


def exit_code_of(error: KbError) -> Exit:
    if isinstance(error, UsageError | ConfigError):
        return Exit.USAGE
    return Exit.BUDGET if isinstance(error, BudgetExceededError) else Exit.PARTIAL


def fail(error: KbError) -> NoReturn:
    """Say what went wrong and leave with the code of its class."""
    problems = error.problems if isinstance(error, ConfigError) else [str(error)]
    for problem in problems:
        sys.stderr.write(f"kb: error: {problem}\n")
    raise SystemExit(exit_code_of(error))


def interrupted() -> NoReturn:
    """Ctrl-C or a signal ended the command: nothing is half-written, and the next build goes on."""
    sys.stderr.write("kb: interrupted; what was done is on disk, the same command goes on from there\n")
    raise SystemExit(Exit.PARTIAL)


def unexpected(error: Exception) -> NoReturn:
    """A fault of the product itself: one line, and the stack where someone asks for it."""
    if os.environ.get(DEBUG_VARIABLE):
        raise error
    first = (str(error).strip().splitlines() or [""])[0]
    sys.stderr.write(
        f"kb: internal error: {type(error).__name__}: {first}\n"
        f"    Nothing is half-written. Please report it with the output of {DEBUG_VARIABLE}=1 kb …\n"
    )
    raise SystemExit(Exit.PARTIAL) from error


def table(rows: Sequence[Sequence[str]], header: Sequence[str] | None = None) -> str:
    """Left-aligned columns; East Asian wide characters count two cells."""
    from unicodedata import east_asian_width

    def width(text: str) -> int:
        return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)

    lines = [header, *rows] if header else rows
    if not lines:
        return ""
    widths = [max(width(line[column]) for line in lines) for column in range(len(lines[0]))]
    return "\n".join(
        "  ".join(cell + " " * (widths[column] - width(cell)) for column, cell in enumerate(line)).rstrip()
        for line in lines
    )


class StderrProgress:
    """Draws progress as one line that is overwritten; silent where stderr is no terminal."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._width = 0

    def update(self, step: str, done: int, total: int, detail: str = "") -> None:
        if not self._shown:
            return
        share = f"{done:,}/{total:,}" if total else f"{done:,}"
        line = f"{step}: {share}{'  ' + detail if detail else ''}"[:100]
        sys.stderr.write("\r" + line.ljust(self._width))
        self._width = len(line)
        if total and done >= total:
            sys.stderr.write("\r" + " " * self._width + "\r")
            self._width = 0
        sys.stderr.flush()
