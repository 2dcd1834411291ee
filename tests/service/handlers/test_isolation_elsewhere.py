"""What else could tell of another organization: its cursors, keys, plans, names and numbers."""

import base64
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from callwright.contract.declaration.filters import filter_of, takes_several
from callwright.contract.declaration.operation import AnyOperation
from callwright.contract.do_not_call import NewEntry
from callwright.contract.surface import OPERATIONS
from callwright.service.workers import imports
from tests.support import resources
from tests.support.calls.held_calls import held_call
from tests.support.calls.stored_calls import put_call, put_conversation
from tests.support.deployments.plans import plan_of
from tests.support.http.raw_requests import AsyncClient, raw_client, refused, without_request_id
from tests.support.imports import carry_out_import
from tests.support.isolation import REQUIRED_BODY, REQUIRED_QUERY, id_places, one_of_everything
from tests.support.resources import row
from tests.support.reviews import open_review
from tests.support.service import OWNED, Tenant, open_service
from tests.support.webhooks.routing import GOOD, bad, logged
from tests.support.webhooks.sent_events import URL, subscribe

LISTS = [name for name, operation in OPERATIONS.items() if operation.shape == "many"]
SHARED = {"list_voices", "search_available_numbers"}
"""Lists of what nobody owns: what is in the catalogue, and what can be rented."""


async def more(tenant: Tenant) -> Mapping[str, str]:
    """At least two entries for each list of an organization; the ids of what the lists are lists of."""
    ids = dict((await one_of_everything(tenant)).ids)
    another = await resources.draft(tenant, "Another name")
    await tenant.client.agents.update(id=ids["agent"], welcome_message="Another hello.")
    await tenant.client.audiences.add_rows(id=ids["audience"], rows=[row(1), row(2)])
    done = await carry_out_import(tenant, "phone_number\nx\ny\n", audience_id=ids["audience"])
    for index in range(2):
        about: dict[str, Any] = {"deployment_id": ids["deployment"], "agent_id": ids["agent"]}
        await put_conversation(tenant, ("agent", "Hello."), contact_id=f"{ids['contact'][:-2]}_{index}", **about)
    await tenant.client.do_not_call.add(entries=[NewEntry(number="+12125550161"), NewEntry(number="+12125550162")])
    await open_review(tenant, another.deployment.id)
    await subscribe(tenant)
    await tenant.client.providers.set(name="another", kind="deepgram", key="a-key-of-the-tests")
    await logged(tenant, ids["number"], GOOD, bad())
    await tenant.client.events.replay(id=ids["event"], webhook_id=ids["webhook"])
    return {**ids, "import": done.id}


def path_of(operation: AnyOperation, ids: Mapping[str, str]) -> str:
    """Where an operation is, among the things with these ids."""
    path = f"/v1{operation.path}"
    for name, kind in id_places(operation).items():
        path = path.replace("{" + name + "}", ids["deployment" if kind == "draft" else kind])
    return path


@asynccontextmanager
async def two(database_url: str, folder: Path) -> AsyncGenerator[tuple[Tenant, AsyncClient, Tenant, AsyncClient]]:
    async with open_service(database_url, folder, workers=False) as tenant, tenant.another_organization() as other:
        async with raw_client(tenant) as mine, raw_client(other) as theirs:
            yield tenant, mine, other, theirs


@pytest.mark.requirement("PAGE-16", "AUTH-11")
async def test_the_cursors_of_another_organization_are_refused_like_made_up_ones(
    database_url: str, tmp_path: Path
) -> None:
    made_up = base64.urlsafe_b64encode(bytes(60)).decode().rstrip("=")
    async with two(database_url, tmp_path) as (tenant, mine, other, theirs):
        ids, their_ids = await more(tenant), await more(other)
        for name in LISTS:
            operation, asked = OPERATIONS[name], {**REQUIRED_QUERY.get(name, {}), "per_page": "1"}
            first = await theirs.get(path_of(operation, their_ids), params=asked)
            cursor = first.json()["pagination"]["next_cursor"]
            assert cursor is not None, name
            with_theirs, with_none = [
                await mine.get(path_of(operation, ids), params={**asked, "cursor": each}) for each in (cursor, made_up)
            ]
            refused(with_theirs, 400, "invalid_cursor", "cursor")
            assert without_request_id(with_theirs) == without_request_id(with_none), name
        calls = [await put_call(each, turns=3) for each in (tenant, other)]
        paths = [f"/v1/calls/{call_id}/transcript" for call_id in calls]
        cursor = (await theirs.get(paths[1], params={"per_page": "1"})).json()["data"]["next_cursor"]
        refused(await mine.get(paths[0], params={"cursor": cursor}), 400, "invalid_cursor", "cursor")
        assert (await mine.get(paths[1], params={"cursor": cursor})).status_code == 404


BODIES: Mapping[str, dict[str, Any]] = {
    "create_agent": {"name": "Ada", "voice_id": "en-US-ada", "language": "en-US", "system_prompt": "Say hello."},
    "create_audience": {"name": "People"},
    "rent_phone_number": {"country": "US"},
    "create_webhook": {"url": URL, "events": ["*"]},
}
PLACED: Mapping[str, tuple[str, ...]] = {
    "create_deployment": ("agent_id", "audience_id", "phone_number_id"),
    "create_inbound_deployment": ("agent_id", "phone_number_id"),
    "place_call": ("agent_id", "phone_number_id"),
}
"""Which of its ids an operation is asked with."""
COUNTS = {"replay_webhook", "replay_event", "import_do_not_call"}
"""What answers with counts alone, which may be the same for two organizations."""
POSTS = [
    name
    for name, operation in OPERATIONS.items()
    if operation.method == "POST" and operation.writes and operation.keeps_answer
]


