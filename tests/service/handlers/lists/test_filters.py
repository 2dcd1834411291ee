"""Filters that take one value or several, and spans of time, on every list that has them."""

import json
from typing import Any

import pytest
from sqlalchemy import update

from callwright.contract.declaration.filters import takes_several
from callwright.contract.surface import OPERATIONS
from callwright.service.platform.clock.clock import moment
from callwright.service.tables.schema import deployment_contacts, deployments, phone_numbers
from tests.support import resources
from tests.support.calls.many_calls import FIRST_MS
from tests.support.calls.stored_calls import put_call
from tests.support.http.raw_requests import AsyncClient, refused
from tests.support.imports import carry_out_import
from tests.support.resources import row
from tests.support.service import Tenant
from tests.support.webhooks.sent_events import put_delivery, put_event, subscribe

SEVERAL = {
    operation.name: {name for name, field in operation.takes.model_fields.items() if takes_several(field)}
    for operation in OPERATIONS.values()
}
CALLS = {
    "deployment_id": ("dep_1", "dep_2", "dep_3"),
    "agent_id": ("agt_1", "agt_2", "agt_3"),
    "audience_id": ("aud_1", "aud_2", "aud_3"),
    "contact_id": ("ctc_1", "ctc_2", "ctc_3"),
    "call_type": ("outbound", "inbound", "outbound"),
    "language": ("en-US", "de-DE", "hi-IN"),
    "answered_by": ("human", "fax", "machine_start"),
}


async def found(http: AsyncClient, path: str, **filters: str) -> list[dict[str, Any]]:
    """The entries that filters leave, with the total that is said of them."""
    answer = await http.get(f"/v1{path}", params={f"filter[{name}]": value for name, value in filters.items()})
    assert answer.status_code == 200, answer.text
    assert answer.json()["pagination"]["total"] == len(answer.json()["data"])
    return answer.json()["data"]


@pytest.mark.requirement("FILTER-02", "FILTER-04")
@pytest.mark.parametrize("name", sorted(CALLS))
async def test_calls_are_filtered_by_one_value_or_several(tenant: Tenant, http: AsyncClient, name: str) -> None:
    assert set(CALLS) == SEVERAL["list_calls"]
    values = CALLS[name]
    for index in range(3):
        fields: dict[str, Any] = {key: each[index] for key, each in CALLS.items()}
        await put_call(tenant, id=f"cal_{index}", **fields)
    for wanted in (values[:1], values[:2], values[1:], ("nothing", values[2]), (values[0], values[0])):
        if name == "call_type" and "nothing" in wanted:
            continue
        expected = {f"cal_{index}" for index, value in enumerate(values) if value in wanted}
        assert {call["id"] for call in await found(http, "/calls", **{name: ",".join(wanted)})} == expected
        by_client: dict[str, Any] = {name: list(wanted)}
        assert {call.id async for call in tenant.client.calls.list(**by_client)} == expected
    single: dict[str, Any] = {name: values[1]}
    assert {call.id async for call in tenant.client.calls.list(**single)} == {"cal_1"}
    stats = await tenant.client.calls.stats(group_by=["outcome"], **single)
    assert stats.calls == 1


@pytest.mark.requirement("FILTER-11", "FILTER-13")
async def test_calls_are_filtered_by_when_they_ended(tenant: Tenant, http: AsyncClient) -> None:
    for index in range(3):
        await put_call(tenant, id=f"cal_{index}", ended_at=FIRST_MS + index * 1_000)
    await put_call(tenant, id="cal_running", status="in_progress", outcome=None, ended_at=None)
    at = [moment(FIRST_MS + index * 1_000).isoformat().replace("+00:00", "Z") for index in range(4)]
    for span, expected in (
        ({"ended_from": at[1]}, {"cal_1", "cal_2"}),
        ({"ended_before": at[1]}, {"cal_0"}),
        ({"ended_from": at[1], "ended_before": at[2]}, {"cal_1"}),
        ({"ended_before": "9000-01-01T00:00:00Z"}, {"cal_0", "cal_1", "cal_2"}),
        ({"ended_from": at[3]}, set[str]()),
    ):
        assert {call["id"] for call in await found(http, "/calls", **span)} == expected, span
    for wrong in ("yesterday", "2026-01-01", ""):
        answer = await http.get("/v1/calls", params={"filter[ended_from]": wrong})
        refused(answer, 400, "invalid_field", "filter[ended_from]")


