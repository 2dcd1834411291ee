"""Files of imports that are uploaded: as a whole or in parts, to an address with a token of its own."""

import gzip
import os
from collections.abc import MutableMapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from sqlalchemy import update

from callwright.contract.audiences import AudienceImport, BegunImport
from callwright.service.platform import uploads
from callwright.service.platform.uploads import Uploads
from callwright.service.settings import ServiceSettings
from callwright.service.tables.import_uploads import BEGINS_MS
from callwright.service.tables.schema import api_keys
from callwright.service.tables.schema import imports as import_table
from callwright.service.workers import imports, sweeps
from tests.support.campaigns import Interrupted, phone
from tests.support.http.raw_requests import AsyncClient, raw_client, refused
from tests.support.imports import FailingIds
from tests.support.service import Tenant, open_service


def file_of(rows: int) -> bytes:
    return b"phone,first_name\n" + b"".join(f"{phone(row)},Person {row}\n".encode() for row in range(rows))


async def begun(tenant: Tenant) -> tuple[BegunImport, str]:
    """An import that waits for its file, and the path to which that goes."""
    made = await tenant.client.audiences.create(name=tenant.services.ids.new("tst"))
    waiting = await tenant.client.audiences.import_csv(id=made.id)
    assert waiting.status == "uploading"
    assert waiting.upload_url is not None
    return waiting, waiting.upload_url


async def carried_out(tenant: Tenant, waiting: AudienceImport) -> AudienceImport:
    while await imports.work_on_one(tenant.services, "tests"):
        pass
    return await tenant.client.audiences.get_import(id=waiting.audience_id, import_id=waiting.id)


def part(data: bytes, begin: int, end: int, total: int | str | None = None) -> dict[str, str]:
    return {"Content-Range": f"bytes {begin}-{end - 1}/{total or len(data)}"}


async def put_and_leave(tenant: Tenant, url: str, data: bytes) -> None:
    """A request whose connection breaks after some bytes of the body."""
    messages = iter(({"type": "http.request", "body": data, "more_body": True}, {"type": "http.disconnect"}))

    async def receive() -> MutableMapping[str, Any]:
        return next(messages)

    async def send(_: MutableMapping[str, Any]) -> None:
        return

    scope: dict[str, Any] = {
        "type": "http",
        "method": "PUT",
        "path": urlsplit(url).path,
        "query_string": b"",
        "headers": [],
        "root_path": "",
    }
    await tenant.service.asgi(scope, receive, send)


@pytest.mark.requirement("UP-01")
async def test_a_whole_file_larger_than_a_request_is_uploaded_and_imported(tenant: Tenant, http: AsyncClient) -> None:
    waiting, url = await begun(tenant)
    assert waiting.expires_at is not None
    assert not await imports.work_on_one(tenant.services, "tests")
    data = file_of(3_000) + b"," + b"x" * 990 + b"\n" * 1_200_000
    answer = await http.put(url, content=data)
    assert (answer.status_code, answer.json()["data"]["is_complete"]) == (200, True)
    done = await carried_out(tenant, waiting)
    assert (done.status, done.added, done.invalid, done.total_rows) == ("completed_with_errors", 3_000, 1, 3_001)
    assert not Uploads(tenant.services.settings).path_of(waiting.id).exists()


@pytest.mark.requirement("UP-02")
async def test_parts_that_come_out_of_order_or_twice_do_no_harm(tenant: Tenant, http: AsyncClient) -> None:
    waiting, url = await begun(tenant)
    data = file_of(100)
    middle = len(data) // 2
    late = await http.put(url, content=data[middle:], headers=part(data, middle, len(data)))
    assert (late.status_code, late.headers["Upload-Offset"], "Range" in late.headers) == (308, "0", False)
    for _ in range(2):
        first = await http.put(url, content=data[:middle], headers=part(data, 0, middle, "*"))
        assert (first.status_code, first.headers["Range"]) == (308, f"bytes=0-{middle - 1}")
    for asked in (await http.head(url), await http.get(url)):
        assert (asked.status_code, asked.headers["Upload-Offset"]) == (200, str(middle))
    overlapping = await http.put(url, content=data[middle - 50 :], headers=part(data, middle - 50, len(data), "*"))
    assert (overlapping.status_code, overlapping.headers["Upload-Offset"]) == (308, str(len(data)))
    ended = await http.put(url, headers={"Content-Range": f"bytes */{len(data)}"})
    assert ended.status_code == 200
    done = await carried_out(tenant, waiting)
    assert (done.status, done.added) == ("completed", 100)


