"""Null in a PATCH: the document says where it may stand, and the service does what the document says."""

from collections.abc import Mapping
from typing import Any

import pytest

from callwright.contract.surface import OPERATIONS
from callwright.service.rest.documentation.openapi.openapi_document import build_document
from tests.support import resources
from tests.support.http.raw_requests import AsyncClient, refused
from tests.support.service import Tenant
from tests.support.webhooks.sent_events import subscribe

PATCHES = [operation for operation in OPERATIONS.values() if operation.method == "PATCH"]
FULL: dict[str, Any] = {
    "welcome_message": "Hello.",
    "speech": {"voice": "nova"},
    "model": {"model": "gpt-4.1"},
    "metadata": {"team": "north"},
    "description": "Of the north.",
    "label": "Main",
    "phone_column": "Telefon",
    "default_country": "DE",
    "start_at": "2040-01-01T09:00:00Z",
    "end_at": "2040-02-01T09:00:00Z",
    "budget_cap": {"amount": "25.00"},
    "calling_hours": {
        "timezone_mode": "fixed",
        "timezone": "Europe/Berlin",
        "windows": [{"days": ["mon"], "start": "09:00", "end": "17:00"}],
    },
    "business_hours": {"timezone": "Europe/Berlin", "windows": [{"days": ["mon"], "start": "09:00", "end": "17:00"}]},
    "low_balance_threshold": {"amount": "20.00"},
    "inbound": {"recording_enabled": False},
    "max_calls_per_day": 100,
    "predial_check_url": "https://example.com/check",
    "circuit_breaker": {"min_calls": 10},
    "daily_budget_cap": {"amount": "5.00"},
}
"""A value of each field that null empties."""


def body_of(name: str, document: Mapping[str, Any]) -> dict[str, Any]:
    """What the document says of the body of an operation, by field."""
    path = document["paths"]["/v1" + OPERATIONS[name].path]["patch"]
    return path["requestBody"]["content"]["application/json"]["schema"]["properties"]


def resolved(shape: Mapping[str, Any], document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema that a reference stands for."""
    return document["components"]["schemas"][shape["$ref"].rpartition("/")[2]] if "$ref" in shape else shape


def takes_null(shape: Mapping[str, Any]) -> bool:
    """Whether a field may be null by its schema."""
    return any(branch.get("type") == "null" for branch in shape.get("anyOf", [shape]))


async def paths(tenant: Tenant) -> dict[str, list[str]]:
    """Where there is something to change, for each operation: a draft and an inbound deployment are changed apart."""
    made = await resources.draft(tenant)
    empty = await resources.audience(tenant, "Empty", rows=[])
    number = await resources.number(tenant)
    inbound = await tenant.client.deployments.create_inbound(
        name="Desk", agent_id=made.agent.id, phone_number_id=number.id
    )
    return {
        "update_agent": [f"/agents/{made.agent.id}"],
        "update_audience": [f"/audiences/{empty.id}"],
        "update_phone_number": [f"/phone_numbers/{made.number.id}"],
        "update_deployment": [f"/deployments/{made.deployment.id}", f"/deployments/{inbound.id}"],
        "update_wallet": ["/wallet"],
        "update_webhook": [f"/webhooks/{(await subscribe(tenant)).id}"],
    }


def is_for(path: str, field: str, shown: Mapping[str, Any]) -> bool:
    """Whether a deployment of this kind has the field: the others have both, name, agent, pacing and metadata."""
    if not path.startswith("/deployments/"):
        return True
    campaign = shown["call_type"] == "outbound"
    return (
        field in ("name", "agent_id", "max_concurrency", "metadata", "expected_revisions")
        or (field in INBOUND) != campaign
    )


INBOUND = ("inbound", "business_hours", "after_hours", "overflow", "recording_enabled")


async def emptied(http: AsyncClient, path: str, field: str) -> None:
    """Fills a field and empties it with null."""
    value = FULL[field]
    filled = await http.patch(f"/v1{path}", json={field: value})
    assert filled.status_code == 200, filled.text
    assert shown(filled.json()["data"], field), field
    before = filled.json()["data"]
    answer = await http.patch(f"/v1{path}", json={field: None})
    assert answer.status_code == 200, (field, answer.text)
    after = answer.json()["data"]
    assert shown(after, field) in (None, "", {}), field
    others = set(after) - {field, "updated_at", "inbound", "next_dial_at", "revision", "version"}
    assert {name: after[name] for name in others} == {name: before[name] for name in others}


def shown(data: Mapping[str, Any], field: str) -> Any:
    """What a resource shows of a field, wherever it stands."""
    return data[field] if field in data else data["inbound"][field]


@pytest.mark.requirement("CONV-20", "CONV-21")
async def test_null_empties_each_field_that_the_document_lets_be_null_and_is_refused_in_every_other(
    tenant: Tenant, http: AsyncClient
) -> None:
    document = build_document()
    places = await paths(tenant)
    assert set(places) == {operation.name for operation in PATCHES}
    for name, where in places.items():
        for path in where:
            for field, shape in body_of(name, document).items():
                now = (await http.get(f"/v1{path}")).json()["data"]
                if not is_for(path, field, now):
                    if takes_null(shape):  # there is nothing to empty
                        answer = await http.patch(f"/v1{path}", json={field: None})
                        assert (answer.status_code, answer.json()["data"]) == (200, now), field
                    continue
                if takes_null(shape):
                    await emptied(http, path, field)
                    continue
                before = (await http.get(f"/v1{path}")).json()["data"]
                answer = await http.patch(f"/v1{path}", json={field: None})
                message = refused(answer, 400, "invalid_field", field)["message"]
                assert message == f"{field}: cannot be null; leave it out to keep it as it is"
                assert (await http.get(f"/v1{path}")).json()["data"] == before


@pytest.mark.requirement("CONV-21")
def test_no_field_of_a_change_has_a_default_that_a_generated_client_would_send() -> None:
    document = build_document()
    for operation in PATCHES:
        for field, shape in body_of(operation.name, document).items():
            assert "default" not in shape, (operation.name, field)
            inside = resolved(shape, document)
            if field == "inbound":
                assert not any("default" in each for each in inside["properties"].values())
        schema = document["paths"]["/v1" + operation.path]["patch"]["requestBody"]["content"]["application/json"][
            "schema"
        ]
        assert "required" not in schema


@pytest.mark.requirement("CONV-21")
async def test_null_inside_of_inbound_is_as_the_document_says(tenant: Tenant, http: AsyncClient) -> None:
    document = build_document()
    inside = resolved(body_of("update_deployment", document)["inbound"], document)["properties"]
    _, path = (await paths(tenant))["update_deployment"]
    for field, shape in inside.items():
        answer = await http.patch(f"/v1{path}", json={"inbound": {field: None}})
        if takes_null(shape):
            assert answer.json()["data"]["inbound"][field] is None
        else:
            refused(answer, 400, "invalid_field", f"inbound.{field}")
