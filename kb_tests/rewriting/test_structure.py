"""Titles and sections of raw documents."""

from __future__ import annotations

import pytest

from kb_pipeline.rewriting.blocks import read_blocks
from kb_pipeline.rewriting.language import words_for
from kb_pipeline.rewriting.structure import RawOutline, Section, is_link_list, read_outline, without_empty


def outline(body: str, path: str = "redis/note.md", title: str | None = None, language: str = "en") -> RawOutline:
    return read_outline(read_blocks(body), path, title, words_for(language))


def shape(sections: tuple[Section, ...]) -> list[object]:
    return [[section.heading, shape(section.children)] if section.children else section.heading for section in sections]


@pytest.mark.parametrize(
    ("body", "field", "title"),
    [
        ("# A **bold** `code` [link](x.md) #\n\ntext", None, "A bold code link"),
        ("# Heading\n\ntext", "From front matter", "From front matter"),
        ("## Only heading\n\ntext", None, "Only heading"),
        ("# Troubleshooting\n\ntext", None, "Note: Troubleshooting"),
        ("# Troubleshooting\n\na\n\n# Failover\n\nb", None, "Note"),
        ("Plain first line\n\nThen text.", None, "Plain first line"),
        ("A sentence that ends.\n\nThen text.", None, "Note"),
        ("text only", None, "Note"),
        ("# ![logo](x.png) Name\n\ntext", None, "Name"),
        ("# [x] vs [label]\n\n[label]: https://a.example", None, "[x] vs label"),
        ("# <a name='x'></a>Title {#own}\n\ntext", None, "Title"),
    ],
)
def test_a_document_is_called_by_what_names_it_best(body: str, field: str | None, title: str) -> None:
    assert outline(body, title=field).title == title


def test_a_long_title_is_cut_where_no_word_is_torn() -> None:
    title = outline("# " + "word_with_parts " * 20 + "\n\ntext").title
    assert len(title) <= 120
    assert title.endswith("word_with_parts")


def test_a_file_called_by_a_date_alone_takes_its_first_telling_heading() -> None:
    assert outline("Some text.\n\n## Overview\n\na\n\n## 修正快取\n\nb", "log/2026-08-18.md").title == "修正快取"


def test_levels_are_counted_as_they_occur() -> None:
    body = "# T\n\n## A\n\na\n\n#### B\n\nb\n\n##### C\n\nc\n\n###### D\n\nd\n\n## E\n\ne"
    assert shape(outline(body).sections) == [["A", [["B", [["C", ["D"]]]]]], "E"]


def test_the_first_h1_of_another_name_than_the_title_is_kept_as_subtitle() -> None:
    found = outline("# series_stats()\n\ntext\n\n## Syntax\n\na", title="Statistics of a series")
    assert (found.title, found.subtitle) == ("Statistics of a series", "series_stats()")
    assert shape(found.sections) == ["Syntax"]


def test_tables_of_contents_are_dropped_with_their_heading() -> None:
    body = "# T\n\n## Table of Contents\n\n- [A](#a)\n  - [B](#b)\n\n## A\n\na\n\n### B\n\nb"
    assert shape(outline(body).sections) == [["A", ["B"]]]


def test_bold_lines_become_headings_where_there_are_no_others() -> None:
    assert shape(outline("**停止服務**\n\n做 A\n\n**重新啟動**\n\n做 B").sections) == ["停止服務", "重新啟動"]
    assert shape(outline("## X\n\n**a**\n\nb\n\n**c**\n\nd").sections) == []


def test_a_heading_without_text_becomes_an_item_of_the_section_before() -> None:
    body = "# T\n\n## Port 22\n\n## A\n\na\n\n## Ports 80 and 443\n\n## B\n\nb\n\n## A"
    above, sections = without_empty(outline(body).sections)
    assert [block.text for block in above] == ["- Port 22"]
    assert shape(sections) == ["A", "B"]
    assert sections[0].blocks[-1].text == "- Ports 80 and 443"


def test_a_link_in_a_heading_stays_as_text_below_it() -> None:
    section = outline("# T\n\n## [1.2.0](https://a.example/1.2.0)\n\n- fix").sections[0]
    assert section.heading == "1.2.0"
    assert section.blocks[0].text == "[1.2.0](https://a.example/1.2.0)"


def test_every_name_of_a_heading_is_kept_as_anchor() -> None:
    body = "# T\n\n<a id='old'></a>\n\n## <a name=\"en\"></a>中文 {#own}\n\na\n\n## 中文\n\nb"
    first, second = outline(body).sections
    assert set(first.anchors) == {"old", "en", "own", "中文"}
    assert second.anchors == ("中文-1",)


def test_a_document_of_links_is_told_from_one_with_text() -> None:
    assert is_link_list(outline("# T\n\n- [A](a.md)\n- [[b]]\n- <https://c.example>"))
    assert not is_link_list(outline("# T\n\n- [A](a.md)\n- [[b]]\n\nText about them, longer.\n\nAnd more of it."))
