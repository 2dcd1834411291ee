"""Somebody at the dashboard, in a browser."""

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.async_api import Browser, Frame
from playwright.async_api import Page as Tab

from tests.support.dashboard import login_code
from tests.support.service import Tenant, open_service
from tests.support.talks import answering

LIMIT_MS = 60_000


@dataclass
class Seat:
    """Somebody at the dashboard, and what went wrong in their browser."""

    tab: Tab
    tenant: Tenant
    root: str
    complaints: list[str] = field(default_factory=list[str])

    @property
    def frame(self) -> Frame:
        """The frame with the page."""
        return self.tab.main_frame

    async def open(self, path: str) -> None:
        """Opens a page."""
        await self.tab.goto(self.root + path)

    async def press(self, words: str) -> None:
        """Presses a button or follows a link with these words."""
        await self.tab.locator("main").locator("button, a").filter(has_text=re.compile(f"^{words}")).first.click()


@asynccontextmanager
async def seated(
    browser: Browser,
    database_url: str,
    data: Path,
    *,
    width: int = 1280,
    host: str = "127.0.0.1",
) -> AsyncGenerator[Seat]:
    """A service over HTTP, and somebody who logs in to it by a link, at an address or at `localhost`."""
    async with open_service(database_url, data) as tenant, answering(tenant) as root:
        root = root.replace("127.0.0.1", host)
        context = await browser.new_context(viewport={"width": width, "height": 900})
        tab = await context.new_page()
        tab.set_default_timeout(LIMIT_MS)
        seat = Seat(tab, tenant, root)
        tab.on("console", lambda message: seat.complaints.append(message.text))
        tab.on("pageerror", lambda error: seat.complaints.append(str(error)))
        tab.on("dialog", lambda dialog: seat.complaints.append(dialog.message))
        try:
            await tab.goto(f"{root}/login#{await login_code(tenant)}")
            await tab.wait_for_url("**/campaigns")
            yield seat
        finally:
            await context.close()
