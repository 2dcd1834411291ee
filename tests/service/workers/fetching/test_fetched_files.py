"""Imports whose file the service fetches from a URL: what it takes, where it goes on, and what it never touches."""

import json
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import anyio
import pytest
from sqlalchemy import select

from callwright.client.errors import InvalidArguments, InvalidRequest
from callwright.contract.audiences import AudienceImport
from callwright.service.platform.uploads import Uploads
from callwright.service.settings import ServiceSettings
from callwright.service.tables.schema import audit_log
from callwright.service.tables.schema import imports as import_table
from callwright.service.workers import imports
from callwright.service.workers.fetching.fetched_files import FileFetches
from tests.support.campaigns import phone
from tests.support.fixtures import held
from tests.support.http.file_host import FileHost, file_host
from tests.support.service import Tenant, open_service

FILE = b"phone,first_name\n" + b"".join(b"%s,Person %d\n" % (phone(row).encode(), row) for row in range(2_000))
SECRET = "hush-hush"
PRIVATE = "127.0.0.2"
"""An address of this machine that is not opened."""


@pytest.fixture
async def host() -> AsyncGenerator[FileHost]:
    async with held(file_host(FILE)) as made:
        yield made


@pytest.fixture
async def near(database_url: str, tmp_path: Path) -> AsyncGenerator[Tenant]:
    """A service that may fetch from the host of the tests, and has no workers."""
    settings = ServiceSettings(
        data=tmp_path,
        database_url=database_url,
        webhook_networks=(IPv4Network("127.0.0.1/32"),),
        upload_max_bytes=len(FILE) + 100,
    )
    async with held(open_service(database_url, tmp_path, settings=settings, workers=False)) as found:
        yield found


async def fetched(tenant: Tenant, *, look_up: Any = None) -> None:
    """Fetches what waits, until it is there or has failed."""
    more = {} if look_up is None else {"look_up": look_up}
    fetches = FileFetches(tenant.services, lambda: None, pauses_s=(0.0, 0.0), **more)
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            await fetches.look(tasks)


