"""Another organization's ids are answered exactly like ids that do not exist, by every operation."""

from collections.abc import Iterator
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from callwright.contract.declaration.model import Input, Part
from callwright.contract.surface import OPERATIONS
from tests.support import resources
from tests.support.http.raw_requests import AsyncClient, Response, without_request_id
from tests.support.isolation import (
    NOT_OURS,
    OPERATIONS_WITH_IDS,
    PREFIXES,
    REQUIRED_QUERY,
    id_places,
    one_of_everything,
    request_pairs,
    send,
)
from tests.support.service import Tenant

NOBODY: dict[str, dict[str, Any]] = {
    "get_call_stats": {
        "calls": 0,
        "answered": 0,
        "duration_seconds": None,
        "cost": None,
        "groups": [],
        "groups_left_out": 0,
        "currency": "USD",
    },
    "read_conversations": {
        "view": "conversations",
        "calls": 0,
        "silent_calls": 0,
        "conversations": [],
        "distinct_turns": [],
        "next_cursor": None,
    },
}
"""The answers about calls of which there are none."""


def without_id(response: Response) -> dict[str, str]:
    """The headers but for the request's own id."""
    return {name: value for name, value in response.headers.items() if name != "x-request-id"}


def id_fields(model: type[BaseModel], *, at: str = "") -> Iterator[str]:
    """The fields of a model that hold ids by their names, with dots where they are inside of others."""
    for name, field in model.model_fields.items():
        if name == "id" or name.endswith(("_id", "_ids", "_uuid")):
            yield f"{at}{name}"
        for part in models_in(field.annotation):
            yield from id_fields(part, at=f"{at}{name}.")


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models in a type, also in lists of them and choices with them."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from models_in(part)


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_field_that_holds_an_id_has_a_case_here(name: str) -> None:
    operation = OPERATIONS[name]
    needed = {field for field in id_fields(operation.takes) if field.rpartition(".")[2] not in NOT_OURS}
    if operation.noun == "voices":
        needed -= {"id"}  # the catalogue's, as voice_id
    needed -= {"inbound.phone_number_id"}  # the deployment's own, or refused without a look at any other
    assert needed == set(id_places(operation))


def test_ids_inside_of_other_fields_are_found() -> None:
    class Inner(Part):
        phone_number_id: str | None = None

    class Outer(Input):
        id: str
        routes: list[Inner] | None = None

    assert list(id_fields(Outer)) == ["id", "routes.phone_number_id"]


async def _everything(tenant: Tenant) -> str:
    client = tenant.client
    lists = (
        *(client.agents.list(), client.audiences.list(), client.phone_numbers.list(), client.deployments.list()),
        *(client.webhooks.list(), client.events.list()),
    )
    seen = [entry.model_dump_json() for listing in lists for entry in (await listing).data]
    for webhook in (await client.webhooks.list()).data:
        seen += [entry.model_dump_json() for entry in (await client.webhooks.list_deliveries(id=webhook.id)).data]
    return "\n".join([*seen, *[call.model_dump_json() for call in (await client.calls.list()).data]])


@pytest.mark.requirement("AUTH-11", "AUTH-12", "AUTH-41", "ERR-15", "ERR-23", "ERR-59")
@pytest.mark.parametrize("noun", OPERATIONS_WITH_IDS)
async def test_anothers_id_is_answered_like_an_unknown_one(
    tenant: Tenant, other: Tenant, http: AsyncClient, noun: str
) -> None:
    mine, theirs = await one_of_everything(tenant), await one_of_everything(other)
    before = await _everything(other), await _everything(tenant)
    unknown = {kind: tenant.services.ids.new(prefix) for kind, prefix in PREFIXES.items()}
    for operation in OPERATIONS_WITH_IDS[noun]:
        for foreign, made_up in request_pairs(operation, mine.ids, theirs.ids, unknown):
            if operation.name == "export_deployment" and "import_id" in foreign["params"]:  # no filter: one thing
                foreign["params"]["of"] = made_up["params"]["of"] = "rejects"
                first, second = await send(http, foreign), await send(http, made_up)
                assert (first.status_code, without_id(first)) == (404, without_id(second)), foreign
                continue
            first, second = await send(http, foreign), await send(http, made_up)
            if operation.place_of(foreign["place"]) == "query":
                assert (first.status_code, first.content) == (200, second.content), foreign
                assert without_id(first) == without_id(second)
                if "," not in str(foreign["params"]):
                    assert first.json()["data"] == ([] if operation.shape == "many" else NOBODY[operation.name]), (
                        foreign
                    )
                assert not [each for each in theirs.ids.values() if each in first.text]
                continue
            assert first.status_code == 404, (foreign, first.text)
            expected = foreign["place"] if operation.place_of(foreign["place"]) == "body" else None
            assert first.json()["error"].get("field") == expected
            assert without_request_id(first) == without_request_id(second)
        assert (await _everything(other), await _everything(tenant)) == before, operation.name


@pytest.mark.requirement("AUTH-11", "SERV-09")
async def test_a_list_shows_only_what_is_ones_own(tenant: Tenant, other: Tenant, http: AsyncClient) -> None:
    mine, theirs = await one_of_everything(tenant), await one_of_everything(other)
    for name, operation in OPERATIONS.items():
        if operation.shape != "many":
            continue
        path = operation.path
        for field, kind in id_places(operation).items():
            path = path.replace("{" + field + "}", mine.ids[kind])
        answer = await http.get(f"/v1{path}", params=REQUIRED_QUERY.get(name, {}))
        assert answer.status_code == 200, name
        assert not [each for each in theirs.ids.values() if each in answer.text], name


@pytest.mark.requirement("PAGE-16")
async def test_the_cursor_of_another_organization_is_refused(tenant: Tenant, other: Tenant) -> None:
    for index in range(3):
        await resources.agent(tenant, f"A{index}")
        await resources.agent(other, f"A{index}")
    cursor = (await other.client.agents.list(per_page=1)).pagination.next_cursor
    assert cursor is not None
    async with resources.refusal(400, "invalid_cursor", "cursor"):
        await tenant.client.agents.list(cursor=cursor)
