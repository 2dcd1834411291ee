"""Keys whose maker has left: five creations are refused, all else goes on."""

from pathlib import Path
from typing import Any

import pytest

from callwright.client.errors import ServiceProblem
from callwright.service import accounts
from callwright.service.settings import ServiceSettings
from tests.support import resources
from tests.support.http.raw_requests import Response, raw_client, refused
from tests.support.service import Tenant, open_service

BOUND = ("/v1/agents", "/v1/deployments", "/v1/deployments/inbound", "/v1/calls", "/v1/phone_numbers")


async def member(tenant: Tenant, email: str | None) -> str:
    """A new member of the tenant's organization."""
    services = tenant.services
    now_ms = services.clock.now_ms()
    user_id = await services.database.write(accounts.create_user, services.ids, email, "Ada", now_ms)
    await services.database.write(accounts.join, services.ids, tenant.org_id, user_id, "member", now_ms)
    return user_id


async def key_of(tenant: Tenant, user_id: str) -> str:
    """A key that a user has made."""
    services = tenant.services

    def make(connection: Any) -> str:
        made = accounts.create_key(
            connection, services.ids, tenant.org_id, "hers", services.clock.now_ms(), created_by_user_id=user_id
        )
        return made.secret

    return await services.database.write(make)


def without_creator(answer: Response, said: str) -> None:
    """The answer must be the flat problem with its way out."""
    body = answer.json()
    assert (answer.status_code, body["error"]) == (409, "api_key_owner_required"), answer.text
    assert set(body) == {"error", "message", "request_id", "action_url"}
    assert body["action_url"] == "http://service/settings/api-keys"
    assert said in body["message"]


async def bodies(tenant: Tenant) -> dict[str, dict[str, Any]]:
    """A good body for each of the creations."""
    campaign = await resources.draft(tenant, "Ready")
    agent_id, number_id = campaign.agent.id, campaign.number.id
    return {
        "/v1/agents": {"name": "Bob", "voice_id": "en-US-ada", "language": "en-US", "system_prompt": "Say hello."},
        "/v1/deployments": {
            "name": "More",
            "agent_id": agent_id,
            "audience_id": campaign.audience.id,
            "phone_number_id": number_id,
        },
        "/v1/deployments/inbound": {"name": "Desk", "agent_id": agent_id, "phone_number_id": number_id},
        "/v1/calls": {
            "agent_id": agent_id,
            "phone_number_id": number_id,
            "to": "+12125550190",
            "variables": {"first_name": "Ada"},
            "auto_start": False,
        },
        "/v1/phone_numbers": {"country": "US"},
    }


@pytest.mark.requirement("AUTH-26", "AUTH-27", "AUTH-28", "AUTH-29", "AUTH-30", "AUTH-33", "AUTH-34")
async def test_five_creations_need_the_keys_creator_in_the_organization_and_all_else_goes_on(tenant: Tenant) -> None:
    good, user_id = await bodies(tenant), await member(tenant, "ada@example.com")
    services = tenant.services
    async with raw_client(tenant, key=await key_of(tenant, user_id)) as http:
        await services.database.write(accounts.leave, services.ids, tenant.org_id, user_id, services.clock.now_ms())
        for path in BOUND:
            without_creator(await http.post(path, json=good[path]), "no longer in the organization")
        (campaign,) = (await http.get("/v1/deployments")).json()["data"]
        copy = await http.post(f"/v1/deployments/{campaign['id']}/clone", json={"name": "Copy"})
        without_creator(copy, "no longer in the organization")
        for noun in ("agents", "audiences", "phone_numbers", "deployments", "calls", "voices", "wallet"):
            assert (await http.get(f"/v1/{noun}")).status_code == 200
        assert (await http.post("/v1/audiences", json={"name": "Hers"})).status_code == 201
        agent = (await http.get("/v1/agents")).json()["data"][0]
        assert (await http.patch(f"/v1/agents/{agent['id']}", json={"name": "Carol"})).status_code == 200
        await services.database.write(
            accounts.join, services.ids, tenant.org_id, user_id, "member", services.clock.now_ms()
        )
        assert (await http.post("/v1/agents", json=good["/v1/agents"])).status_code == 201


