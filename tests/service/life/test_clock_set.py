"""A clock that is an hour or a month ahead and is put right: nothing is deleted or charged early, nothing stands still.

The whole service runs, with a wall clock that is set while campaigns, retries, limits and retention are under way.
"""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from time import time
from typing import Any
from zoneinfo import ZoneInfo

import anyio
import pytest
from sqlalchemy import Connection, func, select, update

from callwright.client import Client
from callwright.client.transport import ASGITransport
from callwright.contract.checks.address_ranges import LOOPBACK
from callwright.contract.deployments.dialling import RetryPolicy
from callwright.contract.events import DEPLOYMENT_PAUSED
from callwright.service.app import running
from callwright.service.platform.clock.clock import DAY, HOUR, MINUTE, moment
from callwright.service.rules.regions.rule_file import shipped_rules
from callwright.service.settings import ServiceSettings
from callwright.service.tables import clock_record, future_moments, rules_files
from callwright.service.tables.ledger import wallet_of
from callwright.service.tables.outbox import add_events, event_row
from callwright.service.tables.schema import (
    audit_log,
    deliveries,
    endpoint_queues,
    idempotency_keys,
    organizations,
    outbox,
    phone_numbers,
    service_state,
    webhooks,
)
from callwright.service.webhooks import retention
from callwright.service.workers import sweeps
from tests.support.campaign_invariants import campaign_records, check_everything
from tests.support.campaigns import draft, people, rent, started
from tests.support.clock_set_by_test import Wall
from tests.support.http.raw_requests import raw_client
from tests.support.service import BASE_URL, Tenant, open_service
from tests.support.webhooks.delivering import paused
from tests.support.webhooks.endpoints import saying, sink, status

