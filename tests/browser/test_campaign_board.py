"""The campaign board in a browser, over the real protocol server."""

from pathlib import Path
from typing import Any

import anyio
import pytest
from playwright.async_api import Browser, expect

from tests.browser.appearance import ground, overhang, pale_texts
from tests.browser.browser import needs_browser
from tests.browser.host import NARROW, Host, failure, hosted, refusal
from tests.browser.shown_campaign import open_servers, strangers
from tests.support.tools import samples
from tests.support.tools.fakes import ERAS, FakeCaller, server
from tests.support.tools.inbound import inbound_of

pytestmark = [needs_browser, pytest.mark.asyncio(loop_scope="session")]
both_eras = pytest.mark.parametrize("era", ERAS)
HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>evil"
TURNED = "\u202e"
"""Turns the rest of the line around: left out of every answer."""
LATER_MS = 60_000


def board(**changes: Any) -> FakeCaller:
    """A service whose one deployment looks like this."""
    return FakeCaller(answers={**samples.answers(), "get_deployment": samples.deployment(**changes)})


async def shown(host: Host, tool: str = "get_deployment", **options: Any) -> None:
    """Shows the board of the sample and waits for its figures."""
    await host.show(tool, {"id": "dep_1"}, **options)
    await expect(host.view.locator("#figures")).to_be_visible()


async def times_asked(host: Host, count: int) -> None:
    """Waits until the page has asked so often."""
    with anyio.fail_after(20):
        while len(host.asked) < count:  # noqa: ASYNC110  # the browser goes on by itself
            await anyio.sleep(0.01)
    assert len(host.asked) == count


@both_eras
async def test_a_running_campaign_moves_by_itself_until_it_is_done(browser: Browser, tmp_path: Path, era: str) -> None:
    async with open_servers(tmp_path, time_scale=40) as made:
        pace = {"max_concurrency": 4, "calls_per_second": 5, "retry_policy": {"max_attempts": 1}}
        deployment_id = await made.started("Check-ups", *strangers(12), **pace, budget_cap={"amount": "5"})
        async with hosted(made.server, browser, era=era) as host:
            await host.show("get_deployment", {"deployment_id": deployment_id})
            view = host.view
            await expect(view.get_by_role("heading", level=1)).to_have_text("Check-ups")
            await expect(view.get_by_text("Simulated", exact=True)).to_be_visible()
            await expect(view.locator("#done")).to_have_text("12", timeout=60_000)
            await expect(view.locator("#state")).to_have_text("Completed", timeout=60_000)
            await expect(view.get_by_role("progressbar")).to_have_attribute("aria-valuetext", "12 of 12 people done")
            await expect(view.get_by_role("meter")).to_have_attribute("aria-valuemax", "5")
            found = await made.tenant.client.deployments.get(id=deployment_id)
            rows = await view.locator("#outcomes li").all_text_contents()
            assert len(rows) == len(found.stats.outcomes)
            assert set(host.asked) == {"get_deployment"}
            assert len(host.asked) > 1


async def test_the_pause_button_pauses_the_campaign_and_the_page_says_so(browser: Browser, tmp_path: Path) -> None:
    async with open_servers(tmp_path, time_scale=1) as made:
        deployment_id = await made.started("By hand", *strangers(4), max_concurrency=1)
        await made.under_way(deployment_id)
        async with hosted(made.server, browser) as host:
            await host.show("get_deployment", {"deployment_id": deployment_id})
            button = host.view.get_by_role("button", name="Pause")
            await button.focus()
            await button.press("Enter")
            note = host.view.get_by_role("status")
            await expect(note).to_contain_text("Paused. 1 call is still finishing.")
            await expect(host.view.locator("#state")).to_have_text("Paused")
            await expect(button).to_be_hidden()
            assert await host.frame.evaluate("document.activeElement.id") == "name"
            assert (await made.tenant.client.deployments.get(id=deployment_id)).status == "paused"


async def test_a_pause_that_fails_is_shown_and_can_be_tried_again(browser: Browser) -> None:
    async with hosted(server(board()), browser) as host:
        await shown(host)
        host.refusing["pause_deployment"] = failure("The service cannot be reached.")
        button = host.view.get_by_role("button", name="Pause")
        await button.click()
        await expect(host.view.get_by_role("status")).to_have_text("Not paused. The service cannot be reached.")
        await expect(button).to_be_enabled()


@pytest.mark.parametrize("status", ["draft", "completed", "cancelled", "failed", "paused"])
async def test_a_campaign_at_rest_is_not_asked_about_again(browser: Browser, status: Any) -> None:
    still = samples.stats(in_flight=0)
    async with hosted(server(board(status=status, stats=still)), browser, clock=True) as host:
        await shown(host)
        await expect(host.view.get_by_role("button", name="Refresh")).to_be_visible()
        asked = len(host.asked)
        await host.page.clock.run_for(LATER_MS)
        await expect(host.view.get_by_role("button", name="Pause")).to_be_hidden()
        assert len(host.asked) == asked


