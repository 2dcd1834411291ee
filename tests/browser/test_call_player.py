"""The call player in a browser, over the real protocol server."""

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, expect

from callwright.contract.calls.calls import RecordingState
from tests.browser.appearance import overhang, pale_texts
from tests.browser.browser import needs_browser
from tests.browser.host import NARROW, Host, failure, hosted, refusal
from tests.browser.shown_campaign import open_servers
from tests.support.tools import samples
from tests.support.tools.fakes import ERAS, FakeCaller, FakeMedia, server
from tests.support.tools.tool_turns import tool_turn

pytestmark = [needs_browser, pytest.mark.asyncio(loop_scope="session")]
both_eras = pytest.mark.parametrize("era", ERAS)
HOSTILE = "Yes </span><img src=x onerror=alert(1)><script>alert(2)</script>"
POSITION = "document.getElementById('audio').currentTime"
PLAYS = "!document.getElementById('audio').paused"


def line(host: Host, index: int):
    return host.view.locator("#turns .turn").nth(index)


async def shown(host: Host, tool: str = "get_transcript", **options: Any) -> None:
    """Shows the player of the sample call and waits for its first turn."""
    await host.show(tool, {"call_uuid": "cal_1"}, **options)
    await expect(line(host, 0)).to_be_visible()


@both_eras
async def test_a_recording_plays_and_the_transcript_follows(browser: Browser, tmp_path: Path, era: str) -> None:
    async with open_servers(tmp_path) as made:
        call_id = await made.finished_call()
        turns = (await made.tenant.client.calls.get_transcript(call_uuid=call_id)).turns
        async with hosted(made.server, browser, era=era) as host:
            await host.show("get_recording", {"call_id": call_id})
            await expect(host.view.locator("#state")).to_have_text("Goal met")
            await expect(host.view.get_by_text("Stereo: agent left, contact right")).to_be_visible()
            await host.view.get_by_role("button", name="Play").click()
            await expect(host.view.get_by_role("button", name="Pause")).to_be_visible()
            await host.until(f"{POSITION} > 0.2")
            assert await host.frame.evaluate("document.getElementById('audio').duration") > turns[-1].start_seconds

            await host.frame.evaluate(f"{POSITION} = {turns[3].start_seconds + 0.2}")
            await expect(line(host, 3)).to_have_attribute("aria-current", "true")
            await line(host, 5).click()
            await expect(line(host, 5)).to_have_attribute("aria-current", "true")
            assert await host.view.locator("[aria-current]").count() == 1
            assert await host.frame.evaluate(POSITION) >= turns[5].start_seconds
            assert await line(host, 5).locator(".said").text_content() == turns[5].text
            assert f"callwright://calls/{call_id}/recording" in host.asked


async def test_the_keyboard_plays_jumps_and_goes_through_the_turns(browser: Browser, tmp_path: Path) -> None:
    async with open_servers(tmp_path) as made:
        call_id = await made.finished_call()
        async with hosted(made.server, browser, reduced_motion=True) as host:
            await host.show("get_transcript", {"call_id": call_id})
            first = line(host, 0)
            await first.focus()
            assert not [asked for asked in host.asked if asked.endswith("recording")], "loaded when it is wanted"
            await first.press("ArrowDown")
            await line(host, 1).press("ArrowDown")
            await expect(line(host, 2)).to_be_focused()
            await expect(line(host, 2)).to_have_attribute("tabindex", "0")
            await line(host, 2).press("Enter")
            await expect(line(host, 2)).to_have_attribute("aria-current", "true")
            await host.until(PLAYS)
            await host.page.keyboard.press("k")
            await host.until(f"!({PLAYS})")
            before: float = await host.frame.evaluate(POSITION)
            await host.page.keyboard.press("ArrowRight")
            assert await host.frame.evaluate(POSITION) == pytest.approx(before + 5)
            await host.page.keyboard.press("End")
            await expect(line(host, await host.view.locator(".turn").count() - 1)).to_be_focused()
            slider = host.view.get_by_role("slider", name="Position")
            await slider.focus()
            await slider.press("ArrowLeft")
            assert await host.frame.evaluate(POSITION) == pytest.approx(before)
            await host.view.get_by_label("Speed").select_option("1.5")
            assert await host.frame.evaluate("document.getElementById('audio').playbackRate") == 1.5


async def test_a_recording_that_is_too_large_leaves_the_transcript_and_says_where_it_is(browser: Browser) -> None:
    caller = FakeCaller(media=FakeMedia(bytes(1_000_001)))
    async with hosted(server(caller, base_url="http://127.0.0.1:8080/v1"), browser) as host:
        await shown(host)
        await host.view.get_by_role("button", name="Play").click()
        note = host.view.get_by_role("status")
        await expect(note).to_contain_text("larger than 750,000 bytes")
        await expect(note).to_contain_text("http://127.0.0.1:8080/v1/calls/cal_1/recording")
        await expect(host.view.locator("#sound")).to_be_hidden()
        await expect(line(host, 1)).to_contain_text("Yes, that is me.")
        assert await host.view.get_by_role("button").count() == 0


async def test_what_is_no_sound_is_not_played(browser: Browser) -> None:
    async with hosted(server(FakeCaller()), browser) as host:
        part = {"uri": "callwright://calls/cal_1/recording", "mimeType": "text/html", "blob": "PGI+"}
        host.refusing["callwright://calls/cal_1/recording"] = {"result": {"contents": [part]}}
        await shown(host)
        await host.view.get_by_role("button", name="Play").click()
        await expect(host.view.get_by_role("status")).to_contain_text("The recording is no sound.")
        assert await host.frame.evaluate("document.getElementById('audio').hasAttribute('src')") is False


