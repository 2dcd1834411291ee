"""`callwright mcp` in front of a minimal service, both in processes and on sockets as people have them."""

import json
from pathlib import Path
from typing import Any, cast

import anyio
import pytest

from callwright.server.embedded.embedded import listener_on, listening
from tests.fakes.minimal_service import KEY, MediaHost, MinimalService
from tests.support.processes.programs import ERAS, START_S, assistant

DOCUMENT: dict[str, Any] = {
    "paths": {
        "/v1/agents": {
            "post": {
                "requestBody": {
                    "content": {"application/json": {"schema": {"properties": {"mood": {"type": "string"}}}}}
                }
            }
        }
    }
}


@pytest.mark.parametrize("era", ERAS)
async def test_calls_transcripts_and_new_fields_of_another_service(tmp_path: Path, era: Any) -> None:
    media = MediaHost()
    media.files["/transcripts/1"] = ("text/vtt", b"WEBVTT\n\n00:01.000 --> 00:02.000\n<v Agent>Hello.</v>\n")
    media.files["/recordings/1.mp3"] = ("audio/mpeg", b"ID3" + bytes(500))
    with anyio.fail_after(START_S * 2), listener_on() as here, listener_on() as there:
        async with listening(media, there) as media_url:
            service = MinimalService(elsewhere=media_url.removesuffix("/v1"), document=DOCUMENT)
            async with listening(service.asgi, here) as base_url:
                settings = {"CALLWRIGHT_BASE_URL": base_url, "CALLWRIGHT_API_KEY": KEY}
                async with assistant(tmp_path, era=era, settings=settings) as hand:
                    calls = await hand.use("list_calls", per_page=2)
                    said = await hand.use("get_transcript", call_id="cal_1")
                    sound = await hand.use("get_recording", call_id="cal_1")
                    absent = await hand.refused("search_transcripts", query="price")
                    with anyio.fail_after(START_S):
                        while "mood" not in await properties_of(hand.client, "create_agent"):
                            pass  # each look is a round trip; the document is read in the background
                    await hand.use(
                        "create_agent",
                        name="Bo",
                        voice_id="voice-1",
                        system_prompt="Hi.",
                        mood="kind",
                        language="en-US",
                    )
    assert [call["call_id"] for call in calls["data"]] == ["cal_1", "cal_2"]
    assert said["turns"] == [
        {"index": 0, "role": "agent", "text": "Hello.", "start_seconds": 1.0, "end_seconds": 2.0},
    ]
    assert sound["size_bytes"] == 503
    assert absent.startswith("This service does not offer search_transcripts")
    assert {one.path for one in media.seen} == {"/transcripts/1", "/recordings/1.mp3"}
    assert KEY not in json.dumps([dict(one.headers) for one in media.seen])
    (made,) = service.asked("POST", "/v1/agents")
    assert made.body["mood"] == "kind"
    assert hand.log.read_text(encoding="utf-8") == ""


async def properties_of(client: Any, tool: str) -> dict[str, Any]:
    """The arguments that a tool takes, as it is listed now."""
    listed = (await client.list_tools(cache_mode="bypass")).tools
    schema = next(found for found in listed if found.name == tool).input_schema
    return cast("dict[str, Any]", schema["properties"])
