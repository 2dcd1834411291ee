"""Clients that nobody changed for this server: each lists, calls a tool, reads a transcript and a recording.

One campaign is run first; then every client visits the same service: over stdio, over Streamable HTTP, and over the
older transport of server-sent events, in both eras of the protocol where the client speaks both.
"""

import base64
import json
import subprocess
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import anyio
import httpx2
import pytest
from anyio import to_thread
from fastmcp import Client as FastClient
from fastmcp.client.transports import SSETransport, StdioTransport, StreamableHttpTransport
from mcp import Client
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import BlobResourceContents, TextContent, TextResourceContents

from tests.inspector.cli import environment as inspector_environment
from tests.inspector.cli import inspector
from tests.journeys.scenario import build_and_run
from tests.support.processes.npm import installed, node
from tests.support.processes.programs import COMMAND, ERAS, Assistant, environment, run, serving

TRANSPORTS = ("stdio", "http", "sse")
TYPESCRIPT = Path(__file__).parent.parent / "typescript"
ONE_VISIT_S = 60.0
NOBODY = "cal_00000000000000000000000000"


@dataclass(frozen=True)
class Place:
    """A service with a finished campaign, and how to reach it."""

    home: Path
    data: Path
    url: str
    key: str
    call_id: str

    @property
    def headers(self) -> dict[str, str]:
        """What a client over HTTP sends along."""
        return {"Authorization": f"Bearer {self.key}"}

    @property
    def environment(self) -> dict[str, str]:
        """Where the program over stdio runs: beside the service, on the same folder."""
        return environment(self.home)

    @property
    def arguments(self) -> list[str]:
        """The program over stdio."""
        return ["mcp", "--data", str(self.data), "--profile", "all"]

    @property
    def sound(self) -> str:
        """The recording."""
        return f"callwright://calls/{self.call_id}/recording"

    @property
    def words(self) -> str:
        """The transcript."""
        return f"callwright://calls/{self.call_id}/transcript"


@pytest.fixture
async def place(tmp_path: Path) -> AsyncGenerator[Place]:
    """The service, after its campaign."""
    data = tmp_path / "data"
    with serving(tmp_path, data, "--profile", "all") as found:
        key = run(tmp_path, "keys", "create", "--data", data, "--org", "default", "--quiet").stdout.strip()
        with anyio.fail_after(120):
            async with Client(_http(found.root, key)) as client:
                built = await build_and_run(Assistant(client, found.log))
        yield Place(tmp_path, data, found.root, key, built.call_id)


@asynccontextmanager
async def _streams(url: str, key: str) -> AsyncGenerator[Any]:
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=ONE_VISIT_S) as http:
        async with streamable_http_client(f"{url}/mcp", http_client=http) as streams:
            yield streams


def _http(url: str, key: str) -> Any:
    return _streams(url, key)


def python_transport(place: Place, transport: str) -> AbstractAsyncContextManager[Any]:
    """How the official client reaches the server."""
    if transport == "stdio":
        return stdio_client(StdioServerParameters(command=COMMAND, args=place.arguments, env=place.environment))
    if transport == "http":
        return _http(place.url, place.key)
    return sse_client(f"{place.url}/sse", headers=place.headers)


def is_mpeg(sound: bytes) -> bool:
    """Whether bytes begin as an MP3 file does: with a tag, or with the sync word of a frame."""
    return sound.startswith(b"ID3") or (sound[0] == 0xFF and sound[1] & 0xE0 == 0xE0)


def heard(text: str, blob: str, place: Place) -> None:
    """The transcript and the recording are those of the call."""
    assert place.call_id in text
    assert "Bright Dental" in text
    assert "untrusted-" in text
    assert is_mpeg(base64.b64decode(blob))


async def _visit(client: Client, place: Place) -> None:
    tools = (await client.list_tools()).tools
    assert {"get_call", "start_deployment", "delete_agent"} <= {tool.name for tool in tools}
    assert len((await client.list_resource_templates()).resource_templates) >= 7
    assert len((await client.list_prompts()).prompts) >= 4
    call = await client.call_tool("get_call", {"call_id": place.call_id})
    assert cast("Mapping[str, Any]", call.structured_content)["outcome"] == "answered"
    refused = await client.call_tool("get_call", {"call_id": NOBODY})
    assert refused.is_error
    assert "list_calls" in cast("TextContent", refused.content[0]).text
    words = (await client.read_resource(place.words)).contents[0]
    sound = (await client.read_resource(place.sound)).contents[0]
    assert isinstance(words, TextResourceContents)
    assert isinstance(sound, BlobResourceContents)
    heard(words.text, sound.blob, place)


