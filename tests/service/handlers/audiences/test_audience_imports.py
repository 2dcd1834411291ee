"""Imports of CSV files over the typed client, with the worker that carries them out."""

from typing import Any

import pytest
from sqlalchemy import Connection, update

from callwright.contract.audiences import AudienceImport, RowError
from callwright.service.tables import schema as storage
from callwright.service.workers import imports
from callwright.service.workers.import_rows import PIECE
from tests.support import resources
from tests.support.http.raw_requests import AsyncClient, refused
from tests.support.imports import carry_out_import
from tests.support.resources import refusal
from tests.support.service import Tenant


async def errors(tenant: Tenant, done: AudienceImport) -> list[RowError]:
    listing = tenant.client.audiences.list_import_errors(id=done.audience_id, import_id=done.id)
    return [error async for error in listing]


@pytest.mark.requirement("PATH-23", "PATH-24")
async def test_an_import_waits_then_fills_the_audience(tenant: Tenant) -> None:
    made = await resources.audience(tenant, rows=[])
    text = '\ufeffphone_number,first_name,note\r\n+12125550100,Ada,"says ""hi"", twice"\r\n+12125550101,"Bea\nB",\r\n'
    waiting = await tenant.client.audiences.import_csv(id=made.id, csv=text)
    assert waiting.id.startswith("imp_")
    assert (waiting.status, waiting.processed, waiting.percent, waiting.total_rows) == ("pending", 0, 0, None)
    assert (await tenant.client.audiences.get(id=made.id)).status == "importing"
    assert await imports.work_on_one(tenant.services, "tests")
    assert not await imports.work_on_one(tenant.services, "tests")
    done = await tenant.client.audiences.get_import(id=made.id, import_id=waiting.id)
    assert (done.status, done.status_reason, done.total_rows, done.processed) == ("completed", None, 2, 2)
    assert (done.percent, done.added, done.invalid, done.duplicates) == (100, 2, 0, 0)
    assert done.completed_at is not None
    after = await tenant.client.audiences.get(id=made.id)
    assert (after.status, after.source, after.valid_count) == ("ready", "csv", 2)
    assert after.last_imported_at is not None
    values = [entry.values async for entry in tenant.client.audiences.list_rows(id=made.id)]
    assert values == [{"first_name": "Ada", "note": 'says "hi", twice'}, {"first_name": "Bea\nB", "note": ""}]


@pytest.mark.requirement("RES-17", "PATH-24")
async def test_bad_rows_up_to_half_never_fail_an_import_and_are_listed_with_their_reason(tenant: Tenant) -> None:
    rows = ("+12125550100,Ada", "nonsense,Bea", ",Cy", "+12125550100,Ada", "+12125550101,Dan,extra", "5550102,Eve")
    more = [f"+121255502{index:02d},Fay" for index in range(2)]
    text = "\n".join(("phone_number,name", *rows, *more))
    done = await carry_out_import(tenant, text)
    assert (done.status, done.added, done.invalid, done.duplicates) == ("completed_with_errors", 3, 4, 1)
    found = await errors(tenant, done)
    assert [(error.row_number, error.code) for error in found] == [
        (2, "invalid_phone"),
        (3, "missing_phone"),
        (4, "duplicate_in_file"),
        (5, "column_count_mismatch"),
        (6, "ambiguous_country"),
    ]
    only = await tenant.client.audiences.list_import_errors(
        id=done.audience_id, import_id=done.id, code="missing_phone"
    )
    assert [error.row_number for error in only.data] == [3]
    assert "nonsense" not in str(found)


