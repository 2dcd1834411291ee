"""Audiences and their rows over the typed client. Imports have a file of their own."""

from random import Random
from typing import Any

import pytest

from tests.support import resources
from tests.support.http.raw_requests import AsyncClient, refused
from tests.support.resources import refusal, row
from tests.support.service import Tenant

TOO_MANY: list[dict[str, Any]] = [{}] * 1_001


@pytest.mark.requirement("PATH-15")
async def test_an_audience_is_made_empty_with_its_defaults(tenant: Tenant) -> None:
    made = await tenant.client.audiences.create(name="Patients")
    assert made.id.startswith("aud_")
    assert (made.status, made.source, made.phone_column, made.dedupe) == ("empty", None, None, "phone")
    assert (made.description, made.columns, made.metadata) == ("", [], {})
    assert (made.row_count, made.valid_count, made.invalid_count, made.duplicate_count) == (0, 0, 0, 0)
    assert (made.default_country, made.timezone_column, made.external_id_column) == (None, None, None)
    assert made.last_imported_at is None
    found = await tenant.client.audiences.get(id=made.id)
    assert found.model_dump(exclude={"revision"}) == made.model_dump(exclude={"revision", "errors"})


@pytest.mark.requirement("RES-16", "PATH-23")
async def test_rows_are_read_counted_and_described(tenant: Tenant) -> None:
    rows: list[dict[str, Any]] = [
        {"Mobile": "(212) 555-0100", "name": "Ada", "age": 36, "member": True, "since": "2026-01-31"},
        {"Mobile": "+44 20 7946 0018", "name": " Bea ", "age": "", "member": False, "since": None},
        {"Mobile": "12", "name": "Short"},
        {"name": "Nobody"},
        {"Mobile": "212-555-0100", "name": "Ada again"},
        {"Mobile": "+12125550101", "name": {"first": "Nested"}},
    ]
    made = await tenant.client.audiences.create(name="Patients", default_country="US", rows=rows)
    listed = [entry async for entry in tenant.client.audiences.list_rows(id=made.id)]
    assert (made.status, made.source, made.phone_column) == ("ready", "json", "Mobile")
    assert (made.row_count, made.valid_count, made.invalid_count, made.duplicate_count) == (6, 2, 3, 1)
    assert [entry.phone_number for entry in listed] == ["+12125550100", "+442079460018"]
    assert [entry.country for entry in listed] == ["US", "GB"]
    assert listed[1].values == {"name": "Bea", "age": "", "member": "false", "since": ""}
    columns = {column.name: column for column in made.columns}
    assert {name: column.type for name, column in columns.items()} == {
        "name": "string",
        "age": "number",
        "member": "boolean",
        "since": "date",
    }
    assert (columns["name"].fill_rate, columns["age"].fill_rate) == (1.0, 0.5)
    assert columns["age"].sample == "36"


async def test_added_rows_report_each_refusal_with_its_number_and_a_masked_value(tenant: Tenant) -> None:
    made = await resources.audience(tenant)
    rows: list[dict[str, Any]] = [row(1), row(0), {"phone_number": "+1212555019999"}, row(1), row(2)]
    taken = await tenant.client.audiences.add_rows(id=made.id, rows=rows)
    assert (taken.audience_id, taken.received, taken.added) == (made.id, 5, 2)
    assert (taken.invalid, taken.duplicates) == (1, 2)
    assert [(error.row_number, error.code) for error in taken.errors] == [
        (2, "duplicate_in_audience"),
        (3, "invalid_phone"),
        (4, "duplicate_in_file"),
    ]
    assert taken.errors[1].value_redacted is not None
    assert "555019" not in taken.errors[1].value_redacted
    after = await tenant.client.audiences.get(id=made.id)
    assert (after.row_count, after.valid_count, after.invalid_count, after.duplicate_count) == (6, 3, 1, 2)


