"""Everything the server offers, through the real program and the official client, on both eras of the protocol."""

import base64
import json
from pathlib import Path
from typing import Literal, cast

import anyio
import pytest
from mcp import Client
from mcp.types import (
    AudioContent,
    BlobResourceContents,
    ResourceLink,
    ResourceTemplateReference,
    TextContent,
    TextResourceContents,
)

from callwright.prompts.registry import PROMPTS
from callwright.server.mcp.resources.resources import TEMPLATES
from callwright.tools.catalogue.registry import TOOLS
from tests.journeys.receiver import SETTINGS, receiving
from tests.journeys.scenario import Built, build_and_run, steer
from tests.journeys.scenario_of_events import tell
from tests.support.processes.programs import ERAS, Assistant, assistant, text_of

both_eras = pytest.mark.parametrize("era", ERAS)
REFUSED = {"resolve_call", "import_phone_number", "remove_provider"}
"""Tools that can only refuse here: there is no SIP trunk, no assistant sets a provider, and of every call it is known
whether it rang."""
SOUNDS = {"recording", "voice_preview"}
EVERYTHING = {"CALLWRIGHT_PROFILE": "all", **SETTINGS}
AS_IN_LIFE = {**EVERYTHING, "CALLWRIGHT_SIM_TIME_SCALE": "1"}


def is_mpeg(sound: bytes) -> bool:
    """Whether bytes begin as an MP3 file does: with a tag, or with the sync word of a frame."""
    return sound.startswith(b"ID3") or (sound[0] == 0xFF and sound[1] & 0xE0 == 0xE0)


@both_eras
async def test_every_tool_resource_and_prompt_works_over_stdio(era: Literal["legacy", "auto"], tmp_path: Path) -> None:
    data = tmp_path / "data"
    with anyio.fail_after(180):
        async with receiving() as receiver, assistant(tmp_path, "--data", data, era=era, settings=EVERYTHING) as found:
            assert (found.client.protocol_version >= "2026-07-28") is (era == "auto")
            await lists_everything(found.client)
            built = await build_and_run(found)
            await sound_comes_along(found, built.call_id)
            await every_resource(found.client, built)
            await ids_are_completed(found.client, built)
            await every_prompt(found.client, built)
            await tell(found, built, receiver)
        async with assistant(tmp_path, "--data", data, era=era, settings=AS_IN_LIFE) as second:
            await steer(second, built)
    assert [one.log.read_text(encoding="utf-8") for one in (found, second)] == ["", ""]
    assert {tool.name for tool in TOOLS} - found.used - second.used == REFUSED


async def lists_everything(client: Client) -> None:
    tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == [tool.name for tool in TOOLS]
    assert all(tool.output_schema and tool.annotations and tool.title for tool in tools)
    templates = (await client.list_resource_templates()).resource_templates
    assert [template.uri_template for template in templates] == [one.uri for one in TEMPLATES if not one.is_fixed]
    prompts = (await client.list_prompts()).prompts
    assert [prompt.name for prompt in prompts] == [prompt.name for prompt in PROMPTS]


async def sound_comes_along(found: Assistant, call_id: str) -> None:
    linked = await found.result("get_recording", call_id=call_id)
    links = [part for part in linked.content if isinstance(part, ResourceLink)]
    assert [(str(link.uri), link.mime_type) for link in links] == [
        (f"callwright://calls/{call_id}/recording", "audio/mpeg")
    ]
    with_sound = await found.result("get_recording", call_id=call_id, inline=True)
    assert "too large" not in text_of(with_sound)
    sounds = [base64.b64decode(part.data) for part in with_sound.content if isinstance(part, AudioContent)]
    assert [(is_mpeg(sound), len(sound)) for sound in sounds] == [(True, links[0].size)]


async def every_resource(client: Client, built: Built) -> None:
    values = values_of(built)
    texts: dict[str, str] = {}
    for template in TEMPLATES:
        uri = template.address({name: values[name] for name in template.variables if name in values})
        (part,) = (await client.read_resource(uri)).contents
        assert part.mime_type == template.mime_type
        if isinstance(part, TextResourceContents):
            texts[template.name] = part.text
        else:
            assert isinstance(part, BlobResourceContents)
            assert template.name in SOUNDS
            assert is_mpeg(base64.b64decode(part.blob))
    assert set(texts) == {template.name for template in TEMPLATES} - SOUNDS
    assert json.loads(texts["call"])["id"] == built.call_id
    assert "Hello Maria, this is Ada" in texts["transcript"]
    assert json.loads(texts["transcript_json"])["turns"][0]["role"] == "agent"
    assert texts["transcript_vtt"].startswith("WEBVTT")
    assert "Bright Dental" in texts["agent_prompt"]
    assert json.loads(texts["deployment"])["status"] == "completed"
    assert texts["report"].count("\n") == 1 + json.loads(texts["deployment"])["stats"]["contacts"]
    assert ",invalid_phone," in texts["rejects"]
    assert "- Simulated: no telephone rings" in texts["policy"]
    listed = {resource.uri for resource in (await client.list_resources()).resources}
    assert f"callwright://deployments/{built.deployment_id}" in listed
    assert f"callwright://calls/{built.call_id}/transcript" in listed
    (part,) = (await client.read_resource(f"callwright://calls/{built.call_id}/recording?from=1&to=2")).contents
    assert isinstance(part, BlobResourceContents)
    assert is_mpeg(base64.b64decode(part.blob))


def values_of(built: Built) -> dict[str, str]:
    """A value for every variable of a path."""
    return {
        "call_id": built.call_id,
        "agent_id": built.agent_id,
        "audience_id": built.audience_id,
        "deployment_id": built.deployment_id,
        "voice_id": "en-US-ada",
        "topic": "outcomes",
    }


async def ids_are_completed(client: Client, built: Built) -> None:
    for template in TEMPLATES:
        for name, wanted in values_of(built).items():
            if name in template.variables:
                typed = {"name": name, "value": wanted[:6]}
                ref = ResourceTemplateReference(type="ref/resource", uri=template.uri)
                assert wanted in (await client.complete(ref, typed)).completion.values


async def every_prompt(client: Client, built: Built) -> None:
    given = {"goal": "remind patients", "question": "who said no?", "audience": built.audience_id, "agent": "Ada"}
    given |= {"deployment_id": built.deployment_id, "call_id": built.call_id}
    for prompt in PROMPTS:
        arguments = {argument.name: given[argument.name] for argument in prompt.arguments}
        (message,) = (await client.get_prompt(prompt.name, arguments)).messages
        text = cast("TextContent", message.content).text
        assert all(value in text for value in arguments.values())
