"""Where an agent may hand its calls over: refused by field when it is set, and what comes of it on a call."""

from typing import Any

import pytest
from httpx2 import AsyncClient

from callwright.contract.agents.call_tools import TransferTool
from callwright.service.rules.call_tools import stored_tools
from callwright.service.telephony.transfers import destinations_in
from tests.support import do_not_call, resources
from tests.support.campaigns import draft, make_agent, people, rent, run, working
from tests.support.http.raw_requests import refused
from tests.support.service import Tenant

DESK = {"name": "front desk", "to": "+14155550177"}


def tool(*destinations: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "type": "transfer",
        "name": "transfer_call",
        "description": "To a person.",
        "destinations": list(destinations) or [DESK],
    } | fields


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("name", tool(name="to_desk"), "must be transfer_call"),
    ("destinations", tool(destinations=[]), "must not be empty"),
    ("destinations.1.name", tool(DESK, {**DESK, "to": "+14155550178"}), "unique"),
    ("destinations.0.to", tool({**DESK, "to": "+19005550123"}), "premium-rate"),
    ("destinations.0.to", tool({**DESK, "to": "911"}), "not a phone number"),
    ("destinations.0.to", tool({**DESK, "to": "+870773123456"}), "satellite"),
    ("destinations.0.to", tool({**DESK, "to": "+1 415 555 0177"}), "E.164"),
    ("destinations.0.to", tool({**DESK, "to": "030 1234567"}), "E.164"),
    ("destinations.0.to", tool({**DESK, "to": "0049 30 1234567"}), "E.164"),
    ("destinations.0.to", tool({**DESK, "to": "+493012345678"}), "add DE to countries"),
    ("countries.1", tool(countries=["DE", "XX"]), "ISO 3166-1"),
    ("destinations.0.confirm_key", tool({**DESK, "confirm_key": "12"}), "form"),
    ("destinations.0.confirm_key", tool({**DESK, "kind": "cold", "confirm_key": "1"}), "warm"),
    ("destinations.0.ring_timeout_seconds", tool({**DESK, "ring_timeout_seconds": 600}), "120"),
    ("countries.0", tool(countries=["Germany"]), "ISO 3166-1 alpha-2 country code. Such as "),
    ("use_when", tool(use_when={"words": ["human"]}), "by itself"),
]


@pytest.mark.requirement("TRANSFER-07")
@pytest.mark.parametrize(("field", "given", "said"), REFUSED, ids=lambda value: value if isinstance(value, str) else "")
async def test_a_destination_that_cannot_be_called_is_refused_by_field(
    tenant: Tenant, http: AsyncClient, field: str, given: dict[str, Any], said: str
) -> None:
    agent = await resources.agent(tenant)
    await rent(tenant)
    answer = await http.put(f"/v1/agents/{agent.id}/call-tools", json={"call_tools": [given]})
    assert said in refused(answer, 400, "invalid_field", f"call_tools.0.{field}")["message"]


async def test_a_destination_abroad_is_taken_where_its_country_is_named(tenant: Tenant, http: AsyncClient) -> None:
    agent = await resources.agent(tenant)
    await rent(tenant)
    berlin = tool({**DESK, "to": "+493012345678"}, countries=["DE"])
    answer = await http.put(f"/v1/agents/{agent.id}/call-tools", json={"call_tools": [berlin]})
    assert answer.status_code == 200


@pytest.mark.requirement("TRANSFER-07")
async def test_a_number_on_the_do_not_call_list_is_no_destination(tenant: Tenant, http: AsyncClient) -> None:
    agent = await resources.agent(tenant)
    await do_not_call.add(tenant, [{"number": DESK["to"]}])
    answer = await http.put(f"/v1/agents/{agent.id}/call-tools", json={"call_tools": [tool()]})
    assert "do-not-call" in refused(answer, 400, "invalid_field", "call_tools.0.destinations.0.to")["message"]


