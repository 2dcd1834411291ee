"""Keys of the dashboard: shown once, listed by their beginning, revoked at once."""

import re
from html import unescape

import pytest

from callwright.service import accounts
from tests.support.dashboard import ORIGIN, hidden_of, logged_in, text_of
from tests.support.http.raw_requests import raw_client
from tests.support.service import Tenant

PAGE = "/settings/api-keys"


@pytest.mark.requirement("AUTH-02")
@pytest.mark.requirement("DASH-10")
async def test_a_key_is_shown_once_works_over_rest_and_ends_with_its_revocation(tenant: Tenant) -> None:
    async with logged_in(tenant) as visit:
        shown = (await visit.send(PAGE, kind="live", label="billing job")).text
        found = re.search(r"svc_live_[0-9a-f]{48}", shown)
        assert found is not None
        again = await visit.page(PAGE)
        assert found[0] not in again
        assert f"{found[0][:16]}…" in again
        async with raw_client(tenant, key=found[0]) as http:
            assert (await http.get("/v1/agents")).status_code == 200
            key_id = next(row.id for row in await tenant.database.read(accounts.keys_of, tenant.org_id))
            answer = await visit.send(f"{PAGE}/{key_id}/revoke")
            assert answer.headers["location"] == PAGE
            refused = await http.get("/v1/agents")
            assert (refused.status_code, refused.json()["error"]) == (401, "invalid_api_key")
        assert "Revoked" in text_of(await visit.page(PAGE))
        audited = [entry async for entry in tenant.client.audit_log.list(subject_id=key_id)]
    owner = await tenant.database.read(accounts.first_owner, tenant.org_id)
    assert [(entry.action, entry.actor_id, entry.user_id) for entry in audited] == [
        ("api_key.revoked", owner, owner),
        ("api_key.created", owner, owner),
    ]


@pytest.mark.requirement("DASH-10")
async def test_a_personal_key_comes_with_what_each_host_takes(tenant: Tenant) -> None:
    async with logged_in(tenant) as visit:
        answer = await visit.send(PAGE, kind="personal", label="laptop", profile="analyst", spending_cap="12.50")
    text = unescape(answer.text)
    found = re.search(r"svc_mcp_[0-9a-f]{48}", text)
    assert found is not None
    assert text.count(found[0]) >= 5
    assert (
        f"claude mcp add --transport http callwright http://service/mcp --header 'Authorization: Bearer {found[0]}'"
        in text
    )
    assert "personal, analyst, at most 12.50 USD" in text_of(answer.text)


@pytest.mark.requirement("DASH-76")
@pytest.mark.parametrize("kind", ["live", "personal"])
async def test_a_form_of_a_key_that_is_sent_again_by_a_reload_makes_no_second_key(tenant: Tenant, kind: str) -> None:
    async with logged_in(tenant) as visit:
        hidden = hidden_of((await visit.page(PAGE)).partition("</form>")[2])
        fields = {**hidden, "kind": kind, "label": "billing", "profile": "all", "spending_cap": ""}
        first, again = [await visit.http.post(PAGE, data=fields, headers={"Origin": ORIGIN}) for _ in range(2)]
        assert (first.status_code, again.status_code) == (200, 409)
        assert "This form has made its key already" in text_of(again.text)
        assert re.search(r"svc_(live|mcp)_[0-9a-f]{48}", again.text) is None
        assert (await visit.send(PAGE, kind=kind, label="billing", profile="all")).status_code == 200
    made = [row for row in await tenant.database.read(accounts.keys_of, tenant.org_id) if row.label == "billing"]
    assert len(made) == 2


async def test_a_form_of_a_key_with_a_mistake_keeps_what_was_typed(tenant: Tenant) -> None:
    async with logged_in(tenant) as visit:
        answer = await visit.send(PAGE, kind="personal", label="my laptop", profile="analyst", spending_cap="ten")
    assert answer.status_code == 409
    assert 'value="my laptop"' in answer.text
    assert 'value="ten"' in answer.text
    assert '<option value="analyst" selected>' in answer.text


async def test_the_key_that_the_service_makes_for_itself_says_so(tenant: Tenant) -> None:
    await tenant.new_key("embedded")
    async with logged_in(tenant) as visit:
        key_id = next(row.id for row in await tenant.database.read(accounts.keys_of, tenant.org_id))
        assert "made by the service for itself" in await visit.page(PAGE)
        assert "at its next start" in await visit.page(f"{PAGE}/{key_id}/revoke")


@pytest.mark.parametrize("cap", ["-1", "many", "NaN", "1e400", "99999999"])
async def test_a_cap_that_is_no_amount_is_refused_in_words(tenant: Tenant, cap: str) -> None:
    async with logged_in(tenant) as visit:
        answer = await visit.send(PAGE, kind="personal", label="laptop", profile="analyst", spending_cap=cap)
    assert (answer.status_code, "spending cap" in answer.text) == (409, True)


async def test_the_twenty_first_key_is_refused_in_words(tenant: Tenant) -> None:
    for at in range(19):
        await tenant.new_key(f"key {at}")
    async with logged_in(tenant) as visit:
        answer = await visit.send(PAGE, kind="live", label="one more")
        assert (answer.status_code, "at most 20 active keys" in answer.text) == (409, True)
        assert "20 of 20 active keys" in text_of(await visit.page(PAGE))


async def test_keys_of_another_organization_are_not_there(tenant: Tenant) -> None:
    async with tenant.another_organization() as other, logged_in(tenant) as visit:
        theirs = (await other.database.read(accounts.keys_of, other.org_id))[0]
        assert theirs.identity not in await visit.page(PAGE)
        await visit.page(f"{PAGE}/{theirs.id}/revoke", status=404)
