"""The offline rewriter: pages from a raw document without a model (SPEC 6.1, 6.9). The product's default.

Belongs here: the order of the steps, and what makes one page of a part. Does not belong here: the steps themselves
(the modules beside this one), gates (given as an argument), files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date

from kb_pipeline.models import (
    Compiled,
    Failed,
    Finding,
    Fragment,
    Held,
    PageDraft,
    PageStatus,
    RawDocument,
    Related,
    RewriteContext,
    RewriteOutcome,
    Severity,
)
from kb_pipeline.rewriting.arranging import (
    fitting,
    link_to,
    taken_blocks,
    unread_section,
    with_conclusion,
    with_document_facts,
    with_named_lead,
    without_moved,
)
from kb_pipeline.rewriting.blocks import BlockSource, fenced, read_blocks
from kb_pipeline.rewriting.cleaning import clean_body
from kb_pipeline.rewriting.conclusion import choose_conclusion
from kb_pipeline.rewriting.condense import (
    Prose,
    condensed_blocks,
    condensed_section,
    dropped_sentences,
    read_prose,
)
from kb_pipeline.rewriting.dates import date_of
from kb_pipeline.rewriting.evidence import FactIndex
from kb_pipeline.rewriting.fields import RawFields, UnreadBlock, read_fields
from kb_pipeline.rewriting.inline import plain
from kb_pipeline.rewriting.keywords import FEWEST, DocumentTerms, choose_keywords
from kb_pipeline.rewriting.language import Words, detect_language, words_for
from kb_pipeline.rewriting.layout import anchor_addresses, page_body, with_definitions, with_own_links
from kb_pipeline.rewriting.naming import part_paths, written_stem
from kb_pipeline.rewriting.rules import OFFLINE, offline_key
from kb_pipeline.rewriting.scope import choose_scope
from kb_pipeline.rewriting.splitting import CONCLUSION_ROOM, MAX_BODY, MIN_BODY, Part, split_document
from kb_pipeline.rewriting.structure import RawOutline, is_link_list, read_outline, without_empty
from kb_pipeline.rewriting.summary import SHORTEST, summarise
from kb_pipeline.rewriting.titles import one_line
from kb_pipeline.rewriting.vocabulary import DOCUMENT_TYPES
from kb_pipeline.text.glossary import Glossary

_LINK_TARGET = re.compile(r"\]\([^()\s]*\)")

Gates = Callable[[tuple[PageDraft, ...], RawDocument], Sequence[Finding]]
"""Findings over the drafts of one document; an error holds them back."""

_ROOMS = (CONCLUSION_ROOM, 2 * CONCLUSION_ROOM, 4 * CONCLUSION_ROOM)
_NEIGHBOURS = 2
"""Parts further away than this are not related when a document has more than five: ``related`` has room for eight,
and links to other documents need some of it."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """A raw document, read once; what every page of it is made from."""

    document: RawDocument
    context: RewriteContext
    fields: RawFields
    words: Words
    source: BlockSource
    outline: RawOutline
    facts: FactIndex
    prose: Prose
    dropped: frozenset[int]


class OfflineRewriter:
    """Implements ``ports.Rewriter``. Pure: the same document, context, glossary and day give the same outcome.

    ``today`` is asked only to pass over dates that are still to come.
    """

    def __init__(
        self,
        glossary: Glossary | None = None,
        gates: Gates | None = None,
        today: Callable[[], date] | None = None,
    ) -> None:
        self._glossary = glossary or Glossary.empty()
        self._gates = gates
        self._today = today
        self._key = offline_key(self._glossary)

    @property
    def name(self) -> str:
        return OFFLINE

    @property
    def key(self) -> str:
        return self._key

    def rewrite(self, document: RawDocument, context: RewriteContext) -> RewriteOutcome:
        """Compiled pages, a fragment of the month, drafts held by a gate, or a permanent failure. Never raises."""
        fields = read_fields(document.text, document.metadata)
        cleaned = clean_body(fields.body, mdx=document.path.casefold().endswith(".mdx"))
        if not cleaned.strip():
            return Failed(
                "nothing to rewrite: no text but front matter or comments; write some or remove the file",
                permanent=True,
            )
        updated = self._updated(document, fields, cleaned)
        reading = _read(document, context, fields, cleaned)
        is_index = fields.kind == "index" or is_link_list(reading.outline)
        if len(cleaned.strip()) < MIN_BODY and not is_index and fields.status is not PageStatus.DEPRECATED:
            return Fragment(f"{updated:%Y-%m}", _fragment_text(reading, cleaned))
        drafts, notes = self._drafts(reading, updated, is_index=is_index)
        notes += tuple(_not_read(block, document.path) for block in fields.unread)
        if len(drafts) == 1 and _is_too_little(drafts[0]):
            return Fragment(f"{updated:%Y-%m}", _fragment_text(reading, cleaned))
        findings = tuple(self._gates(drafts, document)) if self._gates is not None else ()
        if any(finding.severity is Severity.ERROR for finding in findings):
            return Held(drafts, findings)
        return Compiled(drafts, (*notes, *findings), _metrics(reading, drafts))

    def _updated(self, document: RawDocument, fields: RawFields, text: str) -> date:
        latest = self._today() if self._today is not None else None
        return date_of(fields.values, document.path, text, document.dated, latest)

    def _drafts(
        self, reading: _Reading, updated: date, *, is_index: bool
    ) -> tuple[tuple[PageDraft, ...], tuple[Finding, ...]]:
        """Pages of a document. What is only known at the end (link definitions, longer links between parts) may make
        one too long: then all is dealt out again with more room."""
        drafts: tuple[PageDraft, ...] = ()
        for room in _ROOMS:
            parts = _parts(reading, room)
            drafts = self._pages(reading, parts, updated, is_index=is_index)
            if all(len(draft.body) <= MAX_BODY or part.oversize for draft, part in zip(drafts, parts, strict=True)):
                break
        return drafts, tuple(_too_long(draft) for draft in drafts if len(draft.body) > MAX_BODY)

    def _pages(
        self, reading: _Reading, parts: Sequence[Part], updated: date, *, is_index: bool
    ) -> tuple[PageDraft, ...]:
        titles = _titles(reading, parts)
        headings = [part.heading for part in parts]
        paths = part_paths(reading.context.base_path, titles, headings, reading.context.existing)
        common = PageDraft(
            path="",
            title="",
            scope=_scope(reading),
            summary="",
            keywords=(),
            body="",
            updated=updated,
            status=reading.fields.status,
            tags=reading.fields.tags,
            kind="index" if is_index else None,
            evergreen=reading.fields.evergreen,
        )
        terms = DocumentTerms.of(reading.source.text, _said_beside(reading))
        shown: list[Part] = []
        drafts: list[PageDraft] = []
        for index, part in enumerate(parts):
            named = replace(common, path=paths[index], title=titles[index])
            arranged, draft = self._page(reading, part, named, terms, first=index == 0)
            shown.append(arranged)
            drafts.append(replace(draft, related=_neighbours(index, paths, reading.words)))
        addresses = anchor_addresses(shown, paths, titles, reading.outline.title_anchors)
        bodies = with_definitions([draft.body for draft in drafts], reading.source)
        return tuple(
            replace(draft, body=with_own_links(body, draft.path, addresses))
            for draft, body in zip(drafts, bodies, strict=True)
        )

    def _page(
        self, reading: _Reading, part: Part, draft: PageDraft, terms: DocumentTerms, *, first: bool
    ) -> tuple[Part, PageDraft]:
        """The part as it is shown, and its page but for links and what needs the other parts."""
        fields, words = reading.fields, reading.words
        described = (fields.description or fields.summary) if first else ""
        conclusion = choose_conclusion(part, reading.prose, reading.dropped, described)
        subtitle = _telling_subtitle(reading) if first else ""
        shown = part if subtitle else without_moved(part, conclusion)
        if first:
            shown = with_document_facts(shown, fields, words)
        shown = with_named_lead(shown, words, subtitle)
        opening = conclusion.text if conclusion is not None else ""
        summary = summarise(
            shown,
            draft.title,
            opening,
            reading.facts,
            words,
            written=fields.summary if first else "",
            taken_from=taken_blocks(part, conclusion),
            is_index=draft.kind == "index",
        )
        if not opening or (part.oversize and len(opening) > len(summary)):
            opening = summary
        pointer = words.superseded.format(link=link_to(fields.successor)) + "\n\n" if first and fields.successor else ""
        length = len(page_body(draft.title, pointer, shown))
        opening = (pointer + fitting(opening, summary, length, words)).strip()
        keywords = choose_keywords(
            lines=_keyword_lines(reading, part, first=first),
            part=with_conclusion(shown, opening),
            document=reading.source.text,
            terms=terms,
            path=reading.document.path,
            glossary=self._glossary,
            written=_written_keywords(fields) if first else (),
        )
        return shown, replace(
            draft,
            summary=summary,
            keywords=keywords,
            body=page_body(draft.title, opening, shown),
            aliases=_aliases(reading, draft.title) if first else (),
            extra=fields.extra if first else {},
        )


def _scope(reading: _Reading) -> str:
    return choose_scope(
        reading.fields.values,
        f"{reading.outline.title}\n{reading.document.path}",
        reading.source.text,
        scopes=reading.context.scopes,
        configured=reading.document.scope,
        default=reading.context.default_scope,
    )


def _read(document: RawDocument, context: RewriteContext, fields: RawFields, cleaned: str) -> _Reading:
    words = words_for(detect_language(f"{fields.title}\n{cleaned}", context.language))
    source = read_blocks(cleaned)
    outline = read_outline(source, document.path, fields.title, words)
    above, sections = without_empty(outline.sections)
    sections = (*sections, *unread_section(fields, words))
    outline = replace(outline, lead=(*outline.lead, *above), sections=sections)
    facts = FactIndex.of(source.text)
    prose = read_prose(outline, facts)
    dropped = dropped_sentences(outline, prose, len(source.text))
    return _Reading(document, context, fields, words, source, outline, facts, prose, dropped)


def _parts(reading: _Reading, room: int) -> list[Part]:
    """The condensed document over its pages; all of it, where condensing would leave less than a page needs."""
    outline = reading.outline
    lead = condensed_blocks(outline.lead, reading.prose, reading.dropped)
    sections = [condensed_section(section, reading.prose, reading.dropped) for section in outline.sections]
    parts = split_document(lead, sections, outline.title, reading.words, room)
    if len(parts) == 1 and len(page_body(outline.title, "", parts[0])) < MIN_BODY + 100:
        return split_document(outline.lead, outline.sections, outline.title, reading.words, room)
    return parts


def _titles(reading: _Reading, parts: Sequence[Part]) -> list[str]:
    """The document's title, and for further parts the title with what tells them apart; no two alike."""
    words, title = reading.words, reading.outline.title
    titles, known = [title], {title.casefold()}
    for index, part in enumerate(parts[1:], start=2):
        heading = plain(part.heading)
        wanted = one_line(f"{title}{words.title_joint}{heading}") if heading else ""
        if not wanted or wanted.casefold() in known:
            wanted = words.part_title.format(title=wanted or title, index=index)
        titles.append(wanted)
        known.add(wanted.casefold())
    return titles


