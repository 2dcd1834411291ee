"""How far the cap of a personal key reaches: into what other keys started, over imports, renewals and hand-overs."""

from collections.abc import Callable
from typing import Any

import anyio
import pytest
from sqlalchemy import update

from callwright.contract.declaration.field_types import Spend
from callwright.contract.deployments.deployments import Deployment
from callwright.contract.problems import SPENDING_CAP_REACHED
from callwright.contract.surface import OPERATIONS
from callwright.service.platform.clock.clock import DAY, moment
from callwright.service.tables import schema
from callwright.service.workers import imports, sweeps
from tests.support.campaigns import audience_of, draft, people, started
from tests.support.mcp.over_http import Served

ROWS = people(3, first=500, sim_outcome="voicemail")
SHORT: dict[str, Any] = {"max_call_duration_seconds": 120}
"""Calls for which all that they may cost is held back, so that a campaign costs its budget cap at most."""
CSV = "phone_number,first_name\n+14155509001,Zoe\n"

Change = Callable[[Deployment], dict[str, Any]]


async def _theirs(served: Served, status: str, name: str = "Theirs", **fields: Any) -> Deployment:
    """A campaign that the organization's own key has started."""
    tenant = served.tenant
    later = {"start_at": moment(tenant.services.clock.now_ms() + DAY)} if status == "scheduled" else {}
    bounded = {"budget_cap": Spend(amount="2.00"), "max_concurrency": 2, "calls_per_second": 1.0, **SHORT}
    made = await started(tenant, people(2, first=len(name) * 7), name, **{**bounded, **later, **fields})
    if status == "paused":
        await tenant.client.deployments.pause(id=made.id)
    found = await tenant.client.deployments.get(id=made.id)
    assert found.status == status
    return found


MORE: dict[str, dict[str, Any]] = {
    "a higher cap": {"budget_cap": {"amount": "3.00"}},
    "no cap": {"budget_cap": None},
    "more calls at once": {"max_concurrency": 9},
    "a higher pace": {"calls_per_second": 9},
    "no end": {"end_at": None},
    "a later end": {"end_at": "2090-01-01T00:00:00Z"},
    "more retries": {"retry_policy": {"max_attempts": 9}},
    "any hour": {"calling_hours": None},
    "a longer ring": {"ring_timeout_seconds": 60},
    "longer calls": {"max_call_duration_seconds": 3_000},
    "messages on mailboxes": {"voicemail": {"action": "leave_message", "message_template": "Hello."}},
    "another strategy": {"caller_id_strategy": "random"},
}


@pytest.mark.parametrize("status", ["scheduled", "active", "paused"])
async def test_a_capped_key_changes_nothing_of_others_by_which_it_could_spend_more(served: Served, status: str) -> None:
    made = await _theirs(served, status, end_at="2080-01-01T00:00:00Z")
    async with served.personal_assistant(cap_dollars=0.01) as hand:
        for what, changes in MORE.items():
            if status == "active" and not changes.keys() <= {
                "budget_cap",
                "max_concurrency",
                "calls_per_second",
                "end_at",
            }:
                continue
            said = await hand.refused("update_deployment", deployment_id=made.id, **changes)
            assert "another key" in said, what
    assert await served.tenant.client.deployments.get(id=made.id) == made


async def test_a_capped_key_may_slow_end_and_rename_what_another_key_has_started(served: Served) -> None:
    made = await _theirs(served, "active")
    key = await served.personal_key(cap_dollars=0.01)
    less = {"max_concurrency": 1, "calls_per_second": 0.5, "end_at": "2080-01-01T00:00:00Z", "name": "Slower"}
    async with served.assistant(key.secret) as hand:
        await hand.use("update_deployment", deployment_id=made.id, budget_cap={"amount": "1.00"}, **less)
        assert (await served.tenant.client.deployments.get(id=made.id)).max_concurrency == 1
        await hand.use("update_deployment", deployment_id=made.id, end_at="2079-01-01T00:00:00Z")
        assert (await hand.use("pause_deployment", deployment_id=made.id))["status"] == "paused"
        assert (await hand.use("cancel_deployment", deployment_id=made.id))["status"] == "cancelled"


