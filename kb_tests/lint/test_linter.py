"""``Linter`` after changes: the same findings as a fresh lint, at the price of the change."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_pipeline.lint import Linter, LintPolicy, lint_all, lint_page
from kb_pipeline.markdown.pages import read_page
from kb_pipeline.models import WikiPage
from kb_tests.lint.sample_pages import TODAY, other_body, page, page_text

POLICY = LintPolicy(paired_at_least=1)
PATHS = ("a.md", "b.md", "x/c.md", "x/d.md", "legacy/e.md")

SENTENCE = st.sampled_from(
    [
        "權杖逾時為 30 秒。", "權杖逾時：60 秒。", "權杖逾時 90 秒，換發 5 次。", "見 [[甲]] 與 [[b]]。", "見 [[x/c#節]]。", "見 [無](無.md)。",
        "這一句在許多頁面裡都一模一樣地出現。", "另一句夠長的句子也在別的頁面裡出現過。", "只有這裡才有的句子，寫得稍微長一些。",
        "## 節", "塊 ^mark", "見 [[a#^mark]]。",
    ]
)  # fmt: skip
PAGES = st.builds(
    lambda title, status, scope, related, silenced, sentences: page_text(
        title=title,
        status=status,
        scope=scope,
        related=f"[{', '.join(related)}]",
        lint="{orphan: 只用搜尋}" if silenced else None,
        body=f"\n# {title}\n\n" + "\n\n".join(sentences) + "\n",
    ),
    st.sampled_from(["甲", "乙", "丙"]),
    st.sampled_from(["current", "current", "deprecated", "draft"]),
    st.sampled_from(["系統一", "系統二"]),
    st.lists(st.sampled_from(PATHS), max_size=3),
    st.booleans(),
    st.lists(SENTENCE, max_size=8),
)
STATES = st.lists(st.dictionaries(st.sampled_from(PATHS), PAGES, max_size=5), min_size=2, max_size=4)


@settings(max_examples=40, deadline=None)
@given(STATES, st.integers(0, 2))
def test_a_later_lint_finds_what_a_fresh_one_finds(states: list[dict[str, str]], kept: int) -> None:
    linter = Linter(POLICY)
    wiki: dict[str, str] = {}
    for state in states:
        # Some pages stay from one state to the next, so that there is something to keep.
        wiki = {**dict(list(wiki.items())[:kept]), **state}
        pages = [read_page(path, text.encode()) for path, text in wiki.items()]
        assert linter.lint(pages, TODAY) == lint_all(pages, POLICY, TODAY)


def test_another_day_is_judged_anew() -> None:
    pages = [page(updated="2025-12-01")]
    linter = Linter(LintPolicy())
    assert linter.lint(pages, TODAY) == []
    assert [finding.rule for finding in linter.lint(pages, TODAY.replace(year=2027))] == ["stale"]


def wiki_of(count: int) -> list[WikiPage]:
    """Pages of about 2 KB with links, numbers and code, no two alike."""
    chance = random.Random(count)
    return [
        read_page(
            f"d{at % 7}/p{at}.md",
            page_text(
                title=f"主題 {at}",
                scope=f"系統 {at % 20}",
                related=f"[d{(at + 1) % count % 7}/p{(at + 1) % count}.md]",
                body=other_body(
                    f"主題 {at}", subject=f"{at}號主題", extra=f"逾時 {at} 秒，見 [[p{chance.randrange(count)}]]。"
                ),
            ).encode(),
        )
        for at in range(count)
    ]


def cpu(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


@pytest.mark.nightly
def test_cost_grows_with_the_wiki_and_after_a_change_with_the_change() -> None:
    """300, 2,000 and 10,000 pages: linear, and one edit of 10,000 within the 0.3 s of BENCHMARKS."""
    each: dict[int, float] = {}
    for count in (300, 2_000, 10_000):
        pages = wiki_of(count)
        linter = Linter(LintPolicy())
        each[count] = cpu(lambda linter=linter, pages=pages: linter.lint(pages, TODAY)) / count  # type: ignore[misc]
        pages[5] = page(pages[5].path, title=pages[5].title, body=pages[5].body + "\n改為 12 分鐘。\n")
        after = cpu(lambda linter=linter, pages=pages: linter.lint(pages, TODAY))  # type: ignore[misc]
    assert each[10_000] < 3 * each[300]
    assert each[10_000] < 0.002
    assert after < 0.3


def test_one_page_is_judged_in_half_a_millisecond() -> None:
    sample = page(body=other_body("備份"), title="備份")
    policy = LintPolicy()
    best = min(cpu(lambda: [lint_page(sample, policy, TODAY) for _ in range(50)]) / 50 for _ in range(5))
    assert best < 0.000_5
