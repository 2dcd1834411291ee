"""The client against the service itself: limits, quotas, lost answers, refusals and beta features, without help.

The service's clock stands, and the client's pauses move it.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import insert, update

from callwright.client import (
    AuthenticationFailed,
    Client,
    InvalidRequest,
    KeyOwnerRequired,
    NotFound,
    QuotaExceeded,
    RangeNotSatisfiable,
    RateLimited,
    Retries,
)
from callwright.client.transport import ASGITransport, AsyncBaseTransport, Request, Response, httpx
from callwright.contract.agents.agents import CreateAgent, create_agent
from callwright.service import accounts
from callwright.service.app import Application, pipeline_of
from callwright.service.tables.schema import api_keys, request_days
from tests.support.clock_set_by_test import NOON_MS, MovableClock, Process, process_with_fixed_clock
from tests.support.service import BASE_URL, Tenant
from tests.support.tasks import all_at_once

pytestmark = pytest.mark.service(plan="starter")

DAY_MS = 86_400_000
ADA: dict[str, Any] = {"voice_id": "en-US-ada", "language": "en-US", "system_prompt": "Say hello."}


class Pauses:
    """Stands for `sleep`: puts the service's clock forward."""

    def __init__(self, clock: MovableClock) -> None:
        self.clock = clock
        self.taken: list[float] = []

    async def __call__(self, wait_s: float) -> None:
        self.taken.append(wait_s)
        self.clock.move(round(wait_s * 1_000))


@asynccontextmanager
async def limited(
    tenant: Tenant, *, key: str | None = None, **options: Any
) -> AsyncGenerator[tuple[Client, Pauses, Process]]:
    """A client of a process whose clock its pauses move."""
    async with process_with_fixed_clock(tenant) as process:
        pauses = Pauses(process.clock)
        transport = ASGITransport(app=Application(process.services, pipeline_of(process.services)))
        made: dict[str, Any] = {"transport": transport, "sleep": pauses, "draw": lambda: 0.0, **options}
        async with Client(BASE_URL, key or tenant.api_key, **made) as client:
            yield client, pauses, process


@pytest.mark.requirement("RATE-19", "VER-06")
@pytest.mark.service(plan="starter")
async def test_requests_beyond_the_limit_wait_and_go_on_whatever_they_do(tenant: Tenant) -> None:
    async with limited(tenant) as (client, pauses, _):
        agents = [await client.agents.create(name=f"Ada {number}", **ADA) for number in range(6)]
        for agent in agents:
            await client.agents.update(id=agent.id, welcome_message="Hello.")
        for agent in agents:
            assert (await client.agents.get(id=agent.id)).welcome_message == "Hello."
            await client.agents.delete(id=agent.id)
        assert (await client.agents.list()).data == []
    assert pauses.taken == [1.0] * 4


@pytest.mark.requirement("RATE-19", "PAGE-13")
@pytest.mark.service(plan="starter")
async def test_a_walk_goes_on_behind_a_rate_limit_and_gives_each_entry_once(tenant: Tenant) -> None:
    async with limited(tenant) as (client, pauses, _):
        made = [(await client.agents.create(name=f"Ada {number}", **ADA)).id for number in range(13)]
        pauses.taken.clear()
        found = [agent.id async for agent in client.agents.list(per_page=1, sort="created_at")]
    assert found == made
    assert pauses.taken == [1.0] * 3


@pytest.mark.service(plan="starter")
async def test_many_requests_at_once_all_get_their_turn(tenant: Tenant) -> None:
    async with limited(tenant) as (client, pauses, _):
        balances: list[str] = []

        async def look() -> None:
            balances.append((await client.wallet.get()).balance.amount)

        await all_at_once(40, look, within_s=30)
    assert len(balances) == 40
    assert pauses.taken


@pytest.mark.service(plan="starter")
async def test_a_limit_that_is_never_free_is_raised_in_the_end_with_its_numbers(tenant: Tenant) -> None:
    taken: list[float] = []

    async def in_vain(wait_s: float) -> None:
        taken.append(wait_s)

    async with limited(tenant, sleep=in_vain, retries=Retries(longest_wait_s=3.0)) as (client, _, process):
        for _ in range(5):
            await client.wallet.get()
        with pytest.raises(RateLimited) as caught:
            await client.wallet.get()
        assert process.clock.at_ms == NOON_MS
    assert taken == [1.0] * 3
    assert (caught.value.code, caught.value.limit, caught.value.retry_after_s) == ("rate_limited", 5, 1.0)
    assert "Wait for `Retry-After` seconds, then go on more slowly. (wait 1 s)" in str(caught.value)


