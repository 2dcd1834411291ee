"""Users, and who of them is in which organization."""

import re

import pytest
from sqlalchemy import Connection, select

from callwright.service import accounts
from callwright.service.accounts import AccountError
from callwright.service.platform.database.database import Database
from callwright.service.tables.schema import users
from tests.support.accounts import IDS, NOW_MS, entries, left_at, organization, overlapping, person, roles


async def test_a_user_has_an_address_in_lower_case_and_is_in_no_organization_at_first(
    database: Database, org_id: str
) -> None:
    user_id = await database.write(accounts.create_user, IDS, "Ann.Lee@Example.COM", "Ann Lee", NOW_MS)
    assert user_id.startswith("usr_")
    for known in ("ann.lee@example.com", "ANN.LEE@example.com", user_id):
        found = await database.read(accounts.find_user, known)
        assert (found.id, found.email, found.name) == (user_id, "ann.lee@example.com", "Ann Lee")
    assert "ann.lee@example.com" not in await roles(database, org_id)


@pytest.mark.parametrize(
    "email",
    [
        "",
        "ann",
        "@example.com",
        "ann@",
        "ann@exa@mple.com",
        "ann lee@example.com",
        " ann@example.com",
        "ann@example.com\n",
        "ann@example.com\0",
        "ann\u00a0lee@example.com",
        "ann\u200b@example.com",
        "ann\ud800@example.com",
        f"{'x' * 189}@example.com",
        f"{'İ' * 100}@example.com",
    ],
    ids=ascii,
)
async def test_what_is_no_address_makes_no_user(database: Database, org_id: str, email: str) -> None:
    with pytest.raises(AccountError, match="is no e-mail address"):
        await database.write(accounts.create_user, IDS, email, "Ann", NOW_MS)
    with pytest.raises(AccountError, match="is no e-mail address"):
        await database.write(accounts.add_member, IDS, org_id, email, NOW_MS)


async def test_the_longest_address_is_taken(database_url: str) -> None:
    async with organization(database_url) as (database, _):
        email = f"{'x' * 188}@example.com"
        assert len(email) == 200
        user_id = await database.write(accounts.create_user, IDS, email, "Ann", NOW_MS)
        assert (await database.read(accounts.find_user, email)).id == user_id


async def test_an_address_belongs_to_one_user_and_users_without_one_may_be_many(database_url: str) -> None:
    async with organization(database_url) as (database, _):
        await database.write(accounts.create_user, IDS, "ann@example.com", "Ann", NOW_MS)
        with pytest.raises(AccountError, match=r"user ann@example\.com already"):
            await database.write(accounts.create_user, IDS, "ANN@example.com", "Another", NOW_MS)
        nameless = [await database.write(accounts.create_user, IDS, None, "Bot", NOW_MS) for _ in range(2)]
        assert len(set(nameless)) == 2
        assert (await database.read(accounts.find_user, nameless[0])).email is None


@pytest.mark.parametrize("name", ["", " ", "x" * 201, "a\nb", "a\0"])
async def test_a_name_that_does_not_fit_into_a_line_is_refused(database_url: str, name: str) -> None:
    async with organization(database_url) as (database, _):
        with pytest.raises(AccountError, match=r"the name (must not|has 201)"):
            await database.write(accounts.create_user, IDS, "ann@example.com", name, NOW_MS)


async def test_the_same_user_is_in_several_organizations_with_a_role_in_each(database: Database, org_id: str) -> None:
    other = await database.write(accounts.create_organization, IDS, "Other", "pro", NOW_MS)
    ann = await person(database, org_id, "ann")
    assert await person(database, other, "Ann", "owner") == ann
    assert await roles(database, org_id) == {"operator@localhost": "owner", "ann@example.com": "member"}
    assert await roles(database, other) == {"operator@localhost": "owner", "ann@example.com": "owner"}


async def test_a_new_member_is_called_by_the_address_unless_a_name_is_given(database: Database, org_id: str) -> None:
    await person(database, org_id, "ann")
    await database.write(accounts.add_member, IDS, org_id, "bob@example.com", NOW_MS, name="Bob Meyer")
    names = {row.email: row.name for row in await database.read(accounts.users_of, org_id)}
    assert names == {"operator@localhost": "Operator", "ann@example.com": "ann", "bob@example.com": "Bob Meyer"}
    other = await database.write(accounts.create_organization, IDS, "Other", "pro", NOW_MS)
    with pytest.raises(AccountError, match="'Bob Meyer'"):
        await database.write(accounts.add_member, IDS, other, "bob@example.com", NOW_MS, name="Robert")