@pytest.mark.requirement("RES-21")
@pytest.mark.parametrize("running", [False, True])
async def test_of_a_file_that_is_mostly_bad_no_row_is_taken_and_the_import_says_why(
    tenant: Tenant, running: bool
) -> None:
    bad = ["Ada,+1 212 555", *(f"Person {index},none" for index in range(600))]
    good = [f"Person,+1212555{1_000 + index}" for index in range(600)]
    campaign = await resources.draft(tenant)
    audience_id = campaign.audience.id
    if running:
        await tenant.client.deployments.start(id=campaign.deployment.id)
    done = await carry_out_import(tenant, "\n".join(("name,phone_number", *good, *bad)), audience_id=audience_id)
    assert (done.status, done.added, done.invalid, done.duplicates) == ("failed", 0, 601, 0)
    assert (done.total_rows, done.processed, done.percent) == (1_201, 1_201, 100)
    assert done.status_reason == (
        "601 of 1,201 rows are bad, which is more than half, so none was taken. list_import_errors says what is "
        "wrong with them. Numbers were read from the column phone_number. Correct the file and import it again; if the "
        "column or the country is wrong, first set phone_column or default_country with update_audience, which works "
        "while the audience is empty."
    )
    assert [error.row_number for error in await errors(tenant, done)] == list(range(601, 1_202))
    after = await tenant.client.audiences.get(id=audience_id)
    assert (after.status, after.valid_count, after.invalid_count) == ("ready", 1, 0)
    assert (await tenant.client.deployments.get(id=campaign.deployment.id)).stats.contacts == (1 if running else 0)
    half = await carry_out_import(
        tenant, "\n".join(("name,phone_number", *good[:601], *bad[:600])), audience_id=audience_id
    )
    assert (half.status, half.added) == ("completed_with_errors", 600)


@pytest.mark.requirement("RES-21")
async def test_duplicates_are_not_bad_rows(tenant: Tenant) -> None:
    done = await carry_out_import(tenant, "phone_number\n" + "+12125550100\n" * 9)
    assert (done.status, done.added, done.duplicates) == ("completed_with_errors", 1, 8)


async def test_empty_rows_below_the_last_one_are_no_rows(tenant: Tenant) -> None:
    done = await carry_out_import(tenant, "phone_number,name\n+12125550101,Ada\n" + " ,\n,,\n" * 12)
    assert (done.status, done.added) == ("completed", 1)


async def test_a_double_row_far_behind_the_first_says_that_both_may_stand_in_the_file(tenant: Tenant) -> None:
    numbers = [f"+1212555{number:04d}" for number in range(100, 100 + PIECE)]
    done = await carry_out_import(tenant, "\n".join(("phone_number", *numbers, numbers[0])))
    (error,) = await errors(tenant, done)
    assert (error.row_number, error.code) == (PIECE + 1, "duplicate_in_audience")
    assert error.message == (
        "the audience has this person already, from before or from an earlier row of the same file"
    )


async def test_rows_of_a_long_file_keep_their_numbers_over_all_its_pieces(tenant: Tenant) -> None:
    lines = [f"+1212555{number:04d}" if number % 7 else "bad" for number in range(100, 1_300)]
    done = await carry_out_import(tenant, "phone_number\n" + "\n".join(lines))
    found = await errors(tenant, done)
    expected = [index for index, line in enumerate(lines, 1) if line == "bad"]
    assert [error.row_number for error in found if error.row_number in expected] == expected
    assert {error.code for error in found if error.row_number in expected} == {"invalid_phone"}
    assert (done.total_rows, done.processed) == (1_200, 1_200)
    assert done.added + done.invalid + done.duplicates == 1_200


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("phone_number,name\n", "data row"),
        ("phone_number,name", "data row"),
        ("\n\n\n", "it is empty; the first row has to name the columns"),
        ("\x7fELF\x02\x01\x01", "data row"),
        ("Name;Ort\nAda;Köln\n", "no column looks like one of telephone numbers; it has Name, Ort. Name the column"),
        (
            "+12125550100,Ada\n+12125550101,Bob\n",
            "column 1 of it is a telephone number; put a row with",
        ),
        ("phone_number,phone_number\n+12125550100,+12125550101\n", "columns 1 and 2 of the header have the same name"),
        ("phone_number,,note\n+12125550100,x,y\n", "column 2 has no name in the header"),
        (",".join(f"c{index}" for index in range(101)) + "\nx\n", "the header has 101 columns; at most 100"),
        (f"phone_number,{'c' * 101}\n+12125550100,x\n", "the name of column 2 has more than 100 characters"),
        ("phone_number,a\u202eb\n+12125550100,x\n", "the name of column 2 must not contain the character U+202E ("),
        ("phone_number,a\u0378b\n+12125550100,x\n", "the name of column 2 must not contain the character U+0378, at"),
        (
            'phone_number,note\n+12125550100,"x\n',
            "the row that begins in line 2 has a quotation mark",
        ),
        ('phone_number,name\n+12125550100,Ada\n+12125550101,"open\n', "the row that begins in line 3 has a"),
    ],
)
async def test_a_file_that_cannot_be_read_fails_with_a_reason(tenant: Tenant, text: str, reason: str) -> None:
    done = await carry_out_import(tenant, text)
    assert (done.status, done.added, done.percent) == ("failed", 0, 100)
    assert reason in (done.status_reason or "")
    assert (await tenant.client.audiences.get(id=done.audience_id)).status == "failed"
    again = await carry_out_import(tenant, "phone_number\n+12125550100\n", audience_id=done.audience_id)
    assert again.status == "completed"
    assert (await tenant.client.audiences.get(id=done.audience_id)).status == "ready"


