"""Lists of many calls: walks while others write, orders, totals, and the indexes behind them."""

from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlalchemy import Connection, insert, select, text

from callwright.client.listing import Listing
from callwright.contract.calls.calls import Call
from callwright.contract.declaration.pagination import MOST_COUNTED
from callwright.service.platform.clock.clock import moment
from callwright.service.tables import deployment_calls
from callwright.service.tables.schema import calls, deployments, outbox
from tests.support import resources
from tests.support.calls.many_calls import FIRST_MS, call_row, put, put_many
from tests.support.database.statements import Statement, recorded
from tests.support.resources import refusal
from tests.support.service import Tenant, open_service

MANY = 20_000
SORTS = (
    "created_at",
    "-ended_at",
    "-created_at,duration_seconds",
    "duration_seconds,-ended_at,created_at",
    "-duration_seconds,-created_at",
    "ended_at,ended_at,-ended_at",
)


async def moment_of(tenant: Tenant, call_id: str) -> int:
    """When a call was made, in milliseconds."""
    statement = select(calls.c.created_at).where(calls.c.id == call_id)
    return await tenant.database.read(lambda connection: connection.execute(statement).scalar_one())


async def walked(tenant: Tenant, chance: Random, listing: Listing[Call], begun_with: int) -> list[str]:
    """The ids that a walk shows while after each page others write calls before, behind and at its very place."""
    seen: list[str] = []
    number = 0
    async for page in listing.pages():
        number += 1
        assert (page.pagination.page, page.pagination.total) == (number, begun_with)
        seen += [entry.id for entry in page.data]
        at_ms = await moment_of(tenant, seen[-1])
        new = [(at_ms, 0), (at_ms, 4_000), (FIRST_MS - number, 2_000), (FIRST_MS + 10**9 + number, 3_000)]
        rows = [
            call_row(tenant, 10**6 + 10 * number + index, at, chance, duration_ms=talked_ms, deployment_id=None)
            for index, (at, talked_ms) in enumerate(new)
        ]
        await put(tenant, rows)
    return seen


@pytest.mark.requirement("PAGE-04", "PAGE-12", "PAGE-13", "PAGE-19")
async def test_a_walk_over_twenty_thousand_calls_shows_each_once_while_others_write(tenant: Tenant) -> None:
    chance = Random(1)
    put_first = await put_many(tenant, MANY, chance)
    seen = await walked(tenant, chance, tenant.client.calls.list(per_page=200), MANY)
    assert len(seen) == len(set(seen))
    assert put_first <= set(seen)
    assert len(seen) > MANY  # the ones written earlier than all are shown at the end
    deep = await tenant.client.calls.list(per_page=200, page=51)
    assert len(deep.data) == 200
    async with refusal(400, "invalid_field", "page"):
        await tenant.client.calls.list(per_page=200, page=52)


@pytest.mark.requirement("PAGE-13", "FILTER-07")
@pytest.mark.parametrize("sort", SORTS)
async def test_a_walk_in_any_order_shows_each_call_once_while_others_write(tenant: Tenant, sort: str) -> None:
    chance = Random(2)
    put_first = await put_many(tenant, 900, chance)
    seen = await walked(tenant, chance, tenant.client.calls.list(per_page=60, sort=sort), 900)
    assert len(seen) == len(set(seen))
    assert put_first <= set(seen)


async def test_pages_by_number_and_by_cursor_are_in_the_order_that_was_asked_for(tenant: Tenant) -> None:
    await put_many(tenant, 600, Random(3))
    rows = await tenant.database.read(lambda connection: connection.execute(select(calls)).all())
    for sort in SORTS:
        parts = sort.split(",")
        expected = sorted(rows, key=attrgetter("id"), reverse=parts[-1].startswith("-"))
        for place, part in reversed(list(enumerate(parts))):
            column = part.removeprefix("-").replace("duration_seconds", "duration_ms")
            # what another field follows is compared as it is shown, in seconds
            unit = 1 if place == len(parts) - 1 else 1_000
            expected.sort(
                key=lambda row, of=attrgetter(column), unit=unit: of(row) // unit, reverse=part.startswith("-")
            )
        ids = [row.id for row in expected]
        find = tenant.client.calls.list
        assert [entry.id async for entry in find(per_page=170, sort=sort)] == ids, sort
        numbered = [(await find(per_page=170, sort=sort, page=page)).data for page in (1, 2, 3, 4)]
        assert [entry.id for page in numbered for entry in page] == ids, sort


