"""The worker that delivers events: fans them out, leases endpoint queues that are due, and drives these."""

import logging
import random
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import anyio
from anyio.abc import TaskGroup
from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from callwright.service.platform.clock.clock import SECOND
from callwright.service.platform.database.postgres.lock_waits import Locked
from callwright.service.platform.database.unavailable import StorageUnavailable
from callwright.service.platform.database.units import brief
from callwright.service.platform.lease import LeaseLost
from callwright.service.platform.outgoing.posted import Poster
from callwright.service.platform.wake_signal import WakeNotifier
from callwright.service.platform.worker_loop import RETRY_S, repeat
from callwright.service.services import Services
from callwright.service.tables import delivery_rows
from callwright.service.webhooks import endpoint_queue, retention
from callwright.service.webhooks.endpoint_queue import DueQueue, TakenQueue
from callwright.service.webhooks.fan_out import MOST_DELIVERIES, MOST_EVENTS, fan_out, is_waiting
from callwright.service.webhooks.sending import (
    FINISH_S,
    MOST_AHEAD,
    MOST_AHEAD_WHERE_SHARED,
    MOST_AT_ONCE,
    DeliveryContext,
    EndpointQueue,
    SendingLimits,
)
from callwright.service.webhooks.transport.endpoints import MOST_CONNECTIONS

log = logging.getLogger(__name__)
SHARED_CONNECTIONS = MOST_CONNECTIONS // 2
"""Connections that the endpoint queues share. The rest is for a new one while all others wait for dead endpoints."""
MOST_QUEUES = 64
"""The most endpoint queues that one process drives at a time."""
MOST_SEEN = 400
"""The most due endpoint queues that are read at a time, to choose from."""
IDLE_S = 0.5
"""Seconds between two checks for work if nothing wakes the dispatcher."""
LAST_WRITE_S = 2.0
"""How long the last write of an endpoint queue may take when the process ends."""


@dataclass(frozen=True)
class _Driven:
    """An endpoint queue that is driven, its organization, and the scope that ends it if it does not end by itself."""

    queue: EndpointQueue
    org_id: str
    scope: anyio.CancelScope


