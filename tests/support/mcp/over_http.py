"""A service with MCP over HTTP for tests: a real uvicorn on a free port of the loopback, keys, and the real clients.

Open it inside the test body:

    async with open_served(database_url, tmp_path) as served, served.assistant() as hand:
        await hand.use("get_wallet")
"""

import itertools
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import anyio
import httpx2 as httpx
from mcp import Client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from callwright.contract.deployments.call_price import MICROS
from callwright.server.embedded.embedded import ServiceKeys, address_of, listener_on, listening
from callwright.server.mcp.instructions import instructions
from callwright.server.mcp.session import random_id
from callwright.server.transport.hosts import HostNames, names_for
from callwright.server.transport.http import InstructionsOf, every_tool, mcp_beside
from callwright.server.transport.key_sessions import KeyDirectory, ToolsOf
from callwright.service import accounts
from callwright.service.accounts import NewKey
from callwright.service.app import Service
from callwright.service.settings import ServiceSettings
from callwright.tools.runtime.tool_context import Clock, ConfirmBy, ConfirmMode
from tests.support.processes.programs import Assistant
from tests.support.service import Tenant, open_service

Era = Literal["legacy", "auto"]
Over = Literal["http", "sse"]
WAYS: tuple[tuple[Over, Era], ...] = (("http", "auto"), ("http", "legacy"), ("sse", "auto"), ("sse", "legacy"))
"""Every transport with every era of the protocol."""
PROTOCOL = "2026-07-28"
OLDER = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}
INITIALIZE: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}},
}
LIST: dict[str, Any] = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}
"""Requests of the older protocol, and the headers they need."""
LIFE_S = 60.0
"""Limit for everything that one test does with a served service."""


@dataclass(frozen=True)
class Served:
    """A service that answers REST and MCP at `root`. `tenant` is its first organization, with a key and a client."""

    tenant: Tenant
    root: str

    @property
    def service(self) -> Service:
        """The service behind it."""
        return self.tenant.service

    @property
    def mcp(self) -> str:
        """Where Streamable HTTP is."""
        return f"{self.root}/mcp"

    async def live_key(self, *, org_id: str | None = None) -> NewKey:
        """A further key of an organization, the first one by default."""
        services = self.service.services
        given = (services.ids, org_id or self.tenant.org_id, "tests", services.clock.now_ms())
        return await services.database.write(accounts.create_key, *given)

    async def personal_key(
        self, profile: str = "builder", *, cap_dollars: float | None = None, org_id: str | None = None
    ) -> NewKey:
        """A personal key."""
        services = self.service.services
        given = (services.ids, org_id or self.tenant.org_id, "tests", services.clock.now_ms())
        cap = None if cap_dollars is None else round(cap_dollars * MICROS)
        return await services.database.write(
            accounts.create_personal_key, *given, profile=profile, spending_cap_micros=cap
        )

    async def revoke(self, key_id: str) -> None:
        """Revokes a key by its id."""
        services = self.service.services
        await services.database.write(accounts.revoke_key, services.ids, key_id, services.clock.now_ms())

    @asynccontextmanager
    async def raw_client(self, key: str | None = "own", **headers: str) -> AsyncGenerator[httpx.AsyncClient]:
        """An HTTP client over the network, with the first organization's key, another one, or with None no key."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if key is not None:
            sent["Authorization"] = f"Bearer {self.tenant.api_key if key == 'own' else key}"
        async with httpx.AsyncClient(base_url=self.root, headers=sent, timeout=LIFE_S, verify=False) as client:
            yield client

    @asynccontextmanager
    async def assistant(
        self, key: str | None = None, *, over: Over = "http", era: Era = "auto", **options: Any
    ) -> AsyncGenerator[Assistant]:
        """The official client with a key, the first organization's by default. `options` go to `mcp.Client`."""
        headers = {"Authorization": f"Bearer {key or self.tenant.api_key}"}
        async with AsyncExitStack() as stack:
            stack.enter_context(anyio.fail_after(LIFE_S))
            if over == "sse":
                transport = sse_client(f"{self.root}/sse", headers=headers)
            else:
                http = await stack.enter_async_context(httpx.AsyncClient(headers=headers, timeout=LIFE_S, verify=False))
                transport = streamable_http_client(self.mcp, http_client=http)
            client = await stack.enter_async_context(Client(transport, mode=era, **options))
            yield Assistant(client, Path("nothing-is-logged-here"))

    @asynccontextmanager
    async def personal_assistant(
        self, profile: str = "builder", *, cap_dollars: float | None = None
    ) -> AsyncGenerator[Assistant]:
        """The official client with a personal key of its own."""
        key = await self.personal_key(profile, cap_dollars=cap_dollars)
        async with self.assistant(key.secret) as hand:
            yield hand


