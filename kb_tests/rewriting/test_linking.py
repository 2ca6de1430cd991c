"""The link pass over compiled pages (SPEC 4, 5, 6.5)."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_pipeline.markdown.front_matter import set_fields
from kb_pipeline.markdown.links import External, LinkResolver, OutsideRoot, Resolved
from kb_pipeline.markdown.pages import read_page, render_page
from kb_pipeline.models import UNRESOLVED_SCOPE, LinkKind, PageDraft, PageStatus, Related, SourceRef, WikiPage
from kb_pipeline.rewriting.linking import LinkPlan, link_pass


@dataclass
class Wiki:
    """A folder of pages in memory. ``raw``: raw document → page paths; ``texts``: page path → file."""

    raw: dict[str, tuple[str, ...]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    files: frozenset[str] = frozenset()
    documents: frozenset[str] = frozenset()
    language: str = "zh-TW"
    reads: list[str] = field(default_factory=list)

    def compile(
        self, raw: str, page: str, body: str = "", title: str = "", part: str = "1/1", **values: object
    ) -> Wiki:
        """Put a page there as a rewriter hands it over: links as in the raw document."""
        title = title or page.removesuffix(".md").rpartition("/")[2]
        draft = PageDraft(
            path=page,
            title=title,
            scope="內部系統",
            summary="90 天過期、5 分鐘寬限期、/refresh 端點",
            keywords=("權杖", "token", "輪替"),
            body=f"# {title}\n\n{body}",
            updated=date(2026, 8, 18),
        )
        draft = replace(draft, **values)  # type: ignore[arg-type]
        self.texts[page] = render_page(draft, [SourceRef(raw, "0" * 64)], "offline", "k" * 12, part)
        self.raw[raw] = tuple(dict.fromkeys((*self.raw.get(raw, ()), page)))
        return self

    def hand(self, page: str, text: str) -> Wiki:
        self.texts[page] = text
        return self

    def pages(self) -> dict[str, WikiPage]:
        return {path: read_page(path, text.encode()) for path, text in self.texts.items()}

    def plan(self) -> LinkPlan:
        self.reads.clear()

        def read(path: str) -> str:
            self.reads.append(path)
            return self.texts[path]

        return link_pass(
            self.pages(), self.raw, read, files=self.files, documents=self.documents, language=self.language
        )

    def link(self) -> LinkPlan:
        """Plan, write, and see that a second pass has nothing to do and every page is still the product's own."""
        plan = self.plan()
        self.texts.update(plan.changes)
        again = self.plan()
        assert again.changes == {}
        assert again.pending == plan.pending
        for path in plan.changes:
            page = read_page(path, self.texts[path].encode())
            assert not page.problems
            assert not page.edited_by_hand
        return plan

    def body(self, page: str) -> str:
        """Below the H1."""
        return self.pages()[page].body.split("\n\n", 1)[1].strip("\n")

    def linked(self, body: str, page: str = "ops/a.md", raw: str = "ops/a.md") -> str:
        """Compile one page with this body, link, and tell what became of the body."""
        self.compile(raw, page, body)
        self.link()
        return self.body(page)


@pytest.fixture
def wiki() -> Wiki:
    """Raw documents whose pages live elsewhere than they do: folders by type are dropped, names are slugs."""
    return (
        Wiki(files=frozenset({"ops/img/架構 圖.png", "ops/run (v2).sh", "shared/logo.svg"}))
        .compile("docs/auth/Token Rotation.md", "auth/token-rotation.md", "> 結論。\n\n## 過期 時間\n\n90 天。\n")
        .compile("docs/auth/long.md", "auth/long.md", "## 安裝\n\n一。\n", title="長文（一）", part="1/2")
        .compile(
            "docs/auth/long.md",
            "auth/long-2.md",
            "## 設定\n\n二。\n\n## 安裝\n\n三。\n",
            title="長文（二）",
            part="2/2",
        )
    )


