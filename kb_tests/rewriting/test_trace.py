"""Provenance of facts (SPEC 6.12)."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.markdown.pages import read_page, render_page
from kb_pipeline.models import PageDraft, SourceRef, WikiPage
from kb_pipeline.rewriting.trace import trace_facts

RAW = """\
# 權杖

權杖在 90 天後過期，
之後以 /api/refresh 端點換發，
寬限期 5 分鐘。

- 重試 3 次
- 測試環境的權杖
  只有 7 天

| 設定 | 值 |
|---|---|
| TOKEN_TTL | 300 |

```sh
kb build
kb build --full
```

連線逾時 5 分鐘。
"""


def page(body: str, *sources: str, summary: str = "換發方式") -> WikiPage:
    draft = PageDraft("auth/token.md", "權杖", "內部", summary, ("a", "b", "c"), f"# 權杖\n\n{body}", date(2026, 8, 18))
    refs = [SourceRef(path, "0" * 64) for path in sources or ("auth/token.md",)]
    return read_page("auth/token.md", render_page(draft, refs, "offline", "k", "1/1").encode())


@pytest.mark.parametrize(
    ("said", "source"),
    [
        ("期限 90 天。", "raw/auth/token.md:3-5"),
        ("呼叫 `/api/refresh`。", "raw/auth/token.md:3-5"),
        ("重試 3 次。", "raw/auth/token.md:7"),
        ("測試環境為 7 天。", "raw/auth/token.md:8-9"),
        ("`TOKEN_TTL`", "raw/auth/token.md:13"),
        ("執行 `kb build --full`。", "raw/auth/token.md:17"),
        ("期限 91 天。", None),
    ],
)
def test_a_fact_is_traced_to_the_lines_that_say_it(said: str, source: str | None) -> None:
    (traced,) = trace_facts(page(said), {"auth/token.md": RAW})
    assert traced.source == source


def test_of_several_places_the_one_with_the_same_surroundings_wins() -> None:
    traced = trace_facts(page("過期之後有寬限期 5 分鐘。\n\n連線的逾時是 5 分鐘。"), {"auth/token.md": RAW})
    assert [item.source for item in traced] == ["raw/auth/token.md:3-5", "raw/auth/token.md:20"]


def test_lines_are_the_pages_own_and_facts_of_the_summary_come_first() -> None:
    wiki_page = page("一\n\n期限 90 天。", summary="90 天過期、重試 3 次")
    traced = trace_facts(wiki_page, {"auth/token.md": RAW})
    lines = render_lines(wiki_page)
    assert [(item.fact.normal, lines[item.page_line - 1]) for item in traced] == [
        ("3 time", "summary: 90 天過期、重試 3 次"),
        ("90 d", "期限 90 天。"),
    ]


def render_lines(wiki_page: WikiPage) -> list[str]:
    draft = PageDraft(
        wiki_page.path,
        wiki_page.title,
        wiki_page.scope,
        wiki_page.summary,
        wiki_page.keywords,
        wiki_page.body,
        date(2026, 8, 18),
    )
    return render_page(draft, wiki_page.sources, "offline", "k", "1/1").split("\n")


def test_several_sources_are_searched_in_their_order_and_others_not_at_all() -> None:
    texts = {"b.md": "期限 90 天", "a.md": "期限 90 天\n\n上限 3 次", "other.md": "限制 8 次"}
    traced = trace_facts(page("期限 90 天、上限 3 次、限制 8 次", "b.md", "a.md"), texts)
    assert [item.source for item in traced] == ["raw/b.md:1", "raw/a.md:3", None]


@given(st.lists(st.sampled_from(["90 天", "- 3 次", "`a_b`", "```", "", "| 1 | 2 GB |", "# 標題 v1.2.3", "> 5 分鐘"])))
def test_every_range_lies_in_the_document_and_holds_the_fact(lines: list[str]) -> None:
    raw = "\n".join(lines)
    for item in trace_facts(page(raw), {"auth/token.md": raw}):
        assert item.source is not None
        first, _, last = item.source.rpartition(":")[2].partition("-")
        held = "\n".join(lines[int(first) - 1 : int(last or first)])
        assert item.fact.text in held
