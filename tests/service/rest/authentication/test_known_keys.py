"""Keys that are remembered until the next commit."""

import pytest

from callwright.service import accounts
from callwright.service.platform.refusals import Refusal
from callwright.service.rest.authentication.known_keys import KnownKeys
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
