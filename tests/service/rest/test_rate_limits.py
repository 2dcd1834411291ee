"""How many requests a key may make, and what every answer says of it."""

from pathlib import Path

import pytest
from sqlalchemy import insert, update

from callwright.service import accounts
from callwright.service.rest.authentication.known_keys import RECENT_MS
from callwright.service.tables.schema import organizations, request_days
from tests.support.clock_set_by_test import NOON_MS, MovableClock, Process, process_with_fixed_clock
from tests.support.database.databases import Engine
from tests.support.http.raw_requests import AsyncClient, Response, refused
from tests.support.service import Tenant, open_service

DAY_MS = 86_400_000
RATE_HEADERS = ("x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset")


def told(response: Response) -> tuple[int, ...]:
    """Limit, what is left, and when it is whole again."""
    return tuple(int(response.headers[name]) for name in RATE_HEADERS)


async def made_today(tenant: Tenant, count: int) -> None:
    """As if the key had made so many requests today."""
    row = {"key_id": await key_id(tenant), "day": NOON_MS // DAY_MS, "requests": count}
    await tenant.database.write(lambda connection: connection.execute(insert(request_days), row).rowcount)


async def key_id(tenant: Tenant) -> str:
    rows = await tenant.database.read(accounts.keys_of, tenant.org_id)
    return rows[0].id


@pytest.mark.requirement(
    "RATE-01", "RATE-02", "RATE-06", "RATE-07", "RATE-08", "RATE-09", "RATE-10", "RATE-16", "ERR-17", "ERR-41", "ERR-73"
)
@pytest.mark.service(plan="starter")
async def test_a_sixth_request_in_a_second_of_the_starter_plan_is_one_too_many(
    tenant: Tenant, process: Process
) -> None:
    for left in (4, 3, 2, 1, 0):
        answer = await process.http.get("/v1/agents")
        assert answer.status_code == 200
        assert told(answer) == (5, left, NOON_MS // 1000 + 1)
    refusal = await process.http.get("/v1/agents")
    refused(refusal, 429, "rate_limited")
    assert told(refusal) == (5, 0, NOON_MS // 1000 + 1)
    assert refusal.headers["retry-after"] == "1"
    process.clock.move(200)
    assert (await process.http.get("/v1/agents")).status_code == 200
    refused(await process.http.get("/v1/agents"), 429, "rate_limited")


@pytest.mark.requirement("RATE-07", "RATE-16")
@pytest.mark.service(plan="starter")
async def test_the_wait_ends_when_there_is_room_not_when_the_limit_is_whole(tenant: Tenant, process: Process) -> None:
    process.clock.move(500)
    for _ in range(5):
        await process.http.get("/v1/agents")
    refusal = await process.http.get("/v1/agents")
    refused(refusal, 429, "rate_limited")
    assert refusal.headers["retry-after"] == "1"  # there is room after 0.2 s; the limit is whole after 1 s
    change = update(organizations).where(organizations.c.id == tenant.org_id).values(requests_per_second=1)
    await tenant.database.write(lambda connection: connection.execute(change).rowcount)
    process.clock.move(RECENT_MS)  # for writes, another limit takes effect by then
    rentals = [await process.http.post("/v1/phone_numbers", json={}) for _ in range(2)]
    assert [(answer.status_code, answer.headers.get("retry-after")) for answer in rentals] == [(400, None), (429, "5")]
    process.clock.move(3_500)
    later = await process.http.post("/v1/phone_numbers", json={})
    refused(later, 429, "rate_limited")
    assert later.headers["retry-after"] == "2"
    process.clock.move(1_500)
    assert (await process.http.post("/v1/phone_numbers", json={})).status_code == 400


@pytest.mark.requirement("RATE-03", "RATE-04", "RATE-13")
@pytest.mark.parametrize(("plan", "per_second"), [("pro", 25), ("growth", 100)])
async def test_a_plan_allows_its_requests_in_one_burst_and_then_evenly(
    database_url: str, tmp_path: Path, plan: str, per_second: int
) -> None:
    async with (
        open_service(database_url, tmp_path, plan=plan, workers=False) as tenant,
        process_with_fixed_clock(tenant) as process,
    ):
        for _ in range(per_second):
            assert (await process.http.get("/v1/wallet")).status_code == 200
        refused(await process.http.get("/v1/wallet"), 429, "rate_limited")
        process.clock.move(500)
        answers = [(await process.http.get("/v1/wallet")).status_code for _ in range(per_second)]
        assert answers.count(200) == per_second // 2


@pytest.mark.requirement("RATE-05")
async def test_an_enterprise_organization_has_what_was_negotiated(tenant: Tenant, process: Process) -> None:
    free = await process.http.get("/v1/wallet")
    assert not set(RATE_HEADERS) & set(free.headers)
    change = update(organizations).where(organizations.c.id == tenant.org_id).values(requests_per_second=2)
    await tenant.database.write(lambda connection: connection.execute(change).rowcount)
    found = [(await process.http.get("/v1/wallet")).status_code for _ in range(3)]
    assert found == [200, 200, 429]


@pytest.mark.requirement("RATE-11", "RATE-14", "RATE-12")
@pytest.mark.service(plan="starter")
async def test_each_group_of_endpoints_is_counted_for_itself(tenant: Tenant, process: Process) -> None:
    paths = ("agents", "audiences", "phone_numbers", "deployments", "calls", "voices", "wallet")
    for path in paths:
        for left in (4, 3, 2, 1, 0):
            assert told(await process.http.get(f"/v1/{path}"))[1] == left, path
        refused(await process.http.get(f"/v1/{path}"), 429, "rate_limited")
    writes = [await process.http.post("/api/v1/phone-numbers", json={}) for _ in range(2)]
    assert [answer.status_code for answer in writes] == [400, 429]
    assert told(writes[0])[0] == 1
    imports = [await process.http.post("/v1/audiences/aud_x/imports", json={"csv": "a"}) for _ in range(2)]
    assert [answer.status_code for answer in imports] == [404, 429]


@pytest.mark.requirement("AUTH-22")
@pytest.mark.service(plan="starter")
async def test_another_key_of_the_organization_has_limits_of_its_own(tenant: Tenant, process: Process) -> None:
    other = await tenant.database.write(accounts.create_key, tenant.services.ids, tenant.org_id, "other", NOON_MS)
    for _ in range(5):
        await process.http.get("/v1/agents")
    refused(await process.http.get("/v1/agents"), 429, "rate_limited")
    answer = await process.http.get("/v1/agents", headers={"Authorization": f"Bearer {other.secret}"})
    assert told(answer)[1] == 4


@pytest.mark.requirement("RATE-15", "RATE-17", "RATE-16", "ERR-17", "ERR-74")
@pytest.mark.service(plan="starter")
async def test_the_requests_of_a_day_end_at_the_quota_and_begin_anew_at_midnight(tenant: Tenant) -> None:
    await made_today(tenant, 4_997)
    async with process_with_fixed_clock(tenant) as process:
        midnight_s = NOON_MS // 1000 + 43_200
        assert told(await process.http.get("/v1/agents")) == (5_000, 2, midnight_s)
        assert told(await process.http.get("/v1/calls")) == (5_000, 1, midnight_s)
        assert told(await process.http.get("/v1/calls")) == (5_000, 0, midnight_s)
        refusal = await process.http.get("/v1/calls")
        refused(refusal, 429, "daily_quota_exceeded")
        assert refusal.headers["retry-after"] == "43200"
        process.clock.move(DAY_MS // 2)
        assert told(await process.http.get("/v1/calls"))[:2] == (5, 4)


@pytest.mark.service(plan="starter")
async def test_what_was_counted_today_outlives_a_restart(tenant: Tenant) -> None:
    clock = MovableClock()
    async with process_with_fixed_clock(tenant, clock=clock) as process:
        for _ in range(7):
            clock.move(1_000)
            assert (await process.http.get("/v1/agents")).status_code == 200
        await process.services.limits.keep(clock.now_ms())
        await process.services.limits.keep(clock.now_ms())
    await made_more(tenant, 4_991)
    async with process_with_fixed_clock(tenant, clock=clock) as after:
        assert told(await after.http.get("/v1/calls"))[1] == 1


async def made_more(tenant: Tenant, count: int) -> None:
    """As if the key had made so many more requests, in a table that a crash has emptied on Postgres."""

    def add(connection: object) -> None:
        from sqlalchemy import Connection, delete

        from callwright.service.tables.schema import request_levels

        assert isinstance(connection, Connection)
        connection.execute(delete(request_levels))
        connection.execute(update(request_days).values(requests=request_days.c.requests + count))

    await tenant.database.write(add)


@pytest.mark.requirement("RATE-18")
@pytest.mark.service(plan="starter")
async def test_processes_on_postgres_share_the_counts(engine: Engine, tenant: Tenant) -> None:
    clock = MovableClock()
    async with (
        process_with_fixed_clock(tenant, clock=clock) as first,
        process_with_fixed_clock(tenant, clock=clock) as second,
    ):
        for process in (first, second, first, second, first):
            assert (await process.http.get("/v1/agents")).status_code == 200
        assert (await second.http.get("/v1/agents")).status_code == (429 if engine == "postgres" else 200)


@pytest.mark.service(plan="starter")
async def test_a_refused_request_counts_as_one_too(tenant: Tenant, process: Process) -> None:
    for path in ("/v1/agents/agt_x", "/v1/agents?sort=x", "/v1/agents", "/v1/agents", "/v1/agents"):
        assert (await process.http.get(path)).status_code in (200, 400, 404)
    refused(await process.http.get("/v1/agents"), 429, "rate_limited")


@pytest.mark.service(plan="starter")
async def test_paths_that_do_not_exist_are_counted_together(tenant: Tenant, process: Process) -> None:
    for number in range(5):
        refused(await process.http.get(f"/v1/nowhere{number}"), 404, "not_found")
    refused(await process.http.get("/v1/elsewhere"), 429, "rate_limited")


@pytest.mark.service(plan="starter")
async def test_requests_without_a_working_key_are_not_counted(tenant: Tenant, process: Process) -> None:
    for _ in range(6):
        answer = await process.http.get("/v1/agents", headers={"Authorization": "Bearer svc_live_x"})
        assert answer.status_code == 401
        assert not set(RATE_HEADERS) & set(answer.headers)


@pytest.mark.requirement("AUTH-42")
async def test_an_address_that_guesses_keys_is_slowed_down_while_good_keys_pass(
    tenant: Tenant, process: Process
) -> None:
    unknown = {"Authorization": f"Bearer svc_live_{'0' * 48}"}
    found = [(await process.http.get("/v1/agents", headers=unknown)).status_code for _ in range(31)]
    assert found == [401] * 30 + [429]
    answer = await process.http.get("/v1/agents", headers=unknown)
    assert answer.headers["retry-after"] == "60"
    assert (answer.headers["x-ratelimit-limit"], answer.headers["x-ratelimit-remaining"]) == ("30", "0")
    assert int(answer.headers["x-ratelimit-reset"]) * 1_000 >= process.clock.now_ms() + 59_000
    assert (await process.http.get("/v1/agents")).status_code == 200
    process.clock.move(60_000)
    assert (await process.http.get("/v1/agents", headers=unknown)).status_code == 401


@pytest.mark.requirement("VER-04")
@pytest.mark.service(plan="starter")
async def test_the_drafts_fields_come_with_the_beta_feature_alone(tenant: Tenant, process: Process) -> None:
    plain = await process.http.get("/v1/agents")
    assert "ratelimit" not in plain.headers
    answer = await process.http.get("/v1/agents", headers={"X-Service-Beta": "enable=ratelimit_fields"})
    assert answer.headers["ratelimit"] == '"default";r=3;t=1'
    assert answer.headers["ratelimit-policy"] == '"default";q=5;w=1'
    assert answer.headers["x-ratelimit-remaining"] == "3"


@pytest.mark.requirement("VER-04", "VER-10")
@pytest.mark.parametrize("header", ["", "enable=", "ratelimit_fields", "enable=nothing_such", "enable=a;b"])
async def test_a_beta_header_of_another_form_or_name_is_refused(http: AsyncClient, header: str) -> None:
    refused(await http.get("/v1/agents", headers={"X-Service-Beta": header}), 400, "invalid_field", "X-Service-Beta")
    good = await http.get("/v1/agents", headers={"X-Service-Beta": "enable=ratelimit_fields"})
    assert (good.status_code, good.headers["x-service-beta"]) == (200, "enable=ratelimit_fields")
