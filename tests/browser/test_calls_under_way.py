"""Calls under way in a browser: the table follows them, one is heard as it goes on, and one key opens the search."""

from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread
from playwright.async_api import Browser, Locator
from sqlalchemy import Connection, update

from callwright.service.speech.mu_law_files import RATE_HZ, header
from callwright.service.tables import call_counts
from callwright.service.tables.schema import calls
from tests.browser.browser import needs_browser
from tests.browser.seats import Seat, seated
from tests.support.calls.stored_calls import put_call
from tests.support.campaigns import people, run

pytestmark = [needs_browser, pytest.mark.asyncio(loop_scope="session")]
AS_IN_LIFE_S = 0.25
WITHIN_S = 40.0


async def _going_on(seat: Seat, *, status: str = "in_progress", turns: int = 0, **fields: Any) -> str:
    """A call that goes on, of which no dialler of this process knows."""
    return await put_call(seat.tenant, turns=turns, ended_at=None, outcome=None, status=status, **fields)


async def _until(sound: Locator, test: str) -> None:
    """Waits until this is so of a sound. The policy of the pages forbids the browser to wait by itself."""
    for _ in range(round(WITHIN_S / AS_IN_LIFE_S)):
        if await sound.evaluate(test):
            return
        await anyio.sleep(AS_IN_LIFE_S)
    raise AssertionError(f"not so within {WITHIN_S} s: {test}")


async def _ends(seat: Seat, call_id: str) -> None:
    """The call ends, as a dialler would write it."""
    ended = {"ended_at": seat.tenant.services.clock.now_ms(), "status": "completed", "outcome": "answered"}

    def write(connection: Connection) -> None:
        connection.execute(update(calls).where(calls.c.id == call_id).values(**ended))
        call_counts.add(connection, [call_id])

    await seat.tenant.database.write(write)


def _begun(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(header(0))


def _longer(path: Path, frames: int, more: int) -> None:
    with path.open("r+b") as file:
        file.seek(0, 2)
        file.write(b"\x10\xff" * more)
        file.flush()
        file.seek(0)
        file.write(header(frames + more))


async def _grows(path: Path) -> None:
    """A recording that grows as a media process writes it: samples first, then the header that counts them."""
    await to_thread.run_sync(_begun, path)
    frames = 0
    more = int(AS_IN_LIFE_S * RATE_HZ)
    while True:
        await to_thread.run_sync(_longer, path, frames, more)
        frames += more
        await anyio.sleep(AS_IN_LIFE_S)


@pytest.mark.requirement("DASH-50")
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_a_call_is_heard_as_it_goes_on_and_the_sound_ends_with_it(
    browser: Browser, database_url: str, tmp_path: Path
) -> None:
    async with seated(browser, database_url, tmp_path) as seat, anyio.create_task_group() as tasks:
        call_id = await _going_on(seat, simulated=False, turns=2)  # what is said keeps the recording
        tasks.start_soon(_grows, seat.tenant.services.recordings.lines.path_of(call_id))
        await anyio.sleep(4 * AS_IN_LIFE_S)
        await seat.open("/calls/live")
        await seat.press("Listen in")
        sound = seat.tab.locator("#listen audio")
        await sound.evaluate("sound => { sound.play(); }")
        await _until(sound, "sound => sound.currentTime > 3")
        await _ends(seat, call_id)
        await _until(sound, "sound => sound.ended")
        assert seat.complaints == []
        tasks.cancel_scope.cancel()


@pytest.mark.requirement("DASH-48")
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_the_table_follows_the_calls_keeps_the_focus_and_ends_one(
    browser: Browser, database_url: str, tmp_path: Path
) -> None:
    async with seated(browser, database_url, tmp_path) as seat:
        first = await _going_on(seat, to_number="+12125550171", contact_name="Ann")
        await seat.open("/calls/live")
        row = seat.tab.locator("tbody tr")
        assert await row.count() == 1
        end = seat.tab.locator(f"#end-{first}")
        await end.focus()
        await _going_on(seat, to_number="+12125550172", contact_name="Bob", status="ringing")
        await row.filter(has_text="Bob").wait_for()
        assert await seat.tab.evaluate("document.activeElement.id") == f"end-{first}"
        await end.press("Enter")
        await seat.tab.wait_for_url("**/calls/live")
        await _ends(seat, first)
        await row.filter(has_text="Ann").wait_for(state="detached")
        assert await row.count() == 1
        assert seat.complaints == []


@pytest.mark.requirement("DASH-51")
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
@pytest.mark.parametrize("width", [360, 1280], ids=["narrow", "wide"])
async def test_one_key_opens_the_search_and_a_hit_leads_to_the_turn(
    browser: Browser, database_url: str, tmp_path: Path, width: int
) -> None:
    async with seated(browser, database_url, tmp_path, width=width) as seat:
        await run(seat.tenant, people(1, sim_outcome="answered"))
        await seat.open("/agents")
        await seat.tab.keyboard.press("/")
        if width == 360:
            await seat.tab.wait_for_url("**/search")
        await seat.tab.keyboard.type("automated assistant")
        await seat.tab.keyboard.press("Enter")
        await seat.tab.wait_for_url("**/search?q=*")
        await seat.tab.locator("section[aria-label='What was said'] li a").first.press("Enter")
        await seat.tab.wait_for_url("**/calls/cal_*#turn-*")
        assert await seat.tab.locator(".turn:target .said").inner_text() != ""
        assert seat.complaints == []
