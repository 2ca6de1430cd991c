"""Partition keys for document and page paths (ORCHESTRATION "partition keys").

Belongs here: the reversible encoding between a path and the key that Dagster and its UI take. Not here: partition sets.
"""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import unquote

_PLAIN = re.compile(r"[A-Za-z0-9_\-./]+")
_DOTS = re.compile(r"\.{2,}")
# Outside ASCII everything stays readable but what cannot be seen or typed: controls, format marks (zero width,
# direction), separators, surrogates, private and unassigned code points.
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"})
_ASCII_SAFE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./+=@~")


def partition_key(path: str) -> str:
    """The key of a path: no comma, bracket, bar, quote, wildcard, space, control character or ``..`` in it.

    Different paths have different keys and ``document_path`` gives the path back. Letters of any script stay as they
    are, so that keys can be read in the UI.
    """
    if _PLAIN.fullmatch(path) and ".." not in path:
        return path
    encoded = "".join(char if _is_safe(char) else _percent(char) for char in path)
    return _DOTS.sub(lambda dots: "%2E" * len(dots.group()), encoded)


def document_path(key: str) -> str:
    """The path that ``partition_key`` made ``key`` from."""
    return unquote(key, errors="surrogateescape") if "%" in key else key


def _is_safe(char: str) -> bool:
    if char.isascii():
        return char in _ASCII_SAFE
    return unicodedata.category(char) not in _INVISIBLE


def _percent(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogateescape"))