class Dispatcher:
    """Delivers events until it is cancelled."""

    def __init__(
        self,
        services: Services,
        notifier: WakeNotifier,
        endpoints: Poster,
        *,
        places: int = MOST_QUEUES,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._services, self._places = services, places
        self._lease_ms = services.settings.delivery_lease_ms
        self._owner = services.ids.new("wrk")
        self._context = DeliveryContext(
            services.database, services.clock, services.ids, endpoints, self._owner, self._lease_ms, chance
        )
        self._new, self._due = notifier.signal(for_events=True), notifier.signal()
        self._driven: dict[str, _Driven] = {}
        most = MOST_AHEAD_WHERE_SHARED if services.database.is_shared else MOST_AHEAD
        self._limits = SendingLimits(most_ahead=most)

    async def run(self) -> None:
        """Works until cancelled. Then attempts under way have a few seconds; the rest waits for the next start."""
        if not self._services.database.is_shared:
            await self._services.database.write_once_there_is_room(endpoint_queue.end_all)
        renewed_s = self._lease_ms / 3 / SECOND
        async with anyio.create_task_group() as tasks:
            for name, work, every_s, begins_after_s in (
                ("renewing the leases of endpoint queues", self._renew, renewed_s, renewed_s),
                ("deleting old events", partial(retention.sweep, self._services), retention.EVERY_S, retention.BEGIN_S),
            ):
                tasks.start_soon(partial(repeat, work, name, every_s=every_s, begins_after_s=begins_after_s))
            tasks.start_soon(partial(repeat, self._fan_out, "fanning out events", every_s=IDLE_S, signal=self._new))
            look = partial(self._look, tasks)
            try:
                await repeat(look, "looking for events to deliver", every_s=IDLE_S, signal=self._due)
            finally:
                self._end()

    async def work_until_idle(self) -> None:
        """Delivers everything that is due now, and returns. For callers that control the clock."""
        while True:
            await self._fan_out()
            async with anyio.create_task_group() as tasks:
                await self._look(tasks)
                if not self._driven:
                    return
                try:
                    while self._driven:
                        await self._due.wait(IDLE_S)
                except BaseException:
                    self._end()
                    raise

    async def _fan_out(self) -> float:
        services = self._services
        if services.database.disk_space.is_full:
            return RETRY_S
        while await services.database.read(is_waiting):
            events, deliveries = await services.database.write(fan_out, services.ids, services.clock.now_ms())
            if deliveries:
                self._due.notify()
            if events < MOST_EVENTS and deliveries < MOST_DELIVERIES:  # none is left, or others are at the rest
                break
        return IDLE_S

    async def _look(self, tasks: TaskGroup) -> float:
        services, now_ms = self._services, self._services.clock.now_ms()
        if services.database.disk_space.is_full:  # what was sent could not be recorded, and would be sent again
            return RETRY_S
        mine = (self._owner, now_ms, frozenset(self._driven))
        found, next_ms, late = await services.database.read(_seen, *mine)
        if late and await services.database.write(delivery_rows.wake_deferred, now_ms):
            found, next_ms, _ = await services.database.read(_seen, *mine)
        free = [queue for queue in found if queue.webhook_id not in self._driven]
        room = self._places - len(self._driven)
        self._limits.others_wait = len(free) > room
        chosen = fair_order(free, Counter(one.org_id for one in self._driven.values()))[: max(room, 0)]
        if chosen:
            orgs = {queue.webhook_id: queue.org_id for queue in chosen}
            until_ms = now_ms + self._lease_ms
            for taken in await services.database.write(endpoint_queue.take, list(orgs), self._owner, now_ms, until_ms):
                self._start(tasks, taken, orgs[taken.webhook_id], until_ms)
        return IDLE_S if next_ms is None else min(IDLE_S, max(next_ms - services.clock.now_ms(), 0) / SECOND)

    def _start(self, tasks: TaskGroup, taken: TakenQueue, org_id: str, until_ms: int) -> None:
        queue = EndpointQueue(
            self._context, taken.webhook_id, self._limits, until_ms=until_ms, was_abandoned=taken.was_abandoned
        )
        self._driven[taken.webhook_id] = _Driven(queue, org_id, anyio.CancelScope(shield=True))
        self._share()
        tasks.start_soon(self._drive, taken.webhook_id)

    def _share(self) -> None:
        driven = max(1, len(self._driven))
        self._limits.at_once = max(1, min(MOST_AT_ONCE, SHARED_CONNECTIONS // driven))
        self._limits.ahead = max(self._limits.at_once, self._limits.most_ahead // driven)

    async def _drive(self, webhook_id: str) -> None:
        """Drives a queue. After a failure the lease stays, and this process resumes the queue a moment later."""
        driven = self._driven[webhook_id]
        try:
            with driven.scope:
                await driven.queue.drive()
        except* LeaseLost:
            log.warning("another process sends to a webhook subscription now", extra={"webhook_id": webhook_id})
        except* IntegrityError:  # the connection broke at the commit, which took effect
            log.warning("attempts had been entered already", extra={"webhook_id": webhook_id})
        except* StorageUnavailable:  # it is logged already
            await anyio.sleep(RETRY_S)
        except* Locked:
            log.warning("a webhook subscription is locked by others", extra={"webhook_id": webhook_id})
            await anyio.sleep(RETRY_S)
        except* Exception:
            log.exception("sending to a webhook subscription failed", extra={"webhook_id": webhook_id})
            await anyio.sleep(RETRY_S)
        finally:
            del self._driven[webhook_id]
            self._share()
            self._due.notify()

    async def _renew(self) -> None:
        now_ms, driven = self._services.clock.now_ms(), list(self._driven)
        held = await self._held(driven, now_ms) if driven else ()
        for webhook_id in set(driven) - set(held):  # a row that is locked must not delay the other leases
            if webhook_id in self._driven:
                with suppress(Locked):
                    await self._held([webhook_id], now_ms, waits=True)

    async def _held(self, webhook_ids: list[str], now_ms: int, *, waits: bool = False) -> Sequence[str]:
        """Renews the leases of endpoint queues; returns those that are still held."""
        until_ms = now_ms + self._lease_ms
        held = await self._services.database.write(
            endpoint_queue.renew, webhook_ids, self._owner, now_ms, until_ms, waits=waits
        )
        for webhook_id in held:
            if webhook_id in self._driven:
                self._driven[webhook_id].queue.until_ms = until_ms
        return held

    def _end(self) -> None:
        deadline = anyio.current_time() + FINISH_S + LAST_WRITE_S
        for driven in self._driven.values():
            driven.queue.end()
            driven.scope.deadline = deadline


@brief
def _seen(
    connection: Connection, owner: str, now_ms: int, driven: frozenset[str]
) -> tuple[list[DueQueue], int | None, bool]:
    return (
        endpoint_queue.due(connection, owner, now_ms, MOST_SEEN, driven),
        endpoint_queue.next_due(connection, now_ms),
        delivery_rows.has_deferred_wakes(connection),
    )


def fair_order(due: Sequence[DueQueue], driven: Counter[str]) -> list[DueQueue]:
    """The endpoint queues in an order that gives every organization a place before any gets a second one.

    `driven` says how many places each has already.
    """
    places = Counter(driven)
    ranked: list[tuple[int, int, DueQueue]] = []
    for position, queue in enumerate(due):
        ranked.append((places[queue.org_id], position, queue))
        places[queue.org_id] += 1
    return [queue for _, _, queue in sorted(ranked, key=lambda one: one[:2])]
