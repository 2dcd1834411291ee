"""What somebody typed into a form is not lost when the service does not answer, or their session has ended."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, Route, expect
from sqlalchemy import make_url

from callwright.service import accounts
from tests.browser.browser import needs_browser
from tests.browser.seats import Seat, seated
from tests.support.dashboard import login_code

pytestmark = [
    needs_browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.parametrize("engine", ["sqlite"], indirect=True),
]
_NAME, _PROMPT = "Rita", "Ask when the meter may be read."


async def _typed(seat: Seat) -> None:
    await seat.open("/agents/new")
    await seat.tab.fill("[name=name]", _NAME)
    await seat.tab.fill("[name=system_prompt]", _PROMPT)


async def _fills_it_in(seat: Seat) -> None:
    await expect(seat.tab.locator("[name=name]")).to_have_value("")
    await seat.press("Fill it in again")
    await expect(seat.tab.locator("[name=name]")).to_have_value(_NAME)
    await expect(seat.tab.locator("[name=system_prompt]")).to_have_value(_PROMPT)
    await seat.press("Make the agent")
    await seat.tab.wait_for_url("**/agents/agt_*")
    assert [agent.name for agent in (await seat.tenant.client.agents.list()).data] == [_NAME]


def _move(file: Path, to: Path) -> None:
    file.rename(to)


@pytest.mark.requirement("DASH-94")
async def test_a_form_that_nobody_answered_is_offered_again_with_what_was_typed(
    browser: Browser, database_url: str, tmp_path: Path
) -> None:
    async with seated(browser, database_url, tmp_path) as seat:
        await _typed(seat)
        await seat.tab.context.set_offline(True)
        await seat.press("Make the agent")
        await seat.tab.wait_for_load_state()
        await seat.tab.context.set_offline(False)
        await seat.open("/agents/new")
        await _fills_it_in(seat)
        await seat.open("/agents/new")
        await expect(seat.tab.get_by_text("Fill it in again")).to_have_count(0)


@pytest.mark.requirement("DASH-94")
async def test_a_form_that_the_service_could_not_take_waits_whatever_pages_come_in_between(
    browser: Browser, database_url: str, tmp_path: Path
) -> None:
    async with seated(browser, database_url, tmp_path) as seat:
        await _typed(seat)
        file_guard = seat.tenant.database.file_guard
        file, aside = Path(str(make_url(database_url).database)), tmp_path / "aside"
        _move(file, aside)
        await seat.press("Make the agent")
        await expect(seat.tab.get_by_role("heading", name="Not done")).to_be_visible()
        _move(aside, file)
        assert file_guard.look()
        await seat.open("/agents")
        await seat.open("/agents/new")
        await _fills_it_in(seat)


@pytest.mark.requirement("DASH-94")
async def test_a_form_that_was_sent_after_the_session_ended_is_offered_again_after_the_login(
    browser: Browser, database_url: str, tmp_path: Path
) -> None:
    async with seated(browser, database_url, tmp_path) as seat:
        await _typed(seat)
        await seat.tab.context.clear_cookies()
        await seat.press("Make the agent")
        await expect(seat.tab.locator("[name=code]")).to_be_visible()
        await seat.tab.fill("[name=code]", await login_code(seat.tenant))
        await seat.press("Log in with the code")
        await seat.tab.wait_for_url("**/agents/new")
        await seat.open("/campaigns")
        await seat.open("/agents/new")
        await _fills_it_in(seat)


@pytest.mark.requirement("DASH-94")
async def test_what_was_typed_is_offered_to_no_other_user(browser: Browser, database_url: str, tmp_path: Path) -> None:
    async with seated(browser, database_url, tmp_path) as seat:
        services = seat.tenant.services
        given = (services.ids, seat.tenant.org_id, "other@example.com", services.clock.now_ms())
        other = await seat.tenant.database.write(
            lambda connection: accounts.add_member(connection, *given, role="owner")
        )
        await _typed(seat)
        await seat.tab.context.clear_cookies()
        await seat.press("Make the agent")
        await seat.tab.fill("[name=code]", await login_code(seat.tenant, other))
        await seat.press("Log in with the code")
        await seat.tab.wait_for_url("**/agents/new")
        await expect(seat.tab.get_by_text("Fill it in again")).to_have_count(0)
        assert await seat.tab.evaluate("sessionStorage.length") == 0


@pytest.mark.requirement("DASH-94")
async def test_of_two_forms_with_one_address_the_one_is_offered_that_was_sent(
    browser: Browser, database_url: str, tmp_path: Path
) -> None:
    async with seated(browser, database_url, tmp_path) as seat:
        await seat.open("/settings/api-keys")
        labels = seat.tab.locator("[name=label]")
        await labels.nth(1).fill("for my assistant")
        await seat.tab.context.set_offline(True)
        await labels.nth(1).press("Enter")
        await seat.tab.wait_for_load_state()
        await seat.tab.context.set_offline(False)
        await seat.open("/settings/api-keys")
        await seat.press("Fill it in again")
        await expect(labels.nth(1)).to_have_value("for my assistant")
        await expect(labels.nth(0)).to_have_value("")


@pytest.mark.requirement("DASH-94")
async def test_a_form_whose_answer_was_lost_makes_one_thing_when_it_is_filled_in_and_sent_again(
    browser: Browser, database_url: str, tmp_path: Path
) -> None:
    async with seated(browser, database_url, tmp_path) as seat:

        async def lose_the_answer(route: Route) -> None:
            await route.fetch(max_redirects=0)
            await route.abort("connectionreset")

        await _typed(seat)
        await seat.tab.route("**/agents/new", lose_the_answer)
        await seat.press("Make the agent")
        await seat.tab.wait_for_load_state()
        await seat.tab.unroute("**/agents/new")
        assert len((await seat.tenant.client.agents.list()).data) == 1
        await seat.open("/agents/new")
        await _fills_it_in(seat)
