"""CSV files into audiences: what is read, what is refused and why, and what a crash does."""

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import update

from callwright.contract.audiences import AudienceImport
from callwright.service.platform.ids import Ids
from callwright.service.rules import rows as row_rules
from callwright.service.tables.schema import imports as import_table
from callwright.service.workers import imports
from callwright.service.workers.row_readers import ALONE_BELOW
from tests.support.campaign_invariants import campaign_records, check_counters
from tests.support.campaigns import Interrupted, audience_of, ended_by_workers, make_audience, people, phone, started
from tests.support.database.databases import Engine
from tests.support.imports import FailingIds, await_import
from tests.support.service import Tenant


async def refused(tenant: Tenant, job: AudienceImport) -> list[tuple[int, str, str | None]]:
    """The refused rows of an import: number, code, column."""
    listed = tenant.client.audiences.list_import_errors(id=job.audience_id, import_id=job.id)
    return [(error.row_number, error.code, error.column) async for error in listed]


async def cells(tenant: Tenant, audience_id: str) -> list[tuple[str, dict[str, str]]]:
    return [(row.phone_number, row.values) async for row in tenant.client.audiences.list_rows(id=audience_id)]


def csv_of(count: int) -> str:
    return "phone_number,first_name\n" + "".join(f"{phone(index)},Person {index}\n" for index in range(count))


@pytest.mark.service(workers=True)
async def test_a_file_becomes_an_audience_that_can_be_called(tenant: Tenant) -> None:
    audience = await make_audience(tenant, [])
    job = await await_import(tenant, audience.id, csv_of(1_234))
    assert (job.status, job.total_rows, job.processed, job.percent) == ("completed", 1_234, 1_234, 100)
    assert (job.added, job.invalid, job.duplicates) == (1_234, 0, 0)
    ready = await tenant.client.audiences.get(id=audience.id)
    assert (ready.status, ready.source, ready.valid_count, ready.row_count) == ("ready", "csv", 1_234, 1_234)
    rows = await cells(tenant, audience.id)
    assert rows == [(phone(index), {"first_name": f"Person {index}"}) for index in range(1_234)]


@pytest.mark.parametrize(
    "csv",
    [
        'phone_number,note\r\n+14155550100,"said ""no, thanks"",\nthen hung up"\r\n',
        '\ufeffphone_number,note\n+14155550100,"said ""no, thanks"",\nthen hung up"\n',
        '\n\nphone_number,note\n\n+14155550100,"said ""no, thanks"",\nthen hung up"',
        'Phone Number,note\n"+1 (415) 555-0100","said ""no, thanks"",\nthen hung up"\n',
    ],
    ids=["crlf", "bom", "blank lines", "other words"],
)
@pytest.mark.service(workers=True)
async def test_quotes_line_ends_and_a_bom_are_read(tenant: Tenant, csv: str) -> None:
    audience = await make_audience(tenant, [])
    assert (await await_import(tenant, audience.id, csv)).status == "completed"
    ((number, values),) = await cells(tenant, audience.id)
    assert number == "+14155550100"
    assert values == {"note": 'said "no, thanks",\nthen hung up'}


BAD_ROWS: list[tuple[str, str, str | None]] = [
    (",x,,,", "missing_phone", "phone_number"),
    ("hello,x,,,", "invalid_phone", "phone_number"),
    ("+1415,x,,,", "invalid_phone", "phone_number"),
    ("+19005550100,x,,,", "not_dialable", "phone_number"),
    ("+14155550100,again,,,", "duplicate_in_file", None),
    ("+14155550199,again,,,", "duplicate_in_audience", None),
    ("+14155550102,too,many,cells,here,now", "column_count_mismatch", None),
    ("+14155550103", "column_count_mismatch", None),
    (f"+14155550104,{'x' * 1_001},,,", "cell_too_long", "note"),
    ("+14155550105,x,Mars/Olympus,,", "invalid_timezone", "zone"),
    ("+14155550106,x,,often,", "invalid_steering", "sim.outcome"),
]


