"""Bytes to text: encodings, line ends, refused bytes, conflict marks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.errors import UnreadableTextError
from kb_pipeline.markdown.decoding import conflict_marks, decode_text, text_hash


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_every_readable_encoding_gives_the_same_text(encoding: str) -> None:
    assert decode_text("權杖 🐘\n".encode(encoding)) == "權杖 🐘\n"


@pytest.mark.parametrize("written", [b"a\r\nb\r\n", b"a\rb\r", b"a\nb\n", b"a\r\nb\n"])
def test_line_ends_become_lf(written: bytes) -> None:
    assert decode_text(written) == "a\nb\n"


def test_line_ends_can_be_kept_for_writing_back() -> None:
    assert decode_text(b"a\r\nb\r", keep_line_ends=True) == "a\r\nb\r"


def test_other_separators_stay_inside_their_line() -> None:
    text = "a\u2028b\u2029c\x0bd\x0ce\x85f"
    assert decode_text(text.encode()) == text


def test_a_mark_in_the_middle_is_text() -> None:
    assert decode_text("a\ufeffb".encode()) == "a\ufeffb"


def test_a_stray_nul_is_taken_out() -> None:
    assert decode_text(b"some text with\0 one NUL") == "some text with one NUL"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "PNG"),
        (b"%PDF-1.7\n", "PDF"),
        (b"\xff\xd8\xff\xe0", "JPEG"),
        ("text".encode("utf-16-le"), "binary"),
        (bytes(range(256)) * 4, "UTF-8"),
        ("第一行\n第二行\n".encode("big5"), "UTF-8"),
        (b"\xff\xfea", "UTF-16"),
        ("text".encode("utf-32"), "NUL"),
    ],
)
def test_what_is_no_text_is_refused_with_the_reason(data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableTextError, match=reason):
        decode_text(data)


def test_the_reason_names_the_line() -> None:
    with pytest.raises(UnreadableTextError, match="0xE9 in line 2"):
        decode_text(b"ab\ncaf\xe9\n")


def test_lone_surrogates_are_replaced_and_pairs_joined() -> None:
    assert decode_text(b"a\xed\xa0\x80b") == "a\ufffdb"
    assert decode_text(b"\xed\xa0\xbd\xed\xb0\x98") == "🐘"
    assert decode_text("🐘".encode("utf-16-le", "surrogatepass").join([b"\xff\xfe", b"\x3d\xd8"])) == "🐘\ufffd"


@given(st.text())
def test_whatever_is_decoded_can_be_encoded(text: str) -> None:
    try:
        decoded = decode_text(text.encode("utf-8", "surrogatepass"))
    except UnreadableTextError:
        assert text.count("\0") > 0 or text[:4] in {"GIF8", "%PDF"}
        return
    assert decoded.encode().decode() == decoded
    assert "\r" not in decoded
    assert "\0" not in decoded


@given(st.binary())
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        decoded = decode_text(data)
    except UnreadableTextError:
        return
    assert decoded.encode().decode() == decoded


def test_the_hash_does_not_depend_on_line_ends_or_mark() -> None:
    assert text_hash(decode_text(b"\xef\xbb\xbfa\r\nb")) == text_hash(decode_text(b"a\nb"))


def test_conflict_marks_are_found_by_line() -> None:
    text = "# a\n<<<<<<< HEAD\nold\n||||||| base\nx\n=======\nnew\n>>>>>>> topic\n"
    assert conflict_marks(text) == [2, 4, 6, 8]


@pytest.mark.parametrize(
    "text",
    [
        "Title\n=======\n",
        ">>>>>>> deep quotation\n",
        "```\n<<<<<<< HEAD\n=======\n>>>>>>> x\n```\n",
        "~~~~\n```\n<<<<<<< HEAD\n~~~\n>>>>>>> x\n~~~~\n",
        "- item\n\n  ```\n<<<<<<< in a fence of a list\n  ```\n",
        "<<<<<<<< eight\n",
        "text <<<<<<< HEAD\n",
    ],
)
def test_what_only_looks_like_a_conflict_is_none(text: str) -> None:
    assert conflict_marks(text) == []


def test_marks_behind_a_closed_fence_are_found() -> None:
    assert conflict_marks("``` a`b\n<<<<<<< HEAD\n") == [2]
    assert conflict_marks("```\ncode\n```\n<<<<<<< HEAD\n") == [4]
