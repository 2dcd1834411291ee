"""Recordings are deleted when their time is over, for good, under a clock that is put forward."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from callwright.service.app import running
from callwright.service.platform.clock.clock import DAY, HOUR, MINUTE
from callwright.service.services import Services
from callwright.service.settings import ServiceSettings
from callwright.service.speech.recordings import Recordings
from callwright.service.tables import recording_watermarks
from callwright.service.tables.schema import organizations
from callwright.service.workers import recording_retention, sweeps
from tests.support.calls.speech_source import SquareWave
from tests.support.calls.stored_calls import put_call
from tests.support.deployments.plans import FixedClock, in_future
from tests.support.resources import refusal
from tests.support.service import Tenant, open_service

MOST = 5_000_000


class Killed(Exception):
    """The process of a test ends here."""


async def talked(tenant: Tenant, *, ago_ms: int = 0) -> str:
    """A call with a recording that ended so long ago; its id."""
    ended = tenant.services.clock.now_ms() - ago_ms
    return await put_call(tenant, turns=2, duration_ms=4_000, created_at=ended - 5_000, ended_at=ended)


async def fetch(tenant: Tenant, call_id: str, *, ahead_ms: int = 0, audio_format: Any = "mp3") -> int:
    """Fetches a recording as it will be answered then; how long it is."""
    async with in_future(tenant, ahead_ms) as client:
        async with client.calls.get_recording(call_uuid=call_id, format=audio_format) as download:
            return len(await download.read(MOST))


async def is_gone(tenant: Tenant, call_id: str, *, ahead_ms: int = 0) -> bool:
    """Whether the recording answers 404 then, and the call says so with the same address as ever."""
    async with in_future(tenant, ahead_ms) as client:
        call = await client.calls.get(call_uuid=call_id)
        listed = {found.id: found async for found in client.calls.list()}
        assert listed[call_id].recording == call.recording
        assert call.recording_url == f"/v1/calls/{call_id}/recording"
        if call.recording.status == "available":
            return False
        assert call.recording.status == "deleted"
        async with refusal(404, "not_found"):
            async with client.calls.get_recording(call_uuid=call_id):
                raise AssertionError("there is nothing to open")
        assert (await client.calls.get_transcript(call_uuid=call_id)).turn_count == 2
        return True


def later(services: Services, ahead_ms: int) -> Services:
    """The service's parts as they will be then."""
    return replace(services, clock=FixedClock(services.clock.now_ms() + ahead_ms))


async def sweep(tenant: Tenant, *, ahead_ms: int = 0) -> None:
    """A sweep as it will be then."""
    await sweeps.run(later(tenant.services, ahead_ms))


async def keep_for(tenant: Tenant, days: int | None) -> None:
    """Negotiates how long the organization's recordings are kept; None: as its plan says."""
    change = update(organizations).where(organizations.c.id == tenant.org_id).values(recording_retention_days=days)
    await tenant.database.write(lambda connection: connection.execute(change).rowcount)


async def watermark(tenant: Tenant) -> int:
    return await tenant.database.read(recording_watermarks.watermark_of, tenant.org_id)


def files(tmp_path: Path, call_id: str) -> list[str]:
    """The suffixes of the files of a call's recording."""
    return sorted(path.suffix for path in (tmp_path / "recordings").glob(f"{call_id}.*"))


@pytest.mark.requirement("LIMIT-08", "LIMIT-18")
async def test_a_recording_is_deleted_after_90_days_and_its_address_and_transcript_stay(
    tenant: Tenant, tmp_path: Path
) -> None:
    call_id = await talked(tenant)
    assert await fetch(tenant, call_id) > 1_000
    assert await fetch(tenant, call_id, audio_format="wav") > 1_000
    assert not await is_gone(tenant, call_id, ahead_ms=90 * DAY - MINUTE)
    assert await is_gone(tenant, call_id, ahead_ms=90 * DAY + MINUTE)
    await sweep(tenant, ahead_ms=90 * DAY - MINUTE)
    assert files(tmp_path, call_id) == [".mp3", ".wav"]
    await sweep(tenant, ahead_ms=90 * DAY + 2 * HOUR)
    assert files(tmp_path, call_id) == []
    assert await is_gone(tenant, call_id, ahead_ms=90 * DAY + 2 * HOUR)


@pytest.mark.requirement("LIMIT-18")
async def test_a_recording_whose_time_is_over_is_gone_before_any_sweep(tenant: Tenant) -> None:
    old, new = await talked(tenant, ago_ms=90 * DAY + MINUTE), await talked(tenant, ago_ms=90 * DAY - MINUTE)
    assert await is_gone(tenant, old)
    assert not await is_gone(tenant, new)
    assert await fetch(tenant, new) > 1_000


@pytest.mark.requirement("LIMIT-09")
async def test_an_organization_keeps_its_recordings_for_as_long_as_it_negotiated(
    tenant: Tenant, other: Tenant, tmp_path: Path
) -> None:
    call_id, others = await talked(tenant, ago_ms=8 * DAY), await talked(other, ago_ms=8 * DAY)
    assert await fetch(tenant, call_id) == await fetch(other, others) > 1_000
    await keep_for(tenant, 7)
    assert await is_gone(tenant, call_id)
    await sweep(tenant)
    assert (files(tmp_path, call_id), files(tmp_path, others)) == ([], [".mp3"])
    assert not await is_gone(other, others)
    assert await watermark(tenant) > await watermark(other)


