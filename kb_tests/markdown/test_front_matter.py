"""Front matter: where it is, what its values mean, and changing it without touching anything else."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.errors import PageWriteError
from kb_pipeline.markdown.front_matter import FIELD_ORDER, as_date, as_text_list, set_fields, split_front_matter
from kb_pipeline.models import Related


def codes(text: str) -> list[str]:
    return [problem.code for problem in split_front_matter(text).problems]


@pytest.mark.parametrize("closing", ["---", "...", "---  ", "---\t"])
def test_the_first_block_is_split_from_the_body(closing: str) -> None:
    front = split_front_matter(f"---\ntitle: a\n{closing}\n\n# a\n")
    assert (front.fields, front.body, front.body_line) == ({"title": "a"}, "\n# a\n", 4)
    assert front.lines == {"title": 2}


@pytest.mark.parametrize("text", ["---\ntitle: a\n---", "\ufeff---\ntitle: a\n---\n", "---\r\ntitle: a\r\n---\r\n"])
def test_mark_line_ends_and_missing_body_do_not_matter(text: str) -> None:
    front = split_front_matter(text)
    assert (front.fields, front.problems, front.body) == ({"title": "a"}, (), "")


@pytest.mark.parametrize("text", ["---\n---\nbody", "---\n\n---\nbody", "---\n# only a comment\n---\nbody"])
def test_an_empty_block_is_front_matter_without_fields(text: str) -> None:
    front = split_front_matter(text)
    assert (front.fields, front.problems, front.body) == ({}, (), "body")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("# a\n", "front-matter-missing"),
        ("", "front-matter-missing"),
        ("\n---\ntitle: a\n---\n", "front-matter-missing"),
        (" ---\ntitle: a\n---\n", "front-matter-missing"),
        ("----\ntitle: a\n----\n", "front-matter-missing"),
        ("---\n\nprose: with colons: many\n\nmore\n\n- x\n---x\n", "front-matter-unclosed"),
        ("---\n\nJust prose\n\n---\n", "front-matter-missing"),
        ("---\n\n## heading\n", "front-matter-missing"),
        ("---", "front-matter-unclosed"),
        ("---\ntitle: a\n\n# a\n", "front-matter-unclosed"),
        ("---\n- a\n- b\n---\n", "front-matter-not-mapping"),
    ],
)
def test_what_is_no_front_matter_stays_in_the_body(text: str, code: str) -> None:
    front = split_front_matter(text)
    assert [problem.code for problem in front.problems] == [code]
    assert (front.body, front.fields, front.block) == (text, {}, None)


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("---\ntitle: a: b\n---\n", "front-matter-yaml", 2),
        ("---\na: 1\na: 2\n---\n", "front-matter-duplicate-key", 3),
        ("---\na: 1\n---\n\n---\nb: 2\n---\n", "front-matter-second", 5),
    ],
)
def test_faults_are_told_with_their_line_in_the_file(text: str, code: str, line: int) -> None:
    assert [(problem.code, problem.line) for problem in split_front_matter(text).problems] == [(code, line)]


def test_a_rule_behind_the_front_matter_is_no_second_block() -> None:
    assert codes("---\na: 1\n---\n\n---\n\ntext\n\n---\n") == []
    assert codes("---\na: 1\n---\n\ntext\n\n---\nb: 1\n---\n") == []


@given(st.text())
def test_any_text_is_split_without_loss(text: str) -> None:
    front = split_front_matter(text)
    if front.block is None:
        assert text.removeprefix("\ufeff") == front.body
    else:
        assert front.block in text
        assert text.endswith(front.body)


@given(st.text(alphabet="-.\n a:\r[]\"'#\ufeff"))
def test_any_likely_text_is_split_without_loss(text: str) -> None:
    front = split_front_matter(text)
    assert text.endswith(front.body)
    whole = front.body if front.block is None else f"{front.block}{front.body}"
    assert len(text) - len(whole) <= (1 if front.block is None else 30) or front.block is not None


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        (None, ()),
        ("", ()),
        ("a", ("a",)),
        ("a, b，c、d", ("a", "b", "c", "d")),
        ("a\nb\n", ("a", "b")),
        ('["a", "b, c", null, 3]', ("a", "b, c", "3")),
        ("[a, 'b']", ("a", "b")),
        ("[broken", ("[broken",)),
        (["a, b", None, " c ", "", True], ("a, b", "c", "true")),
        ([["a"], {"x": "y"}], ("a",)),
        ({"a": "b"}, ()),
        (True, ("true",)),
    ],
)
def test_a_list_may_be_written_in_many_ways(value: object, texts: tuple[str, ...]) -> None:
    assert as_text_list(value) == texts


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-08-18", date(2026, 8, 18)),
        (" 2026-08-18 ", date(2026, 8, 18)),
        ("2026-08-18T07:30:00+08:00", date(2026, 8, 18)),
        ("2026-08-18T23:30:00-11:00", date(2026, 8, 18)),
        ("2026-08-18 07:30", date(2026, 8, 18)),
        ("2026-08-18T07:30:00.123Z", date(2026, 8, 18)),
        ("2026-02-30", None),
        ("2026/08/18", None),
        ("18 Aug 2026", None),
        ("2026-8-18", None),
        ("2026-08", None),
        ("20260818", None),
        ("2026-08-18 later", None),
        ("２０２６-08-18", None),
        (None, None),
        (True, None),
        (["2026-08-18"], None),
    ],
)
def test_only_iso_dates_are_dates(value: object, expected: date | None) -> None:
    assert as_date(value) == expected


WRITTEN = """---
# about this page
title: "頁 #1"   # keep me
scope: 測試環境
keywords: [備份, "back: up",還原]

