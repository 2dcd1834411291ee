"""Limits by address: whoever has a whole network of IPv6 addresses is counted as one."""

from collections.abc import Awaitable, Callable

import pytest

from callwright.service.rest.authentication.auth_throttle import ALLOWED
from tests.support.dashboard import Visit, stranger
from tests.support.service import Tenant

pytestmark = pytest.mark.service(workers=False)


async def _wrong_key(visit: Visit, at: int) -> int:
    headers = {"Authorization": f"Bearer svc_live_{at:048x}"}
    return (await visit.http.get("/v1/agents", headers=headers)).status_code


async def _wrong_password(visit: Visit, at: int) -> int:
    fields = {"email": f"ann{at}@example.com", "password": "wrong"}
    return (await visit.http.post("/login", data=fields)).status_code


async def _wrong_code(visit: Visit, at: int) -> int:
    return (await visit.http.post("/login", data={"code": f"{at:048x}"})).status_code


async def _wrong_invitation(visit: Visit, at: int) -> int:
    return (await visit.http.post("/invitation", data={"code": f"{at:048x}"})).status_code


async def _wrong_passkey(visit: Visit, at: int) -> int:
    return (await visit.http.post("/login/passkey", data={"credential": "{}"})).status_code


@pytest.mark.requirement("DASH-89")
@pytest.mark.parametrize("tries", [_wrong_key, _wrong_password, _wrong_code, _wrong_invitation, _wrong_passkey])
async def test_addresses_of_one_network_share_their_attempts_and_another_network_has_its_own(
    tenant: Tenant, tries: Callable[[Visit, int], Awaitable[int]]
) -> None:
    answers: list[int] = []
    for at in range(ALLOWED + 1):
        async with stranger(tenant, f"2001:db8::{at + 1:x}") as visit:
            answers.append(await tries(visit, at))
    assert answers == [401] * ALLOWED + [429]
    async with stranger(tenant, "2001:db8:0:1::1") as elsewhere:
        assert await tries(elsewhere, 99) == 401
