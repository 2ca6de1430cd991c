"""What the bytes of one raw document say about it before anything is compiled (SPEC 3, 6.6).

Belongs here: the judgement readable / empty / left out / failed and the content hash. Not here: opening files.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kb_pipeline.errors import UnreadableTextError
from kb_pipeline.markdown.decoding import conflict_marks, decode_text, text_hash
from kb_pipeline.markdown.front_matter import split_front_matter
from kb_pipeline.models import DocumentState

MAX_BYTES = 16 * 1024 * 1024
_COMMENTS = re.compile(r"<!--(?:-?>|.*?(?:-->|\Z))|%%.*?(?:%%|\Z)", re.DOTALL)
_FENCE = re.compile(r"^[ >]*(?:```|~~~)", re.MULTILINE)
_UNSEEN = "".join(map(chr, (0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF)))  # str.strip() takes the visible blanks only


@dataclass(frozen=True, slots=True)
class Examined:
    """``state`` is PENDING when the document can be compiled; else ``reason`` says why not."""

    state: DocumentState
    reason: str | None
    sha256: str | None


def examine(data: bytes) -> Examined:
    """Judge a document by its bytes. Never raises."""
    if len(data) > MAX_BYTES:
        reason = f"larger than {MAX_BYTES // 1024 // 1024} MB ({len(data) / 1024 / 1024:.1f} MB): split it"
        return Examined(DocumentState.FAILED, reason, None)
    try:
        text = decode_text(data)
    except UnreadableTextError as error:
        return Examined(DocumentState.FAILED, str(error), None)
    sha256 = text_hash(text)
    body, skip = text, False
    if text.startswith("---"):
        front = split_front_matter(text)
        body, skip = front.body, front.fields.get("kb") == "skip"
    if skip:
        return Examined(DocumentState.IGNORED, "front matter says kb: skip", sha256)
    empty = _why_empty(text, body)
    if empty is not None:
        return Examined(DocumentState.EMPTY, empty, sha256)
    marks = conflict_marks(text)
    if marks:
        lines = ", ".join(map(str, marks[:5]))
        return Examined(DocumentState.FAILED, f"git conflict marks on line {lines}: resolve the merge", sha256)
    return Examined(DocumentState.PENDING, None, sha256)


def _why_empty(text: str, body: str) -> str | None:
    if not _is_visible(body):
        return "empty: only front matter" if _is_visible(text) else "empty: nothing but blanks"
    return "empty: only comments" if _only_comments(body) else None


def _is_visible(text: str) -> bool:
    return bool(text.strip().strip(_UNSEEN).strip())


def _only_comments(body: str) -> bool:
    if "<!--" not in body and "%%" not in body:
        return False
    return not _is_visible(_COMMENTS.sub("", body)) and not _FENCE.search(body)
