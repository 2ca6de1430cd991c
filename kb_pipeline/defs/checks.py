"""Lint findings as asset checks: the same rules as ``kb lint`` (SPEC 9).

Unpartitioned on purpose: per-partition checks are a preview in Dagster and wrong in range runs (ORCHESTRATION). The
findings stand in a table on the check. With ``lint.gate: all`` the error checks block what comes after them.
"""

from collections.abc import Iterator, Sequence

import dagster as dg

from kb_pipeline.defs.resources import KnowledgeBase
from kb_pipeline.models import Finding, Severity

ROWS_SHOWN = 200

OWN, ACROSS, ADVICE = "page_errors", "wiki_errors", "warnings"
DESCRIPTIONS = {
    OWN: "Errors of a page by itself: front matter, fields, lengths, headings. Such a page keeps its last published version.",
    ACROSS: "Errors between pages: broken or ambiguous links, one-sided related, titles of equal name.",
    ADVICE: "What would make pages better: lengths outside the advised, orphans, near-duplicates, conflicts.",
}


def build_lint_checks(*, blocking: bool) -> dg.AssetChecksDefinition:
    """The three checks on ``wiki_pages``; ``blocking`` follows ``lint.gate: all``."""

    @dg.multi_asset_check(
        name="lint",
        specs=[
            dg.AssetCheckSpec(OWN, asset="wiki_pages", description=DESCRIPTIONS[OWN], blocking=blocking),
            dg.AssetCheckSpec(ACROSS, asset="wiki_pages", description=DESCRIPTIONS[ACROSS], blocking=blocking),
            dg.AssetCheckSpec(ADVICE, asset="wiki_pages", description=DESCRIPTIONS[ADVICE]),
        ],
    )
    def lint(context: dg.AssetCheckExecutionContext, knowledge_base: KnowledgeBase) -> Iterator[dg.AssetCheckResult]:
        # With the lock: half of a build from the command line would be judged otherwise.
        with knowledge_base.project().publishing(context.run.run_id) as publication:
            findings = publication.findings
        errors = [finding for finding in findings if finding.severity is Severity.ERROR]
        warnings = [finding for finding in findings if finding.severity is Severity.WARNING]
        yield _result(OWN, [finding for finding in errors if finding.own], dg.AssetCheckSeverity.ERROR)
        yield _result(ACROSS, [finding for finding in errors if not finding.own], dg.AssetCheckSeverity.ERROR)
        yield _result(ADVICE, warnings, dg.AssetCheckSeverity.WARN)

    return lint


def _result(name: str, findings: Sequence[Finding], severity: dg.AssetCheckSeverity) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(
        asset_key="wiki_pages",
        check_name=name,
        passed=not findings,
        severity=severity,
        metadata={"findings": len(findings), "table": _table(findings)},
    )


def _table(findings: Sequence[Finding]) -> dg.TableMetadataValue:
    records = [
        dg.TableRecord(
            {"page": finding.path, "line": finding.line or 0, "rule": finding.rule, "message": finding.message}
        )
        for finding in findings[:ROWS_SHOWN]
    ]
    schema = dg.TableSchema(
        [
            dg.TableColumn("page", "string"),
            dg.TableColumn("line", "int"),
            dg.TableColumn("rule", "string"),
            dg.TableColumn("message", "string"),
        ]
    )
    return dg.MetadataValue.table(records, schema)
