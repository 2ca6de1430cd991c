"""Properties of the planner over arbitrary worlds: it ends, it does not depend on order, it never contradicts itself."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from kb_pipeline.models import DocumentState
from kb_pipeline.planning.planner import make_plan

World = Any

PATHS = st.sampled_from([f"{folder}{name}.md" for folder in ("", "a/", "b/", "a/c/") for name in ("x", "y", "readme")])
TEXTS = st.sampled_from(["one", "two", "2two", "3three", "~frag", "~other", "?odd", "", "!", "#"])
WORLDS = st.dictionaries(PATHS, TEXTS, max_size=8)
DAMAGE = st.lists(
    st.tuples(st.sampled_from(["page", "edit", "log", "review", "key", "folder"]), st.integers(0, 99)), max_size=3
)
OPTIONS = st.fixed_dictionaries({}, optional={"upgrade": st.booleans()})


def damaged(world: World, damage: list[tuple[str, int]]) -> None:
    """What people, git and crashes do to a project between two builds."""
    for kind, number in damage:
        paths, documents = sorted(world.pages), sorted(world.texts)
        if kind == "page" and paths:
            del world.pages[paths[number % len(paths)]]
        elif kind == "edit" and paths:
            world.edit(paths[number % len(paths)])
        elif kind == "log":
            world.recorded = {} if number % 2 else {**world.recorded, "ghost.md": "v"}
        elif kind == "review" and documents:
            name = documents[number % len(documents)]
            world.review(name, world.texts[name], ("held", "rejected", "accepted", "failed", "removed")[number % 5])
        elif kind == "key":
            world.key = f"key{number % 3}"
        elif kind == "folder":
            world.folders = {"a/": DocumentState.FAILED}
            world.texts = {path: text for path, text in world.texts.items() if not path.startswith("a/")}


@settings(max_examples=200, deadline=None)
@given(before=WORLDS, after=WORLDS, damage=DAMAGE, options=OPTIONS)
def test_an_applied_plan_leaves_nothing_to_do(
    new_world: type[World],
    before: dict[str, str],
    after: dict[str, str],
    damage: list[tuple[str, int]],
    options: dict[str, bool],
) -> None:
    world = new_world(texts=dict(before))
    world.build()
    world.texts = dict(after)
    damaged(world, damage)
    world.build(**options)
    again = world.build(**options)
    assert (again.compile, again.moved, again.removed, again.forgotten) == ((), (), (), ())
    # Rewriting the inbox for one fragment stamps the page anew for all of them: the log learns that a build later.
    assert set(again.adopted) <= {path for path, text in after.items() if text.startswith("~")}
    assert not world.plan(**options), world.plan(**options)


@settings(max_examples=150, deadline=None)
@given(before=WORLDS, after=WORLDS, damage=DAMAGE, seed=st.integers(0, 10**6))
def test_a_plan_does_not_depend_on_any_order(
    new_world: type[World], before: dict[str, str], after: dict[str, str], damage: list[tuple[str, int]], seed: int
) -> None:
    world = new_world(texts=dict(before))
    world.build()
    world.texts = dict(after)
    damaged(world, damage)
    raw, pages, reviews = world.raw(), list(world.pages.values()), list(world.reviews.values())
    recorded = list(world.recorded.items())
    expected = make_plan(raw, pages, reviews, dict(recorded), world.key)
    shuffle = random.Random(seed).shuffle
    for items in (raw, pages, reviews, recorded):
        shuffle(items)
    assert make_plan(raw, pages, reviews, dict(recorded), world.key) == expected


@settings(max_examples=150, deadline=None)
@given(before=WORLDS, after=WORLDS, damage=DAMAGE, options=OPTIONS, full=st.booleans())
def test_a_plan_never_contradicts_itself(
    new_world: type[World],
    before: dict[str, str],
    after: dict[str, str],
    damage: list[tuple[str, int]],
    options: dict[str, bool],
    full: bool,
) -> None:
    """Each document that can be compiled stands in exactly one list; nothing that is there is removed or forgotten."""
    world = new_world(texts=dict(before))
    world.build()
    world.texts = dict(after)
    damaged(world, damage)
    plan = world.plan(full=full, **options)
    compilable = {entry.path for entry in world.raw() if entry.state is DocumentState.PENDING}
    held = {path for path in plan.settled if path in compilable}
    lists = [plan.new, plan.stale, plan.outdated, plan.unchanged, sorted(held - set(plan.compile))]
    told = [path for group in lists for path in group]
    assert len(told) == len(set(told))
    assert set(told) | set(plan.compile) == compilable
    assert set(plan.compile) <= compilable
    assert not set(plan.removed) & compilable
    assert not set(plan.forgotten) & (compilable | set(plan.removed))
    assert not {move.old for move in plan.moved} & set(plan.removed)
    for group in (
        plan.new,
        plan.stale,
        plan.outdated,
        plan.removed,
        plan.adopted,
        plan.forgotten,
        plan.unchanged,
        plan.compile,
    ):
        assert list(group) == sorted(set(group))


@settings(max_examples=100, deadline=None)
@given(texts=WORLDS, renames=st.dictionaries(PATHS, PATHS, max_size=8), damage=DAMAGE)
def test_renaming_costs_no_call(
    new_world: type[World], texts: dict[str, str], renames: dict[str, str], damage: list[tuple[str, int]]
) -> None:
    """Whatever is renamed to a name that was free before: no document is compiled again and none is removed."""
    world = new_world(texts={path: text for path, text in texts.items() if text and text[0] not in "!#"})
    world.build()
    world.calls.clear()
    taken = set(world.texts)
    moved = {}
    for path, text in world.texts.items():
        target = renames.get(path, path)
        name = target if target not in taken | set(moved) else path
        moved[name] = text
    world.texts = moved
    plan = world.build()
    assert (world.calls, plan.removed) == ([], ())
