"""The order of the request pipeline's checks, and what it answers before any handler runs."""

import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from callwright.contract.surface import OPERATIONS
from callwright.service import accounts
from callwright.service.handlers.request_context import HANDLERS
from callwright.service.settings import ServiceSettings
from callwright.service.tables.schema import audit_log
from tests.support import resources
from tests.support.http.raw_requests import AsyncClient, Response, problem, raw_client, refused
from tests.support.service import Tenant, open_service

BAD_JSON = (
    b"{",
    b"  \n",
    b"not json",
    b"[]",
    b'"text"',
    b"1",
    b"null",
    b"true",
    b'{"a":NaN}',
    b"\xff\xfe",
    b'{"a":"\\ud800"}',
)
UNKNOWN_KEY = "svc_live_" + "0" * 48
JSON_TYPE = {"Content-Type": "application/json"}
AGENT = {"name": "Ada", "voice_id": "en-US-ada", "language": "en-US", "system_prompt": "Say hello."}


def flat(response: Response, status: int, code: str) -> None:
    """The answer must be this problem in the flat envelope."""
    body = response.json()
    assert (response.status_code, body["error"]) == (status, code), response.text
    assert set(body) == {"error", "message", "request_id"}
    assert body["request_id"] == response.headers["x-request-id"]


@pytest.mark.requirement("BODY-01", "BODY-02", "BODY-05", "BODY-11", "BODY-12", "ERR-11", "ERR-51")
async def test_bad_json_is_refused_before_the_key_is_looked_at(tenant: Tenant) -> None:
    async with raw_client(tenant, key=None) as http:
        paths = {(op.method, op.path) for op in OPERATIONS.values() if op.method in ("POST", "PUT", "PATCH")}
        unknown = (("POST", "/nowhere"), ("PATCH", "/nowhere/at/all"), ("PUT", "/agents"), ("POST", "/wallet"))
        for method, path in (*sorted(paths), *unknown):
            refused(await http.request(method, f"/v1{path}", content=b"{"), 400, "invalid_json")
        for body in BAD_JSON:
            refused(await http.post("/v1/agents", content=body, headers=JSON_TYPE), 400, "invalid_json")
        deep = b'{"a":' + b"[" * 2_000 + b"]" * 2_000 + b"}"
        refused(await http.post("/v1/agents", content=deep, headers=JSON_TYPE), 400, "invalid_json")


@pytest.mark.requirement("BODY-06", "BODY-07")
async def test_good_or_absent_json_leads_on_to_the_key(tenant: Tenant) -> None:
    async with raw_client(tenant, key=None) as http:
        for body in (b"{}", b"", json.dumps(AGENT).encode()):
            flat(await http.post("/v1/agents", content=body), 401, "api_key_required")
        flat(await http.request("GET", "/v1/agents", content=b"{"), 401, "api_key_required")
        flat(await http.request("DELETE", "/v1/agents/agt_x", content=b"{"), 401, "api_key_required")


@pytest.mark.requirement("AUTH-06", "AUTH-09", "AUTH-36", "AUTH-37", "AUTH-38", "ERR-33", "ERR-34")
@pytest.mark.parametrize(
    ("header", "code"),
    [
        (None, "api_key_required"),
        ("", "api_key_required"),
        ("Bearer", "api_key_required"),
        ("Bearer ", "api_key_required"),
        ("Basic c3ZjX2xpdmVfOg==", "api_key_required"),
        ("Basic " + UNKNOWN_KEY, "api_key_required"),
        (UNKNOWN_KEY, "api_key_required"),
        ("Bearer svc_mcp_" + "0" * 48, "api_key_required"),
        ("Bearer svc_test_" + "0" * 48, "api_key_required"),
        ("Bearer SVC_LIVE_" + "0" * 48, "api_key_required"),
        ("Bearer svc_live_", "invalid_api_key"),
        ("Bearer svc_live_" + "0" * 47, "invalid_api_key"),
        ("Bearer svc_live_" + "0" * 49, "invalid_api_key"),
        ("Bearer svc_live_" + "G" * 48, "invalid_api_key"),
        ("Bearer svc_live_" + "A" * 48, "invalid_api_key"),
        ("Bearer " + UNKNOWN_KEY, "invalid_api_key"),
    ],
)
async def test_a_token_that_is_no_key_is_told_from_an_unknown_key(
    tenant: Tenant, header: str | None, code: str
) -> None:
    headers = {} if header is None else {"Authorization": header}
    async with raw_client(tenant, key=None) as http:
        for method, path in (("GET", "/v1/agents"), ("POST", "/v1/agents"), ("GET", "/v1/nowhere"), ("PUT", "/v1/x")):
            flat(await http.request(method, path, headers=headers), 401, code)


