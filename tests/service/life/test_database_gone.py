"""The file of the database is removed, moved or replaced under a running service: it says so, and stores nothing."""

import logging
import os
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Connection

from callwright.contract.deployments.dialling import RetryPolicy
from callwright.service.platform.database.database import Database
from callwright.service.platform.database.sqlite.file_guard import DatabaseGone, FileGuard
from callwright.service.platform.database.sqlite.log_files import log_files, replaced_mark
from callwright.service.platform.database.unavailable import DatabaseUnusable
from callwright.service.platform.database.units import brief
from callwright.service.tables.database_file import check_database
from callwright.service.tables.migrations.upgrade import upgrade
from tests.service.life.mid_campaign import health, in_mid_campaign, until
from tests.support.campaign_invariants import campaign_records, check_everything
from tests.support.campaigns import progressed
from tests.support.http.raw_requests import raw_client, refused
from tests.support.service import open_service


def removed(data: Path, aside: Path) -> Callable[[], None]:
    """Moves the database away; gives what puts it back."""
    aside.mkdir()
    for file in data.glob("callwright.db*"):
        file.rename(aside / file.name)

    def back() -> None:
        for file in aside.glob("callwright.db*"):
            file.rename(data / file.name)

    return back


def replaced(data: Path, aside: Path) -> Callable[[], None]:
    back = removed(data, aside)
    upgrade(f"sqlite:///{data / 'callwright.db'}")
    return back


def moved(data: Path, aside: Path) -> Callable[[], None]:
    data.rename(aside)

    def back() -> None:
        aside.rename(data)

    return back


