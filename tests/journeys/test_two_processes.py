"""Several hosts start the server on one data folder: they share one service, and when it dies another takes over."""

import json
import os
import signal
import sqlite3
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import anyio
import httpx2 as httpx
import pytest
from mcp.types import CallToolResult

from tests.support.processes.programs import START_S, Assistant, assistant, run, serving, text_of, until

AS_IN_LIFE = "600"
"""Ten simulated minutes a second: calls take about as long as their writing down."""
AT_ONCE = {"max_attempts": 2, "interval_minutes": [10], "max_attempts_per_day": 5, "different_time_of_day": False}


def address(data: Path) -> dict[str, Any]:
    return json.loads((data / "service.json").read_text(encoding="utf-8"))


def people(count: int) -> list[dict[str, str]]:
    """Who answers says yes: nobody asks to be called back tomorrow."""
    return [{"phone_number": f"+1415{2_002_100 + index}", "sim.intent": "yes"} for index in range(count)]


@asynccontextmanager
async def two(home: Path, data: Path, *, time_scale: str = "inf") -> AsyncGenerator[tuple[Assistant, Assistant]]:
    """Two assistants: the first one's process serves the folder, the second one's is its guest."""
    settings = {"CALLWRIGHT_SIM_TIME_SCALE": time_scale}
    async with assistant(home, "--data", data, settings=settings) as host:
        await host.use("get_overview")
        async with assistant(home, "--data", data, settings=settings) as guest:
            await guest.use("get_overview")
            yield host, guest


async def agent(hand: Assistant, name: str) -> CallToolResult:
    given = {"name": name, "voice_id": "en-US-ada", "language": "en-US", "system_prompt": "Ask whether they can come."}
    return await hand.result("create_agent", **given)


async def campaign(hand: Assistant, contacts: int) -> str:
    made = await agent(hand, "Ada")
    rows = people(contacts)
    audience = await hand.use("create_audience", name="People", rows=rows[:1_000])
    for begin in range(1_000, contacts, 1_000):
        await hand.use("add_audience_rows", audience_id=audience["id"], rows=rows[begin : begin + 1_000])
    number = await hand.use("rent_phone_number", country="US")
    assert made.structured_content is not None
    deployment = await hand.use(
        "create_deployment",
        name="Campaign",
        agent_id=made.structured_content["id"],
        audience_id=audience["id"],
        phone_number_ids=[number["id"]],
        max_concurrency=100,
        calls_per_second=100,
        retry_policy=AT_ONCE,
    )
    await hand.use("start_deployment", deployment_id=deployment["id"])
    return deployment["id"]


def done(deployment: dict[str, Any]) -> int:
    stats: dict[str, int] = deployment["stats"]
    return stats["contacts"] - stats["pending"] - stats["in_flight"] - stats["retry_waiting"]


async def in_the_middle(hand: Assistant, deployment_id: str, contacts: int) -> None:
    """Waits until some contacts are done and fewer than half."""
    with anyio.fail_after(START_S):
        while not (reached := done(await hand.use("get_deployment", deployment_id=deployment_id))):
            pass
    assert 0 < reached < contacts / 2


async def finished(hand: Assistant, deployment_id: str) -> dict[str, Any]:
    with anyio.fail_after(START_S * 2):
        while (seen := await hand.use("get_deployment", deployment_id=deployment_id, wait_seconds=45))[
            "status"
        ] == "active":
            pass
    return seen


def rows(data: Path, statement: str) -> list[tuple[Any, ...]]:
    """What the database holds, read beside the service."""
    with closing(sqlite3.connect(f"file:{data / 'callwright.db'}?mode=ro", uri=True, timeout=30)) as database:
        return database.execute(statement).fetchall()


def check_the_ledger(data: Path, contacts: int) -> None:
    """Everybody was finished, and nobody dialled twice for one attempt, as the simulated network counted it."""
    states = dict(rows(data, "SELECT status, count(*) FROM deployment_contacts GROUP BY status"))
    assert set(states) <= {"completed", "exhausted"}
    assert sum(states.values()) == contacts
    dialled = rows(data, "SELECT contact_id, attempt, sum(times), count(*) FROM simulated_dials GROUP BY 1, 2")
    assert {(times, entries) for _, _, times, entries in dialled} == {(1, 1)}
    assert Counter(contact for contact, *_ in dialled) == dict(
        rows(data, "SELECT id, attempts FROM deployment_contacts")
    )
    assert rows(data, "SELECT count(*) FROM calls WHERE ended_at IS NULL OR outcome IS NULL") == [(0,)]


