"""The compiled pages of a wiki while a sync changes them: who owns what, written through to disk at once.

Belongs here: the folder of pages seen by owner. Does not belong here: the order of a sync (``building.sync``).
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from kb_pipeline.errors import PageWriteError
from kb_pipeline.markdown.decoding import decode_text
from kb_pipeline.markdown.front_matter import set_fields
from kb_pipeline.markdown.pages import read_page, render_page
from kb_pipeline.models import Finding, PageDraft, RawEntry, SourceRef, WikiPage
from kb_pipeline.ports import Rewriter
from kb_pipeline.rewriting.inbox import INBOX_FOLDER
from kb_pipeline.rewriting.naming import PART_SEPARATOR
from kb_pipeline.rewriting.relations import MARKS
from kb_pipeline.rewriting.review import ReviewQueue
from kb_pipeline.storage.pages import PageFolder

_HEX = re.compile(r"[0-9a-f]{64}")
RESCUED = "removed"
"""Verdict of a review entry that keeps pages of a removed document for a person."""


class CompiledPages:
    """All pages as they are now. ``written`` and ``deleted`` list the paths that this object has changed."""

    def __init__(self, folder: PageFolder, reviews: ReviewQueue, rewriter: Rewriter) -> None:
        self._folder = folder
        self._reviews = reviews
        self._rewriter = rewriter
        self._pages = dict(folder.load_all())
        self._by_owner: dict[str, set[str]] = defaultdict(set)
        self._by_source: dict[str, set[str]] = defaultdict(set)
        self._folded: dict[str, str] = {}
        for page in self._pages.values():
            self._index(page)
        self.written: set[str] = set()
        self.deleted: set[str] = set()

    def all(self) -> dict[str, WikiPage]:
        """Every page by path, those written by hand too."""
        return self._pages

    def ownership(self) -> dict[str, tuple[str, ...]]:
        """Raw document → its pages in order of part."""
        return {document: self.paths_of(document) for document, paths in self._by_owner.items() if paths}

    def of(self, document: str) -> tuple[WikiPage, ...]:
        """The pages that a document owns, by part."""
        pages = [self._pages[path] for path in self._by_owner.get(document, ())]
        return tuple(sorted(pages, key=lambda page: (page.compiled.index if page.compiled else 0, page.path)))

    def paths_of(self, document: str) -> tuple[str, ...]:
        return tuple(page.path for page in self.of(document))

    def base_of(self, document: str) -> str | None:
        """The name that the document's pages have now (its first part's), None when it has none.

        A further part is called ``<base>--<heading>`` and tells the base also while the first part is missing.
        """
        pages = self.of(document)
        if not pages:
            return None
        first = pages[0]
        whole = first.compiled is None or first.compiled.index == 1
        return first.concept_name if whole else first.concept_name.partition(PART_SEPARATOR)[0]

    def owners(self) -> dict[str, str]:
        """Page path → owner, "" for a page written by hand."""
        return {path: _owner(page) or "" for path, page in self._pages.items()}

    def edited_pages_of(self, document: str) -> list[str]:
        return [page.path for page in self.of(document) if page.edited_by_hand]

    def text(self, path: str) -> str:
        """A page's text as it is on disk; "" when there is none."""
        if path not in self._pages:
            return ""
        return decode_text(self._folder.read_text(path))

    def store(self, path: str, text: str) -> WikiPage:
        """Write a page's text, unless it stands there already."""
        if self._folder.write(path, text):
            self.written.add(path)
            self.deleted.discard(path)
        page = self._folder.read_written(path, text)
        self._unindex(path)
        self._pages[path] = page
        self._index(page)
        return page

    def delete(self, path: str) -> None:
        self._folder.delete(path)
        self._unindex(path)
        self._pages.pop(path, None)
        self.written.discard(path)
        self.deleted.add(path)

    def rekey(self, old: str, new: str) -> list[str]:
        """Say another name for a source in every page that names it. The fingerprint does not cover sources.

        Returns what could not be written, one line a page: a page that a person broke keeps the old name.
        """
        problems = []
        for page in [self._pages[path] for path in sorted(self._by_source.get(old, ()))]:
            sources = [
                {"path": new if source.path == old else source.path, "sha256": source.sha256} for source in page.sources
            ]
            try:
                self.store(page.path, set_fields(self.text(page.path), {"sources": sources}))
            except PageWriteError as error:
                problems.append(f"{page.path} still names {old} as its source: {error}")
        return problems

    def remove(self, document: str) -> tuple[str, ...]:
        """Delete what a document owns. A page that other documents feed too, or that a person edited, goes to review
        first, so that nothing a person wrote is lost. Returns the deleted paths."""
        pages = self.of(document)
        rescued = {page.path: self.text(page.path) for page in pages if page.edited_by_hand or len(page.sources) > 1}
        if rescued:
            source = pages[0].sources[0]
            stamp = pages[0].compiled
            reason = "the raw document is gone; these pages were edited by hand or have other sources"
            # Under a name of its own: a later version of the document would replace or clear an entry of its name.
            digest = hashlib.sha256("\0".join(f"{path}\0{rescued[path]}" for path in sorted(rescued)).encode())
            name = f"{document}.{RESCUED}-{digest.hexdigest()[:6]}"
            # What a person edited may bear any hash: the entry must not be refused for it.
            sha256 = source.sha256 if _HEX.fullmatch(source.sha256) else digest.hexdigest()
            self._reviews.hold(name, sha256, stamp.key if stamp else "", RESCUED, reason, rescued, {}, ())
        for page in pages:
            self.delete(page.path)
        return tuple(page.path for page in pages)

    def write(self, entry: RawEntry, drafts: Sequence[PageDraft]) -> tuple[str, ...]:
        """Write a document's pages, then delete the ones that it no longer has.

        In this order a crash leaves an incomplete set, which the planner sees. A page whose words did not change keeps
        its date.
        """
        old = {page.path: page for page in self.of(entry.path)}
        count = len(drafts)
        own = set(old)
        paths = []
        for index, draft in enumerate(drafts, start=1):
            path = self._free_path(draft.path, entry)
            before = old.pop(path, None)
            kept = _carried_over(replace(draft, path=path), before, own)
            self.store(path, self._rendered(kept, entry, f"{index}/{count}"))
            paths.append(path)
        for path in old:
            self.delete(path)
        return tuple(paths)

    def hold(
        self, entry: RawEntry, verdict: str, reason: str, drafts: Sequence[PageDraft], findings: Sequence[Finding]
    ) -> None:
        """Put drafts into review beside what stands now; the pages are not touched."""
        count = len(drafts)
        texts = {
            draft.path: self._rendered(draft, entry, f"{index}/{count}") for index, draft in enumerate(drafts, start=1)
        }
        base = {page.path: self.text(page.path) for page in self.of(entry.path) if not page.edited_by_hand}
        self._reviews.hold(
            entry.path, entry.sha256 or "", self._rewriter.key, verdict, reason, texts, base if drafts else {}, findings
        )

    def _rendered(self, draft: PageDraft, entry: RawEntry, part: str) -> str:
        source = SourceRef(entry.path, entry.sha256 or "")
        return render_page(draft, [source], by=self._rewriter.name, key=self._rewriter.key, part=part)

    def _free_path(self, wanted: str, entry: RawEntry) -> str:
        """``wanted``, or a name with a hash of the document's where a page of another owner stands there.

        The hash is of its path: the next version of the document gets the same name.
        """
        stem, digest = (
            wanted.removesuffix(".md"),
            hashlib.sha256(entry.path.encode("utf-8", "surrogateescape")).hexdigest(),
        )
        names = (wanted, *(f"{stem}-{digest[:length]}.md" for length in range(6, len(digest) + 1)))
        for name in names:
            holder = self._pages.get(self._folded.get(_fold(name), ""))
            if holder is None or _owner(holder) == entry.path:
                return name
        raise PageWriteError(
            f"no free name for the page {wanted} of {entry.path}: move the pages that stand there away"
        )

    def _index(self, page: WikiPage) -> None:
        self._folded[_fold(page.path)] = page.path
        owner = _owner(page)
        if owner is not None:
            self._by_owner[owner].add(page.path)
        for source in page.sources:
            self._by_source[source.path].add(page.path)

    def _unindex(self, path: str) -> None:
        self._folded.pop(_fold(path), None)
        page = self._pages.get(path)
        owner = _owner(page) if page is not None else None
        if owner is not None:
            self._by_owner[owner].discard(path)
        for source in page.sources if page is not None else ():
            self._by_source[source.path].discard(path)


