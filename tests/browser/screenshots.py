"""Makes the pictures of docs/apps.md again: `.venv/bin/python -m tests.browser.screenshots`.

Another folder for them may be its argument. A campaign is really run for them, faster than life.
"""

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
from playwright.async_api import Browser

from tests.browser.browser import launched
from tests.browser.host import NARROW, WIDE, Host, hosted
from tests.browser.shown_campaign import BUSY, GOAL_MET, Servers, open_servers, strangers

FOLDER = Path(__file__).parents[2] / "docs" / "images"
SCALE = 15.0
PEOPLE = 240
PIXELS = 1.5
"""Of the picture for each of the page."""
LIMIT_S = 300


async def _until_done(made: Servers, deployment_id: str, share: float) -> None:
    while True:
        stats = (await made.tenant.client.deployments.get(id=deployment_id)).stats
        if stats.completed + stats.exhausted + stats.suppressed >= share * PEOPLE:
            return
        await anyio.sleep(0.05)


async def _picture(host: Host, folder: Path, name: str) -> None:
    await host.settled()
    await host.page.locator("iframe").screenshot(path=folder / f"{name}.png", animations="disabled")


async def _themed(host: Host, theme: str) -> None:
    """The theme of the host itself, which shows around rounded corners."""
    await host.page.emulate_media(color_scheme="dark" if theme == "dark" else "light")


async def board(made: Servers, browser: Browser, folder: Path) -> None:
    """The board of a campaign as it runs, and paused."""
    people = [GOAL_MET, BUSY, *strangers(PEOPLE - 2)]
    pace = {"calls_per_second": 10, "max_concurrency": 20, "retry_policy": {"max_attempts": 1}}
    running = await made.started("December check-ups", *people, **pace, budget_cap={"amount": "1.50"})
    await _until_done(made, running, 0.4)
    async with hosted(made.server, browser, width=WIDE, pixels=PIXELS) as host:
        await host.show("get_deployment", {"deployment_id": running})
        await host.view.locator("#estimate").filter(has_text="left").wait_for()
        await _picture(host, folder, "campaign-board")
        await _themed(host, "dark")
        await host.tell("host-context-changed", {"theme": "dark"})
        await host.page.set_viewport_size({"width": NARROW, "height": 900})
        await host.view.get_by_role("button", name="Pause").click()
        await host.view.get_by_text("Ask the assistant to resume").wait_for()
        await _picture(host, folder, "campaign-board-paused")


async def player(made: Servers, browser: Browser, folder: Path) -> None:
    """The player in the middle of a call, wide and narrow."""
    call = await made.finished_call()
    for width, theme, name in ((WIDE, "light", "call-player"), (NARROW, "dark", "call-player-narrow")):
        async with hosted(made.server, browser, width=width, pixels=PIXELS) as host:
            await _themed(host, theme)
            await host.show("get_recording", {"call_id": call}, theme=theme)
            await host.view.locator("#turns button").nth(5).click()
            await host.view.locator("#turns [aria-current=true]").wait_for()
            await _picture(host, folder, name)


@asynccontextmanager
async def _open_servers(time_scale: float) -> AsyncGenerator[Servers]:
    with TemporaryDirectory(prefix="callwright-") as data:
        async with open_servers(Path(data), time_scale=time_scale) as made:
            yield made


async def main(folder: Path) -> None:
    """Makes every picture."""
    with anyio.fail_after(LIMIT_S):
        async with launched() as browser:
            async with _open_servers(SCALE) as made:
                await board(made, browser, folder)
            async with _open_servers(inf) as made:
                await player(made, browser, folder)


if __name__ == "__main__":
    chosen = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    chosen.mkdir(parents=True, exist_ok=True)
    anyio.run(main, chosen)
