"""What the pages and review entries say about each document (ORCHESTRATION "order of belief").

Belongs here: grouping provenance by document and judging whether a set of pages is whole. Not here: what follows from
it (see ``planner``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from kb_pipeline.models import PageProvenance, ReviewEntry

INBOX_PREFIX = "_inbox/"
RESCUED = "removed"
"""Verdict of a review entry that keeps pages of a removed document for a person: it says nothing about the document."""


@dataclass(slots=True)
class DocumentEvidence:
    """All that is known about one document from what is committed.

    ``owned``: compiled pages it owns. ``fragments``: (sha256, key or None) of inbox pages that list it. ``covered``:
    sha256 with which a page names it as a further source, or a page written by hand names it at all: a person has
    taken its content in. ``reviews``: its review entries, but those that keep the pages of a removed document.
    """

    owned: list[PageProvenance] = field(default_factory=list)
    fragments: list[tuple[str, str | None]] = field(default_factory=list)
    covered: set[str] = field(default_factory=set)
    reviews: list[ReviewEntry] = field(default_factory=list)

    @property
    def removable(self) -> bool:
        """Something that the product made hangs on the document and has to go with it."""
        return bool(self.owned or self.fragments or self.reviews)

    def hashes(self) -> set[str]:
        """Every content hash that the document is known to have had."""
        known = {page.sources[0].sha256 for page in self.owned}
        known.update(sha256 for sha256, _ in self.fragments)
        known.update(self.covered)
        known.update(entry.sha256 for entry in self.reviews)
        return known

    def merge(self, other: DocumentEvidence) -> None:
        """Take over what was known under another name: a move."""
        self.owned += other.owned
        self.fragments += other.fragments
        self.covered |= other.covered
        self.reviews += other.reviews

    def complete_key(self, sha256: str) -> str | None:
        """The key of the document's page set if it is whole and made from ``sha256``, else None.

        Whole: each part 1..n of n exactly once, all by one key, and nothing beside them: a page or an inbox entry that
        is left over from an interrupted build has to go.
        """
        if not self.owned or self.fragments:
            return None
        key: str | None = None
        for page in self.owned:
            stamp = page.compiled
            if stamp is None or page.sources[0].sha256 != sha256 or key not in {None, stamp.key}:
                return None
            key = stamp.key
        return key if self.parts_whole() else None

    def fragment_key(self, sha256: str) -> tuple[bool, str | None]:
        """Whether the inbox holds ``sha256`` as a fragment, and nothing older of the document, and by which key
        (None: the page has no stamp)."""
        is_current = bool(self.fragments) and all(held == sha256 for held, _ in self.fragments)
        return is_current, next((key for _, key in self.fragments if key), None)

    def parts_whole(self) -> bool:
        """Each part 1..n of n exactly once, whatever the parts were made from."""
        count = len(self.owned)
        return {page.compiled.part for page in self.owned if page.compiled} == {
            f"{index}/{count}" for index in range(1, count + 1)
        }


def gather(pages: Iterable[PageProvenance], reviews: Sequence[ReviewEntry]) -> dict[str, DocumentEvidence]:
    """Evidence by document path, for every document that a page or a review entry names."""
    known: dict[str, DocumentEvidence] = {}

    def of(document: str) -> DocumentEvidence:
        found = known.get(document)
        if found is None:
            found = known[document] = DocumentEvidence()
        return found

    for page in pages:
        if not page.sources:
            continue
        stamp = page.compiled
        if page.path.startswith(INBOX_PREFIX):
            for source in page.sources:
                of(source.path).fragments.append((source.sha256, stamp.key if stamp else None))
        elif stamp is None:
            for source in page.sources:
                of(source.path).covered.add(source.sha256)
        else:
            of(page.sources[0].path).owned.append(page)
            for source in page.sources[1:]:
                of(source.path).covered.add(source.sha256)
    for entry in reviews:
        if entry.verdict != RESCUED:
            of(entry.document).reviews.append(entry)
    return known
