"""Sessions, migrations and the classes of errors."""

from __future__ import annotations

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from kb_pipeline.errors import DatabaseError, DatabaseUnavailableError, SchemaVersionError
from kb_pipeline.storage.database import Database, migrations, newest_migration, open_database
from kb_pipeline.storage.postgres import EmbeddedPostgres
from kb_tests.storage.postgres_server import fresh_database, fresh_name, open_folder, shared_server


def test_migrations_are_numbered_without_gaps() -> None:
    assert list(migrations()) == list(range(1, newest_migration() + 1))


def test_a_database_that_does_not_exist_yet_is_made_and_migrated_once() -> None:
    database = fresh_database()
    for _ in range(2):
        database.migrate()
        with database.transaction() as session:
            versions = session.execute("select version, name from wiki.schema_versions order by 1").fetchall()
        assert versions == [(version, name) for version, (name, _) in migrations().items()]


def test_any_number_of_processes_may_migrate_at_once() -> None:
    url = shared_server().create_database(fresh_name())
    # Each Database is a stranger to the others, as in another process.
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda database: database.migrate(), [Database(url) for _ in range(4)]))
    with psycopg.connect(url) as session:
        assert session.execute("select count(*) from wiki.schema_versions").fetchone() == (newest_migration(),)


def test_a_schema_of_a_newer_version_is_refused_and_left_alone() -> None:
    url = shared_server().create_database(fresh_name())
    Database(url).migrate()
    with psycopg.connect(url) as session:
        session.execute("insert into wiki.schema_versions (version, name) values (9999, 'of the future')")
    with pytest.raises(SchemaVersionError, match="9999"), Database(url).transaction():
        pass


def test_an_exception_rolls_back_and_the_session_is_used_again() -> None:
    database = fresh_database()

    def fail() -> None:
        with database.transaction() as session:
            session.execute("create table wiki.gone (n integer)")
            raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        fail()
    with database.transaction() as session:
        assert session.execute("select to_regclass('wiki.gone')").fetchone() == (None,)
    assert len(database._idle) == 1


def test_what_the_server_refuses_is_a_database_error() -> None:
    with pytest.raises(DatabaseError, match="no_such_table") as caught, fresh_database().transaction() as session:
        session.execute("select * from no_such_table")
    assert not isinstance(caught.value, DatabaseUnavailableError)


def test_a_server_that_is_not_there_is_unavailable_and_no_password_is_shown() -> None:
    database = Database("postgresql+psycopg2://me:secret@127.0.0.1:9/wiki")
    with pytest.raises(DatabaseUnavailableError, match=r"'wiki' at 127\.0\.0\.1") as caught, database.transaction():
        pass
    assert "secret" not in str(caught.value)


def test_a_url_that_is_none_is_a_database_error() -> None:
    with pytest.raises(DatabaseError), Database("postgresql://[nonsense").transaction():
        pass


def test_a_user_who_may_not_create_the_extension_is_told_what_to_have_run() -> None:
    name = fresh_name()
    url = shared_server().create_database(name)
    with psycopg.connect(url) as session:
        session.execute("drop role if exists weak")
        session.execute("create role weak login")
    weak = url.replace("//kb@", "//weak@")
    with pytest.raises(DatabaseError, match="CREATE EXTENSION vector"):
        Database(weak).migrate()
    with psycopg.connect(url) as session:
        session.execute("create extension vector")
        session.execute(f'grant create on database "{name}" to weak')
    Database(weak).migrate()


def test_sessions_that_the_server_ended_are_not_handed_out_again() -> None:
    database = fresh_database()
    with database.transaction() as session:
        pid = session.info.backend_pid
    with psycopg.connect(shared_server().dsn("postgres")) as other:
        other.execute("select pg_terminate_backend(%s, 5000)", (pid,))
    with database.transaction() as session:
        assert session.info.backend_pid != pid


def test_more_callers_than_sessions_wait_their_turn() -> None:
    database = Database(shared_server(), name=fresh_name(), pool_size=2)
    most, now, mutex = [0], [0], threading.Lock()

    def work(_: int) -> None:
        with database.transaction() as session:
            with mutex:
                now[0] += 1
                most[0] = max(most[0], now[0])
            session.execute("select pg_sleep(0.01)")
            with mutex:
                now[0] -= 1

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(12)))
    assert most[0] <= 2


def test_an_embedded_server_that_was_killed_is_started_again_by_the_next_transaction() -> None:
    database = open_database("embedded", open_folder() / "pg")
    server = database.embedded
    assert isinstance(server, EmbeddedPostgres)
    with database.transaction() as session:
        session.execute("create table wiki.kept as select 1 as n")
    pid = server.status().pid
    assert pid is not None

    def lose_the_server() -> None:
        with database.transaction() as session:
            os.kill(pid, signal.SIGKILL)
            session.execute("select pg_sleep(5)")

    with pytest.raises(DatabaseUnavailableError):
        lose_the_server()
    with database.transaction() as session:
        assert session.execute("select n from wiki.kept").fetchone() == (1,)
    database.close()
    server.stop()