@pytest.mark.requirement("RATE-15", "ERR-74")
async def test_a_used_up_day_is_raised_at_once_with_the_moment_it_ends(tenant: Tenant) -> None:
    (key,) = await tenant.database.read(accounts.keys_of, tenant.org_id)
    made_today = insert(request_days).values(key_id=key.id, day=NOON_MS // DAY_MS, requests=4_999)
    await tenant.database.write(lambda connection: connection.execute(made_today).rowcount)
    async with limited(tenant) as (client, pauses, process):
        await client.wallet.get()
        with pytest.raises(QuotaExceeded) as caught:
            await client.agents.create(name="Ada", **ADA)
        assert pauses.taken == []
        assert caught.value.resets_at == datetime(2026, 11, 22, tzinfo=UTC)
        assert "(goes on at 2026-11-22T00:00:00Z)" in str(caught.value)
        process.clock.move(DAY_MS // 2 - 5_000)
        with pytest.raises(QuotaExceeded):
            await client.wallet.get()
        process.clock.move(5_000)
        await client.wallet.get()
        assert pauses.taken == []


class Lossy(AsyncBaseTransport):
    """Lets every request through and loses the first answers."""

    def __init__(self, transport: AsyncBaseTransport, losses: int) -> None:
        self._transport, self._losses = transport, losses
        self.sent: list[Request] = []

    async def handle_async_request(self, request: Request) -> Response:
        self.sent.append(request)
        response = await self._transport.handle_async_request(request)
        if len(self.sent) <= self._losses:
            await response.aread()
            raise httpx.ReadError("the connection broke")
        return response

    async def aclose(self) -> None:
        await self._transport.aclose()


@pytest.mark.requirement("IDEM-02", "IDEM-17")
async def test_a_creation_whose_answer_was_lost_three_times_makes_one_resource(tenant: Tenant) -> None:
    lossy = Lossy(ASGITransport(app=tenant.service.asgi), 3)
    async with limited(tenant, transport=lossy) as (client, _, _):
        made = await client.agents.create(name="Ada", **ADA)
        assert [agent.id async for agent in client.agents.list()] == [made.id]
    assert len({request.headers["idempotency-key"] for request in lossy.sent[:4]}) == 1


@pytest.mark.requirement("IDEM-16")
async def test_a_creation_asked_for_many_times_at_once_under_one_key_is_made_once(tenant: Tenant) -> None:
    made: list[str] = []

    async def create() -> None:
        asked = CreateAgent(name="Ada", **ADA)
        made.append((await tenant.client.ask(create_agent, asked, idempotency_key="same")).id)

    await all_at_once(20, create, within_s=30)
    assert [agent.id async for agent in tenant.client.agents.list()] == [made[0]]
    assert len(made) == 20
    assert len(set(made)) == 1


@pytest.mark.requirement("AUTH-26", "ERR-35")
async def test_a_key_without_its_creator_is_told_what_to_do_and_where(tenant: Tenant) -> None:
    orphaned = update(api_keys).values(created_by_user_id=None)
    await tenant.database.write(lambda connection: connection.execute(orphaned).rowcount)
    async with limited(tenant) as (client, pauses, _):
        with pytest.raises(KeyOwnerRequired) as caught:
            await client.agents.create(name="Ada", **ADA)
        assert (await client.audiences.create(name="Patients")).name == "Patients"
    assert pauses.taken == []
    assert caught.value.action_url == "http://service/settings/api-keys"
    said = str(caught.value)
    assert "Use a key made by a present member" in said
    assert "(action_url http://service/settings/api-keys)" in said


@pytest.mark.requirement("ERR-01", "ERR-03", "ERR-04", "ERR-07")
async def test_both_envelopes_become_errors_with_their_code_and_request(tenant: Tenant) -> None:
    async with limited(tenant, key="svc_live_" + "0" * 48) as (stranger, _, _):
        with pytest.raises(AuthenticationFailed) as flat:
            await stranger.wallet.get()
    async with limited(tenant) as (client, _, _):
        with pytest.raises(NotFound) as nested:
            await client.agents.get(id="agt_0Aa1Bb2Cc3Dd4Ee5Ff6Gg7H")
        with pytest.raises(InvalidRequest) as wrong:
            await client.agents.list(sort="nothing")
    assert (flat.value.code, nested.value.code, wrong.value.code) == ("invalid_api_key", "not_found", "invalid_field")
    assert wrong.value.field == "sort"
    for caught in (flat, nested, wrong):
        assert caught.value.request_id == caught.value.headers["x-request-id"]


@pytest.mark.requirement("VER-04", "VER-10")
@pytest.mark.service(plan="starter")
async def test_a_beta_feature_is_switched_on_for_the_client_and_an_unknown_one_is_named(tenant: Tenant) -> None:
    async with limited(tenant, beta=("ratelimit_fields",)) as (client, _, _):
        async with client.voices.get_preview(id="en-US-ada") as download:
            assert download.headers["x-service-beta"] == "enable=ratelimit_fields"
            assert download.headers["ratelimit"] == '"default";r=4;t=1'
    async with limited(tenant, beta=("nothing_such",)) as (client, _, _):
        with pytest.raises(InvalidRequest, match="ratelimit_fields") as caught:
            await client.wallet.get()
    assert (caught.value.code, caught.value.field) == ("invalid_field", "X-Service-Beta")


@pytest.mark.requirement("ERR-83")
async def test_a_range_behind_the_end_says_how_many_bytes_there_are(tenant: Tenant) -> None:
    preview = tenant.client.voices.get_preview(id="en-US-ada")
    async with preview as download:
        size = len(await download.read(10_000_000))
    with pytest.raises(RangeNotSatisfiable) as caught:
        async with preview.asking(range_bytes=(size, None)):
            raise AssertionError("there is nothing to open")
    async with preview.asking(range_bytes=(size - 2, None)) as download:
        assert len(await download.read(2)) == 2
    assert caught.value.total_bytes == size