async def test_who_is_in_an_organization_gets_another_role_but_not_the_same_again(
    database: Database, org_id: str
) -> None:
    ann = await person(database, org_id, "ann")
    with pytest.raises(AccountError, match=r"ann@example\.com has the role member in"):
        await database.write(accounts.add_member, IDS, org_id, "ann@example.com", NOW_MS)
    await database.write(accounts.join, IDS, org_id, ann, "owner", NOW_MS)
    assert (await roles(database, org_id))["ann@example.com"] == "owner"
    with pytest.raises(AccountError, match="role owner in"):
        await database.write(accounts.add_member, IDS, org_id, "ann@example.com", NOW_MS)
    assert (await roles(database, org_id))["ann@example.com"] == "owner"
    with pytest.raises(AccountError, match="owner, member"):
        await database.write(accounts.join, IDS, org_id, ann, "boss", NOW_MS)
    with pytest.raises(AccountError, match="no user 'usr_unknown'"):
        await database.write(accounts.join, IDS, org_id, "usr_unknown", "member", NOW_MS)


async def test_the_last_owner_stays_until_there_is_another(database: Database, org_id: str) -> None:
    operator = await database.read(accounts.first_owner, org_id)
    assert operator is not None
    ann = await person(database, org_id, "ann")
    words = re.compile("last owner of 'Clinic'.*--role owner")
    with pytest.raises(AccountError, match=words):
        await database.write(accounts.leave, IDS, org_id, operator, NOW_MS)
    with pytest.raises(AccountError, match=words):
        await database.write(accounts.delete_user, IDS, operator, NOW_MS)
    with pytest.raises(AccountError, match=words):
        await database.write(accounts.join, IDS, org_id, operator, "member", NOW_MS)
    assert await roles(database, org_id) == {"operator@localhost": "owner", "ann@example.com": "member"}
    await database.write(accounts.join, IDS, org_id, ann, "owner", NOW_MS)
    await database.write(accounts.leave, IDS, org_id, operator, NOW_MS)
    assert await roles(database, org_id) == {"ann@example.com": "owner"}
    assert await database.read(accounts.first_owner, org_id) == ann


async def test_of_two_owners_who_leave_at_the_same_time_one_stays(database: Database, org_id: str) -> None:
    ann = await person(database, org_id, "ann", "owner")
    operator = await database.read(accounts.first_owner, org_id)
    assert operator is not None
    _, refused = await overlapping(
        database,
        lambda connection: accounts.leave(connection, IDS, org_id, operator, NOW_MS),
        lambda connection: accounts.leave(connection, IDS, org_id, ann, NOW_MS),
    )
    assert isinstance(refused, AccountError)
    assert await roles(database, org_id) == {"ann@example.com": "owner"}


async def test_an_address_taken_by_two_at_the_same_time_is_one_users(database_url: str) -> None:
    def make(connection: Connection) -> str:
        return accounts.create_user(connection, IDS, "ann@example.com", "Ann", NOW_MS)

    async with organization(database_url) as (database, _):
        user_id, refused = await overlapping(database, make, make)
        assert isinstance(refused, AccountError)
        assert (await database.read(accounts.find_user, "ann@example.com")).id == user_id


async def test_a_user_who_joins_twice_at_the_same_time_is_in_it_once(database: Database, org_id: str) -> None:
    ann = await database.write(accounts.create_user, IDS, "ann@example.com", "Ann", NOW_MS)

    def come(connection: Connection) -> None:
        accounts.join(connection, IDS, org_id, ann, "member", NOW_MS)

    _, refused = await overlapping(database, come, come)
    assert isinstance(refused, AccountError)
    assert (await roles(database, org_id))["ann@example.com"] == "member"


@pytest.mark.parametrize("is_deleted_first", [True, False])
async def test_a_user_who_is_deleted_while_joining_is_in_no_organization(
    database: Database, org_id: str, is_deleted_first: bool
) -> None:
    ann = await database.write(accounts.create_user, IDS, "ann@example.com", "Ann", NOW_MS)

    def come(connection: Connection) -> None:
        accounts.join(connection, IDS, org_id, ann, "member", NOW_MS)

    def go(connection: Connection) -> None:
        accounts.delete_user(connection, IDS, ann, NOW_MS)

    first, second = await overlapping(database, *((go, come) if is_deleted_first else (come, go)))
    assert (first, isinstance(second, AccountError)) == (None, is_deleted_first)
    assert await roles(database, org_id) == {"operator@localhost": "owner"}


