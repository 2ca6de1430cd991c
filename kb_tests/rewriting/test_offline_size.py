"""The offline rewriter on long documents: time grows with the length, and no page tells what stands on another."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from types import FrameType

import pytest

from kb_pipeline.models import Compiled, RawDocument, RewriteContext
from kb_pipeline.rewriting.blocks import read_blocks
from kb_pipeline.rewriting.offline import OfflineRewriter
from kb_pipeline.rewriting.pieces import pieces


def one_line(count: int) -> str:
    return "# One line\n\n" + "The relay number 7 forwards packets to the hub. " * count


def numbered(count: int) -> str:
    return "# Relays\n\n" + " ".join(f"The relay waits {n + 100} seconds before it starts." for n in range(count))


def table(count: int) -> str:
    rows = "\n".join(f"| srv-{n:04d} | {8000 + n} | rack {n % 9} |" for n in range(count))
    return f"# Hosts\n\n| host | port | note |\n|---|---|---|\n{rows}\n"


def rewrite(text: str) -> Compiled:
    outcome = OfflineRewriter().rewrite(RawDocument("net/note.md", text, "0"), RewriteContext("net/note.md"))
    assert isinstance(outcome, Compiled)
    return outcome


def calls(text: str) -> int:
    """How many functions are called, built-in ones too: unlike seconds the same on a busy machine."""
    count = 0

    def note(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        rewrite(text)
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("make", [one_line, numbered, table])
def test_four_times_the_text_takes_about_four_times_the_work(make: Callable[[int], str]) -> None:
    calls(make(20))
    assert calls(make(2000)) < 5 * calls(make(500))


def test_pieces_of_a_block_know_their_own_place_in_the_source() -> None:
    for body in (
        numbered(200),
        "\n".join(f"- item {n} waits {n} seconds for the hub" for n in range(200)),
        "\n>\n".join(f"> Paragraph {n} of a long quote that goes on." for n in range(100)),
    ):
        source = read_blocks(body)
        cut = list(pieces(source.blocks[-1]))
        assert len(cut) > 2
        assert all(
            re.sub(r"^[>\s]+|\s+$", "", source.text[piece.start : piece.end]) == re.sub(r"^[>\s]+", "", piece.text)
            for piece in cut
        )


def test_pieces_of_a_list_made_of_labelled_lines_know_theirs() -> None:
    source = read_blocks("\n".join(f"Host {n}: waits for {n} seconds" for n in range(200)))
    cut = list(pieces(source.blocks[0]))
    assert len(cut) > 2
    for piece in cut:
        lines = source.text[piece.start : piece.end].strip().split("\n")
        assert tuple(f"- {line}" for line in lines) == piece.items


def test_each_page_of_a_long_paragraph_is_summed_up_by_its_own_facts() -> None:
    for draft in rewrite(numbered(300)).pages:
        assert re.findall(r"\d{3}", draft.summary)
        assert set(re.findall(r"\d{3}", draft.summary)) <= set(re.findall(r"\d{3}", draft.body))
