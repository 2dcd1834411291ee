"""Makes the pictures of docs/dashboard.md again: `.venv/bin/python -m tests.browser.dashboard_screenshots`.

Another folder for them may be its argument. Campaigns are really run for them, on the simulated network.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio

from tests.browser.browser import launched
from tests.browser.seats import Seat, seated
from tests.journeys.hosts import Person, host
from tests.support.campaigns import FAST, draft, people, run
from tests.support.service import Tenant

FOLDER = Path(__file__).parents[2] / "docs" / "images"
WIDE = {"width": 1280, "height": 800}
LIMIT_S = 300
_PEOPLE = 90
_SCRIPTS = (
    {"sim.intent": "yes"},
    {"sim.intent": "later"},
    {"sim.intent": "asks_first"},
    {"sim.outcome": "no_answer"},
    {"sim.outcome": "busy"},
    {"sim.outcome": "voicemail"},
    {"sim.intent": "yes"},
)
_NAMES = ("Maria", "James", "Aisha", "Chen", "Olga", "Ravi", "Emma", "Luis", "Hana", "Peter")


def _rows() -> list[dict[str, Any]]:
    rows = people(_PEOPLE)
    for at, row in enumerate(rows):
        row |= {"first_name": _NAMES[at % len(_NAMES)], **_SCRIPTS[at % len(_SCRIPTS)]}
    return rows


async def _filled(tenant: Tenant) -> tuple[str, str]:
    """A campaign that has ended and one of its calls in which the goal was met."""
    made = await run(tenant, _rows(), "Check-ups in December", **FAST, budget_cap={"amount": "20.00"})
    await draft(tenant, people(3, first=200), "Reminders for Monday")
    await tenant.client.webhooks.create(url="https://hooks.example.com/callwright", events=["call.completed"])
    calls = [call async for call in tenant.client.calls.list(deployment_id=made.id, disposition=["goal_met"])]
    return made.id, max(calls, key=lambda call: call.duration_seconds or 0).id


async def _picture(seat: Seat, folder: Path, name: str, path: str) -> None:
    await seat.tab.emulate_media(color_scheme="light", reduced_motion="reduce")
    await seat.open(path)
    await seat.tab.wait_for_timeout(400)
    await seat.tab.screenshot(path=folder / f"dashboard-{name}.png", animations="disabled")


async def pictures(seat: Seat, folder: Path, data: Path) -> None:
    """Every picture."""
    campaign, call = await _filled(seat.tenant)
    agent = (await seat.tenant.client.agents.list()).data[0].id
    audience = (await seat.tenant.client.audiences.list()).data[-1].id
    asked = await draft(seat.tenant, people(24, first=300), "Survey by the assistant")
    async with host(seat.tenant, data, "memory", "auto", Person(None)) as assistant:
        plan = await assistant.data("preview_deployment", deployment_id=asked.id)
        await assistant.refused("start_deployment", deployment_id=asked.id, plan_id=plan["plan_id"])
        await _picture(seat, folder, "confirmations", "/confirmations")
    for name, path in (
        ("campaigns", "/campaigns"),
        ("campaign", f"/campaigns/{campaign}"),
        ("results", f"/campaigns/{campaign}/results"),
        ("calls", "/calls"),
        ("call", f"/calls/{call}"),
        ("agent", f"/agents/{agent}"),
        ("audience", f"/audiences/{audience}"),
        ("wallet", "/wallet"),
        ("api-keys", "/settings/api-keys"),
        ("usage", "/settings/usage"),
    ):
        await _picture(seat, folder, name, path)


async def main(folder: Path) -> None:
    """Makes every picture."""
    with anyio.fail_after(LIMIT_S), TemporaryDirectory(prefix="callwright-") as made:
        data = Path(made)
        async with launched() as browser, seated(browser, f"sqlite:///{data}/pictures.db", data) as seat:
            await seat.tab.set_viewport_size(WIDE)  # pyright: ignore[reportArgumentType]
            await pictures(seat, folder, data)


if __name__ == "__main__":
    chosen = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    chosen.mkdir(parents=True, exist_ok=True)
    anyio.run(main, chosen)
