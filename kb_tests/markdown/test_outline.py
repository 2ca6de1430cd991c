"""Headings, sections, fences, tables and the first paragraph of a body."""

from __future__ import annotations

import itertools
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.markdown.outline import parse_body
from kb_pipeline.models import CodeFence, Table


def titles(body: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.text) for heading in parse_body(body).headings]


@pytest.mark.parametrize(
    "body",
    [
        "```\n# no\n```\n",
        "~~~~md\n```\n# no\n~~~\n# no\n~~~~\n",
        "```\n# no, and never closed\n",
        "- item\n\n  ```\n  # no\n  ```\n",
        "> ```\n> # no\n> ```\n",
        "<!--\n# no\n\n## no\n-->\n",
        "<!-- # no -->\n",
        "`# no`\n",
        "    # no, indented\n",
        "text\n    # no, continues the paragraph\n",
        "#no\n",
        "####### no\n",
        "\\# no\n",
        "> # in a quotation\n",
        "- # in a list\n",
        "<div>\n# no\n</div>\n",
        "text\n\n---\n",
    ],
)
def test_what_is_no_heading_of_the_page(body: str) -> None:
    assert titles(body) == []


@pytest.mark.parametrize(
    ("body", "level", "text"),
    [
        ("# a", 1, "a"),
        ("  ## a ##  \n", 2, "a"),
        ("## a#\n", 2, "a#"),
        ("a\n===\n", 1, "a"),
        ("a\nb\n---\n", 2, "a b"),
        ("## 甲\t\n", 2, "甲"),
        ("## **粗** *斜* `code_x` ~~x~~\n", 2, "粗 斜 code_x ~~x~~"),
        ('## <a id="x"></a>安裝\n', 2, "安裝"),
        ('## 安裝 <a name="x" />\n', 2, "安裝"),
        ("## [文件](https://example.com) 與 ![圖](a.png)\n", 2, "文件 與 圖"),
        ("## [[auth/token|權杖]] 與 [[b]]\n", 2, "權杖 與 b"),
        ("## A &amp; B \\*c\\*\n", 2, "A & B *c*"),
        ("## snake_case_name 2 * 3\n", 2, "snake_case_name 2 * 3"),
        ("##\n", 2, "untitled"),
        ("## ##\n", 2, "untitled"),
        ("## <br>\n", 2, "untitled"),
        ("多行\n標題\n===\n", 1, "多行標題"),
    ],
)
def test_headings_are_read_as_commonmark_says_and_named_in_plain_text(body: str, level: int, text: str) -> None:
    assert titles(body) == [(level, text)]


def test_slugs_are_unique_in_the_page_the_way_github_counts() -> None:
    body = "# a\n\n## a\n\n## a-1\n\n## A\n\n##\n\n##\n"
    assert [heading.slug for heading in parse_body(body).headings] == [
        "a",
        "a-1",
        "a-1-1",
        "a-2",
        "untitled",
        "untitled-1",
    ]


BODY = """
# 權杖

> 九十天過期。

## 過期

甲

### 例外

乙

#### 更深

丙

##### 不是節

丁

## 換發

戊
"""


def test_sections_own_their_text_and_know_their_place() -> None:
    sections = parse_body(BODY, first_line=10).sections
    shown = [(each.section_id, each.level, each.title, each.parent, each.breadcrumb) for each in sections]
    assert shown == [
        ("_lead", 1, "權杖", None, ()),
        ("過期", 2, "過期", None, ("過期",)),
        ("過期/例外", 3, "例外", "過期", ("過期", "例外")),
        ("過期/例外/更深", 4, "更深", "過期/例外", ("過期", "例外", "更深")),
        ("換發", 2, "換發", None, ("換發",)),
    ]
    assert [each.text for each in sections] == [
        "\n> 九十天過期。\n\n",
        "\n甲\n\n",
        "\n乙\n\n",
        "\n丙\n\n##### 不是節\n\n丁\n\n",
        "\n戊\n",
    ]
    assert [(each.line, each.end_line) for each in sections] == [(10, 14), (15, 18), (19, 22), (23, 30), (31, 33)]


def test_text_before_the_title_is_part_of_the_lead() -> None:
    (lead,) = parse_body("前言\n\n# 標題\n\n正文\n").sections
    assert (lead.title, lead.text) == ("標題", "前言\n\n# 標題\n\n正文\n")


def test_a_further_h1_begins_a_section_of_its_own() -> None:
    sections = parse_body("# a\n\n## b\n\nx\n\n# c\n\ny\n\n## d\n").sections
    assert [(each.section_id, each.level, each.parent) for each in sections] == [
        ("_lead", 1, None),
        ("b", 2, None),
        ("c", 1, None),
        ("c/d", 2, "c"),
    ]
    assert sections[2].text == "\ny\n\n"


def test_levels_may_be_skipped() -> None:
    sections = parse_body("### c\n\n## b\n\n#### d\n\n### c\n").sections
    assert [(each.section_id, each.parent) for each in sections[1:]] == [
        ("c", None),
        ("b", None),
        ("b/d", "b"),
        ("b/c", "b"),
    ]


def test_an_id_is_unique_and_free_of_the_mark_of_parts() -> None:
    body = "## _lead\n\n## a\n\n## a\n\n## a-2\n\n## ~a~\n\n### x\n\n### x\n"
    assert [each.section_id for each in parse_body(body).sections] == [
        "_lead",
        "_lead-2",
        "a",
        "a-2",
        "a-2-2",
        "a-3",
        "a-3/x",
        "a-3/x-2",
    ]


@pytest.mark.parametrize("body", ["", "\n", "text", "text\n"])
def test_a_body_without_headings_is_one_lead(body: str) -> None:
    (lead,) = parse_body(body).sections
    assert (lead.section_id, lead.text, lead.title) == ("_lead", body, "")
    assert (lead.line, lead.end_line) == (1, 1)


