"""A host of MCP Apps for tests: it shows a page of the protocol server and carries its requests to that server."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, cast

import anyio
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import TextResourceContents
from playwright.async_api import Browser, Frame, FrameLocator, Page, Route
from playwright.async_api import Error as PlaywrightError

from callwright.server.mcp.app import CallwrightServer

PAGE = Path(__file__).with_name("host.html")
LIMIT_S = 120.0
WAIT_MS = 20_000
BEGIN = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
"""The time in a browser whose clock the test moves."""
WIDE = 760
NARROW = 320
# What hosts must enforce for a page that declares no address. Source: the specification of MCP Apps, of 2026-01-26.
POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
    "img-src 'self' data:; font-src 'self'; media-src 'self' data:; frame-src 'none'; object-src 'none'; "
    "base-uri 'self'"
)
EVERYTHING: dict[str, Any] = {"serverTools": {}, "serverResources": {}, "logging": {}}

Answer = dict[str, Any]
Notification = Literal["tool-input", "tool-result", "tool-cancelled", "host-context-changed"]


def refusal(message: str, code: int = -32000) -> Answer:
    """An answer that is an error of the protocol."""
    return {"error": {"code": code, "message": message}}


def failure(words: str) -> Answer:
    """An answer of a tool that failed."""
    return {"result": {"content": [{"type": "text", "text": words}], "isError": True}}


@dataclass
class Host:
    """A host with one page of the server in it.

    `refusing` answers instead of the server, by tool name, resource address or method. `asked` lists what the page has
    asked for, `fetched` the addresses that anything tried to fetch, `complaints` what the browser's console said.
    """

    client: Client
    page: Page
    refusing: dict[str, Answer] = field(default_factory=dict[str, Answer])
    asked: list[str] = field(default_factory=list[str])
    fetched: list[str] = field(default_factory=list[str])
    complaints: list[str] = field(default_factory=list[str])

    @property
    def view(self) -> FrameLocator:
        """The page that is shown."""
        return self.page.frame_locator("iframe")

    @property
    def frame(self) -> Frame:
        """The page that is shown, to run scripts in."""
        return next(frame for frame in self.page.frames if frame is not self.page.main_frame)

    async def show(
        self, tool: str, arguments: dict[str, Any], *, capabilities: dict[str, Any] | None = None, **context: Any
    ) -> Answer:
        """Shows the page of a tool, as a host does that calls the tool, and gives the tool's result."""
        await self.open(tool, capabilities=capabilities, **context)
        await self.tell("tool-input", {"arguments": arguments})
        result = await self.call(tool, arguments)
        await self.tell("tool-result", result)
        return result

    async def open(self, tool: str, *, capabilities: dict[str, Any] | None = None, **context: Any) -> None:
        """Shows the page of a tool that has not been called yet."""
        listed = await self.client.list_tools()
        meta = next(found.meta for found in listed.tools if found.name == tool)
        assert meta is not None
        read = await self.client.read_resource(meta["ui"]["resourceUri"])
        content = read.contents[0]
        assert isinstance(content, TextResourceContents)
        offered = {
            "hostCapabilities": EVERYTHING if capabilities is None else capabilities,
            "hostContext": {"theme": "light", "locale": "en-US", "timeZone": "UTC", **context},
        }
        await self.page.evaluate(
            "([html, policy, offer]) => show(html, policy, offer)", [content.text, POLICY, offered]
        )
        await self.heard("ui/notifications/initialized")

    async def tell(self, notification: Notification, params: Answer) -> None:
        """Sends the page a notification."""
        await self.page.evaluate(
            "([name, params]) => notify(`ui/notifications/${name}`, params)", [notification, params]
        )

    async def heard(self, method: str) -> None:
        """Waits until the page has sent this."""
        await self.page.wait_for_function(
            "(method) => heard.some((message) => message.method === method)", arg=method, timeout=WAIT_MS
        )

    async def settled(self) -> None:
        """Waits until the page has the height it asked for, and the browser has painted it."""
        await self.until("Math.abs(document.body.getBoundingClientRect().height - window.innerHeight) <= 1")
        await self.frame.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    async def until(self, expression: str) -> None:
        """Waits until this is true in the page. Playwright's own way needs `eval`, which the page's policy forbids."""
        with anyio.fail_after(WAIT_MS / 1_000):
            while not await self.frame.evaluate(expression):  # noqa: ASYNC110  # the browser goes on by itself
                await anyio.sleep(0.02)

    async def call(self, tool: str, arguments: dict[str, Any]) -> Answer:
        """The result of a tool as it goes over the line."""
        result = await self.client.call_tool(tool, arguments)
        return result.model_dump(mode="json", by_alias=True, exclude_none=True)

    async def bridge(self, method: str, params: dict[str, Any]) -> Answer:
        """Carries a request of the page to the server."""
        wanted: str = params["name"] if method == "tools/call" else params["uri"]
        self.asked.append(wanted)
        for key in (wanted, method):
            if key in self.refusing:
                return self.refusing[key]
        try:
            if method == "tools/call":
                return {"result": await self.call(wanted, params["arguments"])}
            read = await self.client.read_resource(wanted)
        except MCPError as error:
            return refusal(error.error.message, error.error.code)
        return {"result": read.model_dump(mode="json", by_alias=True, exclude_none=True)}


@asynccontextmanager
async def hosted(
    server: CallwrightServer,
    browser: Browser,
    *,
    era: str = "auto",
    width: int = WIDE,
    pixels: float = 1,
    reduced_motion: bool = False,
    clock: bool = False,
) -> AsyncGenerator[Host]:
    """A host connected to the server; after two minutes it gives up. Open it inside the test body.

    With `clock` the time in the browser stands still unless the test moves it. At the end no page may have fetched
    anything, and the console must have been silent.
    """
    with anyio.fail_after(LIMIT_S):
        async with Client(server, mode=era) as client, _page(browser, width, pixels, reduced_motion) as page:
            host = Host(client, page)

            async def refuse(route: Route) -> None:
                host.fetched.append(route.request.url)
                await route.abort()

            await page.route("**/*", refuse)
            page.on("console", lambda message: host.complaints.append(f"{message.type}: {message.text}"))
            page.on("pageerror", lambda error: host.complaints.append(f"error: {error}"))
            await cast("Any", page).expose_function("bridge", host.bridge)  # its own types are partly unknown
            if clock:
                await page.clock.install(time=BEGIN)
            await page.set_content(PAGE.read_text(encoding="utf-8"))
            if clock:
                await _stand_still(page)
            yield host
            assert (host.fetched, host.complaints) == ([], [])


async def _stand_still(page: Page) -> None:
    """Stops the time in the browser, a second later than it is there by now: it goes on until it is told."""
    for tries_left in reversed(range(5)):
        now = datetime.fromtimestamp(await page.evaluate("Date.now()") / 1_000, UTC)
        try:
            await page.clock.pause_at(now + timedelta(seconds=1))
        except PlaywrightError:  # that second was over before it heard
            if not tries_left:
                raise
        else:
            return


@asynccontextmanager
async def _page(browser: Browser, width: int, pixels: float, reduced_motion: bool) -> AsyncGenerator[Page]:
    page = await browser.new_page(
        viewport={"width": width, "height": 900},
        device_scale_factor=pixels,
        reduced_motion="reduce" if reduced_motion else "no-preference",
    )
    try:
        page.set_default_timeout(WAIT_MS)
        yield page
    finally:
        await page.close()
