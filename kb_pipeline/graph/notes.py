"""What edges are made of, by page: whom it mentions and who mentions it, which terms it has and who shares them.

Belongs here: noting a page and forgetting it again, in time that depends on that page alone. Does not belong here: edges
(``wiki_graph``), what a reference or a specific term is (``references``, ``terms``).
"""

from __future__ import annotations

from collections.abc import Iterable

from kb_pipeline.graph.references import Mention, mentions_of, names_asked
from kb_pipeline.graph.terms import terms_of
from kb_pipeline.markdown.links import LinkResolver
from kb_pipeline.models import WikiPage


class PageNotes:
    """``stopped`` are folded terms that are not noted."""

    def __init__(self, stopped: frozenset[str]) -> None:
        self._stopped = stopped
        self._mentions: dict[str, dict[str, tuple[Mention, ...]]] = {}
        self._mentioned_by: dict[str, set[str]] = {}
        self._askers: dict[str, set[str]] | None = None
        self._terms: dict[str, frozenset[str]] = {}
        self.pages_by_term: dict[str, set[str]] = {}

    def note(self, page: WikiPage, resolver: LinkResolver) -> None:
        path = page.path
        self._mentions[path] = mentions_of(page, resolver)
        for target in self._mentions[path]:
            self._mentioned_by.setdefault(target, set()).add(path)
        if self._askers is not None:
            _add_asker(self._askers, page)
        self._terms[path] = terms_of(page, self._stopped)
        for term in self._terms[path]:
            self.pages_by_term.setdefault(term, set()).add(path)

    def forget(self, page: WikiPage) -> None:
        """Undo :meth:`note`; ``page`` is what was noted."""
        path = page.path
        for target in self._mentions.pop(path):
            _discard(self._mentioned_by, target, path)
        if self._askers is not None:
            for name in names_asked(page):
                _discard(self._askers, name, path)
        for term in self._terms.pop(path):
            _discard(self.pages_by_term, term, path)

    def mentions(self, path: str, target: str) -> tuple[Mention, ...]:
        """How one page refers to another; () when it does not."""
        return self._mentions[path].get(target, ())

    def linked(self, path: str) -> set[str]:
        """Pages that a page mentions or is mentioned by."""
        return {*self._mentions[path], *self._mentioned_by.get(path, ())}

    def outgoing(self) -> Iterable[tuple[str, Iterable[str]]]:
        """Each page with those that it mentions."""
        return self._mentions.items()

    def terms(self, path: str) -> frozenset[str]:
        return self._terms[path]

    def askers(self, names: Iterable[str], pages: Iterable[WikiPage]) -> set[str]:
        """Pages with a reference that one of these names could answer.

        ``pages`` are those noted now: the table is made of them when it is first asked for and kept from then on, since
        only a graph that is updated needs it.
        """
        names = list(names)
        if not names:
            return set()
        if self._askers is None:
            self._askers = {}
            for page in pages:
                _add_asker(self._askers, page)
        return {path for name in names for path in self._askers.get(name, ())}


def _add_asker(askers: dict[str, set[str]], page: WikiPage) -> None:
    for name in names_asked(page):
        askers.setdefault(name, set()).add(page.path)


def _discard(index: dict[str, set[str]], key: str, path: str) -> None:
    members = index[key]
    members.discard(path)
    if not members:
        del index[key]
