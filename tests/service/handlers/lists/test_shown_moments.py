"""Moments are shown to the second, and lists hold what is shown: their order, and filters on a span of time."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from sqlalchemy import Connection, Table, select, text, update

from callwright.contract.declaration.operation import AnyOperation
from callwright.contract.surface import OPERATIONS
from callwright.service.platform.clock.clock import moment
from callwright.service.platform.database.listing import in_seconds
from callwright.service.tables.schema import agents, audiences, calls, deployments, phone_numbers, webhooks
from tests.support import resources
from tests.support.calls.counted_calls import count_again
from tests.support.calls.many_calls import FIRST_MS, put_many
from tests.support.database.statements import Statement, recorded
from tests.support.http.raw_requests import AsyncClient
from tests.support.service import Tenant
from tests.support.webhooks.sent_events import put_event, subscribe

TABLES: dict[str, Table] = {
    "agents": agents,
    "audiences": audiences,
    "phone_numbers": phone_numbers,
    "deployments": deployments,
    "webhooks": webhooks,
    "calls": calls,
}
SEVERAL_SORTS = [
    one for one in OPERATIONS.values() if any(in_seconds(one, sort) for sort in one.sorts) and one.sorts[1:]
]
"""Lists that are sorted by a moment and by something else."""


async def many(tenant: Tenant) -> None:
    for index in range(12):
        await resources.draft(tenant, f"C{index:02d}")
        await subscribe(tenant)
    await put_many(tenant, 12, Random(5), deployment_id="dep_1")


async def scatter(tenant: Tenant, table: Table) -> None:
    """Gives every entry a millisecond of its own in one of two seconds, in an order that is nobody's."""
    moments = [name for name in ("created_at", "updated_at", "started_at", "ended_at") if name in table.c]

    def write(connection: Connection) -> None:
        ids = connection.execute(select(table.c.id)).scalars().all()
        for index, id_ in enumerate(Random(3).sample(sorted(ids), len(ids))):
            values: dict[str, int] = {"duration_ms": (index % 4) * 500} if "duration_ms" in table.c else {}
            values |= {
                name: FIRST_MS + (index % 2) * 1_000 + (index * 83 * place) % 1_000
                for place, name in enumerate(moments, 1)
            }
            connection.execute(update(table).where(table.c.id == id_).values(values))
        count_again(connection)

    await tenant.database.write(write)


async def put_at(tenant: Tenant, agent_id: str, at_ms: int) -> None:
    """Makes an agent one of that moment."""
    statement = update(agents).where(agents.c.id == agent_id).values(created_at=at_ms)
    await tenant.database.write(lambda connection: connection.execute(statement).rowcount)


async def walked(http: AsyncClient, operation: AnyOperation, **asked: str) -> list[dict[str, Any]]:
    """All entries, in pages of three by cursor."""
    found: list[dict[str, Any]] = []
    while True:
        answer = (await http.get(f"/v1{operation.path}", params={"per_page": "3", **asked})).json()
        found += answer["data"]
        if not answer["pagination"]["has_more"]:
            return found
        asked["cursor"] = answer["pagination"]["next_cursor"]


def in_order(entries: list[dict[str, Any]], sort: str) -> list[dict[str, Any]]:
    """Entries sorted by what they show; ids have the last word, in the direction of the last field."""
    parts = sort.split(",")
    entries = sorted(entries, key=lambda entry: entry["id"], reverse=parts[-1].startswith("-"))
    for part in reversed(parts):
        entries.sort(key=_shown(part.removeprefix("-")), reverse=part.startswith("-"))
    return entries


def _shown(name: str) -> Callable[[dict[str, Any]], Any]:
    return lambda entry: (entry[name] is not None, "" if entry[name] is None else entry[name])


@pytest.mark.requirement("FILTER-07", "FILTER-14", "PAGE-13")
async def test_entries_of_the_same_second_are_sorted_by_the_next_field_in_every_list(
    tenant: Tenant, http: AsyncClient
) -> None:
    assert {one.noun for one in SEVERAL_SORTS} == set(TABLES)
    await many(tenant)
    for operation in SEVERAL_SORTS:
        await scatter(tenant, TABLES[operation.noun])
        pairs = [(one, other) for one in operation.sorts for other in operation.sorts if one != other]
        sorts = [f"{a}{one},{b}{other}" for one, other in pairs for a in ("", "-") for b in ("", "-")]
        for sort in (*sorts, ",".join((*operation.sorts, "-created_at"))):
            found = await walked(http, operation, sort=sort)
            assert len({entry["id"] for entry in found}) == len(found) == 12
            keys = [part.strip("-") for part in sort.split(",")]
            shown = [[entry[key] for key in keys] for entry in found]
            assert shown == [[entry[key] for key in keys] for entry in in_order(found, sort)], (
                operation.name,
                sort,
            )


@pytest.mark.requirement("FILTER-14")
async def test_by_a_moment_alone_what_was_made_later_in_the_same_second_is_later(
    tenant: Tenant, http: AsyncClient
) -> None:
    for place, name in enumerate("bca"):
        made = await resources.agent(tenant, name)
        await put_at(tenant, made.id, FIRST_MS + place)
    for sort, expected in (("created_at", "bca"), ("-created_at", "acb"), ("created_at,name", "abc")):
        found = await walked(http, OPERATIONS["list_agents"], sort=sort)
        assert "".join(entry["name"] for entry in found) == expected, sort


