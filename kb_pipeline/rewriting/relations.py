"""``related`` of compiled pages, derived from the links between them and made mutual (SPEC 5, 6.5).

Belongs here: which pages name each other, from names and links alone. Does not belong here: finding the links
(``linking``), judging what stands there (``lint``).

An entry made here carries one of ``MARKS`` as its relation comment: it says why it is there, and the next pass may take
it away again. Every other entry is a rewriter's or a person's and is never dropped. The result depends on the pages,
not on the order in which they changed, so that building again from nothing gives the same.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from kb_pipeline.models import Finding, PageStatus, Related, Severity, WikiPage

MOST = 8
"""Entries that the product makes a page have (SPEC 5); a person may write more."""

LINKED = {"zh-TW": "內文連結", "en": "linked in the text"}
ANSWERED = {"zh-TW": "對方頁面列出", "en": "listed by that page"}
MARKS = frozenset((*LINKED.values(), *ANSWERED.values()))


@dataclass(frozen=True, slots=True)
class Relations:
    """``related`` of each page that may be changed, and what could not be made mutual."""

    related: Mapping[str, tuple[Related, ...]]
    findings: tuple[Finding, ...]


def derive_relations(
    pages: Mapping[str, WikiPage],
    languages: Mapping[str, str],
    links: Iterable[tuple[str, str]],
    resolve: Callable[[str, str], str | None],
) -> Relations:
    """``languages``: of each page that may be changed. ``links``: page → page, as found in bodies, and between neighbouring parts. ``resolve(target, from_path)``: the
    page that a written entry means.

    Pairs that link to each other come first, then those whose pages have the fewest links: a pair says more about a
    page with two links than about one with two hundred.
    """
    lists = _Lists(pages, languages, resolve)
    findings = lists.answer()
    directions: Counter[tuple[str, str]] = Counter()
    for source, target in set(links):
        if source != target and lists.may_pair(source) and lists.may_pair(target):
            directions[(source, target) if source < target else (target, source)] += 1
    degree = Counter(path for pair in directions for path in pair)
    order = sorted(directions, key=lambda pair: (-directions[pair], degree[pair[0]] + degree[pair[1]], pair))
    for pair in order:
        lists.pair(*pair)
    return Relations({path: lists.in_order(path) for path in languages}, tuple(findings))


class _Lists:
    """The lists while they grow."""

    def __init__(
        self, pages: Mapping[str, WikiPage], languages: Mapping[str, str], resolve: Callable[[str, str], str | None]
    ) -> None:
        self._pages = pages
        self._changeable = languages
        self.entries: dict[str, list[Related]] = defaultdict(list)
        self._named: dict[str, set[str]] = defaultdict(set)
        self._declared: list[tuple[str, str]] = []
        for path, page in pages.items():
            for entry in page.related:
                if path in languages and entry.comment in MARKS:
                    continue
                self.entries[path].append(entry)
                target = resolve(entry.path, path)
                if target is not None and target != path:
                    self._named[path].add(target)
                    self._declared.append((path, target))

    def may_pair(self, path: str) -> bool:
        """A page of links alone would name all of its pages; an outdated one should not be proposed."""
        page = self._pages[path]
        return path in self._changeable and page.kind != "index" and page.status is PageStatus.CURRENT

    def answer(self) -> list[Finding]:
        """Name each page that names another one there too. What cannot be is told."""
        findings = []
        for source, target in sorted(self._declared):
            if source in self._named[target] or self._pages[source].is_draft or self._pages[target].is_draft:
                continue
            if target in self._changeable and self._has_room(target):
                self._add(target, source, ANSWERED)
                continue
            why = f"already has {MOST} entries" if target in self._changeable else "is not the product's to change"
            message = (
                f"{source} lists {target} as related, not the other way: {target} {why}; add it there or drop it here"
            )
            findings.append(Finding("related-one-sided", Severity.WARNING, source, message, field="related", own=False))
        return findings

    def pair(self, one: str, other: str) -> None:
        missing = [(a, b) for a, b in ((one, other), (other, one)) if b not in self._named[a]]
        if all(self._has_room(path) for path, _ in missing):
            for path, target in missing:
                self._add(path, target, LINKED)

    def in_order(self, path: str) -> tuple[Related, ...]:
        """As they were written, then the pass's own by path: so that a list changes only when its entries do."""
        entries = self.entries[path]
        own = sorted((entry for entry in entries if entry.comment in MARKS), key=lambda entry: entry.target)
        return (*(entry for entry in entries if entry.comment not in MARKS), *own)

    def _has_room(self, path: str) -> bool:
        return len(self.entries[path]) < MOST

    def _add(self, path: str, target: str, mark: Mapping[str, str]) -> None:
        self.entries[path].append(Related(target, mark[self._changeable[path]]))
        self._named[path].add(target)
