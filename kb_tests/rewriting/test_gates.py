"""The gates between a rewriter and the wiki (SPEC 6.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_pipeline.markdown.pages import read_page
from kb_pipeline.models import Finding, PageDraft, RawDocument, Severity, WikiPage
from kb_pipeline.rewriting.gates import GateReport, run_gates
from kb_pipeline.text.glossary import Glossary, parse_glossary


def raw(text: str, path: str = "ops/note.md", **values: object) -> RawDocument:
    return replace(RawDocument(path, text, "0" * 64), **values)  # type: ignore[arg-type]


def draft(body: str, **values: object) -> PageDraft:
    page = PageDraft(
        path="ops/note.md",
        title="權杖",
        scope="內部系統",
        summary="期限、寬限期、換發方式",
        keywords=("權杖", "憑證", "輪替"),
        body=f"# 權杖\n\n{body}\n",
        updated=date(2026, 8, 18),
    )
    return replace(page, **values)  # type: ignore[arg-type]


def gates(
    text: str | RawDocument,
    *pages: str | PageDraft,
    model: bool = True,
    glossary: Glossary | None = None,
) -> GateReport:
    document = raw(text) if isinstance(text, str) else text
    drafts = [draft(page) if isinstance(page, str) else page for page in pages]
    return run_gates(drafts, document, page_lint=None, model=model, glossary=glossary)


def rules(report: GateReport) -> list[str]:
    return [finding.rule for finding in report.findings]


# --- fidelity ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "page"),
    [
        ("權杖 90 天過期。", "權杖在 90 天後過期。"),
        ("寬限期為５分鐘。", "寬限期 5 min。"),
        ("上限 1,000 筆。", "上限 1000 筆。"),
        ("佔 50％。", "佔 50%。"),
        ("民國115年8月18日上線。", "2026-08-18 上線。"),
        ("2026 年 8 月 18 日上線。", "上線：2026-08。"),
        ("設定 `TOKEN_TTL=300`。", "| 設定 | 值 |\n|---|---|\n| `TOKEN_TTL` | 300 |"),
        ("| 設定 | 秒 |\n|---|---|\n| TTL | 300 |", "TTL 為 300 秒。"),
        ("寬限期 5 分鐘。", "| 項目 | 分鐘 |\n|---|---|\n| 寬限期 | 5 |"),
        ("```sh\nkb build \\\n  --full\n```", "執行 `kb build --full`。"),
        ("呼叫 /api/refresh 端點。", "呼叫 `/api/refresh`。"),
        ("見 https://Example.com/a/。", "見 <https://example.com/a>。"),
        ("連接埠是 8401。", "port 8401"),
        ("Python 3.11 以上。", "需要 Python 3.11。"),
    ],
)
def test_a_fact_in_another_form_is_the_same_fact(said: str, page: str) -> None:
    report = gates(said, page)
    assert report.metrics["facts_invented"] == 0, report.findings
    assert report.metrics["facts_kept"] == 1, report.findings


@pytest.mark.parametrize(
    ("said", "page", "invented"),
    [
        ("權杖 90 天過期。", "權杖 60 天過期。", "60 天"),
        ("寬限期 5 分鐘。", "寬限期 5 小時。", "5 小時"),
        ("寬限期 15 分鐘。", "寬限期 5 分鐘。", "5 分鐘"),
        ("2026-08 上線。", "2026-08-18 上線。", "2026-08-18"),
        ("版本 2.5.1。", "版本 2.5.2。", "2.5.2"),
        ("設定 `TOKEN_TTL=300`。", "設定 `TOKEN_TTL=600`。", "TOKEN_TTL=600"),
        ("呼叫 `/api/refresh`。", "呼叫 `/api/renew`。", "/api/renew"),
        ("執行 `kb build`。", "執行 `kb build --full`。", "kb build --full"),
        ("見 https://a.tw/x。", "見 https://a.tw/y。", "https://a.tw/y"),
    ],
)
def test_a_fact_that_the_raw_document_does_not_have_is_an_error_on_its_line(
    said: str, page: str, invented: str
) -> None:
    report = gates(said, f"結論。\n\n{page}")
    (finding,) = [finding for finding in report.findings if finding.rule == "fact-invented"]
    assert finding.severity is Severity.ERROR
    assert invented in finding.message
    assert not report.passed
    lines = read_page("x", _render(f"結論。\n\n{page}").encode())
    assert finding.line == lines.body_line + 5


def _render(body: str) -> str:
    from kb_pipeline.markdown.pages import render_page
    from kb_pipeline.models import SourceRef

    return render_page(draft(body), [SourceRef("ops/note.md", "0" * 64)], "draft", "", "1/1")


@pytest.mark.parametrize("field", ["title", "summary", "keywords"])
def test_title_summary_and_keywords_are_held_to_it_too(field: str) -> None:
    value: object = ("權杖", "`token_ttl`", "輪替") if field == "keywords" else "權杖 60 天"
    report = gates("權杖 90 天過期。", draft("90 天。", **{field: value}))
    (finding,) = [finding for finding in report.findings if finding.rule == "fact-invented"]
    assert finding.field == field
    assert finding.line is not None


def test_file_name_front_matter_metadata_and_glossary_are_evidence() -> None:
    document = raw(
        "---\nversion: 3.2.1\nowner: ops_team\n---\n\n事故經過。",
        path="incidents/2026-08-18-E4031-token_refresh.md",
        metadata={"url": "https://a.tw/1"},
        dated=date(2026, 9, 1),
    )
    glossary = parse_glossary("terms:\n  - term: 權杖\n    en: [access_token]\n")
    body = (
        "2026-08-18 的 E4031（`token_refresh`），版本 3.2.1，`ops_team`，https://a.tw/1，2026-09-01，`access_token`。"
    )
    assert gates(document, body, glossary=glossary).metrics["facts_invented"] == 0


def test_facts_of_the_front_matter_need_not_be_kept() -> None:
    assert gates("---\nversion: 3.2.1\n---\n\n期限 90 天。", "期限 90 天。").metrics["facts_kept"] == 1


def test_addresses_of_the_documents_own_pages_and_part_numbers_are_no_inventions() -> None:
    one = draft("一，共 2 頁，見 `ops/note-2.md`。", title="權杖（1/2）")
    two = draft("二。", path="ops/note-2.md", title="權杖（2/2）")
    assert gates("說明。", one, two).metrics["facts_invented"] == 0


def test_counts_of_what_is_listed_are_no_inventions_and_other_numbers_are() -> None:
    body = "分為以下 3 項，3 分鐘內完成：\n\n- 甲\n- 乙\n- 丙"
    messages = [finding.message for finding in gates("甲、乙、丙。", body).findings]
    assert len(messages) == 1
    assert "3 分鐘" in messages[0]


def test_facts_are_kept_by_all_pages_of_the_document_together() -> None:
    text = "期限 90 天。\n\n寬限期 5 分鐘。\n\n上限 3 次。"
    assert (
        gates(text, "期限 90 天，上限 3 次。", draft("寬限期 5 分鐘。", path="ops/note-2.md")).metrics["facts_kept"]
        == 1
    )


def test_less_than_nine_tenths_of_the_facts_is_an_error_that_names_the_lost_ones() -> None:
    text = "\n\n".join(f"第 {number} 段：{number * 10} 天。" for number in range(1, 11))
    kept = [f"{number * 10} 天" for number in range(1, 11)]
    assert gates(text, "、".join(kept[:9])).passed
    report = gates(text, "、".join(kept[:8]))
    (finding,) = report.findings
    assert (finding.rule, finding.severity) == ("facts-lost", Severity.ERROR)
    assert "'90 天' (raw line 17)" in finding.message
    assert report.metrics["facts_kept"] == 0.8


def test_a_raw_document_without_facts_loses_none() -> None:
    assert gates("只是一段話。", "一段話。").metrics["facts_kept"] == 1


def test_the_same_fact_twice_counts_once() -> None:
    assert gates("期限 90 天。再說一次 90 天。", "90 天").metrics["facts_raw"] == 1


# --- negations -----------------------------------------------------------------------------------------------------


def test_a_reworded_sentence_that_lost_its_negation_is_shown_beside_the_original() -> None:
    report = gates("舊權杖不會立即失效，可以繼續使用。", "舊權杖會立即失效，可以繼續使用它。", model=False)
    (finding,) = report.findings
    assert (finding.rule, finding.severity) == ("negation-dropped", Severity.WARNING)
    assert "舊權杖不會立即失效" in finding.message
    assert "舊權杖會立即失效" in finding.message


def test_a_reworded_sentence_that_gained_a_negation_is_shown_on_its_line() -> None:
    report = gates(
        "Old tokens expire at once after a rotation.", "Old tokens do not expire at once after the rotation."
    )
    (finding,) = report.findings
    assert finding.rule == "negation-added"
    assert finding.line is not None
    assert "Old tokens expire at once" in finding.message


def test_a_prohibition_that_is_left_out_is_reported_a_plain_not_is_not() -> None:
    text = "正式環境嚴禁手動刪除資料。\n\n這個功能並不常見。\n\n期限 90 天。"
    report = gates(text, "期限 90 天。")
    assert rules(report) == ["negation-dropped"]
    assert "嚴禁手動刪除" in report.findings[0].message


@pytest.mark.parametrize(
    ("text", "page"),
    [
        ("請勿在正式環境執行這個指令。", "不要在正式環境執行這個指令。"),
        ("- **不支援** 多租戶", "不支援多租戶。"),
        ("Do not restart the node.", "Never restart the node."),
        ("```sh\n# do not run\n```\n\n說明。", "說明。"),
    ],
)
def test_other_words_for_the_same_denial_other_marks_and_code_raise_nothing(text: str, page: str) -> None:
    assert not [rule for rule in rules(gates(text, page)) if rule.startswith("negation")]


# --- copying -------------------------------------------------------------------------------------------------------

WORDS = "甲乙丙丁戊己庚辛壬癸子丑寅卯辰巳午未申酉戌亥天地玄黃宇宙洪荒日月盈昃"
PROSE = "。".join(f"{WORDS[n:]}{WORDS[: n // 2]}{WORDS[n]}" for n in range(30)) + "。"


def test_a_model_may_not_copy_a_long_text_and_is_warned_about_half() -> None:
    assert len(PROSE) > 600
    report = gates(PROSE, PROSE)
    assert [(finding.rule, finding.severity) for finding in report.findings] == [("copied", Severity.ERROR)]
    report = gates(PROSE, PROSE[: int(len(PROSE) * 0.65)])
    assert [(finding.rule, finding.severity) for finding in report.findings] == [("copied", Severity.WARNING)]
    assert not rules(gates(PROSE, "另一種說法。"))


def test_a_copy_of_a_short_text_is_a_warning_and_the_offline_rewriters_a_figure() -> None:
    short = PROSE[:500]
    assert [finding.severity for finding in gates(short, short).findings] == [Severity.WARNING]
    report = gates(PROSE, PROSE, model=False)
    assert report.findings == ()
    assert report.metrics["copied"] > 0.95


def test_a_copy_dealt_out_over_several_pages_is_one_copy() -> None:
    half = len(PROSE) // 2
    pages = draft(PROSE[:half]), draft(PROSE[half:], path="ops/note-2.md")
    assert rules(gates(PROSE, *pages)) == ["copied"]


# --- script --------------------------------------------------------------------------------------------------------


def test_traditional_input_does_not_become_simplified() -> None:
    report = gates("這個權杖過期後會換發。", "結論。\n\n这个權杖過期後會換發。")
    (finding,) = [finding for finding in report.findings if finding.rule == "script-simplified"]
    assert finding.severity is Severity.ERROR
    assert "这" in finding.message
    assert finding.line == read_page("x", _render("結論。").encode()).body_line + 5


def test_simplified_characters_of_the_raw_document_itself_are_kept() -> None:
    assert not rules(gates("介面顯示「这个」兩字，請照抄。", "介面顯示「这个」。"))
    assert "script-simplified" not in rules(
        gates("这个权杖过期后会换发，请联系管理员。", "这个权杖会换发，请找管理员处理。")
    )


def test_words_to_avoid_are_errors_with_the_word_to_write_unless_the_raw_document_uses_them() -> None:
    glossary = parse_glossary("terms:\n  - term: 權杖\n    avoid: [代幣]\n    simplified: [令牌]\n")
    report = gates("這個權杖會過期。", draft("代幣會過期。", summary="這個令牌會過期"), glossary=glossary)
    found = [(finding.rule, finding.severity, finding.field) for finding in report.findings]
    assert found == [("term-avoided", Severity.ERROR, "summary"), ("term-avoided", Severity.ERROR, None)]
    assert "write '權杖'" in report.findings[0].message
    assert not rules(gates("這個權杖（舊稱代幣）會過期。", "代幣是舊稱。", glossary=glossary))


# --- the report ----------------------------------------------------------------------------------------------------


def test_page_rules_are_asked_about_the_page_as_it_would_be_read_back() -> None:
    seen: list[WikiPage] = []

    def lint(page: WikiPage) -> Sequence[Finding]:
        seen.append(page)
        return [Finding("h1", Severity.ERROR, page.path, "no H1")]

    report = run_gates([draft("說明。")], raw("說明。"), page_lint=lint, model=False)
    assert [page.title for page in seen] == ["權杖"]
    assert seen[0].sources[0].path == "ops/note.md"
    assert rules(report) == ["h1"]
    assert not report.passed


def test_drafts_can_be_rendered_by_the_caller() -> None:
    seen: list[PageDraft] = []

    def render(page: PageDraft) -> str:
        seen.append(page)
        return _render("90 天。")

    report = run_gates([draft("說明。")], raw("90 天。"), page_lint=None, model=False, render=render)
    assert (len(seen), report.metrics["facts_kept"]) == (1, 1.0)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["期限 90 天。", "不支援多租戶。", "- 甲 3 次\n- 乙", "`a_b=1`", "```sh\nls -l\n```", "| a | b |\n|---|---|\n| 1 | 2 |",
             "2026-08-18 上線", "Do not run it.", "[x](../a.md#b)", "## 標題 3", "https://a.tw/x?y=1"]
        ),
        min_size=1,
        max_size=8,
    )
)  # fmt: skip
def test_a_page_that_says_exactly_what_the_raw_document_says_passes(blocks: list[str]) -> None:
    text = "\n\n".join(blocks)
    report = gates(text, text, model=False)
    assert report.findings == ()
    assert report.metrics["facts_kept"] == 1
