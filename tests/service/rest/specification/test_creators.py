"""Keys whose creator is gone: few operations refuse them, all others go on."""

from collections.abc import Mapping
from typing import Any

import pytest

from callwright.contract.surface import OPERATIONS
from callwright.service import accounts
from tests.support import resources
from tests.support.http.raw_requests import AsyncClient, Response, raw_client
from tests.support.resources import row
from tests.support.service import Tenant

AGENT = {"name": "Ada", "voice_id": "en-US-ada", "language": "en-US", "system_prompt": "Say hello."}


async def key_of(tenant: Tenant, *, email: str | None) -> tuple[str, str]:
    """A user of the organization and a key made by that user: the user's id, the key."""
    services = tenant.services
    now_ms, write = services.clock.now_ms(), services.database.write
    user_id = await write(accounts.create_user, services.ids, email, "Ann", now_ms)
    await write(accounts.join, services.ids, tenant.org_id, user_id, "member", now_ms)
    named: dict[str, Any] = {"created_by_user_id": user_id}
    key = await write(accounts.create_key, services.ids, tenant.org_id, "hers", now_ms, **named)
    return user_id, key.secret


async def bodies(tenant: Tenant) -> Mapping[str, dict[str, Any]]:
    """A good body for each operation that needs the creator, by its path."""
    campaign = await resources.draft(tenant)
    free = await resources.number(tenant)
    return {
        "/agents": AGENT,
        "/calls": {
            "agent_id": campaign.agent.id,
            "phone_number_id": campaign.number.id,
            "to": "+12125550190",
            "variables": {"first_name": "Ada"},
            "auto_start": False,
        },
        "/deployments": {"name": "Another", **campaign.parts},
        "/deployments/inbound": {"name": "Desk", "agent_id": campaign.agent.id, "phone_number_id": free.id},
        "/phone_numbers": {"country": "US"},
    }


async def total(http: AsyncClient, path: str) -> int:
    """How many there are of what is made at a path: a call that is placed is a deployment."""
    made = "/deployments" if path in ("/calls", "/deployments/inbound") else path
    return (await http.get(f"/v1{made}")).json()["pagination"]["total"]


def owner_required(answer: Response) -> None:
    """The answer must be the refusal for want of a creator."""
    body = answer.json()
    assert (answer.status_code, body["error"]) == (409, "api_key_owner_required"), answer.text
    assert set(body) == {"error", "message", "action_url", "request_id"}
    assert body["action_url"].startswith("http://service/")
    assert body["request_id"] == answer.headers["x-request-id"]


@pytest.mark.requirement("AUTH-27", "AUTH-28", "AUTH-29", "AUTH-30", "AUTH-31", "AUTH-33", "ERR-16", "ERR-35")
@pytest.mark.parametrize("how", ["left", "deleted"])
async def test_five_creations_need_the_creator_of_the_key(tenant: Tenant, how: str) -> None:
    services = tenant.services
    asked = await bodies(tenant)
    bound = {op.path for op in OPERATIONS.values() if op.creator_bound in ("member", "member_with_email")}
    bound.remove("/deployments/{id}/clone")  # a copy is the creation of a deployment, made by another path
    assert set(asked) == bound
    user_id, secret = await key_of(tenant, email="ann@example.com")
    async with raw_client(tenant, key=secret) as http:
        if how == "left":
            await services.database.write(accounts.leave, services.ids, tenant.org_id, user_id, services.clock.now_ms())
        else:
            await services.database.write(accounts.delete_user, services.ids, user_id, services.clock.now_ms())
        for path, body in asked.items():
            before = await total(http, path)
            for prefix in ("/v1", "/api/v1"):
                owner_required(await http.post(f"{prefix}{path}", json=body))
            assert await total(http, path) == before
        owner_required(await http.post("/v1/phone-numbers", json=asked["/phone_numbers"]))
        if how == "left":
            await services.database.write(
                accounts.join, services.ids, tenant.org_id, user_id, "member", services.clock.now_ms()
            )
            for path, body in asked.items():
                assert (await http.post(f"/v1{path}", json=body)).status_code == 201, path


@pytest.mark.requirement("AUTH-32", "AUTH-33")
async def test_renting_needs_the_creators_address_and_nothing_else_does(tenant: Tenant) -> None:
    asked = await bodies(tenant)
    _, secret = await key_of(tenant, email=None)
    async with raw_client(tenant, key=secret) as http:
        before = await total(http, "/phone_numbers")
        owner_required(await http.post("/v1/phone_numbers", json=asked["/phone_numbers"]))
        assert await total(http, "/phone_numbers") == before
        for path, body in asked.items():
            if path != "/phone_numbers":
                assert (await http.post(f"/v1{path}", json=body)).status_code == 201, path


@pytest.mark.requirement("AUTH-34")
async def test_without_its_creator_a_key_reads_everything_and_does_the_rest(tenant: Tenant) -> None:
    services = tenant.services
    campaign = await resources.draft(tenant)
    user_id, secret = await key_of(tenant, email="ann@example.com")
    await services.database.write(accounts.leave, services.ids, tenant.org_id, user_id, services.clock.now_ms())
    async with raw_client(tenant, key=secret) as http:
        for operation in OPERATIONS.values():
            if operation.shape == "many" and "{" not in operation.path:
                needed = {
                    "search_available_numbers": {"filter[country]": "US"},
                    "search_transcripts": {"query": "hello"},
                }
                answer = await http.get(f"/v1{operation.path}", params=needed.get(operation.name, {}))
                assert answer.status_code == 200, operation.name
        deployment = f"/v1/deployments/{campaign.deployment.id}"
        people = f"/v1/audiences/{campaign.audience.id}/rows"
        for method, path, body, status in (
            ("POST", "/v1/audiences", {"name": "People"}, 201),
            ("POST", people, {"rows": [row(1)]}, 201),
            ("PATCH", f"/v1/agents/{campaign.agent.id}", {"name": "Changed"}, 200),
            ("POST", f"{deployment}/start", None, 200),
            ("POST", f"{deployment}/pause", None, 200),
            ("POST", f"{deployment}/resume", None, 200),
            ("POST", f"{deployment}/cancel", None, 200),
            ("DELETE", f"/v1/phone_numbers/{campaign.number.id}", None, 200),
            ("DELETE", f"/v1/agents/{campaign.agent.id}", None, 204),
        ):
            answer = await http.request(method, path, json=body)
            assert answer.status_code == status, (method, path, answer.text)
