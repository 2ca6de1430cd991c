"""Wiki pages and what a parse of one tells (SPEC 4, 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum

UNRESOLVED_SCOPE = "[需人工確認 scope]"
"""What stands in ``scope`` where nothing tells which system a page speaks of: a person has to say (SPEC 6.9, 9)."""


class PageStatus(StrEnum):
    CURRENT = "current"
    DEPRECATED = "deprecated"
    DRAFT = "draft"


class LinkKind(StrEnum):
    WIKILINK = "wikilink"
    EMBED = "embed"
    MARKDOWN = "markdown"
    IMAGE = "image"
    RELATED = "related"


@dataclass(frozen=True, slots=True)
class Heading:
    """``slug`` is unique in the page (GitHub's way: repeated ones get -1, -2 …); ``line`` is 1-based in the file."""

    level: int
    text: str
    slug: str
    line: int


@dataclass(frozen=True, slots=True)
class Section:
    """An H2, H3 or H4 and the text that is its own; or the lead before the first of them (``level`` 1).

    ``section_id``: stable slug path (``h2/h3``), unique in the page; the lead is ``_lead``.
    ``slug``: the heading's page-unique anchor, "" for the lead. ``text``: own text without the heading line and
    without sub-sections, exactly as written. ``line``..``end_line``: 1-based, inclusive, in the file (an empty lead ends
    before its line). ``parent``: section_id of the section around it. ``breadcrumb``: headings from the outermost
    section down to this one, the page's title not among them; empty for the lead. A further H1 is a section too.
    """

    section_id: str
    slug: str
    level: int
    title: str
    parent: str | None
    breadcrumb: tuple[str, ...]
    text: str
    line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class Link:
    """A link as written. ``target`` is decoded (%20, angle brackets, escaped bar), without anchor; "" for ``[[#x]]``.

    ``start``/``end`` are code point offsets in the body text that was parsed, so that it can be replaced.
    """

    kind: LinkKind
    target: str
    anchor: str | None
    label: str | None
    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class CodeFence:
    language: str
    line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class Table:
    line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class ParseProblem:
    """Why a page or its front matter could not be read as written. ``code`` names the lint rule that reports it."""

    code: str
    message: str
    line: int | None = None
    field: str | None = None


@dataclass(frozen=True, slots=True)
class BodyOutline:
    """What one parse of a body yields. Lines are 1-based in the file (see ``parse_body``'s ``first_line``)."""

    headings: tuple[Heading, ...]
    sections: tuple[Section, ...]
    links: tuple[Link, ...]
    fences: tuple[CodeFence, ...]
    tables: tuple[Table, ...]
    first_paragraph: str


@dataclass(frozen=True, slots=True)
class SourceRef:
    """Provenance of a page: a raw document and the content hash it had (hex SHA-256)."""

    path: str
    sha256: str


@dataclass(frozen=True, slots=True)
class CompiledStamp:
    """Who wrote a page and what was written.

    ``key`` hashes rewriter, model, prompt and rules; ``part`` is ``"2/3"``; ``sha256`` is the fingerprint of the page
    as the product wrote it: another fingerprint now means that a person edited it.
    """

    by: str
    key: str
    part: str
    sha256: str

    @property
    def index(self) -> int:
        return int(self.part.partition("/")[0])

    @property
    def count(self) -> int:
        return int(self.part.partition("/")[2])


@dataclass(frozen=True, slots=True)
class Related:
    """``target`` is a page path, optionally with ``#anchor``; ``comment`` is the relation in words."""

    target: str
    comment: str | None = None

    @property
    def path(self) -> str:
        return self.target.partition("#")[0]


@dataclass(frozen=True, slots=True)
class WikiPage:
    """One page as read. Unreadable parts are empty and explained in ``problems``; nothing here raises.

    ``path`` is relative to ``knowledge/``, POSIX, NFC. ``body`` has LF line ends and begins after the front matter;
    ``body_line`` is its first line's number in the file. ``fingerprint`` hashes title, scope, summary, keywords,
    status and body (SPEC 5). ``content_sha256`` hashes the decoded file with LF line ends.
    ``fields`` are the front matter keys present, in the order found; ``field_lines`` the 1-based line of each in the
    file, for messages.
    """

    path: str
    title: str = ""
    scope: str = ""
    summary: str = ""
    keywords: tuple[str, ...] = ()
    related: tuple[Related, ...] = ()
    updated: date | None = None
    status: PageStatus | None = None
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    kind: str | None = None
    evergreen: bool = False
    sources: tuple[SourceRef, ...] = ()
    compiled: CompiledStamp | None = None
    extra: Mapping[str, object] = field(default_factory=dict)
    fields: tuple[str, ...] = ()
    field_lines: Mapping[str, int] = field(default_factory=dict)
    body: str = ""
    body_line: int = 1
    outline: BodyOutline = BodyOutline((), (), (), (), (), "")
    problems: tuple[ParseProblem, ...] = ()
    fingerprint: str = ""
    content_sha256: str = ""

    @property
    def owner(self) -> str | None:
        """The raw document that the page comes from; None for one written by hand."""
        return self.sources[0].path if self.sources else None

    @property
    def edited_by_hand(self) -> bool:
        """A compiled page whose text is no longer what the product wrote."""
        return self.compiled is not None and self.compiled.sha256 != self.fingerprint

    @property
    def domain(self) -> str:
        """First folder under ``knowledge/``; "." for a page at the root."""
        head, slash, _ = self.path.partition("/")
        return head if slash else "."

    @property
    def concept_name(self) -> str:
        """The page's path without its suffix: its name in the vector store and the APIs."""
        return self.path.removesuffix(".md")

    @property
    def is_draft(self) -> bool:
        return self.status is PageStatus.DRAFT


@dataclass(frozen=True, slots=True)
class PageDraft:
    """What a rewriter wants written: a page without a stamp. ``path`` is relative to ``knowledge/``, chosen by naming.

    ``body`` begins with the H1. ``aliases`` lets links by a raw document's written name find the page.
    """

    path: str
    title: str
    scope: str
    summary: str
    keywords: tuple[str, ...]
    body: str
    updated: date
    status: PageStatus = PageStatus.CURRENT
    related: tuple[Related, ...] = ()
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    kind: str | None = None
    evergreen: bool = False
    extra: Mapping[str, object] = field(default_factory=dict)