async def test_a_failed_import_leaves_a_filled_audience_as_it_was(tenant: Tenant) -> None:
    made = await resources.audience(tenant)
    assert (await carry_out_import(tenant, "only a header", audience_id=made.id)).status == "failed"
    after = await tenant.client.audiences.get(id=made.id)
    assert (after.status, after.valid_count) == ("ready", 1)


async def test_two_imports_into_one_audience_add_up(tenant: Tenant) -> None:
    made = await resources.audience(tenant, rows=[])
    await tenant.client.audiences.import_csv(id=made.id, csv="phone\n+12125550100\n+12125550101\n")
    second = await carry_out_import(tenant, "phone\n+12125550101\n+12125550102\n", audience_id=made.id)
    assert (second.added, second.duplicates) == (1, 1)
    assert [error.code for error in await errors(tenant, second)] == ["duplicate_in_audience"]
    assert (await tenant.client.audiences.get(id=made.id)).valid_count == 3


async def test_what_cannot_be_a_file_is_refused_at_once(tenant: Tenant, http: AsyncClient) -> None:
    path = f"/v1/audiences/{(await resources.audience(tenant)).id}/imports"
    answer = await http.post(path, json={"csv": "phone\n1\n", "file": "cGhvbmUKMQo="})
    assert "give either the text of a file as csv" in refused(answer, 400, "invalid_field", "body")["message"]
    refused(await http.post(path, json={"file": "not base64!"}), 400, "invalid_field", "file")
    assert (await http.post(path, json={"csv": "phone\n1\n", "file": None})).status_code == 202
    for value in ("", "a\0b", 7, ["a"]):
        refused(await http.post(path, json={"csv": value}), 400, "invalid_field", "csv")
    refused(await http.post(path, json={"csv": "x" * 1_000_000}), 413, "payload_too_large")


async def test_an_import_belongs_to_its_audience(tenant: Tenant) -> None:
    done = await carry_out_import(tenant, "phone\n+12125550100\nx\n")
    other = await resources.audience(tenant, "Other")
    async with refusal(404, "not_found"):
        await tenant.client.audiences.get_import(id=other.id, import_id=done.id)
    async with refusal(404, "not_found"):
        await tenant.client.audiences.list_import_errors(id=other.id, import_id=done.id)
    async with refusal(404, "not_found"):
        await tenant.client.audiences.get_import(id=done.audience_id, import_id="imp_unknown")


async def test_an_audience_names_its_newest_import(tenant: Tenant) -> None:
    def put_later(connection: Connection, import_id: str) -> None:
        row = storage.imports
        connection.execute(update(row).where(row.c.id == import_id).values(created_at=row.c.created_at + 60_000))

    first, other = await resources.audience(tenant), await resources.audience(tenant, "Others")
    assert first.last_import_id is None
    made = [await tenant.client.audiences.import_csv(id=first.id, csv="phone_number\n1\n") for _ in range(3)]
    await tenant.database.write(put_later, made[1].id)
    assert (await tenant.client.audiences.get(id=first.id)).last_import_id == made[1].id
    listed = {entry.id: entry.last_import_id for entry in (await tenant.client.audiences.list()).data}
    assert listed == {first.id: made[1].id, other.id: None}


