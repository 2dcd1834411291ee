"""What people, programs and callees write is shown as text: nothing of it runs in a browser."""

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.async_api import Browser

from callwright.service import accounts
from tests.browser.browser import needs_browser
from tests.browser.seats import Seat, seated
from tests.support.campaigns import make_agent, people, phone, run
from tests.support.dashboard import is_page, logged_in, reached
from tests.support.injections import INJECTIONS
from tests.support.service import Tenant

pytestmark = [
    needs_browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.parametrize("engine", ["sqlite"], indirect=True),
]


def one_line(text: str) -> str:
    """The text where a field takes one line alone."""
    return " ".join(text.split())


async def written_everywhere(tenant: Tenant) -> tuple[list[str], list[str]]:
    """Writes each text into every field that a program or a callee fills; gives the agents and the calls."""
    client, agents = tenant.client, list[str]()
    rows: list[dict[str, Any]] = people(len(INJECTIONS), sim_outcome="answered")
    for at, text in enumerate(INJECTIONS):
        plain = one_line(text)
        rows[at] |= {"first_name": text, "external_id": f"{at} {plain}"[:100], "sim.script": text.replace("|", "/")}
        made = await make_agent(
            tenant, name=f"{plain}"[:80], system_prompt=text, welcome_message=f"Hello {plain}"[:200]
        )
        agents.append(made.id)
        await client.do_not_call.add(entries=[{"number": phone(at, "202"), "note": plain}])  # pyright: ignore[reportArgumentType]
        await client.audiences.create(name=f"{at} {plain}"[:100])
    for text in INJECTIONS[:10]:
        await client.webhooks.create(url="https://hooks.example.com/a", events=["*"], description=one_line(text))
    rows[0]["sim.intent"] = "yes"
    campaign = await run(tenant, rows, INJECTIONS[0], max_concurrency=20, calls_per_second=20.0)
    services = tenant.services
    given = (services.ids, tenant.org_id, "eve@example.com", services.clock.now_ms())
    name = one_line(INJECTIONS[5])
    await services.database.write(lambda connection: accounts.add_member(connection, *given, name=name, role="owner"))
    calls = [call.id async for call in client.calls.list(deployment_id=campaign.id, per_page=200)]
    return agents, calls


async def shows_all(seat: Seat, paths: list[str]) -> None:
    """Opens pages, and moves over what they show."""
    for path in paths:
        await seat.open(path)
        await seat.tab.mouse.move(640, 300)


@pytest.mark.requirement("DASH-12")
async def test_none_of_sixty_texts_runs_on_any_page(browser: Browser, database_url: str, tmp_path: Path) -> None:
    async with seated(browser, database_url, tmp_path) as seat:
        agents, calls = await written_everywhere(seat.tenant)
        assert len(calls) >= len(INJECTIONS)
        async with logged_in(seat.tenant) as visit:
            found = await reached(visit, of_each_kind=2)
        pages = [path for path, answer in found.items() if is_page(answer) and answer.status_code == 200]
        await shows_all(seat, pages)
        await shows_all(seat, [f"/calls/{call}" for call in calls])
        await shows_all(seat, [f"/agents/{agent}/edit" for agent in agents])
        for path in ("/search?q=", "/calls?contact_name=", "/audit?tool=", "/login?next=", "/campaigns/new?name="):
            await shows_all(seat, [path + quote(text) for text in INJECTIONS[:: 1 if path == "/search?q=" else 6]])
        refused = [one for one in seat.complaints if "400" not in one and "422" not in one]
        assert refused == []


@pytest.mark.requirement("DASH-12")
async def test_a_page_that_ran_one_would_be_noticed(browser: Browser, database_url: str, tmp_path: Path) -> None:
    async with seated(browser, database_url, tmp_path) as seat:
        await seat.tab.evaluate("document.body.innerHTML = '<img src=x onerror=alert(1)>'")
        await seat.tab.wait_for_timeout(200)
        assert any("Content Security Policy" in one for one in seat.complaints)  # the page's policy refuses it as well
