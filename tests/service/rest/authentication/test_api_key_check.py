"""API keys: their form, what is stored of them, and whose they are."""

import hashlib
import re
from typing import Any

import pytest
from sqlalchemy import select

from callwright.contract.problems import API_KEY_REQUIRED, INVALID_API_KEY
from callwright.contract.surface import OPERATIONS
from callwright.service import accounts
from callwright.service.accounts.principals import IN_PROCESS_KEY, InProcessKey, fingerprint, new_secret
from callwright.service.platform.refusals import Refusal
from callwright.service.rest.authentication.api_key_check import bearer, identify, in_process_key
from callwright.service.tables.schema import api_keys
from callwright.service.workers import sweeps
from tests.support.http.raw_requests import AsyncClient, raw_client
from tests.support.service import Tenant


@pytest.mark.requirement("AUTH-05")
def test_a_new_key_has_the_live_prefix_and_48_hexadecimal_digits() -> None:
    secrets = {new_secret() for _ in range(100)}
    assert len(secrets) == 100
    assert all(re.fullmatch(r"svc_live_[0-9a-f]{48}", secret) for secret in secrets)


def test_a_new_personal_key_has_a_prefix_of_its_own() -> None:
    assert re.fullmatch(r"svc_mcp_[0-9a-f]{48}", new_secret("personal"))


def test_a_handed_over_key_does_not_show_itself() -> None:
    assert "svc_mcp_" not in repr(InProcessKey(new_secret("personal")))


@pytest.mark.parametrize(
    "forged", [None, "svc_mcp_00", b"svc_mcp_00", {"secret": "svc_mcp_00"}, ["svc_mcp_00"], True, ("svc_mcp_00",)]
)
def test_only_an_object_of_this_process_hands_a_key_over(forged: object) -> None:
    assert in_process_key({IN_PROCESS_KEY: forged}) is None
    assert in_process_key({IN_PROCESS_KEY: InProcessKey("svc_mcp_00")}) == "svc_mcp_00"


@pytest.mark.requirement("AUTH-04")
def test_the_fingerprint_of_a_key_is_its_sha_256() -> None:
    assert fingerprint("svc_live_00") == hashlib.sha256(b"svc_live_00").hexdigest()


def test_the_bearer_token_is_given_without_what_surrounds_it() -> None:
    assert bearer("Bearer svc_live_00") == "svc_live_00"
    assert bearer("BEARER   svc_live_00  ") == "svc_live_00"


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer x", "Token svc_live_00", "Bearersvc_live_00"])
def test_anything_else_is_refused_as_no_key(header: str | None) -> None:
    with pytest.raises(Refusal) as caught:
        bearer(header)
    assert caught.value.problem is API_KEY_REQUIRED


def test_a_personal_key_at_rest_is_told_that_it_is_one_and_what_is_needed() -> None:
    with pytest.raises(Refusal) as caught:
        bearer(f"Bearer {new_secret('personal')}")
    assert caught.value.problem is API_KEY_REQUIRED
    assert caught.value.message.startswith("This is a personal key (svc_mcp_…)")
    assert "svc_live_" in caught.value.message


@pytest.mark.service(plan="starter")
async def test_a_key_leads_to_its_organization_and_plan(tenant: Tenant) -> None:
    async with tenant.another_organization(plan="pro") as other:
        database = tenant.database
        mine = await database.read(identify, tenant.api_key)
        theirs = await database.read(identify, other.api_key)
    assert (mine.org_id, mine.plan.name) == (tenant.org_id, "starter")
    assert (theirs.org_id, theirs.plan.name) == (other.org_id, "pro")
    assert mine.key_id != theirs.key_id


@pytest.mark.requirement("AUTH-04")
async def test_only_the_hash_and_the_first_16_characters_of_a_key_are_stored(tenant: Tenant) -> None:
    row = (await _keys(tenant))[0]
    stored = " ".join(str(value) for value in row)
    assert row.hash == fingerprint(tenant.api_key)
    assert row.identity == tenant.api_key[:16]
    assert tenant.api_key[:17] not in stored


