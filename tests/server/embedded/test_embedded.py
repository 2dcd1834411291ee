"""The service that a command uses: in this process, in another one, and when that one leaves."""

import json
import os
import socket
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx2 as httpx
import pytest
from filelock import FileLock

from callwright.client import Client
from callwright.client.errors import ServiceFailed, ServiceTimeout
from callwright.server.embedded import embedded as module
from callwright.server.embedded.embedded import embedded, listener_on, listening, remote
from callwright.server.settings import read_settings
from callwright.service.platform.data_folder import ADDRESS, LOCK, DataFolder
from callwright.service.tables.migrations.upgrade import upgrade

LONG_S = 60.0
"""Limit of a wait in which a service starts: it makes a database."""


@dataclass
class Said:
    """The addresses that were said. `again` is set by the second one."""

    addresses: list[str] = field(default_factory=list[str])
    again: anyio.Event = field(default_factory=anyio.Event)

    def __call__(self, base_url: str) -> None:
        self.addresses.append(base_url)
        if len(self.addresses) > 1:
            self.again.set()


@asynccontextmanager
async def client_of(folder: Path, said: Said | None = None) -> AsyncGenerator[Client]:
    with anyio.fail_after(LONG_S):
        async with embedded(read_settings({}, data=folder), said or Said()) as client:
            yield client


@contextmanager
def another_process_at(folder: Path, base_url: str | None) -> Generator[FileLock]:
    """What another process leaves to see: the lock, and the address where it answers."""
    lock = FileLock(folder / LOCK, is_singleton=False)
    with lock:
        if base_url is not None:
            said = {"base_url": base_url, "pid": os.getpid() + 1}
            (folder / ADDRESS).write_text(json.dumps(said), encoding="utf-8")
        yield lock


async def says_no(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 404, "headers": []})
    await send({"type": "http.response.body", "body": b""})


async def test_a_server_that_was_broken_off_leaves_the_next_one_its_connections() -> None:
    numbers = set[int]()
    for is_broken in (True, True, False):
        with anyio.CancelScope() as scope, listener_on() as listener:
            numbers.add(listener.fileno())
            async with listening(says_no, listener) as base_url, httpx.AsyncClient() as http:
                with anyio.fail_after(LONG_S):
                    assert (await http.get(base_url)).status_code == 404
                if is_broken:
                    scope.cancel()
                    await anyio.sleep_forever()
    assert len(numbers) < 3, "no listener had the number of one before"


def test_the_body_of_an_answer_does_not_wait_until_the_client_has_acknowledged_its_head() -> None:
    with listener_on() as listener, socket.create_connection(listener.getsockname()):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0


async def test_the_first_one_serves_the_folder_and_says_where(tmp_path: Path) -> None:
    said = Said()
    async with client_of(tmp_path, said) as client:
        assert (await client.wallet.get()).play_money is True
        address = DataFolder(tmp_path).address()
        assert address is not None
        assert said.addresses == [address.base_url]
        key = DataFolder(tmp_path).key()
        async with Client(address.base_url, str(key)) as beside:
            assert await beside.wallet.get() == await client.wallet.get()
    assert DataFolder(tmp_path).address() is None
    with FileLock(tmp_path / LOCK, is_singleton=False, blocking=False):
        pass


async def test_the_key_stays_the_same_from_run_to_run(tmp_path: Path) -> None:
    keys: list[str | None] = []
    for _ in range(2):
        async with client_of(tmp_path) as client:
            await client.wallet.get()
            keys.append(DataFolder(tmp_path).key())
    assert keys[0] is not None
    assert keys[0] == keys[1]


async def test_a_lost_key_is_replaced_and_the_old_one_revoked(tmp_path: Path) -> None:
    async with client_of(tmp_path):
        old = DataFolder(tmp_path).key()
    DataFolder(tmp_path).keep_key("svc_live_lost")
    async with client_of(tmp_path) as client:
        new = DataFolder(tmp_path).key()
        assert new not in (old, "svc_live_lost")
        assert (await client.wallet.get()).play_money is True


