"""Files that take long to read: reading them is stopped, holds up nobody else, and is seen."""

import gzip
from base64 import b64encode
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from sqlalchemy import Row, select, update

from callwright.contract.audiences import AudienceImport
from callwright.service.campaigns.ended_imports import cancel_import
from callwright.service.platform.clock.clock import HOUR
from callwright.service.services import Services
from callwright.service.tables.import_uploads import LONGEST_IMPORT_MS, by_id
from callwright.service.tables.schema import imports as import_table
from callwright.service.workers import absurd_files, imports
from callwright.service.workers.imported_files import file_of
from tests.support.campaigns import make_audience, phone
from tests.support.endless_files import EndlessFile
from tests.support.imports import carry_out_import
from tests.support.service import Tenant, open_service

LIST = f"phone_number\n{phone(0)}\n"


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> EndlessFile:
    """The file that imports named `endless` read; no bound ends it."""
    file = EndlessFile()

    def opened(row: Row[Any], settings: Any) -> Any:
        return file if row.csv == "endless" else file_of(row, settings)

    monkeypatch.setattr(imports, "file_of", opened)
    monkeypatch.setattr(absurd_files, "MOST_BLANK_LINES", 1 << 62)
    return file


def with_lease(services: Services, lease_ms: int) -> Services:
    return replace(services, settings=replace(services.settings, deployment_lease_ms=lease_ms))


@asynccontextmanager
async def being_read(services: Services, endless: EndlessFile) -> AsyncGenerator[tuple[anyio.CancelScope, anyio.Event]]:
    """An import is worked on while its endless file is read. The scope ends the work; the event says that it ended."""
    ended = anyio.Event()

    async def work(scope: anyio.CancelScope) -> None:
        with scope:
            await imports.work_on_one(services, "one")
        ended.set()

    async with anyio.create_task_group() as tasks:
        scope = anyio.CancelScope()
        tasks.start_soon(work, scope)
        try:
            await endless.is_read()
            yield scope, ended
        finally:
            endless.end()


async def found(tenant: Tenant, job: AudienceImport) -> AudienceImport:
    return await tenant.client.audiences.get_import(id=job.audience_id, import_id=job.id)


async def changed(tenant: Tenant, **values: Any) -> None:
    await tenant.database.write(lambda connection: connection.execute(update(import_table).values(**values)).rowcount)


async def lease_of(tenant: Tenant, import_id: str) -> int:
    asked = select(import_table.c.lease_until).where(import_table.c.id == import_id)
    return int(await tenant.database.read(lambda connection: connection.execute(asked).scalar_one()))


async def delete_the_audience(tenant: Tenant, job: AudienceImport) -> None:
    await tenant.client.audiences.delete(id=job.audience_id)


async def it_is_cancelled(tenant: Tenant, job: AudienceImport) -> None:
    assert await cancel_import(tenant.services, by_id(tenant.org_id, job.audience_id, job.id))


async def another_takes_it(tenant: Tenant, job: AudienceImport) -> None:
    await changed(tenant, lease_owner="another", lease_until=tenant.services.clock.now_ms() + HOUR)


async def it_becomes_too_old(tenant: Tenant, job: AudienceImport) -> None:
    await changed(tenant, created_at=tenant.services.clock.now_ms() - LONGEST_IMPORT_MS)


@pytest.mark.parametrize("act", [delete_the_audience, it_is_cancelled, another_takes_it, it_becomes_too_old])
async def test_reading_a_file_ends_when_its_import_is_over_or_is_somebody_elses(
    tenant: Tenant, endless: EndlessFile, act: Callable[[Tenant, AudienceImport], Awaitable[None]]
) -> None:
    audience = await make_audience(tenant, [])
    job = await tenant.client.audiences.import_csv(id=audience.id, csv="endless")
    async with being_read(with_lease(tenant.services, 60), endless) as (_, ended):
        await act(tenant, job)
        with anyio.fail_after(20):
            await ended.wait()
    if act is it_becomes_too_old:
        assert ((await found(tenant, job)).status_reason or "").startswith("it has not ended within 6 hours")