MONTH = 31 * DAY
SOON_MS = 30 * MINUTE
"""So long before its time is over is everything that could be deleted."""
SCALE = 200.0
FRIDAY_NOON_MS = 1_796_403_600_000
"""2026-12-04T17:00:00Z, noon in New York."""
OFTEN = RetryPolicy(max_attempts=8, busy_interval_minutes=5, retry_on=["busy"], max_attempts_per_day=8)
POLICY = RetryPolicy(max_attempts=2, busy_interval_minutes=5, retry_on=["busy"])
ROWS = (outbox, deliveries, idempotency_keys, audit_log)
AHEAD = pytest.mark.parametrize("ahead_ms", [HOUR, MONTH], ids=["an hour", "a month"])


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is done every so many seconds is done at once."""
    monkeypatch.setattr(clock_record, "LOOK_S", 0.02)
    monkeypatch.setattr(sweeps, "EVERY_S", 0.05)
    monkeypatch.setattr(future_moments, "EVERY_S", 0.05)
    monkeypatch.setattr(retention, "BEGIN_S", 0.05)
    monkeypatch.setattr(retention, "EVERY_S", 0.05)


@asynccontextmanager
async def service(database_url: str, data: Path, wall: Wall, *, before: Tenant | None = None) -> AsyncGenerator[Tenant]:
    """A service with all its workers. `before` is its tenant from before a restart."""
    settings = ServiceSettings(data=data, database_url=database_url, sim_time_scale=SCALE, webhook_networks=LOOPBACK)
    with anyio.fail_after(60):
        if before is None:
            async with open_service(database_url, data, settings=settings, clock=wall.clock()) as tenant:
                yield tenant
            return
        async with running(settings, clock=wall.clock()) as made:
            async with Client(BASE_URL, before.api_key, transport=ASGITransport(app=made.asgi)) as client:
                yield Tenant(made, before.org_id, before.api_key, client)


async def passes(tenant: Tenant) -> None:
    """Waits until the clock was looked at, and everything was gone through, several times."""
    await anyio.sleep(0.6)
    await tenant.database.read(lambda connection: connection.execute(select(1)).scalar())


async def sure_since_long(tenant: Tenant) -> None:
    """As of a service that has run for days."""
    kept = service_state.c.name == "clock"
    find = select(service_state.c.value).where(kept)
    database = tenant.database
    while await database.read(lambda connection: connection.execute(find).scalar()) is None:  # noqa: ASYNC110  # the service goes on by itself
        await anyio.sleep(0.01)
    now_ms = tenant.services.clock.now_ms()
    await change(tenant, update(service_state).where(kept).values(value=json.dumps([now_ms, now_ms, now_ms])))
    await until_sure(tenant)


async def until_sure(tenant: Tenant) -> None:
    clock = tenant.services.clock
    while clock.now_ms() - clock.confirmed_now_ms() > MINUTE:  # noqa: ASYNC110  # the service goes on by itself
        await anyio.sleep(0.01)


async def change(tenant: Tenant, *statements: Any) -> None:
    def work(connection: Connection) -> None:
        for statement in statements:
            connection.execute(statement)

    await tenant.database.write(work)


async def counts(tenant: Tenant) -> list[int]:
    """How many rows there are that could be deleted."""

    def work(connection: Connection) -> list[int]:
        return [connection.execute(select(func.count()).select_from(table)).scalar_one() for table in ROWS]

    return await tenant.database.read(work)


async def nearly_over(tenant: Tenant, *, early_ms: int = SOON_MS) -> str:
    """Brings rows of every kind near the moment at which they are deleted, or a rent is due; gives the number's id."""
    now_ms = tenant.services.clock.now_ms() + early_ms
    number = await rent(tenant)
    async with raw_client(tenant) as http:
        body = {"name": "Once", "voice_id": "en-US-ada", "language": "en-US", "system_prompt": "Say hello."}
        made = await http.post("/v1/agents", json=body, headers={"Idempotency-Key": "once"})
        assert made.status_code == 201
    row = event_row(tenant.services.ids, tenant.org_id, DEPLOYMENT_PAUSED, paused("dep_1"), at_ms=now_ms)
    await tenant.database.write(add_events, [row])
    ids = tenant.services.ids
    old = {"id": ids.new("dlv"), "org_id": tenant.org_id, "webhook_id": "whk_old", "event_id": row["id"]}
    subscription = {
        "id": "whk_old",
        "org_id": tenant.org_id,
        "url": "https://example.com",
        "events": "[]",
        "description": "",
        "secret": "",
        "status": "disabled",
        "enabled_at": 1,
        "created_at": 1,
        "updated_at": 1,
    }
    delivery = {"event_type": row["type"], "cause": "test", "status": "succeeded", "created_at": now_ms - 30 * DAY}
    await change(
        tenant,
        webhooks.insert().values(subscription),
        deliveries.insert().values({**old, **delivery}),
        update(outbox).values(created_at=now_ms - 30 * DAY, fanned_out_at=1),
        update(idempotency_keys).values(created_at=now_ms - DAY),
        update(audit_log).values(at=now_ms - 365 * DAY),
        update(phone_numbers).values(renews_at=now_ms),
    )
    return number.id


async def money(tenant: Tenant) -> int:
    found = await tenant.database.read(lambda connection: wallet_of(connection, tenant.org_id))
    return found.balance_micros


@AHEAD
@pytest.mark.parametrize("restarts", [False, True], ids=["running", "restarted"])
async def test_nothing_is_deleted_charged_or_done_twice_early(
    ahead_ms: int, restarts: bool, database_url: str, tmp_path: Path
) -> None:
    wall = Wall()
    async with service(database_url, tmp_path, wall) as tenant:
        await sure_since_long(tenant)
        number_id = await nearly_over(tenant)
        before, balance = await counts(tenant), await money(tenant)
        assert all(before)

        async def unharmed(at: Tenant) -> None:
            await passes(at)
            assert [now >= then for now, then in zip(await counts(at), before, strict=True)] == [True] * len(ROWS)
            assert await money(at) == balance
            status_of = select(phone_numbers.c.status, phone_numbers.c.renews_at).where(phone_numbers.c.id == number_id)
            row = await at.service.services.database.read(lambda connection: connection.execute(status_of).one())
            assert (row.status, row.renews_at <= time() * 1_000 + SOON_MS) == ("active", True)
            gone = select(func.max(organizations.c.recordings_deleted_before))
            latest = await at.service.services.database.read(lambda connection: connection.execute(gone).scalar())
            assert (latest or 0) <= time() * 1_000 - 89 * DAY

        wall.ahead_ms = ahead_ms
        await unharmed(tenant)
        async with raw_client(tenant) as http:
            body = {"name": "Once", "voice_id": "en-US-ada", "language": "en-US", "system_prompt": "Say hello."}
            again = await http.post("/v1/agents", json=body, headers={"Idempotency-Key": "once"})
            assert again.headers["idempotent-replayed"] == "true"
        if not restarts:
            wall.ahead_ms = 0
            await unharmed(tenant)
    if restarts:
        async with service(database_url, tmp_path, wall, before=tenant) as tenant:
            await unharmed(tenant)
        wall.ahead_ms = 0
        async with service(database_url, tmp_path, wall, before=tenant) as tenant:
            await unharmed(tenant)
    async with service(
        database_url, tmp_path, wall, before=tenant
    ) as tenant:  # and once their time is over, all of it goes
        await until_sure(tenant)
        over_ms = tenant.services.clock.now_ms() - MINUTE
        before = await counts(tenant)
        await change(
            tenant,
            update(outbox).values(created_at=over_ms - 30 * DAY, fanned_out_at=1),
            update(deliveries).values(created_at=over_ms - 30 * DAY),
            update(idempotency_keys).values(created_at=over_ms - DAY),
            update(audit_log).values(at=over_ms - 365 * DAY),
            update(phone_numbers).values(renews_at=over_ms),
        )
        while True:
            now = await counts(tenant)
            if now[1:3] == [0, 0] and now[0] < before[0] and now[3] < before[3]:
                break
            await anyio.sleep(0.05)


