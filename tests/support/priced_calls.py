"""Campaigns on real lines with a price list: what they cost, by an imitation of a carrier and of speech services."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, update

from callwright.contract.agents.call_tools import TransferTool
from callwright.contract.agents.transfer_destinations import TransferDestination
from callwright.contract.deployments.deployments import Deployment
from callwright.contract.deployments.previews import Preview
from callwright.service.rules.cost_items import Used
from callwright.service.rules.prices.installation_prices import read_installation_prices
from callwright.service.tables import price_lists
from callwright.service.tables.schema import deployments, phone_numbers
from tests.support.campaigns import draft, make_agent
from tests.support.service import Tenant

LIST = """
version = "2026.11.27"

[platform]
minute = 6_000

[carriers.scripted]
"*" = { minute = 120_000, increment_s = 60 }
"+1" = { minute = 18_000, increment_s = 60 }
"+1415" = { minute = 12_000, increment_s = 60 }

[services.stt]
most_per_minute = 9_000
prices = [{ provider = "deepgram", model = "nova-3", unit = "second", price = 129 }]

[services.llm]
most_per_minute = 20_000
prices = [
    { provider = "openai", unit = "input_token", price = 400_000, per = 1_000_000 },
    { provider = "openai", unit = "output_token", price = 1_600_000, per = 1_000_000 },
]

[services.tts]
most_per_minute = 40_000
prices = [{ provider = "openai", unit = "character", price = 15_000_000, per = 1_000_000 }]

[rates]
EUR = 1_160_000
"""
"""A call of a minute to +1415 costs 12,000 micros at the carrier and 6,000 at the platform, and at most 69,000 more."""
USED = (
    Used("stt", "deepgram", "nova-3", "second", 31.5),
    Used("llm", "openai", "gpt-4.1-mini", "input_token", 2_400),
    Used("llm", "openai", "gpt-4.1-mini", "cached_input_token", 600),
    Used("llm", "openai", "gpt-4.1-mini", "output_token", 180),
    Used("tts", "openai", "gpt-4o-mini-tts", "character", 420),
)
SERVICES_MICROS = 4_064 + 1_200 + 288 + 6_300
"""What `USED` costs by `LIST`: 31.5 seconds, 3,000 tokens read and 180 written, 420 characters."""


async def take_prices(tenant: Tenant, text: str = LIST) -> None:
    """The price list of the installation from now on."""
    services = tenant.services
    await services.database.write(price_lists.take_list, read_installation_prices(text), services.clock.now_ms())


async def transferring_agent(tenant: Tenant, *to: str, kind: str = "warm", countries: Sequence[str] = ()) -> str:
    """The id of an agent that may transfer its calls to these numbers."""
    destinations = [
        TransferDestination.model_validate({"name": f"desk {at}", "to": number, "kind": kind})
        for at, number in enumerate(to)
    ]
    tool = TransferTool(
        type="transfer",
        name="transfer_call",
        description="To a person.",
        destinations=destinations,
        countries=list(countries),
    )
    agent = await make_agent(tenant, f"transfers {kind} to {len(to)}")
    await tenant.client.agents.set_call_tools(id=agent.id, call_tools=[tool])
    return agent.id


async def real_draft(tenant: Tenant, rows: Sequence[dict[str, Any]], **fields: Any) -> Deployment:
    """A draft that calls from a number of the scripted carrier, as if its telephones were real."""
    made = await draft(tenant, rows, **fields)
    await tenant.services.database.write(_make_real, made.id, made.phone_number_ids)
    return made


async def start_by_plan(tenant: Tenant, deployment_id: str) -> Preview:
    """Starts a campaign as a person does who has agreed to its plan; returns what they agreed to."""
    shown = await tenant.client.deployments.preview(id=deployment_id)
    await tenant.client.deployments.start(id=deployment_id, plan_id=shown.plan_id)
    return shown


def _make_real(connection: Connection, deployment_id: str, number_ids: Sequence[str]) -> None:
    numbers = update(phone_numbers).where(phone_numbers.c.id.in_(number_ids))
    connection.execute(numbers.values(simulated=False, provider="scripted"))
    connection.execute(update(deployments).where(deployments.c.id == deployment_id).values(simulated=False))