def test_fences_tell_language_and_lines() -> None:
    body = "```sh title=x\na\n```\n\n- b\n\n  ~~~\n  c\n  ~~~\n\n    code\n\n````\nopen\n"
    assert parse_body(body, first_line=11).fences == (
        CodeFence("sh", 11, 13),
        CodeFence("", 17, 19),
        CodeFence("", 23, 24),
    )


def test_tables_tell_their_lines() -> None:
    body = "| a | b |\n|---|---|\n| 1 | 2 |\n\ntext | no table\n\n- x | y\n  --|--\n  1 | 2\n"
    assert parse_body(body, first_line=5).tables == (Table(5, 7), Table(11, 13))


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("# a\n\n結論 **重要**。\n第二行\n\nmore\n", "結論 重要。第二行"),
        ("# a\n\n> 引用的\n> 結論。\n\nmore\n", "引用的結論。"),
        ("# a\n\n- item\n\n```\ncode\n```\n\ntext `x`\n", "text x"),
        ("# a\n\n## b\n\n[連結](x.md) 與 [[y|別名]]\n", "連結 與 別名"),
        ("# a\n", ""),
        ("one line\nanother\n", "one line another"),
    ],
)
def test_the_first_paragraph_is_plain_text(body: str, text: str) -> None:
    assert parse_body(body).first_paragraph == text


LINES = st.sampled_from(
    ["", "", "text 文字", "# h", "## h", "### 節 *x*", "#### h", "##### h", "##", "===", "---", "```", "~~~", "> # q",
     "- # l", "    code", "<!--", "-->", "| a | b |", "|---|---|", "  ## 縮排 ##", "[[x]]", "1. a", "\t## t", "$$",
     "%%", "<div>", "\\# no", "[a]: b", "\u2028", "x\x0b# y"]
)  # fmt: skip
BODIES = st.one_of(st.lists(LINES, max_size=30).map("\n".join), st.text(), st.text(alphabet="#`~-=>|[]()!\\<$% ab\n\t"))


@given(BODIES, st.integers(1, 99))
def test_heading_lines_and_section_texts_joined_are_the_body(body: str, first_line: int) -> None:
    lines = re.findall(r"[^\n]*\n|[^\n]+", body)
    joined = ""
    for section in parse_body(body, first_line).sections:
        whole = "".join(lines[section.line - first_line : section.end_line - first_line + 1])
        if (
            section.section_id == "_lead"
            and section.end_line == first_line
            and not body[: len(whole)].startswith(whole)
        ):
            whole = ""
        assert whole.endswith(section.text)
        joined += whole
    assert joined == body


@given(BODIES)
def test_ids_and_anchors_are_unique_and_named(body: str) -> None:
    outline = parse_body(body)
    ids = [section.section_id for section in outline.sections]
    slugs = [heading.slug for heading in outline.headings]
    assert len(set(ids)) == len(ids)
    assert len(set(slugs)) == len(slugs)
    assert ids[0] == "_lead"
    assert all(heading.text.strip() and heading.slug for heading in outline.headings)
    assert all("~" not in name and name == name.strip() for name in ids)
    known = set(ids)
    assert all(section.parent is None or section.parent in known for section in outline.sections)


@given(BODIES)
def test_sections_lie_side_by_side(body: str) -> None:
    sections = parse_body(body).sections
    for section, behind in itertools.pairwise(sections):
        assert section.end_line == behind.line - 1
    for section in sections:
        assert section.text in body


@pytest.mark.parametrize(
    "body",
    [
        "[" * 20_000,
        "[[" * 20_000,
        "![" * 20_000,
        "[a](" * 20_000,
        "]" * 20_000,
        "`" * 20_001 + "a",
        " ".join("`" * count for count in range(1, 300)),
        "<" * 20_000,
        "<a b=" * 8_000,
        "<!--" * 10_000,
        "x" + "<!--" * 10_000,
        "x" + "<?" * 20_000,
        "x" + "<!A" * 20_000,
        "[a](b 'x\"" * 8_000,
        "[a](<b" * 8_000,
        "<a b=\"'" * 8_000,
        "$" * 20_001,
        "$a " * 10_000,
        "$$\n\n" * 4_001,
        "%%\n\n" * 4_001,
        "%% [[a]]\n\n$$ [[b]]\n\n" * 2_000,
        "[a][b]" * 8_000,
        "[a]: b\n\n" + "[a" * 8_000,
        "\\" * 20_000,
        "# " + "[" * 20_000,
        "# " + "*a_" * 10_000,
        "## a\n" * 8_000,
        "- " * 5_000 + "x",
        ">" * 20_000 + "x",
        "| a | b |\n|---|---|\n" + "| [[a\\|b]] | `x` |\n" * 3_000,
        "[a](b" + "(" * 20_000,
        "[a](b " + '"' * 20_000,
        "[[a" + "#" * 20_000,
    ],
    ids=lambda body: f"{body[:8]!r}x{len(body)}",
)
def test_no_text_takes_more_than_linear_time(body: str) -> None:
    begin = time.process_time()
    parse_body(body)
    assert time.process_time() - begin < 6


def test_blocks_nested_deeper_than_people_write_do_not_hide_what_follows() -> None:
    nested = "".join("  " * depth + "- item\n" for depth in range(30))
    assert titles(f"{nested}\n# behind\n") == [(1, "behind")]


def test_the_same_body_gives_an_equal_outline() -> None:
    assert parse_body(BODY) == parse_body(BODY)
    assert re.findall(r"_lead", repr(parse_body(BODY).sections[0])) == ["_lead"]
