"""An organization with one of everything, and requests that name ids of its own and of another's."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from callwright.contract.declaration.operation import AnyOperation
from callwright.contract.do_not_call import NewEntry
from callwright.contract.surface import OPERATIONS
from tests.support import resources
from tests.support.calls.stored_calls import put_call
from tests.support.http.raw_requests import AsyncClient, Response
from tests.support.resources import row
from tests.support.reviews import open_review
from tests.support.service import OWNED, Tenant
from tests.support.webhooks.sent_events import subscribe

KINDS: Mapping[str, str] = {
    "agents": "agent",
    "audiences": "audience",
    "phone_numbers": "number",
    "deployments": "deployment",
    "webhooks": "webhook",
    "events": "event",
    "do_not_call": "entry",
    "compliance_reviews": "review",
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
    "source_call_id": "call",
}
NOT_OURS = {"voice_id", "external_id", "plan_id", "actor_id"}
"""Ids of nothing an organization has: the catalogue's voices, the callers' ids of people, sealed plans, keys."""
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
    "entry": "dnc",
    "review": "rev",
}
REQUIRED_BODY: Mapping[str, dict[str, Any]] = {
    "add_audience_rows": {"rows": [row(50)]},
    "import_audience": {"csv": "phone_number\n+12125550160\n"},
    "create_deployment": {"name": "New"},
    "create_inbound_deployment": {"name": "New"},
    "clone_deployment": {"name": "New"},
    "resolve_call": {"placed": True},
    "correct_disposition": {"disposition": "not_interested"},
    "import_phone_number": {"number": OWNED[0]},
    "set_inbound_routing": {"url": "https://example.com/who-answers"},
    "set_call_tools": {"call_tools": []},
    "set_call_tool_secret": {"tool": "free_times", "header": "Authorization", "value": "s3cret"},
    "talk_to_agent": {"variables": {"first_name": "Ada"}},
    "add_do_not_call": {"entries": [{"number": "+12125550163"}]},
    "import_do_not_call": {"csv": "number\n+12125550164\n"},
    "export_person": {"number": "+12125550163"},
    "delete_person": {"number": "+12125550163", "confirm": True},
    "decide_compliance_review": {"decision": "approve"},
    "ask_confirmation": {"tool": "start_deployment", "about": "0" * 64, "question": "Call 3 people.", "mark": "0" * 8},
    "place_call": {"to": "+12125550162", "variables": {"first_name": "Ada"}, "auto_start": False},
}
REQUIRED_QUERY: dict[str, dict[str, str]] = {
    "search_available_numbers": {"filter[country]": "US"},
    "search_transcripts": {"query": "hello"},
    "get_call_stats": {"group_by": "outcome"},
}
"""What a question needs beside ids."""


@dataclass(frozen=True)
class Owned:
    """What an organization has, by kind."""

    tenant: Tenant
    ids: Mapping[str, str]


async def one_of_everything(tenant: Tenant) -> Owned:
    """One of everything, in a deployment that has started."""
    campaign = await resources.draft(tenant, "Same name")
    started = await tenant.client.deployments.start(id=campaign.deployment.id)
    waiting = await tenant.client.audiences.import_csv(id=campaign.audience.id, csv="phone_number\n+12125550161\n")
    contact = (await tenant.client.deployments.list_contacts(id=started.id)).data[0]
    draft = await tenant.client.deployments.create(name="Draft", **campaign.parts)
    about: dict[str, Any] = {"deployment_id": started.id, "agent_id": campaign.agent.id, "contact_id": contact.id}
    call_id = await put_call(tenant, turns=2, **about, audience_id=campaign.audience.id)
    entries = [NewEntry(number="+12125550165")]
    entry = (await tenant.client.do_not_call.add(entries=entries)).entries[0]
    await tenant.client.providers.set(name="ours", kind="deepgram", key="a-key-of-the-tests")
    tried = await tenant.client.webhooks.test(id=(await subscribe(tenant)).id)
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
        "entry": entry.id,
        "review": await open_review(tenant, started.id),
    }
    return Owned(tenant, ids)


def id_places(operation: AnyOperation) -> dict[str, str]:
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


OPERATIONS_WITH_IDS: Mapping[str, list[AnyOperation]] = {
    noun: list(operations)
    for noun, operations in groupby(
        sorted((each for each in OPERATIONS.values() if id_places(each)), key=lambda each: each.noun),
        key=lambda each: each.noun,
    )
}
"""The operations that take an id of an organization's thing, by their noun."""


def in_a_list(operation: AnyOperation, place: str) -> bool:
    """Whether several ids fit there, each of which may be another's."""
    return "list[" in str(operation.takes.model_fields[place].annotation)


def requests_with_ids(
    operation: AnyOperation, own: Mapping[str, str], other: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """One request for each place an id fits: that place holds an id of `other`, all further ones hold our own.

    Where several fit there are two more requests, with one of our own before it and behind it.
    """
    fields = id_places(operation)
    for place, kind in fields.items():
        yield _request(operation, own, place, [other[kind]])
        if in_a_list(operation, place):
            yield _request(operation, own, place, [own[kind], other[kind]])
            yield _request(operation, own, place, [other[kind], own[kind]])


def request_pairs(
    operation: AnyOperation, own: Mapping[str, str], other: Mapping[str, str], unknown: Mapping[str, str]
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each request with an id of `other`, and the same with an id that does not exist."""
    return zip(requests_with_ids(operation, own, other), requests_with_ids(operation, own, unknown), strict=True)


def _request(operation: AnyOperation, own: Mapping[str, str], place: str, ids: list[str]) -> dict[str, Any]:
    values: dict[str, Any] = {name: own[kind] for name, kind in id_places(operation).items()}
    is_query = operation.place_of(place) == "query"
    values[place] = ids if in_a_list(operation, place) and not is_query else ",".join(ids)
    if place != "phone_number_ids":
        values.pop("phone_number_ids", None)
    elif "phone_number_id" in values:
        del values["phone_number_id"]
    path = operation.path
    query = dict(REQUIRED_QUERY.get(operation.name, {}))
    body = dict(REQUIRED_BODY.get(operation.name, {}))
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


async def send(http: AsyncClient, request: dict[str, Any]) -> Response:
    """The answer to a request."""
    return await http.request(**{name: value for name, value in request.items() if name != "place"})