@pytest.mark.parametrize(
    ("raw", "linked"),
    [
        ("[x](../docs/auth/Token%20Rotation.md)", "[x](../auth/token-rotation.md)"),
        ("[x](<../docs/auth/Token Rotation.md>)", "[x](../auth/token-rotation.md)"),
        ("[x](../docs/auth/token%20rotation.MD 'T')", "[x](../auth/token-rotation.md 'T')"),
        ("[**x**](/docs/auth/Token%20Rotation)", "[**x**](../auth/token-rotation.md)"),
        ("[x](docs/auth/Token%20Rotation.md#過期-時間)", "[x](../auth/token-rotation.md#過期-時間)"),
        ("[x](../docs/auth/Token%20Rotation.md#過期%20時間)", "[x](../auth/token-rotation.md#過期-時間)"),
        ("[x](../docs/auth/Token%20Rotation.md#沒有這節)", "[x](../auth/token-rotation.md)"),
        ("[x][ref]\n\n[ref]: ../docs/auth/long.md", "[x](../auth/long.md)\n\n[ref]: ../docs/auth/long.md"),
        ("[long.md][]\n\n[long.md]: long.md", "[long.md](../auth/long.md)\n\n[long.md]: long.md"),
        ("[[Token Rotation]]", "[[auth/token-rotation|Token Rotation]]"),
        ("[[Token Rotation|權杖]]", "[[auth/token-rotation|權杖]]"),
        ("[[Token Rotation#過期 時間]]", "[[auth/token-rotation#過期 時間|Token Rotation > 過期 時間]]"),
        ("![[Token Rotation#過期 時間]]", "![[auth/token-rotation#過期 時間|Token Rotation > 過期 時間]]"),
        ("[[long]] [[auth/long]]", "[[long]] [[auth/long]]"),
        ("[a](../docs/auth/long.md#設定)", "[a](../auth/long-2.md#設定)"),
        ("[a](../docs/auth/long.md#安裝-1)", "[a](../auth/long-2.md#安裝)"),
        ("[a](../docs/auth/long.md#安裝)", "[a](../auth/long.md#安裝)"),
        ("| a |\n|---|\n| [[Token Rotation]] |", "| a |\n|---|\n| [[auth/token-rotation\\|Token Rotation]] |"),
        ("| a |\n|---|\n| [[Token Rotation\\|b]] |", "| a |\n|---|\n| [[auth/token-rotation\\|b]] |"),
        ("## 見 [[Token Rotation]]\n\n字", "## 見 [Token Rotation](../auth/token-rotation.md)\n\n字"),
        ("![圖](img/%E6%9E%B6%E6%A7%8B%20圖.png)", "![圖](../../raw/ops/img/架構%20圖.png)"),
        ("![[架構 圖.png]]", "![架構 圖.png](../../raw/ops/img/架構%20圖.png)"),
        ("![](/shared/logo.svg?raw=true)", "![](../../raw/shared/logo.svg)"),
        ("[腳本](<run (v2).sh>)", "[腳本](../../raw/ops/run%20%28v2%29.sh)"),
        (
            "[![圖](img/架構%20圖.png)](../docs/auth/long.md)",
            "[![圖](../../raw/ops/img/架構%20圖.png)](../auth/long.md)",
        ),
        ("[a](https://a.tw/b.md#c) <https://b.tw> [m](mailto:a@b.tw)",) * 2,
        ("`[x](../docs/auth/long.md)` <!-- [[Token Rotation]] -->",) * 2,
    ],
)
def test_a_link_leads_to_the_page_that_the_raw_document_meant(wiki: Wiki, raw: str, linked: str) -> None:
    assert wiki.linked(raw) == linked


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("[輪替](../auth/missing.md)", "輪替（`../auth/missing.md`）"),
        ("[輪替](../auth/missing.md#a)", "輪替（`../auth/missing.md#a`）"),
        ("[a.md](a%20b.md) [a b.md](a%20b.md)", "a.md（`a b.md`） `a b.md`（未收錄）"),
        ("[[missing]] [[missing|別名]]", "`missing`（未收錄） 別名（`missing`）"),
        ("![圖](img/no.png) ![](img/no.png)", "圖（`img/no.png`） `img/no.png`（未收錄）"),
        ("## 見 [x](no.md)\n\n字", "## 見 x\n\n字"),
        ("[自己](#沒有這節)", "自己（`#沒有這節`）"),
        ("[外](../../../etc/passwd)", "外（`../../../etc/passwd`）"),
        ("[甲\n乙](no.md)", "甲 乙（`no.md`）"),
        ("[a b](no.md) [b](no.md) [a b](no.md)", "a b（`no.md`） b（`no.md`） a b（`no.md`）"),
        ("[![圖](no.png) 看](no.md) [看](no.md)", "圖（`no.png`） 看（`no.md`） 看（`no.md`）"),
        ("[![圖](img/架構%20圖.png)](no.md)", "![圖](../../raw/ops/img/架構%20圖.png)（`no.md`）"),
    ],
)
def test_a_link_to_nothing_is_text_until_its_target_exists(wiki: Wiki, raw: str, text: str) -> None:
    assert wiki.linked(raw) == text
    assert not [link for link in wiki.pages()["ops/a.md"].outline.links if link.kind is not LinkKind.IMAGE]


