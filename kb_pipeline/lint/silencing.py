"""Rules that a project or a page silences, each with its reason (SPEC 9).

A page writes ``lint: {rule-id: reason}`` in its front matter, a project ``lint.silenced`` in kb.yml. What is silenced
without a reason, or cannot be, silences nothing and is a finding itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from kb_pipeline.lint import catalogue as rules
from kb_pipeline.lint.policy import LintPolicy
from kb_pipeline.models import Finding, WikiPage

FIELD = "lint"
CONFIG_PATH = "kb.yml"


def faults(entries: object) -> Iterator[str]:
    """What is wrong with a mapping of silenced rules, in words."""
    if entries is None:
        return
    if not isinstance(entries, Mapping):
        yield f"'{FIELD}' is not a mapping of rules to reasons"
        return
    for name, reason in entries.items():
        rule = rules.RULES.get(str(name))
        if rule is None:
            yield f"'{name}' is no rule"
        elif not rule.silenceable:
            yield f"'{name}' cannot be silenced"
        elif not isinstance(reason, str) or not reason.strip():
            yield f"'{name}' is silenced without a reason"


def _valid(entries: object) -> frozenset[str]:
    if not isinstance(entries, Mapping):
        return frozenset()
    return frozenset(str(name) for name in entries if not any(faults({name: entries[name]})))


def silenced_rules(page: WikiPage, policy: LintPolicy) -> frozenset[str]:
    """Ids of the rules that say nothing on this page."""
    own = page.extra.get(FIELD)
    if own is None and not policy.silenced:
        return frozenset()
    return _valid(own) | _valid(policy.silenced)


def silencing_rules(page: WikiPage) -> Iterator[Finding]:
    for fault in faults(page.extra.get(FIELD)):
        yield rules.SILENCING_INVALID.at(page, field=FIELD, problem=fault)


def policy_findings(policy: LintPolicy) -> list[Finding]:
    """Faults of the project's own list, reported on kb.yml; they keep no page out."""
    config = WikiPage(path=CONFIG_PATH)
    return [
        rules.SILENCING_INVALID.at(config, field="lint.silenced", own=False, problem=fault)
        for fault in faults(policy.silenced)
    ]


def without_silenced(findings: Iterable[Finding], silenced: frozenset[str]) -> list[Finding]:
    return [finding for finding in findings if finding.rule not in silenced]
