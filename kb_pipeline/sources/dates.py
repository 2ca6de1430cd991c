"""When raw documents were written, as far as the outside of their text tells (SPEC 5 ``updated``).

Belongs here: git author dates and modification times. Not here: dates in front matter, names or text (rewriting).
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import unicodedata
from collections.abc import Collection
from datetime import date, datetime
from pathlib import Path

_MARK = "\x01"
_MOST_ARGUMENTS = 200  # beyond that the whole folder is asked for: cheaper, and no command line is too long


def document_dates(root: Path, paths: Collection[str]) -> dict[str, date]:
    """Date of each document (paths relative to ``root``): git author date of its last change, else its mtime.

    mtime counts for what git does not have as it is now: untracked, or changed since its last commit. Documents that do
    not exist are left out. Three git processes at most, however many documents.
    """
    if not paths:
        return {}
    # The log is read only for files that it knows: for another it would be read to its very beginning.
    tracked = _listed(root, ["ls-files", "-z"], paths)
    changed = _listed(root, ["diff", "--name-only", "-z", "--relative", "--no-renames", "--no-ext-diff", "HEAD"], paths)
    committed = git_dates(root, tracked - changed)
    found: dict[str, date] = {}
    for path in paths:
        known = committed.get(path)
        if known is None:
            with contextlib.suppress(OSError):
                known = datetime.fromtimestamp((root / path).stat().st_mtime).astimezone().date()
        if known is not None:
            found[path] = known
    return found


def git_dates(root: Path, paths: Collection[str]) -> dict[str, date]:
    """Author date of the last commit that touched each path, by one ``git log``; untracked ones are left out.

    Empty outside git and where git is not installed. The process ends as soon as every path is found.
    """
    wanted = {unicodedata.normalize("NFC", path): path for path in paths}
    found: dict[str, date] = {}
    if not wanted:
        return found
    command = ["log", "--format=%x01%as", "--name-only", "-z", "--relative", "--no-renames", "--diff-filter=AM"]
    try:
        process = subprocess.Popen(
            _git(root, [*command, "--", *_limits(paths)]),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
        )
    except OSError:
        return {}
    with process:
        assert process.stdout is not None  # noqa: S101 - PIPE was asked for; tells the type checker
        current: date | None = None
        rest = b""
        while len(found) < len(wanted) and (block := os.read(process.stdout.fileno(), 65536)):
            *tokens, rest = (rest + block).split(b"\0")
            for token in tokens:
                for line in token.decode("utf-8", "surrogateescape").split("\n"):
                    if line.startswith(_MARK):
                        current = date.fromisoformat(line[1:])
                    elif line and current is not None:
                        path = wanted.get(unicodedata.normalize("NFC", line))
                        if path is not None:
                            found.setdefault(path, current)
        process.kill()
    return found


def _listed(root: Path, command: list[str], paths: Collection[str]) -> set[str]:
    """The file names that a git command lists, as they are written in ``paths``; none outside git."""
    try:
        answer = subprocess.run(
            _git(root, [*command, "--", *_limits(paths)]), capture_output=True, env=_environment(), check=False
        )
    except OSError:
        return set()
    if answer.returncode != 0:
        return set()
    composed = {unicodedata.normalize("NFC", path): path for path in paths}
    names = answer.stdout.decode("utf-8", "surrogateescape").split("\0")
    return {composed[name] for name in (unicodedata.normalize("NFC", name) for name in names) if name in composed}


def _git(root: Path, arguments: list[str]) -> list[str]:
    return ["git", "--literal-pathspecs", "-c", "core.quotePath=false", "-C", os.fspath(root), *arguments]


def _limits(paths: Collection[str]) -> list[str]:
    return sorted(paths) if len(paths) <= _MOST_ARGUMENTS else ["."]


def _environment() -> dict[str, str]:
    return {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