@pytest.mark.requirement("FILTER-02", "FILTER-07")
@pytest.mark.parametrize("most_parts", [deployment_calls.MOST_PARTS, 1])
async def test_calls_of_several_deployments_come_in_one_order(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most_parts: int
) -> None:
    monkeypatch.setattr(deployment_calls, "MOST_PARTS", most_parts)
    async with open_service(database_url, tmp_path, workers=False) as tenant, tenant.another_organization() as other:
        for seed, deployment_id in enumerate(("dep_1", "dep_2", "dep_3"), start=10):
            await put_many(tenant, 100, Random(seed), deployment_id=deployment_id)
        await put_many(other, 10, Random(20), deployment_id="dep_4")
        await put_deployment(tenant, "dep_1")
        await put_deployment(tenant, "dep_2")
        find, asked = tenant.client.calls.list, ["dep_2", "dep_1", "dep_2", "dep_4", "dep_5"]
        for sort in ("-created_at", *SORTS):
            ids = [call.id async for call in find(sort=sort, per_page=200) if call.deployment_id in asked]
            pages = [page async for page in find(sort=sort, deployment_id=asked, per_page=30).pages()]
            assert [call.id for page in pages for call in page.data] == ids, sort
            assert {page.pagination.total for page in pages} == {200}, sort
            numbered = [
                (await find(sort=sort, deployment_id=asked, per_page=30, page=page)).data for page in range(1, 9)
            ]
            assert [call.id for page in numbered for call in page] == ids, sort
            busy = [call.id async for call in find(sort=sort, deployment_id=asked, outcome=["busy"], per_page=30)]
            assert busy == [call.id async for call in find(sort=sort, outcome=["busy"]) if call.id in ids], sort


async def put_deployment(tenant: Tenant, deployment_id: str) -> None:
    made = (await resources.draft(tenant, deployment_id)).deployment
    statement = select(deployments).where(deployments.c.id == made.id)

    def copy(connection: Connection) -> None:
        row = connection.execute(statement).mappings().one()
        connection.execute(insert(deployments), {**row, "id": deployment_id, "name": f"{row['name']} again"})

    await tenant.database.write(copy)


