"""Calls that are few among many are found by what is counted of them, in every order, page and span of time."""

from random import Random
from typing import Any

import pytest
from sqlalchemy import Connection, select

from callwright.service.platform.clock.clock import DAY, HOUR, moment
from callwright.service.tables import calls_by_end, calls_of_kinds
from callwright.service.tables.schema import calls
from tests.support.calls.many_calls import FIRST_MS, call_row, put
from tests.support.calls.stored_calls import put_call
from tests.support.database.statements import recorded
from tests.support.service import Tenant

_RARE = "fax_or_ivr"


async def _fill(tenant: Tenant, chance: Random) -> None:
    """Calls of two days of three campaigns and of none, some long, one in twenty of them rare; and two under way."""
    rows = [
        call_row(
            tenant,
            index,
            made,
            chance,
            ended_at=made + chance.randrange(-1_000, 60_000 if index % 20 else DAY),
            outcome=_RARE if chance.random() < 0.05 else "busy",
            deployment_id=chance.choice(("dep_1", "dep_2", "dep_3", None)),
        )
        for index in range(600)
        for made in [FIRST_MS + chance.randrange(2 * DAY)]
    ]
    await put(tenant, rows)
    going: dict[str, Any] = {"status": "in_progress", "outcome": None, "ended_at": None, "answered_at": None}
    await put_call(tenant, **going, created_at=FIRST_MS + DAY, to_number="+12125559001")
    await put_call(tenant, **going, created_at=FIRST_MS + HOUR, call_type="inbound", to_number="+12125559002")


def _stored(connection: Connection, sort: str | None, asked: dict[str, Any]) -> list[str]:
    rows = connection.execute(select(calls)).all()
    for name, column in (("outcome", "outcome"), ("status", "status"), ("call_type", "call_type")):
        rows = [row for row in rows if name not in asked or getattr(row, column) in asked[name]]
    rows = [row for row in rows if "created_from" not in asked or moment(row.created_at) >= asked["created_from"]]
    rows = [row for row in rows if "created_before" not in asked or moment(row.created_at) < asked["created_before"]]
    name = (sort or "-created_at").removeprefix("-")
    column = {"duration_seconds": "duration_ms"}.get(name, name)
    descends = sort is None or sort.startswith("-")
    ordered = sorted(rows, key=lambda row: (getattr(row, column) or 0, row.id), reverse=descends)
    return [row.id for row in ordered]


