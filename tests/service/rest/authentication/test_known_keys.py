"""Keys that are remembered until the next commit, and for a moment."""

import pytest
from sqlalchemy import select

from callwright.client.errors import ServiceProblem
from callwright.service import accounts
from callwright.service.platform.refusals import Refusal
from callwright.service.rest.authentication.known_keys import MOST_KEYS, RECENT_MS, KnownKeys, RecentKeys
from callwright.service.tables.schema import audiences
from tests.support.service import Tenant


async def test_a_key_is_remembered_until_anybody_commits(tenant: Tenant) -> None:
    known = KnownKeys(tenant.database)
    assert known.remembered(tenant.api_key) is None
    found = await known.find(tenant.api_key)
    assert found.org_id == tenant.org_id
    assert known.remembered(tenant.api_key) == (None if tenant.database.is_shared else found)
    await tenant.client.audiences.create(name="Somebody commits")
    assert known.remembered(tenant.api_key) is None
    assert await known.find(tenant.api_key) == found


@pytest.mark.requirement("AUTH-17")
async def test_a_revoked_key_is_refused_at_the_next_request(tenant: Tenant) -> None:
    services = tenant.services
    known = KnownKeys(services.database)
    found = await known.find(tenant.api_key)
    assert found.key_id is not None
    await services.database.write(accounts.revoke_key, services.ids, found.key_id, services.clock.now_ms())
    with pytest.raises(Refusal) as caught:
        await known.find(tenant.api_key)
    assert caught.value.problem.code == "invalid_api_key"


async def test_an_unknown_key_is_not_remembered(tenant: Tenant) -> None:
    known = KnownKeys(tenant.database)
    for _ in range(2):
        with pytest.raises(Refusal):
            await known.find("svc_live_" + "0" * 48)
        assert known.remembered("svc_live_" + "0" * 48) is None


@pytest.mark.requirement("AUTH-17")
async def test_a_write_with_a_key_that_was_revoked_a_moment_ago_does_nothing(tenant: Tenant) -> None:
    await tenant.client.audiences.create(name="The key is recent")
    services = tenant.services
    found = await KnownKeys(services.database).find(tenant.api_key)
    assert found.key_id is not None
    await services.database.write(accounts.revoke_key, services.ids, found.key_id, services.clock.now_ms())
    with pytest.raises(ServiceProblem) as caught:
        await tenant.client.audiences.create(name="The key is revoked")
    assert caught.value.code == "invalid_api_key"
    assert await services.database.read(lambda connection: connection.scalars(select(audiences.c.name)).all()) == [
        "The key is recent"
    ]


async def test_a_key_is_recent_for_five_seconds(tenant: Tenant) -> None:
    recent, principal = RecentKeys(), await KnownKeys(tenant.database).find(tenant.api_key)
    assert recent.find(tenant.api_key, 1_000) is None
    recent.keep(tenant.api_key, principal, 1_000)
    found = [recent.find(tenant.api_key, now_ms) for now_ms in (999, 1_000, 999 + RECENT_MS, 1_000 + RECENT_MS)]
    assert found == [None, principal, principal, None]


async def test_no_more_keys_than_a_thousand_are_recent(tenant: Tenant) -> None:
    recent, principal = RecentKeys(), await KnownKeys(tenant.database).find(tenant.api_key)
    for number in range(MOST_KEYS + 1):
        recent.keep(f"svc_live_{number}", principal, 0)
    assert recent.find("svc_live_0", 0) is None
    assert recent.find(f"svc_live_{MOST_KEYS}", 0) == principal
