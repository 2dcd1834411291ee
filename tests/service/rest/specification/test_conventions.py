"""What holds of every answer: envelopes, ids, moments, money, statuses of success."""

import re
from collections.abc import Iterator
from typing import Any, cast

import pytest
from sqlalchemy import Connection, select, update

from callwright.contract.surface import OPERATIONS
from callwright.service.tables.schema import agents, api_keys
from tests.support import resources
from tests.support.http.raw_requests import AsyncClient, Response
from tests.support.isolation import REQUIRED_QUERY, Owned, id_places, one_of_everything
from tests.support.service import Tenant

MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
OF_EVENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
AMOUNT = re.compile(r"-?\d+\.\d{6}")
AGENT = {
    "name": "Ada",
    "voice_id": "en-US-ada",
    "language": "en-US",
    "system_prompt": "Say hello.",
    "welcome_message": "Hello!",
}


def members(value: object) -> Iterator[tuple[str, Any]]:
    """Every member of every object in an answer."""
    if isinstance(value, dict):
        for name, part in cast("dict[str, Any]", value).items():
            yield name, part
            yield from members(part)
    elif isinstance(value, list):
        for part in cast("list[Any]", value):
            yield from members(part)


async def reads(http: AsyncClient, mine: Owned) -> dict[str, Response]:
    """The answer of every operation that reads JSON, on an organization that has one of everything."""
    found: dict[str, Response] = {}
    for name, operation in OPERATIONS.items():
        if operation.method != "GET" or operation.shape == "media":
            continue
        path = operation.path
        for field, kind in id_places(operation).items():
            path = path.replace("{" + field + "}", mine.ids[kind])
        path = path.replace("/voices/{id}", "/voices/en-US-ada")
        found[name] = await http.get(f"/v1{path}", params=REQUIRED_QUERY.get(name, {}))
        assert found[name].status_code == 200, (name, found[name].text)
    assert len(found) > 15
    return found


@pytest.mark.requirement("CONV-01", "CONV-02", "PATH-03")
async def test_every_read_answers_in_the_envelope_of_its_shape(tenant: Tenant, http: AsyncClient) -> None:
    for name, answer in (await reads(http, await one_of_everything(tenant))).items():
        assert answer.headers["content-type"] == "application/json"
        body: dict[str, Any] = answer.json()
        if OPERATIONS[name].shape == "one":
            assert set(body) == {"data"}, name
            assert isinstance(body["data"], dict), name
            continue
        assert set(body) == {"data", "pagination"}, name
        assert isinstance(body["data"], list), name
        counted = {field: body["pagination"][field] for field in ("page", "per_page", "total", "has_more")}
        assert [type(value) for value in counted.values()] == [int, int, int, bool], name


@pytest.mark.requirement("CONV-03", "CONV-04", "CONV-25")
async def test_every_moment_is_in_utc_to_the_second_and_every_amount_has_six_places(
    tenant: Tenant, http: AsyncClient
) -> None:
    mine = await one_of_everything(tenant)
    late = update(agents).where(agents.c.id == mine.ids["agent"]).values(created_at=1_800_000_000_999)
    await tenant.database.write(lambda connection: connection.execute(late).rowcount)
    moments = amounts = 0
    for name, answer in (await reads(http, mine)).items():
        for field, value in members(answer.json()):
            money = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
            of_entry = money.keys() == {"before", "after"}  # in the audit log: both values are members too
            if field.endswith("_at") and value is not None and not of_entry:
                form = OF_EVENT if field == "created_at" and name in ("list_events", "get_event") else MOMENT
                assert form.fullmatch(cast("str", value)), (name, field, value)
                moments += 1
            if {"amount", "currency"} <= set(money):
                assert AMOUNT.fullmatch(money["amount"]), (name, field, money)
                assert money["currency"] == "USD"
                amounts += 1
    assert moments > 30
    assert amounts > 8
    found = await http.get(f"/v1/agents/{mine.ids['agent']}")
    assert found.json()["data"]["created_at"] == "2027-01-15T08:00:00Z"


@pytest.mark.requirement("CONV-05", "CONV-06", "CONV-07", "CONV-10", "CONV-11", "CONV-12", "CONV-14")
async def test_ids_begin_with_the_prefix_of_their_kind(tenant: Tenant, http: AsyncClient) -> None:
    mine = await one_of_everything(tenant)
    made = (await http.get(f"/v1/agents/{mine.ids['agent']}")).json()["data"]
    movement = (await http.get("/v1/wallet/transactions")).json()["data"][0]
    unknown = await http.get("/v1/agents/agt_nobody")
    kinds = {
        "agt": mine.ids["agent"],
        "dep": mine.ids["deployment"],
        "cal": mine.ids["call"],
        "org": tenant.org_id,
        "req": unknown.json()["error"]["request_id"],
        "num": mine.ids["number"],
        "aud": mine.ids["audience"],
        "ctc": mine.ids["contact"],
        "imp": mine.ids["import"],
        "txn": movement["id"],
        "key": made["created_by_key_id"],
    }
    for prefix, found in kinds.items():
        assert re.fullmatch(prefix + "_[0-9A-Za-z]{24}", found), prefix