@pytest.mark.requirement("FILTER-17")
@pytest.mark.parametrize("sort", [None, "created_at", "ended_at", "-ended_at", "duration_seconds", "-duration_seconds"])
@pytest.mark.parametrize("most_parts", [250, 3])
async def test_pages_of_rare_calls_have_each_of_them_once(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, sort: str | None, most_parts: int
) -> None:
    monkeypatch.setattr(calls_of_kinds, "MOST_PARTS", most_parts)
    await _fill(tenant, Random(3))
    middle = {"created_from": moment(FIRST_MS + DAY // 3), "created_before": moment(FIRST_MS + DAY + 5_000)}
    cases: tuple[dict[str, Any], ...] = (
        {"outcome": [_RARE]},
        {"outcome": [_RARE], **middle},
        {"outcome": ["busy", _RARE], **middle},
        {"status": ["in_progress"]},
        {"call_type": ["inbound"]},
        {"outcome": ["expired"]},
        {},
    )
    for asked in cases:
        expected = await tenant.database.read(_stored, sort, asked)
        found: list[str] = []
        cursor = None
        while True:
            page = await tenant.client.calls.list(sort=sort, per_page=7, cursor=cursor, **asked)
            assert page.pagination.total == len(expected)
            found += [call.id for call in page.data]
            cursor = page.pagination.next_cursor
            if cursor is None:
                break
        assert found == expected, asked
        second = await tenant.client.calls.list(sort=sort, per_page=5, page=2, **asked)
        assert [call.id for call in second.data] == expected[5:10], asked


@pytest.mark.requirement("FILTER-17")
async def test_an_outcome_that_no_call_has_is_not_looked_for_among_all_calls(tenant: Tenant) -> None:
    await _fill(tenant, Random(4))
    with recorded() as statements:
        assert (await tenant.client.calls.list(outcome=["expired"])).data == []
    (read,) = [each for each in statements if "FROM calls" in each.text and "variables" in each.text]
    plan = await tenant.database.read(read.plan)
    assert "ix_calls_created" not in plan
    assert "SCAN calls" not in plan


@pytest.mark.requirement("FILTER-17")
@pytest.mark.parametrize("sort", [None, "created_at", "ended_at", "-ended_at", "duration_seconds", "-duration_seconds"])
@pytest.mark.parametrize("few", [5_000, 3])
async def test_pages_of_calls_that_ended_in_a_span_of_time_have_each_of_them_once(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, sort: str | None, few: int
) -> None:
    monkeypatch.setattr(calls_by_end, "FEW", few)
    monkeypatch.setattr(calls_by_end, "FEW_BY_MADE", few)
    chance, minute = Random(5), 60_000
    rows = [
        call_row(tenant, index, made, chance, ended_at=made + chance.randrange(-1_000, minute if index % 20 else DAY))
        for index in range(400)
        for made in [FIRST_MS + chance.randrange(DAY)]
    ]
    await put(tenant, rows)
    await put_call(tenant, status="in_progress", outcome=None, ended_at=None, created_at=FIRST_MS, answered_at=None)
    late, early = FIRST_MS + DAY - 10 * minute, FIRST_MS + 10 * minute
    for from_ms, before_ms in ((late, None), (None, early), (early, late), (early, None), (None, late)):
        bounds = (("ended_from", from_ms), ("ended_before", before_ms))
        ended: dict[str, Any] = {name: moment(at) for name, at in bounds if at}
        choices: tuple[dict[str, Any], ...] = (ended, {**ended, "outcome": ["busy"]})
        for asked in choices:
            others = {name: value for name, value in asked.items() if name not in ended}
            everything = await tenant.database.read(_stored, sort, others)
            ends = {row["id"]: row["ended_at"] for row in rows}
            expected = [
                each
                for each in everything
                if each in ends
                if (from_ms or 0) // 1_000 * 1_000 <= ends[each] < (before_ms or 10 * FIRST_MS) // 1_000 * 1_000
            ]
            find = tenant.client.calls.list
            assert [call.id async for call in find(sort=sort, per_page=7, **asked)] == expected, asked
            assert (await find(sort=sort, per_page=1, **asked)).pagination.total == len(expected), asked


@pytest.mark.requirement("FILTER-17")
async def test_few_calls_behind_a_moment_are_found_by_when_they_ended(tenant: Tenant) -> None:
    await _fill(tenant, Random(6))
    with recorded() as statements:
        await tenant.client.calls.list(ended_from=moment(FIRST_MS + 2 * DAY), per_page=1)
    reads = [each for each in statements if "FROM calls" in each.text]
    plans = [await tenant.database.read(each.plan) for each in reads]
    assert all("ix_calls_end" in plan and "ix_calls_created" not in plan for plan in plans), plans


@pytest.mark.requirement("FILTER-17")
async def test_calls_of_a_rare_outcome_are_told_apart_by_an_index_in_the_order_of_durations(tenant: Tenant) -> None:
    rows = [
        call_row(tenant, index, FIRST_MS + index, Random(index), outcome="busy", ended_at=FIRST_MS + index)
        for index in range(2_000)
    ]
    rows.append(call_row(tenant, 2_001, FIRST_MS, Random(1), outcome=_RARE, ended_at=FIRST_MS, id="cal_rare"))
    await put(tenant, rows)
    with recorded() as statements:
        found = await tenant.client.calls.list(outcome=[_RARE], sort="duration_seconds")
    assert [call.id for call in found.data] == ["cal_rare"]
    (read,) = [each for each in statements if "FROM calls" in each.text and "variables" in each.text]
    plan = await tenant.database.read(read.plan)
    assert "ix_calls_ended" in plan, plan
    assert "ix_calls_deployment" not in plan, plan