@pytest.mark.parametrize(
    ("status", "words"), [("deleted", "was deleted"), ("absent", "nobody spoke"), ("not_recorded", "was not recorded")]
)
async def test_a_call_without_a_recording_has_a_transcript_and_a_reason(
    browser: Browser, status: Any, words: str
) -> None:
    call = samples.call(recording=RecordingState(status=status))
    async with hosted(server(FakeCaller(answers={**samples.answers(), "get_call": call})), browser) as host:
        await shown(host)
        await expect(host.view.get_by_role("status")).to_contain_text(words)
        await expect(host.view.locator("#sound")).to_be_hidden()


async def test_without_resources_the_transcript_comes_from_the_tool_in_parts(browser: Browser) -> None:
    turns = [samples.turn(index, f"Turn {index} " + "of a long talk " * 40) for index in range(150)]
    answers = {**samples.answers(), "get_transcript": samples.transcript(*turns, turn_count=150)}
    async with hosted(server(FakeCaller(answers=answers)), browser) as host:
        await shown(host, capabilities={"serverTools": {}})
        await expect(host.view.locator(".turn")).to_have_count(150)
        assert host.asked.count("get_transcript") > 1
        await host.view.get_by_role("button", name="Play").click()
        await expect(host.view.get_by_role("status")).to_contain_text("lets pages read no resources")
        await expect(host.view.locator(".turn")).to_have_count(150)


@pytest.mark.requirement("CALLTOOL-15")
@pytest.mark.parametrize("capabilities", [{"serverTools": {}, "serverResources": {}}, {"serverTools": {}}])
async def test_the_call_of_a_tool_is_a_line_of_its_own_and_no_words_of_the_contact(
    browser: Browser, capabilities: dict[str, Any]
) -> None:
    said = samples.transcript(samples.turn(0, "Hi."), tool_turn(1, result=HOSTILE))
    caller = FakeCaller(answers={**samples.answers(), "get_transcript": said})
    async with hosted(server(caller), browser) as host:
        await shown(host, capabilities=capabilities)
        await expect(line(host, 1)).to_have_attribute("data-role", "system")
        asked = f'called free_times({{"day": "Tuesday"}}), which answered: {HOSTILE}'
        await expect(line(host, 1).locator(".said")).to_have_text(asked)


async def test_where_the_host_answers_with_errors_the_tools_own_answer_is_shown(browser: Browser) -> None:
    async with hosted(server(FakeCaller()), browser) as host:
        host.refusing |= {"resources/read": refusal("no"), "get_call": refusal("no")}
        await host.open("get_transcript")
        result = await host.call("get_transcript", {"call_id": "cal_1"})
        host.refusing["tools/call"] = refusal("no")
        await host.tell("tool-input", {"arguments": {"call_id": "cal_1"}})
        await host.tell("tool-result", result)
        await expect(line(host, 1)).to_contain_text("Yes, that is me.")
        await expect(host.view.get_by_text("Simulated", exact=True)).to_be_visible()


async def test_a_tool_that_failed_is_quoted(browser: Browser) -> None:
    async with hosted(server(FakeCaller()), browser) as host:
        host.refusing |= {"resources/read": refusal("no"), "tools/call": refusal("no")}
        await host.open("get_transcript")
        await host.tell("tool-result", failure("There is no such call.")["result"])
        await expect(host.view.get_by_role("status")).to_have_text("There is no such call.")


async def test_what_the_contact_said_is_shown_as_text_and_never_as_markup(browser: Browser) -> None:
    answers = {
        **samples.answers(),
        "get_transcript": samples.transcript(samples.turn(0, HOSTILE)),
        "get_call": samples.call(unanswered_questions=[HOSTILE], disposition=HOSTILE),
    }
    async with hosted(server(FakeCaller(answers=answers)), browser) as host:
        await shown(host)
        assert await line(host, 0).locator(".said").text_content() == HOSTILE
        assert await host.view.locator("#questions li").text_content() == HOSTILE
        assert await host.frame.evaluate("document.body.querySelectorAll('img, script').length") == 3, "its own scripts"


async def test_a_transcript_that_is_still_written_is_read_again(browser: Browser) -> None:
    empty = samples.transcript(status="processing", turns=[], turn_count=0)
    caller = FakeCaller(answers={**samples.answers(), "get_transcript": empty})
    async with hosted(server(caller), browser, clock=True) as host:
        await host.open("get_recording")
        await host.tell("tool-input", {"arguments": {"call_id": "cal_1"}})
        await expect(host.view.get_by_role("status")).to_have_text("The transcript is still being written.")
        caller.answers["get_transcript"] = samples.transcript()
        await host.page.clock.run_for(3_100)
        await expect(line(host, 0)).to_be_visible()
        await expect(host.view.get_by_role("status")).to_have_text("")


@pytest.mark.parametrize("theme", ["light", "dark"])
async def test_text_is_readable_and_fits_a_narrow_window(browser: Browser, theme: str) -> None:
    answers = {**samples.answers(), "get_transcript": samples.transcript(samples.turn(0, "y" * 300, "agent"))}
    async with hosted(server(FakeCaller(answers=answers)), browser, width=NARROW) as host:
        await shown(host, theme=theme)
        await host.settled()
        assert await overhang(host) == 0
        assert await pale_texts(host) == []
