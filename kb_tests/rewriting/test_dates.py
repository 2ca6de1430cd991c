"""The date of a document's knowledge (SPEC 5)."""

from __future__ import annotations

from datetime import date

import pytest

from kb_pipeline.rewriting.dates import UNDATED, date_of

GIT = date(2022, 2, 9)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2026-08-18", date(2026, 8, 18)),
        ("2026/8/18 09:30", date(2026, 8, 18)),
        ("2026-08-18T10:00:00Z", date(2026, 8, 18)),
        ("20260818", date(2026, 8, 18)),
        ("2026 年 8 月 18 日", date(2026, 8, 18)),
        ("民國115年8月18日", date(2026, 8, 18)),
        ("115-08-18", date(2026, 8, 18)),
        ("07/13/2020", date(2020, 7, 13)),
        ("13/07/2020", date(2020, 7, 13)),
        ("Aug 18, 2026", date(2026, 8, 18)),
        ("18 August 2026", date(2026, 8, 18)),
        ("2026-02-30", GIT),
        ("soon", GIT),
    ],
)
def test_front_matter_tells_the_date_in_many_forms(written: str, expected: date) -> None:
    assert date_of({"date": written}, "a.md", "", GIT) == expected


def test_updated_comes_before_date_and_front_matter_before_the_name() -> None:
    fields = {"date": "2020-01-01", "updated": "2021-01-01"}
    assert date_of(fields, "2019-01-01.md", "", GIT) == date(2021, 1, 1)


@pytest.mark.parametrize(
    "name", ["2026-08-18-x.md", "x_20260818.md", "115-08-18 x.md", "2026-08-18/x.md", "2026.08.18.md"]
)
def test_a_name_tells_the_date_where_the_front_matter_does_not(name: str) -> None:
    assert date_of({}, name, "", GIT) == date(2026, 8, 18)


def test_git_tells_it_next_and_the_text_last() -> None:
    text = "deployed 2021-03-04, rolled back 2021-03-05"
    assert date_of({}, "x.md", text, GIT) == GIT
    assert date_of({}, "x.md", text, None) == date(2021, 3, 5)
    assert date_of({}, "x.md", "no date", None) == UNDATED


def test_a_date_to_come_is_a_plan_and_not_the_date_of_the_knowledge() -> None:
    today = date(2026, 8, 18)
    assert date_of({"date": "2027-01-01"}, "x.md", "", GIT, today) == GIT
    assert date_of({}, "x.md", "due 2027-01-01, begun 2026-08-01", None, today) == date(2026, 8, 1)
