"""Revisions: what is relied on by name is compared in the transaction that does it, and stays as it is until then."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from sqlalchemy import Connection, update

from callwright.contract.declaration.field_types import Spend
from callwright.contract.deployments.deployments import UpdateDeployment
from callwright.contract.deployments.dialling import CallingHours, Compliance, Recording, RetryPolicy, Voicemail, Window
from callwright.contract.deployments.inbound import BusinessHours
from callwright.service.accounts.principals import SERVICE
from callwright.service.handlers.request_context import RequestContext
from callwright.service.handlers.revisions import check_expected
from callwright.service.rules.organization_plans import PRICE_PLANS
from callwright.service.tables.schema import agents, phone_numbers
from tests.support import resources
from tests.support.held_writes import ends_soon, write_held_open
from tests.support.http.raw_requests import AsyncClient
from tests.support.prices import change_prices
from tests.support.resources import Campaign, refusal, row
from tests.support.service import Tenant

Change = Callable[[Tenant, Campaign], Awaitable[Any]]
HOURS = CallingHours(windows=[Window(days=["mon"], start="09:00", end="17:00")])


def agent(**changes: Any) -> Change:
    async def change(tenant: Tenant, made: Campaign) -> None:
        await tenant.client.agents.update(id=made.agent.id, **changes)

    return change


def deployment(**changes: Any) -> Change:
    async def change(tenant: Tenant, made: Campaign) -> None:
        await tenant.client.deployments.update(id=made.deployment.id, **changes)

    return change


def number(**changes: Any) -> Change:
    async def change(tenant: Tenant, made: Campaign) -> None:
        await tenant.client.phone_numbers.update(id=made.number.id, **changes)

    return change


def stored_number(**values: Any) -> Change:
    async def change(tenant: Tenant, made: Campaign) -> None:
        statement = update(phone_numbers).where(phone_numbers.c.id == made.number.id).values(**values)
        await tenant.database.write(lambda connection: connection.execute(statement).rowcount)

    return change


async def _bound(tenant: Tenant, made: Campaign) -> None:
    await tenant.client.deployments.create_inbound(name="Desk", agent_id=made.agent.id, phone_number_id=made.number.id)


async def _started(tenant: Tenant, made: Campaign) -> None:
    await tenant.client.deployments.start(id=made.deployment.id)


async def _other_parts(tenant: Tenant, made: Campaign) -> None:
    await tenant.client.deployments.update(id=made.deployment.id, agent_id=(await resources.agent(tenant, "Bea")).id)


async def _other_audience(tenant: Tenant, made: Campaign) -> None:
    await tenant.client.deployments.update(
        id=made.deployment.id, audience_id=(await resources.audience(tenant, "New")).id
    )


async def _other_numbers(tenant: Tenant, made: Campaign) -> None:
    other = await resources.number(tenant)
    await tenant.client.deployments.update(id=made.deployment.id, phone_number_ids=[other.id])


async def _rows(tenant: Tenant, made: Campaign) -> None:
    await tenant.client.audiences.add_rows(id=made.audience.id, rows=[row(7)])
    await tenant.client.audiences.import_csv(id=made.audience.id, csv="phone_number\n+12125550161\n")


async def _audience_described(tenant: Tenant, made: Campaign) -> None:
    await tenant.client.audiences.update(id=made.audience.id, description="Who comes on Monday")


async def revisions(tenant: Tenant, made: Campaign) -> dict[str, str | None]:
    """The revision of each part of a campaign, by its kind."""
    client = tenant.client
    return {
        "agent": (await client.agents.get(id=made.agent.id)).revision,
        "audience": (await client.audiences.get(id=made.audience.id)).revision,
        "deployment": (await client.deployments.get(id=made.deployment.id)).revision,
        "number": (await client.phone_numbers.get(id=made.number.id)).revision,
    }


SETTINGS: list[dict[str, Any]] = [
    {"name": "Other"},
    {"caller_id_strategy": "sticky"},
    {"start_at": datetime(2099, 1, 1, tzinfo=UTC)},
    {"end_at": datetime(2099, 1, 1, tzinfo=UTC)},
    {"calling_hours": HOURS},
    {"max_concurrency": 3},
    {"calls_per_second": 2.5},
    {"retry_policy": RetryPolicy(max_attempts=1)},
    {"voicemail": Voicemail(action="continue")},
    {"ring_timeout_seconds": 20},
    {"max_call_duration_seconds": 60},
    {"budget_cap": Spend(amount="1.00")},
    {"compliance": Compliance(purpose="survey")},
    {"predial_check_url": "https://example.com/check"},
    {"recording": Recording(announcement="always")},
    {"circuit_breaker": None},
    {"daily_budget_cap": Spend(amount="7.00")},
    {"ramp_up_seconds": 60},
    {"reserved_inbound_concurrency": 1},
]
MATTERS: list[tuple[set[str], Change]] = [
    ({"agent"}, agent(name="Bea")),
    ({"agent"}, agent(system_prompt="Sell something to {{first_name}}.")),
    ({"agent"}, agent(welcome_message="Hi!")),
    ({"agent"}, agent(voice_id="en-GB-olivia")),
    ({"agent"}, agent(language="en-GB")),
    ({"number"}, number(auto_renew=False)),
    ({"number"}, stored_number(monthly_micros=1)),
    ({"number"}, stored_number(status="suspended")),
    ({"number"}, stored_number(simulated=False)),
    ({"number"}, _bound),
    ({"deployment", "audience"}, _started),
    ({"deployment"}, _other_parts),
    ({"deployment"}, _other_audience),
    ({"deployment"}, _other_numbers),
    *(({"deployment"}, deployment(**changes)) for changes in SETTINGS),
]


@pytest.mark.requirement("RES-30")
@pytest.mark.parametrize(("changed", "change"), MATTERS)
async def test_what_matters_changes_the_revision_and_putting_it_back_gives_the_old_one(
    changed: set[str], change: Change, tenant: Tenant
) -> None:
    made = await resources.draft(tenant)
    before = await revisions(tenant, made)
    assert all(revision is not None and revision.startswith("rev_") for revision in before.values())
    await change(tenant, made)
    after = await revisions(tenant, made)
    assert {kind for kind in before if before[kind] != after[kind]} == changed


def test_each_setting_that_a_deployment_may_change_is_tried() -> None:
    tried = {"agent_id", "audience_id", "phone_number_ids"}
    tried |= {name for changes in SETTINGS for name in changes}
    inbound = {"inbound", "business_hours", "after_hours", "overflow", "recording_enabled"}
    assert set(UpdateDeployment.changing()) - {"id", "metadata"} - inbound <= tried


@pytest.mark.requirement("RES-30")
@pytest.mark.parametrize(
    "change",
    [
        agent(metadata={"a": "b"}),
        number(label="Front desk", metadata={"a": "b"}),
        deployment(metadata={"a": "b"}),
        _rows,
        _audience_described,
    ],
)
async def test_notes_labels_and_rows_do_not_change_a_revision(change: Change, tenant: Tenant) -> None:
    made = await resources.draft(tenant)
    await _started(tenant, made)
    before = await revisions(tenant, made)
    await change(tenant, made)
    assert await revisions(tenant, made) == before


@pytest.mark.requirement("RES-30")
async def test_an_audience_has_another_revision_once_a_campaign_of_it_starts_changes_or_ends(tenant: Tenant) -> None:
    made, client = await resources.draft(tenant), tenant.client
    seen = [(await revisions(tenant, made))["audience"]]
    await client.deployments.start(id=made.deployment.id)
    seen.append((await revisions(tenant, made))["audience"])
    await client.deployments.update(id=made.deployment.id, calls_per_second=9.0)
    seen.append((await revisions(tenant, made))["audience"])
    await client.deployments.pause(id=made.deployment.id)
    seen.append((await revisions(tenant, made))["audience"])
    assert len({*seen}) == 4
    await client.deployments.cancel(id=made.deployment.id)
    assert (await revisions(tenant, made))["audience"] == seen[0]


@pytest.mark.requirement("RES-30")
async def test_lists_show_the_same_revisions_and_none_of_audiences(tenant: Tenant) -> None:
    made, client = await resources.draft(tenant), tenant.client
    shown = await revisions(tenant, made)
    assert [one.revision for one in (await client.agents.list()).data] == [shown["agent"]]
    assert [one.revision for one in (await client.deployments.list()).data] == [shown["deployment"]]
    assert [one.revision for one in (await client.phone_numbers.list()).data] == [shown["number"]]
    assert [one.revision for one in (await client.audiences.list()).data] == [None]


Ask = Callable[[Tenant, Campaign, dict[str, str]], Awaitable[Any]]
ASKS: dict[str, Ask] = {
    "update_deployment": lambda tenant, made, expected: tenant.client.deployments.update(
        id=made.deployment.id, max_concurrency=7, expected_revisions=expected
    ),
    "nothing": lambda tenant, made, expected: tenant.client.deployments.update(
        id=made.deployment.id, expected_revisions=expected
    ),
    "start_deployment": lambda tenant, made, expected: tenant.client.deployments.start(
        id=made.deployment.id, expected_revisions=expected
    ),
    "create_inbound_deployment": lambda tenant, made, expected: tenant.client.deployments.create_inbound(
        name="Desk", agent_id=made.agent.id, phone_number_id=made.number.id, expected_revisions=expected
    ),
    "update_phone_number": lambda tenant, made, expected: tenant.client.phone_numbers.update(
        id=made.number.id, auto_renew=False, expected_revisions=expected
    ),
    "add_audience_rows": lambda tenant, made, expected: tenant.client.audiences.add_rows(
        id=made.audience.id, rows=[row(9)], expected_revisions=expected
    ),
    "import_audience": lambda tenant, made, expected: tenant.client.audiences.import_csv(
        id=made.audience.id, csv="phone_number\n+12125550161\n", expected_revisions=expected
    ),
}


@pytest.mark.requirement("RES-31", "ERR-96")
@pytest.mark.parametrize("operation", ASKS)
async def test_nothing_is_done_unless_all_that_is_expected_is_so(operation: str, tenant: Tenant, other: Tenant) -> None:
    made, theirs = await resources.draft(tenant), await resources.draft(other)
    shown = await revisions(tenant, made)
    ids = {
        "agent": made.agent.id,
        "audience": made.audience.id,
        "deployment": made.deployment.id,
        "number": made.number.id,
    }
    expected = {ids[kind]: str(revision) for kind, revision in shown.items()}
    foreign = {theirs.agent.id: str((await revisions(other, theirs))["agent"])}
    wrong: list[tuple[dict[str, str], list[str]]] = [
        *(({**expected, thing: "rev_00000000000000000000"}, [thing]) for thing in ids.values()),
        ({**expected, **foreign}, [*foreign]),
        ({**expected, "agt_none": "rev_00000000000000000000"}, ["agt_none"]),
        ({"what": "ever"}, ["what"]),
    ]
    stood = await tenant.client.audiences.get(id=made.audience.id)
    for given, changed in wrong:
        async with refusal(409, "revision_mismatch", "expected_revisions") as problem:
            await ASKS[operation](tenant, made, given)
        assert problem[0].details["changed"] == changed
        assert await revisions(tenant, made) == shown
        assert await tenant.client.audiences.get(id=made.audience.id) == stood
        assert (await tenant.client.deployments.list()).pagination.total == 1
    await ASKS[operation](tenant, made, expected)


@pytest.mark.requirement("RES-31")
async def test_an_inbound_deployment_goes_on_only_as_it_was(tenant: Tenant) -> None:
    speaker, called = await resources.agent(tenant), await resources.number(tenant)
    deployments = tenant.client.deployments
    made = await deployments.create_inbound(name="Desk", agent_id=speaker.id, phone_number_id=called.id)
    paused = await deployments.pause(id=made.id)
    assert made.revision != paused.revision
    hours = BusinessHours(timezone="Europe/Paris", windows=[Window(days=["mon"], start="09:00", end="17:00")])
    await deployments.update(id=made.id, business_hours=hours)
    async with refusal(409, "revision_mismatch", "expected_revisions"):
        await deployments.resume(id=made.id, expected_revisions={made.id: str(paused.revision)})
    now = await deployments.get(id=made.id)
    assert now.status == "paused"
    resumed = await deployments.resume(id=made.id, expected_revisions={made.id: str(now.revision)})
    assert resumed.status == "active"


@pytest.mark.requirement("RES-31")
async def test_more_than_ten_expectations_are_refused_by_name(tenant: Tenant, http: AsyncClient) -> None:
    made = await resources.draft(tenant)
    refused_ones: list[Any] = [
        {f"agt_{index}": "rev_0" for index in range(11)},
        {"agt_1": "r" * 65},
        {"agt_1": 5},
        {"agt_\x00": "rev_0"},
        [],
    ]
    for expected in refused_ones:
        answer = await http.patch(
            f"/v1/deployments/{made.deployment.id}", json={"name": "No", "expected_revisions": expected}
        )
        assert answer.status_code == 400
        assert answer.json()["error"]["field"].startswith("expected_revisions")
    assert (await tenant.client.deployments.get(id=made.deployment.id)).name == "Reminders"


@pytest.mark.requirement("ERR-97")
async def test_a_number_is_rented_at_the_expected_price_only(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = tenant.client.phone_numbers
    offer = (await numbers.search_available(country="US")).data[0]
    price = Spend(amount=offer.monthly_cost.amount)
    change_prices(monkeypatch, local=1_160_000)
    before = await tenant.client.wallet.get()
    async with refusal(409, "price_changed", "expected_monthly_cost") as problem:
        await numbers.rent(country="US", number=offer.number, expected_monthly_cost=price)
    assert problem[0].details["monthly_cost"] == "1.160000"
    assert await tenant.client.wallet.get() == before
    assert (await numbers.list()).pagination.total == 0
    rented = await numbers.rent(country="US", number=offer.number, expected_monthly_cost=Spend(amount="1.16"))
    assert rented.number == offer.number


def work_in(tenant: Tenant, connection: Connection) -> RequestContext:
    """A unit of work of the tenant's organization."""
    services = tenant.services
    return RequestContext(
        connection=connection,
        org_id=tenant.org_id,
        plan=PRICE_PLANS["enterprise"],
        principal=SERVICE,
        request_id="req_test",
        now_ms=services.clock.now_ms(),
        ids=services.ids,
        cursors=services.cursors,
        start_plan_seal=services.start_plan_seal,
        settings=services.settings,
    )