def test_pending_links_are_listed_with_page_line_target_and_reason(wiki: Wiki) -> None:
    wiki.documents = frozenset({"ops/held.md", "x/two.md", "y/two.md"})
    wiki.compile("ops/a.md", "ops/a.md", "一\n\n[h](held.md)\n\n[n](none.md) [[two]] [s](#no)")
    pending = wiki.link().pending
    line = wiki.pages()["ops/a.md"].body_line + 5
    assert wiki.plan().pending == pending
    assert [(item.page, item.line, item.target) for item in pending] == [
        ("ops/a.md", line, "held.md"),
        ("ops/a.md", line + 2, "none.md"),
        ("ops/a.md", line + 2, "[[two]]"),
        ("ops/a.md", line + 2, "#no"),
    ]
    assert [item.reason for item in pending] == [
        "ops/held.md has no page",
        "not found",
        "ambiguous: x/two.md, y/two.md",
        "no heading 'no' in the document's pages",
    ]


BODIES = [
    "[輪替](../new/late%20one.md#節) 與 [[late one|別]] 與 ![[late one]]",
    "## 見 [晚](../new/late%20one.md)\n\n字",
    "| a |\n|---|\n| [[late one]] |",
    '[![圖](img/架構%20圖.png)](../new/late%20one.md) [一\n二](../new/late%20one.md "題")',
    "[![圖](late.png)](../new/late%20one.md) [圖](late.png) [a 晚](../new/late%20one.md) [晚](../new/late%20one.md)",
    "[a][晚] [晚] [晚][]\n\n[晚]: <../new/late one.md>",
    "[late one](../new/late%20one.md) [late one](../new/late%20one.md#節) [late one](../new/late%20one.md#無)",
]


@pytest.mark.parametrize("body", BODIES)
def test_a_target_that_appears_later_gives_what_it_would_have_given_at_once(wiki: Wiki, body: str) -> None:
    late = ("new/late one.md", "new/late-one.md", "## 節\n\n字")
    files = wiki.files
    at_once = Wiki(dict(wiki.raw), dict(wiki.texts), files).compile(*late).compile("ops/a.md", "ops/a.md", body)
    at_once.link()
    wiki.compile("ops/a.md", "ops/a.md", body)
    wiki.link()
    assert "late-one" not in wiki.body("ops/a.md")
    wiki.compile(*late)
    wiki.link()
    assert wiki.texts == {path: text.replace("一\n二", "一 二") for path, text in at_once.texts.items()}
    assert {item.target for item in wiki.plan().pending} <= {"late.png"}


def test_a_target_that_goes_leaves_text_and_comes_back_as_a_link(wiki: Wiki) -> None:
    wiki.linked("[x](../docs/auth/Token%20Rotation.md#過期-時間) [[Token Rotation]] ![[架構 圖.png]]")
    before = dict(wiki.texts)
    page = wiki.texts.pop("auth/token-rotation.md")
    del wiki.raw["docs/auth/Token Rotation.md"]
    files, wiki.files = wiki.files, frozenset()
    wiki.link()
    assert wiki.body("ops/a.md") == (
        "x（`../docs/auth/Token Rotation.md#過期-時間`） `Token Rotation`（未收錄） `架構 圖.png`（未收錄）"
    )
    wiki.texts["auth/token-rotation.md"] = page
    wiki.raw["docs/auth/Token Rotation.md"] = ("auth/token-rotation.md",)
    wiki.files = files
    wiki.link()
    assert wiki.texts == before