@pytest.mark.requirement("IDEM-09", "AUTH-11")
@pytest.mark.parametrize("name", POSTS)
async def test_an_idempotency_key_of_another_organization_is_nothing_to_one_s_own(
    database_url: str, tmp_path: Path, name: str
) -> None:
    operation, once = OPERATIONS[name], {"Idempotency-Key": "once"}
    async with two(database_url, tmp_path) as (tenant, mine, other, theirs):
        answers: list[Any] = []
        for each, http in ((other, theirs), (tenant, mine)):
            ids = dict((await one_of_everything(each)).ids)
            if name in ("start_deployment", "resume_deployment"):
                assert await imports.work_on_one(
                    each.service.services, "wrk_test"
                )  # nothing starts while a file comes in
            if name == "start_deployment":
                ids["deployment"] = ids["draft"]
            if name == "hang_up_call":
                ids["call"] = await put_call(each, status="in_progress", outcome=None, ended_at=None)
            if name in ("simulate_inbound_call", "talk_to_number"):
                await each.client.deployments.create_inbound(
                    name="Answers", agent_id=ids["agent"], phone_number_id=ids["number"]
                )
            if name == "test_inbound_routing":
                await each.client.phone_numbers.set_inbound_routing(id=ids["number"], url="https://hooks.invalid/")
            if name == "resolve_call":
                ids["call"] = await held_call(each, ids["deployment"])
            if name == "resume_deployment":
                await each.client.deployments.pause(id=ids["deployment"])
            kinds = id_places(operation)
            body = {
                **BODIES.get(name, REQUIRED_BODY.get(name, {})),
                **{at: ids[kinds[at]] for at in PLACED.get(name, ())},
            }
            if name == "import_phone_number":  # a number belongs to one organization
                body["number"] = OWNED[len(answers)]
            sent = json.dumps(body) if operation.has_body else None
            answer = await http.post(path_of(operation, ids), headers=once, content=sent)
            assert (answer.status_code, "idempotent-replayed" in answer.headers) == (operation.status, False)
            again = await http.post(path_of(operation, ids), headers=once, content=sent)
            assert (again.content, again.headers.get("idempotent-replayed")) == (answer.content, "true")
            answers.append(answer.json()["data"])
        assert answers[0] != answers[1] or name in COUNTS
        mine_now = await mine.get("/v1/deployments", params={"filter[idempotency_key]": "once"})
        shown = {entry["id"] for entry in mine_now.json()["data"]}
        assert shown <= {answers[1].get("id")}


@pytest.mark.requirement("AUTH-11")
@pytest.mark.parametrize("action", ["start", "resume"])
async def test_a_plan_of_another_organization_starts_nothing_and_is_refused_like_a_made_up_one(
    database_url: str, tmp_path: Path, action: str
) -> None:
    async with two(database_url, tmp_path) as (tenant, mine, other, _):
        ids, their_ids = (await one_of_everything(tenant)).ids, (await one_of_everything(other)).ids
        own, foreign = ids["draft"], their_ids["draft"]
        plan, own_plan = await plan_of(other, foreign), await plan_of(tenant, own)
        made_up = own_plan[:-4] + ("AAAA" if own_plan[-4:] != "AAAA" else "BBBB")
        path = f"/v1/deployments/{own}/{action}"
        with_theirs, with_none = [await mine.post(path, json={"plan_id": each}) for each in (plan, made_up)]
        refused(with_theirs, 400, "invalid_field", "plan_id")
        assert without_request_id(with_theirs) == without_request_id(with_none)
        theirs = await mine.post(f"/v1/deployments/{foreign}/{action}", json={"plan_id": plan})
        nobody = await mine.post(f"/v1/deployments/{own[:-1]}_/{action}", json={"plan_id": plan})
        refused(theirs, 404, "not_found")
        assert without_request_id(theirs) == without_request_id(nobody)
        for each, deployment_id in ((tenant, own), (other, foreign)):
            assert (await each.client.deployments.get(id=deployment_id)).status == "draft"


EVERYBODYS = {"wallet.topup_settled"}
"""What an organization has of its own from the beginning, as every other one."""


def filters_of(operation: AnyOperation, entries: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Each filter of a list with a value that another's entries have, as far as they show it."""
    found: list[tuple[str, str]] = []
    for name, field in operation.takes.model_fields.items():
        mark = filter_of(field)
        if mark is None or mark.test != "equals":
            continue
        values = [
            entry[name] for entry in entries if isinstance(entry.get(name), str) and entry[name] not in EVERYBODYS
        ]
        found += [(operation.wire_name(name), value) for value in values[:1]]
        if takes_several(field) and len(set(values)) > 1:
            found.append((operation.wire_name(name), ",".join(dict.fromkeys(values))))
    return found


@pytest.mark.requirement("AUTH-11", "SERV-09")
async def test_nothing_of_another_organization_is_found_by_whatever_is_known_of_it(
    database_url: str, tmp_path: Path
) -> None:
    tried: set[str] = set()
    async with two(database_url, tmp_path) as (_, mine, other, theirs):
        await more(other)
        for name in LISTS:
            operation, asked = OPERATIONS[name], REQUIRED_QUERY.get(name, {})
            if name in SHARED or operation.path_fields:
                continue
            path = f"/v1{operation.path}"
            listed = await theirs.get(path, params=asked)
            for wire, value in filters_of(operation, listed.json()["data"]):
                tried.add(f"{name} {wire}")
                found, nothing = [await http.get(path, params={**asked, wire: value}) for http in (theirs, mine)]
                assert found.json()["pagination"]["total"] > 0, (name, wire)
                assert (nothing.json()["data"], nothing.json()["pagination"]["total"]) == ([], 0), (name, wire)
    assert len(tried) > 20, tried
