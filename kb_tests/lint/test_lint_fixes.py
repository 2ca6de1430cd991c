"""``--fix``: mechanical mends that lose nothing and are finished after one run (SPEC 9)."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_pipeline.lint import FixResult, LintPolicy, fix_page, fix_wiki, lint_page, lint_wiki
from kb_pipeline.lint.written_forms import date_as_written
from kb_pipeline.markdown.pages import read_page, render_page
from kb_pipeline.models import PageDraft, SourceRef
from kb_tests.lint.sample_pages import BODY, FIELDS, TODAY, other_body, page_text

POLICY = LintPolicy()


def fix(text: str, policy: LintPolicy = POLICY) -> str:
    return fix_page(text, read_page("auth/token.md", text.encode()), policy).text


def fixed_rules(text: str) -> list[str]:
    return [finding.rule for finding in fix_page(text, read_page("auth/token.md", text.encode()), POLICY).fixed]


def rules_of(text: str) -> set[str]:
    return {finding.rule for finding in lint_page(read_page("auth/token.md", text.encode()), POLICY, TODAY)}


def test_a_clean_page_is_left_as_it_is() -> None:
    text = page_text()
    assert fix_page(text, read_page("a.md", text.encode()), POLICY) == FixResult(text, ())


def test_keywords_written_as_text_become_a_list() -> None:
    text = fix(page_text(keywords="token, 權杖、換發，refresh"))
    assert "keywords: [token, 權杖, 換發, refresh]" in text
    assert fixed_rules(page_text(keywords="token, 權杖, 換發")) == ["field-form"]


def test_a_title_that_yaml_cut_is_quoted_from_the_heading() -> None:
    written = page_text(title="第 12 版 #2（新增 28 項）", body=BODY.replace("權杖輪替", "第 12 版 #2（新增 28 項）"))
    assert 'title: "第 12 版 #2（新增 28 項）"\n' in fix(written)
    assert "h1-title" not in rules_of(fix(written))
    assert fixed_rules(written) == ["h1-title"]


def test_another_heading_takes_the_title_and_stays_as_an_alias() -> None:
    text = fix(page_text(title="權杖換發"))
    assert "\n# 權杖換發\n" in text
    assert "aliases: [權杖輪替]" in text
    assert rules_of(text) == set()


def test_an_underlined_heading_takes_the_title_too() -> None:
    text = fix(page_text(title="權杖換發", body=BODY.replace("# 權杖輪替", "權杖輪替\n========")))
    assert "\n# 權杖換發\n\n權杖每" in text
    assert "====" not in text


def test_a_heading_with_an_anchor_in_it_is_left_to_a_person() -> None:
    written = page_text(title="權杖換發", body=BODY.replace("# 權杖輪替", '# <a id="x"></a>權杖輪替'))
    assert fix(written) == written


def test_a_missing_title_is_taken_from_the_only_heading() -> None:
    text = fix(page_text(title=None))
    assert text.startswith("---\ntitle: 權杖輪替\nscope:")
    assert fixed_rules(page_text(title=None)) == ["field-missing"]


def test_a_missing_heading_is_made_from_the_title() -> None:
    text = fix(page_text(body=BODY.replace("# 權杖輪替\n\n", "")))
    assert "---\n\n# 權杖輪替\n\n權杖每" in text
    assert rules_of(text) == set()


def test_two_headings_are_left_to_a_person() -> None:
    written = page_text(body=BODY + "\n# 另一個\n")
    assert fix(written) == written


def test_code_without_a_language_is_called_text_wherever_it_stands() -> None:
    body = BODY.replace("```sh", "~~~~  ").replace("refresh\n```", "refresh\n~~~~")
    body += "\n- 清單\n\n  ```\n  a\n  ```\n\n> ```\n> b\n> ```\n"
    text = fix(page_text(body=body))
    assert "~~~~text  \n" in text
    assert "  ```text\n  a\n  ```\n" in text
    assert "> ```text\n> b\n> ```\n" in text
    assert rules_of(text) == set()


@pytest.mark.parametrize(
    "written",
    [
        "2026/08/18", "2026/8/18", "2026.08.18", "2026-8-18", "20260818", "2026年8月18日", "2026 年 8 月 18 日",
        "民國115年8月18日", "18 Aug 2026", "Aug 18, 2026", "August 18th, 2026", "18-Aug-2026", "2026/08/18 07:30",
        "2026-08-18T07:30:00+08:00", "2026-08-18 07:30",
    ],
)  # fmt: skip
def test_a_date_in_another_form_becomes_iso(written: str) -> None:
    text = fix(page_text(updated=written))
    assert re.search(r"^updated: \"?2026-08-18\"?$", text, re.MULTILINE)
    assert rules_of(text) == set()
    assert fix(text) == text


@pytest.mark.parametrize("written", ["2026-02-30", "08/07/2026", "soon", "18 Foo 2026", "2026-13-01", "Augu 18, 2026"])
def test_what_is_no_date_or_may_be_two_is_left_alone(written: str) -> None:
    assert date_as_written(written) is None
    assert fix(page_text(updated=written)) == page_text(updated=written)


def test_tabs_before_a_key_become_spaces() -> None:
    written = page_text(source="\n\tpath: x")
    assert "front-matter-yaml" in rules_of(written)
    assert "source: \n  path: x\n" in fix(written)
    assert rules_of(fix(written)) == set()


def test_values_that_need_quotes_get_them() -> None:
    written = page_text(
        title="作業 1: 第一行", aliases="\n- @someone\n- `x`", body=BODY.replace("權杖輪替", "作業 1: 第一行", 1)
    )
    text = fix(written)
    assert 'title: "作業 1: 第一行"\n' in text
    assert '- "@someone"\n- "`x`"\n' in text
    assert rules_of(text) == set()


@pytest.mark.parametrize("value", ["{{date}}", "a: b # c", "[a, b", '"a'])
def test_yaml_that_may_mean_several_things_is_left_to_a_person(value: str) -> None:
    written = page_text(note=value)
    assert "front-matter-yaml" in rules_of(written)
    assert fix(written) == written


def test_a_key_repeated_to_the_letter_is_dropped_and_one_with_another_value_is_not() -> None:
    assert fix(page_text(status="current\nstatus: current")) == page_text()
    differs = page_text(status="current\nstatus: deprecated")
    assert fix(differs) == differs


def test_repeated_lists_are_compared_whole() -> None:
    same = page_text(tags="\n  - a\n  - b\ntags: \n  - a\n  - b")
    assert fix(same).count("tags:") == 1
    differs = page_text(tags="\n  - a\ntags: \n  - a\n  - b")
    assert fix(differs) == differs


def test_line_ends_and_trailing_spaces_stay() -> None:
    written = page_text(
        title="權杖換發", keywords="token, 權杖, 換發", updated="2026/08/18", body=BODY.replace("```sh", "```")
    )
    written = written.replace("寬限期。\n", "寬限期。  \n", 1).replace("\n", "\r\n")
    text = fix(written)
    assert re.search(r"(?<!\r)\n", text) is None
    assert "寬限期。  \r\n" in text
    assert fix(written.replace("\r\n", "\n")) == text.replace("\r\n", "\n")
    assert rules_of(text) == set()


def test_a_file_with_lone_carriage_returns_is_left_alone() -> None:
    written = page_text(body=BODY.replace("```sh", "```") + "a\rb\n")
    assert fix(written) == written


def test_a_silenced_rule_is_not_mended() -> None:
    written = page_text(lint="{fence-language: 原樣}", body=BODY.replace("```sh", "```"))
    assert fix(written) == written


def test_a_draft_is_left_as_it_is_unless_it_cannot_be_read() -> None:
    written = page_text(status="draft", updated="2026/08/18", body="\n```\nx\n```\n")
    assert fix(written) == written
    assert fix(page_text(status="draft\nstatus: draft")) == page_text(status="draft")


def compiled(body: str = BODY.replace("```sh", "```")) -> str:
    draft = PageDraft(
        path="auth/token.md",
        title=FIELDS["title"],
        scope=FIELDS["scope"],
        summary=FIELDS["summary"],
        keywords=("權杖", "token", "換發"),
        body=body.strip() + "\n",
        updated=TODAY,
    )
    return render_page(draft, [SourceRef("token.md", "0" * 64)], "offline", "a" * 12, "1/1")


def test_a_compiled_page_is_stamped_anew_if_nobody_had_touched_it() -> None:
    text = fix(compiled())
    assert text != compiled()
    assert not read_page("auth/token.md", text.encode()).edited_by_hand
    assert fix(text) == text


def test_a_page_edited_by_hand_stays_one() -> None:
    edited = compiled().replace("401", "403")
    assert read_page("a.md", edited.encode()).edited_by_hand
    assert read_page("a.md", fix(edited).encode()).edited_by_hand
    assert fix(edited) != edited


def test_missing_counterparts_of_related_are_added_and_comments_stay() -> None:
    texts = {
        "auth/token.md": page_text(related="[ops/backup.md]"),
        "ops/backup.md": page_text(
            title="備份", related="\n  - auth/key.md  # 不同機制，勿混用", body=other_body("備份")
        ),
        "auth/key.md": page_text(title="金鑰", related="[ops/backup.md]", body=other_body("金鑰", subject="金鑰")),
    }
    changed = fix_wiki([read_page(path, text.encode()) for path, text in texts.items()], texts)
    assert list(changed) == ["ops/backup.md"]
    assert "  - auth/key.md  # 不同機制，勿混用\n  - auth/token.md\n" in changed["ops/backup.md"]
    after = {**texts, **changed}
    pages = [read_page(path, text.encode()) for path, text in after.items()]
    assert "related-not-mutual" not in {finding.rule for finding in lint_wiki(pages, POLICY, TODAY)}
    assert fix_wiki(pages, after) == {}


def test_no_page_gets_more_related_entries_than_allowed() -> None:
    texts = {"hub.md": page_text()}
    texts |= {f"p{at}.md": page_text(title=f"頁 {at}", related="[hub.md]") for at in range(12)}
    changed = fix_wiki([read_page(path, text.encode()) for path, text in texts.items()], texts)
    assert len(read_page("hub.md", changed["hub.md"].encode()).related) == 8


def test_drafts_and_unreadable_pages_are_named_by_nobody() -> None:
    texts = {
        "a.md": page_text(related="[b.md, c.md]"),
        "b.md": page_text(status="draft"),
        "c.md": "---\ntitle: a: b\n---\n\n# c\n",
    }
    assert fix_wiki([read_page(path, text.encode()) for path, text in texts.items()], texts) == {}


WORDS = st.sampled_from(
    [
        "權杖",
        "token",
        "#2",
        "a: b",
        "第 12 版",
        "`x`",
        "[y](z)",
        "2026/8/1",
        "備份, 還原",
        "\t",
        "  ",
        "",
        "@me",
        "*b*",
        "'q'",
        '"',
        "{{d}}",
    ]
)
LINE = st.lists(WORDS, max_size=4).map(" ".join)
VALUES = st.one_of(st.none(), LINE)
BODY_LINES = st.one_of(
    LINE,
    st.sampled_from(
        [
            "# 權杖輪替",
            "# 其他",
            "權杖",
            "====",
            "## 節",
            "```",
            "~~~",
            "```sh",
            "> ```",
            "- a",
            "  ```",
            "---",
            "title: x",
            "|a|b|",
            "|-|-|",
        ]
    ),
)
LINE_END = st.sampled_from(["\n", "\r\n"])


def written_words(text: str) -> set[str]:
    """Words as a reader sees them: without the marks that quoting, lists and dates are written with."""
    return set(re.findall(r"[^\W_]+", text))


@settings(max_examples=100, deadline=None)
@given(
    title=VALUES,
    keywords=VALUES,
    updated=st.sampled_from(["2026-08-18", "2026/08/18", "18 Aug 2026", "x", ""]),
    extra=VALUES,
    twice=st.booleans(),
    body=st.lists(BODY_LINES, max_size=12),
    end=LINE_END,
)
def test_fixing_loses_no_word_and_is_finished_after_one_run(
    title: str | None, keywords: str | None, updated: str, extra: str | None, twice: bool, body: list[str], end: str
) -> None:
    status = "current\nstatus: current" if twice else "current"
    fields = {"title": title, "keywords": keywords, "updated": updated, "extra": extra, "status": status}
    text = page_text(body="\n" + "\n".join(body) + "\n", **fields).replace("\n", end)
    once = fix(text)
    assert fix(once) == once
    lost = written_words(text) - written_words(once)
    assert lost <= {"2026", "08", "18", "Aug"}, "a date may be written anew; nothing else may go"
    assert once.count("\n") >= text.count("\n") - 2
    if "front-matter-yaml" not in rules_of(text):  # A block that becomes readable shows what was hidden behind it.
        assert rules_of(once) <= rules_of(text) | {"h1-title"}
