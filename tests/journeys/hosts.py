"""A person in front of a host, on each way to the tools: in memory, over stdio with a process of its own, over HTTP.

Every way leads to the same service, so that a test has a second connection to it: the typed client.
"""

import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

import anyio
import httpx2 as httpx
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, ElicitRequestFormParams, ElicitResult

from callwright.server.mcp.app import build
from callwright.server.mcp.session import ServerSession
from callwright.tools.arguments.files import Folders
from callwright.tools.runtime.tool_context import Caller, Clock, ConfirmBy, ConfirmMode
from callwright.tools.serving.served import served_tools
from callwright.tools.serving.served_files import with_files
from tests.support.mcp.over_http import serving
from tests.support.processes.forked_commands import launcher
from tests.support.processes.programs import environment
from tests.support.service import Tenant
from tests.support.tools.results import text_of

Era = Literal["legacy", "auto"]
Way = Literal["memory", "stdio", "http"]
WAYS: tuple[Way, ...] = ("memory", "stdio", "http")
ERAS: tuple[Era, ...] = ("legacy", "auto")
Answer = Literal["accept", "refuse", "decline", "cancel"]
LIFE_S = 120.0


async def nothing() -> None:
    """Nothing happens while the person thinks."""


@dataclass
class Person:
    """Somebody in front of a host that can ask. `answer` is what they do; None stands for a host that cannot ask."""

    answer: Answer | None
    asked: list[str] = field(default_factory=list[str])
    before_answer: Callable[[], Awaitable[None]] = nothing
    """What happens while the question stands on the screen."""

    async def __call__(self, context: Any, params: Any) -> ElicitResult:
        assert isinstance(params, ElicitRequestFormParams)
        self.asked.append(params.message)
        await self.before_answer()
        if self.answer in ("accept", "refuse"):
            return ElicitResult(action="accept", content={"agree": self.answer == "accept"})
        return ElicitResult(action=cast("Any", self.answer))


@dataclass
class ScriptedClock:
    """Time of a server that passes only when a test says so."""

    now: float = 1_795_262_400.0
    ahead: float = 0.0
    """By how much the clock on the wall has been set. Whoever waits, waits by the other one."""
    _sleepers: list[tuple[float, anyio.Event]] = field(default_factory=list[tuple[float, anyio.Event]])

    def monotonic(self) -> float:
        """Seconds that only grow."""
        return self.now

    def time(self) -> float:
        """Seconds since the epoch."""
        return self.now + self.ahead

    async def sleep(self, seconds: float, /) -> None:
        """Waits until a test has let so much time pass."""
        entry = (self.now + seconds, anyio.Event())
        self._sleepers.append(entry)
        try:
            await entry[1].wait()
        finally:
            self._sleepers.remove(entry)

    def pass_by(self, seconds: float) -> None:
        """Lets time pass."""
        self.now += seconds
        for at, event in self._sleepers:
            if at <= self.now:
                event.set()


@dataclass(frozen=True)
class Host:
    """A host that is connected."""

    client: Client
    person: Person

    async def call(self, tool: str, /, **arguments: Any) -> CallToolResult:
        """Calls a tool."""
        with anyio.fail_after(LIFE_S):
            return await self.client.call_tool(tool, arguments)

    async def data(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Calls a tool that succeeds; gives its data."""
        result = await self.call(tool, **arguments)
        assert not result.is_error, text_of(result)
        return cast("dict[str, Any]", result.structured_content)

    async def refused(self, tool: str, /, **arguments: Any) -> str:
        """Calls a tool that refuses; gives its words."""
        result = await self.call(tool, **arguments)
        assert result.is_error, text_of(result)
        return text_of(result)


@asynccontextmanager
async def host(
    tenant: Tenant,
    folder: Path,
    way: Way,
    era: Era,
    person: Person,
    *,
    clock: Clock | None = None,
    confirm: ConfirmMode = "always",
    confirm_by: ConfirmBy = "sentence",
    files: Path | None = None,
    late: bool = False,
    caller: Caller | None = None,
) -> AsyncGenerator[Host]:
    """A host on its way to the service. Over stdio the program keeps the time of the machine.

    In memory `files` is a folder that tools may read, and `caller` stands before the typed client. Over stdio `late`
    lets ten minutes pass before each answer.
    """
    asks = None if person.answer is None else person
    shown = clock or ScriptedClock()
    async with AsyncExitStack() as stack:
        if way == "memory":

            @asynccontextmanager
            async def connect() -> AsyncGenerator[Caller]:
                yield caller or tenant.client

            numbers = iter(range(1_000_000))
            session = ServerSession(
                connect,
                ids=lambda: f"id{next(numbers):030}",
                clock=shown,
                base_url=None,
                confirm=confirm,
                confirm_by=confirm_by,
            )
            tools = served_tools() if files is None else with_files(served_tools(), Folders([files]))
            transport: Any = build(session.opened, tools=tools)
        else:
            served = await stack.enter_async_context(
                serving(tenant, confirm=confirm, confirm_by=confirm_by, clock=shown)
            )
            if way == "http":
                headers = {"Authorization": f"Bearer {tenant.api_key}"}
                http = await stack.enter_async_context(httpx.AsyncClient(headers=headers, timeout=LIFE_S, verify=False))
                transport = streamable_http_client(served.mcp, http_client=http)
            else:
                settings = {
                    "CALLWRIGHT_BASE_URL": f"{served.root}/v1",
                    "CALLWRIGHT_API_KEY": tenant.api_key,
                    "CALLWRIGHT_CONFIRM": confirm,
                    "CALLWRIGHT_CONFIRM_BY": confirm_by,
                    "CALLWRIGHT_PROFILE": "all",
                }
                late_command = [sys.executable, "-m", "tests.journeys.late_stdio"]
                command, *arguments = late_command if late else [*launcher(), "mcp"]
                program = StdioServerParameters(command=command, args=arguments, env=environment(folder, **settings))
                log = stack.enter_context((folder / "stdio.log").open("w", encoding="utf-8"))
                transport = stdio_client(program, errlog=log)
        client = await stack.enter_async_context(Client(transport, mode=era, elicitation_callback=asks))
        yield Host(client, person)
