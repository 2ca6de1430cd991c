"""The scenarios of ORCHESTRATION, as plans: what is done, at how many model calls, and that it ends."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kb_pipeline.models import BuildPlan, DocumentState, Move, PageProvenance, SourceRef

World = Any


def settled_world(world: World, **texts: str) -> World:
    """A world after its first build, with its log."""
    world.texts = {name.replace("__", "/") + ".md": text for name, text in texts.items()}
    world.build()
    world.calls.clear()
    assert not world.plan()
    return world


def calls_to_settle(world: World, **options: object) -> int:
    """Build until nothing is left to do; a third build with work in it would be a loop."""
    world.build(**options)
    world.build()
    assert not world.plan(), world.plan()
    return len(world.calls)


class TestRows:
    def test_first_build_of_n_files(self, world: World) -> None:
        world.texts = {"a.md": "one", "b.md": "2two", "c.md": "~frag"}
        plan = world.build()
        assert plan.new == plan.compile == ("a.md", "b.md", "c.md")
        assert len(world.calls) == 3
        assert not world.plan()

    def test_nothing_changed(self, world: World) -> None:
        plan = settled_world(world, a="one", b="2two", c="~frag").plan()
        assert plan.unchanged == ("a.md", "b.md", "c.md")
        assert not plan.sync_needed

    def test_one_file_changed(self, world: World) -> None:
        settled_world(world, a="one", b="two")
        world.texts["a.md"] = "new"
        assert world.plan().stale == ("a.md",)
        assert calls_to_settle(world) == 1

    def test_one_file_deleted(self, world: World) -> None:
        settled_world(world, a="2one", b="two")
        del world.texts["a.md"]
        assert world.plan().removed == ("a.md",)
        assert calls_to_settle(world) == 0
        assert list(world.pages) == ["b.md-1.md"]
        assert "a.md" not in world.recorded

    def test_one_poison_file_and_a_new_one(self, world: World) -> None:
        settled_world(world, a="one")
        world.texts |= {"bad.md": "!", "new.md": "new"}
        plan = world.build()
        assert plan.compile == ("new.md",)
        assert plan.settled == {"bad.md": (DocumentState.FAILED, "reason")}
        assert not world.plan()

    def test_a_lint_error_made_by_hand(self, world: World) -> None:
        settled_world(world, a="one")
        world.edit("a.md-1.md")
        assert not world.plan().sync_needed

    @pytest.mark.parametrize("recorded", [{}, {"a.md": "other-version"}, {"a.md": "x", "b.md": "y", "gone.md": "z"}])
    def test_the_log_is_lost_or_wrong(self, world: World, recorded: dict[str, str]) -> None:
        """All runs deleted, a new Dagster home, a fresh clone, another branch: the pages win, the log is repaired."""
        settled_world(world, a="one", b="2two", c="~frag")
        world.recorded = recorded
        plan = world.plan()
        assert plan.adopted == ("a.md", "b.md", "c.md")
        assert plan.forgotten == tuple(name for name in recorded if name == "gone.md")
        assert plan.compile == ()
        assert calls_to_settle(world) == 0

    def test_without_the_log_nothing_is_adopted(self, world: World) -> None:
        settled_world(world, a="one")
        world.recorded = {"gone.md": "z"}
        assert not world.plan(log=False)

    def test_a_document_moved(self, world: World) -> None:
        settled_world(world, a="2one", b="two")
        world.texts["x/renamed.md"] = world.texts.pop("a.md")
        plan = world.plan()
        assert plan.moved == (Move("a.md", "x/renamed.md"),)
        assert (plan.removed, plan.compile, plan.adopted) == ((), (), ())
        assert calls_to_settle(world) == 0
        assert world.owned("x/renamed.md") == ["a.md-1.md", "a.md-2.md"]

    def test_a_folder_renamed(self, world: World) -> None:
        settled_world(world, old__a="one", old__b="2two", old__c="~frag", other="x")
        world.texts = {name.replace("old/", "new/"): text for name, text in world.texts.items()}
        assert len(world.plan().moved) == 3
        assert calls_to_settle(world) == 0

    def test_a_page_reverted_to_an_older_version(self, world: World) -> None:
        settled_world(world, a="one")
        old = world.pages["a.md-1.md"]
        world.texts["a.md"] = "new"
        world.build()
        world.calls.clear()
        world.pages["a.md-1.md"] = old
        assert world.plan().stale == ("a.md",)
        assert calls_to_settle(world) == 1

    def test_pages_and_document_reverted_together(self, world: World) -> None:
        settled_world(world, a="one")
        old = world.pages["a.md-1.md"]
        world.texts["a.md"] = "new"
        world.build()
        world.calls.clear()
        world.pages["a.md-1.md"], world.texts["a.md"] = old, "one"
        assert world.plan().adopted == ("a.md",)
        assert calls_to_settle(world) == 0

    def test_one_of_three_pages_deleted_by_hand(self, world: World) -> None:
        settled_world(world, a="3one", b="two")
        del world.pages["a.md-2.md"]
        assert world.plan().compile == ("a.md",)
        assert calls_to_settle(world) == 1

    @pytest.mark.parametrize("verdict", ["held", "rejected"])
    def test_a_held_or_rejected_document(self, world: World, verdict: str) -> None:
        world.texts = {"a.md": "?odd"}
        world.build()
        world.review("a.md", "?odd", verdict)
        plan = world.plan()
        assert not plan
        assert plan.settled == {"a.md": (DocumentState.HELD, f"{verdict}: reason")}

    def test_a_permanently_failed_document(self, world: World) -> None:
        world.texts = {"a.md": "one"}
        world.review("a.md", "one", "failed")
        assert world.plan().settled == {"a.md": (DocumentState.FAILED, "failed: reason")}
        assert not world.plan()

    def test_a_held_document_whose_text_changed(self, world: World) -> None:
        world.texts = {"a.md": "?odd"}
        world.build()
        world.texts["a.md"] = "good"
        assert world.plan().stale == ("a.md",)
        world.calls.clear()
        assert calls_to_settle(world) == 1
        assert world.reviews == {}

    def test_a_held_document_under_another_key(self, world: World) -> None:
        world.texts = {"a.md": "?odd"}
        world.build()
        world.key = "key2"
        assert world.plan().compile == ("a.md",)

    def test_a_hand_edited_page_whose_document_changed(self, world: World) -> None:
        settled_world(world, a="one")
        world.edit("a.md-1.md")
        world.texts["a.md"] = "new"
        assert world.plan().stale == ("a.md",)
        assert calls_to_settle(world) == 1
        assert world.pages["a.md-1.md"].fingerprint == "edited"
        assert "a.md" in world.reviews


class TestKeys:
    def test_pages_of_another_key_are_outdated_and_left(self, world: World) -> None:
        settled_world(world, a="one", c="~frag")
        world.key = "key2"
        plan = world.plan()
        assert plan.outdated == ("a.md", "c.md")
        assert not plan.sync_needed

    def test_an_upgrade_compiles_them(self, world: World) -> None:
        settled_world(world, a="one", b="2two")
        world.key = "key2"
        assert world.plan(upgrade=True).compile == ("a.md", "b.md")
        assert calls_to_settle(world, upgrade=True) == 2

    def test_an_outdated_document_is_recorded_as_it_is(self, world: World) -> None:
        settled_world(world, a="one")
        world.key, world.recorded = "key2", {}
        plan = world.plan()
        assert (plan.outdated, plan.adopted) == (("a.md",), ("a.md",))

    def test_an_upgrade_that_was_held_is_settled(self, world: World) -> None:
        settled_world(world, a="one")
        world.key = "key2"
        world.review("a.md", "one")
        plan = world.plan(upgrade=True)
        assert plan.compile == ()
        assert plan.settled["a.md"][0] is DocumentState.HELD

    def test_pages_of_two_keys_are_an_upgrade_that_was_cut_off(self, world: World) -> None:
        settled_world(world, a="2one")
        page = world.pages["a.md-1.md"]
        world.pages["a.md-1.md"] = replace(page, compiled=replace(page.compiled, key="key2"))
        assert world.plan().stale == ("a.md",)

    def test_full_compiles_everything_that_can_be(self, world: World) -> None:
        settled_world(world, a="one", b="?odd", c="", d="!", e="#x", f="~frag")
        plan = world.plan(full=True)
        assert plan.compile == ("a.md", "b.md", "f.md")
        assert "b.md" not in plan.settled


class TestSets:
    @pytest.mark.parametrize("part", ["2/2", "1/2", "x", "1/1/1", "0/1", "01/1"])
    def test_a_page_that_is_not_the_whole_set_does_not_count(self, world: World, part: str) -> None:
        world.texts = {"a.md": "one"}
        world.page("p.md", "a.md", "one", part)
        assert world.plan().stale == ("a.md",)

    def test_a_page_left_over_beside_a_whole_set_is_cleared(self, world: World) -> None:
        settled_world(world, a="2two")
        world.page("old.md", "a.md", "3old", "3/3")
        assert world.plan().stale == ("a.md",)
        assert calls_to_settle(world) == 1
        assert "old.md" not in world.pages

    def test_a_copy_of_a_page_is_cleared(self, world: World) -> None:
        settled_world(world, a="2two")
        world.pages["copy.md"] = replace(world.pages["a.md-1.md"], path="copy.md")
        assert world.plan().stale == ("a.md",)

    def test_a_document_that_outgrew_the_inbox_leaves_it(self, world: World) -> None:
        """A build was cut off after the pages were written and before the inbox was."""
        world.texts = {"a.md": "one"}
        world.page("_inbox/2026-08.md", "a.md", "~frag")
        world.page("a.md-1.md", "a.md", "one")
        assert world.plan().stale == ("a.md",)
        assert calls_to_settle(world) == 1

    def test_the_inbox_lists_each_fragment(self, world: World) -> None:
        settled_world(world, a="~one", b="~two", c="~three")
        world.texts["b.md"] = "~new"
        assert world.plan().stale == ("b.md",)
        del world.texts["a.md"]
        assert world.plan().removed == ("a.md",)
        assert calls_to_settle(world) == 1

    def test_a_handwritten_page_is_nobodys(self, world: World) -> None:
        world.pages["mine.md"] = PageProvenance("mine.md", (), None, "f")
        assert world.plan() == BuildPlan()

    def test_a_document_that_a_handwritten_page_took_in_is_done(self, world: World) -> None:
        world.texts = {"a.md": "one"}
        page = world.page("mine.md", "a.md", "one")
        world.pages["mine.md"] = replace(page, compiled=None)
        assert world.plan(log=False).unchanged == ("a.md",)
        world.texts["a.md"] = "new"
        assert world.plan(log=False).new == ("a.md",)
        del world.texts["a.md"]
        assert not world.plan(log=False)

    def test_a_document_merged_into_anothers_page_is_done(self, world: World) -> None:
        settled_world(world, a="one")
        page = world.pages["a.md-1.md"]
        world.pages["a.md-1.md"] = replace(page, sources=(*page.sources, SourceRef("b.md", world.sha("two"))))
        world.texts["b.md"] = "two"
        assert world.plan(log=False).unchanged == ("a.md", "b.md")
        world.texts["b.md"] = "changed"
        assert world.plan(log=False).new == ("b.md",)
        del world.texts["b.md"]
        assert not world.plan(log=False)

    def test_an_accepted_entry_settles_only_pages_that_are_there(self, world: World) -> None:
        world.texts = {"a.md": "new"}
        world.page("p.md", "a.md", "old", "1/2")
        world.page("q.md", "a.md", "old", "2/2")
        world.review("a.md", "new", "accepted")
        assert world.plan().unchanged == ("a.md",)
        del world.pages["q.md"]
        assert world.plan().stale == ("a.md",)

    def test_pages_rescued_from_a_removed_document_say_nothing_about_it(self, world: World) -> None:
        world.review("a.md", "one", "removed")
        assert not world.plan()
        world.texts = {"a.md": "one"}
        assert world.plan().new == ("a.md",)


class TestUnread:
    @pytest.mark.parametrize("text", ["!", "#"])
    def test_pages_of_a_document_that_cannot_be_read_stay(self, world: World, text: str) -> None:
        settled_world(world, a="2one")
        world.texts["a.md"] = text
        plan = world.plan()
        assert not plan
        assert plan.settled["a.md"][1] == "reason; 2 pages made from it earlier stay"

    @pytest.mark.parametrize("state", [DocumentState.FAILED, DocumentState.IGNORED])
    def test_pages_of_documents_in_a_folder_that_was_not_entered_stay(self, world: World, state: DocumentState) -> None:
        settled_world(world, d__e__a="one", b="two")
        del world.texts["d/e/a.md"]
        world.folders = {"d/": state}
        plan = world.plan()
        assert (plan.removed, plan.compile) == ((), ())
        assert plan.settled["d/e/a.md"] == (state, "d/: not entered; the page made from it earlier stays")
        assert not plan.sync_needed

    def test_an_emptied_document_is_a_removed_one(self, world: World) -> None:
        settled_world(world, a="one")
        world.texts["a.md"] = ""
        plan = world.plan()
        assert plan.removed == ("a.md",)
        assert plan.settled == {"a.md": (DocumentState.EMPTY, "empty")}
        assert calls_to_settle(world) == 0
        assert world.pages == {}

    def test_an_empty_document_is_not_tried_again(self, world: World) -> None:
        world.texts = {"a.md": ""}
        assert not world.plan()

    def test_a_removed_document_that_was_only_held_leaves_the_review(self, world: World) -> None:
        world.texts = {"a.md": "?odd"}
        world.build()
        del world.texts["a.md"]
        assert world.plan().removed == ("a.md",)
        assert calls_to_settle(world) == 1  # the first build's
        assert world.reviews == {}

    def test_a_collision_does_not_hide_the_document_that_is_read(self, world: World) -> None:
        settled_world(world, a="one")
        entries = world.raw()
        entries.append(replace(entries[0], state=DocumentState.FAILED, sha256=None))
        world.raw = lambda: entries  # type: ignore[method-assign]
        assert world.plan().unchanged == ("a.md",)


class TestMoves:
    def test_a_moved_document_with_a_missing_page_is_compiled_under_its_new_name(self, world: World) -> None:
        settled_world(world, a="3one")
        del world.pages["a.md-2.md"]
        world.texts["b.md"] = world.texts.pop("a.md")
        plan = world.plan()
        assert plan.moved == (Move("a.md", "b.md"),)
        assert plan.stale == ("b.md",)
        assert calls_to_settle(world) == 1

    def test_a_moved_held_document_is_not_tried_again(self, world: World) -> None:
        world.texts = {"a.md": "?odd"}
        world.build()
        world.calls.clear()
        world.texts = {"b.md": "?odd"}
        plan = world.plan()
        assert plan.moved == (Move("a.md", "b.md"),)
        assert plan.settled["b.md"][0] is DocumentState.HELD
        assert calls_to_settle(world) == 0

    def test_a_copy_is_a_document_of_its_own(self, world: World) -> None:
        settled_world(world, a="one")
        world.texts["b.md"] = "one"
        plan = world.plan()
        assert (plan.moved, plan.new) == ((), ("b.md",))

    def test_one_of_two_copies_moves_and_the_other_goes(self, world: World) -> None:
        settled_world(world, a__x="one", b__x="one")
        world.texts = {"c/x.md": "one"}
        plan = world.plan()
        assert (plan.moved, plan.removed) == ((Move("a/x.md", "c/x.md"),), ("b/x.md",))

    def test_a_document_that_took_anothers_place_is_changed_not_moved(self, world: World) -> None:
        settled_world(world, a="one", b="two")
        world.texts = {"b.md": "one"}
        plan = world.plan()
        assert (plan.moved, plan.removed, plan.stale) == ((), ("a.md",), ("b.md",))

    def test_a_document_that_is_now_ignored_may_live_on_under_another_name(self, world: World) -> None:
        settled_world(world, a="one")
        world.texts = {"a.md": "#", "b.md": "one"}
        assert world.plan().moved == (Move("a.md", "b.md"),)
        assert calls_to_settle(world) == 0

    def test_a_failing_document_keeps_its_pages_from_its_copy(self, world: World) -> None:
        settled_world(world, a="one")
        world.texts = {"a.md": "!", "b.md": "one"}
        assert world.plan().moved == ()


class TestOnly:
    def test_the_plan_is_confined_to_the_documents_that_are_named(self, world: World) -> None:
        settled_world(world, a="one", b="two", c="three")
        world.texts |= {"a.md": "new", "d.md": "new"}
        del world.texts["c.md"]
        plan = world.plan(only=["a.md"])
        assert (plan.compile, plan.removed) == (("a.md",), ())
        assert world.plan(only=["c.md"]).removed == ("c.md",)

    def test_full_compiles_exactly_the_named_ones_changed_or_not(self, world: World) -> None:
        settled_world(world, a="one", b="two")
        assert world.plan(only=["b.md", "none.md"], full=True).compile == ("b.md",)

    @pytest.mark.parametrize("only", [["a.md"], ["b.md"]])
    def test_a_move_is_done_when_either_name_is_given(self, world: World, only: list[str]) -> None:
        settled_world(world, a="one")
        world.texts = {"b.md": "one"}
        assert world.plan(only=only).moved == (Move("a.md", "b.md"),)
        assert world.plan(only=["c.md"]).moved == ()
        assert world.plan(only=["c.md"]).removed == ()

    def test_the_log_is_repaired_for_the_named_ones_alone(self, world: World) -> None:
        settled_world(world, a="one", b="two")
        world.recorded = {"x.md": "1", "y.md": "2"}
        plan = world.plan(only=["a.md", "x.md"])
        assert (plan.adopted, plan.forgotten) == (("a.md",), ("x.md",))


class TestPublishing:
    @pytest.mark.parametrize(
        ("published", "current", "needed"),
        [("x", "x", False), ("x", "y", True), (None, "y", True), (None, None, False)],
    )
    def test_publishing_is_needed_when_the_pages_are_not_the_snapshots(
        self, world: World, published: str | None, current: str | None, needed: bool
    ) -> None:
        plan = world.plan(snapshot_fingerprint=published, current_fingerprint=current)
        assert plan.publish_needed is needed
        assert bool(plan) is needed
        assert not plan.sync_needed
