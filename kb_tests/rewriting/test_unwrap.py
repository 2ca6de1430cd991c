"""Taking the page out of a model's answer (SPEC 6.2)."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.rewriting.unwrap import unwrap_answer

HEAD = "---\ntitle: 快取\nscope: 測試環境\n---\n"
BODY = "\n# 快取\n\n> 結論。\n\n## 失效\n\n內容\n"
PAGE = HEAD + BODY


def test_handed_case_fenced_answer(cases: Path) -> None:
    """The seven handed answers: six pages come out whole, the one without front matter does not."""
    folder = cases / "ingest-fenced-answer"
    expected = yaml.safe_load((folder / "case.yaml").read_text("utf-8"))["expect"]["values"]
    results = {path.stem: unwrap_answer(path.read_text("utf-8")) for path in sorted((folder / "files").iterdir())}
    assert [name for name, page in results.items() if page is None] == expected["failed"]
    saved = {name: page for name, page in results.items() if page is not None}
    assert sorted(saved) == expected["saved"]
    for page in saved.values():
        assert page.startswith(expected["saved_start"])
        assert "## 失效\n\n內容\n" in page
        assert all(chat not in page for chat in expected["saved_must_not_contain"])
    assert expected["out4_contains"] in saved["out4"]
    assert saved["out4"].endswith("```\n")
    assert saved["out7"].endswith(f"```sh\n{expected['out7_contains']}\n```\n")
    assert saved["out1"] == saved["out2"] == saved["out3"] == saved["out6"]


@pytest.mark.parametrize(
    "answer",
    [
        PAGE,
        "\ufeff\n\n" + PAGE,
        PAGE.replace("\n", "\r\n"),
        f"```markdown\n{PAGE}```",
        f"```md\n\n{PAGE}\n```\n\n希望這對你有幫助！\n",
        f"~~~~\n{PAGE}~~~~",
        f"Sure, here is the page:\n\n```\n{PAGE}```\nLet me know.",
        f"<think>\n一段\n---\na: b\n---\n</think>\n{PAGE}",
    ],
)
def test_every_wrapper_comes_off(answer: str) -> None:
    assert unwrap_answer(answer) == PAGE


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "抱歉，我無法協助。",
        "---\n",
        "---\n---\n# x\n",
        HEAD,
        f"```markdown\n{HEAD}```\n",
        "---\ntitle: 快取\n# 快取\n沒有結束的前置資料",
        f"# 報告\n\n{PAGE}",
        "\n".join("一行閒談" for _ in range(9)) + "\n" + PAGE,
        f"```py\nprint(1)\n```\n\n{PAGE}",
    ],
)
def test_an_answer_without_a_whole_page_is_none(answer: str) -> None:
    assert unwrap_answer(answer) is None


@pytest.mark.parametrize(
    "cut", [f"```markdown\n{PAGE}", f"```markdown\n{PAGE}\n```sh\necho 1\n", f"```\n{PAGE}\n```sh"]
)
def test_a_wrapper_that_never_closes_was_cut_off(cut: str) -> None:
    assert unwrap_answer(cut) is None


def test_code_blocks_of_the_page_stay_in_every_wrapper() -> None:
    page = PAGE + "\n```\n裸的\n```\n\n~~~sh\n```\n~~~\n\n```py\nx = '`'\n```\n"
    assert unwrap_answer(page) == page
    assert unwrap_answer(f"```markdown\n{page}```") == page
    assert unwrap_answer(f"````markdown\n{page}````\n") == page


def test_three_dashes_in_the_body_are_the_pages_own() -> None:
    page = PAGE + "\n---\n\n後面\n"
    assert unwrap_answer(f"```\n{page}```") == page


@given(st.text(alphabet="`~-#: \nab中", max_size=80))
def test_what_comes_out_is_a_page_and_unwrapping_again_changes_nothing(text: str) -> None:
    page = unwrap_answer(text)
    if page is not None:
        assert page.startswith("---\n")
        assert unwrap_answer(page) == page


@given(
    st.lists(st.sampled_from(["文字", "", "```sh\nls\n```", "~~~\nx\n~~~", "- 項目", "---"]), min_size=1, max_size=8)
)
def test_wrapping_a_page_and_unwrapping_it_is_the_identity(blocks: list[str]) -> None:
    page = PAGE + "\n" + "\n\n".join([*blocks, "結尾"]) + "\n"
    assert unwrap_answer(page) == page
    assert unwrap_answer(f"好的：\n\n```markdown\n{page}```\n") == page
