"""Where the embedded server can live: odd paths, closed folders, moved and copied projects, other binaries."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import psycopg
import pytest

from kb_pipeline.errors import DatabaseUnavailableError
from kb_pipeline.storage import postgres_binaries, postgres_home
from kb_pipeline.storage.postgres import EmbeddedPostgres
from kb_pipeline.storage.postgres_binaries import BINDIR_VARIABLE, Binaries, choose_account, find_bindir
from kb_pipeline.storage.postgres_home import settle_home
from kb_tests.storage.postgres_server import holding_process, open_folder, wait_ready

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root runs postgres under another account")


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The machine's state folder, in a temporary place."""
    folder = open_folder() / "state"
    monkeypatch.setattr(postgres_binaries, "state_folder", lambda _: folder)
    monkeypatch.setattr(postgres_home, "state_folder", lambda _: folder)
    return folder


def answers(server: EmbeddedPostgres) -> bool:
    with psycopg.connect(server.create_database("kb")) as session:
        return session.execute("select 1").fetchone() == (1,)


def test_several_processes_may_start_a_new_database_at_once_under_any_name() -> None:
    root = open_folder() / 'it\'s a "知識庫", $HOME `x` 100%' / ".kb" / "pg"
    with holding_process(root) as first, holding_process(root) as second, holding_process(root) as third:
        urls = {wait_ready(first), wait_ready(second), wait_ready(third)}
        assert len(urls) == 1
        with psycopg.connect(urls.pop()) as session:
            assert session.execute("select 1").fetchone() == (1,)
        assert EmbeddedPostgres(root).status().running
    EmbeddedPostgres(root).stop()


def test_a_path_too_long_for_a_socket_listens_elsewhere_in_a_closed_folder(state: Path) -> None:
    root = open_folder() / "/".join(["很長的資料夾名稱" * 3] * 3) / "pg"
    with EmbeddedPostgres(root) as server:
        assert answers(server)
        status = server.status()
        assert status.data == root / "data"
        assert not status.socket.is_relative_to(root)
        assert status.socket.parent.stat().st_mode & 0o077 == 0


@as_root
def test_a_project_closed_to_the_account_keeps_its_data_in_the_machines_state_folder(state: Path) -> None:
    home = open_folder() / "home"
    project = home / "project"
    project.mkdir(parents=True)
    home.chmod(0o700)
    with EmbeddedPostgres(project / ".kb" / "pg") as server:
        assert answers(server)
        data = server.status().data
    location = Path((project / ".kb" / "pg" / "LOCATION").read_text().strip())
    assert data == location / "data"
    assert location.parent == state
    assert home.stat().st_mode & 0o777 == 0o700


@as_root
def test_a_moved_project_takes_its_data_along_a_copied_one_gets_its_own_and_a_lost_place_is_made_again(
    state: Path,
) -> None:
    home = open_folder() / "home"
    first = home / "first" / "pg"
    first.mkdir(parents=True)
    home.chmod(0o700)
    data = settle_home(first).data
    moved = home / "moved" / "pg"
    first.parent.rename(moved.parent)
    assert settle_home(moved).data == data

    copied = home / "copied" / "pg"
    shutil.copytree(moved.parent, copied.parent)
    assert settle_home(copied).data != data
    assert settle_home(moved).data == data

    shutil.rmtree(data.parent)
    assert settle_home(moved).folder.is_dir()


@as_root
def test_where_no_folder_is_open_to_the_account_the_error_names_both_and_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    home = open_folder()
    (home / "project").mkdir()
    home.chmod(0o700)
    monkeypatch.setattr(postgres_home, "state_folder", lambda _: home / "state")
    with pytest.raises(DatabaseUnavailableError, match=r"project.*state.*database\.url"):
        EmbeddedPostgres(home / "project" / "pg").start()


@as_root
def test_in_a_persons_project_root_runs_it_as_that_person_and_leaves_nothing_of_its_own() -> None:
    import pwd

    project = open_folder() / "project"
    project.mkdir()
    person = pwd.getpwnam("nobody")
    os.chown(project, person.pw_uid, person.pw_gid)
    with EmbeddedPostgres(project / ".kb" / "pg") as server:
        assert answers(server)
        server.stop()
    assert {path.lstat().st_uid for path in project.rglob("*")} == {person.pw_uid}


@as_root
def test_an_owner_whom_this_machine_does_not_know_cannot_run_it_but_the_usual_account_can(tmp_path: Path) -> None:
    os.chown(tmp_path, 54321, 54321)
    account = choose_account(tmp_path / "pg" / "data", tmp_path / "pg")
    assert account is not None
    assert account.uid not in {0, 54321}


@as_root
def test_binaries_that_the_account_cannot_reach_are_copied_where_it_can(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = open_folder()
    package = find_bindir().parents[1]
    shutil.copytree(package, closed / package.name, symlinks=True)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, closed / libraries.name, symlinks=True)
    closed.chmod(0o700)
    monkeypatch.setenv(BINDIR_VARIABLE, str(closed / package.name / "pginstall" / "bin"))
    root = open_folder() / "pg"
    account = choose_account(root / "data", root)
    binaries = Binaries.locate(account)
    assert binaries.bindir.is_relative_to(state)
    assert Binaries.locate(account) == binaries
    with EmbeddedPostgres(root) as server:
        assert answers(server)


def test_binaries_named_by_the_environment_win_and_must_exist(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    installed = find_bindir({})
    assert find_bindir({BINDIR_VARIABLE: str(installed)}) == installed
    monkeypatch.setenv(BINDIR_VARIABLE, str(tmp_path))
    with pytest.raises(DatabaseUnavailableError, match=BINDIR_VARIABLE):
        EmbeddedPostgres(open_folder() / "pg").start()


def test_an_initialisation_that_was_cut_short_is_begun_anew() -> None:
    root = open_folder() / "pg"
    unfinished = root / "data.new"
    unfinished.mkdir(parents=True)
    (unfinished / "PG_VERSION").write_text("18\n")
    with EmbeddedPostgres(root) as server:
        assert answers(server)
    assert not unfinished.exists()
