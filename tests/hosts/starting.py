"""What a host starts or calls, and a session with it by the official client."""

import os
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import anyio
import httpx2 as httpx
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.support.processes.programs import START_S, text_of

LIMIT_S = 2 * START_S


@dataclass(frozen=True)
class Program:
    """A server that the host starts."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Address:
    """A server that the host calls."""

    url: str
    headers: Mapping[str, str]


@dataclass(frozen=True)
class Seen:
    """What a session showed: the names of the tools, and the wallet of the overview."""

    tools: frozenset[str]
    wallet: dict[str, Any]


@asynccontextmanager
async def _to_program(program: Program, home: Path, base: Mapping[str, str]) -> AsyncGenerator[Client]:
    handle, name = tempfile.mkstemp(suffix=".log", dir=home)
    with os.fdopen(handle, "w", encoding="utf-8") as errors:
        env = {**base, "HOME": str(home), "USERPROFILE": str(home), **program.env}
        server = StdioServerParameters(command=program.command, args=[*program.args], env=env, cwd=home)
        try:
            async with Client(stdio_client(server, errlog=errors)) as client:
                yield client
        except BaseException as error:
            error.add_note((await anyio.Path(name).read_text(encoding="utf-8"))[-2000:])
            raise


@asynccontextmanager
async def _to_address(address: Address) -> AsyncGenerator[Client]:
    async with httpx.AsyncClient(headers=dict(address.headers), timeout=START_S) as http:
        async with Client(streamable_http_client(address.url, http_client=http)) as client:
            yield client


async def seen(server: Program | Address, home: Path, base: Mapping[str, str]) -> Seen:
    """Starts or calls a server and looks round. `base` is the environment a host has before what its file adds."""
    with anyio.fail_after(LIMIT_S):
        session = _to_program(server, home, base) if isinstance(server, Program) else _to_address(server)
        async with session as client:
            tools = frozenset(tool.name for tool in (await client.list_tools()).tools)
            answer = await client.call_tool("get_overview", {})
            assert not answer.is_error, text_of(answer)
            return Seen(tools, cast("dict[str, Any]", answer.structured_content)["wallet"])
