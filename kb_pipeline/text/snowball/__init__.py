"""The English Snowball stemmer of ``snowballstemmer``, without the thirty other languages that the package imports.

Belongs here: this one detour. ``import snowballstemmer`` costs 0.3 s because its ``__init__`` loads every language;
a search from the shell needs one. This package points its search path at the installed one, so that its modules load
under this name, untouched, in 10 ms. Does not belong here: any stemming of our own.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec


def _installed_modules() -> list[str]:
    spec = find_spec("snowballstemmer")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("snowballstemmer is not installed: install kb-pipeline with its dependencies")
    return list(spec.submodule_search_locations)


__path__ = _installed_modules()

_turn = threading.Lock()
_MAY_CHANGE = re.compile(r"(?:[sylei']|ed|ing|er|or|ion|is[mt]|ant|ent|ic)$|^'")
"""No step of Porter2 touches a word that ends otherwise: those, and names with digits, need not be asked for."""


@lru_cache(maxsize=1)
def _english() -> Callable[[str], str]:
    stemmer = import_module(f"{__name__}.english_stemmer").EnglishStemmer()
    stem: Callable[[str], str] = stemmer.stemWord
    return stem


@lru_cache(maxsize=100_000)
def stem_english(word: str) -> str:
    """Stem of a lower-case word (Porter2). The stemmer keeps state while it works, hence the lock."""
    if not _MAY_CHANGE.search(word) or not word.replace("'", "").isalpha():
        return word
    with _turn:
        return _english()(word)
