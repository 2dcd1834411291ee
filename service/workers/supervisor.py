"""The workers of a service process: drivers of deployments, imports, and the sweeps.

Deployments that need a driver are leased; each is driven by one process. A failure is logged and the work is tried
again after a pause, so that a failing deployment does not affect others.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from math import isfinite
from typing import Any

import anyio
from anyio.abc import TaskGroup
from sqlalchemy import Connection, Row, bindparam, select

from callwright.service.accounts.principals import SERVICE
from callwright.service.campaigns import activation, compliance_checks, newer_rules, start_guards
from callwright.service.dialling import endings, leases
from callwright.service.dialling.agent_snapshot import agent_of
from callwright.service.dialling.eligibility.predial import PredialCheck
from callwright.service.dialling.rounds.driver_writes import DriverWrites
from callwright.service.dialling.rounds.runner import Runner
from callwright.service.inbound.both_networks import BothNetworks
from callwright.service.inbound.live.driver import LiveInbound
from callwright.service.inbound.routing.asking import RoutingWebhook
from callwright.service.inbound.simulated_driver import SimulatedInbound
from callwright.service.payments import reconciliation
from callwright.service.platform.clock.clock import SECOND
from callwright.service.platform.database.postgres.lock_waits import Locked, unavailable_because
from callwright.service.platform.database.unavailable import StorageUnavailable
from callwright.service.platform.database.units import brief
from callwright.service.platform.lease import LeaseLost
from callwright.service.platform.refusals import Refusal
from callwright.service.platform.wake_signal import WakeNotifier
from callwright.service.platform.worker_loop import RETRY_S, repeat
from callwright.service.rules.organization_plans import PRICE_PLANS
from callwright.service.services import Services
from callwright.service.tables import audit_log, future_moments
from callwright.service.tables.schema import deployments, organizations
from callwright.service.workers import import_turns, imports, large_changes, sweeps
from callwright.service.workers.fetching.fetched_files import FileFetches

log = logging.getLogger(__name__)
MOST_DRIVEN = 32
"""The most deployments that one process drives at a time."""
IMPORTS_AT_ONCE = 3
"""Imports that a process works on at once, each of another organization."""
IDLE_S = 0.5
"""Seconds between two checks for work if nothing wakes the supervisor."""
FREED_EVERY_S = 1.0
"""Seconds between two checks for transactions of processes that have frozen."""
_SCHEDULED = (
    select(deployments, organizations.c.plan)
    .join(organizations, organizations.c.id == deployments.c.org_id)
    .where(
        deployments.c.call_type == "outbound",
        deployments.c.status == "scheduled",
        deployments.c.start_at <= bindparam("now"),
    )
    .order_by(deployments.c.start_at)
    .limit(50)
)

_KIND = select(deployments.c.call_type, deployments.c.simulated).where(deployments.c.id == bindparam("id"))


class Supervisor:
    """Runs the workers of one process until it is cancelled."""

    def __init__(self, services: Services, notifier: WakeNotifier, predial: PredialCheck | None = None) -> None:
        self._services, self._predial = services, predial
        self._notifier = notifier
        self._due = notifier.signal()
        self._uploaded, self._changing = notifier.signal(), notifier.signal()
        self._owner = services.ids.new("wrk")
        self._turns = import_turns.Turns()
        self._driven: set[str] = set()
        self._is_ending = False
        self._none_driven = anyio.Event()

    async def run(self) -> None:
        """Works until cancelled. Deployments stay as they are; another process, or the next start, continues them."""
        if not self._services.database.is_shared:
            await self._services.database.write_once_there_is_room(leases.forget_all)
        renewed_s = self._services.settings.deployment_lease_ms / 3 / SECOND
        periodic: list[tuple[str, Callable[[], Awaitable[None]], float]] = [
            ("renewing the leases of deployments", self._renew, renewed_s),
            ("ending silent transactions", self._services.database.end_idle_transactions, FREED_EVERY_S),
            ("the sweep", partial(sweeps.run, self._services), sweeps.EVERY_S),
            ("comparing top-ups with their provider", self._reconcile, reconciliation.EVERY_S),
            ("correcting moments that lie too far ahead", self._correct, future_moments.EVERY_S),
        ]
        async with anyio.create_task_group() as tasks:
            newer = newer_rules.NewerRules(self._services)
            tasks.start_soon(
                partial(repeat, newer.look, "moving campaigns to newer rules", every_s=newer_rules.EVERY_S)
            )
            for name, work, every_s in periodic:
                tasks.start_soon(partial(repeat, work, name, every_s=every_s, begins_after_s=every_s))
            tasks.start_soon(partial(repeat, self._change, "changing many rows", every_s=IDLE_S, signal=self._changing))
            for turn in range(IMPORTS_AT_ONCE):
                importing = partial(self._import, f"{self._owner}_{turn}")
                signal = None if turn else self._uploaded  # the others look now and then, for when the first is busy
                tasks.start_soon(partial(repeat, importing, "importing", every_s=IDLE_S, signal=signal))
            fetches = FileFetches(self._services, self._notifier.notify)
            looks = partial(fetches.look, tasks)
            tasks.start_soon(partial(repeat, looks, "looking for files to fetch", every_s=IDLE_S))
            await repeat(partial(self._look, tasks), "looking for work", every_s=IDLE_S, signal=self._due)

    def dial_no_more(self) -> None:
        """Begins no more calls. Those under way are still followed and recorded."""
        self._is_ending = True

    async def finish(self) -> None:
        """Stops dialling, and returns once the calls under way are recorded. Call it with a time limit."""
        self.dial_no_more()
        if self._driven:
            self._none_driven = anyio.Event()
            await self._none_driven.wait()

    async def _import(self, owner: str) -> None:
        while await imports.work_on_one(self._services, owner, self._turns):
            self._notifier.notify_of_events()

    async def _change(self) -> None:
        while await large_changes.work_on_some(self._services):
            pass

    async def _renew(self) -> None:
        database, now_ms, driven = self._services.database, self._services.clock.now_ms(), sorted(self._driven)
        given = (self._owner, now_ms, now_ms + self._services.settings.deployment_lease_ms)
        held = set(await database.write(leases.renew, driven, *given)) if driven else set[str]()
        for deployment_id in driven:  # a row that is locked must not delay the other leases
            if deployment_id not in held and deployment_id in self._driven:
                with suppress(Locked):
                    await database.write(leases.renew, [deployment_id], *given, waits=True)

    async def _reconcile(self) -> None:
        services = self._services
        given = (services.ids, services.settings.payments, services.own_address.root, services.clock.now_ms())
        if await reconciliation.run(services.database, *given):
            self._notifier.notify_of_events()

    async def _correct(self) -> None:
        services = self._services
        await services.database.write(future_moments.correct, services.settings, services.clock.now_ms())

    async def _look(self, tasks: TaskGroup) -> None:
        services = self._services
        database = services.database
        if self._is_ending or database.file_guard.is_gone or database.disk_space.is_full:  # `StorageWatch` pauses first
            return
        now_ms = services.clock.now_ms()
        for row in await services.database.read(_scheduled, now_ms):
            await self._activate(row.id, now_ms)
        room = MOST_DRIVEN - len(self._driven)
        driven = frozenset(self._driven)
        found: Sequence[str] = ()
        if room > 0:
            jumps = not isfinite(services.settings.sim_time_scale)
            called_until_ms = leases.FOR_EVER_MS if jumps else now_ms
            given = (self._owner, now_ms, room, driven)
            found = await services.database.read(leases.candidates, *given, called_until_ms=called_until_ms)
        if free := [deployment_id for deployment_id in found if deployment_id not in self._driven]:
            until_ms = now_ms + services.settings.deployment_lease_ms
            for deployment_id in await services.database.write(leases.take, free, self._owner, now_ms, until_ms):
                self._driven.add(deployment_id)
                tasks.start_soon(self._drive, deployment_id)

    async def _activate(self, deployment_id: str, now_ms: int) -> None:
        try:
            await self._services.database.write(_activate, self._services, deployment_id, now_ms)
            self._notifier.notify_of_events()
        except Locked:
            log.warning("a scheduled deployment is locked by others", extra={"deployment_id": deployment_id})

    def _writes(self) -> DriverWrites:
        services, settings = self._services, self._services.settings
        return DriverWrites(
            database=services.database,
            clock=services.clock,
            ids=services.ids,
            owner=self._owner,
            lease_ms=settings.deployment_lease_ms,
            public_url=settings.public_url,
            events_written=self._notifier.notify_of_events,
        )

    async def _driver_of(self, deployment_id: str) -> Runner | BothNetworks | LiveInbound:
        services, writes = self._services, self._writes()
        scale = services.settings.sim_time_scale
        kind = await services.database.read(_kind, deployment_id)
        if kind.call_type == "inbound" and not kind.simulated:
            return LiveInbound(writes)
        if kind.call_type == "inbound":
            webhook = RoutingWebhook(services)
            simulated = SimulatedInbound(writes, webhook, time_scale=scale, ends=lambda: self._is_ending)
            return BothNetworks([simulated.drive, LiveInbound(writes).drive])
        return Runner(writes, time_scale=scale, ends=lambda: self._is_ending, predial=self._predial)

    async def _drive(self, deployment_id: str) -> None:
        try:
            driver = await self._driver_of(deployment_id)
            await driver.drive(deployment_id)
        except* LeaseLost:
            log.warning("a deployment is driven by another process now", extra={"deployment_id": deployment_id})
        except* StorageUnavailable:
            await anyio.sleep(RETRY_S)
        except* Locked:
            log.warning("rows that a deployment needs are locked by others", extra={"deployment_id": deployment_id})
            await anyio.sleep(RETRY_S)
        except* Exception as failed:
            given = {"deployment_id": deployment_id}
            if failed.split(lambda one: unavailable_because(one) is not None)[1] is None:
                log.warning("a deployment could not be driven: the database ended a transaction", extra=given)
            else:
                log.exception("driving a deployment failed", extra=given)
            await anyio.sleep(RETRY_S)
        try:
            await self._services.database.write(leases.release, deployment_id, self._owner)
        except (StorageUnavailable, Locked):
            pass  # this process resumes it, or the lease expires
        except Exception:  # the same applies
            log.exception("giving back a lease failed", extra={"deployment_id": deployment_id})
        finally:
            self._driven.discard(deployment_id)
        self._due.notify()
        if not self._driven:
            self._none_driven.set()


@brief
def _scheduled(connection: Connection, now_ms: int) -> Sequence[Row[Any]]:
    """Scheduled deployments whose start is due, the earliest first."""
    return connection.execute(_SCHEDULED, {"now": now_ms}).all()


def _activate(connection: Connection, services: Services, deployment_id: str, now_ms: int) -> None:
    """Starts a scheduled deployment whose start is due, or pauses it with the reason why it may not start."""
    row: Row[Any] | None = connection.execute(
        _SCHEDULED.where(deployments.c.id == deployment_id).with_for_update(of=deployments, skip_locked=True),
        {"now": now_ms},
    ).one_or_none()
    if row is None:
        return
    try:
        given: dict[str, Any] = {"settings": services.settings, "now_ms": now_ms}
        refusals = start_guards.start_refusals(connection, PRICE_PLANS[row.plan], row, agent_of(row), **given)
    except Refusal as refusal:
        refusals = [refusal]
    if refusals:
        endings.pause_holding_lock(connection, services.ids, row, refusals[0].problem.code, now_ms=now_ms)
        return
    public_url = services.settings.public_url
    if compliance_checks.paused_for_review(connection, services.ids, row, now_ms=now_ms, public_url=public_url):
        return
    activation.begin(connection, row, max(row.start_at, now_ms), now_ms=now_ms)
    entry = audit_log.entry_row(services.ids, row.org_id, "deployment.started", row.id, by=SERVICE, at_ms=now_ms)
    audit_log.add_entries(connection, [entry])


@brief
def _kind(connection: Connection, deployment_id: str) -> Row[str, bool]:
    """Whether a deployment calls or is called, and on which network."""
    return connection.execute(_KIND, {"id": deployment_id}).one()
