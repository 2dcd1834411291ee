"""Inbound deployments made at the same moment as something that cannot be true beside them."""

from collections.abc import Awaitable

import pytest

from callwright.client import ServiceProblem
from tests.support import resources
from tests.support.service import Tenant
from tests.support.tasks import tasks_within


@pytest.mark.requirement("INB-03")
async def test_twelve_who_bind_one_number_at_once_give_it_to_one(tenant: Tenant) -> None:
    outcomes: list[str] = []
    agents = [await resources.agent(tenant, f"Agent {index}") for index in range(12)]
    number = await resources.number(tenant)

    async def bind(index: int) -> None:
        try:
            await tenant.client.deployments.create_inbound(
                name=f"In {index}", agent_id=agents[index].id, phone_number_id=number.id
            )
        except ServiceProblem as found:
            outcomes.append(found.code)
        else:
            outcomes.append("bound")

    async with tasks_within(30) as tasks:
        for index in range(12):
            tasks.start_soon(bind, index)
    assert sorted(outcomes) == ["bound"] + ["phone_number_already_bound"] * 11
    (made,) = (await tenant.client.deployments.list()).data
    assert (await tenant.client.phone_numbers.get(id=number.id)).inbound_deployment_id == made.id


async def test_an_agent_is_either_deleted_or_answers_when_both_are_asked_at_once(tenant: Tenant) -> None:
    for index in range(6):
        agent, number = await resources.agent(tenant, f"Agent {index}"), await resources.number(tenant)
        answers = tenant.client.deployments.create_inbound(
            name=f"In {index}", agent_id=agent.id, phone_number_id=number.id
        )
        outcomes = await _both(answers, tenant.client.agents.delete(id=agent.id))
        assert outcomes in (["done", "agent_in_use"], ["not_found", "done"])


async def test_a_number_is_either_bound_or_released_when_both_are_asked_at_once(tenant: Tenant) -> None:
    agent = await resources.agent(tenant)
    for index in range(6):
        number = await resources.number(tenant)
        answers = tenant.client.deployments.create_inbound(
            name=f"In {index}", agent_id=agent.id, phone_number_id=number.id
        )
        outcomes = await _both(answers, tenant.client.phone_numbers.release(id=number.id))
        assert outcomes in (["done", "phone_number_in_use"], ["number_not_capable", "done"])


async def _both(first: Awaitable[object], second: Awaitable[object]) -> list[str]:
    """What becomes of two requests that are made at once: done, or the code of the refusal."""
    outcomes = ["", ""]

    async def run(index: int, request: Awaitable[object]) -> None:
        try:
            await request
        except ServiceProblem as found:
            outcomes[index] = found.code
        else:
            outcomes[index] = "done"

    async with tasks_within(30) as tasks:
        tasks.start_soon(run, 1, second)
        tasks.start_soon(run, 0, first)
    return outcomes