@pytest.mark.parametrize("loses", [removed, replaced, moved])
async def test_a_database_that_is_gone_is_said_takes_no_write_and_dials_nobody_until_it_is_back(
    loses: Callable[[Path, Path], Callable[[], None]], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    file = data / "callwright.db"
    async with in_mid_campaign(f"sqlite:///{file}", data) as (tenant, deployment_id), raw_client(tenant) as http:
        back = loses(data, tmp_path / "aside")
        refused(await http.get("/v1/agents"), 503, "service_unavailable")
        there = file.read_bytes() if file.exists() else None
        for _ in range(2):
            answer = await http.post("/v1/audiences", json={"name": "Lost"})
            assert "database file" in refused(answer, 503, "service_unavailable")["message"]
        code, said = await health(tenant)
        assert (code, "removed, moved or replaced" in str(said)) == (503, True)
        caplog.clear()
        file_guard = tenant.database.file_guard
        await until(lambda: file_guard.is_gone)
        assert (file.read_bytes() if file.exists() else None) == there
        back()
        await until(file_guard.look)
        assert await health(tenant) == (200, {"status": "ok"})
        assert "Lost" not in {made["name"] for made in (await http.get("/v1/audiences")).json()["data"]}
        ended = await tenant.ended(deployment_id)
        assert (ended.status, ended.stats.completed) == ("completed", 30)
        found = await campaign_records(tenant.database, deployment_id)
        assert {dial.times for dial in found.dials} == {1}
        check_everything(found, RetryPolicy(), lines=3)
    assert [record.levelname for record in caplog.records if record.levelno >= logging.ERROR] == []


def put_over(copy: Path, file: Path) -> None:
    """Writes a copy over a file, which stays the same file. In a process of its own: closing it drops locks here."""
    subprocess.run(["cp", copy, file], check=True)


def put_instead(copy: Path, file: Path) -> None:
    """Puts a copy in the place of a file, as rsync does."""
    new = file.with_name("new")
    subprocess.run(["cp", copy, new], check=True)
    new.rename(file)


@pytest.mark.parametrize("puts", [put_over, put_instead])
async def test_another_database_in_the_place_of_the_open_one_stays_as_it_was_put_there(
    puts: Callable[[Path, Path], None], tmp_path: Path
) -> None:
    data, copy = tmp_path / "data", tmp_path / "copy.db"
    data.mkdir()
    file = data / "callwright.db"
    async with in_mid_campaign(f"sqlite:///{file}", data) as (tenant, deployment_id), raw_client(tenant) as http:
        with closing(sqlite3.connect(file)) as reader, closing(sqlite3.connect(copy)) as into:
            reader.backup(into)
        await progressed(tenant, deployment_id, attempts=8)
        puts(copy, file)
        for _ in range(2):
            answer = refused(await http.post("/v1/audiences", json={"name": "Lost"}), 503, "service_unavailable")
            assert "the database file" in answer["message"].lower()
        code, said = await health(tenant)
        assert (code, "the database file" in str(said)) == (503, True)
    assert file.read_bytes() == copy.read_bytes()
    with pytest.raises(DatabaseUnusable, match=r"belongs to what it held before\. Remove callwright\.db-wal"):
        check_database(data, file)
    for path in log_files(file):
        path.unlink()
    check_database(data, file)


async def test_a_start_forgets_that_a_file_was_written_over(tmp_path: Path) -> None:
    file = tmp_path / "callwright.db"
    mark = replaced_mark(file)
    mark.touch()
    async with open_service(f"sqlite:///{file}", tmp_path) as tenant, raw_client(tenant) as http:
        assert (await http.post("/v1/audiences", json={"name": "Kept"})).status_code == 201
        assert not mark.exists()


def cut(log_file: Path) -> None:
    os.truncate(log_file, 0)


def cut_under_a_write(log_file: Path) -> None:
    """Cuts a log while a transaction is being written, which then goes on where it was: the beginning is a hole."""
    size = log_file.stat().st_size
    os.truncate(log_file, 0)
    os.truncate(log_file, size + 4096)


@pytest.mark.parametrize("cuts", [cut, cut_under_a_write])
async def test_a_log_that_is_cut_is_noticed_and_not_moved_into_the_file(
    cuts: Callable[[Path], None], tmp_path: Path
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    file = data / "callwright.db"
    async with in_mid_campaign(f"sqlite:///{file}", data) as (tenant, _), raw_client(tenant) as http:
        file_guard = tenant.database.file_guard
        assert file_guard.look()
        cuts(Path(f"{file}-wal"))
        before = file.read_bytes()
        answer = refused(await http.post("/v1/audiences", json={"name": "Lost"}), 503, "service_unavailable")
        assert "or its log" in answer["message"]
    assert file.read_bytes() == before


@pytest.mark.parametrize("suffix", ["-wal", "-shm"])
async def test_what_was_acknowledged_is_in_the_file_when_its_log_is_removed(suffix: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    file = data / "callwright.db"
    async with in_mid_campaign(f"sqlite:///{file}", data) as (tenant, _), raw_client(tenant) as http:
        assert (await http.post("/v1/audiences", json={"name": "Acknowledged"})).status_code == 201
        remove(Path(f"{file}{suffix}"))
        answer = refused(await http.post("/v1/audiences", json={"name": "Unsure"}), 503, "service_unavailable")
        assert "-wal or -shm" in answer["message"]
        assert (await health(tenant))[0] == 503

        def is_in_the_file() -> bool:  # as it is found after a crash, without what the log held
            subprocess.run(["cp", file, tmp_path / "found.db"], check=True)
            with closing(sqlite3.connect(tmp_path / "found.db")) as found:
                return bool(found.execute("SELECT 1 FROM audiences WHERE name = 'Acknowledged'").fetchall())

        await until(is_in_the_file)


def remove(file: Path) -> None:
    file.unlink()


@pytest.mark.parametrize("is_brief", [True, False])
async def test_no_connection_is_made_to_another_file_in_its_place(
    is_brief: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A read that was let in before the file was replaced would read the other one, and keep its connection."""
    file = tmp_path / "callwright.db"
    upgrade(f"sqlite:///{file}")

    def count(connection: Connection) -> int:
        return connection.exec_driver_sql("SELECT count(*) FROM organizations").scalar_one()

    unit = brief(count) if is_brief else count
    async with Database.opened(f"sqlite:///{file}", checkpoints=True) as database:
        back = replaced(tmp_path, tmp_path / "aside")
        with monkeypatch.context() as let_in:
            let_in.setattr(database.file_guard, "check", lambda: None)
            for _ in range(3):
                with pytest.raises(DatabaseGone, match="removed, moved or replaced"):
                    await database.read(unit)
                assert database.generation() is None
        back()
        assert await database.read(unit) == 0
        assert database.generation() is not None


@pytest.mark.parametrize("is_brief", [True, False])
async def test_a_write_during_which_the_file_is_moved_is_not_acknowledged(is_brief: bool, tmp_path: Path) -> None:
    file = tmp_path / "callwright.db"
    url = f"sqlite:///{file}"
    upgrade(url)
    async with Database.opened(url, checkpoints=True) as database:
        await database.write(lambda _: None)

        def move(_: Connection) -> None:
            file.rename(tmp_path / "aside.db")

        with pytest.raises(DatabaseGone, match="removed, moved or replaced"):
            await database.write(brief(move) if is_brief else move)
        assert database.file_guard.is_gone


def test_the_log_says_once_that_the_file_is_gone_and_once_that_it_is_back(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "callwright.db"
    file.touch()
    file_guard = FileGuard(file)
    assert file_guard.look()
    file.rename(tmp_path / "aside")
    assert [file_guard.look() for _ in range(3)] == [False] * 3
    (tmp_path / "aside").rename(file)
    assert [file_guard.look() for _ in range(3)] == [True] * 3
    assert [record.levelname for record in caplog.records] == ["ERROR", "WARNING"]
