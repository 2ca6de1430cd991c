"""The summary lists what can be looked up in a page."""

from __future__ import annotations

import pytest

from kb_pipeline.lint.vocabulary import TOPIC
from kb_pipeline.models import Compiled, RawDocument, RewriteContext
from kb_pipeline.rewriting.clauses import tidy
from kb_pipeline.rewriting.offline import OfflineRewriter

FILLING = "這一段沒有特別的內容，只是把篇幅補到一頁所需的長度，讓文件不會被當成片段。" * 6
FILLING_EN = "This passage has no particular content and only makes the page long enough to be one. " * 4


def summary(text: str) -> str:
    outcome = OfflineRewriter().rewrite(RawDocument("auth/note.md", text, "0" * 64), RewriteContext("auth/note"))
    assert isinstance(outcome, Compiled)
    return outcome.pages[0].summary


def test_chinese_facts_come_with_their_words_and_an_enumeration_comma_between_them() -> None:
    text = f"# 權杖\n\n權杖 90 天過期。換發後有 5 分鐘寬限期；失敗重試 3 次。\n\n{FILLING}"
    assert summary(text) == "權杖 90 天過期、換發後有 5 分鐘寬限期、失敗重試 3 次"


def test_english_facts_are_separated_by_semicolons() -> None:
    text = f"# Tokens\n\nTokens expire after 90 days. The grace period is 5 minutes.\n\n{FILLING_EN}"
    assert summary(text).startswith("Tokens expire after 90 days; The grace period is 5 minutes")


@pytest.mark.parametrize(
    ("text", "item"),
    [
        ("逾時 30 秒（Asia/Taipei", "逾時 30 秒"),
        ("重跑 /opt/jobs/run.sh <date", "重跑 /opt/jobs/run.sh"),
        ("命名：`<層>_<主題>_<粒度>`", "命名：<層>_<主題>_<粒度>"),
        ("命名：<層>_<主題>_<粒度", ""),
        ("(ab [c", ""),
        ("的資料保留 90 天", "資料保留 90 天"),
        ("的確保留 90 天", "的確保留 90 天"),
        ("retry 3 times (see [[b#Level]])", "retry 3 times (see b)"),
        ("a -> b at 5 < 6 (1)", "a -> b at 5 < 6 (1)"),
    ],
)
def test_an_item_does_not_end_in_an_open_bracket_or_half_a_placeholder(text: str, item: str) -> None:
    assert tidy(text) == item


def test_a_bracket_that_a_detail_reaches_into_is_closed() -> None:
    found = summary(
        f"# 排程\n\n排程每天 03:00（Asia/Taipei）啟動，保留 30 天。`/opt/run.sh <date>` 重跑 5 次。\n\n{FILLING}"
    )
    assert found.count("（") == found.count("）")
    assert found.count("<") == found.count(">")


def test_an_enumeration_inside_a_fact_is_not_cut() -> None:
    assert "每週二 / 四 10:00" in summary(f"# 窗口\n\n部署窗口是每週二、四 10:00 開始。\n\n{FILLING}")


def test_rows_of_a_table_are_facts_too() -> None:
    text = f"# 設定\n\n{FILLING}\n\n## 參數\n\n| 名稱 | 值 |\n| --- | --- |\n| 逾時 | 30 秒 |\n| 重試 | 3 次 |\n"
    assert "逾時：30 秒" in summary(text)


def test_headings_stand_in_where_there_are_no_facts() -> None:
    text = "# 快取\n\n## 失效時機\n\n" + FILLING + "\n\n## 更新順序\n\n" + FILLING + "\n\n## 背景\n\n" + FILLING
    assert summary(text).startswith("失效時機、更新順序")
    assert "背景" not in summary(text)


def test_the_authors_summary_is_taken_if_it_lists_facts() -> None:
    good = "90 天過期、/refresh 換發、5 分鐘寬限期"
    assert summary(f"---\nsummary: {good}\n---\n# T\n\n{FILLING}") == good
    assert "說明" not in summary(f"---\nsummary: 說明權杖輪替的相關機制與流程\n---\n# T\n\n權杖 90 天過期。{FILLING}")


@pytest.mark.parametrize(
    "sentence",
    [
        "本節介紹 3 種做法的相關細節。",
        "An overview of 5 retries.",
        "關於 90 天的說明。",
        "This page describes 4 steps.",
    ],
)
def test_it_never_says_what_a_page_is_about(sentence: str) -> None:
    text = summary(f"# 換發流程與期限\n\n{sentence}\n\n{FILLING}")
    assert not TOPIC.search(text)
    assert len(text) >= 15


def test_a_page_of_links_lists_what_it_links() -> None:
    text = "# 索引\n\n- [權杖輪替](a.md)\n- [金鑰申請](b.md)\n- [登入流程](c.md)\n- [錯誤代碼](d.md)\n"
    assert summary(text) == "權杖輪替、金鑰申請、登入流程、錯誤代碼"


def test_a_page_of_code_lists_the_names_it_uses() -> None:
    code = "client = KustoClient(connection)\nclient.ingest(table_name)\n" * 8
    assert "KustoClient" in summary(f"# 程式\n\n```python\n{code}```\n")