@pytest.mark.service(workers=True)
async def test_each_bad_row_is_refused_with_its_reason_and_the_others_are_taken(tenant: Tenant) -> None:
    lines = ["phone_number,note,zone,sim.outcome,more", "+14155550100,first,America/New_York,busy,"]
    more = [f"+141555502{index:02d},more,,," for index in range(7)]
    lines += [line for line, _, _ in BAD_ROWS] + ["+14155550107,last,,,"] + more
    known = [{"phone_number": "+14155550199", "note": "known", "zone": "", "more": ""}]
    audience = await make_audience(tenant, known, timezone_column="zone")
    job = await await_import(tenant, audience.id, "\n".join(lines))
    assert (job.status, job.added, job.duplicates) == ("completed_with_errors", 9, 2)
    assert (job.total_rows, job.invalid) == (len(BAD_ROWS) + 9, len(BAD_ROWS) - 2)
    assert await refused(tenant, job) == [
        (number, code, column) for number, (_, code, column) in enumerate(BAD_ROWS, 2)
    ]
    counted = await tenant.client.audiences.get(id=audience.id)
    assert (counted.row_count, counted.valid_count) == (len(BAD_ROWS) + 10, 10)
    assert (counted.invalid_count, counted.duplicate_count) == (len(BAD_ROWS) - 2, 2)
    assert [number for number, _ in await cells(tenant, audience.id)] == [
        "+14155550199",
        "+14155550100",
        "+14155550107",
        *(line.partition(",")[0] for line in more),
    ]


@pytest.mark.parametrize(
    "csv",
    [
        "phone_number,first_name\n",
        "phone_number,,first_name\n+14155550100,a,b\n",
        "phone_number,phone_number\n+14155550100,a\n",
        ",".join(f"column_{index}" for index in range(101)) + "\nx\n",
        'phone_number\n"+14155550100" and more\n',
    ],
    ids=["header alone", "nameless column", "one name twice", "101 columns", "broken quotes"],
)
@pytest.mark.service(workers=True)
async def test_a_file_that_cannot_be_read_fails_with_the_reason(tenant: Tenant, csv: str) -> None:
    audience = await make_audience(tenant, [])
    job = await await_import(tenant, audience.id, csv)
    assert (job.status, job.added) == ("failed", 0)
    assert job.status_reason
    assert (await tenant.client.audiences.get(id=audience.id)).status == "failed"


@pytest.mark.service(workers=True)
@pytest.mark.parametrize(
    ("csv", "words"),
    [
        ("from,to\n+14155550100,+14155550101\n", "name the one to call as phone_column"),
        ("Customers of May\nAda,+14155550101,x\n", "delete the rows above the header, if that is a title"),
    ],
)
async def test_a_file_that_leaves_the_numbers_open_fails_with_what_to_do(tenant: Tenant, csv: str, words: str) -> None:
    audience = await make_audience(tenant, [])
    job = await await_import(tenant, audience.id, csv)
    assert (job.status, job.added) == ("failed", 0)
    assert words in (job.status_reason or "")


@pytest.mark.service(workers=True)
async def test_a_picture_adds_nobody(tenant: Tenant) -> None:
    audience = await make_audience(tenant, [])
    job = await await_import(tenant, audience.id, "\u0089PNG\r\n\u001a\n\u0001\u0002,\u0003\n")
    assert (job.status, job.added) == ("failed", 0)
    assert "column 1" in (job.status_reason or "")
    assert (await tenant.client.audiences.get(id=audience.id)).status == "failed"


@pytest.mark.service(workers=True)
async def test_a_failed_file_does_not_decide_where_later_files_keep_the_number(tenant: Tenant) -> None:
    audience = await make_audience(tenant, [])
    wrong = await await_import(tenant, audience.id, "phone,first_name\nnone,Kim\n")
    assert (wrong.status, wrong.invalid) == ("failed", 1)
    right = await await_import(tenant, audience.id, "mobile,first_name\n+14155550100,Kim\n")
    assert (right.status, right.added) == ("completed", 1)
    ready = await tenant.client.audiences.get(id=audience.id)
    assert (ready.status, ready.phone_column) == ("ready", "mobile")


async def test_an_import_goes_on_after_a_crash_and_takes_no_row_twice(tenant: Tenant) -> None:
    services, audience = tenant.services, await make_audience(tenant, [], dedupe="none")
    job = await tenant.client.audiences.import_csv(id=audience.id, csv=csv_of(2_300))
    dying = replace(services, ids=FailingIds(services.clock.now_ms, 1_700))
    with pytest.raises(Interrupted):
        await imports.work_on_one(dying, "wrk_first")
    half = await tenant.client.audiences.get_import(id=audience.id, import_id=job.id)
    assert (half.status, half.processed, half.added, half.percent) == ("importing", 1_000, 1_000, 43)

    assert not await imports.work_on_one(services, "wrk_second")
    over = update(import_table).values(lease_until=0)
    await services.database.write(lambda connection: connection.execute(over).rowcount)
    assert await imports.work_on_one(services, "wrk_second")
    assert not await imports.work_on_one(services, "wrk_second")
    done = await tenant.client.audiences.get_import(id=audience.id, import_id=job.id)
    assert (done.status, done.added, done.processed) == ("completed", 2_300, 2_300)
    assert [number for number, _ in await cells(tenant, audience.id)] == [phone(index) for index in range(2_300)]


