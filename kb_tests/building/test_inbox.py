"""The inbox pages: what the product made is made anew, what a person touched is only added to."""

from __future__ import annotations

from pathlib import Path

from kb_pipeline.building.inbox import Inbox
from kb_pipeline.markdown.pages import read_page
from kb_pipeline.models import Fragment, WikiPage
from kb_tests.fakes.bench import Bench

SHA, OTHER = "a" * 64, "b" * 64
MONTH = "_inbox/2026-05.md"


def built(*documents: str, key: str = "k1") -> str:
    """The page of May that holds these documents."""
    inbox = Inbox.of([], "zh-TW", key)
    for document in documents:
        inbox.put(document, SHA, Fragment("2026-05", f"內容 {document}"))
    return changed(inbox)[MONTH] or ""


def page(text: str, path: str = MONTH) -> WikiPage:
    return read_page(path, text.encode())


def changed(inbox: Inbox, text: str = "") -> dict[str, str | None]:
    return dict(inbox.changes(lambda _: text))


def test_a_page_read_and_written_again_has_the_same_bytes() -> None:
    text = built("a.md", "b_c*.md")
    inbox = Inbox.of([page(text)], "zh-TW", "k1")
    inbox.put("c.md", SHA, Fragment("2026-05", "x"))
    inbox.drop("c.md")
    assert changed(inbox) == {MONTH: text}


def test_the_last_fragment_takes_the_page_with_it() -> None:
    inbox = Inbox.of([page(built("a.md"))], "zh-TW", "k1")
    inbox.drop("a.md")
    assert changed(inbox) == {MONTH: None}


def test_a_page_that_still_holds_what_older_rules_made_keeps_their_key() -> None:
    inbox = Inbox.of([page(built("a.md", key="old"))], "zh-TW", "new")
    inbox.put("b.md", SHA, Fragment("2026-05", "乙"))
    mixed = page(changed(inbox)[MONTH] or "")
    assert mixed.compiled is not None
    assert mixed.compiled.key == "old"
    inbox.put("a.md", SHA, Fragment("2026-05", "甲"))
    whole = page(changed(inbox)[MONTH] or "")
    assert whole.compiled is not None
    assert whole.compiled.key == "new"


def test_a_page_edited_by_hand_is_added_to_and_loses_nothing() -> None:
    edited = built("a.md", "b.md").replace("內容 a.md", "人工改寫")
    inbox = Inbox.of([page(edited)], "zh-TW", "k1")
    inbox.put("c.md", OTHER, Fragment("2026-05", "# 標題\n\n丙"))
    inbox.drop("b.md")
    text = changed(inbox, edited)[MONTH] or ""
    assert "人工改寫" in text
    assert "內容 b.md" in text, "what left raw/ stays in a page that is a person's now"
    assert "## c.md\n\n**標題**\n\n丙" in text
    assert [source.path for source in page(text).sources] == ["a.md", "c.md"]


def test_a_page_that_a_person_renamed_is_no_month_and_no_crash() -> None:
    text = built("a.md", "b.md")
    inbox = Inbox.of([page(text, "_inbox/五月.md")], "zh-TW", "k1")
    inbox.drop("a.md")
    after = changed(inbox, text)["_inbox/五月.md"] or ""
    assert "內容 a.md" in after
    assert [source.path for source in page(after).sources] == ["b.md"]


def test_a_page_of_that_name_written_by_hand_is_added_to() -> None:
    own = "---\ntitle: 我的收件匣\nstatus: draft\n---\n\n# 我的收件匣\n\n自己寫的。\n"
    inbox = Inbox.of([page(own)], "zh-TW", "k1")
    inbox.put("a.md", SHA, Fragment("2026-05", "甲"))
    text = changed(inbox, own)[MONTH] or ""
    assert text.index("自己寫的。") < text.index("## a.md")


def test_a_page_with_broken_front_matter_is_left_alone_and_the_fragment_fails_with_the_reason(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "kb")
    bench.write("a.md", "---\ndate: 2026-05-04\n---\n短記：埠號 8443。\n")
    bench.sync()
    assert list(bench.pages()) == [MONTH]
    broken = bench.page(MONTH).read_text().replace("\n---\n", "\n", 1).replace("短記", "人工補充，短記")
    bench.page(MONTH).write_text(broken)
    bench.write("a.md", "---\ndate: 2026-05-04\n---\n短記：埠號 9443。\n")
    report = bench.sync()
    assert [(item.document, item.state.value) for item in report.outcomes] == [("a.md", "failed")]
    assert "mend it" in str(report.outcomes[0].reason)
    assert bench.page(MONTH).read_text() == broken


def test_a_fragment_that_grows_becomes_a_page_and_a_fragment_again(tmp_path: Path) -> None:
    from kb_tests.fakes.projects import document

    bench = Bench(tmp_path / "kb")
    short = "---\ndate: 2026-05-04\n---\n短記：埠號 8443。\n"
    for text, pages in ((short, [MONTH]), (document("a", 4), ["svc/a.md"]), (short, [MONTH])):
        bench.write("svc/a.md", text)
        bench.sync()
        assert list(bench.pages()) == pages
        assert bench.states()["svc/a.md"] in {"unchanged", "fragment"}
