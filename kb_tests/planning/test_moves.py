"""Matching vanished and new names by content."""

from __future__ import annotations

from kb_pipeline.models import Move
from kb_pipeline.planning.moves import find_moves


def moves(vanished: dict[str, str], appeared: dict[str, str]) -> list[Move]:
    return find_moves({name: {sha256} for name, sha256 in vanished.items()}, appeared)


def test_equal_content_is_a_move() -> None:
    assert moves({"a.md": "1"}, {"b.md": "1", "c.md": "2"}) == [Move("a.md", "b.md")]


def test_other_content_is_not() -> None:
    assert moves({"a.md": "1"}, {"a2.md": "2"}) == []


def test_among_equal_contents_the_base_name_decides() -> None:
    found = moves({"old/a.md": "1", "old/b.md": "1"}, {"new/b.md": "1", "zzz/a.md": "1"})
    assert found == [Move("old/a.md", "zzz/a.md"), Move("old/b.md", "new/b.md")]


def test_then_the_sorted_order() -> None:
    found = moves({"a/readme.md": "1", "b/readme.md": "1"}, {"x/b/readme.md": "1", "x/a/readme.md": "1"})
    assert found == [Move("a/readme.md", "x/a/readme.md"), Move("b/readme.md", "x/b/readme.md")]


def test_names_without_a_partner_stay_alone() -> None:
    assert len(moves({"a.md": "1"}, {"x.md": "1", "y.md": "1"})) == 1
    assert len(moves({"a.md": "1", "b.md": "1"}, {"x.md": "1"})) == 1


def test_a_name_known_by_two_contents_moves_once() -> None:
    found = find_moves({"a.md": {"1", "2"}}, {"x.md": "1", "y.md": "2"})
    assert found == [Move("a.md", "x.md")]


def test_many_equal_stubs_stay_linear() -> None:
    """Fifty thousand empty stubs in a renamed folder: quadratic work would not end."""
    count = 50_000
    found = moves({f"a/{n}.md": "1" for n in range(count)}, {f"b/{n}.md": "1" for n in range(count)})
    assert found[0] == Move("a/0.md", "b/0.md")
    assert len(found) == count