@pytest.mark.parametrize("status", ["scheduled", "active", "paused"])
async def test_a_capped_key_adds_nobody_to_what_another_key_has_started(served: Served, status: str) -> None:
    made = await _theirs(served, status)
    async with served.personal_assistant(cap_dollars=0.01) as hand:
        said = await hand.refused("add_audience_rows", audience_id=audience_of(made), rows=ROWS)
        assert made.id in said
        assert "another key" in said
        assert "another key" in await hand.refused("import_audience", audience_id=audience_of(made), csv=CSV)
    assert (await served.tenant.client.audiences.get(id=audience_of(made))).row_count == 2
    assert await served.tenant.client.deployments.get(id=made.id) == made


async def test_a_capped_key_may_fill_an_audience_that_no_running_campaign_calls(served: Served) -> None:
    made = await draft(served.tenant, people(2), "Draft")
    async with served.personal_assistant(cap_dollars=0.01) as hand:
        assert (await hand.use("add_audience_rows", audience_id=audience_of(made), rows=ROWS))["added"] == 3
        await hand.use("import_audience", audience_id=audience_of(made), csv=CSV)
    services = served.tenant.services
    assert await imports.work_on_one(services, "wrk_test")
    assert (await served.tenant.client.audiences.get(id=audience_of(made))).valid_count == 6


async def test_people_join_the_own_campaign_of_a_capped_key_within_its_budget_cap(served: Served) -> None:
    made = await draft(served.tenant, people(2), "Mine", budget_cap=Spend(amount="1.00"), **SHORT)
    async with served.personal_assistant(cap_dollars=2.0) as hand:
        await hand.use("start_deployment", deployment_id=made.id)
        assert (await hand.use("add_audience_rows", audience_id=audience_of(made), rows=ROWS))["added"] == 3
        await hand.use("update_deployment", deployment_id=made.id, max_concurrency=20)
        await served.tenant.client.deployments.update(id=made.id, budget_cap=Spend(amount="9.00"))
        more = people(1, first=700)
        assert "2.00" in await hand.refused("add_audience_rows", audience_id=audience_of(made), rows=more)
        assert "2.00" in await hand.refused("update_deployment", deployment_id=made.id, max_concurrency=30)
        await hand.use("update_deployment", deployment_id=made.id, budget_cap={"amount": "8.00"})
        await hand.use("update_deployment", deployment_id=made.id, budget_cap={"amount": "2.00"}, max_concurrency=30)
        await served.tenant.client.deployments.update(id=made.id, budget_cap=None)
        assert "budget_cap" in await hand.refused("add_audience_rows", audience_id=audience_of(made), rows=more)
        await hand.use("pause_deployment", deployment_id=made.id)


@pytest.mark.requirement("ERR-79")
async def test_calls_that_go_on_when_the_budget_cap_is_reached_count_against_the_cap_of_a_key(served: Served) -> None:
    """A line costs up to 0.012 beyond the budget cap, however long calls are: they are covered minute by minute."""
    long = {"budget_cap": Spend(amount="0.90"), "max_concurrency": 300, "max_call_duration_seconds": 240}
    made = await draft(served.tenant, people(2), "Long calls", **long)
    other = await draft(served.tenant, people(2, first=50), "Other", **{**long, "budget_cap": Spend(amount="0.03")})
    async with served.personal_assistant(cap_dollars=1.0) as hand:
        said = await hand.refused("start_deployment", deployment_id=made.id)
        assert "1.344000 USD" in said  # 37 calls are held back for at once, 0.888 in all
        assert "Lower max_concurrency, max_call_duration_seconds or budget_cap" in said
        await hand.use("update_deployment", deployment_id=made.id, max_concurrency=8)
        await hand.use("start_deployment", deployment_id=made.id)
        assert "0.996000" in await hand.refused("start_deployment", deployment_id=other.id)
        await hand.refused("update_deployment", deployment_id=made.id, max_concurrency=9)
        await hand.refused("update_deployment", deployment_id=made.id, budget_cap={"amount": "0.905"})
        await hand.use("pause_deployment", deployment_id=made.id)
        await hand.use("update_deployment", deployment_id=made.id, max_call_duration_seconds=3_600)
        await hand.use("update_deployment", deployment_id=made.id, max_call_duration_seconds=120)
        await hand.use("update_deployment", deployment_id=made.id, max_concurrency=300)
        await hand.use("resume_deployment", deployment_id=made.id)
        assert (await hand.use("add_audience_rows", audience_id=audience_of(made), rows=ROWS))["added"] == 3


