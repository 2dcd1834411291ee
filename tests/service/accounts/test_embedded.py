"""The organization and the key of the service in an assistant's own process."""

import anyio
import pytest

from callwright.service import accounts
from callwright.service.platform.database.concurrency import is_only_writer
from callwright.service.platform.database.database import Database
from callwright.service.platform.refusals import Refusal
from callwright.service.rest.authentication.api_key_check import identify
from tests.support.accounts import IDS, NOW_MS, entries, person, roles


async def test_the_embedded_key_is_kept_while_it_works_and_replaced_when_it_is_lost(database: Database) -> None:
    first = await database.write(accounts.embedded_key, IDS, None, NOW_MS)
    assert await database.write(accounts.embedded_key, IDS, first, NOW_MS) == first
    second = await database.write(accounts.embedded_key, IDS, "svc_live_lost", NOW_MS)
    assert second != first
    if await database.read(is_only_writer):
        with pytest.raises(Refusal):
            await database.read(identify, first)
    else:  # it may be that of another machine
        assert (await database.read(identify, first)).org_id == (await database.read(identify, second)).org_id
    assert [row.name for row in await database.read(accounts.organizations_of)] == [accounts.DEFAULT_ORGANIZATION]


async def test_the_embedded_organization_rations_nothing_and_is_the_operators(database: Database) -> None:
    secret = await database.write(accounts.embedded_key, IDS, None, NOW_MS)
    found = await database.read(identify, secret)
    assert found.plan.name == "enterprise"
    assert (found.plan.requests_per_second, found.plan.concurrent_deployments) == (None, None)
    (key,) = await database.read(accounts.keys_of, found.org_id)
    assert (key.creator_email, key.has_creator_left) == ("operator@localhost", False)


async def test_an_embedded_organization_that_is_there_keeps_its_plan(database: Database) -> None:
    org_id = await database.write(accounts.create_organization, IDS, accounts.DEFAULT_ORGANIZATION, "growth", NOW_MS)
    secret = await database.write(accounts.embedded_key, IDS, None, NOW_MS)
    found = await database.read(identify, secret)
    assert (found.org_id, found.plan.name) == (org_id, "growth")


async def test_the_embedded_key_passes_to_the_first_owner_when_its_creator_has_left(database: Database) -> None:
    secret = await database.write(accounts.embedded_key, IDS, None, NOW_MS)
    org_id = (await database.read(identify, secret)).org_id
    operator = await database.read(accounts.first_owner, org_id)
    assert operator is not None
    ann = await person(database, org_id, "ann", "owner")
    await database.write(accounts.leave, IDS, org_id, operator, NOW_MS + 2)
    assert await database.write(accounts.embedded_key, IDS, secret, NOW_MS + 3) == secret
    (key,) = await database.read(accounts.keys_of, org_id)
    assert (key.created_by_user_id, key.has_creator_left) == (ann, False)
    passed = {"created_by_user_id": {"before": operator, "after": ann}}
    assert (await entries(database, org_id))[-1] == ("api_key.passed_on", key.id, passed)


async def test_the_operator_owns_an_embedded_organization_that_has_lost_its_last_owner(database: Database) -> None:
    secret = await database.write(accounts.embedded_key, IDS, None, NOW_MS)
    org_id = (await database.read(identify, secret)).org_id
    for kept in (secret, None):
        owner = await database.read(accounts.first_owner, org_id)
        assert owner is not None
        await database.write(accounts.delete_user, IDS, owner, NOW_MS, force=True)
        await database.write(accounts.embedded_key, IDS, kept, NOW_MS)
        assert await roles(database, org_id) == {"operator@localhost": "owner"}
        keys = [row for row in await database.read(accounts.keys_of, org_id) if row.revoked_at is None]
        assert any(not key.has_creator_left for key in keys)


async def test_processes_that_start_at_once_make_one_default_organization(database_url: str) -> None:
    found: list[str] = []

    async def start(database: Database) -> None:
        found.append(await database.write(accounts.default_organization, IDS, NOW_MS))

    async with Database.opened(database_url) as one, Database.opened(database_url) as other:
        async with anyio.create_task_group() as tasks:
            for database in (one, other) * 3:
                tasks.start_soon(start, database)
    assert (len(found), len(set(found))) == (6, 1)
