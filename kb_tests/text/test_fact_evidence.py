"""Whether a text bears a fact out, and where (SPEC 6.3, 6.12)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.text.fact_evidence import Evidence
from kb_pipeline.text.facts import extract_facts

RAW = """\
在民國115年8月18日，權杖每 60 秒輪替，最多重試三次，快取 2 GB。
```bash
kubectl -n prod rollout \\
  restart deploy/auth --timeout 30s
```
設定檔 `config/auth.yml` 的 `max_conn` 是 200。
見 https://example.com/docs/ 與 PostgreSQL 16、TokenExpiredError。
"""


def line(fact: str) -> int | None:
    (found,) = extract_facts(fact)
    return Evidence(RAW).line_of(found)


@pytest.mark.parametrize(
    ("fact", "expected"),
    [
        ("2026-08-18", 1),
        ("2026 年 8 月", 1),
        ("8月18日", 1),
        ("60s", 1),
        ("1 分鐘", 1),
        ("2048 MB", 1),
        ("3 次", 1),
        ("3 retries", 1),
        ("30 秒", 3),
        ("`kubectl -n prod rollout restart deploy/auth`", 3),
        ("`deploy/auth`", 3),
        ("config/auth.yml", 6),
        ("`max_conn`", 6),
        ("max_conn=200", 6),
        ("https://Example.com/docs", 7),
        ("PostgreSQL 16", 7),
        ("tokenExpiredError", 7),
    ],
)
def test_a_fact_is_borne_out_on_the_line_that_says_it(fact: str, expected: int) -> None:
    assert line(fact) == expected


@pytest.mark.parametrize(
    "fact",
    ["2026-08-19", "2026-09", "8月19日", "61 秒", "2 分鐘", "2 MB", "5 次", "`kubectl delete pod x`", "config/other.yml", "max_conn=300", "https://example.org", "PostgreSQL 17", "`conn`"],
)
def test_an_invented_fact_is_not_borne_out(fact: str) -> None:
    assert line(fact) is None


def test_a_finer_date_is_not_borne_out_by_a_coarser_one() -> None:
    assert extract_facts("2026-08-18")[0] not in Evidence("2026 年 8 月發布")


def test_a_setting_whose_value_stands_elsewhere_is_not_borne_out() -> None:
    (setting,) = extract_facts("max_conn=200")
    assert setting not in Evidence("`max_conn` 很重要\n\n\n\n\n共 200 筆")
    assert setting in Evidence("| max_conn |\n|---|\n| 200 |")


PIECES = ["5 分鐘", "`a b`", "https://x.tw/a", "a/b.md", "v1.2.3", "2026-08-18", "foo_bar", "k_x=v", "共 3 筆", "\n", "，", " 文 "]


@given(st.lists(st.sampled_from(PIECES), max_size=10))
def test_a_text_bears_out_its_own_facts(pieces: list[str]) -> None:
    text = "".join(pieces)
    evidence = Evidence(text)
    assert all(fact in evidence for fact in extract_facts(text))


def test_anything_else_is_not_in_evidence() -> None:
    assert "5 分鐘" not in Evidence("5 分鐘")
