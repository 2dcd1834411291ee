"""`callwright serve` as an operator runs it: what it says, what it answers, and how it ends."""

import contextlib
import shlex
import signal
import socket
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Literal

import anyio
import httpx2 as httpx
import pytest
from anyio import to_thread
from mcp import Client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult

from callwright.service.platform.data_folder import DataFolder
from tests.support.database.databases import Engine
from tests.support.deployments.over_rest import start_campaign
from tests.support.processes.programs import ERAS, START_S, Serving, run, serving, until

QUICK_S = 8.0
"""Limit for ending with clients connected, on a machine that does much else. Alone it takes a second."""


def with_key(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def new_key(home: Path, data: Path, *flags: str) -> str:
    return run(home, "keys", "create", "--data", data, "--quiet", *flags).stdout.strip()


@asynccontextmanager
async def connected(url: str, key: str, era: Literal["auto", "legacy"] = "auto") -> AsyncGenerator[Client]:
    with anyio.fail_after(START_S):
        async with httpx.AsyncClient(headers=with_key(key), timeout=START_S) as http:
            if url.endswith("/sse"):
                transport = sse_client(url, headers=with_key(key))
            else:
                transport = streamable_http_client(url, http_client=http)
            async with Client(transport, mode=era) as client:
                yield client


def asked(service: Serving, path: str, key: str = "") -> httpx.Response:
    return httpx.get(f"{service.root}{path}", headers=with_key(key) if key else {}, timeout=START_S)


def test_rest_its_description_and_the_health_check_are_served(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(tmp_path, data) as service:
        assert asked(service, "/healthz").json() == {"status": "ok"}
        document = asked(service, "/openapi.json").json()
        assert document["openapi"].startswith("3.1")
        assert "/v1/agents" in document["paths"] or "/agents" in document["paths"]
        assert asked(service, "/v1/wallet").status_code == 401
        key = new_key(tmp_path, data)
        for prefix in ("/v1", "/api/v1"):
            assert asked(service, f"{prefix}/wallet", key).json()["data"]["play_money"] is True
        said = service.log.read_text(encoding="utf-8")
        assert service.base_url in said
        assert key not in said


@pytest.mark.requirement("DASH-28")
def test_the_link_for_a_forgotten_password_is_printed_on_the_terminal(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(tmp_path, data) as service:
        new_key(tmp_path, data)
        for email in ("nobody@example.com", "operator@localhost"):
            assert httpx.post(f"{service.root}/forgot", data={"email": email}, timeout=START_S).status_code == 200
        until(lambda: f"{service.root}/reset#" in service.log.read_text(encoding="utf-8"), "the link is printed")
        said = service.log.read_text(encoding="utf-8")
        assert said.count("/reset#") == 1
        assert "nobody@example.com" not in said


def test_a_key_that_was_revoked_works_no_more(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(tmp_path, data) as service:
        key = new_key(tmp_path, data)
        assert asked(service, "/v1/wallet", key).status_code == 200
        assert run(tmp_path, "keys", "revoke", key[:16], "--data", data).returncode == 0
        assert asked(service, "/v1/wallet", key).status_code == 401


@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "Ctrl-C"])
def test_it_ends_when_told_to_and_leaves_the_folder(told: signal.Signals, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(tmp_path, data) as service:
        before = service.log.read_text(encoding="utf-8")
        with httpx.Client(timeout=START_S) as waiting:  # a connection that is kept open does not hold it back
            assert waiting.get(f"{service.root}/healthz").status_code == 200
            assert (data / "service.json").exists()
            assert service.told(told) == 0
        assert service.log.read_text(encoding="utf-8") == before
        assert not (data / "service.json").exists()
    with serving(tmp_path, data) as again:
        assert asked(again, "/healthz").status_code == 200


async def test_an_assistant_works_with_it_over_every_transport(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(tmp_path, data) as service:
        key = new_key(tmp_path, data)
        said = service.log.read_text(encoding="utf-8")
        assert f"{service.root}/mcp" in said
        assert f"{service.root}/sse" in said
        for over in ("mcp", "sse"):
            async with connected(f"{service.root}/{over}", key) as client:
                result = await client.call_tool("get_overview", {})
                assert result.structured_content is not None
                assert result.structured_content["wallet"]["play_money"] is True
        assert service.log.read_text(encoding="utf-8") == said


async def test_a_personal_key_is_offered_the_tools_of_its_profile(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(tmp_path, data) as service:
        key = new_key(tmp_path, data, "--personal", "--profile=analyst")
        assert asked(service, "/v1/wallet", key).status_code == 401
        async with connected(f"{service.root}/mcp", key) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert "get_overview" in names
            assert "start_deployment" not in names
            assert (await client.call_tool("start_deployment", {"deployment_id": "dep_x"})).is_error


async def test_it_ends_quickly_while_assistants_are_connected(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(tmp_path, data) as service:
        key = new_key(tmp_path, data)
        before = service.log.read_text(encoding="utf-8")
        with contextlib.suppress(Exception):  # what the client says when the server goes is its own affair
            async with AsyncExitStack() as assistants:
                for over in ("mcp", "sse"):
                    for era in ERAS:
                        client = await assistants.enter_async_context(connected(f"{service.root}/{over}", key, era))
                        await client.call_tool("get_overview", {})
                service.process.send_signal(signal.SIGTERM)
                await to_thread.run_sync(service.process.wait, QUICK_S)
        assert service.process.returncode == 0
        assert service.log.read_text(encoding="utf-8") == before
        assert not (data / "service.json").exists()


def test_on_every_address_mcp_is_served_only_under_a_given_name(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(tmp_path, data, "--host=0.0.0.0") as service:
        root = service.root.replace("0.0.0.0", "127.0.0.1")
        assert "--allowed-host NAME" in service.log.read_text(encoding="utf-8")
        refused = httpx.post(f"{root}/mcp", timeout=START_S)
        assert (refused.status_code, "--allowed-host NAME" in refused.text) == (421, True)
        assert httpx.get(f"{root}/healthz", timeout=START_S).status_code == 200
    with serving(tmp_path, data, "--host=0.0.0.0", "--allowed-host=mcp.example.com") as service:
        root = service.root.replace("0.0.0.0", "127.0.0.1")
        for host, status in (("mcp.example.com", 401), ("evil.example", 421)):
            assert httpx.post(f"{root}/mcp", headers={"Host": host}, timeout=START_S).status_code == status


def test_a_name_that_is_none_is_said_so(tmp_path: Path) -> None:
    done = run(tmp_path, "serve", "--port=0", "--data", tmp_path / "data", "--allowed-host=https://mcp.example.com")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("callwright: --allowed-host 'https://mcp.example.com' is no name")


def test_a_second_one_on_the_same_folder_says_so(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(tmp_path, data) as service:
        second = run(tmp_path, "serve", "--port=0", "--data", data)
        assert (second.returncode, second.stdout) == (2, "")
        assert second.stderr == (
            f"callwright: another process serves the data folder {data}; give another --data, or stop it first "
            "(`callwright doctor` says which)\n"
        )
        assert asked(service, "/healthz").status_code == 200
        assert (data / "service.json").exists()


def test_a_port_that_is_taken_is_said_so(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run(tmp_path, "serve", f"--port={port}", "--data", tmp_path / "data")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"callwright: cannot listen on 127.0.0.1:{port}: Address already in use")
    assert "--port" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("port", ["-1", "65536", "http"])
def test_a_port_that_is_none_is_refused(port: str, tmp_path: Path) -> None:
    done = run(tmp_path, "serve", f"--port={port}", "--data", tmp_path / "data")
    assert done.returncode == 2
    assert "--port" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_address_of_one_process_survives_another(engine: Engine, database_url: str, tmp_path: Path) -> None:
    data, other = tmp_path / "data", tmp_path / "other"
    other.symlink_to(data)  # the same folder, with a log of its own
    flags = ("--database", database_url.replace("+psycopg", ""))

    def said() -> str | None:
        address = DataFolder(data).address()
        return None if address is None else address.base_url

    with serving(tmp_path, data, *flags) as first:
        assert said() == first.base_url
        if engine == "sqlite":
            assert run(tmp_path, "serve", "--port=0", "--data", data, *flags).returncode == 2
            assert said() == first.base_url
            return
        with serving(tmp_path, other, *flags) as second:
            assert asked(second, "/healthz").status_code == 200
            assert said() == first.base_url
            assert second.told(signal.SIGTERM) == 0
        assert said() == first.base_url
        with serving(tmp_path, other, *flags) as second:
            assert first.told(signal.SIGTERM) == 0
            until(lambda: said() == second.base_url, "the one that is left says its address")
            assert second.told(signal.SIGTERM) == 0
        assert said() is None


@pytest.mark.parametrize(("over", "era"), [("mcp", "auto"), ("sse", "legacy")])
async def test_a_tool_call_under_way_is_answered_before_the_end(
    over: str, era: Literal["auto", "legacy"], tmp_path: Path
) -> None:
    data = tmp_path / "data"
    with serving(tmp_path, data, CALLWRIGHT_SIM_TIME_SCALE="1") as service:
        key = new_key(tmp_path, data)
        with httpx.Client(base_url=service.base_url, headers=with_key(key), timeout=START_S) as http:
            deployment_id = start_campaign(http)
        answers: list[CallToolResult] = []
        async with connected(f"{service.root}/{over}", key, era) as client:
            await client.call_tool(
                "get_deployment", {"deployment_id": deployment_id}
            )  # now it knows the shape of the answer
            with contextlib.suppress(Exception):  # what the client says when the server goes is its own affair
                async with anyio.create_task_group() as tasks:

                    async def ask() -> None:
                        waiting = {"id": deployment_id, "wait_seconds": 2}
                        answers.append(await client.call_tool("get_deployment", waiting))

                    tasks.start_soon(ask)
                    await anyio.sleep(0.5)  # the call is under way
                    service.process.send_signal(signal.SIGTERM)
            await to_thread.run_sync(service.process.wait, START_S)
        assert service.process.returncode == 0
        (answer,) = answers
        assert not answer.is_error
        assert answer.structured_content is not None
        assert answer.structured_content["status"] == "active"


def test_what_it_says_about_keys_can_be_pasted_into_a_shell(tmp_path: Path) -> None:
    data = tmp_path / "my data"
    with serving(tmp_path, data) as service:
        said = service.log.read_text(encoding="utf-8")
        (line,) = (line for line in said.splitlines() if "keys create" in line)
        command = shlex.split(line.partition("callwright ")[2])
        assert command == ["keys", "create", "--data", str(data)]
        secret = run(tmp_path, *command, "--quiet").stdout.strip()
        assert asked(service, "/v1/wallet", secret).status_code == 200


@pytest.mark.parametrize("command", ["serve", "listen", "mcp", "doctor", "keys create", "orgs change", "audit"])
def test_no_word_of_the_help_is_cut_on_a_terminal_of_80_columns(command: str, tmp_path: Path) -> None:
    done = run(tmp_path, *command.split(), "--help", COLUMNS="80", TERMINAL_WIDTH="80")
    assert done.returncode == 0
    assert "…" not in done.stdout
    assert max(len(line) for line in done.stdout.splitlines()) <= 80
