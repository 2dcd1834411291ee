"""Delivering with a clock that is set by hand, to endpoints that answer as they are told."""

from collections import Counter
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio
from sqlalchemy import Connection, select

from callwright.contract.attempts import AttemptOutcome
from callwright.contract.declaration.model import Resource
from callwright.contract.events import DEPLOYMENT_PAUSED, DeploymentPaused, EventType
from callwright.contract.webhooks import NewWebhook
from callwright.service.platform.clock.clock import MINUTE
from callwright.service.platform.outgoing.posted import Posted
from callwright.service.platform.wake_signal import WakeNotifier
from callwright.service.services import Services
from callwright.service.tables.outbox import add_events, event_row
from callwright.service.tables.schema import deliveries, delivery_attempts, endpoint_queues, outbox, webhooks
from callwright.service.webhooks.dispatcher import MOST_QUEUES, Dispatcher
from tests.support.clock_set_by_test import MovableClock
from tests.support.service import Tenant, open_service

MIDDLE = 0.5
"""The random number with which a gap is exactly as long as the table says."""
_STATUS: dict[AttemptOutcome, int] = {"succeeded": 204, "rejected": 400, "redirected": 302, "server_error": 500}


def answer(outcome: AttemptOutcome = "succeeded", status: int | None = None, excerpt: str = "") -> Posted:
    """The result of a request."""
    detail = "" if outcome == "succeeded" else f"It was {outcome}."
    return Posted(outcome, _STATUS.get(outcome) if status is None else status, excerpt, detail, 7)


@dataclass(frozen=True)
class Request:
    """A request as an endpoint got it."""

    at_ms: int
    url: str
    body: bytes
    headers: Mapping[str, str]


@dataclass
class Endpoints:
    """Endpoints that answer what `answers` says by URL, and otherwise take everything."""

    clock: MovableClock
    answers: dict[str, Callable[[Request], Posted]] = field(default_factory=dict[str, Callable[[Request], Posted]])
    holding: set[str] = field(default_factory=set[str])
    """URLs that do not answer before `let_go` is set."""
    let_go: anyio.Event = field(default_factory=anyio.Event)
    requests: list[Request] = field(default_factory=list[Request])
    under_way: Counter[str] = field(default_factory=Counter[str])
    most_under_way: Counter[str] = field(default_factory=Counter[str])
    _another: anyio.Event = field(default_factory=anyio.Event)

    async def post(
        self, url: str, body: bytes, headers: Mapping[str, str], *, subscription: str | None = None
    ) -> Posted:
        """Takes one request."""
        request = Request(self.clock.now_ms(), url, body, dict(headers))
        self.requests.append(request)
        self._another.set()
        self._another = anyio.Event()
        self.under_way[url] += 1
        self.most_under_way[url] = max(self.most_under_way[url], self.under_way[url])
        try:
            if url in self.holding:
                await self.let_go.wait()
            else:
                await anyio.lowlevel.checkpoint()
        finally:
            self.under_way[url] -= 1
        return self.answers.get(url, lambda _: answer())(request)

    async def got(self, count: int) -> None:
        """Returns once so many requests have come."""
        with anyio.fail_after(30):
            while len(self.requests) < count:
                await self._another.wait()

    def to(self, url: str) -> list[Request]:
        """Requests to a URL, in their order."""
        return [request for request in self.requests if request.url == url]


@dataclass(frozen=True)
class Delivering:
    """A service without workers of its own, and one that delivers when it is told to."""

    tenant: Tenant
    services: Services
    clock: MovableClock
    endpoints: Endpoints
    dispatcher: Dispatcher

    async def subscribe(self, name: str = "a", *events: str, **fields: Any) -> NewWebhook:
        """A subscription to all events or to those that are named, at `url_of(name)`."""
        return await self.tenant.client.webhooks.create(url=url_of(name), events=list(events) or ["*"], **fields)

    async def happen(
        self, count: int = 1, type_: EventType = DEPLOYMENT_PAUSED, *, simulated: bool = False
    ) -> list[str]:
        """Events of the organization; gives their ids."""
        rows = [
            event_row(
                self.services.ids,
                self.tenant.org_id,
                type_,
                paused(f"dep_{number}"),
                at_ms=self.clock.now_ms(),
                simulated=simulated,
            )
            for number in range(count)
        ]
        await self.services.database.write(add_events, rows)
        return [row["id"] for row in rows]

    async def deliver(self, *, after_ms: int = 0) -> None:
        """Puts the clock forward and delivers what is due then."""
        self.clock.move(after_ms)
        with anyio.fail_after(60):
            await self.dispatcher.work_until_idle()

    async def deliver_new(
        self, count: int = 1, type_: EventType = DEPLOYMENT_PAUSED, *, simulated: bool = False
    ) -> None:
        """Events of the organization, and the delivery of all that is due."""
        await self.happen(count, type_, simulated=simulated)
        await self.deliver()

    async def rows(self, table: Any, *conditions: Any) -> Sequence[Any]:
        """Rows of a table, in the order of their first column."""
        statement = select(table).where(*conditions).order_by(*table.primary_key.columns)
        return await self.services.database.read(lambda connection: connection.execute(statement).all())

    async def deliveries(self, *conditions: Any) -> Sequence[Any]:
        """Deliveries."""
        return await self.rows(deliveries, *conditions)

    async def attempts(self, *conditions: Any) -> Sequence[Any]:
        """Attempts, those of a delivery in their order."""
        return await self.rows(delivery_attempts, *conditions)

    async def webhook(self, webhook_id: str) -> Any:
        """A subscription's row."""
        return (await self.rows(webhooks, webhooks.c.id == webhook_id))[0]

    async def endpoint_queue(self, webhook_id: str) -> Any:
        """An endpoint queue's row."""
        return (await self.rows(endpoint_queues, endpoint_queues.c.webhook_id == webhook_id))[0]

    async def events(self, *conditions: Any) -> Sequence[Any]:
        """Events."""
        return await self.rows(outbox, *conditions)

    async def change(self, statement: Any) -> None:
        """Changes rows behind the service's back."""

        def work(connection: Connection) -> None:
            connection.execute(statement)

        await self.services.database.write(work)


def url_of(name: str) -> str:
    """The address of an endpoint."""
    return f"https://{name}.example.com/events"


def paused(deployment_id: str) -> Resource:
    """The payload of an event."""
    return DeploymentPaused(deployment_id=deployment_id, reason="manual", simulated=True)


@asynccontextmanager
async def delivering(
    database_url: str, data: Path, *, places: int = MOST_QUEUES, chance: Callable[[], float] = lambda: MIDDLE
) -> AsyncGenerator[Delivering]:
    """A service, and a dispatcher with a clock and endpoints of its own."""
    async with open_service(database_url, data, workers=False) as tenant:
        with anyio.fail_after(60):
            # The moments of requests are the machine's. This clock begins behind all that the test is going to make.
            clock = MovableClock(tenant.services.clock.now_ms() + MINUTE)
            services = replace(tenant.services, clock=clock)
            endpoints = Endpoints(clock)
            yield Delivering(
                tenant,
                services,
                clock,
                endpoints,
                Dispatcher(services, WakeNotifier(), endpoints, places=places, chance=chance),
            )
