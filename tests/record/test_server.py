"""Addresses of servers, and what a server may do to whoever stores something: be away, restart, lose an answer."""

from __future__ import annotations

import asyncio
import multiprocessing
import threading
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.errors import UserError
from teamworld.memory.contract import MemoryDelta
from teamworld.memory.server_store import ServerStore
from teamworld.record import server as servers
from teamworld.record.server import REVISIONS, Login, is_address, login, strip_password
from tests.memory.samples import delta, instance
from tests.record.postgres_server import PostgresServer

# ---- addresses


@pytest.mark.parametrize(
    ("text", "address", "password"),
    [
        ("postgresql://ada@host/db", "postgresql://ada@host/db", None),
        ("postgres://ada:p%40ss@host:5432/db", "postgresql://ada@host:5432/db", "p@ss"),
        ("postgresql:///db?host=/run/pg&user=ada", "postgresql:///db?host=/run/pg&user=ada", None),
        ("postgresql://ada@a:1,[::1]:2/db?password=p%20s", "postgresql://ada@a:1,[::1]:2/db", "p s"),
        ("postgresql://ada:x@[::1]/db?sslmode=require", "postgresql://ada@[::1]/db?sslmode=require", "x"),
    ],
)
def test_an_address_and_its_password_part(
    text: str, address: str, password: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers, "_passwords", {})
    assert is_address(text)
    assert strip_password(text) == address
    assert login(address) == Login(address, password)
    assert password is None or password not in repr(login(address))


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://ada:se/cret@host/db",
        "postgresql://ada:se#cret@host/db",
        "postgresql://ada@host:secret/db",
        "postgresql://ada@host",
        "postgresql://ada@host/db?secret",
        "postgresql://[ada:secret@host/db",
        "postgresql:/ada:secret@host/db",
    ],
)
def test_what_is_no_address_is_told_without_its_password(text: str) -> None:
    with pytest.raises(UserError, match="expected postgresql://") as caught:
        strip_password(text)
    assert "cret" not in str(caught.value)