class RoundRobin(httpx.AsyncBaseTransport):
    """Sends each request to the next of several services, as a balancer does that knows of no sessions."""

    def __init__(self, *services: Served) -> None:
        self._roots = itertools.cycle([httpx.URL(service.root) for service in services])
        self._network = httpx.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Sends a request on."""
        there = next(self._roots)
        request.url = request.url.copy_with(host=there.host, port=there.port)
        request.headers["Host"] = there.netloc.decode()
        return await self._network.handle_async_request(request)

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._network.aclose()


@asynccontextmanager
async def balanced(*services: Served, era: Era = "auto", **options: Any) -> AsyncGenerator[Assistant]:
    """The official client with the first service's key, in front of several services that take turns."""
    headers = {"Authorization": f"Bearer {services[0].tenant.api_key}"}
    with anyio.fail_after(LIFE_S):
        async with httpx.AsyncClient(headers=headers, timeout=LIFE_S, transport=RoundRobin(*services)) as http:
            transport = streamable_http_client(services[0].mcp, http_client=http)
            async with Client(transport, mode=era, **options) as client:
                yield Assistant(client, Path("nothing-is-logged-here"))


def request(method: str, **params: Any) -> dict[str, Any]:
    """The body of a request of the protocol of 2026-07-28."""
    meta: dict[str, Any] = {
        "io.modelcontextprotocol/protocolVersion": PROTOCOL,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}


async def post(http: httpx.AsyncClient, method: str, **params: Any) -> httpx.Response:
    """Sends one request of the protocol of 2026-07-28, which needs no handshake before it."""
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": PROTOCOL, "Mcp-Method": method}
    if (name := params.get("name") or params.get("uri")) is not None:
        headers["Mcp-Name"] = name
    return await http.post("/mcp", json=request(method, **params), headers=headers)


@asynccontextmanager
async def serving(
    tenant: Tenant,
    *,
    keys: KeyDirectory | None = None,
    names: HostNames | None = None,
    keeps_sessions: bool = True,
    tools_of: ToolsOf = every_tool,
    instructions_of: InstructionsOf = instructions,
    confirm: ConfirmMode = "real",
    confirm_by: ConfirmBy = "sentence",
    clock: Clock | None = None,
    proxies: Sequence[str] = (),
) -> AsyncGenerator[Served]:
    """Serves a service that is open already. `keys` stands in place of those of the service."""
    service_keys = ServiceKeys(tenant.service)
    with listener_on() as listener:
        async with mcp_beside(
            tenant.service.asgi,
            keys or service_keys,
            names=names or names_for("127.0.0.1"),
            seal=await service_keys.sealing_secret(),
            base_url=address_of(listener),
            ids=random_id,
            keeps_sessions=keeps_sessions,
            tools_of=tools_of,
            instructions_of=instructions_of,
            confirm=confirm,
            confirm_by=confirm_by,
            clock=clock,
        ) as (application, requests):
            async with listening(application, listener, proxies=proxies) as base_url, requests:
                yield Served(tenant, base_url.removesuffix("/v1"))


@asynccontextmanager
async def open_served(
    database_url: str,
    data: Path,
    *,
    plan: str = "enterprise",
    workers: bool = True,
    settings: ServiceSettings | None = None,
    names: HostNames | None = None,
    keeps_sessions: bool = True,
    tools_of: ToolsOf = every_tool,
    instructions_of: InstructionsOf = instructions,
    proxies: Sequence[str] = (),
) -> AsyncGenerator[Served]:
    """A running service on the database with one organization, served over HTTP."""
    async with open_service(database_url, data, plan=plan, workers=workers, settings=settings) as tenant:
        async with serving(
            tenant,
            names=names,
            keeps_sessions=keeps_sessions,
            tools_of=tools_of,
            instructions_of=instructions_of,
            proxies=proxies,
        ) as served:
            yield served
