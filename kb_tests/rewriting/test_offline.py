"""The offline rewriter: a raw document in, pages out that lint finds nothing wrong with (SPEC 6.1, 6.9)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_pipeline.lint.page_lint import lint_page
from kb_pipeline.lint.policy import LintPolicy
from kb_pipeline.markdown.decoding import decode_text
from kb_pipeline.markdown.pages import read_page, render_page
from kb_pipeline.models import (
    Compiled,
    Failed,
    Finding,
    Fragment,
    Held,
    PageDraft,
    PageStatus,
    RawDocument,
    RewriteContext,
    RewriteOutcome,
    Severity,
    SourceRef,
    WikiPage,
)
from kb_pipeline.rewriting.gates import run_gates
from kb_pipeline.rewriting.offline import OfflineRewriter
from kb_pipeline.text.facts import extract_facts
from kb_pipeline.text.glossary import parse_glossary

TODAY = date(2026, 12, 1)
DIARY = """\
---
tags: [auth, devdiary]
owner: 平台組
ticket: PLAT-482
---
# 2026-08-18 開發日誌：Token 輪替改版

今天把內部 API Gateway 的權杖（token）輪替改成自動化。之前每次都要人工進後台按「重新產生」，常常有人忘記。

<!-- TODO: 補圖 -->

## 背景

原本 token 90 天過期，過期前沒有任何提醒。上個月 7/3 因為沒人換發，訂單服務中斷 42 分鐘。

## 做法

1. 過期前 7 天，排程 `token-rotator` 每天 03:00 呼叫 `POST /refresh` 換發。
2. 換發後舊 token 有 5 分鐘寬限期，兩個都能用。

```
curl -X POST https://gw.internal.example.com/refresh
```

#### 踩到的坑

- 寬限期內舊 token 的請求**不可**寫入快取，見 [撤銷](revoke.md)。

