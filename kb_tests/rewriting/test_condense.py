"""Which sentences stay: facts, negations and links always, the central ones of the rest."""

from __future__ import annotations

from kb_pipeline.rewriting.blocks import read_blocks
from kb_pipeline.rewriting.condense import condensed_section, dropped_sentences, read_prose, unwrapped
from kb_pipeline.rewriting.evidence import FactIndex
from kb_pipeline.rewriting.language import words_for
from kb_pipeline.rewriting.structure import read_outline

LOOSE = "大家聊了很多過去的事情。氣氛相當融洽而且輕鬆。快取服務的設計由快取團隊負責維護。快取設計需要團隊理解快取行為。天氣也很好。"


def condensed(body: str, size: int = 5000) -> str:
    source = read_blocks(f"# T\n\n## 節\n\n{body}")
    outline = read_outline(source, "x.md", None, words_for("zh-TW"))
    prose = read_prose(outline, FactIndex.of(source.text))
    dropped = dropped_sentences(outline, prose, size)
    return "\n\n".join(block.text for block in condensed_section(outline.sections[0], prose, dropped).blocks)


def test_facts_negations_links_and_code_stay_word_for_word() -> None:
    kept = [
        "權杖 90 天過期。",
        "請勿重啟主機。",
        "見 [說明](a.md) 一節。",
        "執行 `kb build` 即可。",
        "It must never run twice.",
    ]
    text = condensed(" ".join(kept) + LOOSE)
    assert all(sentence in text for sentence in kept)


def test_some_of_a_long_paragraph_goes_the_least_central_first() -> None:
    text = condensed(LOOSE)
    assert {"快取服務的設計由快取團隊負責維護。", "快取設計需要團隊理解快取行為。"} <= set(
        text.replace("- ", "").split("\n")
    )
    assert "氣氛相當融洽而且輕鬆。" not in text


def test_a_paragraph_that_is_broken_up_becomes_a_list() -> None:
    text = condensed(LOOSE + "權杖 90 天過期。")
    assert text.startswith("- ")
    assert "- 權杖 90 天過期。" in text


def test_short_documents_and_short_paragraphs_stay_whole() -> None:
    assert condensed(LOOSE, size=300) == LOOSE
    assert condensed("前一句很平常。後一句也很平常。") == "前一句很平常。後一句也很平常。"


def test_announcements_go_even_out_of_short_paragraphs() -> None:
    assert condensed("本文介紹快取的用法。快取由團隊維護。") == "快取由團隊維護。"


def test_the_reason_after_a_prohibition_stays_with_it() -> None:
    body = "Do not use MONITOR. It doubles the load of a busy server. " + "People talked a lot about many things. " * 4
    assert "It doubles the load of a busy server." in condensed(body)


def test_the_sentence_above_a_list_or_code_stays() -> None:
    body = LOOSE.replace("天氣也很好。", "步驟如下。") + "\n\n- 甲\n- 乙"
    assert "步驟如下。" in condensed(body)


def test_lists_tables_quotes_and_code_stay_whole() -> None:
    blocks = [
        "- 普通的一項。還有一句。又有一句。",
        "| 欄 |\n| --- |\n| 值 |",
        "> 引言一句。引言二句。引言三句。",
        "```text\n程式\n```",
    ]
    assert condensed("\n\n".join(blocks)) == "\n\n".join(blocks)


def test_soft_breaks_join_chinese_without_a_blank() -> None:
    assert unwrapped("前半句\n後半句 and\nmore") == "前半句後半句 and more"