def test_a_link_follows_its_heading_when_the_target_is_split(wiki: Wiki) -> None:
    wiki.linked("[x](../docs/auth/Token%20Rotation.md#過期-時間)")
    wiki.compile("docs/auth/Token Rotation.md", "auth/token-rotation.md", "## 別的\n\n一", part="1/2")
    wiki.compile("docs/auth/Token Rotation.md", "auth/token-rotation-2.md", "## 過期 時間\n\n二", part="2/2")
    wiki.link()
    assert wiki.body("ops/a.md") == "[x](../auth/token-rotation-2.md#過期-時間)"


def test_a_raw_name_wins_over_a_page_that_happens_to_be_called_so(wiki: Wiki) -> None:
    """Page paths differ from raw paths: ``b.md`` means the neighbour of the raw document, not of the page."""
    wiki.compile("notes/b.md", "ops/b-notes.md", "甲").compile("ops/b.md", "ops/b.md", "乙")
    assert wiki.linked("[x](b.md) [[b]]", "ops/a.md", "notes/a.md") == "[x](b-notes.md) [[ops/b-notes|b]]"


def test_links_that_end_alike_keep_what_each_of_them_meant(wiki: Wiki) -> None:
    """Two links whose anchors are both lost look the same; when one heading appears only its link gets it."""
    body = "[x](../docs/auth/Token%20Rotation.md#甲) [x](../docs/auth/Token%20Rotation.md#乙)"
    assert wiki.linked(body) == "[x](../auth/token-rotation.md) [x](../auth/token-rotation.md)"
    wiki.compile("docs/auth/Token Rotation.md", "auth/token-rotation.md", "## 乙\n\n字")
    wiki.link()
    assert wiki.body("ops/a.md") == "[x](../auth/token-rotation.md) [x](../auth/token-rotation.md#乙)"


def test_anchors_of_the_document_itself_find_the_part_that_has_them(wiki: Wiki) -> None:
    wiki.compile(
        "docs/auth/long.md",
        "auth/long.md",
        "[設](#設定) [二](#安裝-1) [一](#安裝)\n\n## 安裝\n\n一",
        title="長文（一）",
        part="1/2",
    )
    wiki.link()
    assert wiki.body("auth/long.md").startswith("[設](long-2.md#設定) [二](long-2.md#安裝) [一](#安裝)")


def test_links_between_parts_that_the_rewriter_wrote_are_not_looked_up_among_raw_documents(wiki: Wiki) -> None:
    wiki.compile("docs/auth/long-2.md", "auth/other.md", "別的文件")
    wiki.compile(
        "docs/auth/long.md", "auth/long.md", "接續 [[auth/long-2]]、[下](long-2.md)", title="長文（一）", part="1/2"
    )
    wiki.link()
    assert wiki.body("auth/long.md") == "接續 [[auth/long-2]]、[下](long-2.md)"


def test_a_link_to_a_page_by_path_title_or_alias_works_when_no_raw_document_is_called_so(wiki: Wiki) -> None:
    wiki.compile("x/1.md", "x/one.md", "甲", title="權杖總覽", aliases=("入口",))
    body = "[[權杖總覽]] [[入口]] [p](../x/one.md) [[x/one]]"
    assert wiki.linked(body) == body


def test_drafts_are_no_targets(wiki: Wiki) -> None:
    wiki.compile("x/f.md", "_inbox/2026-08.md", "碎片", status=PageStatus.DRAFT)
    assert wiki.linked("[f](../x/f.md) [[2026-08]]") == "f（`../x/f.md`） `2026-08`（未收錄）"


