"""Who may move a deployment where, over the typed client. No workers run, so nobody is called meanwhile."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from callwright.contract.declaration.field_types import Spend
from callwright.contract.deployments.call_price import MICROS
from callwright.contract.deployments.dialling import Compliance
from callwright.service.platform.clock.clock import moment
from callwright.service.tables.ledger import Movement, book
from tests.support import resources
from tests.support.deployments.states import ACTIONS, act, deployment_in_state, event_types
from tests.support.resources import refusal, row
from tests.support.service import Tenant


@pytest.mark.requirement("STATE-16", "STATE-17", "STATE-18", "PATH-27", "ERR-66")
@pytest.mark.parametrize(
    ("status", "ends"),
    [
        ("draft", {"start": "active", "pause": None, "resume": None, "cancel": "cancelled"}),
        ("scheduled", {"start": "scheduled", "pause": "paused", "resume": None, "cancel": "cancelled"}),
        ("active", {"start": "active", "pause": "paused", "resume": "active", "cancel": "cancelled"}),
        ("paused", {"start": None, "pause": "paused", "resume": "active", "cancel": "cancelled"}),
        ("completed", dict.fromkeys(ACTIONS)),
        ("cancelled", {**dict.fromkeys(ACTIONS), "cancel": "cancelled"}),
        ("failed", dict.fromkeys(ACTIONS)),
    ],
)
async def test_every_action_in_every_state(tenant: Tenant, status: str, ends: dict[str, str | None]) -> None:
    for action in ACTIONS:
        deployment_id = await deployment_in_state(tenant, status)
        end = ends[action]
        if end is not None:
            assert await act(tenant, action, deployment_id) == end, (status, action)
        else:
            async with refusal(409, "invalid_state_transition") as kept:
                await act(tenant, action, deployment_id)
            assert kept[0].details["current_status"] == status
            allowed = kept[0].details["allowed"]
            moves = [name for name in ACTIONS if ends[name] not in (None, status)]
            if status == "scheduled":  # with a plan made while it is, or a jump of its clock
                moves = ["start", *moves]
            assert allowed == [*moves, *(["delete"] if status == "draft" else [])]


@pytest.mark.requirement("STATE-21", "PATH-26")
@pytest.mark.parametrize("status", ["scheduled", "active", "paused", "cancelled"])
async def test_only_a_draft_is_deleted(tenant: Tenant, status: str) -> None:
    kept_id, draft_id = await deployment_in_state(tenant, status), await deployment_in_state(tenant, "draft")
    async with refusal(409, "invalid_state_transition"):
        await tenant.client.deployments.delete(id=kept_id)
    await tenant.client.deployments.delete(id=draft_id)
    async with refusal(404, "not_found"):
        await tenant.client.deployments.get(id=draft_id)
    assert (await tenant.client.deployments.get(id=kept_id)).status == status


@pytest.mark.requirement("RES-18", "PATH-28")
async def test_a_start_makes_contacts_freezes_the_agent_and_counts(tenant: Tenant) -> None:
    rows = [row(0, ok="yes"), row(1, ok="no"), row(2, ok="YES")]
    agent, people = await resources.agent(tenant), await resources.audience(tenant, rows=rows)
    parts: dict[str, Any] = {"agent_id": agent.id, "audience_id": people.id}
    number = await resources.number(tenant)
    made = await tenant.client.deployments.create(
        name="D", phone_number_id=number.id, compliance=Compliance(consent_column="ok"), **parts
    )
    assert (await tenant.client.deployments.list_contacts(id=made.id)).data == []
    started = await tenant.client.deployments.start(id=made.id)
    assert (started.stats.contacts, started.stats.pending, started.stats.suppressed) == (3, 2, 1)
    assert started.started_at is not None
    assert started.next_dial_at is not None
    contacts = [entry async for entry in tenant.client.deployments.list_contacts(id=made.id)]
    assert [entry.status for entry in contacts] == ["pending", "suppressed", "pending"]
    assert [entry.phone_number for entry in contacts] == [entry["phone_number"] for entry in rows]
    assert [entry.next_attempt_at is None for entry in contacts] == [False, True, False]
    assert contacts[0].values["first_name"] == "Person 0"
    await tenant.client.agents.update(id=agent.id, system_prompt="Something else.")
    kept = (await tenant.client.deployments.get(id=made.id)).agent_snapshot
    assert kept is not None
    assert (kept.system_prompt, kept.name) == (agent.system_prompt, "Ada")
    found = tenant.client.deployments.list_contacts
    assert [entry.id async for entry in found(id=made.id, status=["suppressed"])] == [contacts[1].id]
    assert [entry.id async for entry in found(id=made.id, phone_number="+12125550102")] == [contacts[2].id]
    assert (await found(id=made.id, last_outcome="busy")).data == []
    assert (await found(id=made.id, last_disposition="goal_met")).data == []


async def test_rows_added_to_a_running_deployment_join_it(tenant: Tenant) -> None:
    campaign = await resources.draft(tenant)
    await tenant.client.deployments.start(id=campaign.deployment.id)
    await tenant.client.audiences.add_rows(id=campaign.audience.id, rows=[row(1), row(0), row(2)])
    after = await tenant.client.deployments.get(id=campaign.deployment.id)
    assert (after.stats.contacts, after.stats.pending) == (3, 3)
    await tenant.client.deployments.cancel(id=after.id)
    await tenant.client.audiences.add_rows(id=campaign.audience.id, rows=[row(3)])
    assert (await tenant.client.deployments.get(id=after.id)).stats.contacts == 3


@pytest.mark.requirement("STATE-14", "STATE-17")
async def test_a_cancellation_drops_what_is_pending_and_says_so_once(tenant: Tenant) -> None:
    deployment_id = await deployment_in_state(tenant, "active")
    await tenant.client.deployments.pause(id=deployment_id)
    await tenant.client.deployments.resume(id=deployment_id)
    done = await tenant.client.deployments.cancel(id=deployment_id)
    again = await tenant.client.deployments.cancel(id=deployment_id)
    assert again == done
    assert (done.status_reason, done.stats.pending, done.stats.cancelled) == ("manual", 0, 1)
    assert done.completed_at is not None
    assert done.next_dial_at is None
    assert await event_types(tenant) == ["deployment.paused", "deployment.resumed", "deployment.completed"]


@pytest.mark.requirement("STATE-04", "STATE-05", "STATE-11")
async def test_a_scheduled_start_waits_and_a_start_at_in_the_past_does_not(tenant: Tenant) -> None:
    now = moment(tenant.services.clock.now_ms())
    waits = await resources.draft(tenant, "Waits", auto_start=True, start_at=now + timedelta(hours=1))
    runs = await resources.draft(tenant, "Runs", auto_start=True, start_at=now - timedelta(hours=1))
    assert (waits.deployment.status, waits.deployment.started_at) == ("scheduled", None)
    assert runs.deployment.status == "active"
    client = tenant.client.deployments
    assert (await client.pause(id=waits.deployment.id)).status == "paused"
    assert (await client.resume(id=waits.deployment.id)).status == "scheduled"
    async with refusal(400, "invalid_field", "start_at"):
        await client.update(id=waits.deployment.id, start_at=None)
    async with refusal(400, "invalid_field", "start_at"):
        await client.update(id=waits.deployment.id, start_at=datetime(2020, 1, 1, tzinfo=UTC))
    other = await resources.agent(tenant, "Other", system_prompt="Something else for {{first_name}}.")
    changed = await client.update(id=waits.deployment.id, agent_id=other.id)
    assert changed.agent_snapshot is not None
    assert (changed.agent_snapshot.name, changed.agent_snapshot.system_prompt) == ("Other", other.system_prompt)


@pytest.mark.requirement("STATE-20")
async def test_what_may_change_depends_on_the_state(tenant: Tenant) -> None:
    update_ = tenant.client.deployments.update
    tunes: dict[str, Any] = {"max_concurrency": 5, "calls_per_second": 2.0, "metadata": {"a": "b"}}
    active = await deployment_in_state(tenant, "active")
    end_at = moment(tenant.services.clock.now_ms()) + timedelta(hours=1)
    tuned = await update_(id=active, name="Tuned", end_at=end_at, budget_cap=Spend(amount="1"), **tunes)
    assert (tuned.name, tuned.max_concurrency, tuned.calls_per_second) == ("Tuned", 5, 2.0)
    async with refusal(409, "invalid_state_transition", "ring_timeout_seconds") as kept:
        await update_(id=active, ring_timeout_seconds=20, max_concurrency=6)
    assert kept[0].details["current_status"] == "active"
    assert (await tenant.client.deployments.get(id=active)).max_concurrency == 5
    paused = await deployment_in_state(tenant, "paused")
    assert (await update_(id=paused, ring_timeout_seconds=20)).ring_timeout_seconds == 20
    agent_id, audience_id = tuned.agent_id, tuned.audience_id
    async with refusal(409, "invalid_state_transition", "agent_id"):
        await update_(id=paused, agent_id=agent_id)
    async with refusal(409, "invalid_state_transition", "audience_id"):
        await update_(id=paused, audience_id=audience_id)
    cancelled = await deployment_in_state(tenant, "cancelled")
    async with refusal(409, "invalid_state_transition", "name"):
        await update_(id=cancelled, name="New")


@pytest.mark.requirement("STATE-04", "ERR-20", "ERR-21", "ERR-43", "ERR-68", "ERR-71")
async def test_a_start_is_refused_with_its_reason_and_changes_nothing(tenant: Tenant) -> None:
    client = tenant.client
    campaign = await resources.draft(tenant)
    empty = await resources.audience(tenant, "Empty", rows=[])
    await client.deployments.update(id=campaign.deployment.id, audience_id=empty.id)
    async with refusal(422, "audience_not_ready") as kept:
        await client.deployments.start(id=campaign.deployment.id)
    assert kept[0].message == "the audience has no rows yet"
    await client.audiences.add_rows(id=empty.id, rows=[{"phone_number": "+12125550100"}])
    async with refusal(422, "audience_not_ready") as kept:
        await client.deployments.start(id=campaign.deployment.id)
    assert kept[0].details == {"missing_columns": ["first_name"]}
    assert (await client.deployments.preview(id=campaign.deployment.id)).problems == [kept[0].message]
    await client.deployments.update(id=campaign.deployment.id, audience_id=campaign.audience.id)
    services = tenant.services
    spent = Movement("adjustment", -98_840_000, "organization", tenant.org_id, "spent")
    now_ms = services.clock.now_ms()
    await services.database.write(
        lambda connection: book(connection, services.ids, tenant.org_id, [spent], now_ms=now_ms)
    )
    async with refusal(422, "insufficient_credits") as kept:
        await client.deployments.start(id=campaign.deployment.id)
    assert kept[0].details == {"required": "0.024000", "available": "0.010000"}
    assert "`callwright orgs fund NAME --amount N`" in kept[0].message
    back = Movement("adjustment", MICROS, "organization", tenant.org_id, "found again")
    await services.database.write(
        lambda connection: book(connection, services.ids, tenant.org_id, [back], now_ms=now_ms)
    )
    assert (await client.deployments.get(id=campaign.deployment.id)).status == "draft"
    assert await event_types(tenant) == []
    assert (await client.deployments.start(id=campaign.deployment.id)).status == "active"


@pytest.mark.requirement("LIMIT-10", "ERR-40", "ERR-69")
@pytest.mark.service(plan="starter")
async def test_the_plan_bounds_the_deployments_at_a_time(tenant: Tenant) -> None:
    campaign = await resources.draft(tenant)
    parts = campaign.parts
    started = [await tenant.client.deployments.create(name=f"D{index}", auto_start=True, **parts) for index in range(5)]
    async with refusal(422, "plan_limit_reached") as kept:
        await tenant.client.deployments.start(id=campaign.deployment.id)
    assert kept[0].details == {"limit": 5, "current": 5}
    async with refusal(422, "plan_limit_reached"):
        await tenant.client.deployments.create(name="D6", auto_start=True, **parts)
    assert (await tenant.client.deployments.list(name="D6")).data == []
    await tenant.client.deployments.pause(id=started[0].id)
    async with refusal(422, "plan_limit_reached"):
        await tenant.client.deployments.start(id=campaign.deployment.id)
    await tenant.client.deployments.cancel(id=started[0].id)
    assert (await tenant.client.deployments.start(id=campaign.deployment.id)).status == "active"