custom:
    deep: {a: 1}
# before related
related:
- auth/a.md  # 前置
-   'auth/b.md'

updated: 2026-08-18
notes: |
  line

  # not a comment
status: current
---

# 頁 #1
"""


def test_a_changed_scalar_keeps_quotes_and_comment() -> None:
    assert set_fields(WRITTEN, {"title": 'say "hi"'}) == WRITTEN.replace('"頁 #1"', r'"say \"hi\""', 1)
    assert set_fields(WRITTEN, {"updated": date(2026, 9, 1)}) == WRITTEN.replace("2026-08-18", "2026-09-01")
    assert set_fields(WRITTEN, {"scope": "a: b"}) == WRITTEN.replace("測試環境", '"a: b"')


def test_a_longer_list_keeps_its_items_as_written() -> None:
    wanted = [Related("auth/a.md"), Related("auth/b.md"), Related("ops/c.md", "後續")]
    assert set_fields(WRITTEN, {"related": wanted}) == WRITTEN.replace(
        "-   'auth/b.md'\n", "-   'auth/b.md'\n- ops/c.md  # 後續\n"
    )
    assert set_fields(WRITTEN, {"keywords": ["備份", "back: up", "還原", "a, b"]}) == WRITTEN.replace(
        '[備份, "back: up",還原]', '[備份, "back: up", 還原, "a, b"]'
    )


def test_an_item_can_leave_a_list_or_get_another_comment() -> None:
    assert set_fields(WRITTEN, {"related": ["auth/b.md"]}) == WRITTEN.replace("- auth/a.md  # 前置\n", "")
    assert set_fields(WRITTEN, {"related": [Related("auth/a.md", "改"), "auth/b.md"]}) == WRITTEN
    changed = set_fields(WRITTEN, {"related": [Related("auth/a.md", "改"), "auth/b.md", "x.md"]})
    assert changed == WRITTEN.replace("前置", "改").replace("'auth/b.md'\n", "'auth/b.md'\n- x.md\n")
    assert set_fields(WRITTEN, {"related": []}) == WRITTEN.replace(
        "related:\n- auth/a.md  # 前置\n-   'auth/b.md'\n", "related: []\n"
    )


def test_a_field_is_deleted_with_all_its_lines_and_nothing_else() -> None:
    assert set_fields(WRITTEN, {"custom": None}) == WRITTEN.replace("custom:\n    deep: {a: 1}\n", "")
    assert set_fields(WRITTEN, {"notes": None}) == WRITTEN.replace("notes: |\n  line\n\n  # not a comment\n", "")
    assert set_fields(WRITTEN, {"absent": None}) == WRITTEN


def test_new_fields_take_their_place_in_the_order_of_the_page_format() -> None:
    changed = set_fields(WRITTEN, {"zzz": "1", "tags": ["x"], "summary": "s", "compiled": {"by": "b"}})
    expected = WRITTEN.replace("scope: 測試環境\n", "scope: 測試環境\nsummary: s\n").replace(
        "status: current\n", "status: current\ntags: [x]\ncompiled:\n  by: b\nzzz: 1\n".replace("zzz: 1", 'zzz: "1"')
    )
    assert changed == expected


def test_the_first_field_of_the_order_goes_to_the_top() -> None:
    assert set_fields("---\nscope: a\n---\n", {"title": "t"}) == "---\ntitle: t\nscope: a\n---\n"
    assert set_fields("---\nmine: a\n---\n", {"title": "t"}) == "---\ntitle: t\nmine: a\n---\n"
    assert set_fields("---\n---\nx", {"title": "t"}) == "---\ntitle: t\n---\nx"


def test_windows_line_ends_and_mark_stay() -> None:
    text = "\ufeff" + WRITTEN.replace("\n", "\r\n")
    changed = set_fields(text, {"scope": "b", "tags": ["x"], "related": ["auth/b.md", "n.md"]})
    assert changed.replace("\r\n", "").count("\n") == 0
    assert changed.startswith("\ufeff---\r\n# about")
    assert split_front_matter(changed).fields["related"] == ["auth/b.md", "n.md"]


def test_a_text_without_front_matter_gets_one() -> None:
    assert set_fields("# a\n", {"title": "a", "x": None}) == "---\ntitle: a\n---\n\n# a\n"
    assert set_fields("", {"title": "a"}) == "---\ntitle: a\n---\n"
    rule = "---\n\n開場白\n\n---\n"
    assert set_fields(rule, {"title": "a"}) == f"---\ntitle: a\n---\n\n{rule}"


def test_a_block_in_braces_is_written_anew_line_by_line() -> None:
    changed = set_fields("---\n{scope: a, mine: [1, 2], title: t}\n---\nx", {"scope": "b"})
    assert changed == '---\ntitle: t\nscope: b\nmine: ["1", "2"]\n---\nx'


@pytest.mark.parametrize(
    "text",
    ["---\ntitle: a: b\n---\n", "---\ntitle: a\n", "---\n- a\n---\n", "---\na: 1\na: 2\n---\n"],
)
def test_what_cannot_be_read_is_not_changed(text: str) -> None:
    with pytest.raises(PageWriteError, match="line"):
        set_fields(text, {"title": "x"})


def test_an_anchor_that_others_use_is_not_torn_away() -> None:
    with pytest.raises(PageWriteError, match="edit it by hand"):
        set_fields("---\na: &x [1]\nb: *x\n---\n", {"a": None})


NAMES = st.sampled_from([*FIELD_ORDER, "own", "欄位", "Other key"])
WORDS = st.text(alphabet="ab 中文:#,'\"\\-[]{}@!?", min_size=1, max_size=8).map(str.strip).filter(bool)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@st.composite
def chunks(draw: st.DrawFn) -> str:
    """The lines of one field's value as a person may write them, the key left out."""
    one, two = (_quoted(draw(WORDS)) for _ in range(2))
    return draw(
        st.sampled_from(
            [
                f" {one}\n",
                f"   {one}   # note\n",
                " plain text\n",
                " plain # note\n",
                "\n",
                " # note\n",
                f" [{one},{two}]\n",
                f" [ {one} , {two}, ]  # note\n",
                f" [{one},\n  {two}]\n",
                f"\n- {one}\n- {two}  # note\n",
                f"\n  -   {one}\n  # between\n  - {two}\n",
                f"\n  - path: {one}\n    n: 1\n  - {two}\n",
                f"\n    deep: {one}\n    more:\n      - {two}\n",
                f" {{a: {one}, b: [{two}]}}\n",
                " |\n  text\n\n  # text too\n",
                " >-\n  folded\n  text\n",
                " 'it''s'\n",
                f' {one[:-1]}\n  next"\n',
                " first\n  second\n",
                " ~\n",
            ]
        )
    )