@pytest.mark.requirement("PAGE-12", "PAGE-21")
async def test_totals_are_exact_where_an_index_counts_and_else_stop_at_ten_thousand(
    tenant: Tenant, other: Tenant
) -> None:
    await put_many(tenant, MANY, Random(4))
    await put_deployment(tenant, "dep_1")
    find = tenant.client.calls.list
    half = moment(FIRST_MS + MANY // 7 // 2)
    exact: tuple[tuple[dict[str, Any], int], ...] = (
        ({}, MANY),
        ({"deployment_id": "dep_1"}, MANY),
        ({"deployment_id": ["dep_1", "dep_2"]}, MANY),
        ({"to": "+12022000007"}, 1),
        ({"outcome": ["no_answer"]}, 0),
    )
    for filters, total in exact:
        assert (await find(per_page=1, **filters)).pagination.total == total, filters
    before = (await find(per_page=1, created_before=half)).pagination.total
    since = (await find(per_page=1, created_from=half, deployment_id="dep_1")).pagination.total
    assert (before + since, min(before, since) > 0) == (MANY, True)
    bounded: tuple[dict[str, Any], ...] = ({"status": ["completed"]}, {"language": "en-US"}, {"agent_id": "agt_1"})
    for filters in bounded:
        page = await find(per_page=1, **filters)
        assert (page.pagination.total, page.pagination.has_more) == (MOST_COUNTED, True), filters
    assert (await other.client.calls.list(deployment_id="dep_1")).pagination.total == 0


@pytest.mark.requirement("PAGE-21")
async def test_the_total_of_events_stops_at_ten_thousand(tenant: Tenant) -> None:
    row = {"org_id": tenant.org_id, "type": "call.started", "data": "{}", "simulated": True, "fanned_out_at": 1}
    rows = [row | {"id": f"evt_{index}", "created_at": index} for index in range(MOST_COUNTED + 1)]
    await tenant.database.write(lambda connection: connection.execute(insert(outbox), rows))
    page = await tenant.client.events.list(per_page=1)
    assert (page.pagination.total, page.pagination.has_more) == (MOST_COUNTED, True)


async def test_a_list_that_fits_one_page_is_not_counted(tenant: Tenant) -> None:
    await put_many(tenant, 150, Random(5))
    cases: tuple[tuple[dict[str, Any], int, bool], ...] = (
        ({"per_page": 200}, 150, False),
        ({"per_page": 150}, 150, False),
        ({"per_page": 100}, 150, True),
        ({"per_page": 100, "page": 2}, 150, False),
        ({"per_page": 100, "page": 3}, 150, True),
        ({"per_page": 100, "created_before": moment(FIRST_MS)}, 0, False),
    )
    for asked, total, is_counted in cases:
        with recorded() as statements:
            assert (await tenant.client.calls.list(**asked)).pagination.total == total
        assert any("count(" in each.text for each in statements) == is_counted, asked


def of_calls(statements: Sequence[Statement]) -> Statement:
    """The statement that reads a page of calls."""
    reads = [each for each in statements if "FROM calls" in each.text]
    (found,) = [each for each in reads if "count(" not in each.text and "min(" not in each.text]
    return found


@pytest.mark.parametrize(
    ("filters", "index", "leads_to"),
    [
        ({}, "ix_calls_created", "created_at"),
        ({"sort": "created_at"}, "ix_calls_created", "created_at"),
        ({"ended_from": moment(FIRST_MS)}, "ix_calls_created", "created_at"),
        ({"created_from": moment(FIRST_MS)}, "ix_calls_created", "created_at"),
        ({"deployment_id": "dep_1"}, "ix_calls_deployment", "created_at"),
        ({"deployment_id": ["dep_1", "dep_2"]}, "ix_calls_deployment", "created_at"),
    ],
)
async def test_an_index_leads_to_the_place_of_a_cursor(
    tenant: Tenant, filters: dict[str, Any], index: str, leads_to: str
) -> None:
    await put_many(tenant, 3_000, Random(6))
    if tenant.database.is_shared:
        await tenant.database.write(lambda connection: connection.execute(text("ANALYZE calls")))
    first = await tenant.client.calls.list(per_page=20, **filters)
    with recorded() as statements:
        await tenant.client.calls.list(per_page=20, cursor=first.pagination.next_cursor, **filters)
    plan = await tenant.database.read(of_calls(statements).plan)
    lines = plan.splitlines()
    if not tenant.database.is_shared:
        found = [line for line in lines if "USING INDEX ix_" in line]
        assert all(leads_to in line.partition(f"USING INDEX {index} ")[2] for line in found), plan
    else:
        found = [number for number, line in enumerate(lines) if "using ix_" in line]
        assert all(f"using {index} on calls" in lines[number] for number in found), plan
        assert all("Index Cond" in lines[number + 1] for number in found), plan
        assert all(leads_to in lines[number + 1] for number in found), plan
    parts = 2 if filters.get("deployment_id") == ["dep_1", "dep_2"] else 1
    assert len(found) == parts, plan
    assert parts > 1 or "USE TEMP B-TREE FOR ORDER BY" not in plan