async def test_reading_a_file_ends_with_the_process_and_the_import_goes_on_with_the_next(
    tenant: Tenant, endless: EndlessFile
) -> None:
    audience = await make_audience(tenant, [])
    job = await tenant.client.audiences.import_csv(id=audience.id, csv="endless")
    async with being_read(tenant.services, endless) as (scope, ended):
        scope.cancel()
        with anyio.fail_after(20):
            await ended.wait()
    assert (await found(tenant, job)).status == "importing"
    await changed(tenant, csv=LIST, lease_until=0)
    assert await imports.work_on_one(tenant.services, "two")
    done = await found(tenant, job)
    assert (done.status, done.added, done.percent) == ("completed", 1, 100)


async def test_a_file_that_is_read_for_long_keeps_its_lease_holds_up_nobody_and_shows_that_it_is_read(
    database_url: str, tmp_path: Path, endless: EndlessFile
) -> None:
    async with (
        open_service(database_url, tmp_path, workers=False) as tenant,
        tenant.another_organization() as other,
    ):
        audience, small = await make_audience(tenant, []), await make_audience(other, [])
        long = await tenant.client.audiences.import_csv(id=audience.id, csv="endless")
        behind = await tenant.client.audiences.import_csv(id=audience.id, csv=LIST)
        beside = await other.client.audiences.import_csv(id=small.id, csv=LIST)
        async with being_read(with_lease(tenant.services, 3_000), endless):
            began = await lease_of(tenant, long.id)
            assert await imports.work_on_one(tenant.services, "another")
            assert (await found(other, beside)).status == "completed"
            with anyio.fail_after(20):
                while await lease_of(tenant, long.id) == began:  # noqa: ASYNC110  # what the database says
                    await anyio.sleep(0.01)
            assert not await imports.work_on_one(tenant.services, "another"), "nobody else works on what is read"
            seen = await found(tenant, long)
            assert (seen.status, seen.total_rows, seen.percent) == ("importing", None, 2)
            assert (await found(tenant, behind)).status == "pending"


@pytest.mark.parametrize("blank", ["\n", "\r\n", "\r", ", ,\t\n", '"","",\r\n'])
async def test_a_file_with_an_absurd_number_of_blank_lines_is_refused_and_a_few_less_are_taken(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, blank: str
) -> None:
    monkeypatch.setattr(absurd_files, "MOST_BLANK_LINES", 1_000)
    end = blank.lstrip(' ,\t"')
    text = f"phone_number,name,note{end}{phone(0)},Ada,{end}"
    taken = await carry_out_import(tenant, text + blank * 1_002)
    assert (taken.status, taken.added, taken.total_rows) == ("completed", 1, 1)
    refused = await carry_out_import(tenant, text + blank * 1_004)
    assert (refused.status, refused.added) == ("failed", 0)
    assert (refused.status_reason or "").startswith("it has more than 1,000 blank lines; delete them")


async def test_blank_lines_within_the_notes_of_many_rows_are_no_reason_to_refuse_a_file(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(absurd_files, "MOST_BLANK_LINES", 10)
    rows = "".join(f'{phone(index)},"Hello\n\nGoodbye"\n' for index in range(50))
    taken = await carry_out_import(tenant, f"phone_number,note\n{rows}")
    assert (taken.status, taken.added) == ("completed", 50)


async def test_a_file_that_unpacks_to_more_than_a_list_can_is_refused_and_a_list_is_not(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(absurd_files, "LARGE_BYTES", 100_000)
    people = "".join(f"{phone(index)},Person {index}\n" for index in range(5_000))
    taken = await import_packed(tenant, f"phone_number,name\n{people}")
    assert (taken.status, taken.added, taken.read_as) == ("completed", 5_000, "CSV, UTF-8, commas, gzip")
    refused = await import_packed(tenant, "phone_number,name\n" + f"{phone(0)},Ada\n" * 50_000)
    assert (refused.status, refused.added) == ("failed", 0)
    assert (refused.status_reason or "").startswith("it unpacks to more than 100 times its size")


async def import_packed(tenant: Tenant, text: str) -> AudienceImport:
    audience = await make_audience(tenant, [], tenant.services.ids.new("tst"))
    file = b64encode(gzip.compress(text.encode())).decode()
    job = await tenant.client.audiences.import_csv(id=audience.id, file=file)
    assert await imports.work_on_one(tenant.services, "tests")
    return await found(tenant, job)