@given(password=st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_no_password_stays_in_an_address(password: str) -> None:
    from urllib.parse import quote

    text = f"postgresql://ada:{quote(password, safe='')}@host/db"
    assert login(text) == ("postgresql://ada@host/db", password)


@pytest.mark.parametrize("text", ["runs/first", "s3://bucket/run", "/postgresql://x", None])
def test_what_is_not_meant_as_an_address(text: object) -> None:
    assert not is_address(text)


# ---- servers that cannot be used


def test_no_server_at_all() -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(UserError, match="cannot be reached .*: start the server"):
        ServerStore(login("postgresql://ada:secret@127.0.0.1:1/db"))


def test_a_wrong_password_role_or_database(postgres: PostgresServer) -> None:
    postgres.run("CREATE ROLE guarded LOGIN PASSWORD 'right' CREATEDB")
    place = postgres.address.partition("@")[2]
    for who, password in (("guarded", "wrong"), ("guarded", None), ("nobody", None)):
        with pytest.raises(UserError, match="does not let in") as caught:
            ServerStore(Login(f"postgresql://{who}@{place}", password))
        assert "wrong" not in str(caught.value).replace("wrong password", "")
    with pytest.raises(UserError, match='database "none" does not exist'):
        ServerStore(login(postgres.address.replace("/postgres?", "/none?")))
    with pytest.raises(UserError, match="permission denied"):  # it may look, and make nothing
        ServerStore(Login(f"postgresql://guarded@{place}", "right"))


def test_a_schema_of_others_or_of_a_newer_version_stays_as_it_is(postgres: PostgresServer) -> None:
    address = postgres.database()
    postgres.run("CREATE SCHEMA teamworld; CREATE TABLE teamworld.mine (x int)", address)
    with pytest.raises(UserError, match="has a schema teamworld that is not of this program"):
        ServerStore(login(address))
    assert postgres.run("SELECT count(*) FROM pg_tables WHERE schemaname = 'teamworld'", address) == [(1,)]
    postgres.run("DROP SCHEMA teamworld CASCADE", address)
    ServerStore(login(address)).close()
    postgres.run("UPDATE teamworld.alembic_version SET version_num = '9999'", address)
    with pytest.raises(UserError, match="brought up to date by a newer teamworld .*: upgrade"):
        ServerStore(login(address))


def test_tables_that_were_changed_by_hand(postgres: PostgresServer) -> None:
    address = postgres.database()
    with ServerStore(login(address)) as store:
        postgres.run("ALTER TABLE teamworld.deltas RENAME delta TO other", address)
        with pytest.raises(UserError, match="cannot be used for the world model"):
            store.commit("run", delta(1))


# ---- versions


def test_the_versions_are_those_of_the_steps() -> None:
    pytest.importorskip("alembic")
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", "teamworld.record:migrations")
    steps = ScriptDirectory.from_config(config).walk_revisions()
    assert tuple(step.revision for step in steps)[::-1] == REVISIONS


def test_processes_that_make_the_tables_at_once(postgres: PostgresServer) -> None:
    address = postgres.database()
    context = multiprocessing.get_context("spawn")
    children = [context.Process(target=_write, args=(address, number)) for number in range(3)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    assert [child.exitcode for child in children] == [0, 0, 0]
    with ServerStore(login(address)) as store:
        assert store.runs() == ("run 0", "run 1", "run 2", "shared")
        assert store.episodes("shared") == (0, 1, 2, 3, 4)


def _write(address: str, number: int) -> None:
    with ServerStore(login(address)) as store:
        for episode in range(5):
            store.commit(f"run {number}", delta(episode, instance(episode=episode)))
            store.commit("shared", delta(episode, instance(episode=episode)))


# ---- faults


@pytest.mark.heavy
def test_restarts_lose_nothing_and_store_nothing_twice(postgres: PostgresServer) -> None:
    lines: list[str] = []
    wanted: list[MemoryDelta] = []
    with ServerStore(login(postgres.database()), notice=lines.append) as store:
        done = threading.Event()

        def restart() -> None:
            for how in ("immediate", "fast") * 10:
                postgres.restart(how)
            done.set()

        restarting = threading.Thread(target=restart)
        restarting.start()
        while not done.is_set():
            wanted.append(delta(len(wanted), instance(episode=len(wanted))))
            store.commit("run", wanted[-1])
            time.sleep(0.002)
        restarting.join()
        assert store.deltas("run") == tuple(wanted)
    assert lines
    assert all("does not answer; waiting" in line for line in lines)


def test_an_answer_that_is_lost_after_the_commit(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    import psycopg

    with ServerStore(login(postgres.database())) as store:
        sent, lost = store.server._try, 0

        def losing(statement: str, values: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401
            nonlocal lost
            rows = sent(statement, values)
            if lost < 2:
                lost += 1
                store.server._connection.close()  # type: ignore[union-attr]
                store.server._connection = None
                raise psycopg.OperationalError("server closed the connection unexpectedly")
            return rows

        monkeypatch.setattr(store.server, "_try", losing)
        store.commit("run", delta(1, instance()))
        assert lost == 2
        assert store.deltas("run") == (delta(1, instance()),)


def test_a_server_that_stays_away(postgres: PostgresServer) -> None:
    with ServerStore(login(postgres.database()), patience=0.3) as store:
        postgres.stop()
        try:
            with pytest.raises(UserError, match="did not answer for 0 s .*give the same command again"):
                store.commit("run", delta(1))
        finally:
            postgres.start()
        store.commit("run", delta(1))
        assert store.episodes("run") == (1,)


def test_who_closes_a_store_need_not_wait_for_the_server(postgres: PostgresServer) -> None:
    store = ServerStore(login(postgres.database()))
    postgres.stop()
    try:

        async def give_up() -> None:
            committing = asyncio.ensure_future(store.server.aside(store.commit, "run", delta(1)))
            await asyncio.sleep(0.1)
            begun = time.monotonic()
            store.close()
            with pytest.raises(UserError, match="did not answer"):
                await committing
            assert time.monotonic() - begun < 60  # and not the five minutes of its patience

        asyncio.run(give_up())
    finally:
        postgres.start()
