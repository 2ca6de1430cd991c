"""The inbox pages while a sync changes them: which fragment is in which month.

Belongs here: adding, dropping and renaming fragments, and which month's page has to be written anew. Does not belong
here: the text of the page (``rewriting.inbox``), what is a fragment (the rewriter).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from kb_pipeline.markdown.front_matter import set_fields
from kb_pipeline.models import Fragment, WikiPage
from kb_pipeline.rewriting.inbox import INBOX_FOLDER, inbox_path, render_inbox


@dataclass(frozen=True, slots=True)
class _Kept:
    """A fragment as the inbox holds it."""

    text: str
    sha256: str


class Inbox:
    """All months, by the pages that stand. A page that a person edited is added to and never written anew."""

    def __init__(self, language: str, key: str) -> None:
        self._language = language
        self._key = key
        self._months: dict[str, dict[str, _Kept]] = {}
        self._edited: dict[str, WikiPage] = {}
        self._changed: set[str] = set()

    @classmethod
    def of(cls, pages: Iterable[WikiPage], language: str, key: str) -> Inbox:
        """Read the months from the pages: each H2 is one fragment, in the order of ``sources``."""
        inbox = cls(language, key)
        for page in pages:
            if not page.path.startswith(f"{INBOX_FOLDER}/") or page.compiled is None:
                continue
            month = page.path.removeprefix(f"{INBOX_FOLDER}/").removesuffix(".md")
            texts = [section.text.strip() for section in page.outline.sections if section.level == 2]
            whole = len(texts) == len(page.sources) and not page.edited_by_hand
            inbox._months[month] = {
                source.path: _Kept(texts[place] if whole else "", source.sha256)
                for place, source in enumerate(page.sources)
            }
            if not whole:
                inbox._edited[month] = page
        return inbox

    def put(self, document: str, sha256: str, fragment: Fragment) -> str:
        """Add or replace a fragment; returns the page that will hold it."""
        self.drop(document)
        self._months.setdefault(fragment.month, {})[document] = _Kept(fragment.text, sha256)
        self._changed.add(fragment.month)
        return inbox_path(fragment.month)

    def drop(self, document: str) -> None:
        for month, fragments in self._months.items():
            if fragments.pop(document, None) is not None:
                self._changed.add(month)

    def rekey(self, old: str, new: str) -> None:
        for month, fragments in self._months.items():
            kept = fragments.pop(old, None)
            if kept is not None:
                fragments[new] = kept
                self._changed.add(month)

    def changes(self, read: Callable[[str], str]) -> Iterator[tuple[str, str | None]]:
        """Page path → its new text, None where the month has no fragment left. ``read``: a page's text on disk."""
        for month in sorted(self._changed):
            fragments, edited = self._months[month], self._edited.get(month)
            path = inbox_path(month)
            if edited is not None:
                yield path, self._added_to(edited, read(path), fragments)
            elif fragments:
                texts = {document: (kept.text, kept.sha256) for document, kept in fragments.items()}
                yield path, render_inbox(month, texts, self._language, self._key)
            else:
                yield path, None

    @staticmethod
    def _added_to(page: WikiPage, text: str, fragments: dict[str, _Kept]) -> str:
        """An edited page with what is new at its end; what a person took out stays out, what left ``raw/`` stays in."""
        known = {source.path: source.sha256 for source in page.sources}
        for document, kept in sorted(fragments.items()):
            if known.get(document) != kept.sha256 and kept.text:
                text = f"{text.rstrip()}\n\n## {document}\n\n{kept.text}\n"
        sources = [{"path": document, "sha256": kept.sha256} for document, kept in sorted(fragments.items())]
        return set_fields(text, {"sources": sources or None})
