"""Where pages live: paths of documents and of their parts."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.lint.vocabulary import DOCUMENT_TYPES as LINT_TYPES
from kb_pipeline.models import UNRESOLVED_SCOPE, CompiledStamp, WikiPage
from kb_pipeline.rewriting.naming import (
    MAX_COMPONENT_BYTES,
    NamingHints,
    assign_paths,
    humanised,
    part_paths,
)
from kb_pipeline.rewriting.vocabulary import DOCUMENT_TYPES


def assigned(*paths: str, **hints: NamingHints) -> dict[str, str]:
    return assign_paths({path: hints.get(path, NamingHints()) for path in paths}, {}, {})


def page(path: str, title: str, part: str) -> WikiPage:
    return WikiPage(path=path, title=title, compiled=CompiledStamp("offline", "k", part, "s"))


@pytest.mark.parametrize(
    ("raw", "base"),
    [
        ("auth/Token Rotation.md", "auth/token-rotation"),
        ("devdiary/auth/2026-08-18-token-rotation.md", "auth/token-rotation"),
        ("devdiary/20260818_token.md", "token"),
        ("specs/115-08-18-權杖.md", "權杖"),
        ("docs/redis/README.md", "redis/redis"),
        ("README.md", "readme"),
        ("notes/2026-08-18.md", "2026-08-18"),
        ("a/b/c/d.md", "a/b/d"),
        ("how-to/reference/x.txt", "x"),
    ],
)
def test_a_page_lies_in_its_subjects_folders_without_date_and_document_type(raw: str, base: str) -> None:
    assert assigned(raw) == {raw: base}


def test_every_folder_that_lint_calls_a_document_type_is_dropped() -> None:
    assert {name.replace(" ", "-") for name in LINT_TYPES} <= DOCUMENT_TYPES


def test_a_document_without_a_subject_folder_goes_to_its_domain_else_to_its_scope() -> None:
    assert assign_paths({"notes/a.md": NamingHints(domain="Auth", scope="X")}, {}, {}) == {"notes/a.md": "auth/a"}
    assert assign_paths({"notes/a.md": NamingHints(scope="內部 API Gateway")}, {}, {}) == {
        "notes/a.md": "內部-api-gateway/a"
    }
    assert assign_paths({"notes/a.md": NamingHints(scope=UNRESOLVED_SCOPE)}, {}, {}) == {"notes/a.md": "a"}


def test_two_notes_of_one_name_and_day_keep_their_dates() -> None:
    named = assigned("log/2026-08-18-token.md", "log/2026-08-19-token.md")
    assert named == {"log/2026-08-18-token.md": "2026-08-18-token", "log/2026-08-19-token.md": "2026-08-19-token"}


def test_the_document_whose_own_name_it_is_keeps_it() -> None:
    named = assigned("auth/token.md", "auth/2026-08-18-token.md", "redis/README.md", "redis/redis.md")
    assert named["auth/token.md"] == "auth/token"
    assert named["auth/2026-08-18-token.md"] == "auth/2026-08-18-token"
    assert named["redis/redis.md"] == "redis/redis"
    assert named["redis/README.md"] == "redis/redis-readme"


def test_names_that_differ_in_case_only_do_not_share_a_page() -> None:
    bases = list(assigned("x/A.md", "x/a.md").values())
    assert len({base.casefold() for base in bases}) == 2


def test_an_existing_document_keeps_its_page_and_nobody_takes_a_page_written_by_hand() -> None:
    named = assign_paths(
        {"auth/old.md": NamingHints(), "auth/token.md": NamingHints()},
        {"auth/token.md": "", "auth/first.md": "auth/old.md"},
        {"auth/old.md": "auth/first"},
    )
    assert named["auth/old.md"] == "auth/first"
    assert named["auth/token.md"] not in {"auth/token", "auth/first"}


@pytest.mark.parametrize("case", ["ingest-nonlatin-slugs", "ingest-same-basename"])
def test_handed_names_give_as_many_pages(cases: Path, case: str) -> None:
    files = yaml.safe_load((cases / case / "case.yaml").read_text("utf-8"))["input"]["files"]
    named = assigned(*(name.removeprefix("raw/") for name in files))
    assert len({base.casefold() for base in named.values()}) == len(files)
    assert all(base.rpartition("/")[2] for base in named.values())


_names = st.text("aAbB-_ .0123456789測試🐘", min_size=1, max_size=6).map(lambda name: name.strip(" .") or "x")
_paths = st.sets(
    st.lists(_names, min_size=1, max_size=4).map(lambda parts: "/".join(parts) + ".md"), min_size=1, max_size=12
)


@given(_paths, st.randoms(use_true_random=False))
def test_names_are_unique_in_any_order_of_processing(paths: set[str], shuffle: random.Random) -> None:
    ordered, mixed = sorted(paths), sorted(paths)
    shuffle.shuffle(mixed)
    named = assigned(*ordered)
    assert named == assigned(*mixed)
    assert len({base.casefold() for base in named.values()}) == len(paths)
    assert all(base.count("/") <= 2 for base in named.values())


def test_parts_are_named_by_their_heading_and_can_never_take_another_documents_page() -> None:
    paths = part_paths("auth/token", ["T", "T：過期", "T：過期 (3)"], ["", "過期", "過期"], [])
    assert paths == ["auth/token.md", "auth/token--過期.md", "auth/token--3.md"]
    assert "--" not in assigned("auth/token--過期.md")["auth/token--過期.md"]


def test_parts_keep_the_page_of_their_title_then_of_their_index() -> None:
    existing = [page("a/t.md", "T", "1/3"), page("a/t--x.md", "T：X", "2/3"), page("a/t--y.md", "T：Y", "3/3")]
    assert part_paths("a/t", ["T", "T：Y", "T：X"], ["", "Y", "X"], existing) == ["a/t.md", "a/t--y.md", "a/t--x.md"]
    assert part_paths("a/t", ["T", "T：新名", "T：Y"], ["", "新名", "Y"], existing) == [
        "a/t.md",
        "a/t--x.md",
        "a/t--y.md",
    ]


def test_a_part_added_in_front_does_not_push_the_others_from_their_pages() -> None:
    existing = [page("a/t.md", "T", "1/2"), page("a/t--x.md", "T：X", "2/2")]
    assert part_paths("a/t", ["T", "T：新", "T：X"], ["", "新", "X"], existing) == ["a/t.md", "a/t--新.md", "a/t--x.md"]


def test_long_names_fit_into_every_file_system() -> None:
    base = assigned(f"x/{'很長的名字' * 40}.md")[f"x/{'很長的名字' * 40}.md"]
    paths = part_paths(base, ["a", "b"], ["", "段落" * 60], [])
    assert all(len(name.encode()) <= MAX_COMPONENT_BYTES for path in paths for name in path.split("/"))


@pytest.mark.parametrize(
    ("raw", "title"),
    [
        ("a/2026-08-18-token_rotation.md", "Token rotation"),
        ("redis/README.md", "Redis"),
        ("n/2026-08-18.md", "2026-08-18"),
    ],
)
def test_a_file_name_becomes_a_readable_title(raw: str, title: str) -> None:
    assert humanised(raw) == title