async def test_calls_under_way_count_after_a_campaign_is_cancelled_and_however_its_settings_change(
    served: Served,
) -> None:
    services = served.tenant.services
    long = {"budget_cap": Spend(amount="0.50"), "max_concurrency": 10, "max_call_duration_seconds": 240}
    made = await draft(served.tenant, people(2), "Long calls", **long)
    other = await draft(served.tenant, people(2, first=50), "Other", **{**long, "max_concurrency": 1})
    async with served.personal_assistant(cap_dollars=1.0) as hand:
        await hand.use("start_deployment", deployment_id=made.id)
        going = {"in_flight": 10, "spend_micros": 260_000, "reserved_micros": 240_000}
        under_way = update(schema.deployments).where(schema.deployments.c.id == made.id).values(**going)
        await services.database.write(lambda connection: connection.execute(under_way).rowcount)
        await hand.use("update_deployment", deployment_id=made.id, max_concurrency=1, budget_cap={"amount": "0.10"})
        assert "0.620000" in await hand.refused("start_deployment", deployment_id=other.id)
        await hand.use("pause_deployment", deployment_id=made.id)
        said = await hand.refused("update_deployment", deployment_id=made.id, max_call_duration_seconds=60)
        assert "max_call_duration_seconds" in said
        assert "under way" in said
        await hand.use("cancel_deployment", deployment_id=made.id)
        assert "0.620000" in await hand.refused("start_deployment", deployment_id=other.id)


async def test_an_import_of_a_capped_key_that_is_worked_on_later_adds_nobody_to_what_another_key_started(
    served: Served,
) -> None:
    services, client = served.tenant.services, served.tenant.client
    made = await _theirs(served, "active")
    queued = await client.audiences.import_csv(id=audience_of(made), csv=CSV)
    key = await served.personal_key(cap_dollars=0.01)
    theirs = update(schema.imports).where(schema.imports.c.id == queued.id).values(created_by_key_id=key.id)
    await services.database.write(lambda connection: connection.execute(theirs).rowcount)
    assert await imports.work_on_one(services, "wrk_test")
    found = await client.audiences.get_import(id=audience_of(made), import_id=queued.id)
    assert found.status == "failed"
    assert "another key" in str(found.status_reason)
    assert (await client.audiences.get(id=audience_of(made))).valid_count == 2
    assert (await client.deployments.get(id=made.id)).stats.contacts == 2


async def test_what_a_capped_key_spent_still_counts_once_another_key_has_resumed_the_campaign(served: Served) -> None:
    services, client = served.tenant.services, served.tenant.client
    made = await draft(served.tenant, people(2), "Taken over", budget_cap=Spend(amount="5.00"), **SHORT)
    second = await draft(served.tenant, people(2, first=50), "Second", budget_cap=Spend(amount="4.00"), **SHORT)
    async with served.personal_assistant(cap_dollars=5.0) as hand:
        await hand.use("start_deployment", deployment_id=made.id)
        spent = update(schema.deployments).where(schema.deployments.c.id == made.id).values(spend_micros=3_000_000)
        await services.database.write(lambda connection: connection.execute(spent).rowcount)
        await hand.use("pause_deployment", deployment_id=made.id)
        await client.deployments.resume(id=made.id)
        said = await hand.refused("start_deployment", deployment_id=second.id)
        assert "3.00" in said
        await hand.use("update_deployment", deployment_id=second.id, budget_cap={"amount": "2.00"})
        await hand.use("start_deployment", deployment_id=second.id)
        await client.deployments.pause(id=made.id)
        assert "5.00" in await hand.refused("resume_deployment", deployment_id=made.id)