async def test_the_official_python_client_works_over_three_transports_in_both_eras(place: Place) -> None:
    for transport in TRANSPORTS:
        for era in ERAS:
            with anyio.fail_after(ONE_VISIT_S):
                async with Client(python_transport(place, transport), mode=era) as client:
                    modern = client.protocol_version >= "2026-07-28"
                    assert modern is (era == "auto"), (transport, era, client.protocol_version)
                    await _visit(client, place)


async def test_the_fastmcp_client_works_over_three_transports(place: Place) -> None:
    transports = {
        "stdio": StdioTransport(COMMAND, place.arguments, env=place.environment),
        "http": StreamableHttpTransport(f"{place.url}/mcp", headers=place.headers),
        "sse": SSETransport(f"{place.url}/sse", headers=place.headers),
    }
    for transport in transports.values():
        with anyio.fail_after(ONE_VISIT_S):
            async with FastClient(transport) as client:
                assert "get_call" in {tool.name for tool in await client.list_tools()}
                call = await client.call_tool("get_call", {"call_id": place.call_id})
                assert cast("Mapping[str, Any]", call.structured_content)["outcome"] == "answered"
                words = (await client.read_resource(place.words))[0]
                sound = (await client.read_resource(place.sound))[0]
                assert isinstance(words, TextResourceContents)
                assert isinstance(sound, BlobResourceContents)
                heard(words.text, sound.blob, place)


def typescript(place: Place, version: Literal[1, 2], transport: str, era: str) -> dict[str, Any]:
    """What a TypeScript client sees."""
    asked = {
        "home": str(installed(TYPESCRIPT)),
        "version": version,
        "transport": transport,
        "era": era,
        "url": place.url,
        "key": place.key,
        "command": COMMAND,
        "args": place.arguments,
        "env": place.environment,
        "callId": place.call_id,
    }
    ran = subprocess.run(
        [str(node()), str(TYPESCRIPT / "client.cjs"), json.dumps(asked)],
        env=place.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=ONE_VISIT_S,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


Visits = tuple[tuple[Literal[1, 2], str, str], ...]
VISITS: Visits = ((1, "http", "legacy"), (1, "sse", "legacy"), (2, "stdio", "modern"), (2, "http", "modern"))
OTHERS: Visits = ((1, "stdio", "legacy"), *((2, transport, "legacy") for transport in TRANSPORTS))


@pytest.mark.parametrize("visits", [VISITS, pytest.param(OTHERS, marks=pytest.mark.long)], ids=["most", "others"])
async def test_both_typescript_clients_work_over_their_transports(visits: Visits, place: Place) -> None:
    for version, transport, era in visits:
        seen = await to_thread.run_sync(typescript, place, version, transport, era)
        assert {"get_call", "start_deployment"} <= set(seen["tools"]), (version, transport, era)
        assert len(seen["templates"]) >= 7
        assert len(seen["prompts"]) >= 4
        assert seen["call"]["structuredContent"]["outcome"] == "answered"
        assert seen["refused"]["isError"] is True
        heard(seen["transcript"]["text"], seen["recording"]["blob"], place)


@pytest.mark.parametrize("era", [pytest.param("legacy", marks=pytest.mark.long), "modern"])
async def test_the_inspector_works_over_http_in_strict_mode(era: str, place: Place) -> None:
    def inspect(*options: str) -> Any:
        asked = ["--protocol-era", era, "--format", "json", "--header", f"Authorization: Bearer {place.key}", *options]
        ran = subprocess.run(
            [*inspector(), "--cli", f"{place.url}/mcp", *asked],
            env={**inspector_environment(place.home), **place.environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=ONE_VISIT_S,
        )
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)["result"]

    listed = await to_thread.run_sync(lambda: inspect("--method", "tools/list", "--strict"))
    assert "get_call" in {tool["name"] for tool in listed["tools"]}
    call = await to_thread.run_sync(
        lambda: inspect("--method", "tools/call", "--tool-name", "get_call", "--tool-arg", f"call_uuid={place.call_id}")
    )
    assert call["structuredContent"]["outcome"] == "answered"
    words = await to_thread.run_sync(lambda: inspect("--method", "resources/read", "--uri", place.words))
    sound = await to_thread.run_sync(lambda: inspect("--method", "resources/read", "--uri", place.sound))
    heard(words["contents"][0]["text"], sound["contents"][0]["blob"], place)
