"""Recordings over the typed client and by hand: formats, ranges, tags, and what is said when there is none."""

from datetime import timedelta
from typing import Any

import pytest

from callwright.service.speech.synthesiser import SpeechUnavailable
from tests.support.calls.stored_calls import put_call
from tests.support.http.raw_requests import AsyncClient, refused
from tests.support.resources import refusal
from tests.support.service import Tenant

MOST = 5_000_000


@pytest.mark.requirement("PATH-30")
async def test_a_recording_is_mp3_unless_wav_is_asked_for(tenant: Tenant) -> None:
    call_id = await put_call(tenant, turns=2, duration_ms=4_000)
    async with tenant.client.calls.get_recording(call_uuid=call_id) as download:
        assert (download.status, download.media_type) == (200, "audio/mpeg")
        mp3 = await download.read(MOST)
    async with tenant.client.calls.get_recording(call_uuid=call_id, format="wav") as download:
        assert download.media_type == "audio/wav"
        wav = await download.read(MOST)
    assert mp3[:3] == b"ID3" or mp3[0] == 0xFF
    assert (wav[:4], wav[8:12]) == (b"RIFF", b"WAVE")
    assert len(wav) > len(mp3) > 1_000


async def test_a_part_of_a_recording_is_that_part_of_the_whole(tenant: Tenant) -> None:
    request = tenant.client.calls.get_recording(call_uuid=await put_call(tenant, turns=2, duration_ms=4_000))
    async with request as download:
        whole, etag = await download.read(MOST), download.etag
    async with request.asking(range_bytes=(100, 299)) as download:
        assert download.status == 206
        assert download.content_range is not None
        assert download.content_range.total_bytes == len(whole)
        assert await download.read(MOST) == whole[100:300]
    async with request.asking(range_bytes=(len(whole) - 10, None)) as download:
        assert await download.read(MOST) == whole[-10:]
    async with request.asking(if_none_match=etag) as download:
        assert (download.status, await download.read(MOST), download.etag) == (304, b"", etag)
    async with request.asking(if_none_match='"other"') as download:
        assert (download.status, await download.read(MOST)) == (200, whole)


async def test_a_recording_says_that_it_is_simulated_and_head_tells_its_size(tenant: Tenant, http: AsyncClient) -> None:
    path = f"/v1/calls/{await put_call(tenant, turns=2, duration_ms=4_000)}/recording"
    got, headed = await http.get(path), await http.head(path)
    assert got.headers["x-service-simulated"] == "true"
    assert got.headers["x-request-id"].startswith("req_")
    assert got.headers["accept-ranges"] == "bytes"
    assert headed.status_code == 200
    assert headed.headers["content-length"] == str(len(got.content))
    for tags in ("*", f'"x", {got.headers["etag"]}', f"W/{got.headers['etag']}"):
        assert (await http.get(path, headers={"If-None-Match": tags})).status_code == 304
    refused(await http.get(path, params={"format": "ogg"}), 400, "invalid_field", "format")


async def test_a_recording_is_kept_for_the_days_of_the_plan_and_says_until_when(tenant: Tenant) -> None:
    call_id = await put_call(tenant, turns=2)
    call = await tenant.client.calls.get(call_uuid=call_id)
    assert call.ended_at is not None
    days = (await tenant.client.overview.get()).limits.recording_retention_days
    assert call.recording.kept_until == call.ended_at + timedelta(days=days)
    (listed,) = (await tenant.client.calls.list()).data
    assert listed.recording == call.recording


async def test_without_a_recording_there_is_no_end_of_it(tenant: Tenant) -> None:
    silent = await put_call(tenant)
    old = await put_call(tenant, turns=2, ended_at=1_000_000_000_000, to_number="+12125550101")
    going: dict[str, Any] = {"status": "in_progress", "outcome": None, "ended_at": None}
    under_way = await put_call(tenant, turns=2, to_number="+12125550102", **going)
    states = {}
    for call_id in (silent, old, under_way):
        recording = (await tenant.client.calls.get(call_uuid=call_id)).recording
        states[call_id] = recording.status
        assert recording.kept_until is None
    assert states == {silent: "absent", old: "deleted", under_way: "processing"}


@pytest.mark.requirement("RES-11")
async def test_a_call_without_a_word_has_no_recording(tenant: Tenant) -> None:
    under_way: dict[str, Any] = {"ended_at": None, "status": "in_progress", "outcome": None}
    for call_id in (await put_call(tenant), await put_call(tenant, turns=2, to_number="+12125550177", **under_way)):
        async with refusal(404, "not_found"):
            async with tenant.client.calls.get_recording(call_uuid=call_id):
                raise AssertionError("there is nothing to open")


@pytest.mark.requirement("ERR-76")
async def test_without_a_synthesiser_there_is_an_honest_refusal(
    tenant: Tenant, http: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unavailable(*_: object, **__: object) -> None:
        raise SpeechUnavailable("no espeak-ng library was found")

    monkeypatch.setattr(tenant.services.recordings, "open", unavailable)
    answer = await http.get(f"/v1/calls/{await put_call(tenant, turns=2)}/recording")
    found = refused(answer, 503, "service_unavailable")
    assert "espeak-ng" in found["message"]
