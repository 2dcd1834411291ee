"""Reads resources from the service on each request, and puts errors into words."""

from collections.abc import Awaitable, Callable, Mapping

from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from pydantic import ValidationError

from callwright.client.errors import CallwrightError, InvalidArguments, InvalidRequest, NotFound
from callwright.server.mcp.resources.calls import (
    call,
    recording,
    transcript_json,
    transcript_markdown,
    transcript_vtt,
)
from callwright.server.mcp.resources.campaigns import agent_prompt, deployment, voice_preview
from callwright.server.mcp.resources.content import Content
from callwright.server.mcp.resources.policy import policy
from callwright.server.mcp.resources.resources import Address, BadAddress, refused
from callwright.server.mcp.resources.tables import calls, outcomes, rejects, report
from callwright.server.mcp.session import ServerSession
from callwright.server.mcp.topics import guide, guides
from callwright.tools.catalogue.registry import tool_named
from callwright.tools.replies.errors import explained_to
from callwright.tools.wording.mentions import offered_words

Read = Callable[[ServerSession, Address], Awaitable[Content]]


async def read(session: ServerSession, address: Address) -> Content:
    """The content of a resource.

    Raises:
        ResourceNotFoundError: the service has no such resource.
        MCPError: -32602, a parameter of the address is wrong; the text says how.
        ResourceError: it cannot be read now; the text says why and what to do.
    """
    reader, tool = READERS[address.template.name]
    try:
        return await reader(session, address)
    except BadAddress as error:
        raise refused(str(error), address.uri) from error
    except (NotFound, ValidationError) as error:
        found = offered_words(f"Unknown resource. {_finder(tool)} shows what exists.", session.offers)
        raise ResourceNotFoundError(found) from error
    except (InvalidRequest, InvalidArguments) as error:
        raise refused(explained_to(session, error, tool_named(tool)), address.uri) from error
    except CallwrightError as error:
        raise ResourceError(explained_to(session, error, tool_named(tool))) from error


READERS: Mapping[str, tuple[Read, str]] = {
    "call": (call, "get_call"),
    "transcript": (transcript_markdown, "get_transcript"),
    "transcript_md": (transcript_markdown, "get_transcript"),
    "transcript_json": (transcript_json, "get_transcript"),
    "transcript_vtt": (transcript_vtt, "get_transcript"),
    "recording": (recording, "get_recording"),
    "agent_prompt": (agent_prompt, "get_agent"),
    "deployment": (deployment, "get_deployment"),
    "report": (report, "list_contacts"),
    "deployment_calls": (calls, "list_calls"),
    "deployment_outcomes": (outcomes, "get_deployment"),
    "rejects": (rejects, "list_import_errors"),
    "voice_preview": (voice_preview, "get_voice"),
    "policy": (policy, "get_overview"),
    "guides": (guides, "get_overview"),
    "guide": (guide, "get_overview"),
}
"""The reader of each kind, and the tool whose texts explain its errors."""


def _finder(tool: str) -> str:
    return f"list_{tool_named(tool).operation.noun}"