async def test_a_start_says_why_its_audience_has_nobody(tenant: Tenant) -> None:
    campaign = await resources.draft(tenant)
    failed, invalid = [await resources.audience(tenant, name, rows=[]) for name in ("Failed", "Invalid")]
    done = await carry_out_import(tenant, "phone_number,first_name", audience_id=failed.id)
    await tenant.client.audiences.add_rows(id=invalid.id, rows=[{"phone_number": "none", "first_name": "Ada"}] * 2)
    expected = {
        failed.id: f"the audience has no rows: its import {done.id} failed: {done.status_reason}",
        invalid.id: "the audience has no row that can be called: all 2 that it was given were refused",
    }
    for audience_id, said in expected.items():
        await tenant.client.deployments.update(id=campaign.deployment.id, audience_id=audience_id)
        async with refusal(422, "audience_not_ready") as kept:
            await tenant.client.deployments.start(id=campaign.deployment.id)
        assert kept[0].message == said


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("phone_number;first_name\n+12125550100;Ada\n", "semicolons"),
        ('\ufeffTelefon;"Name, Vorname"\n+12125550100;Ada\n', "semicolons"),
        ("sep=;\nphone_number;first_name\n+12125550100;Ada\n", "semicolons"),
        ("phone_number\tfirst_name\n+12125550100\tAda\n", "tabs"),
        ("phone_number|first_name\n+12125550100|Ada\n", "vertical bars"),
        ("phone_number;Name, first;Street, house\n+12125550100;Ada;x\n", "semicolons"),
        ("\r\nphone_number;first_name\r+12125550100;Ada\r", "semicolons"),
    ],
)
async def test_columns_may_be_separated_by_what_spreadsheets_write(text: str, named: str, tenant: Tenant) -> None:
    done = await carry_out_import(tenant, text)
    assert (done.status, done.added, done.read_as) == ("completed", 1, f"CSV, UTF-8, {named}")


@pytest.mark.requirement("RES-21")
async def test_a_missing_phone_column_is_named_with_those_that_are_there_and_can_be_corrected(tenant: Tenant) -> None:
    made = await tenant.client.audiences.create(name="Kunden", phone_column="Mobil", default_country="DE")
    text = "Name;Telefon privat;Telefon\nMüller;;0171 2345678\n"
    done = await carry_out_import(tenant, text, audience_id=made.id)
    assert (done.status, done.status_reason) == (
        "failed",
        "the audience reads numbers from the column Mobil, which the file has not; it has Name, Telefon privat, "
        "Telefon. Name one of them as phone_column with update_audience, or correct the header, and import it again",
    )
    changed = await tenant.client.audiences.update(id=made.id, phone_column="telefon")
    assert changed.phone_column == "telefon"
    done = await carry_out_import(tenant, text, audience_id=made.id)
    assert (done.status, done.added) == ("completed", 1)
    async with refusal(400, "invalid_field", "phone_column"):
        await tenant.client.audiences.update(id=made.id, phone_column="Telefon privat")
    async with refusal(400, "invalid_field", "default_country"):
        await tenant.client.audiences.update(id=made.id, default_country="AT")
    same = await tenant.client.audiences.update(id=made.id, phone_column="telefon", name="Alle Kunden")
    assert (same.name, same.valid_count) == ("Alle Kunden", 1)


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("external_id_column", "own ids"),
        ("priority_column", "priorities"),
        ("not_before_column", "the time before which nobody calls"),
        ("language_column", "languages"),
        ("timezone_column", "time zones"),
    ],
)
async def test_a_file_without_a_column_that_the_audience_was_told_to_read_is_refused(
    field: str, said: str, tenant: Tenant
) -> None:
    """Its people would be called too early, at the wrong hour or twice."""
    named: dict[str, Any] = {field: "Start At"}
    made = await tenant.client.audiences.create(name="Customers", **named)
    done = await carry_out_import(tenant, "Name,Phone\nAda,+12025550100\n", audience_id=made.id)
    assert (done.status, done.added) == ("failed", 0)
    assert (done.status_reason or "").startswith(
        f"the audience reads {said} from the column Start At, which the file has not; it has Name, Phone. Correct"
    )
    done = await carry_out_import(tenant, "Name,Phone,start_at\nAda,+12025550100,\n", audience_id=made.id)
    assert (done.status, done.added) == ("completed", 1)