async def test_a_key_answers_for_what_is_left_of_a_campaign_that_it_takes_over(served: Served) -> None:
    services = served.tenant.services
    made = await _theirs(served, "paused")
    spent = update(schema.deployments).where(schema.deployments.c.id == made.id).values(spend_micros=1_500_000)
    await services.database.write(lambda connection: connection.execute(spent).rowcount)
    small, large = await served.personal_key(cap_dollars=0.49), await served.personal_key(cap_dollars=0.5)
    async with served.assistant(small.secret) as hand:
        assert "0.49" in await hand.refused("resume_deployment", deployment_id=made.id)
    async with served.assistant(large.secret) as hand:
        assert (await hand.use("resume_deployment", deployment_id=made.id))["status"] == "active"
        assert (await hand.use("add_audience_rows", audience_id=audience_of(made), rows=ROWS))["added"] == 3


async def test_renewals_stop_where_the_cap_of_the_key_that_rented_ends(served: Served) -> None:
    services, client = served.tenant.services, served.tenant.client
    before = (await client.phone_numbers.rent(country="US")).monthly_cost
    async with served.personal_assistant(cap_dollars=float(before.amount) * 2) as hand:
        mine = (await hand.use("rent_phone_number", country="US"))["id"]
    due = update(schema.phone_numbers).values(renews_at=0)
    due = due.where(schema.phone_numbers.c.id == mine)
    for expected in ("current", "past_due"):
        await services.database.write(lambda connection: connection.execute(due).rowcount)
        await sweeps.run(services)
        assert (await client.phone_numbers.get(id=mine)).billing_status == expected


async def test_a_capped_key_turns_on_no_renewals_of_what_another_key_rented_and_another_key_may_take_its_own_over(
    served: Served,
) -> None:
    services, client = served.tenant.services, served.tenant.client
    theirs = await client.phone_numbers.rent(country="US", auto_renew=False)
    async with served.personal_assistant(cap_dollars=float(theirs.monthly_cost.amount)) as hand:
        said = await hand.refused("update_phone_number", phone_number_id=theirs.id, auto_renew=True)
        assert "another key" in said
        mine = (await hand.use("rent_phone_number", country="US"))["id"]
    await client.phone_numbers.update(id=mine, auto_renew=True)
    due = update(schema.phone_numbers).values(renews_at=0)
    due = due.where(schema.phone_numbers.c.id == mine)
    await services.database.write(lambda connection: connection.execute(due).rowcount)
    await sweeps.run(services)
    assert (await client.phone_numbers.get(id=mine)).status == "active"


async def test_a_capped_key_changes_nothing_about_who_may_call_in(served: Served) -> None:
    client = served.tenant.client
    campaign = await draft(served.tenant, people(1), "Any")
    number = campaign.phone_number_ids[0]
    bound = await client.deployments.create_inbound(
        name="Front desk", agent_id=campaign.agent_id, phone_number_id=number
    )
    async with served.personal_assistant(cap_dollars=100.0) as hand:
        for changes in ({"max_concurrency": 50}, {"inbound": {"business_hours": None}}):
            assert "spending cap" in await hand.refused("update_deployment", deployment_id=bound.id, **changes)
        await hand.use("update_deployment", deployment_id=bound.id, name="Reception")
        await hand.use("pause_deployment", deployment_id=bound.id)
        assert "spending cap" in await hand.refused("resume_deployment", deployment_id=bound.id)


