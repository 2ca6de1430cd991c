"""The inbox pages while a sync changes them: which fragment is in which month.

Belongs here: adding, dropping and renaming fragments, and which month's page has to be written anew. Does not belong
here: the text of the page (``rewriting.inbox``), what is a fragment (the rewriter).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from kb_pipeline.markdown.front_matter import set_fields
from kb_pipeline.models import Fragment, WikiPage
from kb_pipeline.rewriting.inbox import INBOX_FOLDER, inbox_path, render_inbox

_MONTH = re.compile(rf"{INBOX_FOLDER}/(\d{{4}}-(?:0[1-9]|1[0-2]))\.md")
_CLOSED = frozenset(
    {
        "unreadable-text",
        "front-matter-unclosed",
        "front-matter-yaml",
        "front-matter-not-mapping",
        "front-matter-duplicate-key",
    }
)
"""Problems with which a page's ``sources`` can be neither read nor written without loss."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """A fragment as the inbox holds it; ``text`` is empty where a person's page has it in a form of its own."""

    text: str
    sha256: str
    key: str


class Inbox:
    """All inbox pages that stand, by path. One that a person wrote, renamed or edited is added to, never written anew;
    one whose front matter is broken is left alone, and what belongs there has to wait (``closed``)."""

    def __init__(self, language: str, key: str) -> None:
        self._language = language
        self._key = key
        self._fragments: dict[str, dict[str, _Kept]] = {}
        self._by_document: dict[str, set[str]] = defaultdict(set)
        self._edited: dict[str, WikiPage] = {}
        self._closed: dict[str, str] = {}
        self._changed: set[str] = set()

    @classmethod
    def of(cls, pages: Iterable[WikiPage], language: str, key: str) -> Inbox:
        """Read the fragments from the pages: each H2 is one, in the order of ``sources``."""
        inbox = cls(language, key)
        for page in pages:
            if page.path.startswith(f"{INBOX_FOLDER}/"):
                inbox._take_in(page)
        return inbox

    def _take_in(self, page: WikiPage) -> None:
        broken = next((problem for problem in page.problems if problem.code in _CLOSED), None)
        if broken is not None:
            self._closed[page.path] = broken.message
            return
        texts = [section.text.strip() for section in page.outline.sections if section.level == 2]
        ours = page.compiled is not None and not page.edited_by_hand and _MONTH.fullmatch(page.path) is not None
        whole = ours and len(texts) == len(page.sources)
        made_by = page.compiled.key if page.compiled is not None else self._key
        self._fragments[page.path] = {
            source.path: _Kept(texts[place] if whole else "", source.sha256, made_by)
            for place, source in enumerate(page.sources)
        }
        for source in page.sources:
            self._by_document[source.path].add(page.path)
        if not whole:
            self._edited[page.path] = page

    def closed(self, month: str) -> str | None:
        """Why nothing can be added to the page of a month; None when it can."""
        path = inbox_path(month)
        fault = self._closed.get(path)
        return (
            None if fault is None else f"{path} cannot be added to: {fault}; mend it or move it away, then build again"
        )

    def key_of(self, document: str) -> str:
        """The key by which the page was made that holds a document; "" when none does."""
        return next((self._fragments[path][document].key for path in sorted(self._by_document.get(document, ()))), "")

    def put(self, document: str, sha256: str, fragment: Fragment) -> str:
        """Add or replace a fragment; returns the page that will hold it. Only while ``closed`` gives None."""
        self.drop(document)
        path = inbox_path(fragment.month)
        self._fragments.setdefault(path, {})[document] = _Kept(fragment.text, sha256, self._key)
        self._by_document[document].add(path)
        self._changed.add(path)
        return path

    def drop(self, document: str) -> None:
        """Forget a document that is gone, or that has pages of its own now."""
        for path in self._by_document.pop(document, ()):
            del self._fragments[path][document]
            self._changed.add(path)

    def rekey(self, old: str, new: str) -> None:
        """Know a document by its new name."""
        for path in self._by_document.pop(old, ()):
            self._fragments[path][new] = self._fragments[path].pop(old)
            self._by_document[new].add(path)
            self._changed.add(path)

    def changes(self, read: Callable[[str], str]) -> Iterator[tuple[str, str | None]]:
        """Page path → its new text, None where the month has no fragment left. ``read``: a page's text on disk."""
        for path in sorted(self._changed):
            fragments, edited = self._fragments[path], self._edited.get(path)
            if edited is not None:
                yield path, self._added_to(edited, read(path), fragments)
            elif fragments:
                # What is still as older rules made it says so for the whole page: --upgrade has to find it.
                key = next((kept.key for kept in fragments.values() if kept.key != self._key), self._key)
                yield path, self._rendered(path, fragments, key)
            else:
                yield path, None

    def _rendered(self, path: str, fragments: dict[str, _Kept], key: str) -> str:
        texts = {document: (kept.text, kept.sha256) for document, kept in fragments.items()}
        found = _MONTH.fullmatch(path)
        assert found is not None, path  # noqa: S101 - pages of another name count as edited
        return render_inbox(found[1], texts, self._language, key)

    def _added_to(self, page: WikiPage, text: str, fragments: dict[str, _Kept]) -> str:
        """An edited page with what is new at its end; what a person took out stays out, what left ``raw/`` stays in."""
        known = {source.path: source.sha256 for source in page.sources}
        for document, kept in sorted(fragments.items()):
            if known.get(document) != kept.sha256 and kept.text:
                rendered = self._rendered(page.path, {document: kept}, self._key)
                section = rendered[rendered.index("\n## ") + 1 :]
                text = f"{text.rstrip()}\n\n{section.rstrip()}\n"
        sources = [{"path": document, "sha256": kept.sha256} for document, kept in sorted(fragments.items())]
        return set_fields(text, {"sources": sources or None})
