"""Snapshots on disk: what a reader sees, and that no crash takes it away."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.errors import SnapshotCorruptError, SnapshotMissingError, StorageError
from kb_pipeline.storage import snapshots as module
from kb_pipeline.storage.catalog import LineTable, NeighbourTable, encode_lines, encode_neighbours
from kb_pipeline.storage.snapshots import Snapshot, SnapshotStore
from kb_pipeline.text.sparse_index import SparseIndex
from kb_tests.fakes.wiki import START, Press, page_text

OLD = {
    "auth/a.md": page_text("權杖", "結論。\n\n## 換發 😀\n\n見 [[b]]。\n\n### 細節\n\n九十天。\n"),
    "ops/b.md": page_text("備份"),
}
NEW = {**OLD, "ops/b.md": page_text("備份", "改過的內容。"), "ops/c.md": page_text("新頁")}


@pytest.fixture
def press(tmp_path: Path) -> Press:
    return Press(tmp_path / "build")


def whole(snapshot: Snapshot) -> dict[str, str]:
    """Every page read through everything that a reader uses; raises when a part is missing."""
    assert len(SparseIndex.open(snapshot.index_folder)) >= snapshot.page_count
    assert json.loads(snapshot.graph_json)["counts"]["nodes"] == snapshot.page_count
    assert snapshot.report["pages"] == snapshot.page_count == len(list(snapshot.records()))
    assert snapshot.manifest.count(" — ") == snapshot.page_count
    for path in snapshot.pages():
        snapshot.neighbours(path)
        snapshot.chunk_hashes(path)
    return {path: snapshot.page_text(path) for path in snapshot.pages()}


# -- reading ---------------------------------------------------------------------------------------------------------


def test_a_published_snapshot_holds_the_pages_as_they_were(press: Press) -> None:
    snapshot = press.publish(OLD)
    assert whole(snapshot) == OLD
    assert whole(press.store.required()) == OLD
    assert (press.build / "current").is_symlink()


def test_nothing_published_yet_is_told_with_what_to_do(tmp_path: Path) -> None:
    store = SnapshotStore(tmp_path / "build")
    assert store.current_id() is None
    assert store.current_or_none() is None
    with pytest.raises(SnapshotMissingError, match="kb build"):
        store.required()
    assert not (tmp_path / "build").exists()


def test_records_hold_what_search_shows_and_offsets_that_fit_the_bytes(press: Press) -> None:
    snapshot = press.publish(OLD)
    record = snapshot.page("auth/a.md")
    assert (record.title, record.scope, record.status, record.domain, record.concept_name) == (
        "權杖",
        "測試環境",
        "current",
        "auth",
        "auth/a",
    )
    texts = {section.title: snapshot.section_text(record, section).strip() for section in record.sections}
    assert texts == {"權杖": "結論。", "換發 😀": "見 [[b]]。", "細節": "九十天。"}
    lead, *_, last = record.sections
    assert record.address(lead) == "auth/a.md"
    assert (record.address(last), record.section(last.section_id)) == ("auth/a.md#細節", last)
    with pytest.raises(KeyError):
        snapshot.page("auth/nowhere.md")
    with pytest.raises(KeyError):
        record.section("nowhere")


def test_neighbours_come_from_the_graph_and_need_no_networkx(press: Press) -> None:
    snapshot = press.publish(OLD)
    assert snapshot.neighbours("auth/a.md") == ["ops/b.md"]
    assert snapshot.neighbours("ops/b.md") == ["auth/a.md"]


def test_every_chunk_is_named_with_the_hash_its_vector_must_be_of(press: Press) -> None:
    snapshot = press.publish(OLD)
    keys = snapshot.all_chunk_hashes()
    assert {concept for concept, _ in keys} == {"auth/a", "ops/b"}
    assert all(len(digest) == 64 for digest in keys.values())


def test_the_age_of_a_snapshot_counts_from_its_publication(press: Press) -> None:
    snapshot = press.publish(OLD)
    assert snapshot.age_seconds(press.now + timedelta(hours=2)) == 7_200
    assert snapshot.age_seconds(START) == 0


def test_a_reader_sees_the_old_snapshot_until_it_reloads(press: Press) -> None:
    reader = press.publish(OLD)
    assert press.store.reload_if_changed(reader) is reader
    press.publish(NEW)
    assert whole(reader) == OLD
    assert whole(press.store.reload_if_changed(reader)) == NEW


@pytest.mark.parametrize(
    "name",
    [
        "snapshot.json",
        "pages.json",
        "catalog.jsonl",
        "catalog.offsets",
        "report.json",
        "pages/auth/a.md",
        "neighbours.bin",
    ],
)
@pytest.mark.parametrize("damage", ["missing", "cut", "noise"])
def test_a_damaged_part_is_told_as_corrupt_with_what_to_do(press: Press, name: str, damage: str) -> None:
    file = press.publish(OLD).folder / name
    content = file.read_bytes()
    file.unlink()
    if damage != "missing":
        file.write_bytes(content[: len(content) // 3] if damage == "cut" else bytes(reversed(content)) + b"\xff{")
    with pytest.raises(SnapshotCorruptError, match=r"delete .* and run `kb build`"):
        whole(press.store.required())


def test_a_pointer_that_names_nothing_is_corrupt_and_a_build_mends_it(press: Press) -> None:
    press.publish(OLD)
    (press.build / "current").unlink()
    (press.build / "current").write_text("../../etc/passwd")
    with pytest.raises(SnapshotCorruptError):
        press.store.required()
    assert press.store.current_or_none() is None
    assert whole(press.publish(NEW)) == NEW
    assert whole(press.store.required()) == NEW


def test_a_snapshot_of_a_newer_format_is_not_guessed_at(press: Press) -> None:
    file = press.publish(OLD).folder / "snapshot.json"
    described = json.loads(file.read_text())
    file.unlink()
    file.write_text(json.dumps({**described, "format": 99}))
    with pytest.raises(SnapshotCorruptError, match="format 99"):
        press.store.required()


# -- switching -------------------------------------------------------------------------------------------------------


def test_where_links_cannot_be_made_a_file_names_the_snapshot(press: Press, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("no links here")

    monkeypatch.setattr(Path, "symlink_to", refuse)
    press.publish(OLD)
    assert not (press.build / "current").is_symlink()
    assert whole(press.store.required()) == OLD
    press.publish(NEW)
    assert whole(press.store.required()) == NEW


def test_only_a_finished_snapshot_can_be_made_current(press: Press) -> None:
    press.publish(OLD)
    before = press.store.current_id()
    press.store.stage("0123456789abcdef").write("pages/x.md", b"x")
    with pytest.raises(SnapshotMissingError):
        press.store.switch("0123456789abcdef")
    assert press.store.current_id() == before


def test_no_name_leaves_the_snapshot(tmp_path: Path) -> None:
    staged = SnapshotStore(tmp_path).stage("0123456789abcdef")
    with pytest.raises(ValueError, match="leaves"):
        staged.write("pages/../../../x", b"x")
    with pytest.raises(ValueError, match="id"):
        SnapshotStore(tmp_path).stage("../x")


def test_files_shared_with_an_older_snapshot_are_replaced_and_never_written_through(press: Press) -> None:
    old = press.publish(OLD)
    staged = press.store.stage("0123456789abcdef")
    assert staged.link("pages/auth/a.md", old.page_file("auth/a.md"))
    staged.write("pages/auth/a.md", b"other")
    assert old.page_text("auth/a.md") == OLD["auth/a.md"]


def test_a_file_system_without_hard_links_gets_copies(press: Press, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("no links here")

    press.publish(OLD)
    monkeypatch.setattr(Path, "hardlink_to", refuse)
    assert whole(press.publish(NEW)) == NEW


# -- crashes ---------------------------------------------------------------------------------------------------------


class Crash(BaseException):
    """As abrupt as a kill: nothing in the product catches it."""


def crashing(monkeypatch: pytest.MonkeyPatch, at: int, error: Callable[[], BaseException]) -> Iterator[None]:
    """Every call that changes the disk fails from the ``at``-th on."""
    calls = 0

    def counted(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls >= at:
                raise error()
            return original(*args, **kwargs)

        return call

    with monkeypatch.context() as patch:
        for name in ("mkdir", "write_bytes", "write_text", "rename", "replace", "symlink_to", "hardlink_to", "unlink"):
            patch.setattr(Path, name, counted(getattr(Path, name)))
        patch.setattr(module, "_sync_file", counted(module._sync_file))
        patch.setattr(module, "sync_folder", counted(module.sync_folder))
        yield
    return


@pytest.mark.parametrize("error", [Crash, lambda: OSError(28, "No space left on device")], ids=["kill", "disk full"])
def test_a_crash_at_any_step_leaves_the_old_or_the_new_snapshot_whole(
    press: Press, monkeypatch: pytest.MonkeyPatch, error: Callable[[], BaseException]
) -> None:
    press.publish(OLD)
    pristine = press.build.with_name("pristine")
    shutil.copytree(press.build, pristine, symlinks=True)
    at, finished = 1, False
    while not finished:
        shutil.rmtree(press.build)
        shutil.copytree(pristine, press.build, symlinks=True)
        for _ in crashing(monkeypatch, at, error):
            try:
                press.publish(NEW)
                finished = True
            except (Crash, OSError, StorageError):
                pass
        assert whole(press.store.required()) in (OLD, NEW)
        assert whole(press.publish(NEW)) == NEW
        assert not [path for path in (press.build / "snapshots").iterdir() if path.name.startswith(".")]
        at += 5
    assert at > 40


def test_a_full_disk_is_told_as_a_storage_error_that_names_the_folder(
    press: Press, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "_sync_file", refuse)
    with pytest.raises(StorageError, match="No space left"):
        press.publish(OLD)


# -- clearing --------------------------------------------------------------------------------------------------------


def test_two_older_snapshots_are_kept(press: Press) -> None:
    ids = [press.publish({"a.md": page_text(f"第 {n} 版")}).id for n in range(5)]
    assert sorted(path.name for path in (press.build / "snapshots").iterdir()) == sorted(ids[-3:])


def test_what_dead_processes_left_is_cleared_and_what_live_ones_stage_stays(press: Press) -> None:
    press.publish(OLD)
    dead = subprocess.Popen([sys.executable, "-c", "pass"])
    dead.wait()
    snapshots = press.build / "snapshots"
    for pid in (dead.pid, os.getppid()):
        (snapshots / f".staging-0123456789abcdef-{pid}").mkdir()
    (snapshots / "notes").mkdir()
    press.publish(NEW)
    left = {path.name for path in snapshots.iterdir()}
    assert f".staging-0123456789abcdef-{dead.pid}" not in left
    assert {f".staging-0123456789abcdef-{os.getppid()}", "notes"} <= left


# -- tables ----------------------------------------------------------------------------------------------------------


@given(st.lists(st.binary(max_size=20).filter(lambda line: b"\n" not in line), max_size=20))
def test_a_line_table_gives_back_each_line(lines: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        content, offsets = encode_lines(lines)
        (folder / "t.jsonl").write_bytes(content)
        (folder / "t.offsets").write_bytes(offsets)
        table = LineTable(folder, "t")
        assert [table[number] for number in range(len(table))] == lines
        with pytest.raises(IndexError):
            table[len(lines)]


@given(st.lists(st.sets(st.integers(0, 50), max_size=8), max_size=12))
def test_a_neighbour_table_gives_back_each_set(near: list[set[int]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        file = Path(name, "n")
        file.write_bytes(encode_neighbours(near))
        table = NeighbourTable(file)
        assert [set(table[number]) for number in range(len(near))] == near
        with pytest.raises(IndexError):
            table[len(near)]
