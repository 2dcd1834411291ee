"""Rows that are inserted together are stored as they are, whatever stands in them."""

from typing import Any

import pytest
from sqlalchemy import Connection, select
from sqlalchemy.exc import DBAPIError

from callwright.service.platform.database.bulk import BulkInsert
from callwright.service.tables.schema import call_kinds
from tests.support.service import Tenant

NAMES = ("org_id", "id", "agent_id", "agent_version", "call_type", "status", "outcome")
INSERT = BulkInsert(call_kinds, NAMES)
SELECT = select(*(call_kinds.c[name] for name in NAMES)).order_by(call_kinds.c.id)


def rows_with(tenant: Tenant, texts: list[str | None]) -> list[tuple[Any, ...]]:
    """A row for each text; of the whole numbers every other one is null."""
    return [
        (tenant.org_id, at, text or "", None if at % 2 else -at, "outbound", "completed", text)
        for at, text in enumerate(texts)
    ]


@pytest.mark.parametrize(
    "texts",
    [
        ["", ""],
        [""],
        [None],
        [None, "", "null", "NULL", "{}", '"', "\\", "a,b", "{a}", "%s", "\n", "\t", "ü😀"],
        ["between\x1fsigns", "and"],
        ["\x1e", None],
        ["\x1f", "\x1e", ""],
    ],
)
async def test_values_are_stored_as_they_are(tenant: Tenant, texts: list[str | None]) -> None:
    rows = rows_with(tenant, texts)
    assert await tenant.database.write(lambda connection: INSERT.run_values(connection, NAMES, rows)) == len(rows)
    assert await tenant.database.read(lambda connection: [tuple(one) for one in connection.execute(SELECT)]) == rows


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
async def test_a_text_that_is_too_long_is_refused_and_not_cut(tenant: Tenant) -> None:
    def put(connection: Connection) -> str | None:
        with pytest.raises(DBAPIError) as refused, connection.begin_nested():
            INSERT.run_values(connection, NAMES, rows_with(tenant, ["1" * 31, "2"]))
        return getattr(refused.value.orig, "sqlstate", None)

    assert await tenant.database.write(put) == "22001"