async def test_an_inbound_deployment_shows_no_progress_and_is_not_asked_about_again(browser: Browser) -> None:
    bound = inbound_of(samples.deployment(), stats=samples.stats(in_flight=0))
    caller = FakeCaller(answers={**samples.answers(), "get_deployment": bound})
    async with hosted(server(caller), browser, clock=True) as host:
        await shown(host)
        await expect(host.view.get_by_role("status")).to_contain_text("simulate_inbound_call has people call")
        await expect(host.view.locator("#progress-part")).to_be_hidden()
        await expect(host.view.get_by_role("button", name="Pause")).to_be_visible()
        asked = len(host.asked)
        await host.page.clock.run_for(LATER_MS)
        assert len(host.asked) == asked


async def test_a_campaign_that_stands_still_is_asked_about_less_and_less_often(browser: Browser) -> None:
    async with hosted(server(board()), browser, clock=True) as host:
        await shown(host)
        await times_asked(host, 1)
        waits: list[int] = []
        for count in range(2, 7):
            waited = 0
            while len(host.asked) < count:
                await host.page.clock.run_for(500)
                waited += 500
                assert waited <= 20_000
            waits.append(waited)
        # 2, 3, 4.5, 6.75, 10.1 s, and what the browser takes to tell.
        assert waits[0] <= 4_000
        assert waits[-1] >= 8_000


async def test_after_six_errors_the_page_waits_for_the_person(browser: Browser) -> None:
    async with hosted(server(board()), browser, clock=True) as host:
        await host.open("get_deployment")
        host.refusing["get_deployment"] = refusal("gone")
        await host.tell("tool-input", {"arguments": {"deployment_id": "dep_1"}})
        refresh = host.view.get_by_role("button", name="Refresh")
        await expect(host.view.get_by_role("status")).to_have_text("gone")
        with anyio.fail_after(30):
            while not await refresh.is_visible():
                await host.page.clock.run_for(1_000)
        await host.page.clock.run_for(LATER_MS)
        assert len(host.asked) == 6
        host.refusing.clear()
        await refresh.click()
        await expect(host.view.locator("#done")).to_have_text("182")


async def test_a_hidden_page_asks_nothing_and_asks_at_once_when_it_is_seen_again(browser: Browser) -> None:
    hidden = "value => { Object.defineProperty(document, 'hidden', { value, configurable: true });" + (
        " document.dispatchEvent(new Event('visibilitychange')); }"
    )
    async with hosted(server(board()), browser, clock=True) as host:
        await host.open("get_deployment")
        await host.frame.evaluate(hidden, True)
        await host.tell("tool-input", {"arguments": {"deployment_id": "dep_1"}})
        await expect(host.view.locator("#figures")).to_be_visible()
        await host.page.clock.run_for(LATER_MS)
        assert len(host.asked) == 1
        await host.frame.evaluate(hidden, False)
        await times_asked(host, 2)
        await host.frame.evaluate(hidden, True)
        await host.page.clock.run_for(LATER_MS)
        assert len(host.asked) == 2


async def test_words_from_outside_are_shown_as_text_and_never_as_markup(browser: Browser) -> None:
    stats = samples.stats(outcomes={HOSTILE: 3}, dispositions={"</script><b>x</b>": 1})
    async with hosted(
        server(board(name=HOSTILE + TURNED, status="failed", status_reason=HOSTILE, stats=stats)), browser
    ) as host:
        await shown(host)
        assert await host.view.locator("h1").text_content() == HOSTILE
        await expect(host.view.locator("#dispositions li > span").first).to_have_text("</script><b>x</b>")
        assert await host.frame.evaluate("document.body.querySelectorAll('img, b, script').length") == 3, (
            "its own scripts"
        )


async def test_people_who_were_dropped_do_not_count_as_done(browser: Browser) -> None:
    left = {"pending": 0, "retry_waiting": 0, "in_flight": 10, "completed": 2, "exhausted": 0, "cancelled": 34}
    stats = samples.stats(contacts=46, **left)
    async with hosted(server(board(status="cancelled", stats=stats)), browser) as host:
        await shown(host)
        await expect(host.view.locator("#done")).to_have_text("2")
        await expect(host.view.locator("#of")).to_have_text("of 46 people done")
        await expect(host.view.locator("#people")).to_contain_text("Not called34")


async def test_an_answer_with_few_fields_is_shown_as_far_as_it_goes(browser: Browser) -> None:
    async with hosted(server(board()), browser) as host:
        host.refusing["get_deployment"] = refusal("not now")
        await host.open("start_deployment")
        few = {"id": "dep_1", "name": "Few", "status": "active", "stats": {"contacts": 5, "pending": 5}}
        await host.tell("tool-result", {"content": [], "structuredContent": few})
        await expect(host.view.locator("#of")).to_have_text("of 5 people done")
        await expect(host.view.locator("#updated")).to_have_text("Not updated: not now")
        await expect(host.view.get_by_role("button", name="Pause")).to_be_visible()