async def test_no_row_is_lost_from_the_count_however_many_are_refused(tenant: Tenant) -> None:
    made = await tenant.client.audiences.create(name="Patients")
    taken = await tenant.client.audiences.add_rows(id=made.id, rows=[{"phone_number": str(i)} for i in range(1_000)])
    assert (taken.received, taken.added, taken.invalid, len(taken.errors)) == (1_000, 0, 1_000, 100)
    after = await tenant.client.audiences.get(id=made.id)
    assert (after.status, after.row_count, after.invalid_count) == ("empty", 1_000, 1_000)


async def test_people_are_told_apart_by_what_the_audience_says(tenant: Tenant) -> None:
    rows = [row(0, id="1"), row(0, id="2"), row(1, id="1"), row(2)]
    create = tenant.client.audiences.create
    by_phone = await create(name="phone", rows=rows)
    by_id = await create(name="id", rows=rows, dedupe="external_id", external_id_column="id")
    not_at_all = await create(name="none", rows=rows, dedupe="none")
    assert [each.valid_count for each in (by_phone, by_id, not_at_all)] == [3, 3, 4]
    assert [each.duplicate_count for each in (by_phone, by_id, not_at_all)] == [1, 1, 0]
    found = (await tenant.client.audiences.list_rows(id=by_id.id, external_id="2")).data
    assert [(entry.external_id, entry.phone_number) for entry in found] == [("2", "+12125550100")]
    again = (await tenant.client.audiences.list_rows(id=not_at_all.id, phone_number="+12125550100")).data
    assert len(again) == 2


async def test_two_notations_of_one_line_are_one_person_and_each_is_kept_as_it_was_given(tenant: Tenant) -> None:
    with_digit: dict[str, Any] = {"phone_number": "+5491123456789"}
    without: dict[str, Any] = {"phone_number": "+541123456789"}
    made = await tenant.client.audiences.create(name="Mendoza", rows=[with_digit, without])
    added = await tenant.client.audiences.add_rows(id=made.id, rows=[without])
    listed = [entry.phone_number async for entry in tenant.client.audiences.list_rows(id=made.id)]
    assert (made.valid_count, made.duplicate_count, listed) == (1, 1, ["+5491123456789"])
    assert (added.added, [error.code for error in added.errors]) == (0, ["duplicate_in_audience"])


async def test_a_time_zone_column_is_read_and_checked(tenant: Tenant) -> None:
    rows = [row(0, zone="Europe/Berlin"), row(1, zone="Nowhere/City"), row(2, zone="")]
    made = await tenant.client.audiences.create(name="Patients", timezone_column="zone", rows=rows)
    listed = [entry.timezone async for entry in tenant.client.audiences.list_rows(id=made.id)]
    assert (listed, made.invalid_count) == (["Europe/Berlin", None], 1)


async def test_steering_columns_are_kept_from_the_variables_and_checked(tenant: Tenant) -> None:
    rows = [row(0, **{"sim.outcome": "busy"}), row(1, **{"sim.outcome": "maybe"}), row(2, **{"sim.mood": "sad"})]
    made = await resources.audience(tenant, rows=[row(9)])
    taken = await tenant.client.audiences.add_rows(id=made.id, rows=rows)
    assert [(error.row_number, error.code, error.column) for error in taken.errors] == [
        (2, "invalid_steering", "sim.outcome"),
        (3, "invalid_steering", "sim.mood"),
    ]
    listed = [entry async for entry in tenant.client.audiences.list_rows(id=made.id)]
    assert [set(entry.values) for entry in listed] == [{"first_name"}] * 2


@pytest.mark.requirement("LIMIT-19", "ERR-52")
@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("name", "", "name"),
        ("description", "x" * 2_001, "description"),
        ("phone_column", "", "phone_column"),
        ("phone_column", "x" * 101, "phone_column"),
        ("default_country", "usa", "default_country"),
        ("default_country", "ZZ", "default_country"),
        ("timezone_column", "a\0", "timezone_column"),
        ("dedupe", "name", "dedupe"),
        ("rows", {"phone_number": "+12125550100"}, "rows"),
        ("rows", ["+12125550100"], "rows.0"),
        ("rows", TOO_MANY, "rows"),
        ("metadata", {"k": 1}, "metadata.k"),
        ("status", "ready", "status"),
    ],
)
async def test_a_bad_field_is_refused_by_name(
    tenant: Tenant, http: AsyncClient, field: str, value: object, named: str
) -> None:
    answer = await http.post("/v1/audiences", json={"name": "Patients", field: value})
    refused(answer, 400, "invalid_field", named)
    assert (await tenant.client.audiences.list()).pagination.total == 0