async def test_a_guest_sends_to_the_other_process_and_takes_over_when_it_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOOK_AGAIN_S", 0.01)
    async with client_of(tmp_path / "host") as host:
        await host.agents.create(name="Host", voice_id="en-US-ada", language="en-US", system_prompt="Hello.")
        host_folder, folder = DataFolder(tmp_path / "host"), DataFolder(tmp_path / "guest")
        address = host_folder.address()
        assert address is not None
        folder.keep_key(str(host_folder.key()))
        upgrade(f"sqlite:///{folder.path / 'callwright.db'}")
        said = Said()
        with another_process_at(folder.path, address.base_url) as lock:
            async with client_of(folder.path, said) as guest:
                assert [agent.name for agent in (await guest.agents.list()).data] == ["Host"]
                assert said.addresses == [address.base_url]
                lock.release()
                await said.again.wait()
                assert said.addresses[1] != address.base_url
                async with Client(said.addresses[1], str(folder.key())) as beside:
                    assert (await beside.agents.list()).data == []


async def test_a_request_waits_for_the_next_process_when_the_other_has_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOOK_AGAIN_S", 0.01)
    async with client_of(tmp_path) as first:
        await first.agents.create(name="Ada", voice_id="en-US-ada", language="en-US", system_prompt="Hello.")
    found: list[str] = []
    with another_process_at(tmp_path, "http://127.0.0.1:1/v1") as lock:
        async with client_of(tmp_path) as guest, anyio.create_task_group() as tasks:

            async def ask() -> None:
                found.extend(agent.name for agent in (await guest.agents.list()).data)

            tasks.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            assert found == []
            lock.release()
    assert found == ["Ada"]


async def test_a_folder_that_is_held_and_never_served_is_a_timeout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TAKEOVER_S", 0.05)
    monkeypatch.setattr(module, "LOOK_AGAIN_S", 0.01)
    with another_process_at(tmp_path, None), pytest.raises(ServiceTimeout) as caught:
        async with client_of(tmp_path):
            raise AssertionError("there is nobody to talk to")
    assert caught.value.request_sent is False


async def test_a_request_that_nobody_takes_was_never_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TAKEOVER_S", 0.05)
    monkeypatch.setattr(module, "LOOK_AGAIN_S", 0.01)
    DataFolder(tmp_path).keep_key("svc_live_1")
    with another_process_at(tmp_path, "http://127.0.0.1:1/v1"):
        transport = module.SharedServiceTransport(read_settings({}, data=tmp_path), Said())
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(transport.run)
            with anyio.fail_after(LONG_S), pytest.raises(httpx.ConnectTimeout):
                await transport.handle_async_request(httpx.Request("DELETE", "http://callwright/v1/agents/x"))
            tasks.cancel_scope.cancel()
        await transport.aclose()


@pytest.mark.parametrize(
    ("database_url", "words"),
    [("sqlite:////dev/null/none.db", "/dev/null is not a folder"), ("postgresql://127.0.0.1:1/x", "refused")],
)
async def test_a_database_that_cannot_be_used_is_said_so_and_the_folder_is_left(
    database_url: str, words: str, tmp_path: Path
) -> None:
    settings = read_settings({}, data=tmp_path, database_url=database_url)
    with anyio.fail_after(LONG_S), pytest.raises(ServiceFailed, match=words) as caught:
        async with embedded(settings, Said()):
            raise AssertionError("there is no service")
    assert (caught.value.status, caught.value.code) == (503, "service_unavailable")
    with FileLock(tmp_path / LOCK, is_singleton=False, blocking=False):
        pass


async def test_a_file_in_the_place_of_the_folder_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ServiceFailed, match="file is not a folder: look at --data"):
        async with client_of(tmp_path / "file"):
            raise AssertionError("there is no service")


async def test_errors_of_the_caller_pass_through(tmp_path: Path) -> None:
    with pytest.RaisesGroup(pytest.RaisesExc(ZeroDivisionError), flatten_subgroups=True):
        async with client_of(tmp_path):
            raise ZeroDivisionError


async def test_a_service_elsewhere_is_asked_with_the_given_key(tmp_path: Path) -> None:
    async with client_of(tmp_path) as host:
        address, key = DataFolder(tmp_path).address(), DataFolder(tmp_path).key()
        assert address is not None
        environment = {"CALLWRIGHT_BASE_URL": address.base_url, "CALLWRIGHT_API_KEY": str(key)}
        async with remote(read_settings(environment)) as client:
            assert await client.wallet.get() == await host.wallet.get()