@pytest.mark.requirement("FILTER-11", "FILTER-15")
async def test_a_span_of_time_keeps_what_is_shown_in_it(tenant: Tenant, http: AsyncClient) -> None:
    await many(tenant)
    second = moment(FIRST_MS + 1_000).strftime("%Y-%m-%dT%H:%M:%S")
    for operation in SEVERAL_SORTS:
        await scatter(tenant, TABLES[operation.noun])
        everything = await walked(http, operation)
        if "created_from" not in operation.takes.model_fields:
            continue
        for fraction in ("", ".0", ".5", ".999", ".999999"):
            since = await walked(http, operation, **{"filter[created_from]": f"{second}{fraction}Z"})
            until = await walked(http, operation, **{"filter[created_before]": f"{second}{fraction}Z"})
            shown = {entry["id"] for entry in everything if entry["created_at"] >= f"{second}Z"}
            assert {entry["id"] for entry in since} == shown, (operation.name, fraction)
            assert len(since) + len(until) == len(everything) == 12


@pytest.mark.requirement("FILTER-15")
async def test_events_are_shown_and_kept_to_the_millisecond(tenant: Tenant, http: AsyncClient) -> None:
    ids = [await put_event(tenant, created_at=FIRST_MS + index) for index in range(3)]
    ours = {"filter[subject_id]": "cal_1"}
    middle = "2027-01-15T08:00:00.001Z"
    assert (await tenant.client.events.get(id=ids[1])).created_at == middle
    for name, expected in (("created_from", ids[1:]), ("created_before", ids[:1])):
        found = await walked(http, OPERATIONS["list_events"], **{f"filter[{name}]": middle}, **ours)
        assert {entry["id"] for entry in found} == set(expected)
        given: dict[str, Any] = {name: moment(FIRST_MS + 1), "subject_id": "cal_1"}
        assert {entry.id async for entry in tenant.client.events.list(**given)} == set(expected)


def listing_statement(statements: list[Statement], table: str) -> Statement:
    """The statement that reads a page of a table."""
    (found,) = [each for each in statements if f"FROM {table}" in each.text and "ORDER BY" in each.text]
    return found


@pytest.mark.parametrize("noun", ["agents", "audiences", "phone_numbers", "deployments"])
async def test_an_index_holds_the_order_by_seconds_and_leads_to_the_place_of_a_cursor(
    tenant: Tenant, http: AsyncClient, noun: str
) -> None:
    operation = next(one for one in SEVERAL_SORTS if one.noun == noun)
    await many(tenant)
    await scatter(tenant, TABLES[noun])
    if tenant.database.is_shared:
        await tenant.database.write(lambda connection: connection.execute(text(f"ANALYZE {noun}")))
    other = next(sort for sort in operation.sorts if not in_seconds(operation, sort))
    for sort in (f"-created_at,{other}", f"created_at,-{other}", f"-created_at,-{other}"):
        asked = {"sort": sort, "per_page": "3"}
        first = (await http.get(f"/v1{operation.path}", params=asked)).json()
        with recorded() as statements:
            cursor = first["pagination"]["next_cursor"]
            await http.get(f"/v1{operation.path}", params={**asked, "cursor": cursor})
        plan = await tenant.database.read(listing_statement(statements, noun).plan)
        index = f"ix_{noun}_second"
        if not tenant.database.is_shared:
            assert f"{noun} USING INDEX {index} (org_id=? AND <expr>" in plan, plan
            assert "USE TEMP B-TREE FOR ORDER BY" not in plan, plan
        else:
            lines = plan.splitlines()
            (place,) = [number for number, line in enumerate(lines) if f"using {index} on {noun}" in line]
            assert "created_at / 1000)" in lines[place + 1], plan
            # What is joined to a few deployments is sorted with them at once, as is the newest import of an audience.
            assert plan.count("  Sort  (") <= (noun in ("audiences", "deployments")), plan


@pytest.mark.parametrize(
    ("field", "index", "column"),
    [
        ("created_at", "ix_calls_created", "created_at"),
        ("ended_at", "ix_calls_end", "<expr>"),
        ("duration_seconds", "ix_calls_duration", "duration_ms"),
    ],
)
async def test_the_index_of_exact_values_leads_to_the_calls_of_a_page_in_rounded_order(
    tenant: Tenant, http: AsyncClient, field: str, index: str, column: str
) -> None:
    await put_many(tenant, 3_000, Random(6), deployment_id="dep_2")
    if tenant.database.is_shared:
        await tenant.database.write(lambda connection: connection.execute(text("ANALYZE calls")))
    other = "created_at" if field == "duration_seconds" else "duration_seconds"
    for sort in (f"-{field},{other}", f"{field},-{other}"):
        asked = {"sort": sort, "per_page": "3"}
        first = (await http.get("/v1/calls", params={**asked, "page": "300"})).json()
        cursor = {"cursor": first["pagination"]["next_cursor"]}
        with recorded() as statements:
            await http.get("/v1/calls", params={**asked, **cursor})
        exact, page = [each for each in statements if "FROM calls" in each.text and "ORDER BY" in each.text]
        for statement in (exact, page):
            plan = await tenant.database.read(statement.plan)
            assert index in plan, plan
            if not tenant.database.is_shared:
                bounds = plan.partition(
                    f"calls USING {'COVERING ' * (f'COVERING INDEX {index}' in plan)}INDEX {index} "
                )
                assert f"{column}>" in bounds[2] or f"{column}<" in bounds[2], plan
        assert "LIMIT" in exact.text, exact.text
