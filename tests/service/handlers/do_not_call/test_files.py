"""Files of the do-not-call list: imported in any usual form, refused row by row, exported and imported again."""

import csv
import io
from datetime import timedelta
from typing import Any

import pytest

from callwright.service.dialling.eligibility import do_not_call as eligibility
from callwright.service.handlers import do_not_call as handler
from callwright.service.platform.clock.clock import DAY, moment
from tests.support.campaigns import people, phone, run
from tests.support.do_not_call import add, listed
from tests.support.http.raw_requests import AsyncClient, refused
from tests.support.service import Tenant

pytestmark = pytest.mark.requirement("DNC-06")
HEADING = ["number", "reason", "created_at", "expires_at", "source_call_id", "simulated", "note"]


async def exported(tenant: Tenant, **filters: Any) -> list[list[str]]:
    """The rows of an export, the heading first."""
    async with tenant.client.do_not_call.export(**filters) as download:
        assert download.media_type == "text/csv"
        return list(csv.reader(io.StringIO((await download.read(10_000_000)).decode("utf-8-sig"))))


async def test_a_file_as_a_spreadsheet_writes_it_is_read_with_its_columns_and_bad_rows_are_named_by_line(
    tenant: Tenant,
) -> None:
    text = (
        "Name;Telefon;Reason;Note;Expires_at\n"
        "Ada;0151 23456789;regulator;from May;\n"
        '"Bob\nSmith";12;;;\n'
        "Cid;+12025;;;\n"
        "Dan;+12025550143;;;2999-01-01T00:00:00Z\n"
        "Eve;+12025550144\n"
        "Fay;+12025550145;;;2001-01-01T00:00:00Z\n"
    )
    answer = await tenant.client.do_not_call.import_csv(csv=text, default_country="DE", reason="requested")
    assert (answer.received, answer.added, answer.refused) == (6, 2, 4)
    assert answer.read_as == "CSV, UTF-8, semicolons"
    assert [(one.row_number, one.line, one.field, one.code) for one in answer.errors] == [
        (2, 3, "number", "invalid_phone"),
        (3, 5, "number", "invalid_phone"),
        (5, 7, "row", "column_count_mismatch"),
        (6, 8, "expires_at", "already_over"),
    ]
    found = {entry.number: entry async for entry in tenant.client.do_not_call.list()}
    assert (found["+4915123456789"].reason, found["+4915123456789"].note) == ("regulator", "from May")
    assert (found["+12025550143"].reason, found["+12025550143"].expires_at is None) == ("requested", False)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("+12025550142\n+12025550143\n", "put a row with the names first"),
        ("number\n", "at least one data row"),
        ("name\nAda\n", "number_column"),
        ('number\n"+12025550142\n', "quotation mark"),
    ],
)
async def test_a_file_that_cannot_be_read_is_refused_with_the_remedy_and_nothing_is_added(
    text: str, words: str, tenant: Tenant, http: AsyncClient
) -> None:
    answer = await http.post("/v1/do_not_call/imports", json={"csv": text})
    assert words in refused(answer, 400, "invalid_field", "csv")["message"]
    assert (await tenant.client.do_not_call.list()).data == []


async def test_an_import_that_is_sent_again_with_its_key_is_answered_as_before(http: AsyncClient) -> None:
    body, headers = {"csv": f"number\n{phone(0)}\n"}, {"Idempotency-Key": "list-1"}
    first = await http.post("/v1/do_not_call/imports", json=body, headers=headers)
    again = await http.post("/v1/do_not_call/imports", json=body, headers=headers)
    assert (first.status_code, first.json()) == (201, again.json())
    assert again.headers["idempotent-replayed"] == "true"


async def test_a_country_without_numbers_is_refused_before_the_file_is_read(http: AsyncClient) -> None:
    answer = await http.post("/v1/do_not_call/imports", json={"csv": "number\n1\n", "default_country": "ZZ"})
    refused(answer, 400, "invalid_field", "default_country")


@pytest.mark.requirement("DNC-04")
@pytest.mark.service(workers=True)
async def test_an_export_can_be_imported_and_simulated_opt_outs_in_it_never_enter_the_real_list(
    other: Tenant, tenant: Tenant
) -> None:
    await run(tenant, people(1, sim_outcome="answered", sim_intent="opt_out"))
    await add(tenant, [{"number": phone(1), "reason": "litigator"}])
    rows = await exported(tenant)
    assert rows[0] == HEADING
    assert {(row[0], row[1], row[5]) for row in rows[1:]} == {
        (phone(0), "opted_out", "true"),
        (phone(1), "litigator", "false"),
    }
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    answer = await other.client.do_not_call.import_csv(csv=out.getvalue())
    assert (answer.added, answer.refused) == (1, 1)
    assert (answer.errors[0].field, answer.errors[0].code) == ("simulated", "other_list")
    assert "simulated=true" in answer.errors[0].message
    real = [(entry.number, entry.reason) async for entry in other.client.do_not_call.list(simulated=False)]
    assert real == [(phone(1), "litigator")]
    assert [row[0] for row in (await exported(tenant, simulated=True))[1:]] == [phone(0)]


