"""API keys and personal keys, as whoever runs the service makes and revokes them."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, select

from callwright.contract.deployments.call_price import MICROS
from callwright.service import accounts
from callwright.service.accounts import MAX_ACTIVE_KEYS, AccountError, NewKey
from callwright.service.accounts.principals import ApiKeyPrincipal, UserPrincipal
from callwright.service.platform.database.database import Database
from callwright.service.platform.refusals import Refusal
from callwright.service.rest.authentication.api_key_check import identify
from callwright.service.tables.schema import api_keys
from tests.support.accounts import IDS, NOW_MS, entries, organization, overlapping, person
from tests.support.service import open_service


async def creators(database: Database, org_id: str) -> dict[str, tuple[str | None, bool]]:
    """Whose each key is: e-mail address, and whether they have left, by the key's label."""
    found = await database.read(accounts.keys_of, org_id)
    return {row.label: (row.creator_email, row.has_creator_left) for row in found}


@pytest.mark.requirement("AUTH-14", "AUTH-15", "AUTH-20", "LIMIT-01")
async def test_an_organization_has_at_most_20_active_keys(database: Database, org_id: str) -> None:
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


@pytest.mark.requirement("AUTH-14")
async def test_keys_made_at_the_same_time_are_not_more_than_20(database_url: str) -> None:
    def make(connection: Connection) -> NewKey:
        return accounts.create_key(connection, IDS, org_id, "at once", NOW_MS)

    async with organization(database_url) as (database, org_id):
        for _ in range(MAX_ACTIVE_KEYS - 1):
            await database.write(accounts.create_key, IDS, org_id, "before", NOW_MS)
        made, refused = await overlapping(database, make, make)
        assert isinstance(made, NewKey)
        assert isinstance(refused, AccountError)
        listed = await database.read(accounts.keys_of, org_id)
        assert len([row for row in listed if row.revoked_at is None]) == MAX_ACTIVE_KEYS


async def test_a_key_is_not_made_by_a_user_who_is_leaving(database: Database, org_id: str) -> None:
    ann = await person(database, org_id, "ann")
    _, refused = await overlapping(
        database,
        lambda connection: accounts.leave(connection, IDS, org_id, ann, NOW_MS),
        lambda connection: accounts.create_key(connection, IDS, org_id, "", NOW_MS, created_by_user_id=ann),
    )
    assert isinstance(refused, AccountError)
    assert await database.read(accounts.keys_of, org_id) == []


async def test_personal_keys_do_not_count_towards_the_20(database: Database, org_id: str) -> None:
    for index in range(MAX_ACTIVE_KEYS):
        await database.write(accounts.create_personal_key, IDS, org_id, f"person {index}", NOW_MS)
    for index in range(MAX_ACTIVE_KEYS):
        await database.write(accounts.create_key, IDS, org_id, f"key {index}", NOW_MS)
    personal = await database.write(accounts.create_personal_key, IDS, org_id, "one more", NOW_MS)
    with pytest.raises(AccountError, match="20"):
        await database.write(accounts.create_key, IDS, org_id, "one more", NOW_MS)
    assert personal.secret.startswith("svc_mcp_")


async def test_a_personal_key_has_a_profile_and_perhaps_a_spending_cap(database: Database, org_id: str) -> None:
    plain = await database.write(accounts.create_personal_key, IDS, org_id, "plain", NOW_MS)
    capped = await database.write(
        accounts.create_personal_key, IDS, org_id, "", NOW_MS, profile="analyst", spending_cap_micros=25 * MICROS
    )
    live = await database.write(accounts.create_key, IDS, org_id, "live", NOW_MS)
    found = [await database.read(identify, key.secret) for key in (plain, capped, live)]
    owner = await database.read(accounts.first_owner, org_id)
    assert [(type(one), one.user_id, one.profile, one.spending_cap_micros) for one in found] == [
        (UserPrincipal, owner, "builder", None),
        (UserPrincipal, owner, "analyst", 25 * MICROS),
        (ApiKeyPrincipal, None, None, None),
    ]
    listed = {row.id: (row.kind, row.profile) for row in await database.read(accounts.keys_of, org_id)}
    assert listed == {plain.id: ("personal", "builder"), capped.id: ("personal", "analyst"), live.id: ("live", None)}
    assert await database.write(accounts.revoke_key, IDS, plain.secret[:16], NOW_MS) == plain.id
    with pytest.raises(Refusal):
        await database.read(identify, plain.secret)


@pytest.mark.parametrize(
    ("limits", "words"), [({"profile": "owner"}, "analyst"), ({"spending_cap_micros": -1}, "zero")]
)
async def test_limits_that_a_personal_key_cannot_have_are_refused(
    database: Database, org_id: str, limits: dict[str, Any], words: str
) -> None:
    with pytest.raises(AccountError, match=words):
        await database.write(accounts.create_personal_key, IDS, org_id, "", NOW_MS, **limits)
    assert await database.read(accounts.keys_of, org_id) == []


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("a\nb", "U+000A"),
        ("a\x1b[31m", "U+001B"),
        ("for\u202etests", "U+202E"),
        ("a\U000e0041", "U+E0041"),
        ("\u3000 ", "blank"),
        ("x" * 201, "at most 200"),
    ],
)
@pytest.mark.parametrize("make", [accounts.create_key, accounts.create_personal_key])
async def test_a_label_that_is_not_one_line_that_can_be_seen_is_refused(
    database: Database, org_id: str, make: Callable[..., NewKey], label: str, words: str
) -> None:
    with pytest.raises(AccountError, match=re.escape(words)):
        await database.write(make, IDS, org_id, label, NOW_MS)
    assert await database.read(accounts.keys_of, org_id) == []
    await database.write(make, IDS, org_id, "Praxis Dr. Müller", NOW_MS)
    (kept,) = await database.read(accounts.keys_of, org_id)
    assert kept.label == "Praxis Dr. Müller"


