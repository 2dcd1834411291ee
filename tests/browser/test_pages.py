"""The pages for people in a browser: they ask for nothing else, fit the window, can be read and can be searched."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from playwright.async_api import Browser, Frame, Route
from playwright.async_api import Page as Tab

from callwright.contract.surface import OPERATIONS
from callwright.service.rest.pages.front import front_page
from callwright.service.rest.pages.page import Page
from callwright.service.rest.pages.reference.reference_page import reference_page
from tests.browser.appearance import overhang, pale_texts
from tests.browser.browser import needs_browser

pytestmark = [needs_browser, pytest.mark.asyncio(loop_scope="session")]
ADDRESS = "http://service/page"


@dataclass
class Opened:
    """A page in a tab, and what went wrong in it."""

    tab: Tab
    complaints: list[str] = field(default_factory=list[str])

    @property
    def frame(self) -> Frame:
        """The frame with the page."""
        return self.tab.main_frame

    async def shown(self, selector: str) -> int:
        """How many of the elements can be seen."""
        return await self.frame.evaluate(
            "(selector) => [...document.querySelectorAll(selector)].filter((part) => part.checkVisibility()).length",
            selector,
        )


@asynccontextmanager
async def opened(
    browser: Browser, page: Page, *, place: str = "", width: int = 1280, is_dark: bool = False, scripts: bool = True
) -> AsyncGenerator[Opened]:
    """The page as it is served, with its policy. Whatever else it asked for would be a complaint."""
    context = await browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme="dark" if is_dark else "light",
        java_script_enabled=scripts,
    )
    tab = await context.new_page()
    found = Opened(tab)

    async def answer(route: Route) -> None:
        if route.request.url != ADDRESS:
            found.complaints.append(f"asked for {route.request.url}")
        await route.fulfill(body=page.content, headers={**page.headers, "Content-Type": page.media_type})

    tab.on("console", lambda message: found.complaints.append(message.text))
    tab.on("pageerror", lambda error: found.complaints.append(str(error)))
    await context.route("**/*", answer)
    try:
        await tab.goto(ADDRESS + place)
        yield found
    finally:
        await context.close()


@pytest.mark.parametrize("is_dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", ["front", "reference"])
async def test_a_page_fits_its_window_can_be_read_and_asks_for_nothing(
    browser: Browser, name: str, width: int, is_dark: bool
) -> None:
    page = front_page("http://127.0.0.1:8080", {}) if name == "front" else reference_page()
    async with opened(browser, page, width=width, is_dark=is_dark) as found:
        assert await overhang(found) == 0
        assert await pale_texts(found) == []
        assert found.complaints == []


async def test_the_search_leaves_what_has_every_word_and_escape_brings_all_back(browser: Browser) -> None:
    async with opened(browser, reference_page()) as found:
        await found.tab.keyboard.press("/")
        await found.tab.keyboard.type("post audiences add")
        assert await found.shown("section.op") == 1
        assert await found.shown("#add_audience_rows") == 1
        assert await found.shown("nav li") == 1
        assert (await found.tab.inner_text(".found")).startswith(f"1 of {len(OPERATIONS)} operations")
        await found.tab.keyboard.press("Escape")
        assert await found.shown("section.op") == len(OPERATIONS)


async def test_a_link_to_an_object_opens_it_even_when_a_search_has_hidden_it(browser: Browser) -> None:
    async with opened(browser, reference_page(), place="#retrypolicy") as found:
        assert await found.shown("#retrypolicy dl") == 1
        await found.tab.fill("input", "wallet")
        assert await found.shown("#campaign") == 0
        await found.frame.evaluate("location.hash = 'callinghours'")
        await found.tab.wait_for_selector("#callinghours[open]")
        assert await found.shown("section.op") == len(OPERATIONS)


async def test_without_scripts_everything_is_shown_but_the_search(browser: Browser) -> None:
    async with opened(browser, reference_page(), scripts=False) as found:
        assert await found.tab.locator("section.op:visible").count() == len(OPERATIONS)
        assert await found.tab.locator("input:visible").count() == 0