async def test_an_export_that_is_imported_gives_the_same_list_with_its_notes(other: Tenant, tenant: Tenant) -> None:
    ends = moment(tenant.services.clock.now_ms()) + timedelta(days=90)
    given: list[dict[str, Any]] = [
        {"number": phone(0), "reason": "litigator", "note": 'Her lawyer, "Ames & Co";\nby letter'},
        {"number": phone(1), "note": "until May", "expires_at": ends},
        {"number": phone(2)},
    ]
    await add(tenant, given)
    out = io.StringIO()
    csv.writer(out).writerows(await exported(tenant))
    answer = await other.client.do_not_call.import_csv(csv=out.getvalue())
    assert (answer.added, answer.refused, answer.notices) == (3, 0, [])

    async def whole(of: Tenant) -> list[tuple[Any, ...]]:
        found = await listed(of)
        return sorted((one.number, one.reason, one.note, str(one.expires_at), one.simulated) for one in found)

    assert await whole(other) == await whole(tenant)


async def test_an_export_of_several_pages_has_each_entry_once_newest_first(
    monkeypatch: pytest.MonkeyPatch, tenant: Tenant
) -> None:
    monkeypatch.setattr(handler, "EXPORT_PAGE", 4)
    for begin in (0, 8):
        wanted = [{"number": phone(index)} for index in range(begin, begin + 8)]
        await add(tenant, wanted)
    rows = (await exported(tenant))[1:]
    assert sorted(row[0] for row in rows) == [phone(index) for index in range(16)]
    assert [row[2] for row in rows] == sorted((row[2] for row in rows), reverse=True)


async def test_a_file_of_several_statements_adds_and_extends_each_number_once_and_entries_keep_their_ids(
    monkeypatch: pytest.MonkeyPatch, other: Tenant, tenant: Tenant
) -> None:
    monkeypatch.setattr(eligibility, "_PART", 2)
    await add(other, [{"number": phone(0), "expires_at": moment(tenant.services.clock.now_ms() + DAY)}])
    ends = "number,expires_at,note\n" + "".join(f"{phone(index)},2999-01-01,first\n" for index in range(5))
    assert (await tenant.client.do_not_call.import_csv(csv=ends)).added == 5
    before = {entry.number: entry.id for entry in await listed(tenant)}
    again = "number,note\n" + "".join(f"{phone(index)},second\n" for index in range(7))
    answer = await tenant.client.do_not_call.import_csv(csv=again, reason="litigator")
    assert (answer.added, answer.extended, answer.already_there) == (2, 5, 0)
    after = await listed(tenant)
    assert {(entry.reason, entry.note, entry.expires_at, entry.simulated) for entry in after} == {
        ("litigator", "second", None, False)
    }
    assert {entry.number: entry.id for entry in after}.items() >= before.items()
    assert len(after) == 7
    assert [entry.reason for entry in await listed(other)] == ["requested"]


async def test_an_empty_list_is_exported_as_its_heading(tenant: Tenant) -> None:
    assert await exported(tenant) == [HEADING]


async def test_an_export_has_a_tag_and_parts_and_leaves_no_file_behind(tenant: Tenant, http: AsyncClient) -> None:
    await add(tenant, [{"number": phone(0)}])
    whole = await http.get("/v1/do_not_call/export")
    assert (whole.status_code, whole.headers["content-type"]) == (200, "text/csv; charset=utf-8")
    same = await http.get("/v1/do_not_call/export", headers={"If-None-Match": whole.headers["etag"]})
    assert (same.status_code, same.content) == (304, b"")
    part = await http.get("/v1/do_not_call/export", headers={"Range": "bytes=3-8"})
    assert (part.status_code, part.content) == (206, b"number")
    beyond = await http.get("/v1/do_not_call/export", headers={"Range": "bytes=100000-"})
    refused(beyond, 416, "range_not_satisfiable")
    folder = tenant.services.settings.data / "tables"
    assert folder.is_dir()
    assert list(folder.iterdir()) == []


async def test_a_file_with_more_than_a_request_may_hold_is_refused(http: AsyncClient) -> None:
    answer = await http.post("/v1/do_not_call/imports", json={"csv": "number\n" + "x" * 1_000_000})
    refused(answer, 413, "payload_too_large")
