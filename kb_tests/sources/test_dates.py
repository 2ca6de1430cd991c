"""When a document was written, as far as git and the disk tell."""

from __future__ import annotations

import os
import shutil
import subprocess
import unicodedata
from datetime import date, datetime
from pathlib import Path

import pytest

from kb_pipeline.sources.dates import document_dates, git_dates

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    (tmp_path / "raw").mkdir()
    git(tmp_path, "init", "-q")
    return tmp_path / "raw"


def git(root: Path, *arguments: str, day: str = "2026-01-01") -> None:
    stamp = f"{day}T12:00:00+08:00"
    identity = {
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@b",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@b",
    }
    environment = {**os.environ, **identity, "GIT_AUTHOR_DATE": stamp, "GIT_COMMITTER_DATE": "2026-08-08T00:00:00Z"}
    subprocess.run(["git", "-C", str(root), *arguments], check=True, env=environment, capture_output=True)


def write(raw: Path, path: str, text: str, day: str = "2026-07-07") -> None:
    file = raw / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    moment = datetime.fromisoformat(f"{day}T12:00:00").timestamp()
    os.utime(file, (moment, moment))


def commit(raw: Path, day: str) -> None:
    git(raw.parent, "add", "-A")
    git(raw.parent, "commit", "-q", "-m", day, day=day)


def test_a_committed_document_has_the_author_date_of_its_last_change(raw: Path) -> None:
    write(raw, "a.md", "one\n")
    write(raw, "筆記/b, c.md", "one\n")
    commit(raw, "2026-02-02")
    write(raw, "a.md", "two, longer\n")
    commit(raw, "2026-03-03")
    found = git_dates(raw, ["a.md", "筆記/b, c.md", "none.md"])
    assert found == {"a.md": date(2026, 3, 3), "筆記/b, c.md": date(2026, 2, 2)}


def test_an_uncommitted_change_counts_from_the_disk(raw: Path) -> None:
    write(raw, "a.md", "one\n")
    write(raw, "b.md", "one\n")
    commit(raw, "2026-02-02")
    write(raw, "a.md", "two, longer\n", day="2026-06-06")
    write(raw, "new.md", "new\n", day="2026-05-05")
    assert document_dates(raw, ["a.md", "b.md", "new.md"]) == {
        "a.md": date(2026, 6, 6),
        "b.md": date(2026, 2, 2),
        "new.md": date(2026, 5, 5),
    }


def test_the_log_is_not_read_for_what_git_does_not_have(raw: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(raw, "a.md", "one\n")
    commit(raw, "2026-02-02")
    write(raw, "new.md", "new\n", day="2026-05-05")
    asked: list[list[str]] = []
    popen = subprocess.Popen

    def recording(command: list[str], **options: object) -> subprocess.Popen[bytes]:
        asked.append(command)
        return popen(command, **options)  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr(subprocess, "Popen", recording)
    assert document_dates(raw, ["new.md"]) == {"new.md": date(2026, 5, 5)}
    assert not [command for command in asked if "log" in command]


def test_outside_git_the_disk_tells(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "x", day="2026-05-05")
    assert document_dates(tmp_path, ["a.md", "missing.md"]) == {"a.md": date(2026, 5, 5)}


def test_without_git_the_disk_tells(raw: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(raw, "a.md", "x", day="2026-05-05")
    commit(raw, "2026-02-02")
    monkeypatch.setenv("PATH", "/nonexistent")
    assert document_dates(raw, ["a.md"]) == {"a.md": date(2026, 5, 5)}


def test_an_empty_repository_is_no_trouble(raw: Path) -> None:
    write(raw, "a.md", "x", day="2026-05-05")
    assert document_dates(raw, ["a.md"]) == {"a.md": date(2026, 5, 5)}


def test_a_decomposed_name_is_found(raw: Path) -> None:
    name = unicodedata.normalize("NFD", "Café.md")
    write(raw, name, "x")
    commit(raw, "2026-02-02")
    assert git_dates(raw, [name]) == {name: date(2026, 2, 2)}


def test_a_name_with_the_marks_of_a_pattern_is_one_name(raw: Path) -> None:
    write(raw, "[k].md", "x")
    write(raw, "k.md", "x")
    commit(raw, "2026-02-02")
    assert git_dates(raw, ["[k].md"]) == {"[k].md": date(2026, 2, 2)}


def test_many_documents_cost_three_processes(raw: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"d/{number}.md" for number in range(300)]
    for name in names:
        write(raw, name, name)
    commit(raw, "2026-02-02")
    started: list[str] = []
    popen = subprocess.Popen

    def counting(command: list[str], **options: object) -> subprocess.Popen[bytes]:
        started.append(command[0])
        return popen(command, **options)  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr(subprocess, "Popen", counting)
    assert set(document_dates(raw, names).values()) == {date(2026, 2, 2)}
    assert len(started) <= 3


def test_no_document_costs_no_process(raw: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "Popen", None)
    assert document_dates(raw, []) == {}