async def test_a_column_of_time_zones_that_was_found_by_itself_may_be_missing_in_the_next_file(tenant: Tenant) -> None:
    made = await tenant.client.audiences.create(name="Customers")
    text = "Phone,Time zone\n+12025550100,Europe/Berlin\n"
    assert (await carry_out_import(tenant, text, audience_id=made.id)).added == 1
    assert (await tenant.client.audiences.get(id=made.id)).timezone_column == "Time zone"
    assert (await carry_out_import(tenant, "Phone\n+12025550101\n", audience_id=made.id)).added == 1


@pytest.mark.parametrize("name", ["ID", "id", " Id "])
async def test_the_column_of_own_ids_is_found_whatever_its_case(name: str, tenant: Tenant) -> None:
    made = await tenant.client.audiences.create(name="Customers", external_id_column="iD", dedupe="external_id")
    text = f"{name},Phone\n1,+12025550100\n1,+12025550101\n2,+12025550102\n"
    done = await carry_out_import(tenant, text, audience_id=made.id)
    assert (done.added, done.duplicates) == (2, 1)
    assert [row.external_id async for row in tenant.client.audiences.list_rows(id=made.id)] == ["1", "2"]


async def test_null_lets_an_empty_audience_find_its_phone_column_again(tenant: Tenant, http: AsyncClient) -> None:
    made = await tenant.client.audiences.create(name="Kunden", phone_column="Mobil", default_country="DE")
    answer = await http.patch(f"/v1/audiences/{made.id}", json={"phone_column": None, "default_country": "AT"})
    assert (answer.status_code, answer.json()["data"]["default_country"]) == (200, "AT")
    done = await carry_out_import(tenant, "Name;Handy\nÖzgür;0664 1234567\n", audience_id=made.id)
    assert done.added == 1
    answer = await http.patch(f"/v1/audiences/{made.id}", json={"default_country": "XX"})
    refused(answer, 400, "invalid_field", "default_country")


async def test_semicolons_inside_a_file_with_commas_do_no_harm(tenant: Tenant) -> None:
    done = await carry_out_import(tenant, 'phone_number,"note;a;b"\n+12125550100,x;y;z\n')
    assert (done.status, done.added) == ("completed", 1)
    assert (await carry_out_import(tenant, "phone_number\n+12125550100\n")).added == 1
    for header in ("phone,note;a;b;c", "first_name,x;y;z,phone", "phone_number,a|b|c"):
        width = 3 if header.startswith("first_name") else 2
        done = await carry_out_import(tenant, f"{header}\n{','.join(['+12125550100'] * width)}\n")
        assert (done.status, done.added) == ("completed", 1), header


async def test_refused_rows_of_a_file_have_the_own_id_of_the_person(tenant: Tenant) -> None:
    audience = await tenant.client.audiences.create(name="Customers", external_id_column="customer")
    rows = ("K-1,+12125550100,Monday", "K-2,none,Monday", "K-3,+12125550100,Friday", "K-4,,")
    for text, expected in (
        ("\n".join(("customer,phone_number,day", *rows, *(f"K-9{n},+1212555020{n}," for n in range(3)))), 3),
        ("customer,phone_number,day\nK-5,+12125550100,Sunday\n", 1),
    ):
        done = await carry_out_import(tenant, text, audience_id=audience.id)
        found = await errors(tenant, done)
        assert len(found) == expected
        said = {error.external_id: error.message for error in found}
        assert set(said) == ({"K-2", "K-3", "K-4"} if expected == 3 else {"K-5"})
        if expected == 3:
            assert said["K-3"] == "row 1 has the same number, with another day"


async def test_a_written_number_that_lacks_the_0_of_its_country_refuses_its_row_alone(tenant: Tenant) -> None:
    made = await tenant.client.audiences.create(name="Kunden", default_country="DE")
    text = "Name;Telefon\nAda;4711-123456\nBea;0171 2345678\nCid;1712345679\nDora;+49 171 2345670\n"
    done = await carry_out_import(tenant, text, audience_id=made.id)
    assert (done.status, done.added, done.invalid) == ("completed_with_errors", 3, 1)
    [wrong] = await errors(tenant, done)
    assert (wrong.code, wrong.row_number) == ("invalid_phone", 1)
    assert wrong.message.startswith("the number lacks the 0 in front of it; write it with the 0 or from + on")
