"""Pages → chunks: what is embedded, one section each (SPEC 12).

What belongs here: which sections make chunks, their keys, and the text that a model sees. What does not: cutting
(``splitting``), cleaning (``reducing``), what has to be embedded again (``indexing``). Pure.

The text that a model sees is ``title > H2 > H3 (scope)``, a line end, and the section's own words: never those of its
sub-sections, which are chunks themselves. The lead's also has the page's summary and keywords: it stands for the page.
Whoever changes what is embedded raises ``models.TEXT_SCHEME``.
"""

from __future__ import annotations

import hashlib

from kb_pipeline.embeddings.reducing import reduce_markdown
from kb_pipeline.embeddings.splitting import estimate_tokens, split_text
from kb_pipeline.markdown.links import address
from kb_pipeline.markdown.outline import LEAD, UNTITLED
from kb_pipeline.models import TEXT_SCHEME, Chunk, Section, WikiPage

MAX_TOKENS = 448
"""By our estimate, for a model that takes 512: its prefix, its marks and what the estimate misses fit beside it."""
LONGEST_KEY = 600
"""Bytes of a section id: PostgreSQL's index takes 2,700 for page path, section and model together."""
PART_MARK = "~"


def chunk_page(page: WikiPage, max_tokens: int = MAX_TOKENS) -> list[Chunk]:
    """The chunks of a page, in reading order, their keys unique and their texts never blank.

    A section whose own text has no words makes no chunk: its heading stands in the breadcrumbs below it. A page with
    a title or any words has at least one.
    """
    title = page.title.strip() or _first_title(page) or page.concept_name.rpartition("/")[2]
    chunks: list[Chunk] = []
    for section in page.outline.sections:
        about = _about(page) if section.section_id == LEAD else ""
        chunks += _chunks(page, section, _header(title, section, page.scope), about, max_tokens)
    if not chunks and title.strip():
        chunks.append(_chunk(page, LEAD, "", "", _header(title, None, page.scope)))
    return chunks


def section_of(section_id: str) -> str:
    """The section that a chunk's id belongs to: ``setup~2`` → ``setup``."""
    section, mark, part = section_id.rpartition(PART_MARK)
    return section if mark and part.isdigit() else section_id


def _chunks(page: WikiPage, section: Section, header: str, about: str, max_tokens: int) -> list[Chunk]:
    words, _ = reduce_markdown(section.text)
    if not words and not about:
        return []
    # What stands around the text may take half of the room at most, whatever somebody wrote into a heading.
    header = _shortened(header, max_tokens // 4)
    about = _shortened(about, max_tokens // 4)
    room = max_tokens - estimate_tokens(header)
    parts = split_text(section.text, room, room - estimate_tokens(about))
    chunks, fence = [], ""
    for number, text in enumerate(parts, start=1):
        if len(parts) > 1:
            words, fence = reduce_markdown(text, fence)
        lines = (header, about if number == 1 else "", words)
        key = _key(section.section_id) + (f"{PART_MARK}{number}" if number > 1 else "")
        chunks.append(_chunk(page, key, section.slug, text, "\n".join(line for line in lines if line)))
    return chunks


def _chunk(page: WikiPage, key: str, slug: str, text: str, embed_text: str) -> Chunk:
    content_hash = hashlib.sha256(embed_text.encode("utf-8", "replace")).hexdigest()
    return Chunk(page.concept_name, key, address(page.path, slug), text, embed_text, content_hash)


def _header(title: str, section: Section | None, scope: str) -> str:
    above = section.breadcrumb if section is not None else ()
    crumbs = " > ".join(crumb for crumb in (title, *above) if crumb.strip() and crumb != UNTITLED)
    header = " ".join(crumbs.split())
    return f"{header} ({scope.strip()})" if scope.strip() else header


def _about(page: WikiPage) -> str:
    """Summary and keywords: the facts and the other names, as somebody may ask for them."""
    lines = (" ".join(page.summary.split()), "、".join(keyword for keyword in page.keywords if keyword.strip()))
    return "\n".join(line for line in lines if line)


def _shortened(text: str, limit: int) -> str:
    return split_text(text, max(limit, 1))[0].rstrip() if text else text


def _first_title(page: WikiPage) -> str:
    return next((heading.text.strip() for heading in page.outline.headings if heading.text.strip()), "")


def _key(section_id: str) -> str:
    encoded = section_id.encode("utf-8", "replace")
    if len(encoded) <= LONGEST_KEY:
        return section_id
    cut = encoded[:LONGEST_KEY].decode("utf-8", "ignore")
    return f"{cut}-{hashlib.sha256(encoded).hexdigest()[:10]}"


__all__ = ["MAX_TOKENS", "TEXT_SCHEME", "chunk_page", "section_of"]
