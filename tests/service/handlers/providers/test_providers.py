"""Providers through the typed client: how one is set, listed, made the default and removed, and by whom."""

from ipaddress import ip_network
from typing import Any

import pytest

from callwright.contract.agents.agents import Model, Speech
from callwright.contract.providers import MOST_PROVIDERS, ROLES_OF, Provider
from callwright.service import accounts
from callwright.service.platform.clock.clock import SystemClock
from tests.support import resources
from tests.support.http.raw_requests import raw_client
from tests.support.resources import refusal
from tests.support.service import Tenant

KEY = "sk-thisIsTheKeyOfTheTests-9f3a"
LOOPBACK = (ip_network("127.0.0.0/8"),)


async def listed(tenant: Tenant) -> dict[str, Provider]:
    return {one.name: one for one in (await tenant.client.providers.list()).data}


async def owner_key(tenant: Tenant, role: str) -> str:
    """A key that a user of this role made."""
    services = tenant.services
    now_ms, write = services.clock.now_ms(), services.database.write
    user_id = await write(accounts.create_user, services.ids, "ann@example.com", "Ann", now_ms)
    await write(accounts.join, services.ids, tenant.org_id, user_id, role, now_ms)
    named: dict[str, Any] = {"created_by_user_id": user_id}
    return (await write(accounts.create_key, services.ids, tenant.org_id, "hers", now_ms, **named)).secret


@pytest.mark.requirement("PROVIDER-01")
async def test_a_provider_is_set_and_listed_without_its_key(tenant: Tenant) -> None:
    made = await tenant.client.providers.set(name="our-openai", kind="openai", key=KEY, default_for=["hearing"])
    assert made.model_dump(exclude={"created_at", "updated_at"}) == {
        "name": "our-openai",
        "kind": "openai",
        "roles": ["hearing", "thinking", "speaking"],
        "url": None,
        "model": None,
        "voice": None,
        "has_key": True,
        "key_ends_with": "9f3a",
        "default_for": ["hearing"],
    }
    assert await listed(tenant) == {"our-openai": made}
    assert (await tenant.client.providers.list(kind="deepgram")).data == []


async def test_providers_are_listed_by_name_and_page_by_page(tenant: Tenant) -> None:
    for name in ("mouth", "ears", "mind"):
        await tenant.client.providers.set(name=name, kind="openai", key=KEY)
    providers = tenant.client.providers
    assert [one.name async for one in providers.list(per_page=1)] == ["ears", "mind", "mouth"]
    assert [one.name async for one in providers.list(per_page=2, sort="-name")] == ["mouth", "mind", "ears"]


async def test_setting_it_again_empties_what_is_left_out_but_keeps_the_key(tenant: Tenant) -> None:
    given: dict[str, Any] = {"name": "mouth", "kind": "openai", "roles": ["speaking"]}
    await tenant.client.providers.set(**given, key=KEY, voice="nova", model="tts-1", default_for=["speaking"])
    again = await tenant.client.providers.set(**given)
    assert (again.voice, again.model, again.default_for) == (None, None, [])
    assert (again.has_key, again.key_ends_with) == (True, "9f3a")
    changed = await tenant.client.providers.set(**given, key="another-key-of-theirs-0001")
    assert changed.key_ends_with == "0001"


async def test_of_a_short_key_nothing_is_shown(tenant: Tenant) -> None:
    made = await tenant.client.providers.set(name="short", kind="deepgram", key="abcd1234")
    assert (made.has_key, made.key_ends_with) == (True, None)


