"""Raw documents: what the sources hand over (SPEC 3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple

from kb_pipeline.models.build import DocumentState


@dataclass(frozen=True, slots=True)
class RawEntry:
    """One file seen under ``raw/``, before anything was compiled.

    ``state`` is PENDING for a document that can be compiled; EMPTY, IGNORED or FAILED otherwise, with a ``reason``.
    ``sha256`` is the hex hash over the decoded text (BOM dropped, line ends LF), None when it could not be decoded.
    ``path`` is relative to ``raw/``, POSIX, NFC: the document's identity. ``disk_path`` is the name as the file
    system spells it (it may be NFD), also relative and POSIX.
    """

    path: str
    disk_path: str
    state: DocumentState
    reason: str | None = None
    sha256: str | None = None
    size: int = 0


@dataclass(frozen=True, slots=True)
class RawDocument:
    """A document ready for a rewriter.

    ``text`` is decoded: no BOM, line ends LF, no NUL, no lone surrogate; front matter included.
    ``metadata`` comes from the adapter that fetched it. ``scope`` is the scope configured for its source.
    ``dated`` is the date of the knowledge as known outside the text (git author date, else first mtime), see SPEC 5.
    """

    path: str
    text: str
    sha256: str
    metadata: Mapping[str, str] = field(default_factory=dict)
    scope: str | None = None
    dated: date | None = None


class FileReading(NamedTuple):
    """What reading one file told, and the file's signature then: the row of a disposable cache.

    The signature (size, mtime, ctime, inode) equal to the file's now means that it need not be read again, unless
    ``ctime_ns`` is so near to ``seen_ns`` (when it was read) that a later change may carry the same time.
    """

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    seen_ns: int
    state: str
    reason: str | None
    sha256: str | None
