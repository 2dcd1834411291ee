"""A service to send made-up requests to: an organization that has some of everything, and a session that reaches it.

The service runs in an event loop of its own, on another thread. The session reaches it without a network, or over the
loopback.
"""

import io
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import anyio
import requests
from anyio.from_thread import BlockingPortal, start_blocking_portal
from requests.adapters import HTTPAdapter
from urllib3 import HTTPHeaderDict, HTTPResponse

from callwright.server.embedded.embedded import listener_on, listening
from callwright.service.app import Application, pipeline_of, running
from callwright.service.platform.wake_signal import WakeNotifier
from callwright.service.settings import ServiceSettings
from callwright.service.webhooks.dispatcher import Dispatcher
from callwright.service.workers.supervisor import Supervisor
from tests.fuzz.nowhere import Nowhere
from tests.journeys.scenario import CSV
from tests.support import resources
from tests.support.service import Tenant, open_service

IN_PROCESS = "http://service"
REQUEST_LIMIT_S = 60.0
"""How long one answer may take."""
_DOLLARS = 1_000_000
_FAR_OFF = datetime(2090, 1, 1, tzinfo=UTC)
_PEOPLE = [resources.row(place, phone_number=f"+120255501{place:02d}", day="Tuesday") for place in range(13)]
"""Everybody with a reserved number, so that calls end in every way."""


@dataclass(frozen=True)
class FuzzedService:
    """A service at two addresses, without a network and on the loopback, and a session with a key for both.

    `unlisted` are paths of things that are in no list.
    """

    session: requests.Session = field(repr=False)
    in_process: str
    loopback: str
    unlisted: tuple[str, ...]


@contextmanager
def opened(database_url: str, data: Path, *, workers: bool) -> Generator[FuzzedService]:
    """The service on an empty database with a schema. With `workers` campaigns go on while requests come in.

    Events are delivered then too, but nothing leaves the machine: see `Nowhere`.
    """
    with start_blocking_portal() as portal:
        api_key, unlisted = portal.call(_seed, database_url, data)
        serving = portal.wrap_async_context_manager(_serving(database_url, data, workers))
        with serving as (application, base_url), requests.Session() as session:
            session.trust_env = False
            session.headers.clear()
            session.headers["Authorization"] = f"Bearer {api_key}"
            session.mount(IN_PROCESS, InProcess(application, portal))
            yield FuzzedService(session, IN_PROCESS, base_url.removesuffix("/v1"), (unlisted,))


@asynccontextmanager
async def _serving(database_url: str, data: Path, workers: bool) -> AsyncGenerator[tuple[Any, str]]:
    """The workers are started here and not by the service, because those of the service send to whatever exists."""
    settings = ServiceSettings(data=data, database_url=database_url)
    notifier = WakeNotifier()
    with listener_on() as listener:
        async with running(settings, workers=False) as service, anyio.create_task_group() as tasks:
            services = replace(service.services, wake=notifier.notify, routing_endpoints=Nowhere())
            application = Application(services, pipeline_of(services))
            if workers:
                tasks.start_soon(Supervisor(services, notifier).run)
                tasks.start_soon(Dispatcher(services, notifier, Nowhere()).run)
            async with listening(application, listener) as base_url:
                yield application, base_url
            tasks.cancel_scope.cancel()


async def _seed(database_url: str, data: Path) -> tuple[str, str]:
    """Makes some of everything; gives the key of the organization that has it, and the path of an import."""
    async with open_service(database_url, data, extra_dollars=_DOLLARS) as tenant:
        client = tenant.client
        agent = await resources.agent(tenant)
        audience = await resources.audience(tenant, rows=_PEOPLE)
        import_id = await _imported(tenant, audience.id)
        number, answered = await resources.number(tenant), await resources.number(tenant, "GB")
        parts: dict[str, Any] = {"agent_id": agent.id, "audience_id": audience.id, "phone_number_ids": [number.id]}
        later: dict[str, Any] = {**parts, "auto_start": True, "start_at": _FAR_OFF}
        finished = await client.deployments.create(name="Finished", auto_start=True, **parts)
        await client.deployments.create(name="Draft", **parts)
        await client.deployments.create(name="Later", **later)
        await client.deployments.pause(id=(await client.deployments.create(name="Paused", **later)).id)
        await client.deployments.create_inbound(name="Inbound", agent_id=agent.id, phone_number_id=answered.id)
        await tenant.ended(finished.id)
        return tenant.api_key, f"/v1/audiences/{audience.id}/imports/{import_id}"


async def _imported(tenant: Tenant, audience_id: str) -> str:
    begun = await tenant.client.audiences.import_csv(id=audience_id, csv=CSV)
    with anyio.fail_after(REQUEST_LIMIT_S):
        while True:
            found = await tenant.client.audiences.get_import(id=audience_id, import_id=begun.id)
            if found.status not in ("pending", "importing"):
                return begun.id
            await anyio.sleep(0.01)


class InProcess(HTTPAdapter):
    """Carries requests to an ASGI application in another thread's event loop."""

    def __init__(self, application: Any, portal: BlockingPortal) -> None:
        super().__init__()
        self._application, self._portal = application, portal

    def send(self, request: requests.PreparedRequest, *_: Any, **__: Any) -> requests.Response:
        """Sends one request; gives its answer as the network would."""
        body: Any = request.body or b""
        content: bytes = body.encode() if isinstance(body, str) else body
        return self.build_response(request, self._portal.call(self._answer, _scope(request), content))

    async def _answer(self, scope: dict[str, Any], body: bytes) -> HTTPResponse:
        messages = [{"type": "http.request", "body": body, "more_body": False}]
        started: dict[str, Any] = {}
        parts: list[bytes] = []

        async def receive() -> dict[str, Any]:
            if not messages:
                await anyio.sleep_forever()
            return messages.pop()

        async def send(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                started.update(message)
            else:
                parts.append(message.get("body", b""))

        with anyio.fail_after(REQUEST_LIMIT_S):
            await self._application(scope, receive, send)
        pairs = [(name.decode("latin-1"), text.decode("latin-1")) for name, text in started["headers"]]
        content = io.BytesIO(b"".join(parts))
        return HTTPResponse(content, HTTPHeaderDict(pairs), started["status"], preload_content=False)


def _scope(request: requests.PreparedRequest) -> dict[str, Any]:
    target = urlsplit(request.path_url)
    headers = [(_bytes(name).lower(), _bytes(text)) for name, text in request.headers.items()]
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": unquote(target.path),
        "raw_path": target.path.encode("ascii"),
        "query_string": target.query.encode("ascii"),
        "root_path": "",
        "headers": [(b"host", b"service"), *headers],
        "client": ("127.0.0.1", 1),
        "server": ("service", 80),
    }


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("latin-1")
