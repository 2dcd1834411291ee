"""Numbers that an agent answers, and callers of the simulated network."""

from typing import Any

import anyio

from callwright.contract.calls.calls import Call
from callwright.contract.deployments.deployments import Deployment
from tests.support.campaigns import calls_of, make_agent, rent
from tests.support.service import Tenant


async def answered_number(tenant: Tenant, name: str = "Front desk", **fields: Any) -> Deployment:
    """An inbound deployment with a rented number and an agent of its own."""
    number = await rent(tenant)
    agent = await make_agent(tenant, f"Agent of {name}")
    return await tenant.client.deployments.create_inbound(
        name=name, agent_id=agent.id, phone_number_id=number.id, **fields
    )


def number_of(deployment: Deployment) -> str:
    """The id of the number that a deployment answers."""
    assert deployment.inbound is not None
    return deployment.inbound.phone_number_id


async def called_in(tenant: Tenant, deployment: Deployment, *, within_s: float = 60.0, **callers: Any) -> list[Call]:
    """Has people call a number; all its calls once they have ended, in the order of their time."""
    before = len(await calls_of(tenant, deployment.id))
    made = await tenant.client.phone_numbers.simulate_call(id=number_of(deployment), **callers)
    with anyio.fail_after(within_s):
        while True:
            calls = await calls_of(tenant, deployment.id)
            if len(calls) >= before + made.count and all(call.ended_at is not None for call in calls):
                return calls
            await anyio.sleep(0.02)
