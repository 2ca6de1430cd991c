"""File names for documents that come from elsewhere (SPEC 3 "names sanitised").

Belongs here: turning what an adapter calls a document, or a target folder, into a safe relative path. Not here: files.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata

from kb_pipeline.errors import SourceError
from kb_pipeline.sources.kinds import DOCUMENT_SUFFIXES

_UNFIT = re.compile(r'[<>:"|?*\\]')
_RESERVED = frozenset(
    {"con", "prn", "aux", "nul", *(f"com{digit}" for digit in range(1, 10)), *(f"lpt{digit}" for digit in range(1, 10))}
)
_LONGEST = 200  # bytes of one name: file systems take 255, and a history file adds a hash


def safe_filename(name: str) -> str:
    """A relative POSIX path for a document called ``name``: NFC, no control or reserved characters, nothing hidden.

    Folders in the name are kept; a name without a document suffix gets ``.md``. Raises SourceError for a name that is
    empty, absolute or leads upwards: such a name is an attack or a fault, not a title.
    """
    unified = unicodedata.normalize("NFC", name).replace("\\", "/")
    parts = [part for part in unified.split("/") if part.strip() not in {"", "."}]
    if unified.startswith("/") or any(part.strip() == ".." for part in parts):
        raise SourceError(f'document name "{name}" leads out of its folder: the adapter must give a relative name')
    cleaned = [_clean(part) for part in parts]
    if not cleaned or not all(cleaned):
        raise SourceError(f'document name "{name}" has no usable character: the adapter must give a name')
    stem, suffix = _split_suffix(cleaned[-1])
    cleaned[-1] = _shorten(stem or "document", suffix)
    return "/".join([*(_shorten(part, "") for part in cleaned[:-1]), cleaned[-1]])


def safe_target(target: str, raw_name: str) -> str:
    """The folder below ``raw/`` that an adapter's documents go to; a leading ``raw/`` in ``target`` is dropped."""
    parts = [part for part in target.replace("\\", "/").split("/") if part not in {"", "."}]
    if target.startswith("/") or ".." in parts:
        raise SourceError(f'target folder "{target}" leaves the folder of raw documents')
    if parts and parts[0] == raw_name:
        parts = parts[1:]
    if not parts or any(part.startswith(".") for part in parts):
        raise SourceError(f'target folder "{target}" must be a visible folder below {raw_name}/, such as "notion"')
    return unicodedata.normalize("NFC", "/".join(parts))


def _clean(part: str) -> str:
    visible = "".join(char for char in part if unicodedata.category(char) not in {"Cc", "Cs", "Cn", "Co", "Zl", "Zp"})
    cleaned = _UNFIT.sub("-", visible).strip().lstrip(".").rstrip(". ").strip()
    return f"{cleaned}-" if cleaned.partition(".")[0].lower() in _RESERVED else cleaned


def _split_suffix(name: str) -> tuple[str, str]:
    for suffix in DOCUMENT_SUFFIXES:
        if name.lower().endswith(suffix):
            return name[: -len(suffix)], name[-len(suffix) :]
    return name, ".md"


def _shorten(stem: str, suffix: str) -> str:
    encoded = stem.encode("utf-8")
    if len(encoded) + len(suffix) <= _LONGEST:
        return stem + suffix
    mark = "-" + hashlib.sha256(encoded).hexdigest()[:8]
    room = _LONGEST - len(mark) - len(suffix)
    return encoded[:room].decode("utf-8", "ignore").rstrip() + mark + suffix