@AHEAD
@pytest.mark.parametrize("when", ["running", "begun", "restarted"])
async def test_a_live_campaign_goes_on_and_dials_nobody_twice(
    ahead_ms: int, when: str, database_url: str, tmp_path: Path
) -> None:
    wall = Wall(ahead_ms if when != "running" else 0)
    async with service(database_url, tmp_path, wall) as tenant:
        made = await started(tenant, people(6, sim_outcome="busy"), retry_policy=POLICY)
        await _attempts(tenant, made.id, 3)
        if when == "running":
            wall.ahead_ms = ahead_ms
            await _attempts(tenant, made.id, 7)
        if when != "restarted":
            wall.ahead_ms = 0
            ended = await tenant.ended(made.id, within_s=40)
            assert ended.status_reason == "audience_exhausted"
            check_everything(await campaign_records(tenant.database, made.id), POLICY)
    if when == "restarted":
        wall.ahead_ms = 0
        async with service(database_url, tmp_path, wall, before=tenant) as later:
            await later.ended(made.id, within_s=40)
            check_everything(await campaign_records(later.service.services.database, made.id), POLICY)


async def _attempts(tenant: Tenant, deployment_id: str, count: int) -> None:
    while len((await tenant.client.calls.list(deployment_id=deployment_id)).data) < count:  # noqa: ASYNC110  # the service goes on by itself
        await anyio.sleep(0.02)


@pytest.mark.parametrize("ahead_ms", [30_000, HOUR, MONTH], ids=["half a minute", "an hour", "a month"])
@pytest.mark.parametrize("restarts", [False, True], ids=["running", "restarted"])
async def test_retries_and_new_subscriptions_get_their_events_once_the_clock_is_right(
    ahead_ms: int, restarts: bool, database_url: str, tmp_path: Path
) -> None:
    answer = status(503)

    async def answering(writer: asyncio.StreamWriter) -> None:
        await saying(answer)(writer)

    async def happen(tenant: Tenant, name: str) -> None:
        services = tenant.services
        row = event_row(services.ids, org_id, DEPLOYMENT_PAUSED, paused(name), at_ms=services.clock.now_ms())
        await services.database.write(add_events, [row])
        services.wake()

    async with sink(answering) as target:
        wall = Wall(ahead_ms)
        async with service(database_url, tmp_path, wall) as tenant:
            org_id = tenant.org_id
            await tenant.client.webhooks.create(url=target.url(), events=["deployment.paused"])
            await happen(tenant, "dep_before")
            await target.arrivals.acquire()
            if not restarts:
                await anyio.sleep(0.3)
                answer = status(200)
                wall.ahead_ms = 0
                await happen(tenant, "dep_after")
                await _all_arrived(tenant, 2)
        if restarts:
            answer = status(200)
            wall.ahead_ms = 0
            async with service(database_url, tmp_path, wall, before=tenant) as tenant:
                await happen(tenant, "dep_after")
                await _all_arrived(tenant, 2)
        assert len(target.requests) == 3


