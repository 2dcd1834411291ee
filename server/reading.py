"""What each resource holds, read from the service at the moment of asking."""

import json
from collections.abc import Awaitable, Callable, Mapping

from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from pydantic import BaseModel, ValidationError

from callwright.client.errors import AnswerTooLarge, CallwrightError, NotFound
from callwright.contract.agents import GetAgent, get_agent
from callwright.contract.calls import GetCall, GetRecording, get_call, get_recording
from callwright.contract.deployments import GetDeployment, get_deployment
from callwright.tools.catalogue import tool_named
from callwright.tools.errors import explained
from callwright.tools.recordings import RESOURCE_BYTES, elsewhere, recording_url
from callwright.tools.tool import data_of
from callwright.tools.transcripts import absence, markdown, webvtt, whole_transcript
from callwright.tools.use import Session

Read = Callable[[Session, str], Awaitable[str | bytes]]


async def read(name: str, session: Session, wanted: str) -> str | bytes:
    """The content of a resource.

    Raises:
        ResourceNotFoundError: the service has no such thing.
        ResourceError: it cannot be had now; the text says why and what to do.
    """
    reader, tool = READERS[name]
    try:
        return await reader(session, wanted)
    except (NotFound, ValidationError) as error:
        raise ResourceNotFoundError(f"Unknown resource. {_finder(tool)} shows what exists.") from error
    except CallwrightError as error:
        raise ResourceError(explained(error, tool_named(tool))) from error


async def _call(session: Session, wanted: str) -> str:
    client = await session.client()
    return _json(await client.ask(get_call, GetCall(call_uuid=wanted)))


async def _transcript(session: Session, wanted: str) -> str:
    client = await session.client()
    call = await client.ask(get_call, GetCall(call_uuid=wanted))
    return markdown(await whole_transcript(client, wanted), call, tag=session.ids())


async def _transcript_json(session: Session, wanted: str) -> str:
    return _json(await whole_transcript(await session.client(), wanted))


async def _transcript_vtt(session: Session, wanted: str) -> str:
    transcript = await whole_transcript(await session.client(), wanted)
    if missing := absence(transcript):
        raise ResourceError(missing)
    return webvtt(transcript)


async def _recording(session: Session, wanted: str) -> str | bytes:
    client = await session.client()
    try:
        async with client.open(get_recording, GetRecording(call_uuid=wanted)) as media:
            return await media.read(RESOURCE_BYTES)
    except AnswerTooLarge:
        where = elsewhere(recording_url(session, wanted, "mp3"))
        return f"The recording is larger than {RESOURCE_BYTES:,} bytes, too large for a resource. {where}"


async def _agent_prompt(session: Session, wanted: str) -> str:
    client = await session.client()
    return (await client.ask(get_agent, GetAgent(id=wanted))).system_prompt


async def _deployment(session: Session, wanted: str) -> str:
    client = await session.client()
    return _json(await client.ask(get_deployment, GetDeployment(id=wanted)))


READERS: Mapping[str, tuple[Read, str]] = {
    "call": (_call, "get_call"),
    "transcript": (_transcript, "get_transcript"),
    "transcript_json": (_transcript_json, "get_transcript"),
    "transcript_vtt": (_transcript_vtt, "get_transcript"),
    "recording": (_recording, "get_recording"),
    "agent_prompt": (_agent_prompt, "get_agent"),
    "deployment": (_deployment, "get_deployment"),
}
"""How each template is read, and the tool whose words explain its errors."""


def _finder(tool: str) -> str:
    return f"list_{tool_named(tool).operation.noun}"


def _json(answer: BaseModel) -> str:
    return json.dumps(data_of(answer), ensure_ascii=False, indent=1)
