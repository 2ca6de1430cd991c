"""Bytes to text, the same way for raw documents and pages (SPEC 3, 4).

Belongs here: encodings, byte-order marks, line ends, characters that neither database nor vendor takes, git conflict
marks, the content hash. Does not belong here: anything that knows markdown beyond the lines of a fence.
"""

from __future__ import annotations

import hashlib
import re

from kb_pipeline.errors import UnreadableTextError

_MAGIC = (
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive or an Office document"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x00asm", "a WebAssembly module"),
    (b"\x7fELF", "a program"),
)
_MOST_NULS = 0.01
"""Share of NUL characters above which something is binary rather than a text with a stray NUL."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})(.*)")
_CONFLICT = re.compile(r"(<{7}|={7}|>{7}|\|{7})(?: .*)?$")


def decode_text(data: bytes, *, keep_line_ends: bool = False) -> str:
    """The text of a file: no byte-order mark, LF line ends, no NUL, no lone surrogate.

    UTF-8, or UTF-16 with a mark; anything else raises UnreadableTextError with the reason. Only CR LF and a lone CR
    count as line ends: U+2028, vertical tab and form feed stay inside their line. ``keep_line_ends`` leaves CR LF as
    it is, for writing the file back.
    """
    for magic, what in _MAGIC:
        if data.startswith(magic):
            raise UnreadableTextError(f"binary: this is {what}, not text; rename it or list it in .kbignore")
    text = _decode(data).removeprefix("\ufeff")
    if "\0" in text:
        text = _without_nuls(text)
    if not text.isascii() and _SURROGATE.search(text):
        text = _without_surrogates(text)
    if not keep_line_ends and "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text


def text_hash(text: str) -> str:
    """Content hash: hex SHA-256 of the UTF-8 form of a decoded text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def conflict_marks(text: str) -> list[int]:
    """1-based lines that git's merge left behind, outside code fences; empty when there is no opening mark.

    ``=======`` alone is an underlined heading and ``>>>>>>>`` a deep quotation: they count only after ``<<<<<<<``.
    """
    if "<<<<<<<" not in text:
        return []
    marks: list[int] = []
    fence = ""
    opened = False
    for number, line in enumerate(text.split("\n"), 1):
        if line[:7] in {"<<<<<<<", "=======", ">>>>>>>", "|||||||"} and not fence:
            found = _CONFLICT.match(line.rstrip("\r"))
            if found and (opened or line[0] == "<"):
                opened = line[0] != ">"
                marks.append(number)
            continue
        if "```" in line or "~~~" in line:
            fence = _next_fence(fence, line)
    return marks


def _next_fence(fence: str, line: str) -> str:
    """The fence that is open after a line, "" for none."""
    found = _FENCE.match(line)
    if not found:
        return fence
    run, rest = found.groups()
    if fence:
        closes = run[0] == fence[0] and len(run) >= len(fence) and not rest.strip()
        return "" if closes else fence
    return "" if run[0] == "`" and "`" in rest else run


def _decode(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return data.decode("utf-16", "surrogatepass")
        except UnicodeDecodeError as error:
            raise UnreadableTextError(f"not readable as the UTF-16 its mark announces: {error.reason}") from error
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        try:
            return data.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            raise UnreadableTextError(_reason(data, error)) from error


def _reason(data: bytes, error: UnicodeDecodeError) -> str:
    if data.count(0) > len(data) * _MOST_NULS:
        return "binary: it holds NUL bytes and is not UTF-8"
    line = data.count(b"\n", 0, error.start) + 1
    return (
        f"neither UTF-8 nor UTF-16 with a byte-order mark: byte 0x{data[error.start]:02X} in line {line}; "
        "save it as UTF-8"
    )


def _without_nuls(text: str) -> str:
    nuls = text.count("\0")
    if nuls > max(8, len(text) * _MOST_NULS) or nuls * 4 > len(text):
        raise UnreadableTextError(f"binary: {nuls} NUL characters among {len(text)}; or UTF-16 without a mark")
    return text.replace("\0", "")


def _without_surrogates(text: str) -> str:
    # Pairs that were encoded one by one (CESU-8) are joined first; what is left stands alone and means nothing.
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _SURROGATE.sub("\ufffd", joined)
