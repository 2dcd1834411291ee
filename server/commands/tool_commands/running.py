"""Runs one tool for a person in a shell: through the MCP server, in this process, as any host does.

So arguments are checked, names looked up, people asked and numbers masked as for an assistant.
"""

import base64
import hashlib
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anyio import move_on_after, sleep
from mcp import Client as McpClient
from mcp.client.session import ElicitationFnT
from mcp.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from callwright.server.commands.mcp import new_session, tools_of
from callwright.server.embedded.embedded import embedded, remote
from callwright.server.mcp.app import build
from callwright.server.mcp.remote import learn
from callwright.server.mcp.resources.resources import SCHEME
from callwright.server.settings import ProgramSettings
from callwright.service.platform.data_folder import DataFolder
from callwright.tools.arguments.file_arguments import READS_FILES

IMPORT_LIMIT_S = 6 * 3600.0
"""How long a command waits for the import that it began: hosts give up after a minute, a shell does not."""
_FIRST_PAUSE_S, _LONGEST_PAUSE_S, _GROWTH = 0.1, 1.0, 1.5
SENDING = "callwright shell"
"""Begins what the key of the sentences is made of, so that it is no other key."""


@dataclass(frozen=True)
class ToolAnswer:
    """The answer of a tool: words as a model reads them, the data behind them, and whether it refused."""

    words: str
    data: Mapping[str, Any]
    refused: bool
    sound: bytes | None = None
    """The sound that the answer carries or links to, if it was asked for."""
    served_here: bool = False
    """Whether this process served the data folder, so that its campaigns stop when it ends."""


async def answer_of(
    settings: ProgramSettings,
    tool: str,
    arguments: Mapping[str, Any],
    *,
    asks: ElicitationFnT | None = None,
    unknown: Sequence[str] = (),
    folders: Sequence[Path] = (),
    tell: Callable[[str], None] | None = None,
    hears: bool = False,
) -> ToolAnswer:
    """Runs a tool once.

    `asks` puts a question to the person; without it a tool that needs a yes refuses with the sentence to pass on.
    `unknown` are arguments that no declaration has: with a remote service, its own description is read for them.
    `folders` are those of files that the person named. `tell` gets the words of its progress.
    With `hears` the sound of an answer is fetched.

    Raises:
        CallwrightError: the service cannot be reached or started.
    """
    here = settings.base_url is None and not DataFolder(settings.data).is_held()

    async def told(progress: float, total: float | None, message: str | None) -> None:
        del progress, total
        if tell is not None and message:
            tell(message)

    async with host_of(settings, asks, folders, here=here, learns=bool(unknown)) as host:
        found = await host.call_tool(tool, dict(arguments), progress_callback=told)
        # What is read from a path is waited for by the tool itself.
        if tool == READS_FILES and not found.is_error and not {"path", "wait_seconds"} & set(arguments):
            found = await _ended(host, found)
        sound = await _sound(host, found) if hears and not found.is_error else None
    words = "\n".join(part.text for part in found.content if isinstance(part, TextContent))
    return ToolAnswer(words, found.structured_content or {}, bool(found.is_error), sound, here)


async def _ended(host: McpClient, begun: CallToolResult) -> CallToolResult:
    """How an import ended, or how it stands at the limit: where nothing else serves the folder it stops with this."""
    which: dict[str, Any] = begun.structured_content or {}
    asked = {"audience_id": which.get("audience_id"), "import_id": which.get("id")}
    seen, pause = begun, _FIRST_PAUSE_S
    with move_on_after(IMPORT_LIMIT_S):
        while _status_of(seen) in ("pending", "importing"):
            await sleep(pause)
            pause = min(pause * _GROWTH, _LONGEST_PAUSE_S)
            now = await host.call_tool("get_audience_import", asked)
            if now.is_error:
                break
            seen = now
    return seen


def _status_of(found: CallToolResult) -> object:
    data: dict[str, Any] = found.structured_content or {}
    return data.get("status")


async def _sound(host: McpClient, found: CallToolResult) -> bytes | None:
    """The sound of an answer, or of the resource that it links to; None if neither is there."""
    for part in found.content:
        if isinstance(part, AudioContent):
            return base64.b64decode(part.data)
    for part in found.content:
        if isinstance(part, ResourceLink) and part.uri.startswith(SCHEME):
            read = await host.read_resource(part.uri)
            for one in read.contents:
                if isinstance(one, BlobResourceContents):
                    return base64.b64decode(one.blob)
    return None


async def text_at(host: McpClient, address: str) -> str:
    """The text of a resource."""
    read = await host.read_resource(address)
    return "".join(one.text for one in read.contents if isinstance(one, TextResourceContents))


@asynccontextmanager
async def host_of(
    settings: ProgramSettings,
    asks: ElicitationFnT | None = None,
    folders: Sequence[Path] = (),
    *,
    here: bool = False,
    learns: bool = False,
) -> AsyncGenerator[McpClient]:
    """An MCP client of a server in this process, with the service that the settings name.

    With `here` this process serves the folder itself, so that its address is told to nobody.
    """
    address: str | None = settings.base_url

    def say_address(base_url: str) -> None:
        nonlocal address
        address = None if here else base_url  # an address that ends with this command is of no use to a person

    opened = embedded(settings, say_address) if settings.base_url is None else remote(settings)
    async with opened as client:
        session = new_session(settings, connected=client, secret=_secret(settings))
        session.base_url = address
        if learns and settings.base_url is not None:
            await learn(client, settings, session)
        server = build(session.opened, tools=tools_of(settings, folders, patience_s=IMPORT_LIMIT_S))
        async with McpClient(server, elicitation_callback=asks) as host:
            yield host


def _secret(settings: ProgramSettings) -> bytes | None:
    """The key that signs the sentences of a confirmation, the same in the next command: it is made of the API key.

    Who holds that key needs no sentence: the REST service takes it as it is.
    """
    key = settings.api_key if settings.base_url is not None else DataFolder(settings.data).key()
    return None if key is None else hashlib.sha256(f"{SENDING} {key}".encode()).digest()
