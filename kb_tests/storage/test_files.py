"""Atomic writes: the old content or the new one, never a half, and nothing left lying about."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kb_pipeline.errors import StorageError
from kb_pipeline.storage.files import (
    TEMPORARY_PREFIX,
    remove_empty_parents,
    remove_file,
    remove_temporaries,
    write_atomic,
    write_if_changed,
)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_written_with_its_folders(tmp_path: Path) -> None:
    write_atomic(tmp_path / "a/b/c.md", b"x")
    assert (tmp_path / "a/b/c.md").read_bytes() == b"x"
    assert names(tmp_path / "a/b") == ["c.md"]


def test_the_mode_of_a_file_is_kept_and_a_new_one_follows_the_umask(tmp_path: Path) -> None:
    file = tmp_path / "a"
    write_atomic(file, b"1")
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(file.stat().st_mode) == 0o666 & ~umask
    file.chmod(0o640)
    write_atomic(file, b"2")
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_a_link_is_replaced_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("keep")
    (tmp_path / "link").symlink_to("target")
    write_atomic(tmp_path / "link", b"new")
    assert (tmp_path / "target").read_text() == "keep"
    assert not (tmp_path / "link").is_symlink()


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_content_and_no_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    file = tmp_path / "a.md"
    file.write_bytes(b"old")

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(*((os, "fsync") if step == "fsync" else (Path, "replace")), full)
    with pytest.raises(StorageError, match=r"cannot write .*a\.md: No space left on device; the former content is unt"):
        write_atomic(file, b"new")
    assert file.read_bytes() == b"old"
    assert names(tmp_path) == ["a.md"]


def test_a_folder_in_the_way_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.md").mkdir()
    with pytest.raises(StorageError, match=r"a\.md"):
        write_atomic(tmp_path / "a.md", b"x")
    assert names(tmp_path) == ["a.md"]


def test_a_name_as_long_as_the_disk_allows_can_be_written(tmp_path: Path) -> None:
    name = "長" * 84 + ".md"
    write_atomic(tmp_path / name, b"x")
    assert names(tmp_path) == [name]


def test_equal_bytes_are_not_written_again(tmp_path: Path) -> None:
    file = tmp_path / "a"
    assert write_if_changed(file, b"x")
    before = file.stat()
    assert not write_if_changed(file, b"x")
    assert file.stat() == before
    assert write_if_changed(file, b"y")


def test_removing_says_whether_there_was_something(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    assert remove_file(tmp_path / "a")
    assert not remove_file(tmp_path / "a")
    with pytest.raises(StorageError, match="cannot remove"):
        remove_file(tmp_path)


def test_empty_folders_go_up_to_the_root_and_no_further(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "a/b/c").mkdir(parents=True)
    (root / "a/keep.md").write_text("x")
    remove_empty_parents(root / "a/b/c/gone.md", root)
    assert names(root / "a") == ["keep.md"]
    remove_empty_parents(root / "x/gone.md", root)
    (root / "a/keep.md").unlink()
    remove_empty_parents(root / "a/keep.md", root)
    assert names(root) == []
    assert root.is_dir()


def test_what_a_killed_process_left_is_cleared_once_it_is_old(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "sub"):
        folder.mkdir(exist_ok=True)
        (folder / f"{TEMPORARY_PREFIX}1").write_text("half")
        (folder / "page.md").write_text("x")
    now = time.time()
    assert remove_temporaries(tmp_path, older_than=now - 3600) == 0
    assert remove_temporaries(tmp_path, older_than=now + 3600) == 2
    assert names(tmp_path / "sub") == ["page.md"]


def test_a_reader_never_sees_a_half(tmp_path: Path) -> None:
    """Another process writes two long contents in turn while this one reads, and is killed in the middle."""
    file = tmp_path / "a"
    writer = (
        "import sys; from pathlib import Path; from kb_pipeline.storage.files import write_atomic\n"
        "n = 0\n"
        "while True: n += 1; write_atomic(Path(sys.argv[1]), (b'a', b'b')[n % 2] * 300_000)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", writer, str(file)])
    try:
        deadline = time.monotonic() + 20
        while not file.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        for _ in range(100):
            content = file.read_bytes()
            assert len(content) == 300_000
            assert len(set(content)) == 1
    finally:
        process.kill()
        process.wait()
    assert len(file.read_bytes()) == 300_000
