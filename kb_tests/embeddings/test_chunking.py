"""Pages → chunks."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_pipeline.embeddings.chunking import MAX_TOKENS, chunk_page, section_of
from kb_pipeline.embeddings.splitting import estimate_tokens
from kb_pipeline.markdown.pages import read_page
from kb_pipeline.models import Chunk, WikiPage

FRONT = """---
title: 權杖
scope: 正式環境
summary: 有效期限 15 分鐘、可換發三次
keywords: [權杖, token, JWT]
updated: 2026-08-18
status: current
---
"""


def page(body: str, front: str = FRONT) -> WikiPage:
    return read_page("auth/token.md", (front + body).encode())


def by_id(chunks: list[Chunk]) -> dict[str, Chunk]:
    return {chunk.section_id: chunk for chunk in chunks}


def case(cases: Path, name: str) -> tuple[WikiPage, dict[str, object]]:
    folder = cases / name
    file = next((folder / "files/knowledge").glob("*.md"))
    expected = yaml.safe_load((folder / "case.yaml").read_text())["expect"]["values"]
    return read_page(file.name, file.read_bytes()), expected


def test_each_section_is_a_chunk_of_its_own_text_under_its_breadcrumb() -> None:
    chunks = chunk_page(page("# 權杖\n\n前言。\n\n## 換發\n\n換發的字。\n\n### 端點\n\n`POST /token`。\n"))
    assert [(chunk.section_id, chunk.address) for chunk in chunks] == [
        ("_lead", "auth/token.md"),
        ("換發", "auth/token.md#換發"),
        ("換發/端點", "auth/token.md#端點"),
    ]
    assert chunks[1].embed_text == "權杖 > 換發 (正式環境)\n換發的字。"
    assert chunks[2].embed_text == "權杖 > 換發 > 端點 (正式環境)\nPOST /token。"
    assert chunks[2].text == "\n`POST /token`。\n"
    assert {chunk.concept_name for chunk in chunks} == {"auth/token"}


def test_the_lead_stands_for_the_page_with_its_summary_and_keywords() -> None:
    lead = chunk_page(page("# 權杖\n\n前言。\n\n## 換發\n\n字。\n"))[0]
    assert lead.embed_text == "權杖 (正式環境)\n有效期限 15 分鐘、可換發三次\n權杖、token、JWT\n前言。"


def test_a_page_of_only_a_title_is_embedded_with_what_it_says_of_itself() -> None:
    assert [chunk.embed_text for chunk in chunk_page(page("# 權杖\n"))] == [
        "權杖 (正式環境)\n有效期限 15 分鐘、可換發三次\n權杖、token、JWT"
    ]
    assert [chunk.embed_text for chunk in chunk_page(page("# 只有標題\n", ""))] == ["只有標題"]
    assert [chunk.embed_text for chunk in chunk_page(page("## 空\n", ""))] == ["空"]
    assert [chunk.embed_text for chunk in chunk_page(page("", ""))] == ["token"]


def test_the_same_text_has_the_same_hash_and_another_title_another() -> None:
    one, again = chunk_page(page("# 權杖\n\n## 甲\n\n字。\n")), chunk_page(page("# 權杖\n\n## 甲\n\n字。\n"))
    assert one == again
    other = chunk_page(page("# 權杖\n\n## 甲\n\n字。\n", FRONT.replace("title: 權杖", "title: 別的")))
    assert by_id(other)["甲"].content_hash != by_id(one)["甲"].content_hash


def test_a_long_section_is_cut_into_parts_that_joined_are_the_section() -> None:
    text = "\n" + "一句說明設定的話，逾時為 30 秒。" * 120 + "\n"
    read = page(f"# 權杖\n\n## 長\n{text}\n## 短\n\n字。\n")
    parts = [chunk for chunk in chunk_page(read) if section_of(chunk.section_id) == "長"]
    assert [part.section_id for part in parts] == ["長", *(f"長~{number}" for number in range(2, len(parts) + 1))]
    assert "".join(part.text for part in parts) == next(s.text for s in read.outline.sections if s.section_id == "長")
    assert len({part.address for part in parts}) == 1
    assert all(part.embed_text.startswith("權杖 > 長 (正式環境)\n") for part in parts)


def test_headings_longer_than_the_model_leave_room_for_the_text_and_fit_the_database() -> None:
    chunks = chunk_page(page(f"# 權杖\n\n## {'很長的標題' * 400}\n\n" + "內文。" * 500))
    assert all(estimate_tokens(chunk.embed_text) <= MAX_TOKENS for chunk in chunks)
    assert all(len(chunk.section_id.encode()) < 650 for chunk in chunks)
    assert len({chunk.section_id for chunk in chunks}) == len(chunks)


@settings(max_examples=60)
@given(
    st.lists(
        st.sampled_from(["## 甲", "### 乙", "#### 丙", "##", "字。", "", "```", "| a | b |", "- x", "---"]), max_size=25
    )
)
def test_whatever_the_page_no_text_is_blank_no_key_twice_and_nothing_is_lost(lines: list[str]) -> None:
    read = page("# 權杖\n\n" + "\n".join(lines) + "\n")
    chunks = chunk_page(read, max_tokens=40)
    assert chunks
    assert all(chunk.embed_text.strip() for chunk in chunks)
    assert len({chunk.section_id for chunk in chunks}) == len(chunks)
    for section in read.outline.sections:
        joined = "".join(chunk.text for chunk in chunks if section_of(chunk.section_id) == section.section_id)
        assert joined in {"", section.text}
        assert joined or "字" not in section.text


def test_handed_case_equal_headings_keep_every_body_under_an_id_of_its_own(cases: Path) -> None:
    read, expected = case(cases, "chunk-duplicate-headings")
    chunks = chunk_page(read)
    bodies = [chunk for chunk in chunks if chunk.text.strip() in set(str(expected["chunk_bodies"]))]
    assert [chunk.text.strip() for chunk in bodies] == expected["chunk_bodies"]
    assert len({chunk.section_id for chunk in bodies}) == expected["distinct_section_ids"]
    assert chunk_page(read) == chunks


def test_handed_case_nothing_blank_is_embedded_and_text_under_an_empty_heading_is(cases: Path) -> None:
    read, expected = case(cases, "chunk-empty-sections")
    texts = [chunk.embed_text for chunk in chunk_page(read)]
    assert all(text.strip() for text in texts)
    for wanted in expected["must_embed_text_containing"]:  # type: ignore[attr-defined]
        assert any(wanted in text for text in texts)


def test_handed_case_headings_in_fences_make_no_chunk(cases: Path) -> None:
    read, expected = case(cases, "chunk-fences")
    titles = [[section.level, section.title] for section in read.outline.sections if section.level > 1]
    assert titles == expected["sections"]
    chunks = chunk_page(read)
    assert [section_of(chunk.section_id) for chunk in chunks] == ["_lead", "甲", "乙", "丙", "丙/丙之一", "丁"]
    assert "## 不是標題8" in chunks[-1].embed_text


def test_handed_case_a_line_of_sixty_thousand_characters_is_split_and_nothing_is_cut_off(cases: Path) -> None:
    read, expected = case(cases, "chunk-oversize-section")
    chunks = chunk_page(read)
    pieces = [chunk for chunk in chunks if section_of(chunk.section_id) == "長節"]
    assert sum(len(chunk.text) for chunk in pieces) >= int(str(expected["characters_in_pieces_at_least"]))
    assert all(estimate_tokens(chunk.embed_text) <= MAX_TOKENS for chunk in chunks)
    assert any("結尾" in chunk.embed_text for chunk in chunks)
    assert [chunk.section_id for chunk in chunks if "短節" in chunk.section_id] == ["短節"]


def test_handed_case_the_text_is_the_original(cases: Path) -> None:
    read, expected = case(cases, "chunk-text-is-original")
    chunks = by_id(chunk_page(read))
    for section, wanted in expected["section_text"].items():  # type: ignore[attr-defined]
        assert all(part in chunks[section].text for part in wanted["contains"])
        assert not any(part in chunks[section].text for part in wanted["excludes"])


@pytest.mark.parametrize(("key", "section"), [("a", "a"), ("a~2", "a"), ("a/b~12", "a/b"), ("a~b", "a~b"), ("~2", "")])
def test_a_part_knows_its_section(key: str, section: str) -> None:
    assert section_of(key) == section
