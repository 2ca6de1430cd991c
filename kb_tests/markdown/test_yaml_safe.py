"""Reading YAML mappings: text stays text, limits hold, every fault has its line."""

from __future__ import annotations

import time

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.markdown.yaml_safe import DEEPEST, LONGEST, load_mapping
from kb_pipeline.markdown.yaml_write import entry, one_line


@pytest.mark.parametrize(
    "written", ["12:30", "no", "on", "1_000", "1.10", "2026-08-18", "0x1F", "010", "1e3", ".inf", "yes", "=", "-5"]
)
def test_scalars_stay_the_text_that_was_written(written: str) -> None:
    assert load_mapping(f"a: {written}\n").value == {"a": written}


def test_only_null_and_booleans_are_not_text() -> None:
    text = "a:\nb: ~\nc: null\nd: true\ne: False\nf: 'null'\ng: \"true\"\nh: !!str 12\n"
    assert load_mapping(text).value == {
        "a": None, "b": None, "c": None, "d": True, "e": False, "f": "null", "g": "true", "h": "12",
    }  # fmt: skip


def test_keys_tell_their_line_in_the_file() -> None:
    result = load_mapping("a: 1\nb:\n  c: x\n  d:\n    - y\n    - z: 1\n", first_line=2)
    assert result.lines == {"a": 2, "b": 3, "b.c": 4, "b.d": 5, "b.d.0": 6, "b.d.1": 7, "b.d.1.z": 7}


def test_comments_behind_values_are_kept() -> None:
    text = 'a: x  # one\nb:\n  - "p # q"  # two\n  - r#s\n  - [[t]] # three\nc: [u] # four\nd: "#"\n'
    assert load_mapping(text).comments == {"a": "one", "b.0": "two", "b.2": "three", "c": "four"}


def test_repeated_keys_are_reported_with_name_and_line_and_the_last_value_stands() -> None:
    result = load_mapping("a: 1\nb: {c: 1, c: 2}\na: 3\n", first_line=10)
    assert [(problem.code, problem.field, problem.line) for problem in result.problems] == [
        ("duplicate-key", "b.c", 11),
        ("duplicate-key", "a", 12),
    ]
    assert result.value == {"a": "3", "b": {"c": "2"}}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: b: c\n", 1),
        ("x: 1\na: @b\n", 2),
        ("a:\n\tb: 1\n", 2),
        ("x: 1\na: {{date}}\n", 2),
        ("a: [1, 2\n", 2),
        ("? [a]\n: b\n", 1),
        ("a: *nowhere\n", 1),
        ("a: &x\n  b: *x\n", 2),
        ("a: 1\n--- \nb: 2\n", 2),
        ('a: "x\n', 2),
        ("a: %x\n", 1),
    ],
)
def test_broken_yaml_is_one_problem_with_its_line(text: str, line: int) -> None:
    result = load_mapping(text)
    assert [(problem.code, problem.line) for problem in result.problems] == [("yaml", line)]
    assert result.value == {}


@pytest.mark.parametrize(("text", "is_text"), [("- a\n- b\n", False), ("just text\n", True), ("[a]\n", False)])
def test_what_is_no_mapping_is_told(text: str, is_text: bool) -> None:
    result = load_mapping(text, first_line=2)
    assert [(problem.code, problem.line) for problem in result.problems] == [("not-mapping", 2)]
    assert result.is_text is is_text


@pytest.mark.parametrize("text", ["", "\n\n", "# comment\n", "~\n"])
def test_nothing_is_an_empty_mapping(text: str) -> None:
    result = load_mapping(text)
    assert (result.value, result.problems) == ({}, ())


def test_depth_is_limited() -> None:
    fine = "a: " + "[" * (DEEPEST - 1) + "]" * (DEEPEST - 1)
    deep = "a: " + "[" * 20_000 + "]" * 20_000
    assert load_mapping(fine).problems == ()
    assert load_mapping(deep).problems[0].code == "yaml"
    assert load_mapping("- " * 20_000 + "x").problems[0].code == "yaml"


def test_aliases_work_but_cannot_explode() -> None:
    assert load_mapping("a: &x [1]\nb: *x\n").value == {"a": ["1"], "b": ["1"]}
    bomb = "a0: &a0 [x, x]\n" + "".join(
        f"a{number}: &a{number} [{', '.join([f'*a{number - 1}'] * 10)}]\n" for number in range(1, 30)
    )
    begin = time.perf_counter()
    assert "values" in load_mapping(bomb).problems[0].message
    assert time.perf_counter() - begin < 1


def test_size_is_limited() -> None:
    assert load_mapping("a: " + "x" * LONGEST).problems[0].code == "yaml"


def test_control_characters_and_odd_separators_do_not_shift_lines() -> None:
    result = load_mapping("a: x\u2028y\x07z\nb: 1\x85\nc: \ud800\n")
    assert (result.value, result.lines["c"]) == ({"a": "x y z", "b": "1", "c": None}, 3)


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    result = load_mapping(text)
    assert isinstance(result.value, dict)


@given(st.text(alphabet="ab: -[]{}&*!|>'\"#\n\t,?%@`~"))
def test_any_yaml_like_text_is_read_or_refused(text: str) -> None:
    result = load_mapping(text)
    assert all(problem.line is None or problem.line >= 1 for problem in result.problems)


SCALARS = st.text() | st.sampled_from(
    ["12:30", "no", "@x", "key: value", "第 12 版 #2", " a ", "'", '"', "\\", "a\nb", "- a", "? a", "🐘", "~", "null",
     "true", "1_000", "0o7", "1e3", "2026-08-18", "<<", "=", "[a]", "{a}", "a, b", "---", "...", "!x", "%x", "a:", "#"]
)  # fmt: skip
VALUES = st.recursive(
    SCALARS | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(SCALARS, inner, max_size=4),
    max_leaves=12,
)


def as_one_line(value: object) -> object:
    if isinstance(value, str):
        return one_line(value)
    if isinstance(value, list):
        return [as_one_line(item) for item in value]
    if isinstance(value, dict):
        return {one_line(str(key)): as_one_line(item) for key, item in value.items()}
    return value


@given(SCALARS, VALUES)
def test_what_is_written_is_read_back(key: str, value: object) -> None:
    text = "\n".join(entry(key, value)) + "\n"
    result = load_mapping(text)
    assert result.problems == () or result.problems[0].code == "duplicate-key"
    assert result.value == {one_line(key): as_one_line(value)}


@given(SCALARS)
def test_other_loaders_read_the_same_text(value: str) -> None:
    """A written scalar is text for a plain YAML 1.1 loader too: no date, number, boolean or null."""
    text = "\n".join(entry("a", value)) + "\n"
    assert yaml.safe_load(text) == {"a": one_line(value)}