## 待補
"""
LONG = "# 手冊\n\n開頭寫結論。\n\n" + "\n\n".join(
    f"## 第 {n} 節\n\n見 [下一節](#第-{n + 1}-節)。" + f"第 {n} 節的內容說到設定值 {n * 10} 秒與做法。" * 20
    for n in range(1, 9)
)


def rewrite(
    text: str,
    path: str = "devdiary/note.md",
    *,
    rewriter: OfflineRewriter | None = None,
    existing: tuple[WikiPage, ...] = (),
    scope: str | None = "內部 API Gateway",
) -> RewriteOutcome:
    document = RawDocument(path, text, "0" * 64, scope=scope, dated=date(2022, 2, 9))
    return (rewriter or OfflineRewriter()).rewrite(document, RewriteContext("auth/note", existing))


def pages(text: str, path: str = "devdiary/note.md", **options: object) -> tuple[PageDraft, ...]:
    outcome = rewrite(text, path, **options)  # type: ignore[arg-type]
    assert isinstance(outcome, Compiled), outcome
    return outcome.pages


def written(drafts: Sequence[PageDraft]) -> list[WikiPage]:
    count = len(drafts)
    return [
        read_page(
            draft.path, render_page(draft, [SourceRef("r.md", "0" * 64)], "offline", "k", f"{n}/{count}").encode()
        )
        for n, draft in enumerate(drafts, start=1)
    ]


def errors(drafts: Sequence[PageDraft]) -> list[str]:
    return [
        f"{finding.rule}: {finding.message}"
        for page in written(drafts)
        for finding in lint_page(page, LintPolicy(stale_after_days=None), TODAY)
        if finding.severity is Severity.ERROR
    ]


# --- one page ------------------------------------------------------------------------------------------------------


def test_a_diary_becomes_a_page_that_answers_without_being_read_to_its_end() -> None:
    (page,) = pages(DIARY)
    assert page.title == "2026-08-18 開發日誌：Token 輪替改版"
    assert page.body.startswith(
        "# 2026-08-18 開發日誌：Token 輪替改版\n\n> 今天把內部 API Gateway 的權杖（token）輪替改成自動化。\n"
    )
    assert {"原本 token 90 天過期", "訂單服務中斷 42 分鐘"} <= set(page.summary.split("、"))
    assert {"權杖", "token", "token-rotator"} <= {keyword.lower() for keyword in page.keywords}
    assert (page.path, page.scope, page.status) == ("auth/note.md", "內部 API Gateway", PageStatus.CURRENT)
    assert (page.updated, page.tags, page.aliases) == (date(2022, 2, 9), ("auth", "devdiary"), ("note",))
    assert errors([page]) == []


def test_every_fact_of_the_raw_document_is_kept() -> None:
    raw = {fact.normal for fact in extract_facts(DIARY.partition("---\n# ")[2])}
    assert raw <= {fact.normal for fact in extract_facts("\n".join(page.body for page in pages(DIARY)))}


def test_comments_go_and_empty_sections_are_merged_and_links_stay_as_written() -> None:
    (page,) = pages(DIARY)
    assert "TODO" not in page.body
    assert "## 待補" not in page.body
    assert "[撤銷](revoke.md)" in page.body
    assert "```text\ncurl" in page.body


def test_front_matter_that_readers_may_ask_for_becomes_a_section() -> None:
    (page,) = pages(DIARY)
    assert page.body.endswith("## 文件資料\n\n- owner：平台組\n- ticket：PLAT-482\n")


BROKEN = "title: [unclosed\nport: 9999"
TEXT = "# Relay notes\n\n" + "The relay forwards packets to the hub and waits 30 seconds for an answer. " * 4


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"---\n{BROKEN}\n---\n{TEXT}", 3),
        (f"---\nowner: net\n---\n---\n{BROKEN}\n---\n{TEXT}", 6),
        (f"---\nowner: net\n---\n\n\n---\n{BROKEN}\n---\n{TEXT}", 8),
        (f"---\nport: 9999\nport: 1234\n---\n{TEXT}", 3),
    ],
)
def test_front_matter_that_cannot_be_read_is_kept_as_text_and_noted(text: str, line: int) -> None:
    outcome = rewrite(text)
    assert isinstance(outcome, Compiled)
    (page,) = outcome.pages
    assert page.body.count("## Document details\n") == 1
    assert "port: 9999" in page.body.partition("```yaml\n")[2].partition("```")[0]
    assert [(note.rule, note.line) for note in outcome.notes] == [("raw-front-matter", line)]
    assert errors(outcome.pages) == []


def test_a_fragment_keeps_front_matter_that_cannot_be_read() -> None:
    outcome = rewrite(f"---\n{BROKEN}\n---\nShort note on the relay.\n")
    assert isinstance(outcome, Fragment)
    assert "port: 9999" in outcome.text


def test_the_product_speaks_the_language_of_the_document() -> None:
    text = "---\nowner: Mei\n---\n# Tokens\n\n" + "Tokens expire after 90 days and are renewed by a job. " * 6
    assert "## Document details\n\n- owner: Mei" in pages(text)[0].body


def test_a_description_or_quote_that_concludes_is_the_conclusion() -> None:
    filling = "這一段沒有特別的內容，只是把篇幅補到一頁所需的長度。" * 10
    (page,) = pages(f"# 權杖\n\n> 權杖 90 天過期，用 /refresh 換發。\n\n{filling}")
    assert page.body.count("權杖 90 天過期，用 /refresh 換發。") == 1
    assert page.body.startswith("# 權杖\n\n> 權杖 90 天過期，用 /refresh 換發。\n")


def test_the_sentences_under_a_decision_are_the_conclusion() -> None:
    filling = "我們討論了許多方案並且比較了各自的優點。" * 8
    text = f"# 資料庫選型\n\n## 背景\n\n{filling}\n\n## 決策\n\n訂單服務改用 PostgreSQL 15。\n"
    assert pages(text)[0].body.startswith("# 資料庫選型\n\n> 訂單服務改用 PostgreSQL 15。\n")


@pytest.mark.parametrize(
    "title",
    ["C# 與 F#", "a_b *c* d", "`kb build` 的用法", "[WIP] 草案", "<T> & Co", "為什麼 1 < 2？", "x: y", "@home #1"],
)
def test_the_h1_reads_as_the_title_whatever_is_in_it(title: str) -> None:
    drafts = pages(f"---\ntitle: '{title}'\n---\n" + "這份文件有足夠的內容，說明設定值是 30 秒。" * 12)
    assert errors(drafts) == []
    assert written(drafts)[0].outline.headings[0].text == written(drafts)[0].title


# --- status, kind --------------------------------------------------------------------------------------------------


def test_a_superseded_decision_points_to_its_successor() -> None:
    text = "---\nstatus: superseded\nsuperseded_by: adr/0031-citus.md\n---\n# ADR-12\n\n訂單服務改用 PostgreSQL 15。\n"
    (page,) = pages(text)
    assert page.status is PageStatus.DEPRECATED
    assert "[0031-citus](adr/0031-citus.md)" in page.body.split("\n\n")[1]
    assert errors([page]) == []


@pytest.mark.parametrize(
    ("front", "body", "status"),
    [
        ("status: draft", "", PageStatus.DRAFT),
        ("draft: true", "", PageStatus.DRAFT),
        ("status: deprecated", "", PageStatus.DEPRECATED),
        ("status: accepted", "", PageStatus.CURRENT),
        ("title: x", "Status: Superseded by [ADR-13](0013.md)\n\n", PageStatus.DEPRECATED),
    ],
)
def test_status_is_taken_from_where_it_is_written(front: str, body: str, status: PageStatus) -> None:
    text = f"---\n{front}\n---\n# 標題\n\n{body}" + "這份文件有足夠的內容，說明設定值是 30 秒。" * 12
    assert pages(text)[0].status is status


def test_a_document_of_links_is_an_index_page_however_short() -> None:
    (page,) = pages("# 索引\n\n- [權杖輪替](a.md)\n- [金鑰申請](b.md)\n- [登入流程](c.md)\n- [錯誤代碼](d.md)\n")
    assert page.kind == "index"
    assert errors([page]) == []


def test_raw_related_becomes_links_for_the_link_pass() -> None:
    text = "---\nrelated: [auth/revoke.md, 金鑰]\n---\n# T\n\n" + "這份文件有足夠的內容，說明設定值是 30 秒。" * 12
    assert "## 另見\n\n- [revoke](auth/revoke.md)\n- [[金鑰]]" in pages(text)[0].body


# --- too little ----------------------------------------------------------------------------------------------------


def test_a_short_document_is_a_fragment_of_its_month() -> None:
    outcome = rewrite("---\ntitle: 密碼\ndate: 2026-08-02\n---\n每 30 天換一次。\n")
    assert outcome == Fragment("2026-08", "密碼\n\n每 30 天換一次。")


@pytest.mark.parametrize("text", ["", "  \n", "---\ntitle: x\n---\n", "<!-- only a comment -->\n"])
def test_nothing_to_rewrite_is_a_permanent_failure_with_its_reason(text: str) -> None:
    outcome = rewrite(text)
    assert isinstance(outcome, Failed)
    assert outcome.permanent
    assert "nothing to rewrite" in outcome.reason


def test_a_document_slightly_longer_than_a_fragment_keeps_all_its_text() -> None:
    text = "# 標題\n\n" + "本文說明很平常的事情。大家都同意這樣比較好。流程因此變得簡單。沒有別的事。" * 6
    (page,) = pages(text)
    assert len(page.body) >= 200


# --- parts ---------------------------------------------------------------------------------------------------------


def test_a_long_document_becomes_linked_parts_that_stand_alone() -> None:
    drafts = pages(LONG)
    assert len(drafts) > 1
    assert drafts[0].path == "auth/note.md"
    assert all(re.fullmatch(r"auth/note--第-\d-節\.md", draft.path) for draft in drafts[1:])
    assert all(re.fullmatch(r"手冊：第 \d 節", draft.title) for draft in drafts[1:])
    for draft in drafts:
        others = {related.path for related in draft.related}
        assert all(draft.path in {r.path for r in other.related} for other in drafts if other.path in others)
        assert 1 <= len(others) <= 8
    assert errors(drafts) == []


def test_links_inside_the_document_follow_their_headings_to_the_other_part() -> None:
    drafts = pages(LONG)
    found = {
        draft.path: {heading.slug for heading in page.outline.headings}
        for draft, page in zip(drafts, written(drafts), strict=True)
    }
    links = [
        (draft.path, *match) for draft in drafts for match in re.findall(r"\[下一節\]\(([^)#]*)#([^)]*)\)", draft.body)
    ]
    assert len(links) == 7  # the eighth section has no next one: its label stays as text
    for path, target, anchor in links:
        assert anchor in found[f"auth/{target}" if target else path]


def test_link_definitions_and_footnotes_go_with_the_text_that_uses_them() -> None:
    text = LONG.replace("開頭寫結論。", "開頭寫結論，見 [說明][guide]。[^1]").replace(
        "第 8 節的內容", "第 8 節 [說明][guide] 的內容", 1
    )
    drafts = pages(text + "\n\n[guide]: guide.md\n[unused]: https://a.example\n[^1]: 註腳\n")
    assert "[guide]: guide.md" in drafts[0].body
    assert "[^1]: 註腳" in drafts[0].body
    assert "[guide]: guide.md" in drafts[-1].body
    assert "[unused]: https://a.example" in drafts[-1].body


def test_parts_keep_their_pages_when_a_section_is_added() -> None:
    before = written(pages(LONG))
    after = pages(
        LONG.replace("## 第 1 節", "## 新的一節\n\n" + "新的內容 5 秒。" * 60 + "\n\n## 第 1 節"),
        existing=tuple(before),
    )
    kept = {page.title: page.path for page in before}
    assert all(draft.path == kept[draft.title] for draft in after if draft.title in kept)


def test_a_table_too_long_for_a_page_stays_whole_and_is_noted() -> None:
    table = "| 代碼 | 意思 |\n| --- | --- |\n" + "".join(f"| E{n:04} | 錯誤 {n} 的意思 |\n" for n in range(200))
    outcome = rewrite(f"# 錯誤代碼\n\n客戶端收到這些代碼。\n\n{table}")
    assert isinstance(outcome, Compiled)
    assert [note.rule for note in outcome.notes] == ["unsplittable-block"]
    assert any(table.strip() in page.body for page in outcome.pages)
    assert errors(outcome.pages) == []


def test_only_the_first_part_answers_to_the_documents_name() -> None:
    aliases = [alias for draft in pages(LONG) for alias in draft.aliases]
    assert aliases == ["note"]


# --- the rewriter as such ------------------------------------------------------------------------------------------


def test_the_same_document_gives_the_same_pages() -> None:
    assert rewrite(LONG) == rewrite(LONG)


def test_the_key_tells_the_rules_and_the_glossary() -> None:
    glossary = parse_glossary("terms:\n  - term: 權杖\n    en: [token]\n")
    assert re.fullmatch(r"[0-9a-f]{12}", OfflineRewriter().key)
    assert OfflineRewriter(glossary).key != OfflineRewriter().key
    assert OfflineRewriter(glossary).key == OfflineRewriter(glossary).key
    assert OfflineRewriter().name == "offline"


def test_an_error_of_a_gate_holds_the_drafts_and_a_warning_is_a_note() -> None:
    def gate(severity: Severity) -> OfflineRewriter:
        finding = Finding("some-rule", severity, "auth/note.md", "message")
        return OfflineRewriter(gates=lambda drafts, document: (finding,))

    held = rewrite(DIARY, rewriter=gate(Severity.ERROR))
    assert isinstance(held, Held)
    assert [finding.rule for finding in held.findings] == ["some-rule"]
    compiled = rewrite(DIARY, rewriter=gate(Severity.WARNING))
    assert isinstance(compiled, Compiled)
    assert [note.rule for note in compiled.notes] == ["some-rule"]


@pytest.mark.parametrize("text", [DIARY, LONG])
def test_its_pages_pass_the_gates(text: str) -> None:
    document = RawDocument("devdiary/note.md", text, "0" * 64, scope="S", dated=date(2022, 2, 9))
    outcome = OfflineRewriter().rewrite(document, RewriteContext("auth/note"))
    assert isinstance(outcome, Compiled)
    report = run_gates(outcome.pages, document, page_lint=None, model=False)
    assert [finding for finding in report.findings if finding.severity is Severity.ERROR] == []
    assert report.metrics["facts_kept"] == 1.0
    assert report.metrics["negations_dropped"] == 0


_LINES = st.sampled_from(
    [
        "# 標題", "## Heading", "### a `b` [c](d.md)", "#### 深", "- item 5 秒", "1. step", "> quote", "> # inside", "```", "~~~ py", "| a | b |",
        "| --- | --- |", "權杖 90 天過期。不可重試。", "Plain words without any fact at all here.", "[x]: https://a.example", "text [x] and [^1]", "[^1]: note",
        "    indented", "<div>", "</div>", "<!-- c -->", "---", "===", "", "", "**粗體**", "![p](q.png)", "[[wiki#標題|別名]]", "[去](#標題)", "* * *", "\t- tab",
    ]
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(_LINES, st.integers(1, 12)), max_size=40))
def test_whatever_the_markdown_the_outcome_is_a_value_and_its_pages_keep_the_rules(
    lines: list[tuple[str, int]],
) -> None:
    outcome = rewrite("\n".join(line if line[:1] in "#`~|<[-=" else line * times for line, times in lines), "a/b.md")
    if isinstance(outcome, Compiled):
        assert errors(outcome.pages) == []
        for page in written(outcome.pages):
            assert page.problems == ()
            assert page.compiled is not None
            assert page.compiled.sha256 == page.fingerprint


def test_real_notes_give_pages_without_an_error(shared: Path) -> None:
    """Some of the handed vaults' documents; all of them are tried by the nightly run."""
    files = sorted((shared / "vaults").rglob("*.md"))[::60]
    found = {}
    for file in files:
        document = RawDocument(file.name, decode_text(file.read_bytes()), "0" * 64, scope="S", dated=date(2022, 2, 9))
        outcome = OfflineRewriter().rewrite(document, RewriteContext(f"vault/{file.stem.lower()}"))
        if isinstance(outcome, Compiled):
            found.update(
                {draft.path: faults for draft in outcome.pages if (faults := errors([replace(draft, related=())]))}
            )
    assert found == {}


def test_a_page_is_not_long_enough_by_its_link_targets_alone() -> None:
    target = "../" + "very-long-folder-name/" * 9 + "page.md"
    short = f"# 清除資料\n\n清除現有資料表的資料，包括串流內嵌資料，需要 [管理員許可權]({target})。\n"
    assert len(short) > 200
    outcome = OfflineRewriter().rewrite(
        RawDocument("svc/clear.md", short, "0" * 64, dated=date(2026, 1, 2)), RewriteContext("svc/clear")
    )
    assert isinstance(outcome, Fragment)
