"""Links as written: which forms are links, what hides them, and where exactly they stand."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kb_pipeline.markdown.outline import parse_body
from kb_pipeline.models import Link, LinkKind

FORMS: dict[str, tuple[LinkKind, str, str | None, str | None]] = {
    "[[N]]": (LinkKind.WIKILINK, "N", None, None),
    "[[ N |alias]]": (LinkKind.WIKILINK, "N", None, "alias"),
    "[[N\\|alias]]": (LinkKind.WIKILINK, "N", None, "alias"),
    "[[N#Heading]]": (LinkKind.WIKILINK, "N", "Heading", None),
    "[[N##Heading]]": (LinkKind.WIKILINK, "N", "Heading", None),
    "[[N#父#子|a]]": (LinkKind.WIKILINK, "N", "父#子", "a"),
    "[[N#^block]]": (LinkKind.WIKILINK, "N", "^block", None),
    "[[N#[外站](https://example.com)]]": (LinkKind.WIKILINK, "N", "[外站](https://example.com)", None),
    "[[N#[x]]]": (LinkKind.WIKILINK, "N", "[x]", None),
    "[[#Heading]]": (LinkKind.WIKILINK, "", "Heading", None),
    "[[資料夾/頁 面.md]]": (LinkKind.WIKILINK, "資料夾/頁 面.md", None, None),
    "![[embed]]": (LinkKind.EMBED, "embed", None, None),
    "![[圖.png|300]]": (LinkKind.EMBED, "圖.png", None, "300"),
    "[t](a%20b.md#x)": (LinkKind.MARKDOWN, "a b.md", "x", "t"),
    "[t](<a b.md>)": (LinkKind.MARKDOWN, "a b.md", None, "t"),
    "[t](<a b.md#甲 乙> 'title')": (LinkKind.MARKDOWN, "a b.md", "甲 乙", "t"),
    '[t]( a.md "ti(t)le" )': (LinkKind.MARKDOWN, "a.md", None, "t"),
    "[t](a.md\n(title))": (LinkKind.MARKDOWN, "a.md", None, "t"),
    "[t](a(b)c.md)": (LinkKind.MARKDOWN, "a(b)c.md", None, "t"),
    "[t](a\\(b.md)": (LinkKind.MARKDOWN, "a(b.md", None, "t"),
    "[t](a&amp;b.md)": (LinkKind.MARKDOWN, "a&b.md", None, "t"),
    "[t](%E9%A0%81.md#%E7%AF%80)": (LinkKind.MARKDOWN, "頁.md", "節", "t"),
    "[t](#x)": (LinkKind.MARKDOWN, "", "x", "t"),
    "[](a.md)": (LinkKind.MARKDOWN, "a.md", None, None),
    "[a [b] c](a.md)": (LinkKind.MARKDOWN, "a.md", None, "a [b] c"),
    "[a\nb](a.md)": (LinkKind.MARKDOWN, "a.md", None, "a b"),
    "[`]`](a.md)": (LinkKind.MARKDOWN, "a.md", None, "`]`"),
    "[a \\] b](a.md)": (LinkKind.MARKDOWN, "a.md", None, "a ] b"),
    "[[1]](https://e.com/%2f?q=1#z)": (LinkKind.MARKDOWN, "https://e.com/%2f?q=1", "z", "[1]"),
    "![圖 1](a.png)": (LinkKind.IMAGE, "a.png", None, "圖 1"),
    '![](<a b.png> "t")': (LinkKind.IMAGE, "a b.png", None, None),
    "[t][ref]": (LinkKind.MARKDOWN, "r f.md", "s", "t"),
    "[t][REF ]": (LinkKind.MARKDOWN, "r f.md", "s", "t"),
    "[ref][]": (LinkKind.MARKDOWN, "r f.md", "s", "ref"),
    "[Ref]": (LinkKind.MARKDOWN, "r f.md", "s", "Ref"),
    "![t][ref]": (LinkKind.IMAGE, "r f.md", "s", "t"),
}
DEFINITION = "\n\n[ref]: r%20f.md#s 'title'\n"


def links(body: str) -> list[tuple[LinkKind, str, str | None, str | None]]:
    return [(link.kind, link.target, link.anchor, link.label) for link in parse_body(body).links]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_link_is_read(form: str) -> None:
    assert links(f"前 {form} 後{DEFINITION}") == [FORMS[form]]


@pytest.mark.parametrize("form", [form for form in FORMS if "\n" not in form])
@pytest.mark.parametrize(
    "around",
    ["- {}", "> {}", "1. a\n   - {}", "## {}", "{}\n===", "**{}**", "（{}）", "~~{}~~ a", "\\\\{}", "a\\` {} `"],
)
def test_links_are_read_wherever_text_is(form: str, around: str) -> None:
    assert FORMS[form] in links(around.format(form) + DEFINITION)


@pytest.mark.parametrize("form", [form for form in FORMS if "|" not in form.replace("\\|", "") and "\n" not in form])
def test_links_are_read_in_tables(form: str) -> None:
    assert links(f"| a | b |\n|---|---|\n| x | {form} |\n{DEFINITION}") == [FORMS[form]]


@pytest.mark.parametrize(
    "hidden",
    [
        "`{}`",
        "`` ` {} ``",
        "```\n{}\n```",
        "~~~ md\n{}",
        "    {}",
        "- a\n\n      {}",
        "<!-- {} -->",
        "a <!-- {} --> b",
        "a <!--\n{}\n--> b",
        "<!--\n\n{}\n\n-->",
        "%% {} %%",
        "a %%{}%% b",
        "%%\n{}\n\n{}\n%%",
        "$x {} y$",
        "$${}$$",
        "$$\n\n{}\n\n$$",
        "> $$\n> {}\n>\n> a\n> $$",
        '<a href="{}">x</a>',
        "<div>\n{}\n</div>",
        "<https://example.com/{}>",
    ],
)
@pytest.mark.parametrize("form", ["[[N]]", "![[N]]", "[t](a.md)", "![t](a.png)"])
def test_nothing_is_a_link_in_code_comments_math_and_html(hidden: str, form: str) -> None:
    if form not in {"[[N]]"} and hidden.startswith("<https"):
        return
    assert links(hidden.replace("{}", form) + "\n\n[[behind]]\n") == (
        [] if hidden.startswith("~~~") else [(LinkKind.WIKILINK, "behind", None, None)]
    )


@pytest.mark.parametrize(
    "text",
    [
        "\\[\\[a\\]\\]",
        "\\[[a]]",
        "[\\[a]]",
        "[[]]",
        "[[ ]]",
        "[[|x]]",
        "[[_TOC_]]",
        "[[a\nb]]",
        "[a] (b.md)",
        "[a](b c.md)",
        "[a](<b\nc.md>)",
        "[a]()",
        "[a](#)",
        "[a\\](b.md)",
        "\\[a](b.md)",
        "[x] task",
        "[unknown][ref2]",
        "[^1] note",
        "<b.md>",
    ],
)
def test_what_only_looks_like_a_link_is_none(text: str) -> None:
    assert links(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "每月 $5，見 [[N]]，另有 $10",
        "US$5 [[N]] NT$7",
        "$5 [[N]] $10 [[N]]",
        "$5，[[N]]，10$",
        "100%% [[N]]",
        "%% [[N]]\n\nnever closed",
        "$$ [[N]]\n\nnever closed",
        "\\$x [[N]] y$",
        "`$` [[N]] `$`",
        "``` [[N]] ``",
        "a < b [[N]] > c",
        "<!- [[N]] ->",
        "~~~ [[N]]"[4:],
    ],
)
def test_prices_and_lone_marks_hide_nothing(text: str) -> None:
    assert {target for _, target, _, _ in links(text)} == {"N"}


def test_cells_of_a_row_are_split_before_code() -> None:
    assert links("| a | b |\n|---|---|\n| ` | [[N]] ` |\n| `[[no]]` | [[M]] |\n") == [
        (LinkKind.WIKILINK, "N", None, None),
        (LinkKind.WIKILINK, "M", None, None),
    ]


def test_a_picture_in_a_link_gives_both() -> None:
    body = "[![alt](i.png)](p.md)"
    found = parse_body(body).links
    assert [(link.kind, body[link.start : link.end]) for link in found] == [
        (LinkKind.MARKDOWN, body),
        (LinkKind.IMAGE, "![alt](i.png)"),
    ]


def test_links_do_not_hold_links() -> None:
    assert [target for _, target, _, _ in links("[a [b](c.md) d](e.md) [f [[g]] h](i.md)")] == ["c.md", "g"]


def test_a_footnote_that_is_a_link_is_one() -> None:
    body = "x[^1] y[^b]\n\n[^1]: [[N]]\n[^b]: 見 [[M]]\n"
    assert [target for _, target, _, _ in links(body)] == ["N", "M"]


def test_lines_are_those_of_the_file() -> None:
    body = "# a\n\nx\n[[N]] and\n[t](a.md)\n\n| [[b]] | c |\n|---|---|\n| [[d]] | e |\n"
    assert [link.line for link in parse_body(body, first_line=11).links] == [14, 15, 17, 19]


def without_place(link: Link) -> tuple[object, ...]:
    return link.kind, link.target, link.anchor, link.label


PIECES = st.sampled_from(
    [*FORMS, "文字 ", "text\n", "\n\n", "`code`", "`", "| ", "$5 ", "$", "%%", "<!-- ", " -->", "\\", "- ", "> ", "[", "]",
     "(", ")", "![", "[[", "]]", "## h\n", "```\n", "🐘", "|---|---|\n", "<a>", "<!-- x -->", "    "]
)  # fmt: skip


@given(st.lists(PIECES, max_size=25).map("".join) | st.text(alphabet="[]()!<>`$%|\\ab# \n"))
def test_the_text_at_a_link_s_place_is_that_link(body: str) -> None:
    body += DEFINITION
    for link in parse_body(body).links:
        written = body[link.start : link.end]
        assert written[0] in "!["
        assert written[-1] in ")]"
        assert body.count("\n", 0, link.start) + 1 == link.line
        # A formula's or row's marks inside the text of a link mean the same alone only if they are balanced.
        if not set("$%|`\n") & set(written):
            assert without_place(link) in [without_place(alone) for alone in parse_body(written + DEFINITION).links]


@given(st.lists(PIECES, max_size=25).map("".join))
def test_links_lie_apart_or_inside_one_another(body: str) -> None:
    found = parse_body(body).links
    assert [link.start for link in found] == sorted(link.start for link in found)
    for one, other in itertools.pairwise(found):
        assert other.start >= one.end or other.end <= one.end


@given(st.lists(st.sampled_from(["文字", "x `y` ", "\n", "\n\n", "- a ", "> "]), max_size=8).map("".join), st.data())
def test_replacing_a_link_in_its_place_changes_only_that_link(before: str, data: st.DataObject) -> None:
    form = data.draw(st.sampled_from(sorted(FORMS)))
    body = f"{before}{form} 後 [[other]]"
    found = parse_body(body + DEFINITION).links
    assume(len(found) == 2)
    first = found[0]
    replaced = body[: first.start] + "[[new|新]]" + body[first.end :]
    assert [without_place(link) for link in parse_body(replaced + DEFINITION).links] == [
        (LinkKind.WIKILINK, "new", None, "新"),
        (LinkKind.WIKILINK, "other", None, None),
    ]
