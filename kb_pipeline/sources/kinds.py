"""Which files are documents, by suffix, and what to do with the others (SPEC 3).

Belongs here: suffixes and advice. Not here: anything that opens a file.
"""

from __future__ import annotations

DOCUMENT_SUFFIXES = (".md", ".markdown", ".mdx", ".txt")
"""Compared in lower case: ``.MD`` is read too."""

_ADVICE = {
    "PDF files": ("pdf", "convert it to markdown (pdftotext, MarkItDown, Docling) and keep the .md here"),
    "Office files": (
        "doc docx odt rtf xls xlsx ods ppt pptx odp pages numbers key",
        "convert it to markdown (pandoc, MarkItDown) and keep the .md here",
    ),
    "pictures": (
        "png jpg jpeg gif webp svg bmp tif tiff heic avif ico",
        "write what it shows into a markdown document; links to it keep working",
    ),
    "sound and film": (
        "mp3 m4a wav ogg flac mp4 mov webm mkv avi",
        "transcribe it to markdown and keep the .md here",
    ),
    "web pages": ("html htm mhtml", "convert it to markdown (pandoc, MarkItDown) and keep the .md here"),
    "notebooks": ("ipynb", "convert it to markdown (jupyter nbconvert --to markdown) and keep the .md here"),
    "other markup": ("rst adoc org textile tex wiki", "convert it to markdown (pandoc) and keep the .md here"),
}
_BY_SUFFIX = {
    suffix: f"{kind} are not read: {advice}"
    for kind, (suffixes, advice) in _ADVICE.items()
    for suffix in suffixes.split()
}


def is_document(name: str) -> bool:
    """Whether a file of this name is read as a raw document."""
    return name.lower().endswith(DOCUMENT_SUFFIXES)


def advice_for(name: str) -> str:
    """Why a file that is no document is not read, and what to do about it."""
    stem, dot, suffix = name.rpartition(".")
    if not dot or not stem:
        return "files without a suffix are not read: name it .md if it is a document"
    known = _BY_SUFFIX.get(suffix.lower())
    return known or f".{suffix} files are not read: only {', '.join(DOCUMENT_SUFFIXES)} are documents"
