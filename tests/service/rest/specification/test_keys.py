"""Keys: what they open, what they do not, and when they stop."""

import re
from typing import Any

import pytest
from sqlalchemy import select, update

from callwright.contract.problems import PROBLEMS
from callwright.contract.surface import OPERATIONS
from callwright.service import accounts
from callwright.service.platform.clock.clock import DAY
from callwright.service.tables.schema import api_keys
from tests.support import resources
from tests.support.database.statements import recorded
from tests.support.http.raw_requests import AsyncClient, Response, raw_client, refused, sample_path
from tests.support.isolation import OPERATIONS_WITH_IDS, PREFIXES, id_places, one_of_everything, request_pairs, send
from tests.support.service import Tenant

AGENT = {"name": "Ada", "voice_id": "en-US-ada", "language": "en-US", "system_prompt": "Say hello."}


def flat(response: Response, status: int, code: str) -> None:
    """The answer must be this problem in the flat envelope."""
    body = response.json()
    assert (response.status_code, body["error"]) == (status, code), response.text
    assert body["request_id"] == response.headers["x-request-id"]


async def key_row(tenant: Tenant) -> Any:
    statement = select(api_keys).where(api_keys.c.org_id == tenant.org_id)
    return await tenant.database.read(lambda connection: connection.execute(statement).one())


@pytest.mark.requirement("AUTH-01", "AUTH-36", "ERR-12", "ERR-33")
async def test_every_operation_needs_a_key(tenant: Tenant) -> None:
    async with raw_client(tenant, key=None) as http:
        for operation in OPERATIONS.values():
            for headers in ({}, {"Authorization": "Bearer other_" + "0" * 48}):
                answer = await http.request(operation.method, f"/v1{sample_path(operation.path)}", headers=headers)
                flat(answer, 401, "api_key_required")


@pytest.mark.requirement("AUTH-02")
async def test_no_operation_makes_lists_or_revokes_keys(http: AsyncClient) -> None:
    assert [name for name, operation in OPERATIONS.items() if re.search(r"key|token", name + operation.path)] == []
    for path in ("/keys", "/api_keys", "/api-keys", "/organizations", "/users"):
        refused(await http.get(f"/v1{path}"), 404, "not_found")
        refused(await http.post(f"/v1{path}", json={}), 404, "not_found")


@pytest.mark.requirement("AUTH-06", "AUTH-08", "AUTH-09")
@pytest.mark.parametrize("token", ["svc_test_", "svc_mcp_", "svc_session_", "sess_", "whsec_", "SVC_LIVE_"])
async def test_the_prefix_decides_before_anything_is_looked_up(tenant: Tenant, token: str) -> None:
    async with raw_client(tenant, key=token + tenant.api_key[-48:]) as http:
        with recorded() as ran:
            flat(await http.get("/v1/wallet"), 401, "api_key_required")
            flat(await http.post("/v1/agents", json=AGENT), 401, "api_key_required")
    assert ran == []
    async with raw_client(tenant) as http:
        with recorded() as ran:
            assert (await http.get("/v1/wallet")).status_code == 200
    assert ran != []


@pytest.mark.requirement("AUTH-10", "AUTH-11", "SERV-09")
async def test_a_key_works_in_its_own_organization_alone(tenant: Tenant, other: Tenant, http: AsyncClient) -> None:
    theirs = await resources.agent(other, "Theirs")
    mine = (await http.post("/v1/agents", json=AGENT)).json()["data"]
    assert [entry["id"] for entry in (await http.get("/v1/agents")).json()["data"]] == [mine["id"]]
    for method in ("GET", "PATCH", "DELETE"):
        body = {"name": "Mine"} if method == "PATCH" else None
        refused(await http.request(method, f"/v1/agents/{theirs.id}", json=body), 404, "not_found")
    assert await other.client.agents.get(id=theirs.id) == theirs


