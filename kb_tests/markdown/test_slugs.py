"""Slugs of headings and pages."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.markdown.slugs import heading_slug, page_slug


@pytest.mark.parametrize(
    ("heading", "slug"),
    [
        ("Token refresh", "token-refresh"),
        ("API 設計 (v2)", "api-設計-v2"),
        ("過期週期", "過期週期"),
        ("she/her", "sheher"),
        ("snake_case & `code`", "snake_case--code"),
        ("第 12 版 #2（新增 28 項）", "第-12-版-2新增-28-項"),
        ("Café", "café"),
        ("สวัสดี", "สวัสดี"),
        ("  Trim me ", "trim-me"),
        ("🐘", "section"),
        ("!!!", "section"),
    ],
)
def test_headings_get_the_anchor_that_github_gives(heading: str, slug: str) -> None:
    assert heading_slug(heading) == slug


def test_both_unicode_forms_have_one_slug() -> None:
    assert heading_slug(unicodedata.normalize("NFD", "Café ガ")) == heading_slug("Café ガ")
    assert page_slug(unicodedata.normalize("NFD", "Café ガ")) == page_slug("Café ガ")


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Roll out", "roll-out"),
        ("品牌手冊", "品牌手冊"),
        ("API 設計_v2.0", "api-設計-v2-0"),
        ("مرحبا", "مرحبا"),
        ("--a  b--", "a-b"),
        ("a/b\\c:d", "a-b-c-d"),
        ("हिन्दी", "हिन्दी"),
        ("../../etc/passwd", "etc-passwd"),
    ],
)
def test_page_names_are_kebab_case_with_their_own_letters(name: str, slug: str) -> None:
    assert page_slug(name) == slug


def test_a_name_of_symbols_gets_a_stable_name_of_its_own() -> None:
    names = ["🐘", "{", "❤️", "…", ""]
    slugs = [page_slug(name) for name in names]
    assert all(re.fullmatch(r"page-[0-9a-f]{6}", slug) for slug in slugs)
    assert len(set(slugs)) == len(names)
    assert slugs == [page_slug(name) for name in names]


def test_a_long_name_fits_a_file_system_and_stays_distinct() -> None:
    one, other = page_slug("長" * 300 + "一"), page_slug("長" * 300 + "二")
    assert one != other
    assert len(one.encode()) <= 120


@given(st.text())
def test_a_page_name_is_safe_for_any_title(title: str) -> None:
    slug = page_slug(title)
    assert slug
    assert slug[0] not in "-._"
    assert not set(slug) & set('/\\:*?"<>|~#^[]% \n\0')
    assert slug == unicodedata.normalize("NFC", slug)
    assert len(slug.encode()) <= 120


@given(st.text())
def test_an_anchor_is_never_empty_and_needs_no_quoting(title: str) -> None:
    slug = heading_slug(title)
    assert slug
    assert not set(slug) & set("/#~ \n|[]()")
