"""The embedded server's life: starting, sharing, stopping, and every way in which one of them may be killed."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from kb_pipeline.errors import DatabaseUnavailableError
from kb_pipeline.storage.postgres import EmbeddedPostgres
from kb_tests.storage.postgres_server import holding_process, leave, open_folder, wait_ready


@pytest.fixture(scope="module")
def root() -> Path:
    """The same cluster for all tests here, with a row in it: each leaves it stopped."""
    root = open_folder() / ".kb" / "pg"
    with EmbeddedPostgres(root) as server, psycopg.connect(server.create_database("kb")) as session:
        session.execute("create table kept as select 1 as n")
    server.stop()
    return root


@pytest.fixture
def server(root: Path) -> Iterator[EmbeddedPostgres]:
    server = EmbeddedPostgres(root)
    yield server
    server.stop()


def eventually_stopped(server: EmbeddedPostgres, seconds: float = 20.0) -> bool:
    deadline = time.monotonic() + seconds
    while server.status().running:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def rows(url: str) -> list[int]:
    with psycopg.connect(url) as session:
        return [row[0] for row in session.execute("select n from kept order by n")]


def postmaster(server: EmbeddedPostgres) -> int:
    pid = server.status().pid
    assert pid is not None
    return pid


def test_status_before_the_first_start_makes_nothing(tmp_path: Path) -> None:
    status = EmbeddedPostgres(tmp_path / "pg").status()
    assert (status.running, status.pid, status.version, status.bytes) == (False, None, "", 0)
    assert not (tmp_path / "pg").exists()


def test_the_server_has_pgvector_and_no_open_port(server: EmbeddedPostgres) -> None:
    assert not server.status().running
    server.start()
    status = server.status()
    assert status.running
    assert status.bytes > 1_000_000
    with psycopg.connect(server.create_database("kb")) as session:
        assert session.execute("select 1 from pg_available_extensions where name = 'vector'").fetchone() == (1,)
        assert session.execute("show listen_addresses").fetchone() == ("",)
        assert session.execute("show fsync").fetchone() == ("on",)
        assert session.execute("select '數據' > 'z', length('數據')").fetchone() == (True, 2)
    assert (status.data.stat().st_mode & 0o777) == 0o700


def test_starting_twice_is_the_same_server(root: Path, server: EmbeddedPostgres) -> None:
    first = postmaster(server.start())
    assert postmaster(server.start()) == first
    with EmbeddedPostgres(root) as another:
        assert postmaster(another) == first
    assert server.status().running


def test_database_names_need_no_care_and_dagster_gets_a_url_for_psycopg2(server: EmbeddedPostgres) -> None:
    sqlalchemy = pytest.importorskip("sqlalchemy")
    url = server.psycopg2_url('odd "name" 測試')
    assert url.startswith("postgresql+psycopg2://")
    engine = sqlalchemy.create_engine(url)
    with engine.connect() as session:
        assert session.execute(sqlalchemy.text("select current_database()")).scalar() == 'odd "name" 測試'
    engine.dispose()


def test_the_last_process_to_leave_stops_it(root: Path, server: EmbeddedPostgres) -> None:
    with holding_process(root) as first, holding_process(root) as second:
        url = wait_ready(first)
        assert wait_ready(second) == url
        pid = postmaster(server)
        leave(first)
        assert rows(url) == [1]
        assert postmaster(server) == pid
        leave(second)
        assert eventually_stopped(server)


def test_a_process_that_starts_while_the_server_stops_gets_a_server(server: EmbeddedPostgres) -> None:
    for _ in range(3):
        server.start()
        server.close()
    assert rows(server.start().dsn()) == [1]


def test_a_killed_process_leaves_a_server_that_the_next_one_uses_and_stops(
    root: Path, server: EmbeddedPostgres
) -> None:
    with holding_process(root) as process:
        wait_ready(process)
        pid = postmaster(server)
        process.kill()
        process.wait()
    assert postmaster(server.start()) == pid
    server.close()
    assert eventually_stopped(server)


def test_a_killed_server_is_started_again_with_all_that_was_committed(server: EmbeddedPostgres) -> None:
    pid = postmaster(server.start())
    with psycopg.connect(server.dsn()) as session:
        session.execute("insert into kept values (2)")
    os.kill(pid, signal.SIGKILL)
    assert rows(server.start().dsn()) == [1, 2]
    assert postmaster(server) != pid


@pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="the kernel does not tell where a process works")
def test_a_busy_session_that_outlives_a_killed_server_does_not_block_the_next(server: EmbeddedPostgres) -> None:
    session = psycopg.connect(server.start().dsn(), autocommit=True)
    session.pgconn.send_query(b"select count(*) from generate_series(1, 100000000000)")
    time.sleep(0.2)
    os.kill(postmaster(server), signal.SIGKILL)
    assert rows(server.start().dsn()) == [1, 2]
    session.close()


def test_pid_files_that_name_a_stranger_are_not_believed(server: EmbeddedPostgres) -> None:
    server.start()
    data = server.status().data
    server.stop()
    with subprocess.Popen(["sleep", "20"]) as stranger:
        (data / "postmaster.pid").write_text(f"{stranger.pid}\n{data}\n1\n5432\n{data}\n\n 1 1\nready   \n")
        (data / ".s.PGSQL.5432.lock").write_text(f"{stranger.pid}\n")
        assert rows(server.start().dsn()) == [1, 2]
        server.stop()
        assert stranger.poll() is None
        stranger.kill()


def test_empty_pid_files_are_no_obstacle(server: EmbeddedPostgres) -> None:
    (server.status().data / "postmaster.pid").write_text("")
    assert rows(server.start().dsn()) == [1, 2]


def test_a_server_may_be_left_running_on_request(root: Path, server: EmbeddedPostgres) -> None:
    lingering = EmbeddedPostgres(root, stop_on_exit=False).start()
    lingering.close()
    assert server.status().running


def test_settings_of_ones_own_are_read_after_ours(server: EmbeddedPostgres) -> None:
    local = server.status().data / "local.conf"
    local.write_text("work_mem = '17MB'\n")
    local.chmod(0o644)
    with psycopg.connect(server.start().dsn()) as session:
        assert session.execute("show work_mem").fetchone() == ("17MB",)


def test_a_broken_setting_is_reported_with_the_servers_own_words(server: EmbeddedPostgres) -> None:
    local = server.status().data / "local.conf"
    local.write_text("no_such_setting = 1\n")
    with pytest.raises(DatabaseUnavailableError, match="no_such_setting"):
        server.start()
    local.unlink()


def test_data_of_another_major_version_is_refused_with_what_to_do(server: EmbeddedPostgres) -> None:
    version = server.status().data / "PG_VERSION"
    ours = version.read_text()
    version.write_text("9\n")
    with pytest.raises(DatabaseUnavailableError, match=r"made by PostgreSQL 9.*KB_PG_BINDIR"):
        server.start()
    version.write_text(ours)
    assert rows(server.start().dsn()) == [1, 2]


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DatabaseUnavailableError, match="cannot be made"):
        EmbeddedPostgres(tmp_path / "file" / "pg").start()
