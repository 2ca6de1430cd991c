"""The manifest: exact bytes, one line for each thing, whatever a title holds."""

from __future__ import annotations

import locale
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.manifest import (
    ManifestReport,
    domains,
    estimate_tokens,
    manifest_report,
    one_line,
    render_directory_manifest,
    render_domain_manifest,
    render_manifest,
)
from kb_pipeline.models import PageStatus, WikiPage
from kb_tests.fakes.wiki import page_text, parsed, read_folder

WHOLE = """\
=== . ===
index.md [全公司] — 從哪裡開始讀、值班電話 2911
  keywords: 首頁, index

=== auth ===
auth/token-rotation.md [內部 API Gateway] — 90 天過期、/refresh 換發
  keywords: 權杖, token
  §: 過期週期 | 換發端點

[已淘汰] auth/zz.md [舊版] — 每 30 天人工輪替
  keywords: 輪替, old
"""


def pages() -> list[WikiPage]:
    texts = {
        "auth/zz.md": page_text(
            "舊", scope="舊版", summary="每 30 天人工輪替", keywords=("輪替", "old"), status="deprecated"
        ),
        "auth/token-rotation.md": page_text(
            "權杖",
            "結論。\n\n## 過期週期\n\n九十天。\n\n### 細節\n\n無。\n\n## 換發端點\n\n```md\n## 不是標題\n```",
            scope="內部 API Gateway",
            summary="90 天過期、/refresh 換發",
            keywords=("權杖", "token"),
        ),
        "auth/draft.md": page_text("草稿", status="draft"),
        "index.md": page_text(
            "首頁", scope="全公司", summary="從哪裡開始讀、值班電話 2911", keywords=("首頁", "index")
        ),
    }
    return parsed(texts)


def test_the_whole_manifest_is_these_bytes() -> None:
    assert render_manifest(pages(), "zh-TW") == WHOLE


def test_the_prefix_of_a_deprecated_page_follows_the_language() -> None:
    assert "\n[deprecated] auth/zz.md [舊版]" in render_manifest(pages(), "en")


def test_the_domains_manifests_joined_are_the_whole_one() -> None:
    parts = [render_domain_manifest(pages(), domain, "zh-TW") for domain in domains(pages())]
    assert "\n".join(parts) == WHOLE
    assert render_domain_manifest(pages(), "nowhere", "zh-TW") == ""


def test_the_directory_names_each_domain_with_size_scopes_and_keywords() -> None:
    first = render_directory_manifest(pages(), "zh-TW")
    assert "=== auth ===\n2 頁 [內部 API Gateway, 舊版] — " in first
    assert "token" in first
    assert "草稿" not in first


def test_nothing_to_show_is_an_empty_text() -> None:
    assert render_manifest([], "zh-TW") == ""
    assert render_manifest(parsed({"a.md": page_text("甲", status="draft")}), "zh-TW") == ""


def test_order_is_by_code_points_of_path_parts_and_does_not_follow_the_locale() -> None:
    names = ["é.md", "b/z.md", "a/y.md", "a/B.md", "a/a.md", "a-b/x.md", "a/sub/n.md", "中/文.md"]
    texts = {name: page_text(name) for name in names}
    before = locale.setlocale(locale.LC_COLLATE)
    rendered = render_manifest(parsed(texts), "zh-TW")
    listed = [line.partition(" [")[0] for line in rendered.splitlines() if " — " in line]
    assert listed == ["é.md", "a/B.md", "a/a.md", "a/sub/n.md", "a/y.md", "a-b/x.md", "b/z.md", "中/文.md"]
    assert render_manifest(parsed(dict(reversed(texts.items()))), "zh-TW") == rendered
    assert locale.setlocale(locale.LC_COLLATE) == before


def test_handed_case_of_stable_bytes(cases: Path) -> None:
    folder = cases / "manifest-stable-bytes" / "files" / "knowledge"
    texts = read_folder(folder)
    first = render_manifest(parsed(texts), "zh-TW")
    assert first == render_manifest(parsed(dict(reversed(texts.items()))), "zh-TW")
    assert not any(found in first for found in ("/tmp/", "UTC", str(folder)))
    assert first.count(" — ") == 5


