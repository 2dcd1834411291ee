"""Placing one call: a deployment of one person that passes the same gates as any other."""

from pathlib import Path
from typing import Any

import pytest

from callwright.contract.agents.agents import Agent
from callwright.contract.deployments.deployments import Deployment
from callwright.contract.do_not_call import NewEntry
from callwright.contract.phone_numbers import PhoneNumber
from callwright.service.platform.clock.clock import HOUR, MINUTE, moment
from tests.support import resources
from tests.support.campaigns import make_agent, phone, rent
from tests.support.clock_set_by_test import Wall
from tests.support.http.raw_requests import AsyncClient
from tests.support.resources import refusal
from tests.support.service import Tenant, open_service

ADA: dict[str, Any] = {"first_name": "Ada"}


async def parts(tenant: Tenant) -> tuple[Agent, PhoneNumber]:
    return await make_agent(tenant), await rent(tenant)


async def place(tenant: Tenant, made: tuple[Agent, PhoneNumber], **given: Any) -> Deployment:
    agent, number = made
    fields: dict[str, Any] = {"to": phone(7), "variables": ADA, **given}
    return await tenant.client.calls.place(agent_id=agent.id, phone_number_id=number.id, **fields)


async def nothing_was_made(tenant: Tenant) -> bool:
    deployments = (await tenant.client.deployments.list()).pagination.total
    audiences = (await tenant.client.audiences.list()).pagination.total
    return (deployments, audiences) == (0, 0)


@pytest.mark.service(workers=True)
async def test_one_person_is_called_once_from_the_number_by_the_agent(tenant: Tenant) -> None:
    agent, number = await parts(tenant)
    made = await place(tenant, (agent, number), variables={**ADA, "sim.outcome": "answered"})
    assert (made.status, made.agent_id, made.phone_number_ids) == ("active", agent.id, [number.id])
    assert made.retry_policy is not None
    assert made.retry_policy.max_attempts == 1
    ended = await tenant.ended(made.id)
    assert (ended.status, ended.stats.contacts, ended.stats.attempts) == ("completed", 1, 1)
    (call,) = (await tenant.client.calls.list(deployment_id=[made.id])).data
    assert (call.to, call.from_number, call.agent_id, call.contact_name) == (phone(7), number.number, agent.id, "Ada")
    assert call.outcome == "answered"


@pytest.mark.service(workers=True)
async def test_whoever_is_not_reached_is_not_called_again_unless_it_is_asked_for(tenant: Tenant) -> None:
    made = await place(tenant, await parts(tenant), variables={**ADA, "sim.outcome": "busy"})
    ended = await tenant.ended(made.id)
    assert (ended.stats.attempts, ended.stats.outcomes) == (1, {"busy": 1})


async def test_a_draft_calls_nobody_and_can_be_previewed_and_started(tenant: Tenant) -> None:
    made = await place(tenant, await parts(tenant), auto_start=False)
    assert made.status == "draft"
    seen = await tenant.client.deployments.preview(id=made.id)
    assert (seen.eligible, seen.greeting) == (
        1,
        "Hello Ada, this is Ada, an automated assistant of the Lakeside clinic.",
    )
    started = await tenant.client.deployments.start(id=made.id, plan_id=seen.plan_id)
    assert started.status == "active"


async def test_two_calls_of_one_person_are_two_deployments(tenant: Tenant) -> None:
    made = await parts(tenant)
    first, second = await place(tenant, made, auto_start=False), await place(tenant, made, auto_start=False)
    assert first.id != second.id
    assert first.name != second.name