@pytest.mark.requirement("TRANSFER-07")
async def test_a_number_from_which_agents_call_is_no_destination(tenant: Tenant, http: AsyncClient) -> None:
    agent, own = await resources.agent(tenant), await rent(tenant)
    answer = await http.put(
        f"/v1/agents/{agent.id}/call-tools", json={"call_tools": [tool(DESK, {"name": "me", "to": own.number})]}
    )
    assert "your own numbers" in refused(answer, 400, "invalid_field", "call_tools.0.destinations.1.to")["message"]


async def test_columns_of_its_sentences_are_columns_that_the_agent_needs(tenant: Tenant, http: AsyncClient) -> None:
    agent = await resources.agent(tenant)
    spoken = tool({**DESK, "summary": "{{plan}} customer on the line.", "say_before": "One moment, {{first_name}}."})
    answer = await http.put(f"/v1/agents/{agent.id}/call-tools", json={"call_tools": [spoken]})
    assert {"plan", "first_name"} <= set(answer.json()["data"]["variables"])


@pytest.mark.requirement("TRANSFER-01", "TRANSFER-04")
@pytest.mark.parametrize(("answer", "outcome"), [("answered", "transferred"), ("busy", "answered")])
async def test_a_rehearsed_call_goes_to_the_destination_that_is_set(
    tenant: Tenant, http: AsyncClient, answer: str, outcome: str
) -> None:
    agent = await make_agent(tenant, "Transferring")
    await http.put(f"/v1/agents/{agent.id}/call-tools", json={"call_tools": [tool()]})
    async with working(tenant):
        rows = people(1, sim_outcome="answered", sim_transfer=answer)
        made = await run(tenant, rows, agent_id=agent.id)
    (call,) = [each async for each in tenant.client.calls.list(deployment_id=made.id)]
    assert call.transfer is not None
    assert (call.outcome, call.transfer.to, call.transfer.name) == (outcome, DESK["to"], DESK["name"])
    transcript = await tenant.client.calls.get_transcript(call_uuid=call.id)
    (used,) = [turn.tool_call for turn in transcript.turns if turn.tool_call is not None]
    assert (used.name, used.ok) == ("transfer_call", outcome == "transferred")


def test_the_sentences_of_a_destination_have_the_values_of_the_contact() -> None:
    made = TransferTool.model_validate(tool({**DESK, "summary": "{{plan}} customer.", "kind": "warm"}))
    (one,) = destinations_in(stored_tools([made]), {"plan": "Gold"})
    assert (one.summary, one.may_be_called("+12025550100"), one.may_be_called("+493012345678")) == (
        "Gold customer.",
        True,
        False,
    )


ABROAD = {"name": "desk", "to": "+4312345678"}


async def test_a_destination_that_one_of_several_numbers_may_not_call_is_warned_of(
    tenant: Tenant, http: AsyncClient
) -> None:
    agent = await make_agent(tenant, "Transferring")
    own = await rent(tenant)
    await tenant.client.phone_numbers.rent(country="AT")
    path = f"/v1/agents/{agent.id}/call-tools"
    warning = (
        f'the destination "desk", {ABROAD["to"]}, may not be called from {own.number}: add AT to countries of the tool '
        "transfer_call"
    )
    answer = (await http.put(path, json={"call_tools": [tool(ABROAD)]})).json()["data"]
    assert answer["warnings"][-1:] == [warning]
    made = await draft(tenant, people(1), agent_id=agent.id, phone_number_ids=[own.id])
    seen = await tenant.client.deployments.preview(id=made.id)
    assert [text for text in seen.warnings if "may not be called from" in text] == [warning]
    await http.put(path, json={"call_tools": [tool(ABROAD, countries=["AT"])]})
    seen = await tenant.client.deployments.preview(id=made.id)
    assert [text for text in seen.warnings if "may not be called from" in text] == []
