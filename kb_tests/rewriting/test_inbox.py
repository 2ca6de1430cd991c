"""The month's inbox page."""

from __future__ import annotations

from kb_pipeline.markdown.pages import read_page
from kb_pipeline.models import PageStatus, SourceRef
from kb_pipeline.rewriting.inbox import inbox_path, render_inbox

FRAGMENTS = {
    "b/x.md": ("# 標題\n\n```\nunclosed", "2" * 64),
    "a/短.md": ("記得換密碼。", "1" * 64),
}


def test_the_page_reads_back_as_a_draft_with_every_fragment_as_source() -> None:
    page = read_page(inbox_path("2026-08"), render_inbox("2026-08", FRAGMENTS, "zh-TW", "key").encode())
    assert page.problems == ()
    assert page.path == "_inbox/2026-08.md"
    assert page.status is PageStatus.DRAFT
    assert page.sources == (SourceRef("a/短.md", "1" * 64), SourceRef("b/x.md", "2" * 64))
    assert page.compiled is not None
    assert (page.compiled.key, page.compiled.sha256) == ("key", page.fingerprint)


def test_each_fragment_is_one_section_whatever_its_text_holds() -> None:
    page = read_page("_inbox/2026-08.md", render_inbox("2026-08", FRAGMENTS, "zh-TW", "key").encode())
    assert [(heading.level, heading.text) for heading in page.outline.headings] == [
        (1, "收件匣 2026-08"),
        (2, "a/短.md"),
        (2, "b/x.md"),
    ]
    assert "記得換密碼。" in page.body
    assert all(fence.language for fence in page.outline.fences)


def test_the_text_does_not_depend_on_the_order_of_fragments() -> None:
    reverse = dict(reversed(FRAGMENTS.items()))
    assert render_inbox("2026-08", FRAGMENTS, "en", "k") == render_inbox("2026-08", reverse, "en", "k")
    assert "# Inbox 2026-08" in render_inbox("2026-08", FRAGMENTS, "en", "k")
