"""Calls tools as an assistant does, and shows in a terminal which."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp import Client as McpClient
from mcp.types import TextContent
from rich.console import Console

from callwright.client import Client
from callwright.server.commands.mcp import new_session, tools_of
from callwright.server.embedded.embedded import embedded
from callwright.server.mcp.app import build
from callwright.server.settings import read_settings


class DemoFailed(Exception):
    """A tool answered with an error; the text says which."""


class Assistant:
    """Calls tools and returns their answers as data."""

    def __init__(self, client: McpClient, console: Console) -> None:
        self._client = client
        self._console = console

    async def use(self, tool: str, shown: str = "", **arguments: Any) -> dict[str, Any]:
        """Calls a tool and shows that. Raises `DemoFailed` with its text if it fails."""
        self._console.print(f"[cyan]→ {tool}[/] [dim]{shown}[/]", highlight=False)
        return await self.use_quietly(tool, **arguments)

    async def use_quietly(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Calls a tool. Raises `DemoFailed` with its text if it fails."""
        result = await self._client.call_tool(tool, arguments)
        words = "\n".join(part.text for part in result.content if isinstance(part, TextContent))
        if result.is_error:
            raise DemoFailed(f"{tool}: {words}")
        return result.structured_content or {}


@asynccontextmanager
async def assistant_at(
    console: Console, data: Path, folders: Sequence[Path] = ()
) -> AsyncGenerator[tuple[Assistant, Client]]:
    """An assistant with every tool, and a client, of the service in a folder. `folders` are those it may read from.

    No setting of the environment counts, so the network is the simulated one and nobody has to be asked.
    """
    settings = read_settings({}, data=data, profile="all")
    async with embedded(settings, lambda _: None) as client:
        session = new_session(settings, connected=client)
        async with McpClient(build(session.opened, tools=tools_of(settings, folders))) as mcp:
            yield Assistant(mcp, console), client
