"""Where links lead: order of steps, ambiguity, anchors, addresses, speed."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.markdown.links import (
    Ambiguous,
    External,
    LinkResolver,
    Missing,
    OutsideRoot,
    Resolution,
    Resolved,
    address,
)
from kb_pipeline.markdown.outline import parse_body
from kb_pipeline.markdown.pages import read_page
from kb_pipeline.models import WikiPage


def page(path: str, title: str = "", aliases: tuple[str, ...] = (), body: str = "") -> WikiPage:
    return WikiPage(path, title=title, aliases=aliases, body=body, outline=parse_body(body))


WIKI = [
    page("index.md", "首頁"),
    page("auth/token.md", "權杖換發", ("refresh token", "換發")),
    page("auth/setup.md", "登入設定"),
    page("deploy/setup.md", "部署設定", ("換發",)),
    page("deploy/web/guide.md", "指南"),
    page("ops/web/guide.md", "指南"),
    page("ops/node.js.md", "Node.js"),
    page("Café/夜間備份.md", "夜間備份"),
]


def resolve(written: str, from_path: str = "index.md") -> Resolution:
    (link,) = parse_body(written).links
    return LinkResolver(WIKI).resolve(link, from_path)


@pytest.mark.parametrize(
    ("written", "from_path", "expected"),
    [
        ("[[token]]", "auth/setup.md", Resolved("auth/token.md")),
        ("[[token]]", "index.md", Resolved("auth/token.md")),
        ("[[token.md]]", "deploy/setup.md", Resolved("auth/token.md")),
        ("[[Auth/TOKEN]]", "deploy/setup.md", Resolved("auth/token.md")),
        ("[[setup]]", "deploy/setup.md", Resolved("deploy/setup.md")),
        ("[[setup]]", "index.md", Ambiguous(("auth/setup.md", "deploy/setup.md"))),
        ("[[deploy/web/guide]]", "index.md", Resolved("deploy/web/guide.md")),
        ("[[web/guide]]", "index.md", Ambiguous(("deploy/web/guide.md", "ops/web/guide.md"))),
        ("[[web/guide]]", "ops/node.js.md", Resolved("ops/web/guide.md")),
        ("[[eb/guide]]", "index.md", Missing("eb/guide")),
        ("[[node.js]]", "index.md", Resolved("ops/node.js.md")),
        ("[[權杖換發]]", "index.md", Resolved("auth/token.md")),
        ("[[指南]]", "index.md", Ambiguous(("deploy/web/guide.md", "ops/web/guide.md"))),
        ("[[Refresh Token]]", "index.md", Resolved("auth/token.md")),
        ("[[換發]]", "index.md", Ambiguous(("auth/token.md", "deploy/setup.md"))),
        ("[[權杖]]", "index.md", Missing("權杖")),
        ("[[old/token]]", "index.md", Missing("old/token")),
        ("[[/auth/token]]", "deploy/setup.md", Resolved("auth/token.md")),
        ("[t](token.md)", "auth/setup.md", Resolved("auth/token.md")),
        ("[t](./token.md)", "auth/setup.md", Resolved("auth/token.md")),
        ("[t](../auth/token.md)", "deploy/setup.md", Resolved("auth/token.md")),
        ("[t](../auth/./x/../token.md)", "deploy/setup.md", Resolved("auth/token.md")),
        ("[t](auth/token.md)", "deploy/setup.md", Resolved("auth/token.md")),
        ("[t](./token.md)", "deploy/setup.md", Missing("deploy/token.md")),
        ("[t](../x/token.md)", "deploy/setup.md", Missing("x/token.md")),
        ("[t](../../secret.md)", "auth/token.md", OutsideRoot("../../secret.md")),
        ("[[../../etc/passwd]]", "auth/token.md", OutsideRoot("../../etc/passwd")),
        ("[t](/../x.md)", "auth/token.md", OutsideRoot("/../x.md")),
        ("[t](caf%C3%A9/夜間備份.md)", "index.md", Resolved("Café/夜間備份.md")),
        ("[t](auth/token/)", "index.md", Resolved("auth/token.md")),
        ("[t](https://example.com/auth/token.md)", "index.md", External()),
        ("[t](mailto:a@example.com)", "index.md", External()),
        ("[t](//example.com/x)", "index.md", External()),
        ("![t](pic.png)", "index.md", External()),
        ("![[pic.PNG]]", "index.md", External()),
        ("[t](../scripts/run.sh)", "auth/token.md", External()),
        ("[[missing.page]]", "index.md", Missing("missing.page")),
        ("![[token]]", "index.md", Resolved("auth/token.md")),
        ("[[Note: x]]", "index.md", Missing("Note: x")),
    ],
)
def test_the_first_step_with_an_answer_decides(written: str, from_path: str, expected: Resolution) -> None:
    assert resolve(written, from_path) == expected


def test_unicode_forms_do_not_matter() -> None:
    decomposed = unicodedata.normalize("NFD", "[[Café/夜間備份]]")
    assert resolve(decomposed) == Resolved("Café/夜間備份.md")


def test_names_that_differ_by_case_alone_are_told_apart_only_when_spelt_exactly() -> None:
    resolver = LinkResolver([page("a/B.md"), page("a/b.md")])
    assert resolver.resolve_path("a/B.md", "x.md") == Resolved("a/B.md")
    assert resolver.resolve_path("a/b", "x.md") == Resolved("a/b.md")
    assert resolver.resolve_path("A/b.md", "x.md") == Ambiguous(("a/B.md", "a/b.md"))


BODY = """# 標題