@pytest.mark.requirement("AUTH-31")
async def test_a_creator_who_was_deleted_is_as_one_who_has_left(tenant: Tenant) -> None:
    good, user_id = await bodies(tenant), await member(tenant, "ada@example.com")
    async with raw_client(tenant, key=await key_of(tenant, user_id)) as http:
        await tenant.database.write(accounts.delete_user, tenant.services.ids, user_id, tenant.services.clock.now_ms())
        for path in BOUND:
            without_creator(await http.post(path, json=good[path]), "no longer in the organization")
        (campaign,) = (await http.get("/v1/deployments")).json()["data"]
        copy = await http.post(f"/v1/deployments/{campaign['id']}/clone", json={"name": "Copy"})
        without_creator(copy, "no longer in the organization")


@pytest.mark.requirement("AUTH-32")
async def test_renting_needs_the_creators_address_as_well(tenant: Tenant) -> None:
    good, user_id = await bodies(tenant), await member(tenant, None)
    async with raw_client(tenant, key=await key_of(tenant, user_id)) as http:
        without_creator(await http.post("/v1/phone_numbers", json={"country": "US"}), "no e-mail address")
        for path in BOUND[:-1]:
            assert (await http.post(path, json=good[path])).status_code == 201, path


@pytest.mark.requirement("AUTH-40")
async def test_a_bad_body_is_named_before_the_missing_creator(tenant: Tenant) -> None:
    user_id = await member(tenant, "ada@example.com")
    services = tenant.services
    async with raw_client(tenant, key=await key_of(tenant, user_id)) as http:
        await services.database.write(accounts.leave, services.ids, tenant.org_id, user_id, services.clock.now_ms())
        refused(await http.post("/v1/agents", json={"name": "Bob"}), 400, "missing_field", "voice_id")


async def test_a_refusal_for_the_creator_keeps_nothing_and_frees_the_idempotency_key(tenant: Tenant) -> None:
    good, user_id = await bodies(tenant), await member(tenant, "ada@example.com")
    services = tenant.services
    async with raw_client(tenant, key=await key_of(tenant, user_id), Idempotency_Key="again") as http:
        await services.database.write(accounts.leave, services.ids, tenant.org_id, user_id, services.clock.now_ms())
        without_creator(await http.post("/v1/agents", json=good["/v1/agents"]), "no longer")
        await services.database.write(
            accounts.join, services.ids, tenant.org_id, user_id, "member", services.clock.now_ms()
        )
        assert (await http.post("/v1/agents", json=good["/v1/agents"])).status_code == 201


async def test_the_client_raises_the_refusal_with_its_code_and_does_not_try_again(tenant: Tenant) -> None:

    def forget(connection: Any) -> None:
        from sqlalchemy import update

        from callwright.service.tables.schema import api_keys

        connection.execute(update(api_keys).values(created_by_user_id=None))

    await tenant.database.write(forget)
    with pytest.raises(ServiceProblem) as caught:
        await tenant.client.phone_numbers.rent(country="US")
    assert (caught.value.code, caught.value.retryable) == ("api_key_owner_required", False)


@pytest.mark.requirement("AUTH-33")
@pytest.mark.parametrize("public_url", [None, "https://voice.example.com"])
async def test_the_way_out_is_a_page_that_answers_wherever_the_request_says_it_came_from(
    database_url: str, tmp_path: Path, public_url: str | None
) -> None:
    settings = ServiceSettings(data=tmp_path, database_url=database_url, public_url=public_url)
    async with open_service(database_url, tmp_path, workers=False, settings=settings) as tenant:
        user_id, services = await member(tenant, "ada@example.com"), tenant.services
        async with raw_client(tenant, key=await key_of(tenant, user_id), Host="evil.example") as http:
            await services.database.write(accounts.leave, services.ids, tenant.org_id, user_id, services.clock.now_ms())
            body = {"name": "Bob", "voice_id": "en-US-ada", "language": "en-US", "system_prompt": "Say hello."}
            address = (await http.post("/v1/agents", json=body)).json()["action_url"]
            assert address == f"{public_url or 'http://service'}/settings/api-keys"
            page = await http.get("/settings/api-keys")
        assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert "callwright keys create" in page.text