@pytest.mark.requirement("AUTH-13")
async def test_any_key_of_an_organization_may_do_everything_in_it(tenant: Tenant) -> None:
    mine = await one_of_everything(tenant)
    second = await tenant.new_key("second")
    async with raw_client(tenant, key=second.secret) as http:
        for name, operation in OPERATIONS.items():
            if operation.method != "GET" or operation.shape == "media" or operation.noun not in ("agents", "calls"):
                continue
            path = operation.path
            for field, kind in id_places(operation).items():
                path = path.replace("{" + field + "}", mine.ids[kind])
            query = {"group_by": "outcome"} if name == "get_call_stats" else {}
            assert (await http.get(f"/v1{path}", params=query)).status_code == 200, name
        deployment = f"/v1/deployments/{mine.ids['deployment']}"
        assert (await http.post(f"{deployment}/pause")).json()["data"]["status"] == "paused"
        assert (await http.post(f"{deployment}/cancel")).json()["data"]["status"] == "cancelled"
        assert (await http.delete(f"/v1/deployments/{mine.ids['draft']}")).status_code == 204
        changed = await http.patch(f"/v1/agents/{mine.ids['agent']}", json={"name": "Changed by another key"})
        assert changed.json()["data"]["name"] == "Changed by another key"
        assert (await http.delete(f"/v1/phone_numbers/{mine.ids['number']}")).json()["data"]["status"] == "released"


@pytest.mark.requirement("AUTH-16", "LIMIT-15")
async def test_a_key_of_twenty_years_ago_works(tenant: Tenant, http: AsyncClient) -> None:
    long_ago = tenant.services.clock.now_ms() - 20 * 365 * DAY
    old = update(api_keys).where(api_keys.c.org_id == tenant.org_id).values(created_at=long_ago, last_used_at=long_ago)
    await tenant.database.write(lambda connection: connection.execute(old).rowcount)
    assert (await http.get("/v1/wallet")).status_code == 200
    assert (await http.post("/v1/audiences", json={"name": "People"})).status_code == 201


@pytest.mark.requirement("AUTH-07", "AUTH-20")
async def test_a_key_is_known_by_its_beginning_its_day_and_its_last_use(tenant: Tenant) -> None:
    services = tenant.services
    before = await key_row(tenant)
    await services.database.write(accounts.revoke_key, services.ids, before.id, services.clock.now_ms())
    (listed,) = await services.database.read(accounts.keys_of, tenant.org_id)
    assert (listed.id, listed.identity) == (before.id, tenant.api_key[:16])
    assert listed.created_at == before.created_at
    assert listed.last_used_at == before.last_used_at
    assert listed.revoked_at is not None


@pytest.mark.requirement("AUTH-19")
async def test_a_write_whose_key_is_revoked_meanwhile_fails_and_leaves_nothing(
    tenant: Tenant, http: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key is good when the request comes in, and is revoked before its transaction begins."""
    services = tenant.services
    write = services.database.write

    async def revoked_first(*asked: Any, **named: Any) -> Any:
        monkeypatch.undo()
        await write(accounts.revoke_key, services.ids, tenant.api_key[:16], services.clock.now_ms())
        return await write(*asked, **named)

    monkeypatch.setattr(services.database, "write", revoked_first)
    flat(await http.post("/v1/audiences", json={"name": "People"}), 401, "invalid_api_key")
    fresh = await tenant.new_key("new")
    async with raw_client(tenant, key=fresh.secret) as later:
        assert (await later.get("/v1/audiences")).json()["data"] == []


@pytest.mark.requirement("AUTH-39", "ERR-05")
def test_four_problems_are_flat_and_no_operation_speaks_of_sessions() -> None:
    assert {code for code, problem in PROBLEMS.items() if problem.flat} == {
        "api_key_required",
        "invalid_api_key",
        "api_key_owner_required",
        "origin_not_allowed",
    }
    said = {problem.code for operation in OPERATIONS.values() for problem in operation.problems}
    assert not said & {"not_authenticated", "invalid_token"}


@pytest.mark.requirement("AUTH-43")
@pytest.mark.parametrize("noun", OPERATIONS_WITH_IDS)
async def test_anothers_id_takes_the_same_statements_as_an_unknown_one(
    tenant: Tenant, other: Tenant, http: AsyncClient, noun: str
) -> None:
    """Time itself is not measured here. What takes it is: what is asked of the database must be the same."""
    mine, theirs = await one_of_everything(tenant), await one_of_everything(other)
    unknown = {kind: tenant.services.ids.new(prefix) for kind, prefix in PREFIXES.items()}
    for operation in OPERATIONS_WITH_IDS[noun]:
        await http.get("/v1/wallet")  # after a write, a key is looked up once more
        for foreign, made_up in request_pairs(operation, mine.ids, theirs.ids, unknown):
            with recorded() as first:
                answer = await send(http, foreign)
            with recorded() as second:
                assert (await send(http, made_up)).status_code == answer.status_code
            assert [one.text for one in first] == [one.text for one in second], foreign
            assert first != []