def _neighbours(index: int, paths: Sequence[str], words: Words) -> tuple[Related, ...]:
    count = len(paths)
    around = range(max(0, index - _NEIGHBOURS), min(count, index + _NEIGHBOURS + 1)) if count > 5 else range(count)
    near = [other for other in around if other != index]
    return tuple(Related(paths[other], words.part_of.format(index=other + 1, count=len(paths))) for other in near)


def _telling_subtitle(reading: _Reading) -> str:
    """The first H1 of a document whose title is another text and does not say it already."""
    subtitle, title = reading.outline.subtitle or "", reading.outline.title
    return "" if subtitle.casefold() in title.casefold() else subtitle


def _keyword_lines(reading: _Reading, part: Part, *, first: bool) -> list[tuple[str, float]]:
    """Lines whose words matter most: the title on the first page, on further ones what tells them from it."""
    title = reading.outline.title
    if not first:
        heading = plain(part.heading).replace(reading.words.continued.format(heading=""), "")
        return [(heading, 3.0), (title, 1.5)]
    return [(title, 4.0), *((hint, 2.0) for hint in (reading.outline.subtitle, *reading.fields.aliases) if hint)]


def _written_keywords(fields: RawFields) -> tuple[str, ...]:
    """The author's keywords and tags, but for tags that name a type of document."""
    return (*fields.keywords, *(tag for tag in fields.tags if tag.casefold() not in DOCUMENT_TYPES))