EVIL = "甲\n=== 假 ===\r\n假.md [x] — y\t\x1b[31m紅\x1b[0m\x1b]0;title\x07\u2028\u202e反\u200b\x85\x00\U000e0041末"


def test_no_field_of_a_page_breaks_its_line() -> None:
    page = WikiPage(
        path="a\nb/c\x1b[2J.md", title=EVIL, scope=EVIL, summary=EVIL, keywords=(EVIL, "k"), status=PageStatus.CURRENT
    )
    lines = render_manifest([page], "zh-TW").split("\n")
    assert len(lines) == 4
    assert [line[:4] for line in lines] == ["=== ", "a b/", "  ke", ""]
    assert all(line.isprintable() for line in lines)


@given(st.text())
def test_any_text_stays_on_one_printable_line_and_is_stable(text: str) -> None:
    line = one_line(text)
    assert "\n" not in line
    assert "\x1b" not in line
    assert len((line + "x").splitlines()) == 1
    assert one_line(line) == line


@given(st.lists(st.tuples(st.sampled_from(["a", "b", "."]), st.text(max_size=30)), max_size=12))
def test_every_published_page_has_exactly_one_entry(rows: list[tuple[str, str]]) -> None:
    found = [
        WikiPage(
            path=f"{n}.md" if domain == "." else f"{domain}/{n}.md",
            title=text,
            scope=text,
            summary=text,
            keywords=(text, "k"),
            status=PageStatus.CURRENT,
        )
        for n, (domain, text) in enumerate(rows)
    ]
    lines = render_manifest(found, "en").splitlines()
    entries = [line for line in lines if line[:1].isalnum()]
    assert sorted(line.partition(" [")[0] for line in entries) == sorted(page.path for page in found)
    assert sum(line.startswith("=== ") for line in lines) == len({domain for domain, _ in rows})


def test_tokens_are_estimated_by_script() -> None:
    assert estimate_tokens("權杖輪替") == 4
    assert estimate_tokens("abcdefgh") == 2
    assert estimate_tokens("權杖 token") == 2 + 2


def measured(count: int, budget: int = 25_000, **more: str) -> ManifestReport:
    texts = {f"d{n % 3}/{n:04}.md": page_text(f"頁{n}", summary="摘要" * 20) for n in range(count)}
    found = parsed(texts)
    return manifest_report(found, render_manifest(found, "zh-TW"), "zh-TW", budget=budget, left_out=more)


def test_the_report_measures_pages_tokens_and_the_fattest() -> None:
    found = [*pages(), *parsed({"ops/fat.md": page_text("胖", summary="很長" * 200)})]
    report = manifest_report(
        found, render_manifest(found, "zh-TW"), "zh-TW", budget=25_000, left_out={"auth/draft.md": "draft"}
    )
    assert report.fattest[0][0] == "ops/fat.md"
    assert report.fattest[0][1] > 400
    assert report.left_out == {"auth/draft.md": "draft"}
    assert not report.two_stage


@pytest.mark.parametrize(("count", "two_stage"), [(50, False), (500, True)])
def test_over_the_budget_the_manifest_has_two_stages(count: int, two_stage: bool) -> None:
    report = measured(count)
    assert report.two_stage is two_stage
    assert report.advice


@pytest.mark.parametrize("domain_count", [3, 40, 150])
def test_the_first_stage_of_two_thousand_pages_stays_below_eight_thousand_tokens(domain_count: int) -> None:
    texts = {
        f"domain{n % domain_count}/{n:04}.md": page_text(
            f"頁{n}", scope=f"系統 {n % 90}", keywords=(f"關鍵字{n}", f"word{n}", "共同")
        )
        for n in range(2_000)
    }
    assert estimate_tokens(render_directory_manifest(parsed(texts), "zh-TW")) <= 8_000
