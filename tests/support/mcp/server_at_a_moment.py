"""A server whose time and whose campaigns a test moves on."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import (
    EmptyResult,
    ResourceUpdatedNotification,
    SubscribeRequest,
    SubscribeRequestParams,
    UnsubscribeRequest,
    UnsubscribeRequestParams,
)

from callwright.client.errors import NotFound
from callwright.contract.declaration.model import Input
from callwright.contract.deployments.deployments import Deployment
from callwright.server.mcp.app import CallwrightServer, build
from callwright.server.mcp.session import ServerSession
from tests.support.tools import samples
from tests.support.tools.fakes import FakeCaller, numbered

URI = "callwright://deployments/dep_1"
_TURNS = 200
MISSING = NotFound("There is no such thing.", code="not_found", status=404, type="not_found_error")


async def settled() -> None:
    """Lets every task go on until it waits. In memory nothing takes longer than some turns of the loop."""
    for _ in range(_TURNS):
        await checkpoint()


@dataclass
class StepClock:
    """Time that passes only when a test says so. `pauses` are the sleeps that were asked for."""

    now: float = 0.0
    pauses: list[float] = field(default_factory=list[float])
    _sleepers: list[tuple[float, anyio.Event]] = field(default_factory=list[tuple[float, anyio.Event]])

    def monotonic(self) -> float:
        return self.now

    def time(self) -> float:
        return self.now

    async def sleep(self, seconds: float, /) -> None:
        self.pauses.append(seconds)
        entry = (self.now + seconds, anyio.Event())
        self._sleepers.append(entry)
        try:
            await entry[1].wait()
        finally:
            self._sleepers.remove(entry)

    async def advance(self, seconds: float) -> None:
        """Lets time pass, sleep by sleep, until everybody waits again."""
        until = self.now + seconds
        await settled()
        while due := [entry for entry in self._sleepers if entry[0] <= until]:
            self.now, event = min(due, key=lambda entry: entry[0])
            event.set()
            await settled()
        self.now = until

    @property
    def sleepers(self) -> int:
        """How many sleep now."""
        return len(self._sleepers)


@dataclass
class Campaigns:
    """Campaigns of an organization that a test moves on."""

    now: dict[str, Deployment | Exception]

    def __call__(self, asked: Input) -> Deployment | Exception:
        return self.now.get(asked.model_dump()["id"], MISSING)

    def change(self, name: str = "dep_1", **changes: Any) -> None:
        """Another state of a campaign."""
        found = self.now[name]
        assert isinstance(found, Deployment)
        self.now[name] = found.model_copy(update=changes)

    def answer(self, call: int, name: str = "dep_1") -> None:
        """A campaign with so many answered calls."""
        self.change(name, stats=samples.stats(answered=call))


def campaigns(count: int = 1, **changes: Any) -> Campaigns:
    names = [f"dep_{number}" for number in range(1, count + 1)]
    return Campaigns({name: samples.deployment(id=name, **changes) for name in names})


@dataclass
class ScriptedServer:
    """A server with scripted time, and the notifications that arrived."""

    clock: StepClock
    caller: FakeCaller
    campaigns: Campaigns
    server: CallwrightServer
    heard: list[str] = field(default_factory=list[str])

    @property
    def times_read(self) -> int:
        """How often the service was asked for a campaign."""
        return self.caller.names().count("get_deployment")

    async def pass_time(self, seconds: float) -> None:
        """Time passes, and what was sent arrives."""
        await self.clock.advance(seconds)
        await settled()


def scripted_server(found: Campaigns | None = None) -> ScriptedServer:
    clock, known = StepClock(), found or campaigns()
    caller = FakeCaller(answers=samples.answers() | {"get_deployment": known})
    return ScriptedServer(clock, caller, known, build(session_of(caller, clock).opened))


def session_of(caller: FakeCaller, clock: StepClock) -> ServerSession:
    @asynccontextmanager
    async def connect() -> AsyncGenerator[FakeCaller]:
        yield caller

    return ServerSession(connect, ids=numbered(), clock=clock, base_url=None)


@asynccontextmanager
async def connected(server: CallwrightServer, era: str, heard: list[str]) -> AsyncGenerator[Client]:
    async def on_message(message: Any) -> None:
        if era == "legacy" and isinstance(message, ResourceUpdatedNotification):
            heard.append(message.params.uri)

    with anyio.fail_after(10):
        async with Client(server, mode=era, message_handler=on_message) as client:
            yield client


@asynccontextmanager
async def watching(client: Client, era: str, heard: list[str], *uris: str) -> AsyncGenerator[None]:
    """Watches in the way of the era while the block lasts."""
    if era == "legacy":
        for uri in uris:
            await client.session.send_request(*subscribing("resources/subscribe", uri))
        yield
        for uri in uris:
            await client.session.send_request(*subscribing("resources/unsubscribe", uri))
        return
    async with client.listen(resource_subscriptions=uris) as stream, anyio.create_task_group() as tasks:

        async def hear() -> None:
            async for event in stream:
                heard.append(getattr(event, "uri", ""))

        tasks.start_soon(hear)
        yield
        tasks.cancel_scope.cancel()


def subscribing(method: str, uri: str) -> tuple[Any, Any]:
    """A request of the older protocol, and what it answers with."""
    if method == "resources/subscribe":
        return SubscribeRequest(params=SubscribeRequestParams(uri=uri)), EmptyResult
    return UnsubscribeRequest(params=UnsubscribeRequestParams(uri=uri)), EmptyResult


async def refusal(client: Client, era: str, *uris: str) -> tuple[int, str]:
    with pytest.raises(MCPError) as caught:
        async with watching(client, era, [], *uris):
            pass
    return caught.value.error.code, caught.value.error.message


@dataclass
class Principals:
    """Two keys at one server: requests come from whoever is `now`."""

    keys: dict[str, ServerSession]
    now: str = "one"

    def current(self) -> ServerSession:
        return self.keys[self.now]


@asynccontextmanager
async def two_organizations() -> AsyncGenerator[tuple[Principals, ScriptedServer, Callable[[str], Campaigns]]]:
    clock = StepClock()
    theirs = {"one": campaigns(), "two": Campaigns({"dep_2": samples.deployment(id="dep_2")})}
    callers = {
        name: FakeCaller(answers=samples.answers() | {"get_deployment": found}) for name, found in theirs.items()
    }
    keys = Principals({name: session_of(caller, clock) for name, caller in callers.items()})

    @asynccontextmanager
    async def opened() -> AsyncGenerator[Principals]:
        yield keys

    async with keys.keys["one"].opened(), keys.keys["two"].opened():
        yield keys, ScriptedServer(clock, callers["one"], theirs["one"], build(opened)), theirs.__getitem__


async def sleeping(on: ScriptedServer) -> int:
    """How many tasks wait for the time to look again."""
    await settled()
    return on.clock.sleepers