async def test_both_create_and_read_what_the_other_has_made(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with two(tmp_path, data) as (host, guest):
        served_by = address(data)
        assert not (await agent(host, "Of the first")).is_error
        assert not (await agent(guest, "Of the second")).is_error
        for hand in (host, guest):
            names = {found["name"] for found in (await hand.use("list_agents"))["data"]}
            assert names == {"Of the first", "Of the second"}
        assert address(data) == served_by
    assert [hand.log.read_text(encoding="utf-8") for hand in (host, guest)] == ["", ""]
    assert not (data / "service.json").exists()


@pytest.mark.parametrize(("contacts", "time_scale"), [(1_500, "inf"), (60, AS_IN_LIFE)])
async def test_the_second_process_finishes_a_campaign_when_the_first_is_killed(
    contacts: int, time_scale: str, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    async with two(tmp_path, data, time_scale=time_scale) as (host, guest):
        deployment_id = await campaign(host, contacts)
        await in_the_middle(guest, deployment_id, contacts)
        first = address(data)["pid"]
        os.kill(first, signal.SIGKILL)
        left = done(await guest.use("get_deployment", deployment_id=deployment_id))
        assert left < contacts, "it was finished before the first process died"
        ended = await finished(guest, deployment_id)
        assert address(data)["pid"] != first
        assert (ended["status"], done(ended)) == ("completed", contacts)
        check_the_ledger(data, contacts)
    assert guest.log.read_text(encoding="utf-8") == ""


async def test_requests_under_way_when_the_first_process_dies_succeed_in_the_second(tmp_path: Path) -> None:
    data = tmp_path / "data"
    names = [f"Agent {number}" for number in range(60)]
    results: dict[str, CallToolResult] = {}
    first_answer = anyio.Event()
    async with two(tmp_path, data) as (_, guest):

        async def make(name: str) -> None:
            results[name] = await agent(guest, name)
            first_answer.set()

        async with anyio.create_task_group() as tasks:
            for name in names:
                tasks.start_soon(make, name)
            with anyio.fail_after(START_S):
                await first_answer.wait()
            assert len(results) < len(names)
            os.kill(address(data)["pid"], signal.SIGKILL)
        assert {name: text_of(result) for name, result in results.items() if result.is_error} == {}
        made = [found["name"] for found in (await guest.use("list_agents", per_page=100))["data"]]
    assert sorted(made) == sorted(names)


async def test_the_second_process_takes_over_when_the_first_leaves_in_peace(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with assistant(tmp_path, "--data", data) as guest:
        async with assistant(tmp_path, "--data", data) as host:
            assert not (await agent(host, "Of the first")).is_error
            await guest.use("get_overview")
        assert [found["name"] for found in (await guest.use("list_agents"))["data"]] == ["Of the first"]
        assert not (await agent(guest, "Of the second")).is_error
    assert [hand.log.read_text(encoding="utf-8") for hand in (host, guest)] == ["", ""]


async def test_a_campaign_goes_on_after_a_restart_before_any_tool_is_called(tmp_path: Path) -> None:
    data, contacts = tmp_path / "data", 3_000
    async with assistant(tmp_path, "--data", data) as first:
        deployment_id = await campaign(first, contacts)
        await in_the_middle(first, deployment_id, contacts)
        os.kill(address(data)["pid"], signal.SIGKILL)
    assert rows(data, "SELECT status FROM deployments") == [("active",)]
    async with assistant(tmp_path, "--data", data) as second:
        with anyio.fail_after(START_S):
            while rows(data, "SELECT status FROM deployments") == [("active",)]:  # noqa: ASYNC110  # another process
                await anyio.sleep(0.1)
        assert second.used == set()
        check_the_ledger(data, contacts)
    assert rows(data, "SELECT status FROM deployments") == [("completed",)]


async def test_a_guest_uses_the_service_that_serves_the_folder(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(tmp_path, data) as service:
        key = run(tmp_path, "keys", "create", "--data", data, "--quiet").stdout.strip()
        async with assistant(tmp_path, "--data", data) as guest:
            assert not (await agent(guest, "Of the guest")).is_error
            found = httpx.get(f"{service.base_url}/agents", headers={"Authorization": f"Bearer {key}"}, timeout=START_S)
            assert [entry["name"] for entry in found.json()["data"]] == ["Of the guest"]
            assert address(data) | {"host": ""} == {
                "base_url": service.base_url,
                "pid": service.process.pid,
                "host": "",
            }
            assert service.told(signal.SIGTERM) == 0
            assert [entry["name"] for entry in (await guest.use("list_agents"))["data"]] == ["Of the guest"]
            until(lambda: address(data)["pid"] != service.process.pid, "the guest serves the folder")
    assert guest.log.read_text(encoding="utf-8") == ""
