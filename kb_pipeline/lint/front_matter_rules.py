"""Rules about the fields of one page and the place where it lies (SPEC 5, 9). Its body: ``body_rules``."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from datetime import date

from kb_pipeline.lint import catalogue as rules
from kb_pipeline.lint.policy import LintPolicy
from kb_pipeline.lint.vocabulary import TOPIC, folded, folded_set, is_category, is_document_type
from kb_pipeline.models import UNRESOLVED_SCOPE, Finding, PageStatus, WikiPage

REQUIRED = ("title", "scope", "summary", "keywords", "updated", "status")

FATAL = frozenset(
    {
        rules.UNREADABLE_TEXT.id,
        rules.CONFLICT_MARKS.id,
        rules.FRONT_MATTER_MISSING.id,
        rules.FRONT_MATTER_UNCLOSED.id,
        rules.FRONT_MATTER_YAML.id,
        rules.FRONT_MATTER_NOT_MAPPING.id,
    }
)
"""With one of these the fields are unknown: to report them as missing too would only repeat it."""

_OWN_RULE = {"status": rules.STATUS_UNKNOWN, "updated": rules.UPDATED_INVALID}
"""Fields whose wrong values have a rule of their own."""

INBOX, LEGACY = "_inbox", "legacy"


def reading_rules(page: WikiPage) -> Iterator[Finding]:
    """What the reader could not read as written, one finding for each problem."""
    for problem in page.problems:
        rule = rules.RULES.get(problem.code, rules.FIELD_TYPE)
        if rule is rules.FIELD_TYPE:
            rule = _OWN_RULE.get(problem.field or "", rule)
        yield rule.at(page, line=problem.line, field=problem.field, problem=problem.message.rstrip(".。:"))


def required_rules(page: WikiPage) -> Iterator[Finding]:
    """Fields that are absent, empty, or of no use as they stand."""
    reported = {problem.field for problem in page.problems}
    values = {
        "title": page.title.strip(),
        "scope": page.scope.strip(),
        "summary": page.summary.strip(),
        "keywords": page.keywords,
        "updated": page.updated,
        "status": page.status,
    }
    for name, value in values.items():
        if value or name in reported:
            continue
        mendable = name == "title" and sum(heading.level == 1 for heading in page.outline.headings) == 1
        yield rules.FIELD_MISSING.at(page, field=name, name=name, fixable=mendable)


def scope_rules(page: WikiPage, policy: LintPolicy) -> Iterator[Finding]:
    scope = page.scope.strip()
    if not scope:
        return
    if UNRESOLVED_SCOPE in scope:
        yield rules.SCOPE_UNRESOLVED.at(page, field="scope", marker=UNRESOLVED_SCOPE)
    elif policy.scopes:
        # The list is a person's decision, so a listed scope is never called a category.
        if folded(scope) not in folded_set(policy.scopes):
            close = difflib.get_close_matches(scope, policy.scopes, n=1, cutoff=0.5)
            nearest = f" (nearest: '{close[0]}')" if close else ""
            yield rules.SCOPE_UNKNOWN.at(page, field="scope", scope=scope, nearest=nearest)
    elif is_category(scope, policy.categories):
        yield rules.SCOPE_CATEGORY.at(page, field="scope", scope=scope)


def summary_rules(page: WikiPage, policy: LintPolicy) -> Iterator[Finding]:
    summary = page.summary.strip()
    if not summary:
        return
    if len(summary) < policy.min_summary:
        yield rules.SUMMARY_SHORT.at(page, field="summary", length=len(summary), least=policy.min_summary)
    topic = TOPIC.search(summary)
    if topic:
        yield rules.SUMMARY_TOPIC.at(page, field="summary", words=topic.group().strip())


def keyword_rules(page: WikiPage, policy: LintPolicy) -> Iterator[Finding]:
    count = len({folded(keyword) for keyword in page.keywords})
    if page.keywords and count < policy.min_keywords:
        yield rules.KEYWORDS_FEW.at(page, field="keywords", count=count, least=policy.min_keywords)


def date_rules(page: WikiPage, policy: LintPolicy, today: date) -> Iterator[Finding]:
    if page.updated is None:
        return
    if page.updated > today:
        yield rules.UPDATED_FUTURE.at(page, field="updated", updated=page.updated, today=today)
    age = (today - page.updated).days
    if (
        policy.stale_after_days is not None
        and age > policy.stale_after_days
        and not page.evergreen
        and page.status is PageStatus.CURRENT
    ):
        yield rules.STALE.at(page, field="updated", updated=page.updated, days=age, most=policy.stale_after_days)


def provenance_rules(page: WikiPage, policy: LintPolicy) -> Iterator[Finding]:
    stamp = page.compiled
    if stamp is not None and policy.rewriter_key is not None and stamp.key != policy.rewriter_key:
        yield rules.OUTDATED.at(page, field="compiled", by=stamp.by)


def related_rules(page: WikiPage, policy: LintPolicy) -> Iterator[Finding]:
    if len(page.related) > policy.max_related:
        yield rules.RELATED_MANY.at(page, field="related", count=len(page.related), most=policy.max_related)
    if page.status is PageStatus.DEPRECATED and not page.related and not page.outline.links:
        yield rules.DEPRECATED_NO_SUCCESSOR.at(page, field="related")


def place_rules(page: WikiPage, policy: LintPolicy) -> Iterator[Finding]:
    """Depth and names of the folders; ``_inbox/`` and ``legacy/`` say a status and are no level of their own."""
    folders = page.path.split("/")[:-1]
    special = folders[0] if folders and folders[0] in {INBOX, LEGACY} else None
    domains = folders[1:] if special else folders
    if len(domains) > policy.max_folders:
        yield rules.FOLDER_DEPTH.at(page, levels=len(domains), most=policy.max_folders)
    for folder in domains:
        if is_document_type(folder, policy.document_types):
            yield rules.FOLDER_DOCUMENT_TYPE.at(page, folder=folder)
    wanted = {INBOX: PageStatus.DRAFT, LEGACY: PageStatus.DEPRECATED}.get(special or "")
    if wanted is not None and page.status is not None and page.status is not wanted:
        yield rules.FOLDER_STATUS.at(
            page, field="status", folder=special, wanted=wanted.value, status=page.status.value
        )
