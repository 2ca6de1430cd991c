"""``lint_page``: every rule that one page alone decides. Pure; the page has been read, nothing is parsed again."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from kb_pipeline.lint import body_rules, front_matter_rules
from kb_pipeline.lint.cohesion import cohesion_rules
from kb_pipeline.lint.policy import LintPolicy
from kb_pipeline.lint.silencing import silenced_rules, silencing_rules, without_silenced
from kb_pipeline.models import Finding, WikiPage


def lint_page(page: WikiPage, policy: LintPolicy, today: date) -> list[Finding]:
    """The page's own findings, in the order of the rules. ``today`` is the local date.

    A page that could not be read has only the findings that say why. A draft is nowhere served: it is checked for
    readable front matter, a status that exists and the types of its fields, not for content, lengths or place.
    """
    findings = list(front_matter_rules.reading_rules(page))
    if any(finding.rule in front_matter_rules.FATAL for finding in findings):
        return findings
    findings.extend(silencing_rules(page))
    if not page.is_draft:
        findings.extend(_content_rules(page, policy, today))
    silenced = silenced_rules(page, policy)
    return without_silenced(findings, silenced) if silenced else findings


def _content_rules(page: WikiPage, policy: LintPolicy, today: date) -> Iterator[Finding]:
    yield from front_matter_rules.required_rules(page)
    yield from front_matter_rules.scope_rules(page, policy)
    yield from front_matter_rules.summary_rules(page, policy)
    yield from front_matter_rules.keyword_rules(page, policy)
    yield from front_matter_rules.date_rules(page, policy, today)
    yield from front_matter_rules.provenance_rules(page, policy)
    yield from front_matter_rules.related_rules(page, policy)
    yield from front_matter_rules.place_rules(page, policy)
    yield from body_rules.length_rules(page, policy)
    yield from body_rules.heading_rules(page)
    yield from body_rules.table_rules(page)
    yield from body_rules.fence_rules(page)
    yield from body_rules.conclusion_rules(page)
    yield from cohesion_rules(page)
