"""The MCP server in front of a minimal service, in memory, with the real client between them."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from mcp import Client as McpClient

from callwright.client import Client
from callwright.client.transport import ASGITransport
from callwright.server.mcp.app import build
from callwright.server.mcp.remote import learn
from callwright.server.mcp.session import ServerSession
from callwright.server.settings import read_settings
from callwright.tools.runtime.tool_context import Caller, ConfirmMode
from tests.fakes.minimal_service import KEY, MediaHost, MinimalService
from tests.support.processes.programs import text_of
from tests.support.tools.fakes import FakeClock, assistant, numbered

ORIGIN = "https://voice.example"
OUTSIDE = "93.184.216.34"


async def outside(host: str, port: int) -> list[str]:
    """Every host lies outside."""
    del host, port
    return [OUTSIDE]


@dataclass
class Front:
    """A service, another host with its files, and the assistant's client in front of them."""

    service: MinimalService = field(default_factory=MinimalService)
    media: MediaHost = field(default_factory=MediaHost)
    base_url: str = ""
    confirm: ConfirmMode = "never"

    @property
    def base(self) -> str:
        """The base address that the client is given."""
        return self.base_url or ORIGIN + self.service.prefix

    def client(self) -> Client:
        """The client of the service."""
        return Client(
            self.base,
            KEY,
            transport=ASGITransport(app=self.service.asgi),
            other_hosts=ASGITransport(app=self.media),
            resolve=outside,
        )

    def session(self) -> ServerSession:
        """A session that connects to the service, and reads its description first."""
        settings = read_settings({"CALLWRIGHT_BASE_URL": self.base, "CALLWRIGHT_API_KEY": KEY})

        @asynccontextmanager
        async def connect() -> AsyncGenerator[Caller]:
            async with self.client() as client:
                await learn(client, settings, session)
                self.service.seen.clear()
                yield client

        session = ServerSession(connect, ids=numbered(), clock=FakeClock(), base_url=self.base, confirm=self.confirm)
        session.remote = True
        return session

    @asynccontextmanager
    async def assistant(self, era: str = "auto") -> AsyncGenerator["Hand"]:
        """The official client, connected in memory."""
        async with assistant(build(self.session().opened), era) as client:
            yield Hand(client)


@dataclass
class Hand:
    """Calls tools. The client holds every answer against the schema that is advertised."""

    client: McpClient

    async def use(self, tool: str, /, **arguments: object) -> tuple[str, dict[str, object]]:
        """A tool that succeeds: its words and its data."""
        result = await self.client.call_tool(tool, dict(arguments))
        assert not result.is_error, text_of(result)
        return text_of(result), dict(result.structured_content or {})

    async def refused(self, tool: str, /, **arguments: object) -> str:
        """A tool that refuses: its words."""
        result = await self.client.call_tool(tool, dict(arguments))
        assert result.is_error, text_of(result)
        return text_of(result)
