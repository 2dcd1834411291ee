"""Uploads that somebody began in the dashboard: they end with the right to import."""

from collections.abc import Callable

import pytest
from sqlalchemy import Connection

from callwright.service import accounts
from callwright.service.accounts.users import find_user
from callwright.service.workers import sweeps
from tests.support.dashboard import ORIGIN, logged_in
from tests.support.service import Tenant

pytestmark = pytest.mark.service(workers=False)


def _leaves(tenant: Tenant) -> Callable[[Connection], object]:
    def change(connection: Connection) -> object:
        who = find_user(connection, "member@example.com").id
        return accounts.leave(connection, tenant.services.ids, tenant.org_id, who, tenant.services.clock.now_ms())

    return change


def _becomes_a_viewer(tenant: Tenant) -> Callable[[Connection], object]:
    def change(connection: Connection) -> object:
        who = find_user(connection, "member@example.com").id
        given = (tenant.services.ids, tenant.org_id, who, "viewer", tenant.services.clock.now_ms())
        return accounts.join(connection, *given)

    return change


@pytest.mark.requirement("UP-03")
@pytest.mark.parametrize("changed", [_leaves, _becomes_a_viewer])
async def test_the_address_of_an_upload_ends_when_its_user_may_not_import_any_more(
    tenant: Tenant, changed: Callable[[Tenant], Callable[[Connection], object]]
) -> None:
    audience = await tenant.client.audiences.create(name="People")
    async with logged_in(tenant, role="member") as visit:
        fields = {"form_token": await visit.token()}
        answer = await visit.http.post(f"/audiences/{audience.id}/upload", data=fields, headers={"Origin": ORIGIN})
        begun = answer.json()
        part = {"Content-Range": "bytes 0-3/40"}
        assert (await visit.http.put(begun["upload"], content=b"phon", headers=part)).status_code == 308
        await tenant.database.write(changed(tenant))
        assert (await visit.http.put(begun["upload"], content=b"phon", headers=part)).status_code == 404
    await sweeps.run(tenant.services)
    ended = await tenant.client.audiences.get_import(id=audience.id, import_id=begun["import_id"])
    assert (ended.status, "may not import any more" in (ended.status_reason or "")) == ("failed", True)
