"""People: roles, removal and leaving, and who may do it; there is always an owner."""

import re

import anyio
import pytest

from callwright.service import accounts
from callwright.service.accounts import people
from callwright.service.accounts.errors import AccountError
from callwright.service.accounts.principals import UserActor
from tests.support.dashboard import ORIGIN, Visit, logged_in, login_code, stranger, text_of
from tests.support.service import Tenant


async def _member(tenant: Tenant, name: str, role: str) -> str:
    services = tenant.services
    given = (services.ids, tenant.org_id, f"{name}@example.com", services.clock.now_ms())
    return await services.database.write(lambda connection: accounts.add_member(connection, *given, role=role))


async def _roles(tenant: Tenant) -> dict[str, str]:
    return {row.email: row.role for row in await tenant.database.read(accounts.users_of, tenant.org_id)}


async def _key(tenant: Tenant, user_id: str) -> accounts.NewKey:
    services = tenant.services
    given = (services.ids, tenant.org_id, "job of ann", services.clock.now_ms())
    return await services.database.write(
        lambda connection: accounts.create_key(connection, *given, created_by_user_id=user_id)
    )


async def _enter(visit: Visit, tenant: Tenant, user_id: str) -> None:
    code = await login_code(tenant, user_id)
    assert (await visit.http.post("/login", data={"code": code}, headers={"Origin": ORIGIN})).status_code == 303


@pytest.mark.requirement("DASH-23")
async def test_an_owner_makes_somebody_a_viewer_and_revokes_their_keys_with_it(tenant: Tenant) -> None:
    ann = await _member(tenant, "ann", "member")
    kept, revoked = await _key(tenant, ann), await _key(tenant, ann)
    async with logged_in(tenant) as owner, stranger(tenant) as visit:
        await _enter(visit, tenant, ann)
        page = f"/settings/people/{ann}"
        assert revoked.secret[:16] in await owner.page(page)
        changed = await owner.send(f"{page}/role", shown_at=page, role="viewer", key_id=revoked.id)
        assert changed.headers["location"] == "/settings/people"
        assert "viewer" in text_of(await visit.page("/settings/account"))
    assert (await _roles(tenant))["ann@example.com"] == "viewer"
    rows = {row.id: row.revoked_at for row in await tenant.database.read(accounts.keys_of, tenant.org_id)}
    assert (rows[kept.id], rows[revoked.id] is None) == (None, False)
    entries = {entry.action: entry async for entry in tenant.client.audit_log.list()}
    assert entries["member.role_changed"].actor_label == entries["api_key.revoked"].actor_label == "Operator"


@pytest.mark.requirement("DASH-23")
async def test_who_is_removed_is_out_at_once_also_after_coming_back_and_their_keys_are_shown_before(
    tenant: Tenant,
) -> None:
    ann = await _member(tenant, "ann", "member")
    await _key(tenant, ann)
    async with logged_in(tenant) as owner, stranger(tenant) as visit:
        await _enter(visit, tenant, ann)
        await visit.page("/campaigns")
        page = f"/settings/people/{ann}"
        assert "1 active key was made by them. Without a creator" in text_of(await owner.page(page))
        assert (await owner.send(f"{page}/remove", shown_at=page)).status_code == 303
        assert (await visit.http.get("/campaigns")).status_code == 303
        await owner.page(page, status=404)
        await _member(tenant, "ann", "member")
        assert (await visit.http.get("/campaigns")).status_code == 303
    (key, *_) = [
        row for row in await tenant.database.read(accounts.keys_of, tenant.org_id) if row.label == "job of ann"
    ]
    assert key.revoked_at is None


