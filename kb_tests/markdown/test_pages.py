"""Pages as read, as written, and how a person's edit is told."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.markdown.front_matter import set_fields
from kb_pipeline.markdown.pages import fingerprint, read_page, render_page, restamp
from kb_pipeline.models import (
    CompiledStamp,
    PageDraft,
    PageStatus,
    Related,
    SourceRef,
    WikiPage,
)

WRITTEN = """---
title: 權杖換發
scope: 會員系統
summary: 九十天過期、/refresh 換發
keywords: [權杖, token, refresh]
related:
  - auth/login.md  # 登入後取得
  - "[[deploy/web|網站]]"
  - [[ops/backup]]  # 備份
  - {path: a.md, comment: 對照}
  - b.md: 延伸
  -
updated: 2026-08-18T23:30:00+08:00
status: deprecated
tags: ["#auth", "#安全/權杖", null]
aliases: 換發, refresh token
kind: reference
evergreen: yes
sources:
  - path: auth/token.md
    sha256: aa
  - raw2.md
compiled: {by: offline, key: abc, part: 2/3, sha256: ff}
owner: 王小明
nested: {a: [1, true]}
---

# 權杖換發

## 過期
"""


def page(text: str) -> WikiPage:
    return read_page("auth/token.md", text.encode())


def front(lines: str) -> WikiPage:
    return page(f"---\n{lines}\n---\n# t\n")


def test_every_field_is_read() -> None:
    read = page(WRITTEN)
    assert read.problems == ()
    assert (read.title, read.scope, read.summary) == ("權杖換發", "會員系統", "九十天過期、/refresh 換發")
    assert read.keywords == ("權杖", "token", "refresh")
    assert read.related == (
        Related("auth/login.md", "登入後取得"),
        Related("deploy/web"),
        Related("ops/backup", "備份"),
        Related("a.md", "對照"),
        Related("b.md", "延伸"),
    )
    assert (read.updated, read.status) == (date(2026, 8, 18), PageStatus.DEPRECATED)
    assert (read.tags, read.aliases) == (("auth", "安全/權杖"), ("換發", "refresh token"))
    assert (read.kind, read.evergreen) == ("reference", True)
    assert read.sources == (SourceRef("auth/token.md", "aa"), SourceRef("raw2.md", ""))
    assert read.compiled == CompiledStamp("offline", "abc", "2/3", "ff")
    assert (read.compiled.index, read.compiled.count) == (2, 3)
    assert read.extra == {"owner": "王小明", "nested": {"a": ["1", True]}}
    assert read.fields[:3] == ("title", "scope", "summary")
    assert read.field_lines["updated"] == 13
    assert (read.body_line, read.outline.headings[0].line) == (27, 28)
    assert (read.owner, read.edited_by_hand, read.domain) == ("auth/token.md", True, "auth")


@pytest.mark.parametrize(
    ("lines", "field", "line"),
    [
        ("title: [a]", "title", 2),
        ("title: true", "title", 2),
        ("x: 1\nscope: {a: b}", "scope", 3),
        ("summary:\n  - a", "summary", 2),
        ("keywords: {a: b}", "keywords", 2),
        ("keywords: [a, {b: c}]", "keywords", 2),
        ("tags: [[a]]", "tags", 2),
        ("status: published", "status", 2),
        ("status: [current]", "status", 2),
        ("updated: yesterday", "updated", 2),
        ("updated: [2026-08-18]", "updated", 2),
        ("evergreen: maybe", "evergreen", 2),
        ("related: [{a: b, c: d}]", "related", 2),
        ("sources: [{sha256: x}]", "sources", 2),
        ("compiled: yes", "compiled", 2),
        ("compiled: {by: a, key: b, part: x, sha256: c}", "compiled", 2),
        ("compiled: {by: a, key: b, part: 0/0, sha256: c}", "compiled", 2),
    ],
)
def test_a_wrong_form_is_told_with_field_and_line(lines: str, field: str, line: int) -> None:
    read = front(lines)
    assert [(problem.code, problem.field, problem.line) for problem in read.problems] == [("field-type", field, line)]


@pytest.mark.parametrize(
    ("written", "targets"),
    [
        ("a.md", ["a.md"]),
        ("a.md, b.md#x", ["a.md", "b.md#x"]),
        ("[a.md, null]", ["a.md"]),
        ("[[a]]", ["a"]),
        ("'[[a|b]]'", ["a"]),
        ("'[t](a.md)'", ["a.md"]),
        ("\n- '[t](<a b.md>)'", ["a b.md"]),
        ("{path: a.md}", ["a.md"]),
        ("", []),
        ("[]", []),
    ],
)
def test_related_pages_may_be_written_as_path_or_link(written: str, targets: list[str]) -> None:
    read = front(f"related: {written}")
    assert [each.target for each in read.related] == targets
    assert read.problems == ()


def test_a_comment_behind_a_quoted_item_is_not_part_of_it() -> None:
    read = front("related:\n  - 'a # b.md'  # 註 # 解\n  - c.md#節\n  - d.md #x\n  - e.md#")
    assert read.related == (
        Related("a # b.md", "註 # 解"),
        Related("c.md#節"),
        Related("d.md", "x"),
        Related("e.md#"),
    )


def test_unreadable_bytes_give_a_page_with_the_reason() -> None:
    read = read_page("a.md", b"\x89PNG\r\n\x1a\n\0")
    assert [problem.code for problem in read.problems] == ["unreadable-text"]
    assert (read.title, read.body, read.fingerprint) == ("", "", "")
    assert len(read.content_sha256) == 64


def test_conflict_marks_are_reported_wherever_they_are() -> None:
    read = front("<<<<<<< HEAD\ntitle: a\n=======\ntitle: b\n>>>>>>> x")
    assert [problem.code for problem in read.problems] == ["front-matter-yaml", "conflict-marks"]


def test_the_path_is_normalised() -> None:
    assert read_page("Cafe\u0301/a.md", b"").path == "Café/a.md"


@given(st.binary(max_size=400))
def test_any_bytes_are_read(data: bytes) -> None:
    assert read_page("a.md", data).path == "a.md"


FIELD_LINES = st.sampled_from(
    ["title: a", "title:", "title: [a, {b: c}]", "related: [[a]]", "related:", "- a.md # c", "keywords: a, b", "tags: {a: b}",
     "updated: 2026-02-30", "status: x", "sources: [a, {path: b}]", "sources: {path: a, sha256: [x]}", "compiled: {}",
     "compiled: {by: a, key: b, part: 1/1, sha256: c}", "evergreen: [x]", "? [a]", ": x", "  x: y", "\tx", "'", "a: &x *x",
     "---", "...", "# h", "kind: {}", "aliases: [[[a]]]", "<<: x", "null: x", "\ud800"]
)  # fmt: skip


@given(st.lists(FIELD_LINES | st.text(max_size=12), max_size=12).map("\n".join))
def test_any_text_in_front_matter_is_read(text: str) -> None:
    data = f"---\n{text}\n---\n# t\n".encode("utf-8", "surrogatepass")
    read = read_page("a.md", data)
    assert all(problem.line is None or 1 <= problem.line <= text.count("\n") + 5 for problem in read.problems)
    assert read == read_page("a.md", data)


DRAFT = PageDraft(
    path="auth/token.md",
    title="權杖",
    scope="會員系統",
    summary="九十天過期",
    keywords=("權杖", "token", "refresh"),
    body="# 權杖\n\n九十天過期。\n",
    updated=date(2026, 8, 18),
)
SOURCES = (SourceRef("auth/權杖.md", "ab" * 32),)


def render(draft: PageDraft, sources: tuple[SourceRef, ...] = SOURCES) -> str:
    return render_page(draft, sources, "offline", "0123456789ab", "1/2")


def test_a_rendered_page_has_the_canonical_form() -> None:
    draft = replace(
        DRAFT,
        related=(Related("auth/login.md", "登入後取得"), Related("ops/backup.md#還原")),
        tags=("auth",),
        aliases=("換發",),
        kind="reference",
        evergreen=True,
        extra={"owner": "王", "title": "ignored", "linked": ["a", "b"]},
    )
    stamp = page(render(draft)).fingerprint
    assert render(draft) == (
        f"""---