@pytest.mark.requirement("LIMIT-19")
async def test_rows_to_add_are_one_to_a_thousand(tenant: Tenant, http: AsyncClient) -> None:
    path = f"/v1/audiences/{(await resources.audience(tenant)).id}/rows"
    refused(await http.post(path, json={}), 400, "missing_field", "rows")
    refused(await http.post(path, json={"rows": []}), 400, "invalid_field", "rows")
    refused(await http.post(path, json={"rows": TOO_MANY}), 400, "invalid_field", "rows")


async def test_strange_cells_are_refused_rows_and_never_a_failure(tenant: Tenant) -> None:
    strange: list[dict[str, Any]] = [
        row(0, note="a\0b"),
        row(1, note="x" * 1_001),
        {**row(2), **{str(index): "" for index in range(101)}},
        {**row(3), "\0": ""},
        {**row(4), "list": [1]},
        {" " * 300 + "phone": "+12125550105"},
        {"phone_number": 12125550106},
        {"phone_number": True},
        row(8, **{"": "no name"}),
    ]
    first = await tenant.client.audiences.create(name="Only strange", rows=[strange[5]])
    made = await tenant.client.audiences.create(name="Strange", rows=strange)
    assert made.row_count == len(strange)
    assert made.valid_count + made.invalid_count == len(strange)
    assert first.row_count == 1
    listed = {entry.phone_number async for entry in tenant.client.audiences.list_rows(id=made.id)}
    assert "+12125550105" not in listed


@pytest.mark.requirement("CONV-20", "PATH-23")
async def test_a_change_touches_only_what_it_names(tenant: Tenant, http: AsyncClient) -> None:
    made = await resources.audience(tenant)
    await resources.audience(tenant, "Other")
    changed = await tenant.client.audiences.update(id=made.id, description="From the clinic", metadata={"a": "b"})
    assert (changed.name, changed.description, changed.metadata) == ("Patients", "From the clinic", {"a": "b"})
    assert changed.valid_count == 1
    async with refusal(409, "duplicate_name", "name"):
        await tenant.client.audiences.update(id=made.id, name="Other")
    async with refusal(409, "duplicate_name", "name"):
        await resources.audience(tenant, "Other")
    wrong: dict[str, Any] = {"name": None, "rows": [], "dedupe": "none"}
    for field in wrong:
        answer = await http.patch(f"/v1/audiences/{made.id}", json={field: wrong[field]})
        refused(answer, 400, "invalid_field", field)


@pytest.mark.requirement("PATH-23", "ERR-64")
async def test_an_audience_goes_with_its_rows_unless_a_live_deployment_uses_it(tenant: Tenant) -> None:
    campaign = await resources.draft(tenant)
    audience_id = campaign.audience.id
    await tenant.client.audiences.import_csv(id=audience_id, csv="phone_number\n+12125550107\n")
    async with refusal(409, "audience_in_use") as kept:
        await tenant.client.audiences.delete(id=audience_id)
    assert kept[0].details == {"used_by": campaign.deployment.id}
    await tenant.client.deployments.delete(id=campaign.deployment.id)
    await tenant.client.audiences.delete(id=audience_id)
    async with refusal(404, "not_found"):
        await tenant.client.audiences.get(id=audience_id)
    async with refusal(404, "not_found"):
        await tenant.client.audiences.list_rows(id=audience_id)
    async with refusal(404, "not_found"):
        await tenant.client.audiences.add_rows(id=audience_id, rows=[row()])
    assert (await resources.audience(tenant, campaign.audience.name)).row_count == 1