async def _prompt_stored(tenant: Tenant, made: Campaign) -> None:
    statement = update(agents).where(agents.c.id == made.agent.id).values(system_prompt="Sell gold.")
    await tenant.database.write(lambda connection: connection.execute(statement).rowcount)


HOLDS: dict[str, tuple[Callable[[Campaign], str], Change]] = {
    "agent": (lambda made: made.agent.id, _prompt_stored),
    "number": (lambda made: made.number.id, stored_number(auto_renew=False)),
    "deployment": (lambda made: made.deployment.id, deployment(max_concurrency=3)),
    "audience": (lambda made: made.audience.id, _started),
}


@pytest.mark.requirement("RES-31")
@pytest.mark.parametrize("kind", HOLDS)
async def test_what_was_compared_stays_so_until_the_request_is_done(kind: str, tenant: Tenant) -> None:
    """Whoever changes it waits: here while a unit of work that has compared it stands still."""
    made = await resources.draft(tenant)
    thing, change = HOLDS[kind]
    expected = {thing(made): str((await revisions(tenant, made))[kind])}
    asked = UpdateDeployment(id=made.deployment.id, expected_revisions=expected)

    def compare(connection: Connection) -> None:
        check_expected(asked, work_in(tenant, connection))

    async with write_held_open(tenant.database, compare) as tasks:
        assert not await ends_soon(tasks, partial(change, tenant, made))
    assert (await revisions(tenant, made))[kind] != expected[thing(made)]