<a id="top"></a>
## 過期 週期

甲 ^blk-1

a <span id=mid>b</span>

### 子節

## <a name="old"></a>she/her

## [外站](https://example.com)

## 過期 週期
"""


@pytest.mark.parametrize(
    ("anchor", "slug", "found"),
    [
        ("過期 週期", "過期-週期", True),
        ("過期-週期", "過期-週期", True),
        ("過期-週期-1", "過期-週期-1", True),
        ("%E5%AD%90%E7%AF%80", "子節", True),
        ("過期 週期#子節", "子節", True),
        ("標題", "標題", True),
        ("SHE/HER", "sheher", True),
        ("she-her", None, False),
        ("top", "過期-週期", True),
        ("old", "sheher", True),
        ("mid", "過期-週期", True),
        ("[外站](https://example.com)", "外站", True),
        ("^blk-1", None, True),
        ("^blk", None, False),
        ("沒有", None, False),
    ],
)
def test_anchors_name_headings_blocks_and_html_anchors(anchor: str, slug: str | None, found: bool) -> None:
    resolver = LinkResolver([page("a.md", body=BODY), page("b.md")])
    assert resolver.resolve_path(f"a.md#{anchor}", "b.md") == Resolved("a.md", slug, found)


def test_a_bare_anchor_stays_on_its_page() -> None:
    resolver = LinkResolver([page("a/x.md", body=BODY)])
    (link,) = parse_body("[[#子節]]").links
    assert resolver.resolve(link, "a/x.md") == Resolved("a/x.md", "子節")
    assert resolver.resolve(link, "not/known.md") == Resolved("not/known.md", None, anchor_found=False)


def test_related_paths_are_seen_from_the_root_first() -> None:
    resolver = LinkResolver([page("auth/token.md"), page("x/auth/token.md"), page("x/own.md")])
    assert resolver.resolve_path("auth/token.md", "x/y.md") == Resolved("auth/token.md")
    assert resolver.resolve_path("auth/token", "x/y.md") == Resolved("auth/token.md")
    assert resolver.resolve_path("own.md", "x/y.md") == Resolved("x/own.md")
    assert resolver.resolve_path("../own.md", "x/z/y.md") == Resolved("x/own.md")
    assert resolver.resolve_path("gone.md", "x/y.md") == Missing("gone.md")
    assert resolver.resolve_path("https://example.com", "x/y.md") == External()


def test_an_address_is_a_path_with_the_section_s_slug() -> None:
    assert address("auth/token.md", "換發端點") == "auth/token.md#換發端點"
    assert address("auth/token.md", None) == "auth/token.md"
    assert address("auth/token.md", "") == "auth/token.md"


@given(st.text(alphabet="ab./#^%:\\ 頁"), st.sampled_from(["index.md", "a/b.md", "a/b/c.md"]))
def test_any_target_is_answered_and_never_outside(target: str, from_path: str) -> None:
    pages = [page("index.md"), page("a/b.md"), page("a/b/c.md"), page("頁.md")]
    found = LinkResolver(pages).resolve_path(target, from_path)
    if isinstance(found, Resolved):
        assert found.path in {each.path for each in pages}
    if isinstance(found, Missing):
        assert not found.target.startswith("../")


@given(st.lists(st.sampled_from(["a", "b", "頁", "é"]), min_size=1, max_size=3).map("/".join))
def test_every_page_is_found_by_its_own_path_from_anywhere(name: str) -> None:
    resolver = LinkResolver([page(f"{name}.md"), page("z/a.md"), page("a/z.md")])
    for from_path in ("a/z.md", "z/a.md"):
        assert resolver.resolve_path(f"{name}.md", from_path) == Resolved(f"{name}.md")
        assert resolver.resolve_path(f"/{name}", from_path) == Resolved(f"{name}.md")


def test_ten_thousand_pages_are_indexed_quickly_and_resolve_in_constant_time() -> None:
    pages = [page(f"domain-{n % 20}/sub-{n % 7}/page-{n}.md", f"標題 {n}", (f"alias {n}",)) for n in range(10_000)]
    pages += [page(f"dir-{n}/readme.md", "說明") for n in range(2_000)]
    begin = time.process_time()
    resolver = LinkResolver(pages)
    built = time.process_time() - begin
    begin = time.process_time()
    for number in range(2_000):
        assert resolver.resolve_path(f"標題 {number}", "dir-1/readme.md") == Resolved(pages[number].path)
        assert resolver.resolve_path(f"dir-{number}/readme", "x.md") == Resolved(f"dir-{number}/readme.md")
    assert built < 1.5
    assert time.process_time() - begin < 1.5


def test_links_of_a_read_page_resolve() -> None:
    text = "---\ntitle: t\n---\n# t\n\n[[b#甲]]\n"
    pages = [read_page("a.md", text.encode()), page("b.md", body="# b\n\n## 甲\n")]
    (link,) = pages[0].outline.links
    assert LinkResolver(pages).resolve(link, "a.md") == Resolved("b.md", "甲")
