"""Another organization's ids are answered exactly like ids that do not exist, by every operation."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from callwright.contract.declaration.model import Input, Part
from callwright.contract.declaration.operation import AnyOperation
from callwright.contract.surface import OPERATIONS
from tests.service.handlers.calls.test_calls import put_call
from tests.support import resources
from tests.support.raw_requests import AsyncClient, Response, by_hand, without_request_id
from tests.support.resources import row
from tests.support.sent_events import subscribe
from tests.support.service import Door, open_service

KINDS: Mapping[str, str] = {
    "agents": "agent",
    "audiences": "audience",
    "phone_numbers": "number",
    "deployments": "deployment",
    "webhooks": "webhook",
    "events": "event",
}
FIELDS: Mapping[str, str] = {
    "agent_id": "agent",
    "audience_id": "audience",
    "phone_number_id": "number",
    "phone_number_ids": "number",
    "deployment_id": "deployment",
    "contact_id": "contact",
    "import_id": "import",
    "call_uuid": "call",
    "reference_id": "number",
    "webhook_id": "webhook",
    "delivery_id": "delivery",
    "event_id": "event",
    "subject_id": "webhook",
}
NOT_OURS = {"voice_id", "external_id", "plan_id"}
"""Ids of nothing an organization has: the catalogue's voices, the callers' own ids of people, sealed plans."""
PREFIXES: Mapping[str, str] = {
    "agent": "agt",
    "audience": "aud",
    "number": "num",
    "deployment": "dep",
    "draft": "dep",
    "contact": "ctc",
    "import": "imp",
    "call": "cal",
    "webhook": "whk",
    "delivery": "dlv",
    "event": "evt",
}
NEEDED: Mapping[str, dict[str, Any]] = {
    "add_audience_rows": {"rows": [row(50)]},
    "import_audience": {"csv": "phone_number\n+12125550160\n"},
    "create_deployment": {"name": "New"},
    "create_inbound_deployment": {"name": "New"},
    "clone_deployment": {"name": "New"},
}


@dataclass(frozen=True)
class Owned:
    """What an organization has, by kind."""

    door: Door
    ids: Mapping[str, str]


async def owned(door: Door) -> Owned:
    """One of everything, in a deployment that has started."""
    campaign = await resources.draft(door, "Same name")
    started = await door.client.deployments.start(id=campaign.deployment.id)
    waiting = await door.client.audiences.import_csv(id=campaign.audience.id, csv="phone_number\n+12125550161\n")
    contact = (await door.client.deployments.list_contacts(id=started.id)).data[0]
    parts: dict[str, Any] = {"agent_id": campaign.agent.id, "audience_id": campaign.audience.id}
    draft = await door.client.deployments.create(name="Draft", phone_number_id=campaign.number.id, **parts)
    about: dict[str, Any] = {"deployment_id": started.id, "agent_id": campaign.agent.id, "contact_id": contact.id}
    call_id = await put_call(door, turns=2, **about, audience_id=campaign.audience.id)
    tried = await door.client.webhooks.test(id=(await subscribe(door)).id)
    ids = {
        "agent": campaign.agent.id,
        "audience": campaign.audience.id,
        "number": campaign.number.id,
        "deployment": started.id,
        "draft": draft.id,
        "contact": contact.id,
        "import": waiting.id,
        "call": call_id,
        "webhook": tried.webhook_id,
        "delivery": tried.id,
        "event": tried.event_id,
    }
    return Owned(door, ids)


def places(operation: AnyOperation) -> dict[str, str]:
    """The fields of an operation that hold an id of an organization's thing, with its kind."""
    found: dict[str, str] = {}
    for name in operation.takes.model_fields:
        if name == "id" and operation.name == "update_deployment":
            found[name] = "draft"  # in which everything may change
        elif name == "id" and operation.noun in KINDS:
            found[name] = KINDS[operation.noun]
        elif name in FIELDS:
            found[name] = FIELDS[name]
    return found


ASKED: dict[str, dict[str, str]] = {
    "search_available_numbers": {"filter[country]": "US"},
    "search_transcripts": {"query": "hello"},
    "get_call_stats": {"group_by": "outcome"},
}
"""What a question needs beside ids."""
NOBODY: dict[str, Any] = {"calls": 0, "answered": 0, "groups": [], "groups_left_out": 0, "currency": "USD"}


def in_a_list(operation: AnyOperation, place: str) -> bool:
    """Whether several ids fit there, each of which may be another's."""
    return "list[" in str(operation.takes.model_fields[place].annotation)


