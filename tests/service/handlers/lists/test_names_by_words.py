"""Lists by a name have the same entries whether few or many match, in every order; and an index leads to them."""

from collections.abc import Sequence
from random import Random
from typing import Any, Literal

import pytest
from sqlalchemy import Connection, Row, select

from callwright.service.platform.clock.clock import moment
from callwright.service.platform.database import few_rows
from callwright.service.platform.search_words import word_column
from callwright.service.tables.schema import audience_rows, calls, deployment_contacts
from tests.support import resources
from tests.support.calls.many_calls import FIRST_MS, call_row, put
from tests.support.calls.stored_calls import put_call
from tests.support.database.indexed_words import NAME_INDEXES, indexed_terms
from tests.support.database.statements import Statement, recorded
from tests.support.resources import row
from tests.support.service import Tenant

_FIRST = ("Ada", "Adam", "José", "Мария", "Bo")
_LAST = ("Lovelace", "Love", "Álvarez", "Иванова", "O'Neil")
_ASKED = ("ada", "ad", "LOVE", "ada love", "мар", "jose alv", "o", "bo neil", "nobody", "?!")
_SORTS = (None, "created_at", "ended_at", "-ended_at", "duration_seconds", "-duration_seconds")
_LONG = "Ж" * 200
"""Longer than an entry of an index of Postgres may be, as it is stored."""


def _named(name: str) -> dict[str, Any]:
    return {"contact_name": name, "name_words": word_column(name)}


async def _fill(tenant: Tenant) -> None:
    """Calls of people of few names, seven in a moment; two under way, one of them to someone who calls."""
    chance = Random(1)
    rows = [
        call_row(
            tenant,
            index,
            FIRST_MS + index // 7,
            chance,
            **_named(f"{chance.choice(_FIRST)} {chance.choice(_LAST)}") if index % 10 else {},
        )
        for index in range(200)
    ]
    await put(tenant, rows)
    going: dict[str, Any] = {"status": "in_progress", "outcome": None, "ended_at": None, "answered_at": None}
    await put_call(tenant, **going, created_at=FIRST_MS + 5, to_number="+12125559001", **_named("Ada Lovelace"))
    inbound = {"call_type": "inbound", "created_at": FIRST_MS, "to_number": "+12125559002"}
    await put_call(tenant, **going, **inbound, **_named("Adam Love"))


def _matches(asked: str, words: str | None) -> bool:
    wanted = (word_column(asked) or "").split()
    return bool(wanted) and all(any(word.startswith(one) for word in (words or "").split()) for one in wanted)


def _ordered(rows: Sequence[Row[Any]], sort: str | None) -> list[str]:
    name = (sort or "-created_at").removeprefix("-")
    column = {"duration_seconds": "duration_ms"}.get(name, name)
    ordered = sorted(rows, key=lambda row: (getattr(row, column) or 0, row.id))
    return [row.id for row in (ordered[::-1] if sort is None or sort.startswith("-") else ordered)]


@pytest.mark.requirement("FILTER-19")
@pytest.mark.parametrize("sort", _SORTS)
@pytest.mark.parametrize("few", [5_000, 3])
async def test_pages_of_calls_by_name_have_each_of_them_once(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, sort: str | None, few: int
) -> None:
    monkeypatch.setattr(few_rows, "FEW", few)
    monkeypatch.setattr(few_rows, "NAMED", min(few, 9))
    await _fill(tenant)
    stored = await tenant.database.read(lambda connection: connection.execute(select(calls)).all())
    find = tenant.client.calls.list
    for asked in _ASKED:
        others: tuple[dict[str, Any], ...] = ({}, {"outcome": ["busy"]}, {"call_type": ["inbound"]})
        for other in others:
            having = [each for each in stored if all(getattr(each, name) in values for name, values in other.items())]
            expected = _ordered([each for each in having if _matches(asked, each.name_words)], sort)
            walked = [call.id async for call in find(contact_name=asked, sort=sort, per_page=7, **other)]
            assert walked == expected, (asked, other)
            second = await find(contact_name=asked, sort=sort, per_page=5, page=2, **other)
            assert [call.id for call in second.data] == expected[5:10], (asked, other)
            assert second.pagination.total == len(expected), (asked, other)


