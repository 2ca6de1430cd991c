"""What the pages and review entries say about each document (ORCHESTRATION "order of belief").

Belongs here: grouping provenance by document and judging whether a set of pages is whole. Not here: what follows from
it (see ``planner``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from kb_pipeline.models import PageProvenance, ReviewEntry

INBOX_PREFIX = "_inbox/"


@dataclass(slots=True)
class DocumentEvidence:
    """All that is known about one document from what is committed.

    ``owned``: compiled pages it owns. ``fragments``: (sha256, key or None) of inbox pages that list it. ``covered``:
    sha256 with which a page names it as a further source, or a hand-written page names it at all. ``fed``: whether a
    compiled page of another owner lists it. ``reviews``: its review entries.
    """

    owned: list[PageProvenance] = field(default_factory=list)
    fragments: list[tuple[str, str | None]] = field(default_factory=list)
    covered: set[str] = field(default_factory=set)
    fed: bool = False
    reviews: list[ReviewEntry] = field(default_factory=list)

    @property
    def removable(self) -> bool:
        """Something of the product's hangs on the document and has to go with it."""
        return bool(self.owned or self.fragments or self.fed or self.reviews)

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
        self.fed = self.fed or other.fed
        self.reviews += other.reviews

    def complete_key(self, sha256: str) -> str | None:
        """The key of the document's page set if it is whole and made from ``sha256``, else None.

        Whole: each part 1..n of n exactly once, all by one key, and no owned page beside them (one that is left over
        from an interrupted build has to go).
        """
        if not self.owned:
            return None
        key: str | None = None
        for page in self.owned:
            stamp = page.compiled
            if stamp is None or page.sources[0].sha256 != sha256 or key not in {None, stamp.key}:
                return None
            key = stamp.key
        return key if self.parts_whole() else None

    def fragment_key(self, sha256: str) -> tuple[bool, str | None]:
        """Whether an inbox page holds ``sha256`` as a fragment, and by which key (None: the page has no stamp)."""
        keys = [key for held, key in self.fragments if held == sha256]
        return bool(keys), next((key for key in keys if key), None)

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
                evidence = of(source.path)
                evidence.covered.add(source.sha256)
                evidence.fed = True
    for entry in reviews:
        of(entry.document).reviews.append(entry)
    return known
