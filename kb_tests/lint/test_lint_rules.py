"""Each rule against a page that breaks it and one that does not (SPEC 9)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from kb_pipeline.lint import RULES, LintPolicy, lint_all, lint_page, lint_text, lint_wiki
from kb_pipeline.markdown.pages import read_page
from kb_pipeline.models import UNRESOLVED_SCOPE, Finding, WikiPage
from kb_tests.lint.sample_pages import BODY, PROSE, TODAY, other_body, page, page_text

POLICY = LintPolicy()
LONG = PROSE * 40

Plant = Callable[[], Sequence[WikiPage]]


def raw(text: str, path: str = "auth/token.md") -> list[WikiPage]:
    return [read_page(path, text.encode())]


def backup(path: str = "ops/backup.md", **fields: str | None) -> WikiPage:
    body = fields.pop("body", None) or other_body("備份")
    values = {
        "title": "備份",
        "scope": "production 資料庫",
        "summary": "每天兩次、每次十分鐘、失敗重試三次、保留三十天",
        "keywords": "[備份, backup, 還原]",
        **fields,
    }
    return page(path, body=body, **values)


def pair(first: str = "", second: str = "", **fields: str | None) -> list[WikiPage]:
    """Two clean pages, with lines added to their bodies; ``fields`` change the first."""
    return [page(body=BODY + first, **fields), backup(body=other_body("備份") + second)]


def related(*names: str) -> str:
    return "[" + ", ".join(names) + "]"


def paired() -> list[WikiPage]:
    two = ["a/one.md", "a/two.md"]
    pages = [
        backup(
            path,
            title=f"頁面 {at}",
            body=other_body(f"頁面 {at}", subject=f"{at}號備份")[:900],
            related=related(*names),
        )
        for at, (path, names) in enumerate(
            [(two[0], [two[1], "a/x.md", "a/y.md", "a/z.md"]), (two[1], [two[0], "a/x.md", "a/y.md", "a/z.md"])]
        )
    ]
    return pages + [page(f"a/{name}.md", title=name, related=related(*two)) for name in "xyz"]


def conflicting() -> list[WikiPage]:
    older = page(
        "auth/old.md", title="舊權杖說明書", updated="2025-12-01", body=BODY.replace("# 權杖輪替", "# 舊權杖說明書")
    )
    body = other_body("權杖輪替", subject="權杖換發", extra="內部 API Gateway 的權杖在 60 天後過期。")
    return [older, page("auth/new.md", body=body)]


PLANTS: dict[str, Plant] = {
    "unreadable-text": lambda: [read_page("a.md", b"---\ntitle: Caf\xe9\n---\n")],
    "conflict-marks": lambda: raw(page_text(body=BODY + "\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n")),
    "front-matter-missing": lambda: raw(BODY),
    "front-matter-unclosed": lambda: raw("---\ntitle: x\nscope: y\n\n# x\n"),
    "front-matter-yaml": lambda: raw(page_text(title="a: b: c")),
    "front-matter-not-mapping": lambda: raw("---\n- a\n- b\n---\n\n# x\n"),
    "front-matter-duplicate-key": lambda: raw(page_text(status="deprecated\nstatus: current")),
    "front-matter-second": lambda: raw(page_text(body="\n---\ntitle: 第二個\nscope: x\n---\n" + BODY)),
    "field-type": lambda: [page(summary="[a, b]")],
    "field-missing": lambda: [page(summary=None)],
    "status-unknown": lambda: [page(status="published")],
    "updated-invalid": lambda: [page(updated="2026-02-30")],
    "updated-future": lambda: [page(updated="2026-12-01")],
    "scope-unresolved": lambda: [page(scope=f'"{UNRESOLVED_SCOPE}"')],
    "scope-unknown": lambda: [page(scope="內部 API Gatewya")],
    "scope-category": lambda: [page(scope="技術文件")],
    "summary-short": lambda: [page(summary="90 天過期")],
    "summary-topic": lambda: [page(summary="說明 token 輪替的相關機制與流程細節")],
    "keywords-few": lambda: [page(keywords="[token, Token, 權杖]")],
    "silencing-invalid": lambda: [page(lint="{summary-topic: }")],
    "folder-depth": lambda: [page("a/b/c/token.md")],
    "folder-document-type": lambda: [page("tutorials/token.md")],
    "folder-status": lambda: [page("legacy/token.md")],
    "body-too-long": lambda: [page(body=BODY + "\n" + LONG)],
    "body-one-block": lambda: [page(body=f"\n# 權杖輪替\n\n權杖清單如下所列。\n\n```text\n{LONG}\n```\n")],
    "body-too-short": lambda: [page(body="\n# 權杖輪替\n\n權杖 90 天過期。\n")],
    "body-length-advised": lambda: [page(body=f"\n# 權杖輪替\n\n{PROSE}{PROSE}{PROSE}\n")],
    "h1-count": lambda: [page(body=BODY + "\n# 另一個標題\n\n內容\n")],
    "h1-title": lambda: [page(title="權杖換發")],
    "heading-too-deep": lambda: [page(body=BODY + "\n#### 細節\n\n權杖的內容\n")],
    "table-across-sections": lambda: [
        page(body=BODY + "\n| 碼 | 意義 |\n|---|---|\n| 401 | 過期 |\n\n## 權杖續表\n\n| 403 | 沒有權限 |\n")
    ],
    "fence-language": lambda: [page(body=BODY.replace("```sh", "```"))],
    "conclusion-first": lambda: [page(body=BODY.replace("權杖每 90 天過期；", "本文說明權杖怎麼換發：", 1))],
    "sections-unrelated": lambda: [
        page(
            body=BODY + "\n## Lunch\n\nThe canteen opens at noon and closes early on Fridays. "
            "Vegetarian meals have to be ordered before ten in the morning at reception.\n"
        )
    ],
    "stale": lambda: [page(updated="2025-01-01")],
    "outdated": lambda: [
        page(
            compiled='{by: offline, key: aaaaaaaaaaaa, part: 1/1, sha256: "00"}', sources='[{path: a.md, sha256: "00"}]'
        )
    ],
    "related-many": lambda: [page(related=related(*(f"x{at}.md" for at in range(9))))],
    "deprecated-no-successor": lambda: [page("legacy/token.md", status="deprecated")],
    "related-missing": lambda: pair(related="[ops/none.md]"),
    "related-draft": lambda: [page(related="[_inbox/2026-08.md]"), backup("_inbox/2026-08.md", status="draft")],
    "related-not-mutual": lambda: pair(related="[ops/backup.md]"),
    "related-redundant": lambda: pair(related="[auth/token.md]"),
    "related-paired": paired,
    "title-ambiguous": lambda: [page("auth/a.md"), page("auth/b.md")],
    "broken-link": lambda: pair("\n權杖見 [[沒有這頁]]。\n"),
    "ambiguous-link": lambda: [*pair("\n權杖見 [[setup]]。\n"), backup("a/setup.md"), backup("b/setup.md")],
    "link-outside-root": lambda: pair("\n權杖見 [密](../../secret.md)。\n"),
    "link-to-draft": lambda: [*pair("\n權杖見 [[2026-08]]。\n"), backup("_inbox/2026-08.md", status="draft")],
    "link-to-deprecated": lambda: [*pair("\n權杖見 [[old]]。\n"), backup("legacy/old.md", status="deprecated")],
    "broken-anchor": lambda: pair("\n權杖見 [[backup#沒有這節]]。\n"),
    "orphan": pair,
    "near-duplicate": lambda: [page(), page("auth/copy.md", body=BODY.replace("單一服務", "個別服務"))],
    "conflict": conflicting,
}

POLICIES = {
    "scope-unknown": replace(POLICY, scopes=("內部 API Gateway", "production 資料庫")),
    "outdated": replace(POLICY, rewriter_key="bbbbbbbbbbbb"),
}


def findings_of(rule: str) -> list[Finding]:
    if rule == "field-form":
        return lint_text("a.md", page_text(keywords="token, 權杖, 換發"))
    return lint_all(PLANTS[rule](), POLICIES.get(rule, POLICY), TODAY)


def test_every_rule_has_a_page_that_breaks_it() -> None:
    assert set(PLANTS) | {"field-form"} == set(RULES)


@pytest.mark.parametrize("rule", RULES)
def test_a_planted_fault_is_found(rule: str) -> None:
    found = [finding for finding in findings_of(rule) if finding.rule == rule]
    assert found, f"{rule} is silent"
    expected = RULES[rule]
    assert {finding.severity for finding in found} == {expected.severity}
    assert {finding.own for finding in found} == {expected.scope != "wiki"}
    for finding in found:
        assert not re.search(r"\{\w+\}", finding.message), "a placeholder was left unfilled"
        assert len(finding.message) > 20


@pytest.mark.parametrize("rule", [rule.id for rule in RULES.values() if rule.scope == "page"])
def test_a_planted_page_fault_is_an_error_of_its_page_alone(rule: str) -> None:
    """No plant of a page rule brings another *error* of the page: one fault, one error."""
    errors = {
        finding.rule
        for planted in PLANTS[rule]()
        for finding in lint_page(planted, POLICIES.get(rule, POLICY), TODAY)
        if finding.severity == "error"
    }
    assert errors <= {rule}


def test_the_clean_page_has_no_finding() -> None:
    assert lint_page(page(), POLICY, TODAY) == []


def test_two_clean_pages_that_name_each_other_have_no_finding() -> None:
    pages = [page(related="[ops/backup.md]"), backup(related="[auth/token.md]")]
    assert lint_all(pages, POLICY, TODAY) == []


def test_a_page_that_cannot_be_read_has_one_error_and_no_missing_fields() -> None:
    (planted,) = PLANTS["front-matter-yaml"]()
    assert [finding.rule for finding in lint_page(planted, POLICY, TODAY)] == ["front-matter-yaml"]


def test_wiki_findings_alone_leave_out_the_pages_own() -> None:
    assert all(not finding.own for finding in lint_wiki(PLANTS["orphan"](), POLICY, TODAY))


@pytest.mark.parametrize(
    "scope",
    [
        "認證",
        "後端",
        "技術文件",
        "docs",
        "Backend",
        "tutorial",
        "notes",
        "認證、後端",
        "auth docs",
        "後端相關",
        "ＡＰＩ文件類",
    ],
)
def test_a_category_is_no_scope(scope: str) -> None:
    found = {finding.rule for finding in lint_page(page(scope=scope), LintPolicy(categories=("API文件",)), TODAY)}
    assert "scope-category" in found


@pytest.mark.parametrize(
    "scope", ["內部 API Gateway", "第三方整合", "production 環境", "PyPtt v1.x", "測試環境", "billing backend"]
)
def test_a_system_a_product_or_an_environment_is_a_scope(scope: str) -> None:
    found = {finding.rule for finding in lint_page(page(scope=scope), POLICY, TODAY)}
    assert "scope-category" not in found


def test_a_listed_scope_is_accepted_whatever_its_width_and_case() -> None:
    policy = LintPolicy(scopes=("內部 API Gateway", "docs"))
    assert lint_page(page(scope="內部 ＡＰＩ gateway"), policy, TODAY) == []
    assert lint_page(page(scope="docs"), policy, TODAY) == []


def test_the_nearest_listed_scope_is_named() -> None:
    (found,) = findings_of("scope-unknown")
    assert "nearest: '內部 API Gateway'" in found.message


@pytest.mark.parametrize(
    "summary",
    [
        "說明 token 輪替的相關機制",
        "權杖過期與換發流程的說明文件一份",
        "介紹權杖、換發與寬限期的設定方式",
        "An overview of token rotation and refresh",
        "This page describes how tokens are rotated",
        "Introduction to the gateway's token rotation",
        "Information about token expiry and refresh",
    ],
)
def test_a_summary_that_describes_a_topic_is_an_error(summary: str) -> None:
    assert "summary-topic" in {finding.rule for finding in lint_page(page(summary=summary), POLICY, TODAY)}


@pytest.mark.parametrize(
    "summary",
    [
        "90 天過期週期、/refresh 端點取得新 token、5 分鐘寬限期",
        "皮爾森相關係數 0.82、樣本 1,200 筆、p < 0.01",
        "介紹人獎金 500 元、每月 5 日入帳、上限 10 人",
        "tokens expire after 90 days; POST /refresh; 5 minutes of grace",
        "about 400 GB a month; two data centres; 30 days kept",
    ],
)
def test_a_summary_of_facts_is_fine(summary: str) -> None:
    assert lint_page(page(summary=f'"{summary}"'), POLICY, TODAY) == []


def test_folders_named_inbox_and_legacy_are_no_level() -> None:
    found = {f.rule for f in lint_page(page("legacy/auth/token/old.md", status="deprecated"), POLICY, TODAY)}
    assert "folder-depth" not in found


@pytest.mark.parametrize(
    "folder", ["tutorials", "reference", "how-to", "How_To", "devdiary", "incidents", "教學", "規格"]
)
def test_folders_are_not_named_after_types_of_document(folder: str) -> None:
    found = {finding.rule for finding in lint_page(page(f"auth/{folder}/token.md"), POLICY, TODAY)}
    assert "folder-document-type" in found


def test_a_project_adds_its_own_words_for_types_of_document() -> None:
    found = lint_page(page("公告/token.md"), LintPolicy(document_types=("公告",)), TODAY)
    assert [finding.rule for finding in found] == ["folder-document-type"]


def test_an_index_page_and_a_deprecated_page_may_be_short() -> None:
    short = "\n# 權杖輪替\n\n- [[backup]]\n"
    for fields in ({"kind": "index"}, {"status": "deprecated"}):
        found = {finding.rule for finding in lint_page(page(body=short, **fields), POLICY, TODAY)}
        assert "body-too-short" not in found


def test_a_draft_is_checked_for_readable_fields_only() -> None:
    draft = page("_inbox/2026-08.md", status="draft", summary=None, body="\n碎片\n")
    assert lint_page(draft, POLICY, TODAY) == []
    wrong = page("_inbox/2026-08.md", status="draft", evergreen="maybe", body="\n碎片\n")
    assert [finding.rule for finding in lint_page(wrong, POLICY, TODAY)] == ["field-type"]


def test_an_evergreen_page_is_never_stale() -> None:
    assert lint_page(page(updated="2020-01-01", evergreen="true"), POLICY, TODAY) == []
    assert lint_page(page(updated="2020-01-01"), LintPolicy(stale_after_days=None), TODAY) == []


def test_today_is_not_in_the_future() -> None:
    assert lint_page(page(updated="2026-11-30"), POLICY, TODAY) == []


def test_title_and_heading_are_compared_without_markup() -> None:
    body = BODY.replace("# 權杖輪替", "# `token`  **輪替**")
    assert lint_page(page(title='"`token` 輪替"', body=body), POLICY, TODAY) == []


def test_a_table_of_its_own_after_a_heading_is_fine() -> None:
    table = "\n| 碼 | 意義 |\n|---|---|\n| 401 | 權杖過期 |\n"
    assert lint_page(page(body=BODY + table + "\n## 權杖續表\n" + table), POLICY, TODAY) == []


@pytest.mark.parametrize(
    "text", ["用 `<table>` 包起來", "匯出 <table_name> 的 `<table_name>`", "``<table`>``", "`a\n<table> b`"]
)
def test_a_table_named_in_code_or_part_of_another_name_is_no_open_table(text: str) -> None:
    body = f"{BODY}\n{text}，保留 30 天。\n\n## 權杖續表\n\n內容\n"
    assert "table-across-sections" not in {f.rule for f in lint_page(page(body=body), POLICY, TODAY)}


def test_an_html_table_across_a_heading_is_found_and_one_in_code_is_not() -> None:
    split = "\n<table>\n<tr><td>401</td></tr>\n\n## 權杖續表\n\n<tr><td>403</td></tr>\n</table>\n"
    assert "table-across-sections" in {f.rule for f in lint_page(page(body=BODY + split), POLICY, TODAY)}
    code = "\n```html\n<table>\n```\n\n## 權杖續表\n\n內容\n"
    assert lint_page(page(body=BODY + code), POLICY, TODAY) == []


@pytest.mark.parametrize(
    ("lead", "conclusive"),
    [
        ("權杖每 90 天過期。", True),
        ("> 權杖每 90 天過期。", True),
        ("- 權杖 90 天過期\n- 寬限 5 分鐘", True),
        ("Tokens expire after 90 days.", True),
        ("", False),
        ("這份文件介紹權杖如何換發。", False),
        ("This page describes how tokens are rotated.", False),
        ("權杖多久過期？", False),
        ("目錄", False),
        ("換發步驟如下：", False),
    ],
)
def test_the_first_paragraph_has_to_be_the_conclusion(lead: str, conclusive: bool) -> None:
    head, _, rest = BODY.partition("## 過期週期")
    body = f"\n# 權杖輪替\n\n{lead}\n\n## 過期週期{rest}"
    assert head
    found = {finding.rule for finding in lint_page(page(body=body), POLICY, TODAY)}
    assert ("conclusion-first" not in found) == conclusive


def test_sections_that_name_the_title_or_each_other_are_related() -> None:
    body = (
        BODY
        + "\n## Canteen\n\nThe curl client is described for the gateway.internal host, where canteen orders are sent every morning.\n"
    )
    assert "sections-unrelated" not in {finding.rule for finding in lint_page(page(body=body), POLICY, TODAY)}


def test_a_rule_silenced_with_a_reason_says_nothing() -> None:
    silent = page(summary="說明 token 輪替的相關機制與流程", lint="{summary-topic: 客戶指定的標題}")
    assert lint_page(silent, POLICY, TODAY) == []
    policy = LintPolicy(silenced={"summary-topic": "沿用舊庫的摘要"})
    assert lint_page(page(summary="說明 token 輪替的相關機制與流程"), policy, TODAY) == []


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("{summary-topic: }", "without a reason"),
        ('{summary-topic: "  "}', "without a reason"),
        ("{sumary-topic: 打錯}", "no rule"),
        ("{field-missing: 不想寫}", "cannot be silenced"),
        ("[summary-topic]", "not a mapping"),
    ],
)
def test_a_silencing_that_does_not_hold_is_an_error_and_silences_nothing(written: str, words: str) -> None:
    found = lint_page(page(summary="說明 token 輪替的相關機制與流程", lint=written), POLICY, TODAY)
    assert [finding.rule for finding in found] == ["silencing-invalid", "summary-topic"]
    assert words in found[0].message


def test_a_projects_silencing_without_a_reason_is_reported_on_its_configuration() -> None:
    (found,) = lint_wiki([], LintPolicy(silenced={"orphan": ""}), TODAY)
    assert (found.path, found.rule, found.own) == ("kb.yml", "silencing-invalid", False)


def test_a_page_silences_findings_between_pages_too() -> None:
    pages = pair(lint="{orphan: 只由搜尋找到}")
    assert {f.path for f in lint_wiki(pages, POLICY, TODAY) if f.rule == "orphan"} == {"ops/backup.md"}


def test_a_deprecated_page_may_share_the_name_of_its_successor() -> None:
    old = page("legacy/token.md", status="deprecated", related="[auth/token.md]")
    found = lint_all([page(related="[legacy/token.md]"), old], POLICY, TODAY)
    assert found == []


def test_a_deprecated_page_that_leads_only_to_deprecated_ones_has_no_successor() -> None:
    one = page("legacy/a.md", status="deprecated", related="[legacy/b.md]")
    two = backup("legacy/b.md", status="deprecated", related="[legacy/a.md]")
    found = lint_all([one, two], POLICY, TODAY)
    assert [(f.path, f.own) for f in found if f.rule == "deprecated-no-successor"] == [
        ("legacy/a.md", False),
        ("legacy/b.md", False),
    ]


def test_drafts_and_unreadable_pages_are_never_asked_to_name_others() -> None:
    broken = read_page("ops/broken.md", b"---\ntitle: a: b\n---\n\n# a\n")
    found = {f.rule for f in lint_wiki([page(related="[ops/broken.md]"), broken], POLICY, TODAY)}
    assert "related-not-mutual" not in found
    assert "related-missing" not in found


def test_a_broken_link_is_told_once_however_often_it_stands_there() -> None:
    pages = pair("\n權杖 [[無]] 與 [[無]] 以及 [[無#節]]。\n")
    assert sum(f.rule == "broken-link" for f in lint_wiki(pages, POLICY, TODAY)) == 1


def test_addresses_of_the_web_pictures_and_other_files_are_no_broken_links() -> None:
    pages = pair("\n權杖 ![圖](../img/a.png) [報表](files/a.xlsx) [站](https://example.com/x.md) ![[b.pdf]]\n")
    assert {f.rule for f in lint_wiki(pages, POLICY, TODAY)} == {"orphan"}


def test_identical_pages_are_reported_however_many_they_are() -> None:
    pages = [page(f"auth/t{at:02}.md") for at in range(40)]
    found = [f for f in lint_wiki(pages, POLICY, TODAY) if f.rule == "near-duplicate"]
    assert len(found) == 39
    assert all("'auth/t00.md'" in f.message for f in found)


def test_a_conflict_shows_both_values_and_both_dates() -> None:
    (found,) = [f for f in findings_of("conflict") if f.rule == "conflict"]
    assert found.path == "auth/old.md"
    for part in ("90 天", "60 天", "2025-12-01", "2026-08-18", "auth/new.md:"):
        assert part in found.message


@pytest.mark.parametrize(
    ("one", "other", "differs"),
    [
        ("權杖換發逾時為 30 秒", "權杖換發逾時：60 秒", True),
        ("token refresh timeout: 30 s", "token refresh timeout is 60 seconds", True),
        ("權杖換發逾時為 ３０ 秒", "權杖換發逾時：30 秒", False),
        ("權杖資料上限 1,000 筆", "權杖資料上限 1000 筆", False),
        ("權杖格式變更日期：2026-08-18", "權杖格式變更日期：2026年9月1日", True),
        ("權杖格式變更日期：2026-08-18", "權杖格式變更日期：2026 年 8 月 18 日", False),
        ("MAX_TOKENS_PER_SERVICE = 100", "MAX_TOKENS_PER_SERVICE = 200", True),
        ("| 權杖寬限期間 | 5 分鐘 |", "| 權杖寬限期間 | 10 分鐘 |", True),
        ("權杖換發逾時為 30 秒", "權杖換發逾時為 1 分鐘", False),
        ("權杖換發逾時，開發環境 30 秒、正式環境 60 秒", "權杖換發逾時，開發環境 30 秒", False),
        ("1. 權杖重試 3 次", "2. 權杖重試 3 次", False),
        ("每一把權杖在換發後 30 天刪除", "換發完成的權杖，系統在 60 天內刪除", False),
        ("每一把權杖在換發後 30 天刪除", "換發好的權杖將於 60 天內刪除", True),
    ],
)
def test_a_conflict_is_one_thing_with_two_values(one: str, other: str, differs: bool) -> None:
    body = other_body("備份")
    pages = [
        page("a.md", title="甲", body=f"{body}\n{one}\n"),
        page("b.md", title="乙", body=f"{other_body('乙', subject='快取')}\n{other}\n"),
    ]
    found = {f.rule for f in lint_wiki(pages, POLICY, TODAY)}
    assert ("conflict" in found) == differs


def test_other_scopes_other_subjects_and_superseded_pages_do_not_conflict() -> None:
    old, new = conflicting()
    for other in (
        replace(old, scope="第三方整合"),
        replace(old, title="甲", keywords=("甲", "乙", "丙")),
        page("legacy/old.md", status="deprecated", related="[auth/new.md]"),
    ):
        assert "conflict" not in {f.rule for f in lint_wiki([other, new], POLICY, TODAY)}