@pytest.mark.requirement("PROVIDER-03")
async def test_a_key_is_not_taken_along_to_another_address(tenant: Tenant) -> None:
    """Whoever may change the address could otherwise read the key there."""
    providers = tenant.client.providers
    await providers.set(name="ours", kind="openai", key=KEY)
    async with refusal(400, "invalid_field", "key") as found:
        await providers.set(name="ours", kind="openai", url="https://other.example.com/v1")
    assert "given again" in str(found[0])
    async with refusal(400, "invalid_field", "key"):
        await providers.set(name="ours", kind="deepgram")
    without = await providers.set(name="ours", kind="openai", url="https://other.example.com/v1", key="")
    assert (without.has_key, without.key_ends_with) == (False, None)
    async with refusal(400, "invalid_field", "key"):
        await providers.set(name="ours", kind="openai")
    assert (await listed(tenant))["ours"].url == "https://other.example.com/v1"


@pytest.mark.requirement("PROVIDER-05")
@pytest.mark.parametrize(
    ("wrong", "field", "words"),
    [
        ({"kind": "deepgram", "roles": ["speaking"]}, "roles", "can only do hearing"),
        ({"kind": "deepgram", "default_for": ["speaking"]}, "default_for", "not among its roles"),
        ({"kind": "deepgram", "url": "https://example.com"}, "url", "only kind openai"),
        ({"kind": "openai", "url": "http://example.com"}, "url", "speech and words are not sent over plain HTTP"),
        ({"kind": "openai", "url": "https://10.0.0.1/v1"}, "url", "Speech and words are not sent to"),
        ({"kind": "openai", "url": "https://localhost/v1"}, "url", "--webhook-networks"),
        ({"kind": "openai", "url": "https://me:secret@example.com/v1"}, "url", "user name or password"),
        ({"kind": "openai", "model": "gpt-4.1-mini"}, "model", "is for one role"),
        ({"kind": "deepgram", "voice": "nova"}, "voice", "is for speaking"),
        ({"kind": "elevenlabs"}, "voice", "is required"),
        ({"kind": "cartesia"}, "voice", "is required"),
    ],
)
async def test_what_does_not_fit_is_named(tenant: Tenant, wrong: dict[str, Any], field: str, words: str) -> None:
    async with refusal(400, "invalid_field", field) as found:
        await tenant.client.providers.set(name="wrong", key=KEY, **wrong)
    assert words in str(found[0])
    assert KEY not in str(found[0])
    assert await listed(tenant) == {}


@pytest.mark.parametrize("kind", ROLES_OF)
async def test_a_service_that_takes_nobody_without_a_key_needs_one(tenant: Tenant, kind: str) -> None:
    spoken = {"voice": "v"} if kind in ("elevenlabs", "cartesia") else {}
    async with refusal(400, "invalid_field", "key"):
        await tenant.client.providers.set(name="bare", kind=kind, **spoken)  # pyright: ignore[reportArgumentType]  # each kind


@pytest.mark.service(settings={"webhook_networks": LOOPBACK})
async def test_an_opened_network_may_be_named_over_plain_http_and_without_a_key(tenant: Tenant) -> None:
    made = await tenant.client.providers.set(name="local", kind="openai", url="http://127.0.0.1:8000/v1")
    assert (made.url, made.has_key) == ("http://127.0.0.1:8000/v1", False)


async def test_a_role_has_one_default(tenant: Tenant) -> None:
    providers = tenant.client.providers
    await providers.set(name="all", kind="openai", key=KEY, default_for=["hearing", "thinking", "speaking"])
    await providers.set(name="ears", kind="deepgram", key=KEY, default_for=["hearing"])
    found = await listed(tenant)
    assert (found["all"].default_for, found["ears"].default_for) == (["thinking", "speaking"], ["hearing"])


async def test_an_organization_has_so_many_providers_and_no_more(tenant: Tenant) -> None:
    for number in range(MOST_PROVIDERS):
        await tenant.client.providers.set(name=f"p{number}", kind="deepgram", key=KEY)
    async with refusal(422, "plan_limit_reached") as found:
        await tenant.client.providers.set(name="one-more", kind="deepgram", key=KEY)
    assert found[0].details == {"limit": MOST_PROVIDERS, "current": MOST_PROVIDERS}
    await tenant.client.providers.set(name="p0", kind="deepgram")


