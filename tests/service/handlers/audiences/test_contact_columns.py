"""Columns that say how a person is called are kept as they were read, or refuse their row."""

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.support.campaigns import make_audience, people, phone
from tests.support.imports import await_import
from tests.support.service import Tenant

NAMED: dict[str, Any] = {"priority_column": "Rank", "not_before_column": "Earliest", "language_column": "Speaks"}


def person(index: int, **cells: str) -> dict[str, Any]:
    return {**people(1, first=index)[0], "Rank": "", "Earliest": "", "Speaks": "", **cells}


@pytest.mark.requirement("COLUMN-04")
async def test_what_the_columns_say_is_kept_of_each_row(tenant: Tenant) -> None:
    rows = [
        person(0, Rank="9", Earliest="2027-03-01T09:00:00Z", Speaks="de-de"),
        person(1, Rank="0"),
        person(2, Earliest="2027-03-01 09:00"),  # of +1 415: California
    ]
    audience = await make_audience(tenant, rows, **NAMED)
    assert (audience.priority_column, audience.not_before_column, audience.language_column) == tuple(NAMED.values())
    kept = [entry async for entry in tenant.client.audiences.list_rows(id=audience.id)]
    assert [(entry.priority, entry.not_before, entry.language) for entry in kept] == [
        (9, datetime(2027, 3, 1, 9, tzinfo=UTC), "de-DE"),
        (None, None, None),
        (None, datetime(2027, 3, 1, 17, tzinfo=UTC), None),
    ]
    assert kept[0].values["Rank"] == "9", "a prompt may use the columns too"


@pytest.mark.requirement("COLUMN-04")
@pytest.mark.parametrize(
    ("cells", "code", "says"),
    [
        ({"Rank": "high"}, "invalid_priority", "0 to 9"),
        ({"Rank": "11"}, "invalid_priority", "0 to 9"),
        ({"Earliest": "01/03/2027"}, "invalid_not_before", "2027-03-01"),
        ({"Earliest": "46447"}, "invalid_not_before", "2027-03-01"),
        ({"Speaks": "German"}, "invalid_language", "de-DE"),
    ],
)
async def test_a_row_of_which_a_column_cannot_be_read_is_refused_with_what_to_write(
    tenant: Tenant, cells: dict[str, str], code: str, says: str
) -> None:
    audience = await tenant.client.audiences.create(name="People", rows=[person(0), person(1, **cells)], **NAMED)
    ((column, value),) = cells.items()
    (error,) = audience.errors
    assert (audience.valid_count, error.row_number, error.code, error.column) == (1, 2, code, column)
    assert says in error.message
    assert error.value_redacted is not None
    assert len(error.value_redacted) == len(value)


@pytest.mark.service(workers=True)
@pytest.mark.requirement("COLUMN-04")
async def test_the_columns_are_read_from_a_file_and_a_file_without_them_is_refused(tenant: Tenant) -> None:
    audience = await make_audience(tenant, [], **NAMED)
    csv = f"phone_number,rank,earliest,speaks\n{phone(0)},2,2027-03-01,fr\n{phone(1)},x,,\n"
    job = await await_import(tenant, audience.id, csv)
    without = await await_import(tenant, audience.id, f"phone_number\n{phone(2)}\n")
    assert (without.status, without.added) == ("failed", 0)
    assert "priorities from the column" in (without.status_reason or "")
    plain = await await_import(tenant, audience.id, f"phone_number,rank,earliest,speaks\n{phone(2)},,,\n")
    assert (job.added, job.invalid, plain.added) == (1, 1, 1)
    kept = [entry async for entry in tenant.client.audiences.list_rows(id=audience.id)]
    assert [(entry.priority, entry.not_before is None, entry.language) for entry in kept] == [
        (2, False, "fr"),
        (None, True, None),
    ]
