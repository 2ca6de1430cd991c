"""One spelling for text that should be found by one query: width, case, Traditional and Simplified characters.

Belongs here: character-level folding and the count of script-specific characters. Does not belong here: tokens
(``analyser``), words that differ between regions (``glossary``).

The Traditional → Simplified table is OpenCC's t2s, character by character, generated into ``data/hanzi.py``: reading it
takes a few milliseconds where OpenCC itself takes 300 to ask for every ideograph, and OpenCC is then needed by tests
alone. Phrase-level conversion is left out on purpose: index and query must fold alike, whatever stands beside a word.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LONG = 200
"""From so many characters on, numpy maps them 5 to 15 times as fast as ``str.translate``; below it is slower."""

_WIDE_FORMS = {0x3000: " ", **{wide: chr(wide - 0xFEE0) for wide in range(0xFF01, 0xFF5F)}}


@dataclass(frozen=True, slots=True)
class ScriptCount:
    """How many characters of a text belong to one script only; characters that both use are not counted."""

    traditional: int
    simplified: int

    @property
    def leading(self) -> str | None:
        """``traditional`` or ``simplified``, whichever has more; None when neither or both alike."""
        if self.traditional == self.simplified:
            return None
        return "traditional" if self.traditional > self.simplified else "simplified"


@lru_cache(maxsize=1)
def traditional_to_simplified() -> dict[int, str]:
    """Code point → Simplified character, for ``str.translate``. Treat it as read-only."""
    from kb_pipeline.text.data.hanzi import SIMPLIFIED, TRADITIONAL

    return dict(zip(map(ord, TRADITIONAL), SIMPLIFIED, strict=True))


@lru_cache(maxsize=1)
def _script_sets() -> tuple[frozenset[str], frozenset[str]]:
    from kb_pipeline.text.data.hanzi import ONLY_SIMPLIFIED, TRADITIONAL

    # A few (乾, 著, 藉 …) stand in Simplified text too, kept by GB 2312 for some of their senses.
    traditional = frozenset(char for char in TRADITIONAL if not _in_gb2312(char))
    return traditional, frozenset(ONLY_SIMPLIFIED)


def _in_gb2312(char: str) -> bool:
    try:
        char.encode("gb2312")
    except UnicodeEncodeError:
        return False
    return True


@lru_cache(maxsize=1)
def _simplified_codes() -> NDArray[np.uint32]:
    """Code point → code point, for every one there is."""
    import numpy as np

    codes = np.arange(0x110000, dtype=np.uint32)
    table = traditional_to_simplified()
    codes[list(table)] = [ord(char) for char in table.values()]
    return codes


def fold_script(text: str) -> str:
    """Traditional characters made Simplified; nothing else changes, and the length stays."""
    if text.isascii():
        return text
    if len(text) < _LONG:
        return text.translate(traditional_to_simplified())
    import numpy as np

    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    return _simplified_codes()[codes].tobytes().decode("utf-32-le", "surrogatepass")


def fold(text: str) -> str:
    """NFKC, lower case, Simplified characters: equal for all spellings that one query should find (SPEC 13)."""
    if text.isascii():
        return text.lower()
    return fold_script(unicodedata.normalize("NFKC", text).lower())


def narrow(text: str) -> str:
    """Full-width ASCII forms and the ideographic space made narrow, one character for one: offsets stay valid."""
    return text if text.isascii() else text.translate(_WIDE_FORMS)


def script_of(text: str) -> ScriptCount:
    """Counts of only-Traditional and only-Simplified characters (the script gate of SPEC 6.3)."""
    if text.isascii():
        return ScriptCount(0, 0)
    traditional, simplified = _script_sets()
    return ScriptCount(
        traditional=sum(map(traditional.__contains__, text)),
        simplified=sum(map(simplified.__contains__, text)),
    )
