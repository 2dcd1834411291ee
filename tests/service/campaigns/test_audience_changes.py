"""What happens around a campaign that runs: rows are added, the agent is edited, consent is missing."""

from functools import partial

import pytest

from callwright.contract.deployments.dialling import Compliance, RetryPolicy
from tests.support.campaign_invariants import campaign_records, check_counters, check_policy
from tests.support.campaigns import (
    audience_of,
    draft,
    ended_by_workers,
    make_agent,
    people,
    phone,
    progressed,
    run,
    settled,
    started,
)
from tests.support.held_writes import ends_soon, rows_being_added
from tests.support.service import Tenant


@pytest.mark.service(workers=True)
async def test_rows_added_to_a_running_campaign_are_called_too(tenant: Tenant) -> None:
    made = await started(tenant, people(60), max_concurrency=1)
    await progressed(tenant, made.id, attempts=5)
    added = await tenant.client.audiences.add_rows(id=audience_of(made), rows=people(40, first=50))
    assert (added.added, added.duplicates) == (30, 10)
    ended = await tenant.ended(made.id)
    assert ended.stats.contacts == 90
    found = await campaign_records(tenant.database, made.id)
    assert {call.to_number for call in found.calls} == {phone(index) for index in range(90)}
    check_policy(found, RetryPolicy())
    check_counters(found)


@pytest.mark.service(workers=True)
async def test_rows_added_to_a_paused_campaign_wait_for_its_resume(tenant: Tenant) -> None:
    made = await started(tenant, people(60), max_concurrency=1)
    await progressed(tenant, made.id, attempts=5)
    await tenant.client.deployments.pause(id=made.id)
    paused = await settled(tenant, made.id)
    await tenant.client.audiences.add_rows(id=audience_of(made), rows=people(7, first=60))
    larger = await tenant.client.deployments.get(id=made.id)
    assert (larger.status, larger.stats.pending) == ("paused", paused.stats.pending + 7)
    await tenant.client.deployments.resume(id=made.id)
    assert (await tenant.ended(made.id)).stats.contacts == 67
    check_counters(await campaign_records(tenant.database, made.id))


@pytest.mark.service(workers=True)
async def test_a_finished_campaign_stays_finished_when_its_audience_grows(tenant: Tenant) -> None:
    ended = await run(tenant, people(5))
    await tenant.client.audiences.add_rows(id=audience_of(ended), rows=people(5, first=5))
    same = await tenant.client.deployments.get(id=ended.id)
    assert (same.status, same.stats) == ("completed", ended.stats)


async def test_rows_that_are_being_added_at_the_start_are_not_lost(tenant: Tenant) -> None:
    made = await draft(tenant, people(5))
    async with rows_being_added(tenant, audience_of(made), people(5, first=5)) as tasks:
        await ends_soon(tasks, partial(tenant.client.deployments.start, id=made.id))
    ended = await ended_by_workers(tenant, made.id)
    assert ended.stats.contacts == 10
    check_counters(await campaign_records(tenant.database, made.id))


async def test_only_those_who_consented_are_called(tenant: Tenant) -> None:
    words = ["yes", "Yes", "TRUE", "1", "opted in", "no", "", "0", "maybe", "yes please"]
    rows = [{**people(1, first=index)[0], "consent": word} for index, word in enumerate(words)]
    rows.append(people(1, first=10)[0])
    made = await started(tenant, rows, compliance=Compliance(consent_column="consent"))
    late = [{**people(1, first=20 + index)[0], "consent": word} for index, word in enumerate(["y", "n"])]
    await tenant.client.audiences.add_rows(id=audience_of(made), rows=late)
    ended = await ended_by_workers(tenant, made.id)
    assert (ended.stats.contacts, ended.stats.suppressed) == (13, 7)
    found = await campaign_records(tenant.database, made.id)
    assert {call.to_number for call in found.calls} == {phone(index) for index in (0, 1, 2, 3, 4, 20)}
    check_counters(found)


@pytest.mark.requirement("RES-18")
async def test_an_edit_of_the_agent_does_not_reach_a_campaign_that_started(tenant: Tenant) -> None:
    agent = await make_agent(tenant, welcome_message="Good day {{first_name}}, old words from the clinic.")
    made = await started(tenant, people(3, sim_outcome="answered", sim_intent="yes"), agent_id=agent.id)
    await tenant.client.agents.update(id=agent.id, welcome_message="New words.", system_prompt="New prompt.")
    await ended_by_workers(tenant, made.id)
    async for call in tenant.client.calls.list(deployment_id=made.id):
        transcript = await tenant.client.calls.get_transcript(call_uuid=call.id)
        spoken = " ".join(turn.text for turn in transcript.turns if turn.role == "agent")
        assert "old words" in spoken
        assert "New words" not in spoken