def test_a_page_made_from_several_documents_resolves_from_each_of_their_folders(wiki: Wiki) -> None:
    wiki.linked("[x](Token%20Rotation.md)", "ops/m.md", "ops/one.md")
    text = set_fields(wiki.texts["ops/m.md"], {"sources": [{"path": "ops/one.md"}, {"path": "docs/auth/two.md"}]})
    wiki.texts["ops/m.md"] = text
    wiki.link()
    assert wiki.body("ops/m.md") == "[x](../auth/token-rotation.md)"


def test_when_a_raw_document_moves_the_links_of_others_to_its_page_live_on(wiki: Wiki) -> None:
    linked = wiki.linked("[x](../docs/auth/Token%20Rotation.md)")
    wiki.raw["elsewhere/Token Rotation v2.md"] = wiki.raw.pop("docs/auth/Token Rotation.md")
    plan = wiki.link()
    assert (plan.changes, plan.pending) == ({}, ())
    assert wiki.body("ops/a.md") == linked


def test_only_links_change_in_a_body() -> None:
    body = "前  言 \t\n\n```sh\ncat ../b.md\n```\n\n- [x](../b/b.md)，*後*\n\n\n結尾   "
    wiki = Wiki().compile("b/b.md", "c/b.md", "字").compile("a/a.md", "a/a.md", body)
    wiki.link()
    assert wiki.pages()["a/a.md"].body == f"\n# a\n\n{body.replace('../b/b.md', '../c/b.md')}\n"


def test_pages_of_a_person_are_never_changed(wiki: Wiki) -> None:
    wiki.compile("ops/e.md", "ops/e.md", "[x](../docs/auth/long.md) [y](no.md)")
    edited = wiki.texts["ops/e.md"].replace("[y]", "[z]")
    by_hand = "---\ntitle: 手寫\nrelated: [ops/e.md]\n---\n\n# 手寫\n\n[[no]] [[long]]\n"
    unreadable = "---\ntitle: [\n---\n# x\n[[no]]\n"
    wiki.hand("ops/e.md", edited).hand("ops/h.md", by_hand).hand("ops/u.md", unreadable)
    assert set(wiki.link().changes) <= {"auth/long.md", "auth/long-2.md"}


def test_only_changed_pages_are_read() -> None:
    wiki = Wiki()
    for number in range(30):
        wiki.compile(f"a/{number}.md", f"a/{number}.md", f"[n]({(number + 1) % 30}.md) [w](missing.md)")
    wiki.link()
    wiki.compile("a/5.md", "a/5.md", "[n](6.md)\n\n[m](7.md)")
    plan = wiki.plan()
    assert sorted(plan.changes) == sorted(wiki.reads)
    assert set(plan.changes) == {"a/5.md", "a/7.md"}


def test_comments_quotes_and_line_ends_of_the_front_matter_stay(wiki: Wiki) -> None:
    wiki.compile("ops/a.md", "ops/a.md", "[x](../docs/auth/long.md)")
    text = wiki.texts["ops/a.md"].replace("scope: 內部系統", "scope: '內部系統'  # 由平台組維護").replace("\n", "\r\n")
    wiki.hand("ops/a.md", text)
    wiki.link()
    changed = wiki.texts["ops/a.md"]
    assert "scope: '內部系統'  # 由平台組維護\r\n" in changed
    assert "[x](../auth/long.md)\r\n" in changed
    assert changed.count("\n") == changed.count("\r\n")


def test_a_page_that_changes_on_disk_meanwhile_is_left_and_reported(wiki: Wiki) -> None:
    wiki.compile("ops/a.md", "ops/a.md", "[x](../docs/auth/long.md)")
    pages = wiki.pages()
    wiki.texts["ops/a.md"] += "\n有人正在寫\n"
    plan = link_pass(pages, wiki.raw, wiki.texts.__getitem__)
    assert "ops/a.md" not in plan.changes
    assert [finding.rule for finding in plan.findings if finding.path == "ops/a.md"] == ["links-not-written"]


# --- related -------------------------------------------------------------------------------------------------------


def related(wiki: Wiki) -> dict[str, list[str]]:
    return {path: [entry.target for entry in page.related] for path, page in wiki.pages().items() if page.related}


