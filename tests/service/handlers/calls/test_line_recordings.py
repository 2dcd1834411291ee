"""Recordings of calls on lines: files that are served, never made up, and deleted only when they have to be."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from callwright.contract.people import DELETED_NUMBER
from callwright.server.mcp.resources.sound import frames_of
from callwright.service.platform.clock.clock import DAY, MINUTE
from callwright.service.settings import ServiceSettings
from callwright.service.speech.mu_law_files import header
from callwright.service.tables import call_counts
from callwright.service.tables.schema import calls
from callwright.service.workers import sweeps
from tests.support.calls.stored_calls import put_call
from tests.support.deployments.plans import FixedClock, in_future
from tests.support.http.raw_requests import AsyncClient
from tests.support.resources import refusal
from tests.support.service import Tenant, open_service

MOST = 5_000_000
SECONDS = 4


def sound(seconds: int = SECONDS) -> bytes:
    """A recording in which the agent hums and the other side is silent."""
    return header(8_000 * seconds) + b"\x00\xff\x80\xff" * (4_000 * seconds)


def file_of(tenant: Tenant, call_id: str) -> Path:
    return tenant.services.recordings.lines.folder / f"{call_id}.wav"


async def spoken(tenant: Tenant, *, content: bytes | None = None, ago_ms: int = 0, **fields: Any) -> str:
    """A call on a line with its file; its id."""
    ended = tenant.services.clock.now_ms() - ago_ms
    given: dict[str, Any] = {"turns": 2, "recorded": True, "simulated": False, "carrier": "trunk", "ended_at": ended}
    call_id = await put_call(tenant, duration_ms=4_000, created_at=ended - 5_000, **given | fields)
    file_of(tenant, call_id).parent.mkdir(exist_ok=True)
    file_of(tenant, call_id).write_bytes(sound() if content is None else content)
    return call_id


async def fetched(tenant: Tenant, call_id: str, audio_format: Any = "mp3") -> bytes:
    async with tenant.client.calls.get_recording(call_uuid=call_id, format=audio_format) as download:
        return await download.read(MOST)


async def has_none(tenant: Tenant, call_id: str) -> bool:
    for audio_format in ("mp3", "wav"):
        async with refusal(404, "not_found"):
            await fetched(tenant, call_id, audio_format)
    return True


async def sweep(tenant: Tenant, *, ahead_ms: int = 0) -> None:
    """A sweep as it will be then."""
    clock = FixedClock(tenant.services.clock.now_ms() + ahead_ms)
    await sweeps.run(replace(tenant.services, clock=clock))


@pytest.mark.requirement("RECORD-04")
async def test_a_recording_is_the_file_itself_or_an_mp3_of_it(tenant: Tenant) -> None:
    call_id = await spoken(tenant)
    assert await fetched(tenant, call_id, "wav") == sound()
    mp3 = await fetched(tenant, call_id)
    assert frames_of(mp3).duration_s == pytest.approx(SECONDS, abs=0.2)
    assert "SIMULATED".encode("utf-16-le") not in mp3
    assert f"Call {call_id}".encode("utf-16-le") in mp3
    other = await spoken(tenant, content=sound(1), to_number="+12125550101")
    assert frames_of(await fetched(tenant, other)).duration_s == pytest.approx(1, abs=0.2)


@pytest.mark.parametrize("audio_format", ["mp3", "wav"])
async def test_a_part_of_a_file_is_that_part_of_the_whole_and_its_tag_holds(
    tenant: Tenant, http: AsyncClient, audio_format: Any
) -> None:
    call_id = await spoken(tenant)
    request = tenant.client.calls.get_recording(call_uuid=call_id, format=audio_format)
    async with request as download:
        whole, etag = await download.read(MOST), download.etag
    async with request.asking(range_bytes=(100, 299)) as download:
        assert (download.status, await download.read(MOST)) == (206, whole[100:300])
    async with request.asking(if_none_match=etag) as download:
        assert (download.status, await download.read(MOST), download.etag) == (304, b"", etag)
    assert etag is not None
    assert call_id not in etag
    headed = await http.head(f"/v1/calls/{call_id}/recording", params={"format": audio_format})
    assert headed.headers["content-length"] == str(len(whole))
    assert "x-service-simulated" not in headed.headers
    file_of(tenant, call_id).write_bytes(sound(2))
    async with request.asking(if_none_match=etag) as download:
        assert download.status == 200


@pytest.mark.requirement("RECORD-04")
@pytest.mark.parametrize("content", [b"", header(0), b"RIFF" + bytes(90), header(9)[:30]])
async def test_what_is_not_there_is_not_made_up(tenant: Tenant, content: bytes) -> None:
    missing = await spoken(tenant)
    file_of(tenant, missing).unlink()
    broken = await spoken(tenant, content=content, to_number="+12125550101")
    unwritten = await spoken(tenant, recorded=False, to_number="+12125550102")
    for call_id in (missing, broken, unwritten):
        assert await has_none(tenant, call_id)
    assert (await tenant.client.calls.get(call_uuid=unwritten)).recording.status == "not_recorded"


async def test_the_sound_of_a_call_whose_process_is_gone_is_there_although_nobody_knows_its_turns(
    tenant: Tenant,
) -> None:
    call_id = await spoken(tenant, turns=0, recorded=None)
    unanswered = await spoken(tenant, turns=0, recorded=None, answered_at=None, to_number="+12125550101")
    await sweep(tenant)
    assert await fetched(tenant, call_id, "wav") == sound()
    assert await has_none(tenant, unanswered)
    assert (await tenant.client.calls.get(call_uuid=call_id)).recording.status == "available"


@pytest.mark.requirement("RECORD-05")
async def test_a_file_stays_when_there_is_no_room_for_what_can_be_made_again(database_url: str, tmp_path: Path) -> None:
    settings = ServiceSettings(data=tmp_path, database_url=database_url, recordings_max_bytes=1)
    async with open_service(database_url, tmp_path, workers=False, settings=settings) as tenant:
        made = [await spoken(tenant, to_number=f"+1212555010{index}") for index in range(3)]
        for call_id in made:
            await fetched(tenant, call_id)
        assert len(list((tmp_path / "recordings").iterdir())) == 1
        for call_id in made:
            assert await fetched(tenant, call_id, "wav") == sound()


@pytest.mark.requirement("RECORD-05")
async def test_a_file_goes_when_its_time_is_over(tenant: Tenant, tmp_path: Path) -> None:
    call_id = await spoken(tenant)
    lost = await spoken(tenant, turns=0, recorded=None, to_number="+12125550101")
    under_way: dict[str, Any] = {"ended_at": None, "status": "in_progress", "outcome": None}
    open_call = await spoken(tenant, **under_way, to_number="+12125550102")
    unknown = tenant.services.recordings.lines.folder / "cal_nobody.wav"
    notes = tenant.services.recordings.lines.folder / "notes.txt"
    for path in (unknown, notes):
        path.touch()
    await fetched(tenant, call_id)
    await sweep(tenant, ahead_ms=90 * DAY - MINUTE)
    assert file_of(tenant, call_id).exists()
    assert not unknown.exists()
    async with in_future(tenant, 90 * DAY + MINUTE) as client:
        async with refusal(404, "not_found"):
            async with client.calls.get_recording(call_uuid=call_id):
                raise AssertionError("there is nothing to open")
    await sweep(tenant, ahead_ms=91 * DAY)
    assert [file_of(tenant, each).exists() for each in (call_id, lost, open_call)] == [False, False, True]
    assert list((tmp_path / "recordings").iterdir()) == []
    assert notes.exists()


@pytest.mark.requirement("RECORD-05", "PERSON-03")
async def test_a_file_goes_with_the_data_of_its_person(tenant: Tenant, tmp_path: Path) -> None:
    number = "+12125550104"
    call_id, lost = (
        await spoken(tenant, to_number=number),
        await spoken(tenant, turns=0, recorded=None, to_number=number),
    )
    other = await spoken(tenant, to_number="+12125550105")
    await fetched(tenant, call_id)
    await tenant.client.people.delete(number=number, confirm=True)
    for each in (call_id, lost):
        assert await has_none(tenant, each)
        assert (await tenant.client.calls.get(call_uuid=each)).to == DELETED_NUMBER
    await sweep(tenant)
    assert [file_of(tenant, each).exists() for each in (call_id, lost, other)] == [False, False, True]
    assert list((tmp_path / "recordings").iterdir()) == []


async def test_a_call_that_goes_on_has_no_recording_yet(tenant: Tenant) -> None:
    under_way: dict[str, Any] = {"ended_at": None, "status": "in_progress", "outcome": None, "recorded": None}
    call_id = await spoken(tenant, **under_way)
    assert await has_none(tenant, call_id)
    ended = update(calls).where(calls.c.id == call_id).values(ended_at=tenant.services.clock.now_ms(), recorded=True)
    await tenant.database.write(lambda connection: connection.execute(ended).rowcount)
    await tenant.database.write(call_counts.add, [call_id])
    assert await fetched(tenant, call_id, "wav") == sound()
