"""Live pages in a browser: they go on after a proxy or the service answered with an error, and follow what changes."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, Route, expect

from callwright.service.accounts import first_owner, sessions
from tests.browser.browser import needs_browser
from tests.browser.seats import Seat, seated
from tests.support.campaigns import draft, people, started

pytestmark = [needs_browser, pytest.mark.asyncio(loop_scope="session")]
WITHIN_MS = 40_000


class Proxy:
    """Stands between a page and its stream, and answers with an error for a while."""

    def __init__(self) -> None:
        self.is_down = True

    async def answer(self, route: Route) -> None:
        """Answers a request for the stream."""
        if self.is_down:
            await route.fulfill(status=502, body="Bad Gateway", content_type="text/plain")
        else:
            await route.continue_()


async def _says(seat: Seat, selector: str, words: str) -> None:
    await expect(seat.tab.locator(selector)).to_contain_text(words, timeout=WITHIN_MS)


@pytest.mark.requirement("DASH-69")
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_a_live_page_goes_on_after_errors_and_follows_what_a_program_does(
    browser: Browser, database_url: str, tmp_path: Path
) -> None:
    proxy = Proxy()
    async with seated(browser, database_url, tmp_path) as seat:
        made = await draft(seat.tenant, people(2))
        await seat.tab.route("**/live", proxy.answer)
        await seat.open(f"/campaigns/{made.id}")
        await _says(seat, "#live-note", "The service does not answer.")
        proxy.is_down = False
        await seat.tenant.client.deployments.start(id=made.id)
        await seat.tenant.client.deployments.pause(id=made.id)
        await _says(seat, "#board", "Resume…")
        await expect(seat.tab.locator("#live-note")).to_be_hidden()
        await seat.tenant.client.deployments.cancel(id=made.id)
        await _says(seat, "#board", "cancelled")


@pytest.mark.requirement("DASH-69")
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_a_live_page_whose_session_ended_meanwhile_says_so(
    browser: Browser, database_url: str, tmp_path: Path
) -> None:
    proxy = Proxy()
    async with seated(browser, database_url, tmp_path) as seat:
        made = await started(seat.tenant, people(2))
        await seat.tab.route("**/live", proxy.answer)
        await seat.open(f"/campaigns/{made.id}")
        await _says(seat, "#live-note", "The service does not answer.")
        owner = await seat.tenant.database.read(first_owner, seat.tenant.org_id)
        assert owner is not None
        await seat.tenant.database.write(sessions.log_out_everywhere, owner)
        proxy.is_down = False
        await _says(seat, "#live-note", "You are logged out.")
