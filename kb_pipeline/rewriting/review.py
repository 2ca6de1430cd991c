"""The review queue: what waits for a person, committed with the project (SPEC 6.3, 6.7).

Belongs here: the folder ``review/`` and its files, written so that a crash leaves an entry whole or absent. Does not
belong here: why something is held (``gates``), merging (the surface that shows it), the pages themselves.

::

    review/<document>/<first 12 digits of its sha256>/
        verdict.yml          document, sha256, key, verdict, reason, findings
        draft/<page path>    what the rewriter made
        base/<page path>     what the product last wrote there: the common ancestor of a three-way merge

A document has one entry: the newest version's. Nothing in it is dated by the clock, so that equal input gives equal
bytes and a re-run shows no change in git.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from kb_pipeline.errors import StorageError
from kb_pipeline.markdown.decoding import decode_text
from kb_pipeline.models import Finding, ReviewEntry, Severity
from kb_pipeline.rewriting.verdicts import fault_of, folder_name, read_findings, read_verdict, verdict_text

VERDICT_FILE = "verdict.yml"


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """An entry with all that a person needs to decide. ``drafts`` and ``base`` map page paths to file texts."""

    entry: ReviewEntry
    drafts: Mapping[str, str]
    base: Mapping[str, str]
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class ReviewScan:
    """What ``review/`` holds; ``problems`` are entries that cannot be read (their document is compiled again)."""

    entries: tuple[ReviewEntry, ...]
    problems: tuple[Finding, ...]


class ReviewQueue:
    """The folder ``review/``. Nothing is read or created before a method is called."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def entries(self) -> list[ReviewEntry]:
        """Every readable verdict, sorted by document; see ``scan`` for the others."""
        return list(self.scan().entries)

    def scan(self) -> ReviewScan:
        """All verdicts. A malformed one is a finding (rule ``review-entry``) and stops nothing."""
        entries: list[ReviewEntry] = []
        problems: list[Finding] = []
        for folder in self._folders():
            try:
                entry = read_verdict((folder / VERDICT_FILE).read_bytes(), folder.parent.name, folder.name)
            except OSError as error:
                entry = f"cannot be opened: {error.strerror or error}"
            if isinstance(entry, ReviewEntry):
                entries.append(entry)
                continue
            where = (folder / VERDICT_FILE).relative_to(self._root).as_posix()
            message = f"{entry}; mend the file or delete its folder, then build again"
            problems.append(Finding("review-entry", Severity.ERROR, where, message, own=False))
        entries.sort(key=lambda entry: (entry.document, entry.sha256))
        return ReviewScan(tuple(entries), tuple(problems))

    def load(self, entry: ReviewEntry) -> ReviewItem:
        """The entry with its drafts. Raises StorageError when it is gone."""
        folder = self._folder(entry.document, entry.sha256)
        try:
            findings = read_findings((folder / VERDICT_FILE).read_bytes())
        except OSError as error:
            raise StorageError(f"review entry of {entry.document} is gone: run `kb review list` again") from error
        return ReviewItem(entry, _texts(folder / "draft"), _texts(folder / "base"), findings)

    def hold(
        self,
        document: str,
        sha256: str,
        key: str,
        verdict: str,
        reason: str,
        drafts: Mapping[str, str],
        base: Mapping[str, str],
        findings: Sequence[Finding] = (),
    ) -> Path:
        """Write an entry; it replaces every older one of the document. Keys of ``drafts`` and ``base``: page paths.

        Raises StorageError when a name would leave the folder or the disk refuses; then the older entry still stands.
        """
        entry = ReviewEntry(document, sha256, key, verdict, reason)
        files = {f"draft/{_safe_name(name)}": text for name, text in drafts.items()}
        files |= {f"base/{_safe_name(name)}": text for name, text in base.items()}
        files[VERDICT_FILE] = verdict_text(entry, findings)
        return self._write(entry, files)

    def settle(self, entry: ReviewEntry, verdict: str, reason: str) -> Path:
        """A person's decision: the entry keeps its verdict and reason, the drafts have served."""
        decided = replace(entry, verdict=verdict, reason=reason)
        return self._write(decided, {VERDICT_FILE: verdict_text(decided, ())})

    def rekey(self, old: str, new: str) -> None:
        """A document has another name now: what waits for it waits under the new one."""
        for entry in self.entries():
            if entry.document == old:
                item = self.load(entry)
                moved = replace(entry, document=new)
                files = {f"draft/{name}": text for name, text in item.drafts.items()}
                files |= {f"base/{name}": text for name, text in item.base.items()}
                self._write(moved, {**files, VERDICT_FILE: verdict_text(moved, item.findings)})
                self.clear(old)

    def clear(self, document: str) -> bool:
        """Forget a document (compiled cleanly, or gone). True when there was something."""
        folder = self._root / folder_name(document)
        if not folder.exists():
            return False
        # Renamed first: a crash while deleting leaves rubbish under a hidden name, never half an entry.
        doomed = self._scratch("cleared", document)
        try:
            folder.rename(doomed)
            shutil.rmtree(doomed)
        except OSError as error:
            raise StorageError(f"cannot clear review/{folder.name}: {error.strerror or error}") from error
        return True

    def _write(self, entry: ReviewEntry, files: Mapping[str, str]) -> Path:
        fault = fault_of(entry)
        if fault:
            raise StorageError(f"review entry of {entry.document} refused: {fault}")
        target = self._folder(entry.document, entry.sha256)
        if _is_written(target, files) and len(list(target.parent.iterdir())) == 1:
            return target
        staged = self._scratch("staged", entry.document)
        replaced = self._scratch("replaced", entry.document)
        try:
            for name, text in sorted(files.items()):
                _write_file(staged / target.name / name, text)
            self._root.mkdir(parents=True, exist_ok=True)
            if target.parent.exists():
                target.parent.rename(replaced)
            staged.rename(target.parent)
            _sync_folder(self._root)
            shutil.rmtree(replaced, ignore_errors=True)
        except OSError as error:
            if replaced.exists() and not target.parent.exists():
                replaced.rename(target.parent)
            shutil.rmtree(staged, ignore_errors=True)
            raise StorageError(f"cannot write {target}: {error.strerror or error}") from error
        return target

    def _folder(self, document: str, sha256: str) -> Path:
        return self._root / folder_name(document) / sha256[:12]

    def _scratch(self, purpose: str, document: str) -> Path:
        """A hidden name beside the entries, free to use; leftovers of a crash under it are removed."""
        path = self._root / f".{purpose}-{hashlib.sha256(document.encode()).hexdigest()[:12]}"
        if path.exists():
            shutil.rmtree(path)
        return path

    def _folders(self) -> list[Path]:
        if not self._root.is_dir():
            return []
        documents = [path for path in self._root.iterdir() if path.is_dir() and not path.name.startswith(".")]
        return sorted(version for document in documents for version in document.iterdir() if version.is_dir())


def _safe_name(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or any(part in ("..", ".") or "\0" in part or "\\" in part for part in path.parts):
        raise StorageError(f"refused: {name!r} would be written outside of the review folder")
    return path


def _write_file(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as stream:
        stream.write(text.encode("utf-8", "replace"))
        stream.flush()
        os.fsync(stream.fileno())
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _is_written(folder: Path, files: Mapping[str, str]) -> bool:
    """Whether the folder already holds exactly these files: then a re-run leaves their dates alone too."""
    if not folder.is_dir():
        return False
    present = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    return present == set(files) and all(
        (folder / name).read_bytes() == text.encode("utf-8", "replace") for name, text in files.items()
    )


def _texts(folder: Path) -> dict[str, str]:
    if not folder.is_dir():
        return {}
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    return {path.relative_to(folder).as_posix(): decode_text(path.read_bytes()) for path in files}