def requests(operation: AnyOperation, own: Mapping[str, str], other: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """One request for each place an id fits: that place holds an id of `other`, all further ones hold our own.

    Where several fit there are two more requests, with one of our own before it and behind it.
    """
    fields = places(operation)
    for place, kind in fields.items():
        yield _request(operation, own, place, [other[kind]])
        if in_a_list(operation, place):
            yield _request(operation, own, place, [own[kind], other[kind]])
            yield _request(operation, own, place, [other[kind], own[kind]])


def _request(operation: AnyOperation, own: Mapping[str, str], place: str, ids: list[str]) -> dict[str, Any]:
    values: dict[str, Any] = {name: own[kind] for name, kind in places(operation).items()}
    is_query = operation.place_of(place) == "query"
    values[place] = ids if in_a_list(operation, place) and not is_query else ",".join(ids)
    if place != "phone_number_ids":
        values.pop("phone_number_ids", None)
    elif "phone_number_id" in values:
        del values["phone_number_id"]
    path = operation.path
    query = dict(ASKED.get(operation.name, {}))
    body = dict(NEEDED.get(operation.name, {}))
    for name, value in values.items():
        where = operation.place_of(name)
        if where == "path":
            path = path.replace("{" + name + "}", value)
        elif where == "query" and name == place:
            query[operation.wire_name(name)] = value
        elif where == "body" and (name == place or operation.creates):
            body[name] = value
    content = json.dumps(body).encode() if operation.has_body else b""
    return {"method": operation.method, "url": f"/v1{path}", "params": query, "content": content, "place": place}


def without_id(response: Response) -> dict[str, str]:
    """The headers but for the request's own id."""
    return {name: value for name, value in response.headers.items() if name != "x-request-id"}


async def sent(http: AsyncClient, request: dict[str, Any]) -> Response:
    """The answer to a request."""
    return await http.request(**{name: value for name, value in request.items() if name != "place"})


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
    assert needed == set(places(operation))


def test_ids_inside_of_other_fields_are_found() -> None:
    class Inner(Part):
        phone_number_id: str | None = None

    class Outer(Input):
        id: str
        routes: list[Inner] | None = None

    assert list(id_fields(Outer)) == ["id", "routes.phone_number_id"]


async def _everything(door: Door) -> str:
    client = door.client
    lists = (
        *(client.agents.list(), client.audiences.list(), client.phone_numbers.list(), client.deployments.list()),
        *(client.webhooks.list(), client.events.list()),
    )
    seen = [entry.model_dump_json() for listing in lists for entry in (await listing).data]
    for webhook in (await client.webhooks.list()).data:
        seen += [entry.model_dump_json() for entry in (await client.webhooks.list_deliveries(id=webhook.id)).data]
    return "\n".join([*seen, *[call.model_dump_json() for call in (await client.calls.list()).data]])


@pytest.mark.requirement("AUTH-11", "AUTH-12", "AUTH-41", "ERR-15", "ERR-23", "ERR-59")
@pytest.mark.parametrize("name", [name for name, operation in OPERATIONS.items() if places(operation)])
async def test_anothers_id_is_answered_like_an_unknown_one(database_url: str, tmp_path: Path, name: str) -> None:
    operation = OPERATIONS[name]
    async with open_service(database_url, tmp_path, workers=False) as door, door.another_organization() as other:
        mine, theirs = await owned(door), await owned(other)
        before = await _everything(other), await _everything(door)
        unknown = {kind: door.service.services.ids.new(prefix) for kind, prefix in PREFIXES.items()}
        async with by_hand(door) as http:
            pairs = zip(requests(operation, mine.ids, theirs.ids), requests(operation, mine.ids, unknown), strict=True)
            for foreign, made_up in pairs:
                first, second = await sent(http, foreign), await sent(http, made_up)
                if operation.place_of(foreign["place"]) == "query":
                    assert (first.status_code, first.content) == (200, second.content), foreign
                    assert without_id(first) == without_id(second)
                    if "," not in str(foreign["params"]):
                        assert first.json()["data"] == ([] if operation.shape == "many" else NOBODY), foreign
                    assert not [each for each in theirs.ids.values() if each in first.text]
                    continue
                assert first.status_code == 404, (foreign, first.text)
                expected = foreign["place"] if operation.place_of(foreign["place"]) == "body" else None
                assert first.json()["error"].get("field") == expected
                assert without_request_id(first) == without_request_id(second)
        assert (await _everything(other), await _everything(door)) == before


@pytest.mark.requirement("AUTH-11", "SERV-09")
@pytest.mark.parametrize("name", [name for name, operation in OPERATIONS.items() if operation.shape == "many"])
async def test_a_list_shows_only_what_is_ones_own(database_url: str, tmp_path: Path, name: str) -> None:
    operation = OPERATIONS[name]
    async with open_service(database_url, tmp_path, workers=False) as door, door.another_organization() as other:
        mine, theirs = await owned(door), await owned(other)
        path = operation.path
        for field, kind in places(operation).items():
            path = path.replace("{" + field + "}", mine.ids[kind])
        async with by_hand(door) as http:
            answer = await http.get(f"/v1{path}", params=ASKED.get(name, {}))
        assert answer.status_code == 200
        assert not [each for each in theirs.ids.values() if each in answer.text]


@pytest.mark.requirement("PAGE-16")
async def test_the_cursor_of_another_organization_is_refused(database_url: str, tmp_path: Path) -> None:
    async with open_service(database_url, tmp_path, workers=False) as door, door.another_organization() as other:
        for index in range(3):
            await resources.agent(door, f"A{index}")
            await resources.agent(other, f"A{index}")
        cursor = (await other.client.agents.list(per_page=1)).pagination.next_cursor
        assert cursor is not None
        async with resources.refusal(400, "invalid_cursor", "cursor"):
            await door.client.agents.list(cursor=cursor)