@st.composite
def blocks(draw: st.DrawFn) -> list[tuple[str, str]]:
    names = draw(st.lists(NAMES, min_size=1, max_size=6, unique=True))
    before = st.sampled_from(["", "", "", "\n", "# comment\n", "\n# comment\n\n"])
    return [(name, f"{draw(before)}{name}:{draw(chunks())}") for name in names]


FIELD_VALUES = (
    WORDS
    | st.booleans()
    | st.dates()
    | st.lists(WORDS, max_size=4)
    | st.lists(st.builds(Related, WORDS, st.none() | st.just("why")), min_size=1, max_size=3)
    | st.dictionaries(st.sampled_from(["by", "key"]), WORDS, max_size=2)
)


@given(blocks(), st.data(), st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "\n# t\n", "---\n\nx\n"]))
def test_setting_one_field_keeps_every_other_byte(
    fields: list[tuple[str, str]], data: st.DataObject, newline: str, body: str
) -> None:
    position = data.draw(st.integers(0, len(fields) - 1))
    value = data.draw(FIELD_VALUES | st.none())
    name, changed = fields[position]
    head = "---\n" + "".join(chunk for _, chunk in fields[:position])
    tail = "".join(chunk for _, chunk in fields[position + 1 :]) + "---\n" + body
    lead = changed[: changed.index(f"{name}:")]
    text = (head + changed + tail).replace("\n", newline)
    written = set_fields(text, {name: value})
    assert written.startswith((head + lead).replace("\n", newline))
    assert written.endswith(tail.replace("\n", newline))
    front = split_front_matter(written)
    assert front.problems == ()
    assert list(front.fields) == [key for key, _ in fields if value is not None or key != name]
    assert set_fields(written, {name: value}) == written


@given(blocks(), st.dictionaries(NAMES, FIELD_VALUES | st.none(), max_size=5))
def test_setting_fields_gives_exactly_those_and_keeps_the_rest(
    fields: list[tuple[str, str]], changes: dict[str, object]
) -> None:
    text = "---\n" + "".join(chunk for _, chunk in fields) + "---\nbody\n"
    before = split_front_matter(text)
    written = set_fields(text, changes)
    after = split_front_matter(written)
    assert {key: value for key, value in after.fields.items() if key not in changes} == {
        key: value for key, value in before.fields.items() if key not in changes
    }
    assert set(after.fields) == (set(before.fields) | set(changes)) - {k for k, v in changes.items() if v is None}
    assert after.body == before.body
    for line in text.splitlines():
        if line.startswith("# comment"):
            assert line in written


@given(st.text(max_size=60), st.dictionaries(NAMES, FIELD_VALUES, max_size=3))
def test_any_text_is_changed_as_meant_or_refused(text: str, changes: dict[str, object]) -> None:
    try:
        written = set_fields(text, changes)
    except PageWriteError:
        return
    assert set(changes) <= set(split_front_matter(written).fields)
    assert written.endswith(split_front_matter(text).body)
