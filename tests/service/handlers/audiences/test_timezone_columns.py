"""The column of time zones: found by its name, and read as people write zones."""

from typing import Any

import pytest
from httpx import AsyncClient

from tests.support import resources
from tests.support.campaigns import make_audience, phone
from tests.support.imports import await_import
from tests.support.resources import row
from tests.support.service import Tenant

NEW_YORK = "America/New_York"


async def zones(tenant: Tenant, audience_id: str) -> list[str | None]:
    """The time zones that are kept of the rows of an audience."""
    return [entry.timezone async for entry in tenant.client.audiences.list_rows(id=audience_id)]


@pytest.mark.parametrize(
    "name", ["timezone", "Time Zone", "time_zone", "TZ", "Zeitzone", "Fuseau horaire", "zona horaria", "TimeZone"]
)
async def test_a_column_named_for_time_zones_is_used_as_if_it_had_been_given(tenant: Tenant, name: str) -> None:
    rows = [row(0, **{name: "Asia/Tokyo"}), row(1, **{name: ""}), row(2, **{name: "Mars/Base"})]
    made = await tenant.client.audiences.create(name="Patients", rows=rows)
    assert made.timezone_column == name
    assert await zones(tenant, made.id) == ["Asia/Tokyo", None]
    assert [(error.code, error.column) for error in made.errors] == [("invalid_timezone", name)]
    assert NEW_YORK in made.errors[0].message


async def test_a_column_that_was_given_wins_over_one_of_the_usual_name_and_may_differ_in_case(tenant: Tenant) -> None:
    rows = [row(0, Clock="Asia/Tokyo", timezone="Europe/Paris")]
    made = await tenant.client.audiences.create(name="Patients", timezone_column="clock", rows=rows)
    assert (made.timezone_column, await zones(tenant, made.id)) == ("clock", ["Asia/Tokyo"])


async def test_rows_that_are_added_later_may_be_the_first_with_a_time_zone(tenant: Tenant) -> None:
    made = await tenant.client.audiences.create(name="Patients", rows=[row(0)])
    assert made.timezone_column is None
    await tenant.client.audiences.add_rows(id=made.id, rows=[row(1, tz="Asia/Tokyo")])
    await tenant.client.audiences.add_rows(id=made.id, rows=[row(2, TZ="Europe/Paris")])
    assert (await tenant.client.audiences.get(id=made.id)).timezone_column == "tz"
    assert await zones(tenant, made.id) == [None, "Asia/Tokyo", "Europe/Paris"]


@pytest.mark.service(workers=True)
async def test_a_file_with_a_column_of_time_zones_sets_it_for_the_audience(tenant: Tenant) -> None:
    audience = await make_audience(tenant, [])
    csv = f"phone_number,Timezone\n{phone(0)},asia/tokyo\n{phone(1)},\n{phone(2)},nowhere\n"
    job = await await_import(tenant, audience.id, csv)
    assert (job.added, job.invalid) == (2, 1)
    assert (await tenant.client.audiences.get(id=audience.id)).timezone_column == "Timezone"
    assert await zones(tenant, audience.id) == ["Asia/Tokyo", None]


@pytest.mark.service(workers=True)
async def test_a_file_whose_time_zones_are_mostly_none_is_refused_with_the_name_of_the_column(tenant: Tenant) -> None:
    audience = await make_audience(tenant, [])
    job = await await_import(tenant, audience.id, f"phone_number,tz\n{phone(0)},-5\n{phone(1)},-6\n{phone(2)},\n")
    assert job.status == "failed"
    assert job.status_reason is not None
    assert "Time zones were read from the column tz: write names such as America/New_York" in job.status_reason


@pytest.mark.parametrize(("written", "accepted"), [("asia/tokyo", True), ("Mars/Base", False)])
async def test_a_time_zone_among_the_variables_of_one_call_is_read_too(
    tenant: Tenant, http: AsyncClient, written: str, accepted: bool
) -> None:
    agent, number = await resources.agent(tenant), await resources.number(tenant)
    answer = await http.post(
        "/v1/calls",
        json={
            "agent_id": agent.id,
            "phone_number_id": number.id,
            "to": "+12125550100",
            "variables": {"first_name": "Ada", "timezone": written},
        },
    )
    assert answer.is_success is accepted
    if accepted:
        listed: Any = [entry async for entry in tenant.client.audiences.list()]
        assert await zones(tenant, listed[0].id) == ["Asia/Tokyo"]
    else:
        assert NEW_YORK in answer.text


@pytest.mark.parametrize(
    ("written", "zone"),
    [
        ("EST", NEW_YORK),
        ("edt", NEW_YORK),
        ("ET", NEW_YORK),
        ("Eastern Time", NEW_YORK),
        ("Eastern Standard Time", NEW_YORK),
        ("Central", "America/Chicago"),
        ("CDT", "America/Chicago"),
        ("MST", "America/Denver"),
        ("Pacific Time (US & Canada)", "America/Los_Angeles"),
        ("(GMT-08:00) Pacific Time (US & Canada)", "America/Los_Angeles"),
        ("PST", "America/Los_Angeles"),
        ("AKDT", "America/Anchorage"),
        ("HST", "Pacific/Honolulu"),
        ("america/los_angeles", "America/Los_Angeles"),
        ("America/Los Angeles", "America/Los_Angeles"),
    ],
)
async def test_abbreviations_of_north_america_are_its_time_zones_for_its_numbers(
    tenant: Tenant, written: str, zone: str
) -> None:
    made = await tenant.client.audiences.create(name="Patients", rows=[row(0, timezone=written)])
    assert await zones(tenant, made.id) == [zone]


@pytest.mark.parametrize("written", ["EST", "MST", "HST", "PST", "Central", "localtime", "Factory", "posixrules"])
async def test_abbreviations_and_entries_that_are_no_zone_are_refused_for_other_numbers(
    tenant: Tenant, written: str
) -> None:
    rows: list[Any] = [{"phone_number": "+61412345678", "timezone": written}]
    made = await tenant.client.audiences.create(name="Patients", rows=rows)
    assert [error.code for error in made.errors] == ["invalid_timezone"]


@pytest.mark.parametrize("written", ["localtime", "Factory", "posixrules"])
async def test_entries_that_are_no_zone_are_refused_for_numbers_of_north_america_and_calling_hours(
    tenant: Tenant, http: AsyncClient, written: str
) -> None:
    made = await tenant.client.audiences.create(name="Patients", rows=[row(0, timezone=written)])
    assert [error.code for error in made.errors] == ["invalid_timezone"]
    window = {"days": ["mon"], "start": "09:00", "end": "17:00"}
    hours = {"timezone_mode": "fixed", "timezone": written, "windows": [window]}
    answer = await http.post("/v1/deployments", json={"name": "Campaign", "calling_hours": hours})
    assert answer.status_code == 400
    assert "must be an IANA time zone" in answer.text
