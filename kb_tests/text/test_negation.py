"""Counting negations by normal form."""

from __future__ import annotations

import pytest

from kb_pipeline.text.negation import FORBIDDEN, NEVER, NOT, UNLESS, negations


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("系統不支援此格式", NOT),
        ("尚未完成", NOT),
        ("無法連線", NOT),
        ("沒有備份", NOT),
        ("並非預設", NOT),
        ("it is not supported", NOT),
        ("it isn't supported", NOT),
        ("without a key", NOT),
        ("no retries", NOT),
        ("禁止直接刪除", FORBIDDEN),
        ("請勿重啟", FORBIDDEN),
        ("不可刪除", FORBIDDEN),
        ("不得外流", FORBIDDEN),
        ("do not restart", FORBIDDEN),
        ("don’t restart", FORBIDDEN),
        ("must not restart", FORBIDDEN),
        ("cannot be undone", FORBIDDEN),
        ("從不快取", NEVER),
        ("絕不重試", NEVER),
        ("never cached", NEVER),
        ("除非已備份", UNLESS),
        ("unless it is backed up", UNLESS),
        ("不支持此格式（简体）", NOT),
    ],
)
def test_each_form_is_counted_once_under_its_normal_form(text: str, form: str) -> None:
    assert negations(text) == {form: 1}


@pytest.mark.parametrize(
    "text",
    [
        "不同的環境",
        "不過可以",
        "未來版本",
        "無論如何",
        "無線網路",
        "非常重要",
        "不斷成長",
        "notable notes",
        "another note",
        "不得不重啟",
        "區別與類別",
    ],
)
def test_words_that_only_look_like_negations_are_not_counted(text: str) -> None:
    assert negations(text) == {}


@pytest.mark.parametrize(
    ("chinese", "english"),
    [("禁止刪除", "do not delete"), ("除非失敗，不重試", "unless it fails, no retry"), ("從不過期", "never expires")],
)
def test_a_translation_has_the_same_counts(chinese: str, english: str) -> None:
    assert negations(chinese) == negations(english)


def test_width_and_script_do_not_matter() -> None:
    assert negations("無需ＮＯＴ") == negations("无需 not") == {NOT: 2}