@pytest.mark.requirement("UP-03")
async def test_an_address_ends_with_completion_its_time_and_its_key(tenant: Tenant, http: AsyncClient) -> None:
    waiting, url = await begun(tenant)
    assert (await http.put(url, content=file_of(1))).status_code == 200
    refused(await http.put(url, content=file_of(2)), 404, "not_found")
    assert (await carried_out(tenant, waiting)).added == 1
    refused(await http.delete(url), 404, "not_found")

    old, url = await begun(tenant)
    past = update(import_table).where(import_table.c.id == old.id).values(upload_expires_at=1)
    await tenant.database.write(lambda connection: connection.execute(past).rowcount)
    refused(await http.put(url, content=file_of(1)), 404, "not_found")
    await sweeps.run(tenant.services)
    failed = await carried_out(tenant, old)
    assert (failed.status, failed.added) == ("failed", 0)
    assert "not uploaded" in (failed.status_reason or "")

    waiting, url = await begun(tenant)
    assert (await http.get(url)).status_code == 200
    gone = update(api_keys).where(api_keys.c.id == waiting.created_by_key_id).values(revoked_at=1)
    await tenant.database.write(lambda connection: connection.execute(gone).rowcount)
    refused(await http.put(url, content=file_of(1)), 404, "not_found")
    refused(await http.get("/uploads/upl_another"), 404, "not_found")
    refused(await http.get("/uploads/another"), 404, "not_found")


async def test_the_address_is_shown_once_and_only_the_hash_of_its_token_is_stored(tenant: Tenant) -> None:
    waiting, url = await begun(tenant)
    stored = await tenant.database.read(
        lambda connection: connection.execute(import_table.select().where(import_table.c.id == waiting.id)).one()
    )
    assert url.rpartition("/")[2] not in str(stored)
    assert waiting.expires_at is not None
    assert stored.upload_expires_at - stored.created_at == BEGINS_MS
    shown = await tenant.client.audiences.get_import(id=waiting.audience_id, import_id=waiting.id)
    assert "upl_" not in shown.model_dump_json()


@pytest.mark.requirement("UP-04")
@pytest.mark.parametrize(
    "content_range", ["", "bytes", "bytes 5-2/9", "bytes 0-9/5", "bytes -5/9", "items 0-1/2", f"bytes 0-{'9' * 30}/*"]
)
async def test_a_range_that_names_no_part_is_refused(tenant: Tenant, http: AsyncClient, content_range: str) -> None:
    _, url = await begun(tenant)
    answer = await http.put(url, content=b"phone\n", headers={"Content-Range": content_range})
    refused(answer, 400, "invalid_field", "Content-Range")


@pytest.mark.requirement("UP-04")
async def test_a_body_that_is_not_what_its_range_says_leaves_nothing(tenant: Tenant, http: AsyncClient) -> None:
    _, url = await begun(tenant)
    refused(await http.put(url, content=b"phone\n", headers=part(b"", 0, 3, 9)), 400, "invalid_field", "Content-Range")
    assert (await http.head(url)).headers["Upload-Offset"] == "0"
    refused(await http.put(url, content=b""), 400, "invalid_field", "body")
    assert (await http.put(url, content=b"phone\n", headers=part(b"", 0, 6, 9))).status_code == 308
    too_small = await http.put(url, headers={"Content-Range": "bytes */3"})
    refused(too_small, 400, "invalid_field", "Content-Range")


async def test_a_connection_that_breaks_leaves_what_came_and_the_upload_goes_on(
    tenant: Tenant, http: AsyncClient
) -> None:
    waiting, url = await begun(tenant)
    data = file_of(50)

    await put_and_leave(tenant, url, data[:700])
    assert (await http.head(url)).headers["Upload-Offset"] == "700"
    rest = await http.put(url, content=data[700:], headers=part(data, 700, len(data)))
    assert rest.status_code == 200
    assert (await carried_out(tenant, waiting)).added == 50