@pytest.mark.requirement("AUTH-17", "AUTH-37", "ERR-12")
async def test_a_revoked_key_is_refused_from_the_next_request_on(tenant: Tenant, http: AsyncClient) -> None:
    assert (await http.get("/v1/wallet")).status_code == 200
    services = tenant.services
    await services.database.write(accounts.revoke_key, services.ids, tenant.api_key[:16], services.clock.now_ms())
    flat(await http.get("/v1/wallet"), 401, "invalid_api_key")
    flat(await http.post("/v1/agents", json=AGENT), 401, "invalid_api_key")


async def test_the_scheme_is_read_in_any_case(tenant: Tenant) -> None:
    async with raw_client(tenant, key=None) as http:
        answer = await http.get("/v1/wallet", headers={"Authorization": f"bearer  {tenant.api_key}"})
        assert answer.status_code == 200


@pytest.mark.requirement("BODY-15", "ERR-54", "LIMIT-06")
async def test_a_body_above_the_limit_is_refused_first_of_all(tenant: Tenant) -> None:
    async def chunks(size: int) -> AsyncGenerator[bytes, None]:
        yield b'{"name":"'
        for _ in range(size // 10_000):
            yield b"x" * 10_000
        yield b'"}'

    async with raw_client(tenant, key=None) as http:
        refused(await http.post("/v1/agents", content=b"x" * 1_000_001), 413, "payload_too_large")
        refused(await http.patch("/v1/agents/a", content=chunks(1_100_000)), 413, "payload_too_large")
        foreign = {"Origin": "https://elsewhere.example"}
        refused(await http.post("/v1/agents", content=chunks(2_000_000), headers=foreign), 413, "payload_too_large")
        flat(await http.post("/v1/agents", content=chunks(900_000)), 401, "api_key_required")
        exact = b'{"name":"' + b"x" * (1_000_000 - 11) + b'"}'
        flat(await http.post("/v1/agents", content=exact), 401, "api_key_required")


@pytest.mark.requirement("BODY-08", "ERR-55", "PATH-03")
async def test_a_body_of_another_type_is_refused_after_the_key(http: AsyncClient) -> None:
    body = json.dumps(AGENT).encode()
    for media_type in ("text/plain", "application/x-www-form-urlencoded", "text/json", "multipart/form-data"):
        headers = {"Content-Type": media_type}
        refused(await http.post("/v1/agents", content=body, headers=headers), 415, "unsupported_media_type")
        unknown = {**headers, "Authorization": f"Bearer {UNKNOWN_KEY}"}
        flat(await http.post("/v1/agents", content=body, headers=unknown), 401, "invalid_api_key")
    for index, media_type in enumerate(("application/json; charset=utf-8", "application/vnd.x+json")):
        named = json.dumps({**AGENT, "name": f"Ada {index}"})
        answer = await http.post("/v1/agents", content=named, headers={"Content-Type": media_type})
        assert answer.status_code == 201


@pytest.mark.requirement("AUTH-25", "ERR-14", "ERR-36")
async def test_foreign_origins_are_refused_before_the_body_is_read_as_json(database_url: str, tmp_path: Path) -> None:
    settings = ServiceSettings(data=tmp_path, database_url=database_url, allowed_origins=("https://own.example",))
    async with (
        open_service(database_url, tmp_path, workers=False, settings=settings) as tenant,
        raw_client(tenant) as http,
    ):
        for origin in ("https://elsewhere.example", "null", "https://own.example.evil.example"):
            flat(await http.get("/v1/wallet", headers={"Origin": origin}), 403, "origin_not_allowed")
            flat(await http.post("/v1/agents", content=b"{", headers={"Origin": origin}), 403, "origin_not_allowed")
        assert (await http.get("/v1/wallet", headers={"Origin": "https://own.example"})).status_code == 200


@pytest.mark.requirement("CONV-11", "ERR-04", "ERR-06")
async def test_every_answer_carries_a_request_id_of_its_own(http: AsyncClient) -> None:
    text = {"Content-Type": "text/plain"}
    answers = [
        await http.get("/v1/wallet"),
        await http.post("/v1/agents", json=AGENT),
        await http.get("/v1/agents/agt_nobody"),
        await http.get("/v1/nowhere"),
        await http.put("/v1/agents"),
        await http.post("/v1/agents", content=b"x" * 1_000_001),
        await http.post("/v1/agents", content=b"{}", headers=text),
        await http.post("/v1/agents", content=b"{"),
        await http.post("/v1/agents", json=AGENT),
        await http.delete(f"/v1/agents/{(await http.get('/v1/agents')).json()['data'][0]['id']}"),
    ]
    ids = [answer.headers["x-request-id"] for answer in answers]
    assert [answer.status_code for answer in answers] == [200, 201, 404, 404, 405, 413, 415, 400, 409, 204]
    assert len(set(ids)) == len(ids)
    assert all(request_id.startswith("req_") and len(request_id) == 28 for request_id in ids)
    for answer in answers:
        if answer.status_code >= 400:
            problem(answer)


@pytest.mark.requirement("ERR-56")
async def test_a_method_that_a_path_does_not_have_is_answered_with_those_it_has(http: AsyncClient) -> None:
    for method, path, allowed in (
        ("PUT", "/v1/agents", {"GET", "POST"}),
        ("POST", "/v1/wallet", {"GET", "PATCH"}),
        ("POST", "/v1/agents/agt_x", {"GET", "PATCH", "DELETE"}),
        ("OPTIONS", "/v1/deployments/dep_x/start", {"POST"}),
        ("HEAD", "/v1/deployments/dep_x/start", {"POST"}),
        ("DELETE", "/v1/phone-numbers/available", {"GET"}),
    ):
        answer = await http.request(method, path)
        if method != "HEAD":
            refused(answer, 405, "method_not_allowed")
        assert answer.status_code == 405
        assert set(answer.headers["allow"].split(", ")) == allowed, (method, path)


async def test_head_is_answered_like_get(http: AsyncClient) -> None:
    got, headed = await http.get("/v1/wallet"), await http.head("/v1/wallet")
    assert headed.status_code == 200
    assert headed.headers["content-length"] == got.headers["content-length"]
    assert (await http.head("/v1/agents/agt_nobody")).status_code == 404


@pytest.mark.requirement("BODY-03", "BODY-04", "SERV-09")
async def test_an_organization_named_in_a_request_has_no_effect(
    tenant: Tenant, other: Tenant, http: AsyncClient
) -> None:
    await resources.agent(other, "Theirs")
    made = await http.post("/v1/agents", json={**AGENT, "org_id": other.org_id}, params={"org_id": "org_x"})
    assert made.status_code == 201
    agent_id = made.json()["data"]["id"]
    listed = await http.get("/v1/agents", params={"org_id": other.org_id})
    assert [entry["name"] for entry in listed.json()["data"]] == ["Ada"]
    changed = await http.patch(f"/v1/agents/{agent_id}", json={"org_id": other.org_id, "name": "Bea"})
    assert changed.status_code == 200
    assert [entry.name async for entry in other.client.agents.list()] == ["Theirs"]
    assert (await tenant.client.agents.get(id=agent_id)).name == "Bea"


@pytest.mark.requirement("CONV-22", "FILTER-08", "FILTER-10", "ERR-52")
async def test_unknown_fields_and_parameters_are_refused_by_name(tenant: Tenant, http: AsyncClient) -> None:
    campaign = await resources.draft(tenant)
    deployment = f"/v1/deployments/{campaign.deployment.id}"
    found = refused(
        await http.post("/v1/agents", json={**AGENT, "promt": "x", "colour": 1}), 400, "invalid_field", "promt"
    )
    assert [error["field"] for error in found["errors"]] == ["promt", "colour"]
    refused(await http.patch(deployment, json={"status": "active"}), 400, "invalid_field", "status")
    nested = {"retry_policy": {"max_atempts": 2}}
    refused(await http.patch(deployment, json=nested), 400, "invalid_field", "retry_policy.max_atempts")
    refused(await http.post(f"{deployment}/pause", json={"force": True}), 400, "invalid_field", "force")
    for body in ({"id": campaign.deployment.id}, {"id": "dep_x"}):
        refused(await http.patch(deployment, json=body), 400, "invalid_field", "id")
        refused(await http.post(f"{deployment}/start", json=body), 400, "invalid_field", "id")
    queries: tuple[tuple[str, str, str], ...] = (
        ("GET", "/v1/agents?colour=red", "colour"),
        ("GET", "/v1/agents?name=Ada", "name"),
        ("GET", "/v1/agents?filter[colour]=red", "filter[colour]"),
        ("GET", "/v1/wallet?page=1", "page"),
        ("POST", "/v1/agents?name=Ada", "name"),
        ("DELETE", f"{deployment}?force=true", "force"),
    )
    for method, path, field in queries:
        body: Any = AGENT if method == "POST" else None
        refused(await http.request(method, path, json=body), 400, "invalid_field", field)
    twice = await http.get("/v1/agents?filter[name]=a&filter[name]=b")
    refused(twice, 400, "invalid_field", "filter[name]")
    assert (await tenant.client.deployments.get(id=campaign.deployment.id)).status == "draft"


@pytest.mark.requirement("BODY-10", "ERR-07", "ERR-31")
async def test_all_wrong_fields_are_named_at_once_and_no_value_is_repeated(http: AsyncClient) -> None:
    answer = await http.post("/v1/agents", json={"name": 7, "language": "+12025550100", "extra": "secret words"})
    found = refused(answer, 400, "invalid_field", "name")
    codes = {error["field"]: error["code"] for error in found["errors"]}
    assert codes == {
        "name": "invalid_field",
        "voice_id": "missing_field",
        "language": "invalid_field",
        "system_prompt": "missing_field",
        "extra": "invalid_field",
    }
    assert "+12025550100" not in answer.text
    assert "secret words" not in answer.text
    refused(await http.post("/v1/agents"), 400, "missing_field", "name")


@pytest.mark.requirement("BODY-16")
async def test_what_no_database_holds_is_refused_and_never_a_failure(http: AsyncClient) -> None:
    refused(await http.post("/v1/agents", json={**AGENT, "name": "A\0da"}), 400, "invalid_field", "name")
    refused(await http.get("/v1/agents?filter[name]=a%00b"), 400, "invalid_field", "filter[name]")
    refused(await http.get("/v1/agents/agt_%00"), 400, "invalid_field", "id")
    early = "0001-01-01T00:00:00%2B14:00"
    found = await http.get(f"/v1/agents?filter[created_from]={early}")
    refused(found, 400, "invalid_field", "filter[created_from]")
    draft = {"name": "x", "agent_id": "agt_\0", "audience_id": "aud_x", "phone_number_id": "num_x"}
    refused(await http.post("/v1/deployments", json=draft), 400, "invalid_field", "agent_id")
    late = {**draft, "agent_id": "agt_x", "end_at": "9999-12-31T23:59:59-14:00"}
    refused(await http.post("/v1/deployments", json=late), 400, "invalid_field", "end_at")
    assert (await http.get("/v1/agents/agt_%ED%A0%80")).status_code == 404
    assert (await http.get("/v1/agents/" + "a" * 3_000)).status_code == 404


@pytest.mark.requirement("ERR-18", "ERR-75", "IDEM-08")
async def test_a_failing_handler_is_a_500_that_tells_nothing_and_keeps_nothing(
    http: AsyncClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    create = HANDLERS["create_agent"]

    def fails(asked: Any, work: Any) -> Any:
        create(asked, work)
        raise RuntimeError("the database password is hunter2")

    monkeypatch.setitem(HANDLERS, "create_agent", fails)
    answer = await http.post("/v1/agents", json=AGENT, headers={"Idempotency-Key": "once"})
    found = refused(answer, 500, "internal_error")
    assert "hunter2" not in answer.text
    assert "Traceback" not in answer.text
    assert any(getattr(record, "request_id", None) == found["request_id"] for record in caplog.records)
    monkeypatch.undo()
    assert (await http.get("/v1/agents")).json()["data"] == []
    again = await http.post("/v1/agents", json=AGENT, headers={"Idempotency-Key": "once"})
    assert (again.status_code, again.headers.get("idempotent-replayed")) == (201, None)


@pytest.mark.requirement("AUTH-23", "AUTH-24")
async def test_a_success_leaves_one_audit_entry_and_a_refusal_or_a_read_none(tenant: Tenant, http: AsyncClient) -> None:
    before = len(await _audit(tenant))
    made = await http.post("/v1/agents", json=AGENT)
    await http.post("/v1/agents", json=AGENT)
    await http.post("/v1/agents", json={})
    await http.get("/v1/agents")
    entries = (await _audit(tenant))[before:]
    assert [(entry.action, entry.request_id) for entry in entries] == [("create_agent", made.headers["x-request-id"])]
    assert entries[0].subject == made.json()["data"]["id"]
    assert json.loads(entries[0].changes) == {name: {"after": value} for name, value in AGENT.items()}


async def _audit(tenant: Tenant) -> list[Any]:
    statement = select(audit_log).where(audit_log.c.org_id == tenant.org_id).order_by(audit_log.c.at, audit_log.c.id)
    return await tenant.database.read(lambda connection: list(connection.execute(statement).all()))


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("create_agent", "create_agent"),
        (None, None),
        ("", None),
        ("Create Agent", None),
        ("x" * 65, None),
        ("a;drop", None),
    ],
)
async def test_the_tool_that_a_request_came_through_is_in_the_audit_log(
    tenant: Tenant, http: AsyncClient, said: str | None, kept: str | None
) -> None:
    headers = {} if said is None else {"X-Callwright-Tool": said}
    assert (await http.post("/v1/agents", json=AGENT, headers=headers)).status_code == 201
    statement = select(audit_log.c.tool).where(audit_log.c.action == "create_agent")
    rows = await tenant.database.read(lambda connection: connection.execute(statement).all())
    assert [row.tool for row in rows] == [kept]