async def test_a_longer_retention_brings_no_recording_back(tenant: Tenant) -> None:
    gone, kept = await talked(tenant, ago_ms=100 * DAY), await talked(tenant, ago_ms=80 * DAY)
    await sweep(tenant)
    swept = await watermark(tenant)
    await keep_for(tenant, 36_500)
    assert await is_gone(tenant, gone)
    assert not await is_gone(tenant, kept, ahead_ms=200 * DAY)
    await sweep(tenant, ahead_ms=200 * DAY)
    assert await watermark(tenant) == swept
    assert await is_gone(tenant, gone, ahead_ms=200 * DAY)
    assert await fetch(tenant, kept, ahead_ms=200 * DAY) > 1_000


async def test_what_is_deleted_now_can_be_settled_before_a_longer_retention(tenant: Tenant) -> None:
    await sweep(tenant)
    call_id = await talked(tenant, ago_ms=90 * DAY + 1)
    assert await is_gone(tenant, call_id)
    await tenant.database.write(recording_watermarks.settle, [tenant.org_id], tenant.services.clock.now_ms())
    await keep_for(tenant, 365)
    assert await is_gone(tenant, call_id)


async def test_a_watermark_moves_an_hour_at_a_time_and_never_back(tenant: Tenant) -> None:
    seen: list[int] = []
    for ahead_ms in (0, HOUR // 2, HOUR + MINUTE, HOUR, 0):
        await sweep(tenant, ahead_ms=ahead_ms)
        seen.append(await watermark(tenant))
    assert seen[0] == seen[1] < seen[2] == seen[3] == seen[4]
    assert seen[2] - seen[0] >= HOUR


@pytest.mark.parametrize("step", ["settle", "kept_among", "forget"])
async def test_a_sweep_that_ends_in_the_middle_is_done_again_after_a_restart(
    database_url: str, tmp_path: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise Killed

    async with open_service(database_url, tmp_path, workers=False) as tenant:
        old, new = await talked(tenant, ago_ms=80 * DAY), await talked(tenant)
        for call_id in (old, new):
            await fetch(tenant, call_id)
        owner = tenant.services.recordings if step == "forget" else recording_watermarks
        with monkeypatch.context() as patch:
            patch.setattr(owner, step, killed)
            with pytest.raises(Killed):
                await recording_retention.run(later(tenant.services, 11 * DAY))
        assert files(tmp_path, old) == [".mp3"]
        org_id = tenant.org_id
    async with running(ServiceSettings(data=tmp_path, database_url=database_url), workers=False) as service:
        for _ in range(2):
            await sweeps.run(later(service.services, 11 * DAY))
            assert (files(tmp_path, old), files(tmp_path, new)) == ([], [".mp3"])
        mark = await service.services.database.read(recording_watermarks.watermark_of, org_id)
        assert 0 < mark <= service.services.clock.now_ms() + 11 * DAY - 90 * DAY


async def test_each_process_clears_its_own_folder_whoever_moved_the_watermark(
    database_url: str, tmp_path: Path
) -> None:
    async with open_service(database_url, tmp_path / "one", workers=False) as tenant:
        call_id = await talked(tenant, ago_ms=80 * DAY)
        await fetch(tenant, call_id)
        folder = tmp_path / "two" / "recordings"
        folder.mkdir(parents=True)
        elsewhere = Recordings(folder, max_bytes=10**8, synthesiser=SquareWave())
        (name,) = (path.name for path in (tmp_path / "one" / "recordings").glob(f"{call_id}.*"))
        (folder / name).touch()
        await sweep(tenant, ahead_ms=11 * DAY)
        assert (files(tmp_path / "one", call_id), files(tmp_path / "two", call_id)) == ([], [".mp3"])
        await sweeps.run(replace(later(tenant.services, 11 * DAY), recordings=elsewhere))
        assert files(tmp_path / "two", call_id) == []


async def test_the_files_of_many_calls_are_removed_in_parts(
    tenant: Tenant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording_retention, "MOST_CALLS", 2)
    made = [await talked(tenant, ago_ms=(days + 80) * DAY) for days in range(5)]
    for call_id in made:
        await fetch(tenant, call_id)
    left: list[int] = []
    for _ in range(3):
        await sweep(tenant, ahead_ms=11 * DAY)
        left.append(sum(len(files(tmp_path, call_id)) for call_id in made))
    assert left == [3, 1, 0]


async def test_every_plan_has_a_retention_that_the_sweep_knows(tenant: Tenant) -> None:
    for plan in ("starter", "pro", "growth", "enterprise"):
        async with tenant.another_organization(plan=plan) as other:
            await sweep(tenant)
            lag = tenant.services.clock.now_ms() - await watermark(other)
            assert 90 * DAY <= lag < 90 * DAY + MINUTE
    unknown = select(organizations.c.id).where(organizations.c.recordings_deleted_before == 0)
    assert await tenant.database.read(lambda c: c.execute(unknown).scalars().all()) == []
