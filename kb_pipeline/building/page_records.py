"""What a snapshot keeps of a page beside its text: the catalogue record and the sections to index.

Belongs here: values made of one page alone, so that an unchanged page costs nothing. Does not belong here: files
(``publishing``), the form of a record on disk (``storage.catalog``), weights (``text.sparse_index``).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

from kb_pipeline.models import Section, WikiPage
from kb_pipeline.storage.catalog import PageRecord, SectionRecord
from kb_pipeline.text.sparse_index import IndexedSection


def page_record(page: WikiPage, text: str) -> PageRecord:
    """``text`` is the whole published file, LF line ends, of which ``page`` was read."""
    return PageRecord(
        path=page.path,
        sha256=page.content_sha256,
        title=page.title,
        scope=page.scope,
        status=page.status.value if page.status else "",
        updated=page.updated,
        summary=page.summary,
        keywords=page.keywords,
        sections=tuple(_section_records(page, text)),
    )


def _section_records(page: WikiPage, text: str) -> Iterator[SectionRecord]:
    body = page.body
    starts = [0, *accumulate(len(line) + 1 for line in body.split("\n"))]
    before = text[: len(text) - len(body)]
    at, place = 0, len(before.encode())  # the same point in code points of the body and in bytes of the file
    for section in page.outline.sections:
        end = min(len(body), starts[section.end_line - page.body_line + 1])
        begin = end - len(section.text)
        if not section.text or begin < at or not body.startswith(section.text, begin):
            begin = end = at
        place += len(body[at:begin].encode())
        size = len(body[begin:end].encode())
        yield SectionRecord(section.section_id, section.slug, section.level, section.title, place, place + size)
        at, place = end, place + size


def indexed_sections(page: WikiPage) -> Iterator[IndexedSection]:
    """Sections with words of their own; the page's title, keywords and so on stand beside each of them.

    A heading with nothing but sub-sections is found by their breadcrumbs. A page without any text is found by its lead.
    """
    sections = [section for section in page.outline.sections if section.text.strip()] or page.outline.sections[:1]
    keywords, aliases = "\n".join(page.keywords), "\n".join((*page.aliases, page.concept_name))
    for section in sections:
        yield IndexedSection(
            key=section_key(page.path, section),
            fields={
                "title": page.title,
                "keywords": keywords,
                "aliases": aliases,
                "headings": "\n".join(section.breadcrumb),
                "summary": page.summary,
                "body": section.text,
            },
        )


def section_key(path: str, section: Section) -> str:
    return f"{path}#{section.section_id}"
