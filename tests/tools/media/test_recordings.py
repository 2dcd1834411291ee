"""get_recording: a link, and the sound where it is small."""

import base64
from datetime import UTC, datetime
from typing import Any

import pytest
from mcp.types import AudioContent, CallToolResult, ResourceLink

from callwright.client.errors import ServiceFailed
from callwright.contract.calls.calls import RecordingState
from callwright.tools.media.recordings import GetRecordingInline, recording
from tests.support.tools import samples
from tests.support.tools.fakes import FakeCaller, FakeMedia, assistant, server, use_of
from tests.support.tools.results import text_of


async def asked(
    caller: FakeCaller, era: str = "2026-07-28", *, base_url: str | None = "http://127.0.0.1:8080/v1", **given: Any
) -> CallToolResult:
    async with assistant(server(caller, base_url=base_url), era) as client:
        return await client.call_tool("get_recording", {"call_id": "cal_1", **given})


def links(result: CallToolResult) -> list[tuple[str, str | None, int | None]]:
    return [(block.uri, block.mime_type, block.size) for block in result.content if isinstance(block, ResourceLink)]


def sounds(result: CallToolResult) -> list[bytes]:
    return [base64.b64decode(block.data) for block in result.content if isinstance(block, AudioContent)]


async def test_it_links_to_the_resource_with_type_and_size(era: str) -> None:
    result = await asked(FakeCaller(media=FakeMedia(bytes(2_000))), era)
    assert links(result) == [("callwright://calls/cal_1/recording", "audio/mpeg", 2_000)]
    assert sounds(result) == []
    assert result.structured_content == {
        "call_id": "cal_1",
        "media_type": "audio/mpeg",
        "size_bytes": 2_000,
        "duration_seconds": 65,
        "channels": 2,
        "simulated": True,
        "resource_uri": "callwright://calls/cal_1/recording",
        "url": "http://127.0.0.1:8080/v1/calls/cal_1/recording",
        "inline": False,
    }


async def test_a_small_recording_comes_along_when_asked_for(era: str) -> None:
    body = bytes(range(256)) * 700
    assert sounds(await asked(FakeCaller(media=FakeMedia(body)), era, inline=True)) == [body]


@pytest.mark.parametrize("says_size", [True, False])
async def test_a_large_recording_does_not_come_along(says_size: bool) -> None:
    media = FakeMedia(bytes(200_000), says_size=says_size)
    result = await asked(FakeCaller(media=media), inline=True)
    assert sounds(result) == []
    assert "too large to send along" in text_of(result)
    assert len(links(result)) == 1


async def test_above_the_cap_of_resources_the_link_goes_to_rest() -> None:
    result = await asked(FakeCaller(media=FakeMedia(bytes(1_000_001))))
    assert links(result) == [("http://127.0.0.1:8080/v1/calls/cal_1/recording", "audio/mpeg", 1_000_001)]
    assert "resource_uri" not in (result.structured_content or {})


async def test_wav_is_linked_over_rest() -> None:
    caller = FakeCaller(media=FakeMedia(bytes(9), media_type="audio/wav"))
    found = await recording(use_of(caller), GetRecordingInline(call_uuid="cal_1", format="wav"))
    (link,) = [block for block in found.more if isinstance(block, ResourceLink)]
    assert (link.uri, link.mime_type, link.size) == (
        "http://127.0.0.1:8080/v1/calls/cal_1/recording?format=wav",
        "audio/wav",
        9,
    )


async def test_an_assistant_is_not_asked_for_a_format() -> None:
    caller = FakeCaller()
    result = await asked(caller, format="wav")
    assert text_of(result) == "Invalid arguments: format: unknown argument. Allowed: call_id, inline."
    assert caller.asked == []


async def test_it_says_how_long_the_recording_is_kept(era: str) -> None:
    state = RecordingState(status="available", duration_seconds=65, kept_until=datetime(2027, 2, 19, 9, 30, tzinfo=UTC))
    caller = FakeCaller(answers={"get_call": samples.call(recording=state)})
    result = await asked(caller, era)
    assert "  kept until 2027-02-19 09:30Z  " in text_of(result)
    assert (result.structured_content or {})["kept_until"] == "2027-02-19T09:30:00Z"
    async with assistant(server(caller), era) as client:
        call = await client.call_tool("get_call", {"call_id": "cal_1"})
    assert "recording kept until 2027-02-19 09:30Z" in text_of(call).splitlines()


async def test_of_a_recording_that_is_not_kept_nothing_is_said_about_its_end() -> None:
    result = await asked(FakeCaller())
    assert "kept until" not in text_of(result)
    assert "kept_until" not in (result.structured_content or {})


async def test_without_rest_it_says_how_to_get_one() -> None:
    result = await asked(FakeCaller(media=FakeMedia(bytes(1_000_001))), base_url=None)
    assert links(result) == []
    assert "callwright serve" in text_of(result)


@pytest.mark.parametrize("status", ["absent", "deleted", "not_recorded"])
async def test_a_call_without_recording_says_why_and_asks_for_no_bytes(status: str) -> None:
    state = RecordingState.model_validate({"status": status})
    caller = FakeCaller(answers={"get_call": samples.call(recording=state)})
    result = await asked(caller)
    assert result.is_error
    assert "has no recording" in text_of(result)
    assert caller.names() == ["get_call"]


async def test_without_a_synthesiser_the_service_is_quoted() -> None:
    problem = ServiceFailed(
        "No speech synthesiser is installed.", code="service_unavailable", status=503, type="api_error"
    )
    result = await asked(FakeCaller(media=problem))
    assert result.is_error
    assert text_of(result).startswith("No speech synthesiser is installed.")