@pytest.mark.requirement("PATH-15", "FILTER-02", "FILTER-03")
async def test_audiences_are_found_by_name_and_state(tenant: Tenant) -> None:
    full, empty = await resources.audience(tenant, "Full"), await resources.audience(tenant, "Empty", rows=[])
    audiences = tenant.client.audiences
    assert [entry.id async for entry in audiences.list(status=["ready"])] == [full.id]
    assert [entry.id async for entry in audiences.list(status=["empty", "failed"])] == [empty.id]
    assert [entry.id async for entry in audiences.list(name="Full")] == [full.id]
    assert [entry.name async for entry in audiences.list(sort="name")] == ["Empty", "Full"]


@pytest.mark.requirement("RES-22")
async def test_rows_that_are_refused_are_named_when_an_audience_is_made_and_when_rows_are_added(
    http: AsyncClient,
) -> None:
    rows = [row(1), {"phone_number": "212 555 0100", "first_name": "Bea"}, row(1), row(2)]
    made = (await http.post("/v1/audiences", json={"name": "A", "rows": rows})).json()["data"]
    assert (made["row_count"], made["valid_count"], made["invalid_count"]) == (4, 2, 1)
    named = [(error["row_number"], error["column"], error["code"]) for error in made["errors"]]
    assert named == [(2, "phone_number", "ambiguous_country"), (3, None, "duplicate_in_file")]
    assert all(error["message"] for error in made["errors"])
    answer = await http.post(f"/v1/audiences/{made['id']}/rows", json={"rows": rows[1:]})
    added = answer.json()["data"]["errors"]
    assert (added[0]["row_number"], added[0]["code"]) == (1, "ambiguous_country")
    assert (await http.post("/v1/audiences", json={"name": "B"})).json()["data"]["errors"] == []


@pytest.mark.parametrize(
    ("char", "named", "shown"),
    [
        ("\u202e", "U+202E (RIGHT-TO-LEFT OVERRIDE)", "no\\u202ete"),
        ("\u200b", "U+200B (ZERO WIDTH SPACE)", "no\\u200bte"),
        ("\x07", "U+0007", "no\\x07te"),
        ("\u3164", "U+3164 (HANGUL FILLER)", "no\\u3164te"),
        ("\x00", "U+0000", "no\\x00te"),
    ],
)
async def test_a_row_whose_column_has_a_name_that_nobody_sees_whole_is_refused_by_row_and_column(
    char: str, named: str, shown: str, tenant: Tenant, http: AsyncClient
) -> None:
    made = await resources.audience(tenant, rows=[])
    rows: list[Any] = [
        {"phone_number": "+12125550100", "a note\nof two lines": "x"},
        {"phone_number": "1", f"no{char}te": "x"},
    ]
    taken = await tenant.client.audiences.add_rows(id=made.id, rows=rows)
    assert (taken.added, taken.invalid) == (1, 1)
    found = taken.errors[0]
    assert (found.row_number, found.column, found.code) == (2, shown, "bad_column_name")
    words = f"the name of the column must not contain the character {named}, at position 3: people cannot see it"
    assert found.message == words
    for field in ("phone_column", "timezone_column", "external_id_column"):
        answer = await http.post("/v1/audiences", json={"name": "Others", field: f"no{char}te"})
        refused(answer, 400, "invalid_field", field)


@pytest.mark.parametrize("engine", ["sqlite", "postgres"], indirect=True)
async def test_an_own_id_is_as_long_as_an_index_takes_and_a_longer_one_refuses_its_row_alone(tenant: Tenant) -> None:
    chance = Random(5)
    longest, longer, much_longer = (
        "".join(chr(0x4E00 + chance.randrange(20_000)) for _ in range(size)) for size in (666, 667, 1_000)
    )
    rows: list[dict[str, Any]] = [
        {"phone_number": f"+1415555010{at}", "id": own_id} for at, own_id in enumerate((longest, longer, much_longer))
    ]
    made = await tenant.client.audiences.create(name="ids", rows=rows, dedupe="external_id", external_id_column="id")
    assert [(error.row_number, error.code) for error in made.errors] == [(2, "cell_too_long"), (3, "cell_too_long")]
    assert "2000 bytes" in made.errors[0].message
    assert [row.external_id for row in (await tenant.client.audiences.list_rows(id=made.id)).data] == [longest]
