"""Organizations, their plans and their play money, as whoever runs the service makes and changes them."""

import json
from typing import Any

import pytest
from sqlalchemy import select

from callwright.contract.deployments.call_price import MICROS
from callwright.service import accounts
from callwright.service.accounts import AccountError
from callwright.service.platform.database.database import Database
from callwright.service.rest.authentication.api_key_check import identify
from callwright.service.rules.organization_plans import plan_of
from callwright.service.tables.schema import outbox
from tests.support.accounts import IDS, NOW_MS, entries, organization, roles


async def test_an_organization_is_found_by_name_and_by_id(database: Database, org_id: str) -> None:
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
        ("", "pro", "must not be blank"),
        ("x" * 201, "pro", "has 201 characters; at most 200"),
        ("a\0b", "pro", r"U\+0000"),
        ("two\nlines", "pro", r"U\+000A"),
        ("half a pair \ud800", "pro", r"U\+D800"),
    ],
)
async def test_an_organization_that_cannot_be_is_refused_with_the_reason(
    database_url: str, name: str, plan: str, words: str
) -> None:
    async with organization(database_url) as (database, _):
        with pytest.raises(AccountError, match=words):
            await database.write(accounts.create_organization, IDS, name, plan, NOW_MS)
        assert len(await database.read(accounts.organizations_of)) == 1


async def test_an_organization_without_an_owner_of_its_own_is_the_operators(database: Database, org_id: str) -> None:
    second = await database.write(accounts.create_organization, IDS, "Second", "pro", NOW_MS)
    for each in (org_id, second):
        (owner,) = await database.read(accounts.users_of, each)
        assert (owner.email, owner.role, owner.joined_at) == ("operator@localhost", "owner", NOW_MS)
    assert await database.write(accounts.operator_user, IDS, NOW_MS) == owner.id


async def test_an_organization_may_have_an_owner_from_the_start(database_url: str) -> None:
    async with organization(database_url) as (database, _):
        ann = await database.write(accounts.create_user, IDS, "ann@example.com", "Ann", NOW_MS)
        org_id = await database.write(accounts.create_organization, IDS, "Ann's", "pro", NOW_MS, owner_user_id=ann)
        assert await roles(database, org_id) == {"ann@example.com": "owner"}
        assert await database.read(accounts.first_owner, org_id) == ann
        with pytest.raises(AccountError, match="no user 'usr_unknown'"):
            await database.write(
                accounts.create_organization, IDS, "Nobody's", "pro", NOW_MS, owner_user_id="usr_unknown"
            )
        assert {row.name for row in await database.read(accounts.organizations_of)} == {"Clinic", "Ann's"}


@pytest.mark.requirement("RATE-05")
async def test_a_negotiated_limit_holds_for_every_key_until_the_plans_counts_again(
    database: Database, org_id: str
) -> None:
    key = await database.write(accounts.create_key, IDS, org_id, "", NOW_MS)
    made = await database.write(
        accounts.change_plan, IDS, org_id, NOW_MS, "enterprise", requests_per_second=400, requests_per_day=9_000_000
    )
    assert (made.before.name, made.before.requests_per_second, made.before.requests_per_day) == ("starter", 5, 5_000)
    plan = (await database.read(identify, key.secret)).plan
    assert plan == made.after
    assert (plan.name, plan.requests_per_second, plan.requests_per_day) == ("enterprise", 400, 9_000_000)
    assert plan.concurrent_deployments is None
    await database.write(accounts.change_plan, IDS, org_id, NOW_MS, requests_per_second=None)
    plan = (await database.read(identify, key.secret)).plan
    assert (plan.requests_per_second, plan.requests_per_day) == (None, 9_000_000)


async def test_the_days_of_recordings_are_the_plans_unless_they_were_negotiated(
    database: Database, org_id: str
) -> None:
    shorter = await database.write(accounts.change_plan, IDS, org_id, NOW_MS, recording_retention_days=30)
    assert (shorter.before.recording_retention_days, shorter.after.recording_retention_days) == (90, 30)
    assert shorter.deletes_recordings
    longer = await database.write(accounts.change_plan, IDS, org_id, NOW_MS, recording_retention_days=365)
    assert not longer.deletes_recordings
    (row,) = await database.read(accounts.organizations_of)
    assert plan_of(row).recording_retention_days == 365
    back = await database.write(accounts.change_plan, IDS, org_id, NOW_MS, recording_retention_days=None)
    assert back.after.recording_retention_days == 90
    assert back.deletes_recordings


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"plan": "platinum"}, "starter, pro, growth, enterprise"),
        ({"plan": "pro", "requests_per_second": 0}, "--requests-per-second is from 1"),
        ({"requests_per_day": -5}, "--requests-per-day is from 1"),
        ({"recording_retention_days": 0}, "--recording-days is from 1"),
        ({"requests_per_second": 2**40}, "--requests-per-second is from 1 to 1,000,000"),
        ({"requests_per_day": 2**40}, "--requests-per-day is from 1 to 1,000,000,000"),
        ({"recording_retention_days": 2**40}, "--recording-days is from 1 to 36,500"),
    ],
)
async def test_a_limit_that_cannot_be_is_refused_by_the_name_of_its_flag(
    database: Database, org_id: str, wanted: dict[str, Any], words: str
) -> None:
    before = await database.read(accounts.organizations_of)
    with pytest.raises(AccountError, match=words):
        await database.write(accounts.change_plan, IDS, org_id, NOW_MS, **wanted)
    assert await database.read(accounts.organizations_of) == before


async def test_a_changed_plan_leaves_an_entry_with_what_was_before_and_after(database: Database, org_id: str) -> None:
    wanted: dict[str, Any] = {"plan": "pro", "requests_per_second": 40}
    await database.write(accounts.change_plan, IDS, org_id, NOW_MS + 1, **wanted)
    await database.write(accounts.change_plan, IDS, org_id, NOW_MS + 2, **wanted)  # changes nothing
    await database.write(accounts.change_plan, IDS, org_id, NOW_MS + 3, requests_per_second=None)
    changed = [entry for entry in await entries(database, org_id) if entry[0] == "organization.changed"]
    assert changed == [
        (
            "organization.changed",
            org_id,
            {"plan": {"before": "starter", "after": "pro"}, "requests_per_second": {"before": None, "after": 40}},
        ),
        ("organization.changed", org_id, {"requests_per_second": {"before": 40, "after": None}}),
    ]


async def test_a_wallet_is_filled_with_play_money_above_zero(database: Database, org_id: str) -> None:
    assert await database.write(accounts.fund, IDS, org_id, 5 * MICROS, NOW_MS) == 105 * MICROS
    for nothing in (0, -1):
        with pytest.raises(AccountError, match="above zero"):
            await database.write(accounts.fund, IDS, org_id, nothing, NOW_MS)
    events = select(outbox.c.type, outbox.c.data).where(outbox.c.org_id == org_id)
    told = await database.read(lambda connection: list(connection.execute(events).all()))
    assert [row.type for row in told] == ["wallet.topup_settled"] * 2
    amounts = {json.loads(row.data)["amount"]: json.loads(row.data)["balance"] for row in told}
    assert amounts == {"100.000000": "100.000000", "5.000000": "105.000000"}