title: 權杖
scope: 會員系統
summary: 九十天過期
keywords: [權杖, token, refresh]
related:
  - auth/login.md  # 登入後取得
  - ops/backup.md#還原
updated: 2026-08-18
status: current
tags: [auth]
aliases: [換發]
kind: reference
evergreen: true
sources:
  - path: auth/權杖.md
    sha256: {"ab" * 32}
compiled:
  by: offline
  key: 0123456789ab
  part: 1/2
  sha256: {stamp}
owner: 王
linked: [a, b]
---

# 權杖

九十天過期。
"""
    )


@pytest.mark.parametrize(
    ("title", "line"),
    [
        ("第 12 版 #2", 'title: "第 12 版 #2"'),
        ("@x", 'title: "@x"'),
        ("key: value", 'title: "key: value"'),
        ("12:30", 'title: "12:30"'),
        ("no", 'title: "no"'),
        ("1.10", 'title: "1.10"'),
        ("2026-08-18", 'title: "2026-08-18"'),
        ("2026-08-18 會議", "title: 2026-08-18 會議"),
        (" padded ", 'title: " padded "'),
        ("🐘 大象", "title: 🐘 大象"),
        ('say "hi"', 'title: say "hi"'),
        ('"quoted"', 'title: "\\"quoted\\""'),
        ("it's", "title: it's"),
        ("C:\\path", "title: C:\\path"),
        ("back\\slash: x", 'title: "back\\\\slash: x"'),
        ("two\nlines", "title: two lines"),
        ("- dash", 'title: "- dash"'),
        ("{{date}}", 'title: "{{date}}"'),
        ("a#b", "title: a#b"),
        ("null", 'title: "null"'),
        ("", 'title: ""'),
        ("結尾：", "title: 結尾："),
        ("end:", 'title: "end:"'),
        ("`code`", 'title: "`code`"'),
        ("100%", "title: 100%"),
        ("3 次重試", "title: 3 次重試"),
    ],
)
def test_titles_are_quoted_where_yaml_would_misread_them(title: str, line: str) -> None:
    text = render(replace(DRAFT, title=title))
    assert text.split("\n")[1] == line
    assert page(text).title == title.replace("\n", " ")


WORDS = st.text(max_size=20) | st.sampled_from(
    [
        "第 12 版 #2",
        "@x",
        "key: value",
        "12:30",
        "no",
        " a ",
        "'",
        '"',
        "\\",
        "a\nb",
        "~",
        "[[a]]",
        "a, b",
        "a、b",
        "---",
        "\ufeff",
    ]
)
DRAFTS = st.builds(
    PageDraft,
    path=st.just("a/b.md"),
    title=WORDS,
    scope=WORDS,
    summary=WORDS,
    keywords=st.lists(WORDS, max_size=5).map(tuple),
    body=st.text(max_size=80) | st.lists(st.sampled_from(["# a", "## b", "", "---", "a: b", "```"])).map("\n".join),
    updated=st.dates(),
    status=st.sampled_from(PageStatus),
    related=st.lists(st.builds(Related, WORDS, st.none() | WORDS), max_size=3).map(tuple),
    tags=st.lists(WORDS, max_size=3).map(tuple),
    aliases=st.lists(WORDS, max_size=3).map(tuple),
    kind=st.none() | WORDS,
    evergreen=st.booleans(),
    extra=st.dictionaries(st.text(min_size=1, max_size=8), WORDS | st.lists(WORDS, max_size=2), max_size=2),
)


@given(DRAFTS)
def test_what_is_rendered_reads_back_with_its_stamp(draft: PageDraft) -> None:
    text = render(draft)
    read = read_page(draft.path, text.encode("utf-8", "surrogatepass"))
    assert text == render(draft)
    assert [problem for problem in read.problems if problem.code in {"front-matter-yaml", "field-type"}] == []
    assert read.compiled is not None
    assert read.fingerprint == read.compiled.sha256
    assert not read.edited_by_hand
    assert (read.updated, read.status, read.evergreen) == (draft.updated, draft.status, draft.evergreen)
    assert read.sources == SOURCES
    assert restamp(text) == text


def test_control_characters_do_not_reach_a_page() -> None:
    body = "# t\r\n\r\na\x07b\0c\x0bd\u2028e\u200bf\ud800\tg\n"
    assert page(render(replace(DRAFT, body=body))).body == "\n# t\n\nabc d e\u200bf\tg\n"


@given(DRAFTS.filter(lambda draft: all(text.isprintable() for text in [draft.title, draft.scope, draft.summary])))
def test_printable_texts_come_back_exactly(draft: PageDraft) -> None:
    read = page(render(draft))
    assert (read.title, read.scope, read.summary) == (draft.title, draft.scope, draft.summary)


def test_the_fingerprint_covers_what_a_compilation_decides_and_no_blank_lines_around() -> None:
    first = fingerprint("t", "s", "u", ["k"], PageStatus.CURRENT, "# t\n")
    assert first == fingerprint("t", "s", "u", ("k",), "current", "\n\n# t\n\n\n")
    others = [
        fingerprint("x", "s", "u", ["k"], "current", "# t\n"),
        fingerprint("t", "x", "u", ["k"], "current", "# t\n"),
        fingerprint("t", "s", "x", ["k"], "current", "# t\n"),
        fingerprint("t", "s", "u", ["k", "l"], "current", "# t\n"),
        fingerprint("t", "s", "u", ["k"], "draft", "# t\n"),
        fingerprint("t", "s", "u", ["k"], "current", "# t \n"),
        fingerprint("ts", "", "u", ["k"], "current", "# t\n"),
        fingerprint("t", "s", "u", ["k"], None, "# t\n"),
    ]
    assert len({first, *others}) == len(others) + 1


def test_only_what_the_product_decides_makes_a_page_edited() -> None:
    text = render(DRAFT)
    assert not page(set_fields(text, {"related": ["a.md"], "tags": ["x"], "updated": date(2026, 9, 1)})).edited_by_hand
    assert not page(text.replace("\n", "\r\n")).edited_by_hand
    assert not page("\ufeff" + text + "\n").edited_by_hand
    assert page(text.replace("九十天過期。", "三十天過期。")).edited_by_hand
    assert page(set_fields(text, {"status": "deprecated"})).edited_by_hand


def test_restamping_brings_only_the_hash_up_to_date() -> None:
    text = render(DRAFT)
    changed = text.replace("九十天過期。", "三十天過期。")
    stamped = restamp(changed)
    before, after = page(text), page(stamped)
    assert not after.edited_by_hand
    assert stamped == changed.replace(before.fingerprint, after.fingerprint)
    assert restamp(stamped) == stamped
    assert restamp("# no front matter\n") == "# no front matter\n"


def test_restamping_keeps_windows_line_ends_and_unknown_keys_of_the_stamp() -> None:
    text = (
        render(DRAFT)
        .replace("compiled:\n", "compiled:\n  model: m\n")
        .replace("九十天過期。", "x")
        .replace("\n", "\r\n")
    )
    stamped = restamp(text)
    assert stamped.count("\r\n") == stamped.count("\n")
    assert "  model: m\r\n" in stamped
    assert not page(stamped).edited_by_hand