@pytest.mark.requirement("UP-06")
async def test_a_full_disk_refuses_the_upload_and_keeps_what_came_before(
    tenant: Tenant, http: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting, url = await begun(tenant)
    data = file_of(50)
    assert (await http.put(url, content=data[:500], headers=part(data, 0, 500))).status_code == 308
    with monkeypatch.context() as full:
        full.setattr(uploads, "LEAST_LEFT", 1 << 60)
        answer = await http.put(url, content=data[500:], headers=part(data, 500, len(data)))
        refused(answer, 503, "storage_full")
    assert (await http.head(url)).headers["Upload-Offset"] == "500"
    assert (await http.put(url, content=data[500:], headers=part(data, 500, len(data)))).status_code == 200
    assert (await carried_out(tenant, waiting)).added == 50


@pytest.mark.requirement("UP-06")
async def test_a_file_beyond_the_limit_is_refused_and_what_came_before_stays(database_url: str, tmp_path: Path) -> None:
    settings = ServiceSettings(data=tmp_path, database_url=database_url, upload_max_bytes=1_000)
    async with (
        open_service(database_url, tmp_path, workers=False, settings=settings) as tenant,
        raw_client(tenant, key=None) as http,
    ):
        _, url = await begun(tenant)
        assert (await http.put(url, content=b"x" * 900, headers=part(b"", 0, 900, "*"))).status_code == 308
        refused(await http.put(url, content=b"x" * 101, headers=part(b"", 900, 1_001, "*")), 413, "payload_too_large")
        assert (await http.head(url)).headers["Upload-Offset"] == "900"


@pytest.mark.requirement("UP-07")
async def test_an_uploaded_import_goes_on_after_a_crash_and_takes_no_row_twice(
    tenant: Tenant, http: AsyncClient
) -> None:
    waiting, url = await begun(tenant)
    assert (await http.put(url, content=file_of(1_700))).status_code == 200
    dying = replace(tenant.services, ids=FailingIds(tenant.services.clock.now_ms, 1_200))
    with pytest.raises(Interrupted):
        await imports.work_on_one(dying, "one that dies")
    half = await tenant.client.audiences.get_import(id=waiting.audience_id, import_id=waiting.id)
    assert (half.status, half.processed, half.total_rows) == ("importing", 1_000, 1_700)
    assert half.rows_per_second is not None
    assert half.seconds_left is not None
    assert half.rows_per_second * half.seconds_left >= 600
    over = update(import_table).values(lease_until=0)
    await tenant.database.write(lambda connection: connection.execute(over).rowcount)
    done = await carried_out(tenant, waiting)
    assert (done.status, done.added, done.duplicates, done.seconds_left) == ("completed", 1_700, 0, None)


async def test_a_file_that_no_import_waits_for_is_removed_after_a_day(tenant: Tenant, http: AsyncClient) -> None:
    files = Uploads(tenant.services.settings)
    (old, old_url), (new, new_url) = await begun(tenant), await begun(tenant)
    for url in (old_url, new_url):
        assert (await http.put(url, content=b"phone\n", headers=part(b"", 0, 6, 9))).status_code == 308
    os.utime(files.path_of(old.id), (0, 0))
    await sweeps.run(tenant.services)
    assert not files.path_of(old.id).exists()
    assert files.size_of(new.id) == 6


async def test_two_requests_at_once_do_not_mix(tenant: Tenant, http: AsyncClient) -> None:
    waiting, url = await begun(tenant)
    with Uploads(tenant.services.settings).written(waiting.id):
        refused(await http.put(url, content=file_of(1)), 503, "service_unavailable")
    assert (await http.put(url, content=file_of(1))).status_code == 200


@pytest.mark.requirement("UP-05")
async def test_gzip_is_unpacked_and_a_damaged_or_cut_one_fails_with_its_reason(
    tenant: Tenant, http: AsyncClient
) -> None:
    packed = gzip.compress(file_of(1_000))
    for data, status, reason in (
        (packed, "completed", ""),
        (packed[:-900], "failed", "ends too early"),
        (packed[:40] + bytes(40) + packed[80:], "failed", "damaged"),
        (gzip.compress(b"PK\x03\x04 and so on"), "failed", "workbook that is packed"),
    ):
        waiting, url = await begun(tenant)
        assert (await http.put(url, content=data)).status_code == 200
        done = await carried_out(tenant, waiting)
        assert done.status == status
        assert reason in (done.status_reason or "")
        assert done.added == (1_000 if status == "completed" else 0)


@pytest.mark.requirement("UP-11")
async def test_who_lost_the_last_answer_is_told_that_the_upload_is_complete(tenant: Tenant, http: AsyncClient) -> None:
    waiting, url = await begun(tenant)
    data = file_of(20)
    middle = len(data) // 2
    assert (await http.put(url, content=data[:middle], headers=part(data, 0, middle))).status_code == 308
    assert (await http.put(url, content=data[middle:], headers=part(data, middle, len(data)))).status_code == 200
    for imported in (False, True):
        if imported:
            assert (await carried_out(tenant, waiting)).added == 20
        for answer in (
            await http.put(url, headers={"Content-Range": f"bytes */{len(data)}"}),
            await http.put(url, headers={"Content-Range": "bytes */*"}),
            await http.put(url, content=data[middle:], headers=part(data, middle, len(data))),
            await http.head(url),
            await http.get(url),
        ):
            assert (answer.status_code, answer.headers["Upload-Offset"]) == (200, str(len(data)))
        assert (await http.get(url)).json()["data"]["is_complete"]
        assert waiting.id in refused(await http.put(url, content=data), 404, "not_found")["message"]
        refused(await http.put(url, headers={"Content-Range": "bytes */5"}), 404, "not_found")


@pytest.mark.requirement("UP-11")
async def test_a_refused_file_leaves_what_had_arrived_and_one_that_is_sent_whole_takes_its_place(
    tenant: Tenant, http: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting, url = await begun(tenant)
    data, other = file_of(50), file_of(7)
    assert (await http.put(url, content=data[:200], headers=part(data, 0, 200))).status_code == 308
    refused(await http.put(url, content=b""), 400, "invalid_field", "body")
    too_long = {"Content-Length": "3000000000"}
    refused(await http.put(url, content=b"x", headers=too_long), 413, "payload_too_large")
    with monkeypatch.context() as full:
        full.setattr(uploads, "LEAST_LEFT", 1 << 60)
        refused(await http.put(url, content=data), 503, "storage_full")
    assert (await http.head(url)).headers["Upload-Offset"] == "200"
    assert Uploads(tenant.services.settings).path_of(waiting.id).read_bytes() == data[:200]
    await put_and_leave(tenant, url, other[:90])
    assert Uploads(tenant.services.settings).path_of(waiting.id).read_bytes() == other[:90]
    assert (await http.put(url, content=other)).status_code == 200
    assert (await carried_out(tenant, waiting)).added == 7


@pytest.mark.requirement("UP-11")
async def test_the_size_of_a_file_does_not_change_from_part_to_part(tenant: Tenant, http: AsyncClient) -> None:
    waiting, url = await begun(tenant)
    data = file_of(20)
    assert (await http.put(url, content=data[:50], headers=part(data, 0, 50, "*"))).status_code == 308
    assert (await http.put(url, content=data[50:90], headers=part(data, 50, 90))).status_code == 308
    for headers in ({"Content-Range": "bytes */90"}, part(data, 90, 91, len(data) + 1)):
        answer = await http.put(url, content=data[90:91] if "90-" in headers["Content-Range"] else b"", headers=headers)
        said = refused(answer, 400, "invalid_field", "Content-Range")["message"]
        assert f"earlier part said {len(data)}" in said
    assert (await http.put(url, content=data[90:], headers=part(data, 90, len(data)))).status_code == 200
    assert (await carried_out(tenant, waiting)).added == 20


@pytest.mark.requirement("UP-10")
async def test_an_import_says_until_when_it_waits_for_its_file_and_no_longer_than_that(
    tenant: Tenant, http: AsyncClient
) -> None:
    waiting, url = await begun(tenant)
    shown = await tenant.client.audiences.get_import(id=waiting.audience_id, import_id=waiting.id)
    assert shown.expires_at == waiting.expires_at
    assert (await http.put(url, content=file_of(1))).status_code == 200
    assert (await tenant.client.audiences.get_import(id=waiting.audience_id, import_id=waiting.id)).expires_at is None