def test_linked_pages_name_each_other_with_the_reason() -> None:
    wiki = Wiki().compile("a.md", "a.md", "[b](b.md)").compile("b.md", "b.md", "字").compile("c.md", "c.md", "字")
    wiki.link()
    assert related(wiki) == {"a.md": ["b.md"], "b.md": ["a.md"]}
    assert wiki.pages()["b.md"].related == (Related("a.md", "內文連結"),)


def test_what_the_pass_added_goes_with_the_link_and_what_a_person_added_stays() -> None:
    wiki = Wiki().compile("a.md", "a.md", "[b](b.md)").compile("b.md", "b.md", "字").compile("c.md", "c.md", "字")
    wiki.link()
    wiki.texts["b.md"] = set_fields(
        wiki.texts["b.md"], {"related": [Related("a.md", "內文連結"), Related("c.md", "先讀")]}
    )
    wiki.link()
    assert related(wiki) == {"a.md": ["b.md"], "b.md": ["c.md", "a.md"], "c.md": ["b.md"]}
    wiki.compile("a.md", "a.md", "不再連結")
    wiki.link()
    assert related(wiki) == {"b.md": ["c.md"], "c.md": ["b.md"]}
    assert wiki.pages()["b.md"].related == (Related("c.md", "先讀"),)


def test_at_most_eight_are_made_mutual_pairs_first() -> None:
    wiki = Wiki()
    names = [f"p{number:02}" for number in range(12)]
    wiki.compile("hub.md", "hub.md", " ".join(f"[{name}]({name}.md)" for name in names))
    for name in names:
        wiki.compile(f"{name}.md", f"{name}.md", "[hub](hub.md)" if name == "p11" else "字")
    wiki.link()
    found = related(wiki)
    assert found["hub.md"] == [*(f"{name}.md" for name in names[:7]), "p11.md"]
    assert all(found[name] == ["hub.md"] for name in found["hub.md"])
    assert "p10.md" not in found


def test_more_than_eight_by_a_person_stay_and_what_finds_no_room_is_reported() -> None:
    wiki = Wiki()
    names = [f"p{number}.md" for number in range(10)]
    for name in names:
        wiki.compile(name, name, "字")
    wiki.compile("hub.md", "hub.md", "字", related=tuple(map(Related, names)))
    wiki.compile("z.md", "z.md", "字", related=(Related("hub.md"),))
    plan = wiki.link()
    assert related(wiki)["hub.md"] == names
    assert all(related(wiki)[name] == ["hub.md"] for name in names)
    assert [(finding.rule, finding.path) for finding in plan.findings] == [("related-one-sided", "z.md")]


def test_a_page_of_a_person_is_answered_but_not_asked_to_answer() -> None:
    hand = "---\ntitle: 手寫\nrelated: [a.md]\n---\n\n# 手寫\n"
    wiki = (
        Wiki()
        .compile("a.md", "a.md", "[h](h.md) [g](g.md)")
        .hand("h.md", hand)
        .hand("g.md", "---\ntitle: g\n---\n\n# g\n")
    )
    wiki.compile("b.md", "b.md", "字", related=(Related("g.md", "作者寫的"),))
    plan = wiki.link()
    assert related(wiki) == {"a.md": ["h.md"], "h.md": ["a.md"], "b.md": ["g.md"]}
    assert [(finding.rule, finding.path) for finding in plan.findings] == [("related-one-sided", "b.md")]


def test_drafts_deprecated_and_index_pages_are_not_proposed() -> None:
    wiki = Wiki().compile("a.md", "a.md", "[o](o.md) [i](i.md)")
    wiki.compile("o.md", "legacy/o.md", "舊", status=PageStatus.DEPRECATED)
    wiki.compile("i.md", "i.md", "[a](a.md)", kind="index")
    wiki.compile("d.md", "_inbox/d.md", "[a](a.md)", status=PageStatus.DRAFT)
    wiki.link()
    assert related(wiki) == {}


