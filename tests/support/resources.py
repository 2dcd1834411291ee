"""Resources for tests, made through the typed client."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from callwright.client import ServiceProblem
from callwright.contract.agents.agents import Agent
from callwright.contract.audiences import Audience
from callwright.contract.deployments.deployments import Deployment
from callwright.contract.phone_numbers import PhoneNumber
from tests.support import resources
from tests.support.service import Tenant

PROMPT = "You call {{first_name}} to confirm an appointment. Goal: the appointment is confirmed."


def row(index: int = 0, **cells: str) -> dict[str, Any]:
    """A row of a person with a number of their own; index 0 to 99 of a fictional exchange."""
    return {"phone_number": f"+1212555{100 + index:04d}", "first_name": f"Person {index}", **cells}


async def agent(tenant: Tenant, name: str = "Ada", **fields: Any) -> Agent:
    """An agent."""
    given: dict[str, Any] = {"voice_id": "en-US-ada", "language": "en-US", "system_prompt": PROMPT, **fields}
    return await tenant.client.agents.create(name=name, **given)


async def audience(tenant: Tenant, name: str = "Patients", *, rows: Sequence[dict[str, Any]] | None = None) -> Audience:
    """An audience, of one row unless told."""
    return await tenant.client.audiences.create(name=name, rows=[row()] if rows is None else list(rows))


async def number(tenant: Tenant, country: str = "US") -> PhoneNumber:
    """A rented number."""
    return await tenant.client.phone_numbers.rent(country=country)


@dataclass(frozen=True)
class Campaign:
    """A draft and what it is made of."""

    agent: Agent
    audience: Audience
    number: PhoneNumber
    deployment: Deployment

    @property
    def parts(self) -> dict[str, Any]:
        """What a further deployment of the same parts is made with."""
        return {"agent_id": self.agent.id, "audience_id": self.audience.id, "phone_number_id": self.number.id}


async def draft(tenant: Tenant, name: str = "Reminders", **fields: Any) -> Campaign:
    """A draft deployment with an agent, an audience and a number of its own."""
    made_agent, made_audience = await agent(tenant, f"{name} agent"), await audience(tenant, f"{name} audience")
    made_number = await number(tenant)
    parts: dict[str, Any] = {"agent_id": made_agent.id, "audience_id": made_audience.id}
    given: dict[str, Any] = {**parts, "phone_number_ids": [made_number.id], **fields}
    return Campaign(made_agent, made_audience, made_number, await tenant.client.deployments.create(name=name, **given))


@asynccontextmanager
async def refusal(status: int, code: str, field: str | None = None) -> AsyncGenerator[list[ServiceProblem]]:
    """Expects the service to refuse what happens inside; the problem is in the list afterwards."""
    kept: list[ServiceProblem] = []
    with pytest.raises(ServiceProblem) as caught:
        yield kept
    problem = caught.value
    assert (problem.status, problem.code, problem.field) == (status, code, field), str(problem)
    assert problem.request_id is not None
    assert problem.request_id.startswith("req_")
    kept.append(problem)


async def inbound(tenant: Tenant, name: str = "Reception", **fields: Any) -> Deployment:
    """An inbound deployment with an agent and a number of its own."""
    agent, number = await resources.agent(tenant, f"{name} voice"), await resources.number(tenant)
    given: dict[str, Any] = {"agent_id": agent.id, "phone_number_id": number.id, **fields}
    return await tenant.client.deployments.create_inbound(name=name, **given)


def inbound_number(deployment: Deployment) -> str:
    """The number it answers."""
    assert deployment.inbound is not None
    return deployment.inbound.phone_number_id