class Book:
    """Answers look-ups in turn; the last answer stays."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self._answers = list(answers)

    def __call__(self, name: str) -> Sequence[str]:
        del name
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


async def until(met: Callable[[], bool]) -> None:
    while True:
        if met():
            return
        await anyio.sleep(0.001)


async def carried_out(tenant: Tenant, url: str, **more: Any) -> AudienceImport:
    made = await tenant.client.audiences.create(name=tenant.services.ids.new("tst"))
    waiting = await tenant.client.audiences.import_csv(id=made.id, url=url)
    assert (waiting.status, waiting.upload_url) == ("pending", None)
    assert not await imports.work_on_one(tenant.services, "tests")
    await fetched(tenant, **more)
    while await imports.work_on_one(tenant.services, "tests"):
        pass
    return await tenant.client.audiences.get_import(id=made.id, import_id=waiting.id)


@pytest.mark.requirement("UP-21", "UP-23")
async def test_a_file_is_fetched_and_imported_and_its_address_is_nowhere(
    near: Tenant, host: FileHost, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    done = await carried_out(near, host.url())
    assert (done.status, done.added) == ("completed", 2_000)
    assert "GET /people.csv?token=hush-hush HTTP/1.1" in host.asked[0]
    assert "authorization" not in host.asked[0].lower()
    rows = await near.database.read(lambda connection: connection.execute(select(import_table)).mappings().all())
    entries = await near.database.read(lambda connection: connection.execute(select(audit_log)).mappings().all())
    assert "audience.imported" in str(entries)
    said = f"{[dict(row) for row in rows]} {[dict(entry) for entry in entries]} {done} {caplog.text}"
    assert SECRET not in said
    assert not Uploads(near.services.settings).path_of(done.id).exists()


@pytest.mark.requirement("UP-21")
@pytest.mark.parametrize("ranges", [True, False])
async def test_a_broken_connection_goes_on_from_what_has_arrived_or_else_from_the_start(
    near: Tenant, host: FileHost, ranges: bool
) -> None:
    host.ranges, host.breaks_after = ranges, [20_000, 10_000]
    done = await carried_out(near, host.url())
    assert (done.status, done.added) == ("completed", 2_000)
    assert len(host.asked) == 3
    assert "Range: bytes=20000-" in host.asked[1]
    assert 'If-Range: "one"' in host.asked[1]
    assert f"Range: bytes={30_000 if ranges else 10_000}-" in host.asked[2]


@pytest.mark.requirement("UP-21")
async def test_another_process_goes_on_where_one_was_killed(near: Tenant, host: FileHost) -> None:
    made = await near.client.audiences.create(name="Killed")
    waiting = await near.client.audiences.import_csv(id=made.id, url=host.url())
    host.breaks_after = [20_000]
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            fetches = FileFetches(near.services, lambda: None, pauses_s=(1_000.0,))
            await fetches.look(tasks)
            await until(lambda: Uploads(near.services.settings).size_of(waiting.id) >= 20_000)
            tasks.cancel_scope.cancel()
    await near.database.write(
        lambda connection: connection.execute(import_table.update().values(lease_until=0)).rowcount
    )
    await fetched(near)
    while await imports.work_on_one(near.services, "tests"):
        pass
    done = await near.client.audiences.get_import(id=made.id, import_id=waiting.id)
    assert (done.status, done.added) == ("completed", 2_000)
    assert "Range: bytes=20000-" in host.asked[1]


@pytest.mark.requirement("UP-21")
async def test_a_file_that_has_changed_meanwhile_is_fetched_from_the_start(near: Tenant, host: FileHost) -> None:
    host.breaks_after = [20_000]

    async def changes() -> None:
        await until(lambda: bool(host.asked))
        host.tag, host.content = '"two"', FILE[: FILE.index(b"\n", 30_000) + 1]

    found: list[AudienceImport] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(changes)
        found.append(await carried_out(near, host.url()))
    done = found[0]
    assert (done.status, done.total_rows) == ("completed", host.content.count(b"\n") - 1)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n", "The host answered 403: it does not give the file."),
        (b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\n<p/>", "a web page, not with a list"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99000000\r\n\r\nx", "bytes; cut it in pieces."),
        (b"HTTP/1.1 200 OK\r\n\r\n" + FILE + b"x" * 200, "bytes; cut it in pieces."),
        (b"HTTP/1.1 302 F\r\nLocation: https://10.1.2.3/?token=hush-hush\r\nContent-Length: 0\r\n\r\n", "redirects to"),
        (
            b"HTTP/1.1 302 F\r\nLocation: ftp://files.example.com/people.csv\r\nContent-Length: 0\r\n\r\n",
            "redirects to",
        ),
    ],
)
@pytest.mark.requirement("UP-22", "UP-23")
async def test_what_cannot_be_fetched_fails_the_import_in_words_without_the_address(
    near: Tenant, host: FileHost, answer: bytes, words: str
) -> None:
    host.answers = [answer]
    done = await carried_out(near, host.url())
    assert (done.status, done.added, len(host.asked)) == ("failed", 0, 1)
    assert (done.status_reason or "").startswith("its file could not be fetched from 127.0.0.1: ")
    assert words in (done.status_reason or "")
    assert SECRET not in json.dumps(done.model_dump(mode="json"))
    assert not Uploads(near.services.settings).path_of(done.id).exists()


@pytest.mark.requirement("UP-22")
async def test_a_host_that_keeps_failing_is_given_up_after_some_tries(near: Tenant, host: FileHost) -> None:
    host.answers = [b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"] * 9
    done = await carried_out(near, host.url())
    assert (done.status, len(host.asked)) == ("failed", 3)
    assert "The host answered 503" in (done.status_reason or "")


@pytest.mark.requirement("UP-21")
async def test_a_redirect_to_an_address_that_may_be_used_is_followed_and_a_circle_is_not(
    near: Tenant, host: FileHost
) -> None:
    moved = b"HTTP/1.1 307 Moved\r\nLocation: /elsewhere.csv\r\nContent-Length: 0\r\n\r\n"
    host.answers = [moved]
    assert (await carried_out(near, host.url())).added == 2_000
    assert "GET /elsewhere.csv" in host.asked[1]
    host.answers = [moved] * 9
    done = await carried_out(near, host.url())
    assert "redirects more than 3 times" in (done.status_reason or "")


@pytest.mark.requirement("UP-22")
@pytest.mark.parametrize("answers", [[PRIVATE], ["10.0.0.7"], ["169.254.169.254"], ["::ffff:10.0.0.7"]])
async def test_a_name_that_leads_into_a_private_network_is_not_connected_to(
    near: Tenant, host: FileHost, answers: Sequence[str]
) -> None:
    done = await carried_out(near, host.url(host="files.example.com"), look_up=Book(answers))
    assert done.status == "failed"
    assert "fetched from files.example.com: The host leads to " in (done.status_reason or "")
    assert host.asked == []


@pytest.mark.requirement("UP-22")
async def test_a_name_that_changes_its_answer_between_two_tries_gains_nothing(near: Tenant, host: FileHost) -> None:
    host.breaks_after = [20_000]
    answers = [["127.0.0.1"], [PRIVATE]]
    done = await carried_out(near, host.url(host="files.example.com"), look_up=Book(*answers))
    assert done.status == "failed"
    assert len(host.asked) == 1


@pytest.mark.requirement("UP-22")
@pytest.mark.parametrize(
    "url", ["http://files.example.com/a", "https://10.0.0.7/a", "https://u:p@files.example.com/a", "ftp://a.example/b"]
)
async def test_an_address_that_cannot_be_used_is_refused_at_once(tenant: Tenant, url: str) -> None:
    made = await tenant.client.audiences.create(name="Refused")
    with pytest.raises(InvalidRequest) as error:
        await tenant.client.audiences.import_csv(id=made.id, url=url)
    assert (error.value.code, error.value.field) == ("invalid_field", "url")


async def test_a_file_has_one_source(tenant: Tenant) -> None:
    made = await tenant.client.audiences.create(name="Two")
    with pytest.raises(InvalidArguments, match="or its address as url"):
        await tenant.client.audiences.import_csv(id=made.id, url="https://files.example.com/a", csv="phone\n1\n")