@pytest.mark.requirement("AUTH-37")
async def test_an_unknown_key_is_refused(tenant: Tenant) -> None:
    for secret in (new_secret(), tenant.api_key + "0", tenant.api_key[:-1], tenant.api_key.upper(), "svc_live_\0"):
        with pytest.raises(Refusal) as caught:
            await tenant.database.read(identify, secret)
        assert caught.value.problem is INVALID_API_KEY


@pytest.mark.requirement("AUTH-09")
async def test_rest_refuses_a_personal_key_on_every_route(tenant: Tenant) -> None:
    secret = await _personal(tenant)
    assert (await tenant.database.read(identify, secret)).org_id == tenant.org_id
    async with raw_client(tenant, key=secret) as http:
        routes = [(operation.method, operation.path) for operation in OPERATIONS.values()]
        for method, path in (*routes, ("GET", "/nowhere"), ("PUT", "/agents")):
            for prefix in ("/v1", "/api/v1"):
                answer = await http.request(method, f"{prefix}{path}")
                assert (answer.status_code, answer.json()["error"]) == (401, "api_key_required"), path


@pytest.mark.parametrize("place", ["header", "query", "body", "path", "cookie"])
async def test_nothing_that_is_sent_acts_for_whom_the_tool_server_acts_for(tenant: Tenant, place: str) -> None:
    """Whom the tool server acts for is an entry of the ASGI scope; what is sent becomes text in other entries."""
    secret = await _personal(tenant)
    forged = {IN_PROCESS_KEY: secret, "state": secret, "extensions": secret}
    async with raw_client(tenant, key=secret) as http:
        if place == "header":
            answer = await http.get(
                "/v1/wallet", headers={name.replace(".", "-"): value for name, value in forged.items()}
            )
        elif place == "query":
            answer = await http.get("/v1/wallet", params=forged)
        elif place == "body":
            answer = await http.post("/v1/agents", json=forged)
        elif place == "path":
            answer = await http.get(f"/v1/wallet/{IN_PROCESS_KEY}={secret}")
        else:
            answer = await http.get("/v1/wallet", headers={"Cookie": f"{IN_PROCESS_KEY}={secret}"})
    assert (answer.status_code, answer.json()["error"]) == (401, "api_key_required")


async def test_a_second_key_sees_the_same_organization_until_it_is_revoked(tenant: Tenant) -> None:
    services = tenant.services
    now_ms = services.clock.now_ms()
    second = await services.database.write(accounts.create_key, services.ids, tenant.org_id, "second", now_ms)
    async with raw_client(tenant, key=second.secret) as http:
        assert (await http.get("/v1/wallet")).status_code == 200
        await services.database.write(accounts.revoke_key, services.ids, second.id, now_ms)
        assert (await http.get("/v1/wallet")).status_code == 401
    assert (await tenant.client.wallet.get()).balance.amount == "100.000000"


@pytest.mark.requirement("AUTH-21")
async def test_the_sweep_writes_down_when_a_key_was_last_used(tenant: Tenant, http: AsyncClient) -> None:
    assert (await _keys(tenant))[0].last_used_at is None
    begun_ms = tenant.services.clock.now_ms()
    await tenant.client.wallet.get()
    await sweeps.run(tenant.services)
    first = (await _keys(tenant))[0].last_used_at
    assert begun_ms <= first <= tenant.services.clock.now_ms()
    assert (await http.get("/v1/nowhere")).status_code == 404
    await sweeps.run(tenant.services)
    assert (await _keys(tenant))[0].last_used_at >= first


async def _personal(tenant: Tenant) -> str:
    given = (tenant.services.ids, tenant.org_id, "personal", tenant.services.clock.now_ms())
    return (await tenant.database.write(accounts.create_personal_key, *given)).secret


async def _keys(tenant: Tenant) -> list[Any]:
    statement = select(api_keys).where(api_keys.c.org_id == tenant.org_id)
    return list(await tenant.database.read(lambda connection: connection.execute(statement).all()))