async def renamed_contacts(tenant: Tenant, deployment_id: str) -> None:
    """Gives the contacts of a deployment a call each, with outcomes and dispositions that are counted."""
    columns = deployment_contacts.c
    results = (("busy", "goal_met"), ("no_answer", "interested"), ("rejected", "escalated"))
    outcomes, dispositions = (json.dumps(dict.fromkeys(words, 1)) for words in zip(*results, strict=True))

    def write(connection: Any) -> list[str]:
        found: list[str] = []
        counters = {"last_outcomes": outcomes, "dispositions": dispositions}
        connection.execute(update(deployments).where(deployments.c.id == deployment_id).values(counters))
        for position, (outcome, disposition) in enumerate(results):
            mine = (columns.deployment_id == deployment_id) & (columns.phone == row(position)["phone_number"])
            values = {"last_outcome": outcome, "last_disposition": disposition}
            changed = update(deployment_contacts).where(mine).values(values).returning(columns.id)
            found.append(connection.execute(changed).scalar_one())
        return found

    for contact_id in await tenant.database.write(write):
        await put_call(tenant, deployment_id=deployment_id, contact_id=contact_id)


@pytest.mark.requirement("FILTER-02", "FILTER-11")
async def test_other_lists_are_filtered_by_several_values_where_that_makes_sense(
    tenant: Tenant, http: AsyncClient
) -> None:
    made = [await resources.draft(tenant, f"Campaign {index}") for index in range(3)]
    await tenant.client.audiences.add_rows(id=made[0].audience.id, rows=[row(1), row(2)])
    await tenant.client.deployments.start(id=made[0].deployment.id)
    await renamed_contacts(tenant, made[0].deployment.id)
    contacts = f"/deployments/{made[0].deployment.id}/contacts"
    done = await carry_out_import(tenant, "phone_number\nx\n+1212\n", audience_id=made[0].audience.id)
    errors = f"/audiences/{made[0].audience.id}/imports/{done.id}/errors"
    for name, value in (("A", "de-DE"), ("B", "fr-FR"), ("C", "it-IT")):
        await resources.agent(tenant, name, language=value, voice_id={"A": "en-US-ben"}.get(name, "en-US-ada"))
    german = await resources.number(tenant, "DE")
    agents, audiences = [each.agent.id for each in made], [each.audience.id for each in made]
    to = await subscribe(tenant)
    await tenant.client.webhooks.update(id=(await subscribe(tenant)).id, status="disabled")
    for kind, status, cause in (("call.started", "failed", "event"), ("call.completed", "missed", "replay")):
        event = await put_event(tenant, kind)
        await put_delivery(tenant, to.id, event, event_type=kind, status=status, cause=cause)
    await tenant.client.webhooks.test(id=to.id)
    sent = f"/webhooks/{to.id}/deliveries"
    await tenant.client.providers.set(name="ears", kind="deepgram", key="a-key-of-the-tests")
    await tenant.client.providers.set(name="all", kind="openai", key="a-key-of-the-tests")
    cases = (
        ("list_deployments", "/deployments", "agent_id", f"{agents[0]},{agents[2]}", 2),
        ("list_deployments", "/deployments", "audience_id", f"{audiences[1]},{audiences[2]},aud_x", 2),
        ("list_deployments", "/deployments", "call_type", "outbound,inbound", 3),
        ("list_agents", "/agents", "language", "de-DE,fr-FR", 2),
        ("list_agents", "/agents", "voice_id", "en-US-ben,en-GB-x", 1),
        ("list_contacts", contacts, "last_outcome", "busy,rejected", 2),
        ("list_contacts", contacts, "last_disposition", "interested,escalated,wrong_number", 2),
        ("list_phone_numbers", "/phone_numbers", "country", "US,DE", 4),
        ("list_phone_numbers", "/phone_numbers", "number_type", "local,mobile", 4),
        ("list_import_errors", errors, "code", "invalid_phone,ambiguous_country,bad_type", 2),
        ("list_webhooks", "/webhooks", "status", "active,disabled", 2),
        ("list_webhook_deliveries", sent, "status", "failed,pending,cancelled", 2),
        ("list_webhook_deliveries", sent, "cause", "event,replay", 2),
        ("list_webhook_deliveries", sent, "event_type", "call.started,webhook.test,x", 2),
        ("list_providers", "/providers", "kind", "deepgram,openai,cartesia", 2),
        ("list_events", "/events", "type", "call.completed,webhook.disabled,x", 2),
    )
    for _, path, name, values, count in cases:
        each = [await found(http, path, **{name: value}) for value in values.split(",")]
        assert len(await found(http, path, **{name: values})) == sum(map(len, each)) == count, (path, name)
    others = {
        (name, field)
        for name, fields in SEVERAL.items()
        for field in fields
        if OPERATIONS[name].noun not in ("calls", "transcripts")
    }
    assert {(name, field) for name, _, field, _, _ in cases} == others
    later = update(phone_numbers).where(phone_numbers.c.id == german.id).values(created_at=FIRST_MS + 10**10)
    await tenant.database.write(lambda connection: connection.execute(later).rowcount)
    span = {"created_from": moment(FIRST_MS + 10**10).isoformat().replace("+00:00", "Z")}
    assert [number["id"] for number in await found(http, "/phone_numbers", **span)] == [german.id]
