"""Adapters: documents that live elsewhere are fetched into ``raw/<target>/`` (SPEC 3).

Belongs here: the interface for adapters, loading one by name, and fetching with one. Not here: reading ``raw/``
(``filesystem``), any particular vendor. An adapter's module is the only code that ``kb.yml`` can name.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from kb_pipeline.errors import SourceError
from kb_pipeline.sources.filesystem import METADATA_FOLDER
from kb_pipeline.sources.names import safe_filename, safe_target

WriteFile = Callable[[Path, bytes], object]
"""Writes a whole file atomically and makes its folders (``storage.files.write_atomic``)."""

_VANISHED_FRACTION, _VANISHED_COUNT = 0.2, 5


@dataclass(frozen=True, slots=True)
class FetchedDocument:
    """What an adapter yields. ``filename`` may hold folders (``guide/setup.md``); it is made safe, never trusted."""

    content: str | bytes
    filename: str
    metadata: Mapping[str, str] = field(default_factory=dict)


class DataSourceAdapter(ABC):
    """A place that documents come from. A subclass is constructed with the ``options`` of its source in ``kb.yml``.

    ``complete``: ``fetch`` yields all that the source has, so that what it no longer yields is gone there. Set it to
    False for a source that only yields changes; then nothing it once gave is ever retired.
    """

    complete: ClassVar[bool] = True

    @abstractmethod
    def fetch(self) -> Iterable[FetchedDocument]:
        """Yield the documents. Whatever it raises is reported, and all that was there before is kept."""

    @abstractmethod
    def get_target_dir(self) -> str:
        """Folder below ``raw/`` that the documents go to, such as ``notion`` (or ``raw/notion``)."""


@dataclass(frozen=True, slots=True)
class FetchReport:
    """Outcome of one fetch; paths are relative to ``raw/``.

    ``written``: new or with other bytes. ``retired``: no longer at the source, moved to the history. ``refused``:
    name and reason. ``error``: why the fetch ended early or nothing was retired; nothing is lost then.
    """

    target: str
    written: tuple[str, ...] = ()
    unchanged: int = 0
    retired: tuple[str, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    error: str | None = None

    @property
    def problems(self) -> tuple[str, ...]:
        """What a person should know, one line each."""
        refused = [f"source {self.target}: {name} was refused: {reason}" for name, reason in self.refused]
        return tuple([f"source {self.target}: {self.error}"] * bool(self.error) + refused)


def load_adapter(dotted: str, options: Mapping[str, object] | None = None) -> DataSourceAdapter:
    """Import ``package.module.Class`` and construct it. Raises SourceError that says what to mend."""
    module_name, _, class_name = dotted.rpartition(".")
    if not module_name:
        raise SourceError(f'adapter "{dotted}" must be written as module.Class')
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        raise SourceError(
            f'cannot import the adapter module "{module_name}": {_told(error)}. '
            "Install its package into this environment, or put its folder on PYTHONPATH"
        ) from error
    found = getattr(module, class_name, None)
    if not (isinstance(found, type) and issubclass(found, DataSourceAdapter)):
        raise SourceError(f'"{dotted}" is not a subclass of kb_pipeline.sources.DataSourceAdapter')
    try:
        return found(**dict(options or {}))
    except Exception as error:
        raise SourceError(f'cannot construct adapter "{dotted}" with its options: {_told(error)}') from error


def fetch_into_raw(
    adapter: DataSourceAdapter,
    raw_root: Path,
    history_root: Path,
    *,
    write_file: WriteFile,
    target: str | None = None,
) -> FetchReport:
    """Write what ``adapter`` yields below ``raw_root/<target>/``, each file atomically and only when its bytes changed.

    The former version of a file goes to ``history_root/<target>/<name>/<sha256><suffix>``. ``target`` (from ``kb.yml``)
    outranks the adapter's own. Raises SourceError when the target is no folder below ``raw_root``; a failing fetch is
    a value (``error``), since it must not stop other sources.
    """
    try:
        wanted = target if target is not None else adapter.get_target_dir()
    except Exception as error:
        raise SourceError(f"{type(adapter).__name__}.get_target_dir failed: {_told(error)}") from error
    folder_name = safe_target(wanted, raw_root.name)
    return _Fetch(adapter, raw_root, history_root, write_file, folder_name).run()


class _Fetch:
    """One fetch at work. ``given`` maps each folded name to the name written and what the adapter called it."""

    def __init__(
        self, adapter: DataSourceAdapter, raw_root: Path, history_root: Path, write_file: WriteFile, target: str
    ) -> None:
        self.adapter = adapter
        self.target = target
        self.folder = raw_root / target
        self.history = history_root / target
        self.write_file = write_file
        if not self.folder.resolve().is_relative_to(raw_root.resolve()):
            raise SourceError(f"target folder {self.folder} leads outside {raw_root} by a symbolic link")
        self.written: list[str] = []
        self.unchanged = 0
        self.refused: list[tuple[str, str]] = []
        self.given: dict[str, tuple[str, str]] = {}
        self.error: str | None = None

    def run(self) -> FetchReport:
        before = self._fetched_before()
        for document in self._documents():
            self._take(document)
        retired = self._retire_missing(before) if self.error is None and self.adapter.complete else []
        return FetchReport(
            self.target,
            tuple(sorted(self.written)),
            self.unchanged,
            tuple(retired),
            tuple(self.refused),
            self.error,
        )

    def _documents(self) -> Iterator[FetchedDocument]:
        """What the adapter yields until it fails; only the adapter's own code is guarded here."""
        try:
            source = iter(self.adapter.fetch())
        except Exception as failure:  # noqa: BLE001 - another's code; reported, and nothing it had is touched
            self._failed(failure)
            return
        while True:
            try:
                document = next(source)
            except StopIteration:
                return
            except Exception as failure:  # noqa: BLE001 - as above
                self._failed(failure)
                return
            yield document

    def _failed(self, failure: Exception) -> None:
        self.error = f"fetching into {self.target}/ failed: {_told(failure)}; what was fetched before is kept"

    def _take(self, document: FetchedDocument) -> None:
        called = str(getattr(document, "filename", document))
        try:
            content, metadata = _content(document)
            name = safe_filename(called)
        except SourceError as error:
            self.refused.append((called, str(error)))
            return
        first = self.given.setdefault(name.casefold(), (name, called))
        if first != (name, called) or f"{self.target}/{name}" in self.written:
            reason = f'two documents are called "{name}" ("{first[1]}" and "{called}"): only the first was written'
            self.refused.append((called, reason))
            return
        try:
            self._write(name, content, metadata)
        except SourceError as error:
            self.refused.append((called, str(error)))

    def _write(self, name: str, content: bytes, metadata: bytes) -> None:
        file = self.folder / name
        former = self._former(file)
        if former == content:
            self.unchanged += 1
        else:
            if former is not None:
                self._keep(name, former)
            self.write_file(file, content)
            self.written.append(f"{self.target}/{name}")
        described = _metadata_file(file)
        if self._former(described) != metadata:
            self.write_file(described, metadata)

    def _former(self, file: Path) -> bytes | None:
        if file.is_symlink() or not file.parent.resolve().is_relative_to(self.folder.resolve()):
            raise SourceError(f"{file} is, or lies behind, a symbolic link: it is not written through")
        try:
            return file.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise SourceError(f"cannot read {file}: {error.strerror or error}") from error

    def _keep(self, name: str, former: bytes) -> None:
        version = self.history / name / (hashlib.sha256(former).hexdigest() + Path(name).suffix)
        if not version.exists():
            self.write_file(version, former)

    def _fetched_before(self) -> set[str]:
        """Names below the target that an earlier fetch wrote: those with metadata beside them."""
        names: set[str] = set()
        for folder, _, files in os.walk(self.folder):
            if Path(folder).name != METADATA_FOLDER:
                continue
            owner = Path(folder).parent
            documents = (owner / file.removesuffix(".json") for file in files if file.endswith(".json"))
            names.update(document.relative_to(self.folder).as_posix() for document in documents if document.is_file())
        return names

    def _retire_missing(self, before: set[str]) -> list[str]:
        gone = sorted(before - {name for name, _ in self.given.values()})
        kept = len(before) - len(gone)
        if gone and (kept == 0 or (len(gone) >= _VANISHED_COUNT and len(gone) > _VANISHED_FRACTION * len(before))):
            self.error = (
                f"{self.target}/: the source gave {len(self.given)} documents and no longer {len(gone)} of the "
                f"{len(before)} it had, such as {gone[0]}; all are kept. If they are meant to go, delete them"
            )
            return []
        for name in gone:
            file = self.folder / name
            former = self._former(file)
            if former is not None:
                self._keep(name, former)
            file.unlink(missing_ok=True)
            _metadata_file(file).unlink(missing_ok=True)
        return [f"{self.target}/{name}" for name in gone]


def _content(document: FetchedDocument) -> tuple[bytes, bytes]:
    """Bytes of a document and of its metadata; SourceError when the adapter yielded something else."""
    content = getattr(document, "content", None)
    metadata = getattr(document, "metadata", None) or {}
    if isinstance(content, str):
        content = content.encode("utf-8", "replace")
    if not isinstance(content, bytes):
        raise SourceError(f"content must be str or bytes, not {type(content).__name__}")
    if not isinstance(metadata, Mapping):
        raise SourceError(f"metadata must be a mapping, not {type(metadata).__name__}")
    told = {str(key): str(value) for key, value in sorted(metadata.items(), key=lambda item: str(item[0]))}
    return content, (json.dumps(told, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "replace")


def _metadata_file(file: Path) -> Path:
    return file.parent / METADATA_FOLDER / f"{file.name}.json"


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