async def test_who_left_may_come_back_and_is_then_the_newest(database: Database, org_id: str) -> None:
    operator = await database.read(accounts.first_owner, org_id)
    ann = await person(database, org_id, "ann", "owner", NOW_MS + 1)
    assert operator is not None
    await database.write(accounts.leave, IDS, org_id, operator, NOW_MS + 2)
    with pytest.raises(AccountError, match="not in this organization"):
        await database.write(accounts.leave, IDS, org_id, operator, NOW_MS + 3)
    await database.write(accounts.join, IDS, org_id, operator, "owner", NOW_MS + 4)
    assert [row.id for row in await database.read(accounts.users_of, org_id)] == [ann, operator]
    assert await database.read(accounts.first_owner, org_id) == ann
    assert await left_at(database, operator) == [None]


async def test_a_deleted_user_leaves_every_organization_and_the_address_is_free_again(
    database: Database, org_id: str
) -> None:
    other = await database.write(accounts.create_organization, IDS, "Other", "pro", NOW_MS)
    ann = await person(database, org_id, "ann")
    assert await person(database, other, "ann", "owner") == ann
    await database.write(accounts.delete_user, IDS, ann, NOW_MS + 5)
    assert await left_at(database, ann) == [NOW_MS + 5] * 2
    row = await database.read(lambda connection: connection.execute(select(users).where(users.c.id == ann)).one())
    assert (row.email, row.name, row.deleted_at) == (None, "ann", NOW_MS + 5)
    for gone in (ann, "ann@example.com"):
        with pytest.raises(AccountError, match="no user"):
            await database.read(accounts.find_user, gone)
    with pytest.raises(AccountError, match="no user"):
        await database.write(accounts.delete_user, IDS, ann, NOW_MS + 6)
    with pytest.raises(AccountError, match="no user"):
        await database.write(accounts.join, IDS, org_id, ann, "member", NOW_MS + 6)
    assert await person(database, org_id, "ann") != ann


async def test_the_last_owner_is_deleted_by_force_and_keys_then_need_a_name(database: Database, org_id: str) -> None:
    operator = await database.read(accounts.first_owner, org_id)
    assert operator is not None
    ann = await person(database, org_id, "ann")
    with pytest.raises(AccountError, match="--force"):
        await database.write(accounts.delete_user, IDS, operator, NOW_MS)
    await database.write(accounts.delete_user, IDS, operator, NOW_MS, force=True)
    assert await roles(database, org_id) == {"ann@example.com": "member"}
    with pytest.raises(AccountError, match="no owner"):
        await database.write(accounts.create_key, IDS, org_id, "", NOW_MS)
    await database.write(accounts.create_key, IDS, org_id, "", NOW_MS, created_by_user_id=ann)
    again = await database.write(accounts.create_organization, IDS, "New", "pro", NOW_MS)
    (made,) = await database.read(accounts.users_of, again)
    assert (made.email, made.id == operator) == ("operator@localhost", False)


async def test_every_coming_and_going_leaves_an_entry_that_names_nobody(database: Database, org_id: str) -> None:
    ann = await person(database, org_id, "ann", at_ms=NOW_MS + 1)
    await database.write(accounts.join, IDS, org_id, ann, "owner", NOW_MS + 2)
    await database.write(accounts.leave, IDS, org_id, ann, NOW_MS + 3)
    await database.write(accounts.join, IDS, org_id, ann, "member", NOW_MS + 4)
    await database.write(accounts.delete_user, IDS, ann, NOW_MS + 5)
    found = await entries(database, org_id)
    assert [entry for entry in found if entry[1] == ann] == [
        ("member.joined", ann, {"role": {"before": None, "after": "member"}}),
        ("member.role_changed", ann, {"role": {"before": "member", "after": "owner"}}),
        ("member.left", ann, {"role": {"before": "owner", "after": None}}),
        ("member.joined", ann, {"role": {"before": None, "after": "member"}}),
        ("user.deleted", ann, {"role": {"before": "member", "after": None}}),
    ]
    assert "example.com" not in str(found)


async def test_the_operator_is_made_once_by_two_who_need_one(database_url: str) -> None:
    def need(connection: Connection) -> str:
        return accounts.operator_user(connection, IDS, NOW_MS)

    async with organization(database_url) as (database, org_id):
        operator = await database.read(accounts.first_owner, org_id)
        assert operator is not None
        await database.write(accounts.delete_user, IDS, operator, NOW_MS, force=True)
        first, second = await overlapping(database, need, need)
        assert first == second != operator
