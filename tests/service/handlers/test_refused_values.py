"""Values of refused rows are shown without the middle of their digits, whatever column they stand in."""

from typing import Any

import pytest

from callwright.contract.audiences import RowError
from tests.support.imports import await_import
from tests.support.service import Tenant

NUMBER = "+12065550100"
WRITTEN = (
    "2025550143",
    "12025550143x",
    "Anna 2025550143",
    "+1x2025550143",
    "12025550143.0",
    "202x555y0143",
    "٢٠٢٥٥٥٠١٤٣",
    "②⓪②⑤⑤⑤⓪①④③",
    "2025550143 2025550143",
)
COLUMNS = ("timezone", "sim.outcome", "sim.persona", "sim.intent", "sim.language", "phone_number")


def _row(column: str, cell: str) -> dict[str, Any]:
    return {"phone_number": NUMBER, "timezone": "", "sim.outcome": "", column: cell}


def _digits(text: str) -> str:
    return "".join(str(int(char)) if char.isdecimal() else char for char in text if char.isdigit())


async def _rejected(tenant: Tenant, column: str, *, by_file: bool) -> list[RowError]:
    made = await tenant.client.audiences.create(name=f"Refused {column} {by_file}", timezone_column="timezone")
    rows = [_row(column, cell) for cell in WRITTEN]
    if not by_file:
        return (await tenant.client.audiences.add_rows(id=made.id, rows=rows)).errors
    names = list(rows[0])
    csv = "\n".join([",".join(names), *(",".join(row[name] for name in names) for row in rows)])
    done = await await_import(tenant, made.id, csv)
    return [each async for each in tenant.client.audiences.list_import_errors(id=made.id, import_id=done.id)]


@pytest.mark.requirement("RES-35")
@pytest.mark.parametrize("by_file", [False, True], ids=["json", "csv"])
@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.service(workers=True)
async def test_a_refused_cell_keeps_the_middle_of_its_digits_to_itself(
    tenant: Tenant, column: str, by_file: bool
) -> None:
    errors = await _rejected(tenant, column, by_file=by_file)
    callable_in_phone_column = 1 if column == "phone_number" else 0
    assert [error.column for error in errors] == [column] * (len(WRITTEN) - callable_in_phone_column)
    for error in errors:
        shown = error.message.split("; allowed")[0] + (error.value_redacted or "")
        assert "•••" in shown
        assert len(_digits(shown)) <= 5, shown


async def test_a_refused_time_zone_with_few_digits_is_shown_as_it_was_written(tenant: Tenant) -> None:
    made = await tenant.client.audiences.create(name="Zones", timezone_column="timezone")
    rows: list[dict[str, Any]] = [
        {"phone_number": NUMBER, "timezone": zone} for zone in ("Mars/Base 42", "UTC+0130", "12345")
    ]
    errors = (await tenant.client.audiences.add_rows(id=made.id, rows=rows)).errors
    assert [error.value_redacted for error in errors] == ["Mars/Base 42", "UTC+0130", "•••45"]