def test_neighbouring_parts_name_each_other_and_a_rewriters_own_comment_stays() -> None:
    wiki = Wiki()
    for number in (1, 2, 3):
        wiki.compile(
            "l.md",
            f"l-{number}.md",
            f"## 節 {number}",
            part=f"{number}/3",
            related=(Related("l-3.md", "同一份文件"),) if number == 2 else (),
        )
    wiki.link()
    assert {path: page.related for path, page in wiki.pages().items()} == {
        "l-1.md": (Related("l-2.md", "內文連結"),),
        "l-2.md": (Related("l-3.md", "同一份文件"), Related("l-1.md", "內文連結")),
        "l-3.md": (Related("l-2.md", "對方頁面列出"),),
    }


# --- titles --------------------------------------------------------------------------------------------------------


def titles(wiki: Wiki) -> dict[str, str]:
    for page in wiki.pages().values():
        assert page.outline.headings[0].text == page.title
    return {path: page.title for path, page in wiki.pages().items()}


def test_namesakes_get_their_scope_and_lose_it_when_alone_again() -> None:
    wiki = Wiki().compile("a/s.md", "a/s.md", "[頂](#安裝)", title="安裝", scope="甲系統")
    wiki.link()
    alone = dict(wiki.texts)
    wiki.compile("b/s.md", "b/s.md", "字", title="安裝", scope="乙系統")
    wiki.link()
    assert titles(wiki) == {"a/s.md": "安裝（甲系統）", "b/s.md": "安裝（乙系統）"}
    assert wiki.plan().pending == ()
    del wiki.texts["b/s.md"], wiki.raw["b/s.md"]
    wiki.link()
    assert wiki.texts == alone


def test_namesakes_of_one_scope_are_told_apart_by_their_folder_and_by_their_file_where_that_is_the_same() -> None:
    wiki = Wiki().compile("a/s.md", "a/s.md", "字", title="安裝").compile("b/s.md", "b/s.md", "字", title="安裝")
    wiki.compile("c/s.md", "c/s.md", "字", title="升級", scope=UNRESOLVED_SCOPE)
    wiki.compile("d/s.md", "d/s.md", "字", title="升級", scope="丁系統")
    wiki.compile("e/x.md", "e/x.md", "字", title="備份").compile("e/y.md", "e/y.md", "字", title="備份")
    wiki.link()
    assert titles(wiki) == {
        "a/s.md": "安裝（a）",
        "b/s.md": "安裝（b）",
        "c/s.md": "升級",
        "d/s.md": "升級（丁系統）",
        "e/x.md": "備份（x）",
        "e/y.md": "備份（y）",
    }
    assert wiki.link().changes == {}


def test_a_title_that_always_had_its_scope_keeps_it() -> None:
    wiki = Wiki().compile("a/s.md", "a/s.md", "字", title="安裝（甲系統）", scope="甲系統")
    assert wiki.link().changes == {}


def test_what_is_added_to_a_page_is_in_the_pages_own_language() -> None:
    english = {"title": "Setup", "summary": "install steps, ports, accounts needed before the first start"}
    wiki = Wiki().compile("a/s.md", "a/s.md", "x", scope="A", **english)
    wiki.compile("b/s.md", "b/s.md", "[gone](no.md) [c](../c/s.md)", scope="B", **english)
    wiki.compile("c/s.md", "c/s.md", "字", scope="B")
    wiki.link()
    assert titles(wiki)["a/s.md"] == "Setup (A)"
    assert wiki.body("b/s.md") == "gone (`no.md`) [c](../c/s.md)"
    assert [page.related[0].comment for path, page in wiki.pages().items() if page.related] == [
        "linked in the text",
        "內文連結",
    ]


def test_a_heading_that_cannot_take_a_scope_is_reported() -> None:
    wiki = Wiki().compile("a/s.md", "a/s.md", "字", title="安裝", scope="甲")
    page = read_page("a/s.md", wiki.texts["a/s.md"].replace("# 安裝", "# 安裝 #").encode())
    wiki.hand(
        "a/s.md",
        wiki.texts["a/s.md"]
        .replace("# 安裝", "# 安裝 #")
        .replace(wiki.pages()["a/s.md"].fingerprint, page.fingerprint),
    )
    wiki.compile("b/s.md", "b/s.md", "字", title="安裝", scope="乙")
    plan = wiki.link()
    assert titles(wiki) == {"a/s.md": "安裝", "b/s.md": "安裝（乙）"}
    assert [(finding.rule, finding.path) for finding in plan.findings] == [("title-not-distinguished", "a/s.md")]