async def test_two_starts_of_one_capped_key_at_the_same_time_wait_for_one_another(served: Served) -> None:
    made = [
        await draft(served.tenant, people(2, first=index * 10), f"No {index}", budget_cap=Spend(amount="1.00"), **SHORT)
        for index in range(6)
    ]
    key = await served.personal_key(cap_dollars=2.5)
    said: list[str] = []

    async def start(deployment: Deployment) -> None:
        async with served.assistant(key.secret) as hand:
            answer = await hand.result("start_deployment", deployment_id=deployment.id)
            said.append("refused" if answer.is_error else "active")
            assert not answer.is_error or "2.50" in str(answer.content)

    async with anyio.create_task_group() as tasks:
        for deployment in made:
            tasks.start_soon(start, deployment)
    assert sorted(said) == ["active"] * 2 + ["refused"] * 4


@pytest.mark.parametrize("name", sorted(name for name, operation in OPERATIONS.items() if operation.writes))
def test_of_each_operation_that_changes_anything_it_is_known_whether_it_can_spend(name: str) -> None:
    assert (name in SPENDS) != (name in SPENDS_NOTHING), f"say of {name} why it cannot spend, or check its key's cap"
    refuses = SPENDING_CAP_REACHED in OPERATIONS[name].problems
    assert refuses == (name in SPENDS)


SPENDS_NOTHING: dict[str, str] = {
    "create_agent": "calls nobody until a deployment uses it",
    "update_agent": "campaigns keep the agent they were started with; words let nobody in and call nobody",
    "delete_agent": "is refused while a deployment uses it",
    "set_provider": "is free; what a provider charges is between it and whoever holds its key",
    "remove_provider": "is refused while an agent or a campaign uses it",
    "set_call_tools": "campaigns keep the agent they were started with, with its tools",
    "set_call_tool_secret": "is a header of a request to an address of theirs",
    "create_audience": "no deployment calls a new audience",
    "update_audience": "changes its name and notes",
    "delete_audience": "is refused while a deployment calls it",
    "import_phone_number": "costs nothing here, and calls nobody",
    "talk_to_agent": "rings nobody and costs nothing here",
    "talk_to_number": "rings nobody and costs nothing here",
    "release_phone_number": "ends what is paid for it",
    "clone_deployment": "makes a draft, and a draft calls nobody",
    "delete_deployment": "removes a draft",
    "pause_deployment": "stops calls",
    "cancel_deployment": "stops calls",
    "hang_up_call": "ends a call; whoever talked is not called again",
    "resolve_call": "lets somebody be called whom the start of the campaign was counted with",
    "correct_disposition": "plans no call; do_not_call means fewer people are called",
    "add_do_not_call": "fewer people are called",
    "import_do_not_call": "fewer people are called",
    "remove_do_not_call": "lets somebody be called by campaigns whose start was counted with everybody",
    "decide_compliance_review": "resumes nothing",
    "ask_confirmation": "asks a person, and calls nobody",
    "export_person": "reads",
    "delete_person": "fewer people are called",
    "set_inbound_routing": "a deployment that answers is bound by keys without a cap",
    "remove_inbound_routing": "a deployment that answers is bound by keys without a cap",
    "test_inbound_routing": "is free, and calls nobody",
    "create_webhook": "is free",
    "update_webhook": "is free",
    "update_wallet": "moves no money",
    "delete_webhook": "is free",
    "rotate_webhook_secret": "is free",
    "test_webhook": "is free",
    "replay_webhook": "is free",
    "replay_event": "is free",
}
SPENDS: dict[str, str] = {
    "add_audience_rows": "people join what calls the audience",
    "import_audience": "people join what calls the audience",
    "rent_phone_number": "pays a month",
    "update_phone_number": "turns on renewals",
    "create_deployment": "auto_start starts it",
    "place_call": "calls a person unless auto_start is false",
    "create_inbound_deployment": "lets callers in",
    "simulate_inbound_call": "has callers come, and their calls cost",
    "update_deployment": "what is under way calls more, or other people",
    "start_deployment": "calls people",
    "resume_deployment": "calls people",
}