@pytest.mark.requirement("PROVIDER-04")
async def test_a_provider_that_is_used_stays_and_its_users_are_named(tenant: Tenant) -> None:
    providers, agents = tenant.client.providers, tenant.client.agents
    await providers.set(name="ours", kind="openai", key=KEY)
    campaign = await resources.draft(tenant)
    agent = campaign.agent
    await agents.update(id=agent.id, model=Model(provider="ours"))
    await tenant.client.deployments.start(id=campaign.deployment.id)
    async with refusal(409, "provider_in_use") as found:
        await providers.remove(name="ours")
    assert found[0].details == {"used_by": [agent.id, campaign.deployment.id]}
    await agents.update(id=agent.id, model=None)
    async with refusal(409, "provider_in_use") as found:
        await providers.remove(name="ours")
    assert found[0].details == {"used_by": [campaign.deployment.id]}
    async with refusal(409, "provider_in_use"):
        await providers.set(name="ours", kind="openai", roles=["hearing"])
    await tenant.client.deployments.cancel(id=campaign.deployment.id)
    await providers.remove(name="ours")
    assert await listed(tenant) == {}


@pytest.mark.requirement("PROVIDER-02")
async def test_only_a_key_that_an_owner_made_sets_and_removes(tenant: Tenant) -> None:
    await tenant.client.providers.set(name="ours", kind="openai", key=KEY)
    body = {"kind": "openai", "key": KEY}
    async with raw_client(tenant, key=await owner_key(tenant, "member")) as http:
        for method, sent in (("PUT", body), ("DELETE", None)):
            answer = await http.request(method, "/v1/providers/ours", json=sent)
            assert (answer.status_code, answer.json()["error"]) == (409, "api_key_owner_required")
        assert (await http.get("/v1/providers")).status_code == 200
    assert (await listed(tenant))["ours"].has_key


async def test_a_key_of_an_owner_does(tenant: Tenant) -> None:
    async with raw_client(tenant, key=await owner_key(tenant, "owner")) as http:
        assert (await http.put("/v1/providers/ours", json={"kind": "openai", "key": KEY})).status_code == 200
        assert (await http.delete("/v1/providers/ours")).status_code == 204


async def test_organizations_do_not_see_each_others_providers(tenant: Tenant, other: Tenant) -> None:
    await tenant.client.providers.set(name="ours", kind="openai", key=KEY)
    assert await listed(other) == {}
    async with refusal(404, "not_found"):
        await other.client.providers.remove(name="ours")
    campaign = await resources.draft(other)
    async with refusal(400, "invalid_field", "speech.hearing") as found:
        await other.client.agents.update(id=campaign.agent.id, speech=Speech(hearing="ours"))
    assert "there is none" in str(found[0])
    theirs = await other.client.providers.set(name="ours", kind="deepgram", key=KEY)
    assert (await listed(tenant))["ours"].kind == "openai"
    assert (await listed(other))["ours"] == theirs
    assert theirs.created_at.timestamp() <= SystemClock().now_ms() / 1000 + 1


@pytest.mark.parametrize("field", ["voice", "model"])
async def test_a_voice_or_model_that_leads_elsewhere_is_refused_by_its_field(tenant: Tenant, field: str) -> None:
    body = {"kind": "openai", "roles": ["speaking"], "key": KEY, field: "../../v1/user?a=1"}
    async with raw_client(tenant) as http:
        answer = await http.put("/v1/providers/mouth", json=body)
    assert answer.status_code in (400, 422)
    assert answer.json()["error"]["field"] == field
    made = await resources.agent(tenant)
    part = {"speech": {"voice": "a\r\nb"}} if field == "voice" else {"model": {"model": "a\r\nb"}}
    async with raw_client(tenant) as http:
        answer = await http.patch(f"/v1/agents/{made.id}", json=part)
    assert answer.status_code in (400, 422)
