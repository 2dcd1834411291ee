"""A yes to a change counts once in every process, also after somebody has put the value back."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

import httpx2 as httpx
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, ElicitResult, InputRequiredResult

from callwright.contract.declaration.field_types import Spend
from tests.journeys.hosts import Era, Person
from tests.support.campaigns import draft, people
from tests.support.mcp.over_http import LIFE_S, Served, serving
from tests.support.service import Tenant
from tests.support.tools.results import text_of

each_change = pytest.mark.parametrize("tool", ["update_deployment", "update_phone_number"])


@dataclass(frozen=True)
class Change:
    """A change that costs, and the tenant who puts it back."""

    tenant: Tenant
    tool: str
    arguments: dict[str, Any]

    async def put_back(self) -> None:
        if self.tool == "update_deployment":
            await self.tenant.client.deployments.update(id=self.arguments["id"], budget_cap=Spend(amount="0.05"))
        else:
            await self.tenant.client.phone_numbers.update(id=self.arguments["id"], auto_renew=False)

    async def is_made(self) -> bool:
        if self.tool == "update_deployment":
            cap = (await self.tenant.client.deployments.get(id=self.arguments["id"])).budget_cap
            return cap is not None and float(cap.amount) == 50
        return (await self.tenant.client.phone_numbers.get(id=self.arguments["id"])).auto_renew


async def change_by(tenant: Tenant, tool: str) -> Change:
    if tool == "update_phone_number":
        number = await tenant.client.phone_numbers.rent(country="US", auto_renew=False)
        return Change(tenant, tool, {"id": number.id, "auto_renew": True})
    start_at = datetime(2099, 1, 1, tzinfo=UTC)
    campaign = await draft(tenant, people(1), start_at=start_at, budget_cap=Spend(amount="0.05"))
    await tenant.client.deployments.start(id=campaign.id)
    return Change(tenant, tool, {"id": campaign.id, "budget_cap": {"amount": "50.00"}})


@each_change
async def test_a_sentence_changes_nothing_again_in_another_process(tool: str, era: Era, tenant: Tenant) -> None:
    async with serving(tenant, confirm="always") as one, serving(tenant, confirm="always") as other:
        async with one.assistant(era=era) as first, other.assistant(era=era) as second:
            change = await change_by(tenant, tool)
            said = await first.refused(tool, **change.arguments)
            sentence = said.split("«")[1].split("»")[0]
            await first.use(tool, **change.arguments, person_agreed_to=sentence)
            assert await change.is_made()
            await change.put_back()
            again = await second.refused(tool, **change.arguments, person_agreed_to=sentence)
            assert "not what would happen" in again
            assert not await change.is_made()


@asynccontextmanager
async def client_of(served: Served) -> AsyncGenerator[Client]:
    headers = {"Authorization": f"Bearer {served.tenant.api_key}"}
    async with httpx.AsyncClient(headers=headers, timeout=LIFE_S, verify=False) as http:
        transport = streamable_http_client(served.mcp, http_client=http)
        async with Client(transport, mode="auto", elicitation_callback=Person("accept")) as client:
            yield client


async def answered(client: Client, change: Change, state: str) -> CallToolResult:
    result = await client.session.call_tool(
        change.tool,
        change.arguments,
        input_responses={"agreement": ElicitResult(action="accept", content={"agree": True})},
        request_state=state,
        allow_input_required=True,
    )
    return cast("CallToolResult", result)


@each_change
async def test_an_answer_changes_nothing_again_in_another_process(tool: str, tenant: Tenant) -> None:
    async with serving(tenant, confirm="always") as one, serving(tenant, confirm="always") as other:
        async with client_of(one) as first, client_of(other) as second:
            change = await change_by(tenant, tool)
            question = await first.session.call_tool(tool, change.arguments, allow_input_required=True)
            assert isinstance(question, InputRequiredResult)
            assert question.request_state is not None
            done = await answered(first, change, question.request_state)
            assert not done.is_error, text_of(done)
            await change.put_back()
            again = await answered(second, change, question.request_state)
            assert again.is_error
            assert "changed while the person was asked" in text_of(again)
            assert not await change.is_made()
