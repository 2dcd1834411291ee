"""Calls are counted by number and hour, by whatever way they are made, and for as long as a cap asks for them."""

from collections import Counter

import pytest
from sqlalchemy import Connection, func, select

from callwright.service.platform.clock.clock import DAY, HOUR
from callwright.service.tables import number_hours, schema
from callwright.service.workers import sweeps
from tests.support.campaigns import people, run
from tests.support.service import Tenant

_H = schema.number_hours.c


def counted(connection: Connection) -> Counter[tuple[str, int, str]]:
    return Counter({tuple(row[:3]): row.calls for row in connection.execute(select(schema.number_hours))})


def made(connection: Connection) -> Counter[tuple[str, int, str]]:
    calls = schema.calls.c
    own = select(calls.phone_number_id, calls.created_at, calls.call_type)
    return Counter((row[0], row[1] // HOUR, row[2]) for row in connection.execute(own))


@pytest.mark.service(workers=True)
async def test_each_call_of_a_campaign_is_counted_once_in_its_hour(tenant: Tenant) -> None:
    await run(tenant, people(30))
    found, calls = await tenant.database.read(lambda connection: (counted(connection), made(connection)))
    assert found == calls
    assert found.total() >= 30


async def test_counts_are_kept_until_no_cap_asks_for_them(tenant: Tenant) -> None:
    now_ms = tenant.services.clock.confirmed_now_ms()
    rows: list[dict[str, str | int | None]] = [
        {"phone_number_id": "num_1", "created_at": now_ms - ago_ms, "call_type": "outbound"}
        for ago_ms in (0, 0, DAY, number_hours.KEPT_MS + HOUR)
    ]
    rows.append({**rows[0], "phone_number_id": None})
    await tenant.database.write(lambda connection: number_hours.add(connection, rows))
    await sweeps.run(tenant.services)
    left = await tenant.database.read(
        lambda connection: connection.execute(select(func.count(), func.sum(_H.calls))).one()
    )
    assert tuple(left) == (2, 3)
    assert await tenant.database.read(number_hours.most_since, ["num_1", "num_2"], now_ms - DAY) == {"num_1": 3}