async def _all_arrived(tenant: Tenant, count: int) -> None:
    statement = select(deliveries.c.status)
    while True:
        found = await tenant.database.read(lambda connection: connection.execute(statement).scalars().all())
        if list(found) == ["succeeded"] * count:
            return
        await anyio.sleep(0.02)


@AHEAD
@pytest.mark.parametrize("restarts", [False, True], ids=["running", "restarted"])
async def test_a_key_has_its_requests_again_within_seconds(
    ahead_ms: int, restarts: bool, database_url: str, tmp_path: Path
) -> None:
    async def answers_of(tenant: Tenant, key: str) -> int:
        async with raw_client(tenant, key=key) as http:
            return (await http.get("/v1/agents")).status_code

    wall = Wall(ahead_ms)
    async with service(database_url, tmp_path, wall) as tenant:
        async with tenant.another_organization(plan="starter") as other:
            for _ in range(60):
                if await answers_of(tenant, other.api_key) == 429:
                    break
            else:
                raise AssertionError("nothing was too much")
            wall.ahead_ms = 0
            if not restarts:
                await anyio.sleep(1.1)
                assert await answers_of(tenant, other.api_key) == 200
    if restarts:
        async with service(database_url, tmp_path, wall, before=tenant) as tenant:
            assert await answers_of(tenant, other.api_key) == 200


async def test_a_lease_that_was_taken_while_the_clock_was_ahead_runs_out_from_now_on(
    database_url: str, tmp_path: Path
) -> None:
    wall = Wall()
    async with service(database_url, tmp_path, wall) as tenant:
        made = await tenant.client.webhooks.create(url="https://example.com", events=["*"])
        until_ms = tenant.services.clock.now_ms() + MONTH
        queues = endpoint_queues
        await change(tenant, update(queues).values(lease_owner="wrk_gone", lease_until=until_ms, due_at=until_ms))
        find = select(queues.c.lease_until, queues.c.due_at).where(queues.c.webhook_id == made.id)
        while True:
            row = await tenant.database.read(lambda connection: connection.execute(find).one())
            latest_ms = tenant.services.clock.now_ms() + tenant.services.settings.delivery_lease_ms
            if row.lease_until <= latest_ms and row.due_at <= latest_ms:
                return
            await anyio.sleep(0.02)


async def test_a_plan_that_was_made_while_the_clock_was_ahead_is_over_once_it_is_right(
    database_url: str, tmp_path: Path
) -> None:
    wall = Wall(MONTH)
    async with service(database_url, tmp_path, wall) as tenant:
        made = await draft(tenant, people(1))
        plan_id = (await tenant.client.deployments.preview(id=made.id)).plan_id
        wall.ahead_ms = 0
        async with raw_client(tenant) as http:
            answer = await http.post(f"/v1/deployments/{made.id}/start", json={"plan_id": plan_id})
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "plan_expired")


@pytest.mark.parametrize("ahead_ms", [12 * HOUR, -12 * HOUR, MONTH], ids=["half a day", "half a day back", "a month"])
async def test_nobody_is_called_outside_the_hours_or_beyond_the_caps_after_the_clock_was_set(
    ahead_ms: int, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules_files, "shipped", shipped_rules)
    at_noon_ms = FRIDAY_NOON_MS - round(time() * 1_000)
    wall = Wall(at_noon_ms)
    async with service(database_url, tmp_path, wall) as tenant:
        made = await started(tenant, people(4, area="305", sim_outcome="busy"), retry_policy=OFTEN)
        await passes(tenant)
        wall.ahead_ms = at_noon_ms + ahead_ms
        await passes(tenant)
        wall.ahead_ms = at_noon_ms
        await passes(tenant)
        await tenant.client.deployments.pause(id=made.id)
        calls = (await campaign_records(tenant.database, made.id)).calls
    assert calls
    by_number: dict[str, list[int]] = {}
    for call in calls:
        local = moment(call.created_at).astimezone(ZoneInfo("America/New_York"))
        assert (9 <= local.hour < 20, local.weekday() < 6) == (True, True)
        by_number.setdefault(call.to_number, []).append(call.created_at)
    for times in by_number.values():
        assert all(sum(abs(one - other) < 24 * HOUR for other in times) <= 3 for one in times)
