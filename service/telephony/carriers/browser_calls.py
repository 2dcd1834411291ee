"""Talks in the browser: the pages that wait in this process for their calls, and what carries the sound of each.

A page says which call it opens; the line host of the same process takes that call, and the page gets the place in a
media process where its websocket goes on. So a page and its call are always in one process.
"""

from collections.abc import Collection, Generator
from contextlib import contextmanager

import anyio

from callwright.service.platform.wake_signal import WakeSignal
from callwright.service.telephony.carriers.opening import Opening

MOST_PAGES = 200
"""Pages that wait or talk at once in one process."""


class TooManyPages(Exception):
    """No further page is taken now."""


class WaitingPage:
    """A page that is open for a call."""

    def __init__(self) -> None:
        self._come = anyio.Event()
        self._opening: Opening | None = None
        self.is_gone = anyio.Event()

    def open(self, opening: Opening) -> None:
        """The call waits for the page there."""
        self._opening = opening
        self._come.set()

    async def opening(self, within_s: float) -> Opening | None:
        """Where the page's websocket goes on; None if the call is not taken in time."""
        with anyio.move_on_after(within_s):
            await self._come.wait()
        return self._opening


class BrowserCalls:
    """The pages of one process. `woken` tells its line host that a page has come."""

    def __init__(self, woken: WakeSignal) -> None:
        self._woken = woken
        self._pages: dict[str, WaitingPage] = {}

    def call_ids(self) -> Collection[str]:
        """The calls whose pages are open here: the only ones that this process takes."""
        return list(self._pages)

    @contextmanager
    def page(self, call_id: str) -> Generator[WaitingPage]:
        """A page that has shown the token of a call, until the block ends.

        Raises:
            TooManyPages: there are `MOST_PAGES` already, or one for this call.
        """
        if len(self._pages) >= MOST_PAGES or call_id in self._pages:
            raise TooManyPages
        page = self._pages[call_id] = WaitingPage()
        self._woken.notify()
        try:
            yield page
        finally:
            del self._pages[call_id]
            page.is_gone.set()

    async def other_side(self, opening: Opening) -> None:
        """Brings the page of a call, and returns when it is gone."""
        page = self._pages.get(opening.call.call_id)
        if page is not None:
            page.open(opening)
            await page.is_gone.wait()
