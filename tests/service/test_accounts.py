"""Organizations and keys, as whoever runs the service makes them."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, select

from callwright.service import accounts
from callwright.service.accounts import MAX_ACTIVE_KEYS, AccountError
from callwright.service.domain.ids import Ids
from callwright.service.domain.money import MICROS
from callwright.service.domain.refusals import Refusal
from callwright.service.http.principals import identify
from callwright.service.storage.database import Database, opened
from callwright.service.storage.schema import api_keys, audit_log, outbox
from tests.service.doors import open_service

NOW_MS = 1_800_000_000_000
IDS = Ids(lambda: NOW_MS)


@asynccontextmanager
async def organization(url: str) -> AsyncGenerator[tuple[Database, str]]:
    """A database with one organization."""
    async with opened(url) as database:
        yield database, await database.write(accounts.create_organization, IDS, "Clinic", "starter", NOW_MS)


async def test_an_organization_is_found_by_name_and_by_id(database_url: str) -> None:
    async with organization(database_url) as (database, org_id):
        assert org_id.startswith("org_")
        for known in ("Clinic", org_id):
            assert await database.read(accounts.find_organization, known) == org_id
        with pytest.raises(AccountError, match="orgs list"):
            await database.read(accounts.find_organization, "clinic")
        await database.write(accounts.create_organization, IDS, "Alpha", "enterprise", NOW_MS)
        found = await database.read(accounts.organizations_of)
        assert [(row.name, row.plan, row.balance_micros) for row in found] == [
            ("Alpha", "enterprise", 100 * MICROS),
            ("Clinic", "starter", 100 * MICROS),
        ]


@pytest.mark.parametrize(
    ("name", "plan", "words"),
    [
        ("Clinic", "pro", "already"),
        ("New", "platinum", "starter, pro, growth, enterprise"),
        ("", "pro", "1 to 200"),
        ("x" * 201, "pro", "1 to 200"),
        ("a\0b", "pro", "1 to 200"),
    ],
)
async def test_an_organization_that_cannot_be_is_refused_with_the_reason(
    database_url: str, name: str, plan: str, words: str
) -> None:
    async with organization(database_url) as (database, _):
        with pytest.raises(AccountError, match=words):
            await database.write(accounts.create_organization, IDS, name, plan, NOW_MS)
        assert len(await database.read(accounts.organizations_of)) == 1


async def test_an_organization_has_at_most_20_active_keys(database_url: str) -> None:
    async with organization(database_url) as (database, org_id):
        made = [
            await database.write(accounts.create_key, IDS, org_id, f"key {index}", NOW_MS)
            for index in range(MAX_ACTIVE_KEYS)
        ]
        assert MAX_ACTIVE_KEYS == 20
        assert len({key.secret for key in made}) == 20
        with pytest.raises(AccountError, match="20"):
            await database.write(accounts.create_key, IDS, org_id, "one more", NOW_MS)
        other = await database.write(accounts.create_organization, IDS, "Other", "pro", NOW_MS)
        await database.write(accounts.create_key, IDS, other, "theirs", NOW_MS)
        await database.write(accounts.revoke_key, IDS, made[0].id, NOW_MS)
        await database.write(accounts.create_key, IDS, org_id, "instead", NOW_MS)
        listed = await database.read(accounts.keys_of, org_id)
        assert len(listed) == 21
        assert [row.id for row in listed if row.revoked_at is not None] == [made[0].id]


async def test_personal_keys_do_not_count_towards_the_20(database_url: str) -> None:
    async with organization(database_url) as (database, org_id):
        for index in range(MAX_ACTIVE_KEYS):
            await database.write(accounts.create_personal_key, IDS, org_id, f"person {index}", NOW_MS)
        for index in range(MAX_ACTIVE_KEYS):
            await database.write(accounts.create_key, IDS, org_id, f"key {index}", NOW_MS)
        personal = await database.write(accounts.create_personal_key, IDS, org_id, "one more", NOW_MS)
        with pytest.raises(AccountError, match="20"):
            await database.write(accounts.create_key, IDS, org_id, "one more", NOW_MS)
        assert personal.secret.startswith("svc_mcp_")


async def test_a_personal_key_has_a_profile_and_perhaps_a_spending_cap(database_url: str) -> None:
    async with organization(database_url) as (database, org_id):
        plain = await database.write(accounts.create_personal_key, IDS, org_id, "plain", NOW_MS)
        capped = await database.write(
            accounts.create_personal_key, IDS, org_id, "", NOW_MS, profile="analyst", spending_cap_micros=25 * MICROS
        )
        live = await database.write(accounts.create_key, IDS, org_id, "live", NOW_MS)
        found = [await database.read(identify, key.secret) for key in (plain, capped, live)]
        assert [(one.kind, one.profile, one.spending_cap_micros) for one in found] == [
            ("personal", "builder", None),
            ("personal", "analyst", 25 * MICROS),
            ("live", None, None),
        ]
        listed = {row.id: (row.kind, row.profile) for row in await database.read(accounts.keys_of, org_id)}
        assert listed == {
            plain.id: ("personal", "builder"),
            capped.id: ("personal", "analyst"),
            live.id: ("live", None),
        }
        assert await database.write(accounts.revoke_key, IDS, plain.secret[:16], NOW_MS) == plain.id
        with pytest.raises(Refusal):
            await database.read(identify, plain.secret)


@pytest.mark.parametrize(
    ("limits", "words"), [({"profile": "owner"}, "analyst"), ({"spending_cap_micros": -1}, "zero")]
)
async def test_limits_that_a_personal_key_cannot_have_are_refused(
    database_url: str, limits: dict[str, Any], words: str
) -> None:
    async with organization(database_url) as (database, org_id):
        with pytest.raises(AccountError, match=words):
            await database.write(accounts.create_personal_key, IDS, org_id, "", NOW_MS, **limits)
        assert await database.read(accounts.keys_of, org_id) == []


async def test_a_key_is_revoked_by_id_or_first_characters_for_good(database_url: str) -> None:
    async with organization(database_url) as (database, org_id):
        first, second = [await database.write(accounts.create_key, IDS, org_id, "key", NOW_MS) for _ in range(2)]
        assert await database.write(accounts.revoke_key, IDS, first.id, NOW_MS + 1) == first.id
        assert await database.write(accounts.revoke_key, IDS, second.secret[:16], NOW_MS + 1) == second.id
        assert await database.write(accounts.revoke_key, IDS, first.id, NOW_MS + 2) == first.id
        revoked = select(api_keys.c.revoked_at)
        assert set(await database.read(lambda connection: list(connection.execute(revoked).scalars()))) == {NOW_MS + 1}
        for key in (first, second):
            with pytest.raises(Refusal):
                await database.read(identify, key.secret)
        for unknown in ("key_unknown", "", "svc_live_", first.secret):
            with pytest.raises(AccountError, match="no key"):
                await database.write(accounts.revoke_key, IDS, unknown, NOW_MS)


async def test_a_wallet_is_filled_with_play_money_above_zero(database_url: str) -> None:
    async with organization(database_url) as (database, org_id):
        assert await database.write(accounts.fund, IDS, org_id, 5 * MICROS, NOW_MS) == 105 * MICROS
        for nothing in (0, -1):
            with pytest.raises(AccountError, match="above zero"):
                await database.write(accounts.fund, IDS, org_id, nothing, NOW_MS)
        events = select(outbox.c.type, outbox.c.data).where(outbox.c.org_id == org_id)
        told = await database.read(lambda connection: list(connection.execute(events).all()))
        assert [row.type for row in told] == ["wallet.topup_settled"] * 2
        amounts = {json.loads(row.data)["amount"]: json.loads(row.data)["balance"] for row in told}
        assert amounts == {"100.000000": "100.000000", "5.000000": "105.000000"}


async def test_every_act_on_an_account_leaves_an_audit_entry_without_secrets(database_url: str) -> None:
    def look(connection: Connection) -> list[tuple[str, str]]:
        rows = connection.execute(select(audit_log)).all()
        assert made.secret not in str(rows)
        return sorted((row.action, row.actor) for row in rows)

    async with organization(database_url) as (database, org_id):
        made = await database.write(accounts.create_key, IDS, org_id, "key", NOW_MS)
        await database.write(accounts.fund, IDS, org_id, 1, NOW_MS)
        await database.write(accounts.revoke_key, IDS, made.id, NOW_MS)
        await database.write(accounts.revoke_key, IDS, made.id, NOW_MS)
        assert await database.read(look) == [
            ("api_key.created", "operator"),
            ("api_key.revoked", "operator"),
            ("organization.created", "operator"),
            ("wallet.funded", "operator"),
        ]


async def test_the_embedded_key_is_kept_while_it_works_and_replaced_when_it_is_lost(database_url: str) -> None:
    async with opened(database_url) as database:
        first = await database.write(accounts.embedded_key, IDS, None, NOW_MS)
        assert await database.write(accounts.embedded_key, IDS, first, NOW_MS) == first
        second = await database.write(accounts.embedded_key, IDS, "svc_live_lost", NOW_MS)
        assert second != first
        with pytest.raises(Refusal):
            await database.read(identify, first)
        assert (await database.read(identify, second)).plan.name == accounts.DEFAULT_PLAN
        assert [row.name for row in await database.read(accounts.organizations_of)] == [accounts.DEFAULT_ORGANIZATION]


async def test_when_a_key_was_last_used_is_kept_at_the_end(database_url: str, tmp_path: Path) -> None:
    async with open_service(database_url, tmp_path, workers=False) as door:
        await door.client.wallet.get()
    async with opened(database_url) as database:
        (key,) = await database.read(accounts.keys_of, door.org_id)
    assert key.last_used_at is not None
