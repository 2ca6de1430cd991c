"""The handed cases of the areas parse and links, and those of chunk that concern headings and sections."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from kb_pipeline.markdown.links import Ambiguous, External, LinkResolver, Missing, OutsideRoot, Resolution, Resolved
from kb_pipeline.markdown.pages import read_page
from kb_pipeline.models import PageStatus, WikiPage


def pages_of(cases: Path, case: str) -> dict[str, WikiPage]:
    root = cases / case / "files" / "knowledge"
    files = sorted(path for path in root.rglob("*.md") if path.is_file())
    return {
        path.relative_to(root).as_posix(): read_page(path.relative_to(root).as_posix(), path.read_bytes())
        for path in files
    }


def expected(cases: Path, case: str) -> dict[str, Any]:
    values = yaml.safe_load((cases / case / "case.yaml").read_text(encoding="utf-8"))["expect"]["values"]
    assert isinstance(values, dict)
    return values


def codes(page: WikiPage) -> list[str]:
    return [problem.code for problem in page.problems]


def resolutions(pages: dict[str, WikiPage], path: str) -> list[Resolution]:
    resolver = LinkResolver(pages.values())
    return [resolver.resolve(link, path) for link in pages[path].outline.links]


def edges(pages: dict[str, WikiPage]) -> set[tuple[str, str]]:
    """Page pairs that a link joins."""
    found = set()
    for path in pages:
        for resolution in resolutions(pages, path):
            if isinstance(resolution, Resolved) and resolution.path != path:
                found.add((path, resolution.path))
    return found


def test_byte_order_marks_are_read_and_other_encodings_named(cases: Path) -> None:
    pages = pages_of(cases, "parse-bom")
    values = expected(cases, "parse-bom")
    readable = {path for path, page in pages.items() if "unreadable-text" not in codes(page)}
    assert readable == set(values["indexed"])
    assert {page.fields[0] for path, page in pages.items() if path in readable} == {values["front_matter_first_key"]}
    assert {page.title for path, page in pages.items() if path in readable} == {"夜間備份"}
    assert "UTF-8" in pages["auth/latin1.md"].problems[0].message


def test_windows_line_ends_leave_no_trace(cases: Path) -> None:
    page = pages_of(cases, "parse-crlf")["auth/token.md"]
    values = expected(cases, "parse-crlf")
    assert (page.title, page.status, page.updated) == ("權杖換發", PageStatus.CURRENT, date(2026, 8, 18))
    assert [section.title for section in page.outline.sections if section.level == 2] == values["sections_h2"]
    assert "\r" not in repr(page)


def test_a_repeated_key_is_reported_by_name(cases: Path) -> None:
    page = pages_of(cases, "parse-duplicate-keys")["d.md"]
    problem = next(problem for problem in page.problems if problem.code == "front-matter-duplicate-key")
    assert (problem.field, problem.line) == ("status", 8)
    assert "status" in problem.message


def test_a_hash_cuts_the_yaml_title_but_not_the_heading(cases: Path) -> None:
    page = pages_of(cases, "parse-hash-cuts-title")["rel.md"]
    values = expected(cases, "parse-hash-cuts-title")
    assert (page.title, page.outline.headings[0].text) == (values["yaml_title"], values["h1"])


def test_each_unreadable_yaml_gives_one_error_with_its_line(cases: Path) -> None:
    pages = pages_of(cases, "parse-invalid-yaml-continues")
    values = expected(cases, "parse-invalid-yaml-continues")
    broken = {path: page.problems for path, page in pages.items() if page.problems}
    assert sorted(broken) == values["lint_error_files"]
    assert {path: [(problem.code, problem.line) for problem in problems] for path, problems in broken.items()} == {
        "a-colon.md": [("front-matter-yaml", 2)],
        "b-at.md": [("front-matter-yaml", 9)],
        "c-tab.md": [("front-matter-yaml", 9)],
        "d-template.md": [("front-matter-yaml", 6)],
    }


def test_a_rule_on_the_first_line_is_no_front_matter(cases: Path) -> None:
    page = pages_of(cases, "parse-rule-on-first-line")["ops/rule.md"]
    values = expected(cases, "parse-rule-on-first-line")
    assert codes(page) == ["front-matter-missing"]
    assert all(text in page.body for text in values["body_contains"])
    assert page.fields == ()


def test_tags_in_every_shape_are_the_same_list(cases: Path) -> None:
    pages = pages_of(cases, "parse-tag-shapes")
    values = expected(cases, "parse-tag-shapes")
    assert {path.removesuffix(".md"): list(page.tags) for path, page in pages.items()} == values["tags"]


def test_front_matter_that_is_not_closed_is_an_error_and_stops_nobody(cases: Path) -> None:
    pages = pages_of(cases, "parse-unclosed-front-matter")
    assert codes(pages["ops/open.md"]) == ["front-matter-unclosed"]
    assert codes(pages["ops/good.md"]) == []


def test_updated_keeps_the_date_as_written_and_refuses_other_forms(cases: Path) -> None:
    pages = pages_of(cases, "parse-updated-forms")
    values = expected(cases, "parse-updated-forms")
    assert {key: str(pages[f"{key}.md"].updated) for key in values["updated"]} == values["updated"]
    for report in values["lint_must_report"]:
        page = pages[report["file"]]
        assert [(problem.code, problem.field) for problem in page.problems] == [("field-type", "updated")]
        assert page.updated is None


def test_scalars_stay_the_text_that_was_written(cases: Path) -> None:
    page = pages_of(cases, "parse-yaml11-scalars")["t.md"]
    assert (page.title, page.scope, page.summary) == ("12:30", "no", "2026-08-18")
    assert page.keywords == ("1.10", "on", "2026-01-01", "備份")


def test_keywords_in_one_string_are_three_keywords(cases: Path) -> None:
    assert pages_of(cases, "lint-keywords-string")["k.md"].keywords == ("token", "權杖", "換發")


def test_only_the_real_wikilink_is_a_link(cases: Path) -> None:
    pages = pages_of(cases, "links-code-and-comments")
    assert [link.target for link in pages["doc.md"].outline.links] == ["real"]
    assert edges(pages) == {("doc.md", "real.md")}


def test_what_stands_behind_the_hash_never_changes_the_page(cases: Path) -> None:
    pages = pages_of(cases, "links-heading-parts")
    assert edges(pages) == {("a.md", "b.md")}
    found = resolutions(pages, "a.md")
    assert found == [
        Resolved("b.md", "sheher"),
        Resolved("b.md", "sheher"),
        Resolved("b.md", "子節"),
        Resolved("b.md", None),
        Resolved("a.md", "本頁節"),
        Resolved("b.md", None, anchor_found=False),
        Resolved("b.md", "外站"),
    ]


def test_percent_and_angle_brackets_name_the_same_page(cases: Path) -> None:
    pages = pages_of(cases, "links-percent-and-angle")
    values = expected(cases, "links-percent-and-angle")
    found = resolutions(pages, "auth/a.md")
    roll = "deploy/roll out.md"
    assert [resolution.path for resolution in found if isinstance(resolution, Resolved)] == [
        roll,
        roll,
        roll,
        "deploy/plan (v2).md",
        "auth/a.md",
    ]
    assert [resolution.target for resolution in found if isinstance(resolution, Missing)] == values["broken"]
    assert [resolution.target for resolution in found if isinstance(resolution, OutsideRoot)] == values["outside_root"]
    assert sum(isinstance(resolution, External) for resolution in found) == 1


def test_short_names_prefer_their_folder_and_are_never_guessed(cases: Path) -> None:
    pages = pages_of(cases, "links-short-and-ambiguous")
    assert resolutions(pages, "deploy/guide.md") == [Resolved("deploy/setup.md")]
    assert resolutions(pages, "index.md") == [
        Resolved("api/note.md"),
        Ambiguous(("auth/setup.md", "deploy/setup.md")),
    ]


def test_an_escaped_bar_in_a_table_ends_the_target(cases: Path) -> None:
    pages = pages_of(cases, "links-table-escaped-pipe")
    assert resolutions(pages, "t.md") == [Resolved("auth/token.md"), Resolved("auth/token.md", "過期")]
    assert [link.label for link in pages["t.md"].outline.links] == ["換發", "週期"]


def test_no_heading_in_any_kind_of_fence(cases: Path) -> None:
    page = pages_of(cases, "chunk-fences")["f.md"]
    sections = [[section.level, section.title] for section in page.outline.sections[1:]]
    assert sections == expected(cases, "chunk-fences")["sections"]


def test_repeated_headings_have_their_own_stable_ids(cases: Path) -> None:
    page = pages_of(cases, "chunk-duplicate-headings")["d.md"]
    values = expected(cases, "chunk-duplicate-headings")
    sections = page.outline.sections[1:]
    assert [section.text.strip() for section in sections] == values["chunk_bodies"]
    assert [section.section_id for section in sections] == [
        "設定",
        "設定/範例",
        "設定-2",
        "設定-2/範例",
        "設定-1",
        "設定-1-2",
        "設定-3",
    ]
    assert len({section.slug for section in sections}) == values["distinct_section_ids"]
    assert page == pages_of(cases, "chunk-duplicate-headings")["d.md"]


def test_section_text_is_the_original(cases: Path) -> None:
    page = pages_of(cases, "chunk-text-is-original")["o.md"]
    texts = {section.title: section.text for section in page.outline.sections}
    for title, wanted in expected(cases, "chunk-text-is-original")["section_text"].items():
        assert all(text in texts[title] for text in wanted["contains"])
        assert not any(text in texts[title] for text in wanted["excludes"])


def test_a_heading_without_text_gets_a_usable_name(cases: Path) -> None:
    page = pages_of(cases, "chunk-empty-sections")["e.md"]
    by_text = {section.text.strip(): section for section in page.outline.sections}
    unnamed = by_text["沒有標題名的節"]
    assert (unnamed.title, unnamed.section_id, unnamed.slug) == ("untitled", "untitled", "untitled")


@pytest.mark.parametrize("name", ["a.md", "b.md", "c.md"])
def test_a_nul_never_reaches_a_text_and_a_picture_is_named(cases: Path, name: str) -> None:
    page = read_page(name, (cases / "ingest-nul-byte" / "files" / "raw" / name).read_bytes())
    assert "\0" not in page.body
    if name == "c.md":
        assert [problem.code for problem in page.problems] == ["unreadable-text"]
        assert "binary" in page.problems[0].message


def test_conflict_marks_are_reported_but_not_those_in_a_fence(cases: Path) -> None:
    page = read_page("c.md", (cases / "ingest-conflict-and-noise" / "files" / "raw" / "c.md").read_bytes())
    assert [problem.line for problem in page.problems if problem.code == "conflict-marks"] == [3]
    assert [heading.text for heading in page.outline.headings][:1] == ["合併"]