@pytest.mark.requirement("AUTH-26")
async def test_a_key_remembers_who_made_it_the_first_owner_if_nobody_is_named(database: Database, org_id: str) -> None:
    ann = await person(database, org_id, "ann", "owner")
    bob = await person(database, org_id, "bob")
    for make in (accounts.create_key, accounts.create_personal_key):
        await database.write(make, IDS, org_id, f"{make.__name__} of nobody", NOW_MS)
        await database.write(make, IDS, org_id, f"{make.__name__} of Bob", NOW_MS, created_by_user_id=bob)
    operator = await database.read(accounts.first_owner, org_id)
    assert operator is not None
    await database.write(accounts.leave, IDS, org_id, operator, NOW_MS)
    await database.write(accounts.create_key, IDS, org_id, "later", NOW_MS)
    assert await creators(database, org_id) == {
        "create_key of nobody": ("operator@localhost", True),
        "create_personal_key of nobody": ("operator@localhost", True),
        "create_key of Bob": ("bob@example.com", False),
        "create_personal_key of Bob": ("bob@example.com", False),
        "later": ("ann@example.com", False),
    }
    assert await database.read(accounts.first_owner, org_id) == ann


async def test_only_a_user_in_the_organization_makes_a_key_of_it(database: Database, org_id: str) -> None:
    other = await database.write(accounts.create_organization, IDS, "Other", "pro", NOW_MS)
    stranger = await person(database, other, "stranger")
    former = await person(database, org_id, "former")
    await database.write(accounts.leave, IDS, org_id, former, NOW_MS)
    for outside in (stranger, former, "usr_unknown"):
        for make in (accounts.create_key, accounts.create_personal_key):
            with pytest.raises(AccountError, match="users add EMAIL"):
                await database.write(make, IDS, org_id, "", NOW_MS, created_by_user_id=outside)
    assert await database.read(accounts.keys_of, org_id) == []


@pytest.mark.requirement("AUTH-31")
async def test_a_key_goes_on_when_its_creator_has_left_or_is_deleted_and_its_list_says_so(
    database: Database, org_id: str
) -> None:
    ann, bob = await person(database, org_id, "ann"), await person(database, org_id, "bob")
    made = {
        user: await database.write(accounts.create_key, IDS, org_id, label, NOW_MS, created_by_user_id=user)
        for user, label in ((ann, "Ann's"), (bob, "Bob's"))
    }
    revoked = await database.write(accounts.create_key, IDS, org_id, "old", NOW_MS, created_by_user_id=ann)
    await database.write(accounts.revoke_key, IDS, revoked.id, NOW_MS)
    assert await database.write(accounts.leave, IDS, org_id, ann, NOW_MS) == 1, "the revoked one is not told of"
    await database.write(accounts.delete_user, IDS, bob, NOW_MS)
    assert await creators(database, org_id) == {
        "Ann's": ("ann@example.com", True),
        "Bob's": (None, True),
        "old": ("ann@example.com", True),
    }
    names = {row.label: row.creator_name for row in await database.read(accounts.keys_of, org_id)}
    assert names["Bob's"] == "bob"
    for key in made.values():
        assert (await database.read(identify, key.secret)).org_id == org_id
    await database.write(accounts.join, IDS, org_id, ann, "member", NOW_MS)
    assert (await creators(database, org_id))["Ann's"] == ("ann@example.com", False)


@pytest.mark.requirement("AUTH-17", "AUTH-18", "AUTH-37")
async def test_a_key_is_revoked_by_id_or_first_characters_for_good(database: Database, org_id: str) -> None:
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


@pytest.mark.requirement("AUTH-45")
async def test_every_act_on_an_account_leaves_an_audit_entry_without_secrets(database: Database, org_id: str) -> None:
    made = await database.write(accounts.create_key, IDS, org_id, "key", NOW_MS)
    await database.write(accounts.fund, IDS, org_id, 1, NOW_MS)
    await database.write(accounts.revoke_key, IDS, made.id, NOW_MS)
    await database.write(accounts.revoke_key, IDS, made.id, NOW_MS)
    found = await entries(database, org_id)
    assert sorted(action for action, _, _ in found) == [
        "api_key.created",
        "api_key.revoked",
        "member.joined",
        "organization.created",
        "wallet.funded",
    ]
    assert made.secret not in str(found)


@pytest.mark.requirement("AUTH-21")
async def test_when_a_key_was_last_used_is_kept_at_the_end(database_url: str, tmp_path: Path) -> None:
    async with open_service(database_url, tmp_path, workers=False) as tenant:
        await tenant.client.wallet.get()
    async with Database.opened(database_url) as database:
        (key,) = await database.read(accounts.keys_of, tenant.org_id)
    assert key.last_used_at is not None