@pytest.mark.long
@pytest.mark.service(workers=True)
async def test_a_list_that_is_read_in_processes_loses_no_row_and_reports_each_bad_one(tenant: Tenant) -> None:
    rows = [f"{phone(index)},Person {index}" if index % 97 else f"none,Person {index}" for index in range(ALONE_BELOW)]
    audience = await make_audience(tenant, [])
    job = await await_import(tenant, audience.id, "\n".join(["phone_number,first_name", *rows]), within_s=300)
    bad = [index for index in range(ALONE_BELOW) if not index % 97]
    assert (job.status, job.added, job.invalid) == ("completed_with_errors", ALONE_BELOW - len(bad), len(bad))
    assert await refused(tenant, job) == [(index + 1, "invalid_phone", "phone_number") for index in bad]
    good = [(phone(index), {"first_name": f"Person {index}"}) for index in range(ALONE_BELOW) if index % 97]
    assert await cells(tenant, audience.id) == good


class NoEvents(Ids):
    """Ids of a process that dies before it can tell of anything."""

    def new(self, prefix: str) -> str:
        if prefix == "evt":
            raise Interrupted
        return super().new(prefix)


async def test_after_a_crash_and_a_corrected_country_only_what_is_refused_then_is_listed(tenant: Tenant) -> None:
    services, audience = tenant.services, await make_audience(tenant, [])
    text = "phone_number\n0171 3920001\n0171 3920002\n0171 3920003\nnone\n"
    job = await tenant.client.audiences.import_csv(id=audience.id, csv=text)
    with pytest.raises(Interrupted):
        await imports.work_on_one(replace(services, ids=NoEvents(services.clock.now_ms)), "wrk_first")
    assert len(await refused(tenant, job)) == 4
    await tenant.client.audiences.update(id=audience.id, default_country="DE")
    over = update(import_table).values(lease_until=0)
    await services.database.write(lambda connection: connection.execute(over).rowcount)
    assert await imports.work_on_one(services, "wrk_second")
    done = await tenant.client.audiences.get_import(id=audience.id, import_id=job.id)
    assert (done.status, done.added, done.invalid) == ("completed_with_errors", 3, 1)
    assert [number for number, _, _ in await refused(tenant, job)] == [4]


async def test_an_import_joins_a_campaign_that_runs(tenant: Tenant) -> None:
    made = await started(tenant, people(20))
    more = "\n".join(["phone_number,first_name", *(f"{phone(index)},Late {index}" for index in range(10, 60))])
    await tenant.client.audiences.import_csv(id=audience_of(made), csv=more)
    assert await imports.work_on_one(tenant.services, "wrk_test")
    ended = await ended_by_workers(tenant, made.id)
    assert (ended.stats.contacts, ended.status) == (60, "completed")
    found = await campaign_records(tenant.database, made.id)
    assert {call.to_number for call in found.calls} == {phone(index) for index in range(60)}
    check_counters(found)


@pytest.mark.service(workers=True)
async def test_a_value_the_database_refuses_ends_its_import_and_no_other(
    tenant: Tenant, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An index entry of Postgres holds 2,704 bytes; a thousand letters may be three thousand."""
    monkeypatch.setattr(row_rules, "MAX_OWN_ID_BYTES", 4_000)  # else the row is refused before
    strange = "".join(chr(0x4E00 + (index * 7_919) % 20_000) for index in range(1_000))
    given: dict[str, Any] = {"dedupe": "external_id", "external_id_column": "id"}
    audience = await make_audience(tenant, [], "strange", **given)
    job = await await_import(tenant, audience.id, f"phone_number,id\n+14155550100,{strange}\n")
    if engine == "postgres":
        assert (job.status, job.added) == ("failed", 0)
        assert job.status_reason == "the database cannot store a value in rows 1 to 1"
    else:
        assert (job.status, job.added) == ("completed", 1)
    other = await make_audience(tenant, [], "other")
    assert (await await_import(tenant, other.id, csv_of(3))).status == "completed"
