"""The handed cases whose expectation is a lint report, through ``read_page`` and the rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb_pipeline.lint import LintPolicy, fix_page, lint_all, pages_with_own_errors
from kb_pipeline.markdown.decoding import decode_text
from kb_pipeline.markdown.pages import read_page
from kb_pipeline.markdown.yaml_safe import load_mapping
from kb_pipeline.models import Finding, WikiPage
from kb_tests.lint.sample_pages import TODAY

ABOUT = {
    "duplicate key status": "front-matter-duplicate-key",
    "title differs from H1": "h1-title",
    "missing front matter": "front-matter-missing",
    "front matter not closed": "front-matter-unclosed",
    "updated": "updated-invalid",
}
"""The cases' words for what has to be reported, and the rule that does."""

REPORTS = [
    "parse-duplicate-keys",
    "parse-hash-cuts-title",
    "parse-rule-on-first-line",
    "parse-unclosed-front-matter",
    "parse-updated-forms",
]


def read_case(cases: Path, name: str) -> tuple[list[WikiPage], dict[str, object]]:
    root = cases / name / "files" / "knowledge"
    pages = [read_page(path.relative_to(root).as_posix(), path.read_bytes()) for path in sorted(root.rglob("*.md"))]
    case = load_mapping((cases / name / "case.yaml").read_text(encoding="utf-8")).value
    expected = case["expect"]
    assert isinstance(expected, dict)
    values = expected["values"]
    assert isinstance(values, dict)
    return pages, values


def lint_case(pages: list[WikiPage]) -> list[Finding]:
    return lint_all(pages, LintPolicy(), TODAY)


@pytest.mark.parametrize("name", REPORTS)
def test_what_a_case_says_must_be_reported_is(cases: Path, name: str) -> None:
    pages, values = read_case(cases, name)
    found = {(finding.path, finding.rule) for finding in lint_case(pages)}
    wanted = values["lint_must_report"]
    assert isinstance(wanted, list)
    assert {(entry["file"], ABOUT[entry["about"]]) for entry in wanted} <= found


def test_a_repeated_key_is_reported_by_name(cases: Path) -> None:
    pages, _ = read_case(cases, "parse-duplicate-keys")
    (found,) = [f for f in lint_case(pages) if f.rule == "front-matter-duplicate-key"]
    assert "status" in found.message
    assert found.line == 8


def test_a_title_cut_by_a_comment_is_mended_from_the_heading(cases: Path) -> None:
    path = cases / "parse-hash-cuts-title" / "files" / "knowledge" / "rel.md"
    page = read_page("rel.md", path.read_bytes())
    text = fix_page(decode_text(path.read_bytes(), keep_line_ends=True), page, LintPolicy()).text
    assert read_page("rel.md", text.encode()).title == "第 12 版 #2（新增 28 項）"


def test_each_unreadable_block_is_one_error_with_its_line_and_the_run_goes_on(cases: Path) -> None:
    pages, values = read_case(cases, "parse-invalid-yaml-continues")
    errors = [f for f in lint_case(pages) if f.severity == "error" and f.own]
    assert [f.path for f in errors] == values["lint_error_files"]
    assert all(f.line is not None for f in errors)


def test_a_page_beside_an_unclosed_one_is_checked_and_not_blamed(cases: Path) -> None:
    pages, values = read_case(cases, "parse-unclosed-front-matter")
    blocked = pages_with_own_errors(lint_case(pages))
    assert [page.path for page in pages if page.path not in blocked] == values["manifest_pages"]


def test_only_days_that_exist_in_iso_form_are_dates(cases: Path) -> None:
    pages, values = read_case(cases, "parse-updated-forms")
    invalid = {f.path for f in lint_case(pages) if f.rule == "updated-invalid"}
    assert invalid == {"d.md", "e.md", "f.md"}
    read = {page.path.removesuffix(".md"): str(page.updated) for page in pages if page.updated}
    assert read == values["updated"]


def test_an_unreadable_encoding_is_reported_by_name_and_the_others_are_fine(cases: Path) -> None:
    pages, values = read_case(cases, "parse-bom")
    found = [(f.path, f.rule) for f in lint_case(pages) if f.own and f.severity == "error"]
    assert found == [(path, "unreadable-text") for path in values["reported"]]  # type: ignore[union-attr]


def test_keywords_in_one_text_are_three_keywords(cases: Path) -> None:
    pages, _ = read_case(cases, "lint-keywords-string")
    assert pages[0].keywords == ("token", "權杖", "換發")
    assert "keywords-few" not in {f.rule for f in lint_case(pages)}


def test_scalars_of_old_yaml_stay_text_and_nothing_crashes(cases: Path) -> None:
    pages, _ = read_case(cases, "parse-yaml11-scalars")
    assert {f.rule for f in lint_case(pages)} >= {"summary-short", "body-too-short"}
    assert (pages[0].title, pages[0].scope) == ("12:30", "no")


def test_ambiguous_links_name_both_candidates(cases: Path) -> None:
    pages, values = read_case(cases, "links-short-and-ambiguous")
    found = [f for f in lint_case(pages) if f.rule == "ambiguous-link"]
    (wanted,) = values["must_report_ambiguous"]  # type: ignore[misc]
    assert [f.path for f in found] == [wanted["file"]]
    assert all(candidate in found[0].message for candidate in wanted["candidates"])
    assert "broken-link" not in {f.rule for f in lint_case(pages)}


def test_links_in_code_and_comments_are_neither_broken_nor_links(cases: Path) -> None:
    pages, _ = read_case(cases, "links-code-and-comments")
    found = [(f.path, f.rule) for f in lint_case(pages) if "link" in f.rule or f.rule == "orphan"]
    assert found == [("doc.md", "orphan"), ("fake1.md", "orphan")]


def test_a_heading_that_does_not_exist_is_a_broken_anchor_and_no_missing_page(cases: Path) -> None:
    pages, values = read_case(cases, "links-heading-parts")
    found = [f for f in lint_case(pages) if f.rule in {"broken-anchor", "broken-link"}]
    assert {f.rule for f in found} <= {"broken-anchor"}
    assert all(any(name in f.message for name in values["may_warn_anchor"]) for f in found)  # type: ignore[union-attr]


def test_escaped_bars_in_tables_break_no_link_and_leave_no_orphan(cases: Path) -> None:
    pages, _ = read_case(cases, "links-table-escaped-pipe")
    found = lint_case(pages)
    assert "broken-link" not in {f.rule for f in found}
    assert ("auth/token.md", "orphan") not in {(f.path, f.rule) for f in found}


def test_relative_links_are_broken_or_outside_only_where_they_are(cases: Path) -> None:
    pages, _ = read_case(cases, "links-percent-and-angle")
    found = [(f.rule, f.message) for f in lint_case(pages) if f.rule in {"broken-link", "link-outside-root"}]
    assert [rule for rule, _ in found] == ["broken-link", "link-outside-root"]
    assert "沒有.md" in found[0][1]
    assert "../../secret.md" in found[1][1]
