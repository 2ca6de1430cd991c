"""The pages of a wiki with their links resolved: what every rule between pages asks. No rule.

Kept between two lints, it is brought up to date with what changed, at the price of the change.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from kb_pipeline.markdown.links import LinkResolver, Resolution, Resolved
from kb_pipeline.models import Link, Related, WikiPage


class Wiki:
    """Links and ``related`` of each page with where they lead, and who leads to a page."""

    def __init__(self, pages: Sequence[WikiPage]) -> None:
        self._build(pages)

    def _build(self, pages: Sequence[WikiPage]) -> None:
        self.by_path: dict[str, WikiPage] = {page.path: page for page in pages}
        self.links: dict[str, tuple[tuple[Link, Resolution], ...]] = {}
        self.related: dict[str, tuple[tuple[Related, Resolution], ...]] = {}
        self.inbound: defaultdict[str, set[str]] = defaultdict(set)
        self._resolver = LinkResolver(pages)
        for page in pages:
            self._resolve(page)

    def update(self, pages: Mapping[str, WikiPage], changed: Collection[str]) -> set[str]:
        """Take over ``pages``, of which the ``changed`` differ. Paths of the pages whose findings may differ now.

        A change of a name that links are written with (path, title, alias, heading) means that every link is resolved
        again; any other change touches the page, and those it leads to or is reached from.
        """
        same_names = pages.keys() == self.by_path.keys() and all(
            _names(pages[path]) == _names(self.by_path[path]) for path in changed
        )
        if not same_names:
            self._build(list(pages.values()))
            return set(pages)
        touched = set(changed)
        for path in changed:
            touched |= self._targets(path) | self.inbound[path]
            for target in self._targets(path):
                self.inbound[target].discard(path)
            self.by_path[path] = pages[path]
            self._resolve(pages[path])
            touched |= self._targets(path)
        return touched

    def _resolve(self, page: WikiPage) -> None:
        resolve, resolve_path, path = self._resolver.resolve, self._resolver.resolve_path, page.path
        self.links[path] = tuple((link, resolve(link, path)) for link in page.outline.links)
        self.related[path] = tuple((entry, resolve_path(entry.target, path)) for entry in page.related)
        if not page.is_draft:
            for target in self._targets(path):
                self.inbound[target].add(path)

    def _targets(self, path: str) -> set[str]:
        """Other pages that a page leads to."""
        found = {
            resolution.path
            for _, resolution in (*self.links[path], *self.related[path])
            if isinstance(resolution, Resolved)
        }
        return found - {path}

    def related_paths(self, path: str) -> set[str]:
        return {resolution.path for _, resolution in self.related.get(path, ()) if isinstance(resolution, Resolved)}

    def one_way(self, page: WikiPage) -> list[str]:
        """Paths of published pages that ``page`` names in ``related`` and that do not name it."""
        found = []
        for path in sorted(self.related_paths(page.path) - {page.path}):
            other = self.by_path[path]
            # What a page without readable front matter names is unknown.
            if not other.is_draft and other.fields and page.path not in self.related_paths(path):
                found.append(path)
        return found


def _names(page: WikiPage) -> tuple[object, ...]:
    """All by which a link can name a page or a place in it; block marks and HTML anchors stand in the body."""
    anchors_in_body = "^" in page.body or "<a " in page.body or " id=" in page.body
    headings = tuple((heading.slug, heading.text) for heading in page.outline.headings)
    return page.title, page.aliases, headings, page.body if anchors_in_body else ""
