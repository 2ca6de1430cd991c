"""The guard against mass deletion, data versions, fingerprints, and the states that ``kb status`` shows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kb_pipeline.errors import MassDeletionError
from kb_pipeline.models import BuildPlan, DocumentState
from kb_pipeline.planning.planner import check_deletions, data_version, documents_known, pages_fingerprint
from kb_pipeline.planning.state import FRAGMENT_REASON, DocumentStatus, count_states, document_states

World = Any


def removing(count: int) -> BuildPlan:
    return BuildPlan(removed=tuple(f"{number:03}.md" for number in range(count)))


class TestGuard:
    @pytest.mark.parametrize(("removed", "total"), [(0, 0), (4, 4), (4, 100), (5, 25), (20, 100)])
    def test_few_documents_or_a_small_part_may_go(self, removed: int, total: int) -> None:
        check_deletions(removing(removed), total, 0.2, 5)

    @pytest.mark.parametrize(("removed", "total"), [(5, 5), (5, 24), (21, 100), (1000, 1000)])
    def test_many_at_once_are_refused(self, removed: int, total: int) -> None:
        with pytest.raises(MassDeletionError, match=f"{removed} of {total} documents are gone"):
            check_deletions(removing(removed), total, 0.2, 5)

    def test_the_refusal_names_them_and_the_way_out(self) -> None:
        with pytest.raises(MassDeletionError) as caught:
            check_deletions(removing(30), 30, 0.2, 5)
        text = str(caught.value)
        assert "\n  000.md\n" in text
        assert "… and 10 more" in text
        assert "--allow-mass-delete" in text

    def test_moves_are_no_removals(self, world: World) -> None:
        world.texts = {f"a/{number}.md": f"t{number}" for number in range(10)}
        world.build()
        world.texts = {path.replace("a/", "b/"): text for path, text in world.texts.items()}
        check_deletions(world.plan(), 10, 0.2, 5)

    def test_known_documents_are_those_that_something_hangs_on(self, world: World) -> None:
        world.texts = {"a.md": "one", "b.md": "~frag", "c.md": "?odd", "d.md": "2two"}
        world.build()
        world.pages["mine.md"] = replace(world.pages["a.md-1.md"], path="mine.md", compiled=None)
        assert documents_known(world.pages.values(), list(world.reviews.values())) == set(world.texts)


def test_a_data_version_tells_content_and_key_apart() -> None:
    versions = {data_version(sha256 * 64, key) for sha256 in "ab" for key in ("k1", "k2")}
    assert len(versions) == 4


def test_the_fingerprint_changes_with_any_page_and_not_with_order(world: World) -> None:
    world.texts = {"a.md": "one", "b.md": "two"}
    world.build()
    pages = list(world.pages.values())
    assert pages_fingerprint(pages) == pages_fingerprint(reversed(pages))
    changed = [replace(pages[0], content_sha256="other"), pages[1]]
    moved = [replace(pages[0], path="c.md"), pages[1]]
    assert len({pages_fingerprint(each) for each in (pages, changed, moved, pages[:1], [])}) == 5


class TestStates:
    def states(self, world: World, **options: Any) -> dict[str, DocumentStatus]:
        found = document_states(world.plan(**options), world.pages.values())
        assert [status.document for status in found] == sorted(status.document for status in found)
        return {status.document: status for status in found}

    def test_every_document_has_one_state_and_a_reason(self, world: World) -> None:
        world.texts = {"same.md": "2two", "frag.md": "~x", "held.md": "?odd", "gone.md": "one", "changed.md": "one"}
        world.build()
        world.texts |= {"new.md": "new", "changed.md": "other", "empty.md": "", "bad.md": "!", "out.md": "#"}
        del world.texts["gone.md"]
        world.folders = {".git/": DocumentState.IGNORED}
        states = self.states(world)
        assert {name: (status.state.value, status.reason) for name, status in states.items()} == {
            ".git/": ("ignored", "not entered"),
            "bad.md": ("failed", "reason"),
            "changed.md": ("pending", "changed, or its pages are not whole"),
            "empty.md": ("empty", "empty"),
            "frag.md": ("fragment", FRAGMENT_REASON),
            "gone.md": ("removed", "the raw document is gone"),
            "held.md": ("held", "held: reason"),
            "new.md": ("pending", "new"),
            "out.md": ("ignored", "reason"),
            "same.md": ("unchanged", ""),
        }
        assert states["same.md"].pages == ("same.md-1.md", "same.md-2.md")
        assert states["frag.md"].pages == ("_inbox/2026-08.md",)
        assert count_states(list(states.values())) == {
            DocumentState.PENDING: 2,
            DocumentState.UNCHANGED: 1,
            DocumentState.FRAGMENT: 1,
            DocumentState.HELD: 1,
            DocumentState.FAILED: 1,
            DocumentState.EMPTY: 1,
            DocumentState.IGNORED: 2,
            DocumentState.REMOVED: 1,
        }

    def test_outdated_documents_are_unchanged_until_they_are_upgraded(self, world: World) -> None:
        world.texts = {"a.md": "one", "b.md": "~frag"}
        world.build()
        world.key = "key2"
        states = self.states(world)
        assert states["a.md"].state is DocumentState.UNCHANGED
        assert states["a.md"].reason.startswith("outdated")
        assert self.states(world, upgrade=True)["a.md"].state is DocumentState.PENDING

    def test_a_moved_document_is_shown_with_both_names_and_its_pages(self, world: World) -> None:
        world.texts = {"a.md": "one"}
        world.build()
        world.texts = {"b.md": "one"}
        states = self.states(world)
        assert states == {"b.md": DocumentStatus("b.md", DocumentState.PENDING, "moved from a.md", ("a.md-1.md",))}

    def test_an_emptied_document_says_that_it_is_empty(self, world: World) -> None:
        world.texts = {"a.md": "one"}
        world.build()
        world.texts = {"a.md": ""}
        assert self.states(world)["a.md"].state is DocumentState.EMPTY
