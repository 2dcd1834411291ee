"""One browser for all tests of a process."""

from collections.abc import AsyncGenerator

import pytest_asyncio
from playwright.async_api import Browser

from tests.browser.browser import launched
from tests.service.telephony.media.conftest import alone, only_one, sounds

__all__ = ["alone", "browser", "only_one", "sounds"]


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncGenerator[Browser]:
    """The browser. Tests that take it run in the loop of the session."""
    async with launched() as found:
        yield found
