"""Campaigns for tests: made and started through the typed client, with numbers and outcomes chosen on purpose.

The simulated network does what a contact's `sim.*` cells say, so that a test knows every outcome beforehand.
"""

from collections.abc import Sequence
from typing import Any

from callwright.contract.agents import Agent
from callwright.contract.audiences import Audience
from callwright.contract.deployments import Deployment
from callwright.contract.dialling import RetryPolicy
from callwright.contract.phone_numbers import PhoneNumber
from tests.service.doors import Door

PROMPT = (
    "You call {{first_name}} for the Lakeside clinic.\n"
    "- Ask whether the appointment on Tuesday suits.\n"
    "- Ask whether they need a parking space.\n"
    "The clinic is at 5 Main Street. It opens at eight."
)
WELCOME = "Hello {{first_name}}, this is Ada, an automated assistant of the Lakeside clinic."
ONCE = RetryPolicy(max_attempts=1)
FAST = {"max_concurrency": 10, "calls_per_second": 10.0}


def phone(index: int, area: str = "415") -> str:
    """A valid North American number; another index is another number. Up to 79,999 of an area."""
    return f"+1{area}55{index:05d}"


def people(count: int, *, first: int = 0, area: str = "415", **cells: str) -> list[dict[str, Any]]:
    """Rows of that many people with numbers of their own. Cells are named with `_` for the dot: `sim_outcome`."""
    given = {name.replace("sim_", "sim."): value for name, value in cells.items()}
    return [
        {"phone_number": phone(index, area), "first_name": f"Person {index}", **given}
        for index in range(first, first + count)
    ]


async def make_agent(door: Door, name: str = "Ada", **fields: Any) -> Agent:
    """An agent whose words use the column `first_name`."""
    given = {
        "voice_id": "en-US-ada",
        "language": "en-US",
        "system_prompt": PROMPT,
        "welcome_message": WELCOME,
        **fields,
    }
    return await door.client.agents.create(name=name, **given)


async def make_audience(door: Door, rows: Sequence[dict[str, Any]], name: str = "People", **fields: Any) -> Audience:
    """An audience of any size."""
    made = await door.client.audiences.create(name=name, rows=list(rows[:1_000]), **fields)
    for begin in range(1_000, len(rows), 1_000):
        await door.client.audiences.add_rows(id=made.id, rows=list(rows[begin : begin + 1_000]))
    return await door.client.audiences.get(id=made.id)


async def rent(door: Door, area: str | None = None) -> PhoneNumber:
    """A number to call from."""
    if area is None:
        return await door.client.phone_numbers.rent(country="US")
    return await door.client.phone_numbers.rent(country="US", area_code=area)


async def draft(door: Door, rows: Sequence[dict[str, Any]], name: str = "Campaign", **fields: Any) -> Deployment:
    """A draft that calls these people, with an agent, an audience and a number of its own unless they are given."""
    given: dict[str, Any] = {**FAST, **fields}
    if "agent_id" not in given:
        given["agent_id"] = (await make_agent(door, f"{name}'s agent")).id
    if "audience_id" not in given:
        given["audience_id"] = (await make_audience(door, rows, f"{name}'s people")).id
    if "phone_number_ids" not in given:
        given["phone_number_ids"] = [(await rent(door)).id]
    return await door.client.deployments.create(name=name, **given)


async def run(door: Door, rows: Sequence[dict[str, Any]], name: str = "Campaign", **fields: Any) -> Deployment:
    """The campaign once it has stopped by itself."""
    made = await draft(door, rows, name, **fields)
    await door.client.deployments.start(id=made.id)
    return await door.ended(made.id)