@pytest.mark.requirement("FILTER-19")
@pytest.mark.parametrize("few", [5_000, 12, 3])
async def test_calls_by_name_and_other_filters_are_those_that_a_plain_scan_has(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(few_rows, "FEW", few)
    monkeypatch.setattr(few_rows, "NAMED", min(few, 9))
    await _fill(tenant)
    chance, own = Random(4), {"outcome": "failed", "audience_id": "aud_1"}
    made = [(await resources.draft(tenant, name)).deployment.id for name in ("One", "Other")]
    rare: list[dict[str, Any]] = [
        {"audience_id": None, "deployment_id": chance.choice(made)} | (own if index % 9 == 0 else {})
        for index in range(60)
    ]
    far = [
        call_row(
            tenant,
            1_000 + index,
            FIRST_MS + index * 40 * 60_000,
            chance,
            **_named(f"Ada {chance.choice(_LAST)}"),
            **fields,
        )
        for index, fields in enumerate(rare)
    ]
    for each in far:
        each["ended_at"] = each["created_at"] + chance.choice((60_000, 2 * 3_600_000))
    await put(tenant, far)
    stored = await tenant.database.read(lambda connection: connection.execute(select(calls)).all())
    for _ in range(60):
        asked, sort = chance.choice(("ada", "ad", "love", "o", "nobody")), chance.choice(_SORTS)
        choices: dict[str, list[str]] = {
            "outcome": ["failed", "busy"],
            "status": ["completed", "in_progress"],
            "audience_id": ["aud_1"],
            "deployment_id": made,
        }
        given: dict[str, Any] = {
            name: [chance.choice(choices[name])] for name in chance.sample(sorted(choices), chance.randrange(3))
        }
        moments = sorted(FIRST_MS + chance.randrange(-3, 45) * 3_600_000 // 2 for _ in range(2))
        began, before = moments if chance.random() < 0.6 else (0, 1 << 60)
        times: dict[str, Any] = {"created_from": moment(began), "created_before": moment(before)} if began else {}
        having = [
            each
            for each in stored
            if all(getattr(each, name) in values for name, values in given.items())
            and began <= each.created_at < before
            and _matches(asked, each.name_words)
        ]
        expected = _ordered(having, sort)
        find = tenant.client.calls.list
        walked = [call.id async for call in find(contact_name=asked, sort=sort, per_page=4, **given, **times)]
        assert walked == expected, (asked, given, moments, sort)
        first = await find(contact_name=asked, sort=sort, per_page=2, **given, **times)
        assert first.pagination.total == len(expected), (asked, given, moments, sort)


@pytest.mark.requirement("FILTER-19")
@pytest.mark.parametrize("few", [5_000, 3])
async def test_pages_of_contacts_by_name_have_each_of_them_once(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(few_rows, "FEW", few)
    monkeypatch.setattr(few_rows, "NAMED", min(few, 9))
    chance = Random(2)
    campaign = await resources.draft(tenant, "Names")
    rows = [
        {**row(index), "first_name": chance.choice(_FIRST), "last_name": chance.choice(_LAST)} for index in range(120)
    ]
    await tenant.client.audiences.add_rows(id=campaign.audience.id, rows=rows[1:60])
    await tenant.client.deployments.start(id=campaign.deployment.id)
    await tenant.client.audiences.add_rows(id=campaign.audience.id, rows=rows[50:])  # some are there already
    other = await resources.audience(tenant, "Others")
    await tenant.client.audiences.add_rows(id=other.id, rows=rows[1:20])
    k, r = deployment_contacts.c, audience_rows.c
    of_campaign = select(k.id, r.name_words).outerjoin(audience_rows, r.id == k.id).order_by(k.position)
    own = of_campaign.where(k.deployment_id == campaign.deployment.id)
    stored = await tenant.database.read(lambda connection: connection.execute(own).all())
    assert len(stored) == 120
    find = tenant.client.deployments.list_contacts
    for asked in _ASKED:
        expected = [each.id for each in stored if _matches(asked, each.name_words)]
        for sort, ids in ((None, expected), ("-position", expected[::-1])):
            given: dict[str, Any] = {"id": campaign.deployment.id, "name": asked, "sort": sort}
            assert [one.id async for one in find(**given, per_page=7)] == ids, asked
            second = await find(**given, per_page=5, page=2)
            assert ([one.id for one in second.data], second.pagination.total) == (ids[5:10], len(ids)), asked
            assert [one.id async for one in find(**given, status=["pending"], per_page=7)] == ids, asked


def _analyze(connection: Connection) -> None:
    """Lets Postgres know what stands in the tables."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("ANALYZE")


async def _plans(tenant: Tenant, statements: Sequence[Statement], table: str) -> list[str]:
    reads = [each for each in statements if f"FROM {table}" in each.text or f"JOIN {table}" in each.text]
    return [
        await tenant.database.read(each.plan, bitmaps=True)
        for each in reads
        if " LIKE " in each.text or "@@" in each.text
    ]


@pytest.mark.requirement("FILTER-19")
async def test_an_index_of_words_leads_to_calls_by_name(tenant: Tenant) -> None:
    chance = Random(3)
    rows = [call_row(tenant, index, FIRST_MS + index, chance, **_named(f"Person {index}")) for index in range(1_000)]
    await put(tenant, [*rows, call_row(tenant, 1_000, FIRST_MS, chance, **_named("Ada Lovelace"))])
    await tenant.database.write(_analyze)
    for sort in _SORTS:
        with recorded() as statements:
            assert (await tenant.client.calls.list(contact_name="ada love", sort=sort)).data
        plans = await _plans(tenant, statements, "calls")
        assert plans
        assert all("call_names" in plan or "ix_calls_names" in plan for plan in plans), plans
        assert not any("SCAN calls" in plan or "Seq Scan on calls" in plan for plan in plans), plans


@pytest.mark.requirement("FILTER-19")
@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
async def test_of_two_words_the_rare_one_is_found_and_the_frequent_one_is_compared(tenant: Tenant) -> None:
    chance, first = Random(5), ("Ada", "Adam", "Bo")
    named = [f"{first[index % 3]} Person{index}" for index in range(1_200)]
    await put(tenant, [call_row(tenant, i, FIRST_MS + i, chance, **_named(name)) for i, name in enumerate(named)])
    await tenant.database.write(_analyze)
    cases: dict[str, list[str]] = {
        "ada person12": ["person12"],
        "person12 bo": ["person12"],
        "ada bo": ["ada", "bo"],
        "ada person12 per": ["person12"],
    }
    for asked, rare in cases.items():
        with recorded() as statements:
            found = [str(call.contact_name) async for call in tenant.client.calls.list(contact_name=asked)]
        expected = [name for name in named if _matches(asked, word_column(name))]
        assert sorted(found) == sorted(expected), asked
        reads = [one for one in statements if "@@" in one.text]
        assert reads
        for read in reads:
            queries = [value for value in map(str, read.values.values()) if ":*" in value]
            asked_index = [[part.split(":")[1].strip("'") for part in query.split(" & ")] for query in queries]
            assert asked_index == [rare], read.values


@pytest.mark.requirement("FILTER-19")
async def test_an_index_of_words_leads_to_contacts_by_name(tenant: Tenant) -> None:
    campaign = await resources.draft(tenant, "Names")
    rows: list[dict[str, Any]] = [
        {"phone_number": f"+1415550{index:04d}", "first_name": f"Human {index}"} for index in range(1_000)
    ]
    await tenant.client.audiences.add_rows(id=campaign.audience.id, rows=rows)
    await tenant.client.deployments.start(id=campaign.deployment.id)
    await tenant.database.write(_analyze)
    with recorded() as statements:
        assert (await tenant.client.deployments.list_contacts(id=campaign.deployment.id, name="pers")).data
    plans = await _plans(tenant, statements, "audience_rows")
    assert plans
    assert all("audience_names" in plan or "ix_audience_rows_names" in plan for plan in plans), plans


@pytest.mark.requirement("FILTER-19")
async def test_names_of_any_length_are_kept_and_found(tenant: Tenant) -> None:
    campaign = await resources.draft(tenant, "Names")
    people = [{**row(1), "first_name": _LONG}, {**row(2), "first_name": "a" * 200}]
    await tenant.client.audiences.add_rows(id=campaign.audience.id, rows=people)
    await tenant.client.deployments.start(id=campaign.deployment.id)
    await put_call(tenant, **_named(_LONG))
    for asked, name in ((_LONG, _LONG), (_LONG[:120], _LONG), ("a" * 200, "a" * 200)):
        page = await tenant.client.deployments.list_contacts(id=campaign.deployment.id, name=asked)
        assert [one.name for one in page.data] == [name]
    assert [call.contact_name for call in (await tenant.client.calls.list(contact_name=_LONG)).data] == [_LONG]
    assert (await tenant.client.calls.list(contact_name=_LONG + "Ж")).data == []


@pytest.mark.requirement("FILTER-19")
async def test_a_deleted_person_leaves_no_words_and_takes_none_of_others_of_the_same_moment(tenant: Tenant) -> None:
    at: dict[str, Any] = {"created_at": FIRST_MS}
    await put_call(tenant, **at, **_named("Ada Lovelace"), to_number="+12125550101")
    kept = await put_call(tenant, **at, **_named("Ada Álvarez"), to_number="+12125550102")
    audience = await resources.audience(tenant, "People")
    rows: list[dict[str, Any]] = [
        {"phone_number": "+12125550101", "name": "Ada Lovelace"},
        {"phone_number": "+12125550102", "name": "Ada"},
    ]
    await tenant.client.audiences.add_rows(id=audience.id, rows=rows)
    await tenant.client.people.delete(number="+12125550101", confirm=True)
    assert [call.id for call in (await tenant.client.calls.list(contact_name="ada")).data] == [kept]
    assert (await tenant.client.calls.list(contact_name="love")).data == []
    await tenant.client.people.delete(number="+12125550102", confirm=True)
    assert (await tenant.client.calls.list(contact_name="ada")).data == []
    if tenant.services.settings.database_url.startswith("sqlite"):
        for index in NAME_INDEXES:
            terms = await tenant.database.read(indexed_terms, index)
            assert not [term for term in terms if "ada" in term[12:] or "love" in term[12:]], index


@pytest.mark.requirement("FILTER-19")
async def test_an_audience_that_is_deleted_takes_the_words_of_its_names_along(tenant: Tenant) -> None:
    made = [await resources.audience(tenant, name) for name in ("first", "second")]
    for audience in made:
        rows = [{**row(index), "first_name": "Zwettler"} for index in range(1, 4)]
        await tenant.client.audiences.add_rows(id=audience.id, rows=rows)
    await tenant.client.audiences.delete(id=made[0].id)
    await tenant.database.read(_sound)
    if tenant.services.settings.database_url.startswith("sqlite"):
        terms = await tenant.database.read(indexed_terms, "audience_names")
        assert len([term for term in terms if term.endswith("zwettler")]) == 1


def _sound(connection: Connection) -> None:
    """Lets SQLite check the indexes, which raises if it finds an error."""
    if connection.dialect.name == "sqlite":
        for index in NAME_INDEXES:
            connection.exec_driver_sql(f"INSERT INTO {index} ({index}) VALUES ('integrity-check')")


@pytest.mark.requirement("FILTER-20")
@pytest.mark.parametrize("few", [5_000, 1])
async def test_rows_of_an_audience_are_found_by_their_own_id_whatever_tells_people_apart(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(few_rows, "FEW", few)
    rows = [row(0, crm="7"), row(1, crm="7"), row(2, crm="8"), row(3), row(0, crm="9"), row(4, crm="+12125550104")]
    create, find = tenant.client.audiences.create, tenant.client.audiences.list_rows
    choices: tuple[Literal["phone", "external_id", "none"], ...] = ("phone", "external_id", "none")
    made = {dedupe: await create(name=dedupe, rows=rows, dedupe=dedupe, external_id_column="crm") for dedupe in choices}
    for dedupe, audience in made.items():
        everybody = [one async for one in find(id=audience.id)]
        assert (await find(id=audience.id, per_page=1)).pagination.total == len(everybody) == audience.valid_count
        for own_id in ("7", "8", "9", "+12125550104", "+12125550103", "nobody"):
            expected = [one.id for one in everybody if one.external_id == own_id]
            for sort, ids in ((None, expected), ("-position", expected[::-1])):
                found = [one.id async for one in find(id=audience.id, external_id=own_id, sort=sort, per_page=1)]
                assert found == ids, (dedupe, own_id)
            page = await find(id=audience.id, external_id=own_id, per_page=1)
            assert page.pagination.total == len(expected), (dedupe, own_id)
    assert len((await find(id=made["phone"].id, external_id="7")).data) == 2


@pytest.mark.requirement("FILTER-20")
async def test_an_index_leads_to_rows_by_their_own_id(tenant: Tenant) -> None:
    rows = [row(0, crm="7"), row(1, crm="8")]
    made = await tenant.client.audiences.create(name="phone", rows=rows, external_id_column="crm")
    with recorded() as statements:
        assert (await tenant.client.audiences.list_rows(id=made.id, external_id="7")).data
    reads = [each for each in statements if "FROM audience_rows" in each.text and "external_id <>" in each.text]
    plans = [await tenant.database.read(each.plan) for each in reads]
    assert plans
    assert all("ix_audience_rows_own_id" in plan for plan in plans), plans