async def test_a_request_with_the_same_key_calls_nobody_twice(tenant: Tenant, http: AsyncClient) -> None:
    agent, number = await parts(tenant)
    body = {"agent_id": agent.id, "phone_number_id": number.id, "to": phone(7), "variables": ADA}
    answers = [await http.post("/v1/calls", json=body, headers={"Idempotency-Key": "one"}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].content == answers[1].content
    assert (await tenant.client.deployments.list()).pagination.total == 1


@pytest.mark.parametrize("number", ["nobody", "5550100", "+1", "", "+12025550100000000"])
async def test_what_is_no_number_is_refused_by_its_name_and_nothing_is_made(
    tenant: Tenant, http: AsyncClient, number: str
) -> None:
    agent, own = await parts(tenant)
    body = {"agent_id": agent.id, "phone_number_id": own.id, "to": number, "variables": ADA}
    answer = await http.post("/v1/calls", json=body)
    assert (answer.status_code, answer.json()["error"]["field"]) == (400, "to"), answer.text
    assert number == "" or number not in answer.json()["error"]["message"]
    assert await nothing_was_made(tenant)


async def test_a_number_that_no_telephone_can_have_is_refused_by_its_name(tenant: Tenant) -> None:
    made = await parts(tenant)
    async with refusal(400, "invalid_field", "to"):
        await place(tenant, made, to="+12120000000")
    assert await nothing_was_made(tenant)


@pytest.mark.parametrize("variables", [{}, {"last_name": "Lovelace"}, {"phone_number": phone(8)}])
async def test_variables_that_do_not_fit_the_prompt_are_refused_and_nothing_is_made(
    tenant: Tenant, variables: dict[str, Any]
) -> None:
    made = await parts(tenant)
    async with refusal(400, "invalid_field", "variables") as problems:
        await place(tenant, made, variables=variables)
    wanted = "phone_number, which is given as `to`" if "phone_number" in variables else "no value for {{first_name}}"
    assert wanted in problems[0].message
    assert await nothing_was_made(tenant)


@pytest.mark.parametrize("number", ["+19005550100", "+881612345678", "911", "+4930", "+12125550100 ext. 7"])
async def test_a_number_that_is_never_dialled_is_refused_by_its_name(tenant: Tenant, number: str) -> None:
    made = await parts(tenant)
    async with refusal(400, "invalid_field", "to"):
        await place(tenant, made, to=number)
    assert await nothing_was_made(tenant)


@pytest.mark.parametrize("auto_start", [True, False])
@pytest.mark.parametrize(("simulated", "named"), [(True, "list of the simulated network,"), (False, "list,")])
async def test_a_number_on_the_do_not_call_list_is_refused_with_its_entry_and_nothing_is_made(
    tenant: Tenant, simulated: bool, named: str, auto_start: bool
) -> None:
    given: dict[str, Any] = {"entries": [NewEntry(number=phone(7), reason="litigator")], "simulated": simulated}
    (entry,) = (await tenant.client.do_not_call.add(**given)).entries
    made = await parts(tenant)
    async with refusal(422, "compliance_rejected", "to") as problems:
        await place(tenant, made, auto_start=auto_start)
    assert problems[0].details == {"reasons": ["do_not_call"]}
    for part in (f"on the do-not-call {named}", "for the reason litigator", f"remove the entry {entry.id}"):
        assert part in problems[0].message
    assert phone(7) not in problems[0].message
    assert await nothing_was_made(tenant)
    await tenant.client.do_not_call.remove(id=entry.id)
    assert (await place(tenant, made)).status == "active"


@pytest.mark.parametrize(
    ("listed", "called"), [("+541155501234", "+5491155501234"), ("+5491155501234", "+541155501234")]
)
async def test_a_number_that_is_listed_in_another_notation_is_refused(tenant: Tenant, listed: str, called: str) -> None:
    await tenant.client.do_not_call.add(entries=[NewEntry(number=listed)])
    made = await parts(tenant)
    async with refusal(422, "compliance_rejected", "to"):
        await place(tenant, made, to=called)


async def test_an_entry_that_has_expired_refuses_nothing(database_url: str, tmp_path: Path) -> None:
    wall = Wall()
    async with open_service(database_url, tmp_path, workers=False, clock=wall.clock()) as tenant:
        made = await parts(tenant)
        ends = moment(tenant.services.clock.now_ms() + HOUR)
        await tenant.client.do_not_call.add(entries=[NewEntry(number=phone(7), expires_at=ends)])
        async with refusal(422, "compliance_rejected", "to"):
            await place(tenant, made, auto_start=False)
        wall.ahead_ms = HOUR + MINUTE
        assert (await place(tenant, made, auto_start=False)).status == "draft"


@pytest.mark.service(workers=True)
async def test_whoever_asks_after_the_draft_not_to_be_called_is_not_called(tenant: Tenant) -> None:
    made = await place(tenant, await parts(tenant), auto_start=False)
    await tenant.client.do_not_call.add(entries=[NewEntry(number=phone(7))])
    await tenant.client.deployments.start(id=made.id)
    ended = await tenant.ended(made.id)
    assert (ended.stats.attempts, ended.stats.suppressed) == (0, 1)
    assert (await tenant.client.calls.list()).data == []


@pytest.mark.parametrize(("name", "value"), [("agent_id", "agt_x"), ("phone_number_id", "num_x")])
async def test_what_is_not_there_is_refused_by_its_name(tenant: Tenant, name: str, value: str) -> None:
    agent, number = await parts(tenant)
    given: dict[str, Any] = {"agent_id": agent.id, "phone_number_id": number.id, "to": phone(7), name: value}
    async with refusal(404, "not_found", name):
        await tenant.client.calls.place(**given, variables=ADA)
    assert await nothing_was_made(tenant)


async def test_parts_of_another_organization_are_not_there(tenant: Tenant, other: Tenant) -> None:
    agent, number = await parts(tenant)
    mine, own = await resources.agent(other), await resources.number(other)
    async with refusal(404, "not_found", "agent_id"):
        await place(other, (agent, own))
    async with refusal(404, "not_found", "phone_number_id"):
        await place(other, (mine, number))
    assert await nothing_was_made(other)