def _said_beside(reading: _Reading) -> tuple[str, ...]:
    """What the raw document says outside its body: keywords may come from there too."""
    fields = reading.fields
    return (
        *reading.document.path.split("/"),
        *filter(None, (fields.title, fields.summary, fields.description, reading.outline.title)),
        *fields.aliases,
        *fields.keywords,
        *fields.tags,
    )


def _aliases(reading: _Reading, title: str) -> tuple[str, ...]:
    """Names by which links may know the document: its own aliases, its written file name, a first H1 of other words."""
    stem = written_stem(reading.document.path)
    own = [
        *reading.fields.aliases,
        stem if stem.casefold() not in {"readme", "index"} else "",
        _telling_subtitle(reading),
    ]
    return tuple(dict.fromkeys(alias for alias in own if alias and alias != title))


def _fragment_text(reading: _Reading, cleaned: str) -> str:
    """A fragment keeps its title where its text does not begin with one."""
    title = reading.fields.title if reading.fields.title.casefold() not in cleaned.casefold() else ""
    unread = (fenced(block.text, "yaml") for block in reading.fields.unread)
    return "\n\n".join(filter(None, (title, cleaned.strip(), *unread)))


def _is_too_little(draft: PageDraft) -> bool:
    """Whether nothing can be found or answered by it: too short when what is no text is gone, or without words.

    Link targets are no text: the link pass writes others, shorter or longer, and a page must not fall below by that.
    """
    text = _LINK_TARGET.sub("]()", draft.body.strip())
    short = len(text) < MIN_BODY and draft.kind != "index" and draft.status is not PageStatus.DEPRECATED
    return short or len(draft.keywords) < FEWEST or len(draft.summary) < SHORTEST


def _too_long(draft: PageDraft) -> Finding:
    return Finding(
        "unsplittable-block",
        Severity.WARNING,
        draft.path,
        f"{len(draft.body)} code points, more than {MAX_BODY}: one table or code block is longer than a page; "
        "cut it in the raw document",
    )


def _not_read(block: UnreadBlock, path: str) -> Finding:
    message = f"front matter kept as text: {block.message}; mend it in the raw document"
    return Finding("raw-front-matter", Severity.WARNING, path, message, block.line)


def _metrics(reading: _Reading, drafts: Sequence[PageDraft]) -> dict[str, float]:
    return {
        "parts": len(drafts),
        "raw_characters": len(reading.document.text),
        "page_characters": sum(len(draft.body) for draft in drafts),
        "sentences": len(reading.prose.sentences),
        "sentences_dropped": len(reading.dropped),
    }
