"""Folders that cannot be written to while the service runs: they are named, and nothing else fails."""

import logging
import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from callwright.service.platform.database.engines import file_of
from tests.support.campaigns import calls_of, people, run
from tests.support.dashboard import logged_in, text_of
from tests.support.http.raw_requests import raw_client
from tests.support.service import Tenant, open_service

NOBODY = 65_534
LIST = b"name,phone\nAnn,(202) 555-0141\n"


@contextmanager
def without_permission(folder: Path, data: Path) -> Generator[None]:
    """Inside the block this process may not write into a folder of a data folder, but goes on with the database."""
    data.chmod(0o777)
    for path in data.glob("callwright.db*"):
        path.chmod(0o666)
    folder.chmod(0o555)
    before = os.geteuid()
    if before == 0:  # who may do everything is stopped by no permission
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(before)
        folder.chmod(0o777)


async def _health(tenant: Tenant) -> tuple[int, object]:
    async with raw_client(tenant) as http:
        answer = await http.get("/healthz")
        return answer.status_code, answer.json().get("problems", {}).get("files")


@pytest.mark.requirement("DASH-90")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "the data folder cannot be written to"),
        ("uploads", "the folder uploads of the data folder cannot be written to"),
    ],
)
async def test_an_upload_into_a_folder_without_permission_is_refused_by_its_name_and_goes_on_afterwards(
    database_url: str, caplog: pytest.LogCaptureFixture, name: str, words: str
) -> None:
    with tempfile.TemporaryDirectory() as made:  # not below a folder that only one person may enter
        data = Path(made)
        url = database_url if file_of(database_url) is None else f"sqlite:///{data / 'callwright.db'}"
        async with open_service(url, data, workers=False) as tenant, logged_in(tenant) as visit:
            if name:
                (data / name).mkdir()
            page = (await visit.send("/audiences/new", name="Spring", default_country="US")).headers["location"]
            begun = (await visit.send(page)).json()
            assert await _health(tenant) == (200, None)
            with without_permission(data / name, data), caplog.at_level(logging.WARNING):
                refused = await visit.http.put(begun["upload"], content=LIST)
                assert await _health(tenant) == (503, words)
            assert (refused.status_code, refused.json()["error"]["code"]) == (503, "service_unavailable")
            assert words in refused.json()["error"]["message"].lower()
            assert any(words in record.getMessage() for record in caplog.records)
            assert not any(record.exc_info for record in caplog.records)
            assert (await visit.http.put(begun["upload"], content=LIST)).status_code == 200
            assert await _health(tenant) == (200, None)


@pytest.mark.requirement("DASH-90")
@pytest.mark.service(workers=True)
async def test_a_recording_that_cannot_be_stored_is_refused_by_the_name_of_the_folder(
    tenant: Tenant, caplog: pytest.LogCaptureFixture
) -> None:
    made = await run(tenant, people(1, sim_outcome="answered"))
    call = (await calls_of(tenant, made.id))[0]
    folder = tenant.services.settings.data / "recordings"
    assert not folder.exists()
    folder.write_text("a file in the place of the folder")
    words = "the folder recordings of the data folder cannot be written to"
    async with raw_client(tenant) as http, logged_in(tenant) as visit:
        with caplog.at_level(logging.WARNING):
            answer = await http.get(f"/v1/calls/{call.id}/recording")
            page = await visit.page(f"/calls/{call.id}/recording.mp3", status=503)
        assert (answer.status_code, words in answer.text.lower(), words in text_of(page).lower()) == (503, True, True)
        assert await _health(tenant) == (503, words)
        assert not any(record.exc_info for record in caplog.records)
        folder.unlink()
        assert (await http.get(f"/v1/calls/{call.id}/recording")).status_code == 200
        assert await _health(tenant) == (200, None)
