"""Text that stays on its line, and its size in tokens.

Belongs here: making any text safe inside one line of a manifest, and the token estimate. Does not belong here: the
manifest's form (``render``).
"""

from __future__ import annotations

import re

_ESCAPE_SEQUENCE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*(?:\x1b\\)|[@-Z\\-_])"
)
_LINE_SPACE = re.compile("[\\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")
# Marks that reorder or hide text (bidirectional controls, zero-width characters, tags, byte order mark), and lone surrogates.
_INVISIBLE = re.compile(
    "[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_CJK = re.compile(
    "[\u2e80-\u303f\u3041-\u30ff\u3105-\u318f\u31a0-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff01-\uffef\U00020000-\U000323af]"
)


def one_line(text: str) -> str:
    """``text`` without terminal sequences, control and reordering characters, any white space made one blank."""
    if text.isprintable() and "  " not in text:
        return text.strip()
    text = _INVISIBLE.sub("", _ESCAPE_SEQUENCE.sub("", text))
    return _LINE_SPACE.sub(" ", text).strip()


def estimate_tokens(text: str) -> int:
    """One token a CJK character and one for each four others: an estimate, told as such wherever it is shown."""
    cjk = 0 if text.isascii() else len(_CJK.findall(text))
    return cjk + (len(text) - cjk + 3) // 4
