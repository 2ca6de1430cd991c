"""Markdown without its marks."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.embeddings.reducing import reduce_markdown


@pytest.mark.parametrize(
    ("markdown", "words"),
    [
        ("**期限**是 _15_ 分鐘，見 `TOKEN_TTL`。", "期限是 15 分鐘，見 TOKEN_TTL。"),
        ('見 [換發](auth/token.md#x "y") 與 [a][ref]', "見 換發 與 a"),
        ("見 [[token]]、[[token|權杖]]、[[token#期限]]", "見 token、權杖、token 期限"),
        ("![流程圖](img/flow(1).png)", "流程圖"),
        ("![](x.png)", ""),
        ("| 名稱 | 值 |\n|---|:-:|\n| a\\|b | 3 |", "名稱, 值\na|b, 3"),
        ("- [x] 完成\n1. 第一\n> 引文\n> - 內\n##### 小", "完成\n1. 第一\n引文\n內\n小"),
        ("> [!warning]- 小心\n> 內容", "小心\n內容"),
        ("```sh\n# 註解\nrm -rf *_a_*\n```\n後文", "# 註解\nrm -rf *_a_*\n後文"),
        ("~~~\n```\nx\n~~~\ny", "```\nx\ny"),
        ("``` not`a fence\n字", "nota fence\n字"),
        ("a <br/> b <span class='x'>c</span> List<String> <your-token>", "a b c List<String> <your-token>"),
        ("前<!-- 看不見 -->後 %%也是%%。", "前後 。"),
        ("<!-- 沒有關", "<!-- 沒有關"),
        ("---\n***\n===\n- - -", ""),
        (" \t\n\u3000\n\u200b\ufeff", ""),
        ("snake_case_name 與 __init__", "snake_case_name 與 init"),
        ("3 \\* 4", "3 * 4"),
    ],
)
def test_only_the_words_are_left(markdown: str, words: str) -> None:
    assert reduce_markdown(markdown)[0] == words


def test_a_code_block_that_was_cut_stays_code_in_the_next_part() -> None:
    _, fence = reduce_markdown("字\n````py\nx = 1")
    assert fence == "````"
    assert reduce_markdown("a_b_ **c**\n```\n````\n**d**", fence) == ("a_b_ **c**\n```\nd", "")


@given(st.text(st.sampled_from(list("ab甲[]()!|*_`~<>-#%\\ \n\t1.:x")), max_size=80))
def test_any_text_is_taken_and_letters_outside_links_stay(text: str) -> None:
    words, _ = reduce_markdown(text)
    assert "甲" not in text or "[" in text or "%%" in text or "<" in text or "`" in text or "~" in text or "甲" in words


@pytest.mark.parametrize(
    "pattern", ["<!-- ", "[", "[a](", "[[a|", "![](", "*", "_a", "<a ", "| ", "> ", "- - ", "%%", "`", "\\|", "[a](("]
)
def test_cost_grows_with_the_length(pattern: str) -> None:
    begun = time.process_time()
    reduce_markdown(pattern * 20_000)
    reduce_markdown((pattern + "x") * 10_000)
    assert time.process_time() - begun < 3
