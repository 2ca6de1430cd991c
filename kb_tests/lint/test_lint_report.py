"""How findings are shown, and that the documentation is what the catalogue says."""

from __future__ import annotations

from pathlib import Path

from kb_pipeline.lint import RULES, pages_with_own_errors, render_rules_markdown, render_text, to_json
from kb_pipeline.models import Finding, Severity

FINDINGS = [
    Finding("orphan", Severity.WARNING, "b.md", "no page links to this one", own=False),
    Finding("h1-title", Severity.ERROR, "a.md", "title differs", line=9, field="title", fixable=True),
    Finding("summary-short", Severity.ERROR, "a.md", "too short", line=4, field="summary"),
    Finding("broken-link", Severity.ERROR, "b.md", "finds no page", line=12, own=False),
]


def test_findings_are_grouped_by_file_with_place_rule_and_message() -> None:
    assert render_text(FINDINGS) == (
        "a.md:4: error summary-short too short\n"
        "a.md:9: error h1-title title differs [--fix]\n"
        "\n"
        "b.md: warning orphan no page links to this one\n"
        "b.md:12: error broken-link finds no page\n"
        "\n"
        "3 errors, 1 warning in 2 files; 'kb lint --fix' mends up to 1"
    )


def test_nothing_found_is_said() -> None:
    assert render_text([]) == "No findings."


def test_json_has_the_same_keys_for_each_finding() -> None:
    rows = to_json(FINDINGS)
    assert rows[0] == {
        "path": "a.md",
        "line": 4,
        "severity": "error",
        "rule": "summary-short",
        "field": "summary",
        "message": "too short",
        "fixable": False,
        "own": True,
    }
    assert {tuple(row) for row in rows} == {tuple(rows[0])}


def test_only_errors_of_a_page_itself_keep_it_out() -> None:
    assert pages_with_own_errors(FINDINGS) == {"a.md"}


def test_the_documentation_is_generated_from_the_catalogue(repository: Path) -> None:
    """After a change of the catalogue: write ``render_rules_markdown()`` into docs/lint.md."""
    assert (repository / "docs" / "lint.md").read_text(encoding="utf-8") == render_rules_markdown()


def test_the_documentation_names_every_rule_once_and_leaves_no_placeholder() -> None:
    text = render_rules_markdown()
    for rule in RULES:
        assert text.count(f"| `{rule}` |") == 1
    assert "{" not in text.replace("lint:\n", "").replace("{problem}", "")


def test_rule_ids_are_kebab_case_and_their_texts_are_sentences() -> None:
    for rule in RULES.values():
        assert rule.id == rule.id.lower().replace("_", "-")
        assert rule.summary.endswith((".", "。"))
        assert not rule.message.endswith(".")