def _owner(page: WikiPage) -> str | None:
    """The document that a compiled page comes from. Inbox pages belong to a month, not to a document."""
    if page.compiled is None or not page.sources or page.path.startswith(f"{INBOX_FOLDER}/"):
        return None
    return page.sources[0].path


def _carried_over(draft: PageDraft, before: WikiPage | None, own: set[str]) -> PageDraft:
    """The draft with the date of a page whose words are the same, and with what a person wrote under ``related``.

    ``own``: the document's other pages, which it names itself.
    """
    if before is None:
        return draft
    taken = {related.path for related in draft.related} | own
    written = [entry for entry in before.related if entry.comment not in MARKS and entry.path not in taken]
    related = (*draft.related, *written)
    same = (before.title, before.scope, before.summary) == (draft.title, draft.scope, draft.summary)
    if same and before.updated is not None and _words(before.body, before) == _words(draft.body, None):
        return replace(draft, related=related, updated=before.updated)
    return replace(draft, related=related)


def _words(body: str, page: WikiPage | None) -> str:
    """The body without the targets of its links, which the link pass rewrites."""
    outline = page.outline if page is not None else read_page("draft.md", body.encode()).outline
    pieces, position = [], 0
    for link in outline.links:
        pieces += [body[position : link.start], link.label or link.target]
        position = link.end
    return "".join([*pieces, body[position:]])


def _fold(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()
