"""``Linter``: every rule on every page of a wiki, and after a change only what the change touches. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import date

from kb_pipeline.lint import wiki_rules
from kb_pipeline.lint.conflicts import ConflictIndex
from kb_pipeline.lint.duplicates import DuplicateIndex
from kb_pipeline.lint.page_lint import lint_page
from kb_pipeline.lint.policy import LintPolicy
from kb_pipeline.lint.report import in_order
from kb_pipeline.lint.silencing import policy_findings, silenced_rules, without_silenced
from kb_pipeline.lint.wiki import Wiki
from kb_pipeline.models import Finding, WikiPage


def lint_wiki(pages: Sequence[WikiPage], policy: LintPolicy, today: date) -> list[Finding]:
    """Cross-page findings (``own`` is False) of all pages. Drafts are targets only: nothing is said of them."""
    return [finding for finding in Linter(policy).lint(pages, today) if not finding.own]


def lint_all(pages: Sequence[WikiPage], policy: LintPolicy, today: date) -> list[Finding]:
    """Own and cross-page findings of a whole wiki, by path and line: what ``kb lint`` and the asset checks report."""
    return Linter(policy).lint(pages, today)


class Linter:
    """Lints a wiki again and again, as a process that watches it does.

    The first ``lint`` is linear in the wiki; a later one in what changed since, except that a changed name (path,
    title, alias, heading) has every link resolved again. The findings are the same as those of a fresh one.
    """

    def __init__(self, policy: LintPolicy) -> None:
        self._policy = policy
        self._today: date | None = None
        self._pages: dict[str, WikiPage] = {}
        self._own: dict[str, list[Finding]] = {}
        self._wiki = Wiki(())
        self._local: dict[str, list[Finding]] = {}
        self._groups: list[Finding] = []
        self._duplicates = DuplicateIndex(policy)
        self._conflicts = ConflictIndex()

    def lint(self, pages: Sequence[WikiPage], today: date) -> list[Finding]:
        """All findings, by path and line. Pages are told apart by path, and changes by ``content_sha256``."""
        now = {page.path: page for page in pages}
        removed = self._pages.keys() - now.keys()
        changed = [page for page in now.values() if not _same(self._pages.get(page.path), page)]
        own = changed if today == self._today else list(now.values())
        self._today = today
        for path in removed:
            self._own.pop(path, None)
        for page in own:
            self._own[page.path] = lint_page(page, self._policy, today)
        if changed or removed:
            self._judge_wiki(now, changed, removed)
        self._pages = now
        return in_order(self._all())

    def _judge_wiki(self, now: dict[str, WikiPage], changed: Sequence[WikiPage], removed: Collection[str]) -> None:
        grouped = bool(removed) or any(_group_of(page) != _group_of(self._pages.get(page.path)) for page in changed)
        touched = self._wiki.update(now, {page.path for page in changed})
        self._local = {path: found for path, found in self._local.items() if path in now and path not in touched}
        for path in touched:
            found = list(self._local_rules(now[path]))
            if found:
                self._local[path] = found
        if grouped:
            self._groups = [*wiki_rules.title_rules(self._wiki), *wiki_rules.paired_rules(self._wiki, self._policy)]
        self._duplicates.update(changed, removed)
        self._conflicts.update(changed, removed)

    def _local_rules(self, page: WikiPage) -> Iterator[Finding]:
        if not page.is_draft:
            yield from wiki_rules.related_rules(self._wiki, page)
            yield from wiki_rules.link_rules(self._wiki, page, self._policy)
            yield from wiki_rules.successor_rules(self._wiki, page)
            yield from wiki_rules.orphan_rules(self._wiki, page)

    def _all(self) -> Iterator[Finding]:
        yield from policy_findings(self._policy)
        for findings in self._own.values():
            yield from findings
        yield from self._unsilenced(finding for findings in self._local.values() for finding in findings)
        yield from self._unsilenced((*self._groups, *self._duplicates.findings(), *self._conflicts.findings()))

    def _unsilenced(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        by_path: defaultdict[str, list[Finding]] = defaultdict(list)
        for finding in findings:
            by_path[finding.path].append(finding)
        for path, found in by_path.items():
            silenced = silenced_rules(self._pages[path], self._policy)
            yield from without_silenced(found, silenced) if silenced else found


def _same(before: WikiPage | None, now: WikiPage) -> bool:
    return before is now or (before is not None and before.content_sha256 == now.content_sha256)


def _group_of(page: WikiPage | None) -> tuple[object, ...]:
    """What the rules about titles and pairs look at."""
    if page is None:
        return ()
    return page.title, page.scope, page.status, page.related, len(page.body) if page.related else 0
