"""The browser of this machine, driven by Playwright. None is downloaded."""

import os
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Browser, async_playwright

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The first one, Chromium without windows, takes half the time of the others."""
EXECUTABLE = next((found for name in NAMES if (found := shutil.which(name))), None)
ABSENT = "no Chrome or Chromium on this machine"
LAUNCH_LIMIT_MS = 60_000

needs_browser = pytest.mark.skipif(EXECUTABLE is None, reason=ABSENT)
"""For tests that open a page."""


@asynccontextmanager
async def launched() -> AsyncGenerator[Browser]:
    """The browser, without a window. Open it inside the test body.

    Raises:
        RuntimeError: there is none.
    """
    if EXECUTABLE is None:
        raise RuntimeError(ABSENT)
    options = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=EXECUTABLE, args=options, timeout=LAUNCH_LIMIT_MS, handle_sigint=False
        )
        try:
            yield browser
        finally:
            await browser.close()