@pytest.mark.requirement("DASH-23")
async def test_a_member_leaves_and_changes_nobody(tenant: Tenant) -> None:
    ann = await _member(tenant, "ann", "member")
    bob = await _member(tenant, "bob", "viewer")
    async with stranger(tenant) as visit:
        await _enter(visit, tenant, ann)
        token, page = await visit.token(), f"/settings/people/{ann}"
        assert f"/settings/people/{bob}" not in await visit.page("/settings/people")
        await visit.page(f"/settings/people/{bob}", status=404)
        for path, fields in (
            (f"/settings/people/{bob}/remove", {}),
            (f"/settings/people/{ann}/role", {"role": "owner"}),
            ("/settings/people", {"email": "eve@example.com", "role": "owner"}),
            ("/settings/people/invitations/inv_0/again", {}),
            ("/settings/people/invitations/inv_0/withdraw", {}),
        ):
            answer = await visit.http.post(path, data={"form_token": token, **fields}, headers={"Origin": ORIGIN})
            assert (path, answer.status_code) == (path, 403)
        left = await visit.send(f"{page}/remove", shown_at=page)
        assert left.headers["location"] == "/login"
        assert (await visit.http.get("/campaigns")).status_code == 303
    assert set(await _roles(tenant)) == {"operator@localhost", "bob@example.com"}


@pytest.mark.requirement("DASH-24")
async def test_the_last_owner_neither_leaves_nor_gets_another_role(tenant: Tenant) -> None:
    owner_id = await tenant.database.read(accounts.first_owner, tenant.org_id)
    page = f"/settings/people/{owner_id}"
    async with logged_in(tenant) as owner:
        for act, fields in (("remove", {}), ("role", {"role": "viewer"})):
            answer = await owner.send(f"{page}/{act}", shown_at=page, **fields)
            assert (answer.status_code, "Make somebody else an owner first." in answer.text) == (409, True)
    assert await _roles(tenant) == {"operator@localhost": "owner"}


@pytest.mark.requirement("DASH-24")
async def test_two_owners_who_remove_each_other_at_once_leave_one_owner(tenant: Tenant) -> None:
    services, database = tenant.services, tenant.database
    first = await database.read(accounts.first_owner, tenant.org_id)
    assert first is not None
    second, third = await _member(tenant, "second", "owner"), await _member(tenant, "third", "owner")
    refused: list[str] = []

    async def remove(who: str, by: str) -> None:
        given = (services.ids, tenant.org_id, who, services.clock.now_ms())
        try:
            await database.write(lambda connection: people.remove(connection, *given, by=UserActor(by)))
        except AccountError as error:
            refused.append(str(error))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(remove, second, first)
        tasks.start_soon(remove, first, second)
    assert len(refused) == 1
    assert "only an owner" in refused[0]
    roles = await _roles(tenant)
    assert len(roles) == 2
    assert set(roles.values()) == {"owner"}
    await remove(third, third)
    assert list((await _roles(tenant)).values()) == ["owner"]


async def test_only_keys_of_that_person_are_revoked(tenant: Tenant) -> None:
    ann, bob = await _member(tenant, "ann", "member"), await _member(tenant, "bob", "member")
    key = await _key(tenant, bob)
    async with logged_in(tenant) as owner:
        page = f"/settings/people/{ann}"
        await owner.send(f"{page}/remove", shown_at=page, key_id=key.id)
    rows = {row.id: row.revoked_at for row in await tenant.database.read(accounts.keys_of, tenant.org_id)}
    assert rows[key.id] is None


@pytest.mark.requirement("DASH-12")
async def test_names_are_shown_as_text(tenant: Tenant) -> None:
    services = tenant.services
    evil = '"><script>alert(1)</script>{{ 7 * 7 }}'
    given = (services.ids, tenant.org_id, "evil@example.com", services.clock.now_ms())
    ann = await services.database.write(lambda connection: accounts.add_member(connection, *given, name=evil))
    async with logged_in(tenant) as owner:
        for path in ("/settings/people", f"/settings/people/{ann}"):
            html = await owner.page(path)
            assert "<script>alert" not in html
            assert re.search(r"&lt;script&gt;alert\(1\)&lt;/script&gt;\{\{ 7 \* 7 \}\}", html)
