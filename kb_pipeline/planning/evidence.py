"""What the pages and review entries say about each document (ORCHESTRATION "order of belief").

Belongs here: provenance by document, and whether a set of pages is whole. Not here: what follows from it (``planner``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kb_pipeline.models import PageProvenance, ReviewEntry

INBOX_PREFIX = "_inbox/"
RESCUED = "removed"
"""Verdict of a review entry that keeps pages of a removed document for a person: it says nothing about the document."""


class Evidence:
    """All that is known about documents from what is committed, by document path.

    ``owned``: compiled pages that a document owns. ``fragments``: (sha256, key or None) with which inbox pages list it.
    ``covered``: sha256 with which a page names it as a further source, or a page written by hand names it at all: a
    person has taken its content in. ``reviews``: its review entries, but those that keep pages of a removed document.
    """

    __slots__ = ("covered", "fragments", "owned", "reviews")

    def __init__(self, pages: Iterable[PageProvenance], reviews: Sequence[ReviewEntry]) -> None:
        self.owned: dict[str, list[PageProvenance]] = {}
        self.fragments: dict[str, list[tuple[str, str | None]]] = {}
        self.covered: dict[str, set[str]] = {}
        self.reviews: dict[str, list[ReviewEntry]] = {}
        for page in pages:
            sources = page.sources
            if sources:
                stamp = page.compiled
                if page.path.startswith(INBOX_PREFIX):
                    for source in sources:
                        listed = (source.sha256, stamp.key if stamp else None)
                        self.fragments.setdefault(source.path, []).append(listed)
                else:
                    if stamp is not None:
                        self.owned.setdefault(sources[0].path, []).append(page)
                    if stamp is None or len(sources) > 1:
                        for source in sources[0 if stamp is None else 1 :]:
                            self.covered.setdefault(source.path, set()).add(source.sha256)
        for entry in reviews:
            if entry.verdict != RESCUED:
                self.reviews.setdefault(entry.document, []).append(entry)

    def __contains__(self, document: str) -> bool:
        return self.is_removable(document) or document in self.covered

    def documents(self) -> Iterator[str]:
        """Every document that anything is known of."""
        yield from self.removable()
        for document in self.covered:
            if not self.is_removable(document):
                yield document

    def removable(self) -> set[str]:
        """Documents on which something hangs that the product made and that has to go with them."""
        return {*self.owned, *self.fragments, *self.reviews}

    def is_removable(self, document: str) -> bool:
        return document in self.owned or document in self.fragments or document in self.reviews

    def hashes(self, document: str) -> set[str]:
        """Every content hash that the document is known to have had."""
        known = {page.sources[0].sha256 for page in self.owned.get(document, ())}
        known.update(sha256 for sha256, _ in self.fragments.get(document, ()))
        known.update(self.covered.get(document, ()))
        known.update(entry.sha256 for entry in self.reviews.get(document, ()))
        return known

    def rename(self, old: str, new: str) -> None:
        """All that was known under ``old`` is now known under ``new``, of which nothing was known: a move."""
        by_document: dict[str, object]
        for by_document in (self.owned, self.fragments, self.covered, self.reviews):  # type: ignore[assignment] # only moved
            if old in by_document:
                by_document[new] = by_document.pop(old)

    def made_by(self, document: str, sha256: str, default: str) -> str | None:
        """The key by which the document is done with this content, None when it is not. ``default``: for content that
        a person took in."""
        pages = self.owned.get(document)
        listed = self.fragments.get(document)
        if pages:
            return None if listed else _key_of_set(pages, sha256)
        if listed:
            if any(held != sha256 for held, _ in listed):
                return None
            return next((key for _, key in listed if key), default)
        return default if sha256 in self.covered.get(document, ()) else None

    def parts_whole(self, document: str) -> bool:
        """The document has pages, and each part 1..n of n exactly once, whatever they were made from."""
        return _parts_whole(self.owned.get(document, []))

    def verdict(self, document: str, sha256: str, key: str) -> ReviewEntry | None:
        """The review entry for exactly this content and key; a refusal outranks an acceptance."""
        found = [entry for entry in self.reviews.get(document, ()) if entry.sha256 == sha256 and entry.key == key]
        return min(found, key=lambda entry: (entry.verdict == "accepted", entry.verdict), default=None)


def _key_of_set(pages: Sequence[PageProvenance], sha256: str) -> str | None:
    """The key of a set of pages that is whole and was made from ``sha256`` by one key, else None.

    Any page beside such a set, left over from an interrupted build, makes it no set.
    """
    key: str | None = None
    for page in pages:
        stamp = page.compiled
        if stamp is None or page.sources[0].sha256 != sha256 or key not in {None, stamp.key}:
            return None
        key = stamp.key
    return key if _parts_whole(pages) else None


def _parts_whole(pages: Sequence[PageProvenance]) -> bool:
    count = len(pages)
    if count == 1:
        return pages[0].compiled is not None and pages[0].compiled.part == "1/1"
    parts = {page.compiled.part for page in pages if page.compiled}
    return count > 0 and parts == {f"{index}/{count}" for index in range(1, count + 1)}