@pytest.mark.requirement("CONV-15", "CONV-16", "CONV-17", "CONV-18", "CONV-19", "PATH-18")
async def test_each_kind_of_success_has_its_status(tenant: Tenant, http: AsyncClient) -> None:
    campaign = await resources.draft(tenant)
    made = await http.post("/v1/agents", json=AGENT)
    agent_id = made.json()["data"]["id"]
    assert (made.status_code, made.headers["location"]) == (201, f"/v1/agents/{agent_id}")
    deployment = f"/v1/deployments/{campaign.deployment.id}"
    for action, status in (("start", "active"), ("pause", "paused"), ("resume", "active"), ("cancel", "cancelled")):
        answer = await http.post(f"{deployment}/{action}")
        assert (answer.status_code, answer.json()["data"]["status"]) == (200, status)
        assert answer.json() == (await http.get(deployment)).json()
    imports = f"/v1/audiences/{campaign.audience.id}/imports"
    begun = await http.post(imports, json={"csv": "phone_number\n+12125550160\n"})
    assert (begun.status_code, begun.json()["data"]["status"]) == (202, "pending")
    removed = await http.delete(f"/v1/agents/{agent_id}")
    assert (removed.status_code, removed.content) == (204, b"")
    assert (await http.get(f"/v1/agents/{agent_id}")).status_code == 404
    released = await http.delete(f"/v1/phone_numbers/{campaign.number.id}")
    last = released.json()["data"]
    assert (released.status_code, last["id"], last["status"]) == (200, campaign.number.id, "released")


@pytest.mark.requirement("CONV-27")
async def test_a_moment_may_be_sent_with_any_offset_and_comes_back_in_utc(tenant: Tenant, http: AsyncClient) -> None:
    path = f"/v1/deployments/{(await resources.draft(tenant)).deployment.id}"
    for sent, kept in (
        ("2090-06-01T12:00:00Z", "2090-06-01T12:00:00Z"),
        ("2090-06-01T14:30:00+02:30", "2090-06-01T12:00:00Z"),
        ("2090-05-31T20:00:00-11:00", "2090-06-01T07:00:00Z"),
    ):
        changed = await http.patch(path, json={"start_at": sent})
        assert changed.json()["data"]["start_at"] == kept
        assert (await http.get(path)).json()["data"]["start_at"] == kept


@pytest.mark.requirement("CONV-31")
async def test_a_list_without_an_order_is_newest_first_and_then_by_id(tenant: Tenant, http: AsyncClient) -> None:
    made = [(await resources.agent(tenant, f"A{index}")).id for index in range(6)]
    order = {made_id: 1_700_000_000_000 if made_id in made[:2] else 1_800_000_000_000 for made_id in made}

    def place(connection: Connection) -> None:
        for made_id, at_ms in order.items():
            connection.execute(update(agents).where(agents.c.id == made_id).values(created_at=at_ms))

    await tenant.database.write(place)
    listed = [entry["id"] for entry in (await http.get("/v1/agents")).json()["data"]]
    assert listed == [*sorted(made[2:], reverse=True), *sorted(made[:2], reverse=True)]


@pytest.mark.requirement(
    "AGENT-01", "AGENT-02", "AGENT-03", "AGENT-04", "AGENT-06", "AGENT-07", "SERV-01", "PATH-05", "PATH-22"
)
async def test_an_agent_has_the_fields_it_was_made_with(http: AsyncClient) -> None:
    made = (await http.post("/v1/agents", json=AGENT)).json()["data"]
    assert {name: made[name] for name in AGENT} == AGENT
    assert MOMENT.fullmatch(made["created_at"])
    assert (await http.get(f"/v1/agents/{made['id']}")).json()["data"] == made
    assert (await http.get("/v1/agents")).json()["data"] == [made]
    wrong: dict[str, Any] = dict.fromkeys(AGENT, 7)
    found = (await http.post("/v1/agents", json=wrong)).json()["error"]
    assert {error["field"] for error in found["errors"]} == set(AGENT)


@pytest.mark.requirement("AGENT-08", "CONV-32")
async def test_what_a_key_made_names_the_key(tenant: Tenant, http: AsyncClient) -> None:
    mine = await one_of_everything(tenant)
    own = await tenant.database.read(_only_key, tenant)
    for noun, kind in (
        ("agents", "agent"),
        ("audiences", "audience"),
        ("phone_numbers", "number"),
        ("deployments", "deployment"),
    ):
        found = (await http.get(f"/v1/{noun}/{mine.ids[kind]}")).json()["data"]
        assert {"id", "created_at", "updated_at", "created_by_key_id", "metadata"} <= set(found), noun
        assert found["created_by_key_id"] == own
    imported = await http.get(f"/v1/audiences/{mine.ids['audience']}/imports/{mine.ids['import']}")
    assert imported.json()["data"]["created_by_key_id"] == own


def _only_key(connection: Connection, tenant: Tenant) -> str:
    return connection.execute(select(api_keys.c.id).where(api_keys.c.org_id == tenant.org_id)).scalar_one()