@pytest.mark.parametrize("currency", ["CREDITS", "€", "", "us dollars"])
async def test_money_in_a_currency_that_the_browser_does_not_know_is_shown_with_its_name(
    browser: Browser, currency: str
) -> None:
    async with hosted(server(board()), browser) as host:
        host.refusing["get_deployment"] = refusal("not now")
        await host.open("start_deployment")
        spent, cap = ({"amount": amount, "currency": currency} for amount in ("1.50", "25"))
        made = {"id": "dep_1", "name": "Odd", "status": "active", "budget_cap": cap}
        stats = {"contacts": 5, "pending": 5, "spend": spent}
        await host.tell("tool-result", {"content": [], "structuredContent": {**made, "stats": stats}})
        await expect(host.view.locator("#of")).to_have_text("of 5 people done")
        await expect(host.view.locator("#spend")).to_have_text(f"1.50 {currency}".strip())


async def test_a_tool_that_refused_is_quoted_and_the_campaign_shown(browser: Browser) -> None:
    async with hosted(server(board(status="draft")), browser) as host:
        await host.open("start_deployment")
        await host.tell("tool-input", {"arguments": {"deployment_id": "dep_1"}})
        await expect(host.view.locator("#state")).to_have_text("Draft")
        await host.tell("tool-result", failure("The wallet does not cover it.")["result"])
        await expect(host.view.locator("#refused")).to_have_text("The wallet does not cover it.")


async def test_without_tools_of_the_host_the_answer_itself_is_shown(browser: Browser) -> None:
    async with hosted(server(board()), browser) as host:
        await shown(host, capabilities={"logging": {}})
        await expect(host.view.locator("#done")).to_have_text("182")
        assert await host.view.get_by_role("button").count() == 0
        assert host.asked == []


async def test_the_theme_of_the_host_is_followed_and_its_palette_taken_whole_or_not_at_all(browser: Browser) -> None:
    palette = {
        "--color-background-primary": "rgb(250, 240, 230)",
        "--color-background-secondary": "rgb(240, 230, 220)",
        "--color-text-primary": "rgb(20, 10, 0)",
        "--color-text-secondary": "rgb(60, 50, 40)",
    }
    async with hosted(server(board()), browser) as host:
        await shown(host, theme="dark", styles={"variables": palette})
        assert await ground(host) == "rgb(23, 25, 30)"
        whole = {**palette, "--color-border-primary": "light-dark(#ccc, #333)"}
        await host.tell("host-context-changed", {"theme": "light", "styles": {"variables": whole}})
        await expect(host.view.locator("body")).to_have_css("background-color", "rgb(250, 240, 230)")
        hostile = {**whole, "--color-border-primary": "url(https://example.org/x)", "--font-sans": "url(x)"}
        await host.tell("host-context-changed", {"styles": {"variables": hostile}})
        await expect(host.view.locator("body")).to_have_css("background-color", "rgb(255, 255, 255)")


@pytest.mark.parametrize("theme", ["light", "dark"])
async def test_text_is_readable_and_fits_a_narrow_window(browser: Browser, theme: str) -> None:
    long = "Reminders of the autumn " + "x" * 60
    async with hosted(server(board(name=long, status="paused")), browser, width=NARROW) as host:
        await shown(host, theme=theme)
        await host.settled()
        assert await overhang(host) == 0
        assert await pale_texts(host) == []


async def test_nothing_moves_where_motion_is_unwanted(browser: Browser) -> None:
    async with hosted(server(board()), browser, reduced_motion=True) as host:
        await shown(host)
        await expect(host.view.locator("#progress span").first).to_have_css("transition-duration", "0s")


async def test_only_the_host_is_listened_to_and_its_farewell_is_answered(browser: Browser) -> None:
    async with hosted(server(board()), browser, clock=True) as host:
        await shown(host)
        await times_asked(host, 1)
        forged = {
            "jsonrpc": "2.0",
            "method": "ui/notifications/tool-input",
            "params": {"arguments": {"deployment_id": "dep_2"}},
        }
        await host.frame.evaluate("message => window.postMessage(message, '*')", forged)
        for request in ({"id": "bye", "method": "ui/resource-teardown"}, {"id": "odd", "method": "ui/unheard-of"}):
            await host.page.evaluate("message => tell(message)", request)
        with anyio.fail_after(20):
            while True:
                answers = {m["id"]: m for m in await host.page.evaluate("heard") if m.get("id") in ("bye", "odd")}
                if len(answers) == 2:
                    break
        assert answers["bye"]["result"] == {}
        assert answers["odd"]["error"]["code"] == -32601
        await host.page.clock.run_for(LATER_MS)
        assert len(host.asked) == 1