# --- properties ----------------------------------------------------------------------------------------------------

NAMES = ["a", "b", "sub/a", "sub/c"]
LINKS = st.sampled_from(
    [
        "[x](a.md)", "[x](b.md#h)", "[x](sub/a.md)", "[x](../a.md)", "[x](c.md#h-1)", "[[a]]", "[[b#h]]", "[[sub/a|z]]",
        "![[p.png]]", "![i](p.png)", "[x](#h)", "[x](no.md)", "[[no]]", "![[c]]", "[x](https://a.tw)", "`[[a]]`",
        "\n\n## h\n\n", "\n\n## [t](b.md)\n\n", "[![i](p.png)](sub/c.md)", "[a.md](a.md)", "\n\n| t |\n|--|\n| [[c]] |\n\n",
    ]
)  # fmt: skip
BODY = st.lists(LINKS, max_size=5).map(" 字 ".join)


def wiki_of(bodies: Mapping[str, str]) -> Wiki:
    wiki = Wiki(files=frozenset({"p.png", "sub/p.png"}))
    for name in sorted(bodies):
        wiki.compile(f"{name}.md", f"wiki/{name.replace('/', '-')}.md", bodies[name])
    return wiki


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(NAMES), BODY, min_size=1))
def test_after_the_pass_no_link_is_broken_and_a_second_pass_changes_nothing(bodies: dict[str, str]) -> None:
    wiki = wiki_of(bodies)
    wiki.link()
    pages = wiki.pages()
    resolver = LinkResolver(pages.values())
    for page in pages.values():
        for link in page.outline.links:
            found = resolver.resolve(link, page.path)
            assert (
                (isinstance(found, Resolved) and found.anchor_found)
                or isinstance(found, External)
                or (isinstance(found, OutsideRoot) and link.target in {"../../raw/p.png", "../../raw/sub/p.png"})
            ), (link, found)


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(st.sampled_from(NAMES), BODY, min_size=2),
    st.permutations(NAMES),
    st.lists(st.sampled_from(NAMES), max_size=2),
)
def test_building_step_by_step_gives_what_building_at_once_gives(
    bodies: dict[str, str], order: list[str], removed: list[str]
) -> None:
    """Documents come one by one in any order, some go and come back: the end is the same as of one full build."""
    at_once = wiki_of(bodies)
    at_once.link()
    wiki = Wiki(files=at_once.files)

    def compile_(names: Iterable[str]) -> None:
        for name in names:
            if name in bodies:
                wiki.compile(f"{name}.md", f"wiki/{name.replace('/', '-')}.md", bodies[name])
                wiki.link()

    compile_(order)
    for name in removed:
        if name in bodies and f"{name}.md" in wiki.raw:
            for path in wiki.raw.pop(f"{name}.md"):
                del wiki.texts[path]
            wiki.link()
    compile_(name for name in removed if f"{name}.md" not in wiki.raw)
    assert wiki.texts == at_once.texts


def seconds_for(count: int) -> float:
    """CPU time of a pass over so many linked pages, nothing having changed."""
    wiki = Wiki()
    for number in range(count):
        links = " ".join(f"[n](../d{(number * k) % 50}/p{(number * k) % count}.md#節)" for k in (1, 3, 7, 11))
        folder = f"d{number % 50}"
        wiki.compile(f"docs/{folder}/p{number}.md", f"{folder}/p{number}.md", f"{links} [no](no.md)\n\n## 節\n\n字")
    pages = wiki.pages()
    plan = link_pass(pages, wiki.raw, wiki.texts.__getitem__)
    pages |= {path: read_page(path, text.encode()) for path, text in plan.changes.items()}
    started = time.process_time()
    assert link_pass(pages, wiki.raw, wiki.texts.__getitem__).changes == {}
    return time.process_time() - started


@pytest.mark.nightly
def test_the_cost_of_a_pass_grows_with_the_pages_and_no_faster() -> None:
    assert seconds_for(4_000) < 7 * min(seconds_for(1_000) for _ in range(2))
