"""Judge pages: rules, findings, mechanical mends, the report (SPEC 9). Pure; one parse of a page serves all rules.

Belongs here: whether a page, or the wiki, is as SPEC 5 asks, and mends that need no judgement. Does not belong here:
reading markdown (``markdown``), fidelity to raw documents (``rewriting.gates``), what a gate does with findings
(``building``), files.
"""

from __future__ import annotations

from kb_pipeline.lint.catalogue import RULES, Rule
from kb_pipeline.lint.documentation import render_rules_markdown
from kb_pipeline.lint.fixes import FixResult, fix_page
from kb_pipeline.lint.page_lint import lint_page
from kb_pipeline.lint.policy import LintPolicy
from kb_pipeline.lint.report import pages_with_own_errors, render_text, to_json
from kb_pipeline.lint.wiki_fixes import fix_wiki
from kb_pipeline.lint.wiki_lint import Linter, lint_all, lint_wiki
from kb_pipeline.lint.written_forms import lint_text

__all__ = [
    "RULES",
    "FixResult",
    "LintPolicy",
    "Linter",
    "Rule",
    "fix_page",
    "fix_wiki",
    "lint_all",
    "lint_page",
    "lint_text",
    "lint_wiki",
    "pages_with_own_errors",
    "render_rules_markdown",
    "render_text",
    "to_json",
]
