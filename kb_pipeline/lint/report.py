"""Findings as text for people and as JSON for programs; which pages an error keeps out. No rule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kb_pipeline.models import Finding, Severity


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """By file and line; what concerns a whole file first."""
    return sorted(findings, key=lambda finding: (finding.path, finding.line or 0, finding.rule, finding.message))


def render_text(findings: Sequence[Finding]) -> str:
    """``path:line: error rule-id message``, a block for each file, then one line with the counts. Ends without LF."""
    if not findings:
        return "No findings."
    lines: list[str] = []
    last = None
    for finding in in_order(findings):
        if last is not None and finding.path != last:
            lines.append("")
        last = finding.path
        place = finding.path if finding.line is None else f"{finding.path}:{finding.line}"
        mendable = " [--fix]" if finding.fixable else ""
        lines.append(f"{place}: {finding.severity} {finding.rule} {finding.message}{mendable}")
    return "\n".join([*lines, "", _counts(findings)])


def _counts(findings: Sequence[Finding]) -> str:
    errors = sum(finding.severity is Severity.ERROR for finding in findings)
    files = len({finding.path for finding in findings})
    text = f"{_plural(errors, 'error')}, {_plural(len(findings) - errors, 'warning')} in {_plural(files, 'file')}"
    mendable = sum(finding.fixable for finding in findings)
    return text + (f"; 'kb lint --fix' mends up to {mendable}" if mendable else "")


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def to_json(findings: Sequence[Finding]) -> list[dict[str, object]]:
    """One object a finding, in order, with the same keys each."""
    return [
        {
            "path": finding.path,
            "line": finding.line,
            "severity": finding.severity.value,
            "rule": finding.rule,
            "field": finding.field,
            "message": finding.message,
            "fixable": finding.fixable,
            "own": finding.own,
        }
        for finding in in_order(findings)
    ]


def pages_with_own_errors(findings: Iterable[Finding]) -> frozenset[str]:
    """Pages that ``lint.gate: page`` keeps at their last published version, or out (SPEC 9)."""
    return frozenset(finding.path for finding in findings if finding.own and finding.severity is Severity.ERROR)
