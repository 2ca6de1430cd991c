"""``lint_wiki``: every rule that needs the other pages. Pure, linear in pages and links."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import date

from kb_pipeline.lint import wiki_rules
from kb_pipeline.lint.conflicts import conflict_rules
from kb_pipeline.lint.page_lint import lint_page
from kb_pipeline.lint.duplicates import duplicate_rules
from kb_pipeline.lint.policy import LintPolicy
from kb_pipeline.lint.report import in_order
from kb_pipeline.lint.silencing import policy_findings, silenced_rules, without_silenced
from kb_pipeline.lint.wiki_rules import Wiki
from kb_pipeline.models import Finding, WikiPage


def lint_wiki(pages: Sequence[WikiPage], policy: LintPolicy, today: date) -> list[Finding]:  # noqa: ARG001 - the signature of lint_page; a rule that needs the day changes no caller
    """Cross-page findings (``own`` is False) of all pages, by path. Drafts are targets only: nothing is said of them."""
    wiki = Wiki.of(pages)
    by_path: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in _wiki_rules(wiki, policy):
        by_path[finding.path].append(finding)
    findings = policy_findings(policy)
    for page in sorted(pages, key=lambda page: page.path):
        if page.path in by_path:
            findings.extend(without_silenced(by_path[page.path], silenced_rules(page, policy)))
    return findings


def _wiki_rules(wiki: Wiki, policy: LintPolicy) -> Iterator[Finding]:
    for page in wiki.pages:
        if page.is_draft:
            continue
        yield from wiki_rules.related_rules(wiki, page)
        yield from wiki_rules.link_rules(wiki, page)
        yield from wiki_rules.successor_rules(wiki, page)
        yield from wiki_rules.orphan_rules(wiki, page)
    yield from wiki_rules.title_rules(wiki)
    yield from wiki_rules.paired_rules(wiki, policy)
    yield from duplicate_rules(wiki.pages, policy)
    yield from conflict_rules(wiki.pages)


def lint_all(pages: Sequence[WikiPage], policy: LintPolicy, today: date) -> list[Finding]:
    """Own and cross-page findings of a whole wiki, by path and line: what ``kb lint`` and the asset checks report."""
    findings = [finding for page in pages for finding in lint_page(page, policy, today)]
    findings.extend(lint_wiki(pages, policy, today))
    return in_order(findings)
