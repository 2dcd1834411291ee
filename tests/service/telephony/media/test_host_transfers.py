"""Transfers that the host's carrier makes, and lines that cannot be transferred, on calls over a websocket."""

from typing import Any

import anyio
import anyio.lowlevel
import pytest

from callwright.contract.agents.call_tools import TransferTool
from callwright.contract.agents.transfer_destinations import TransferDestination
from callwright.service.telephony.media.messages import TransferAsked, Transferring, TransferUpdate
from callwright.service.telephony.media.transfers.host_transfers import HostTransfers
from callwright.service.telephony.media.transfers.means import NotTransferred, Wanted
from tests.service.telephony.media.calls import Line, LiveCall
from tests.service.telephony.media.sentences import PERSON, QUESTION, SUMMARY

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("live-calls")]
DESK = "+14155550177"
SORRY = "I'm sorry, none of my colleagues can take your call just now."
TOOL = TransferTool(
    type="transfer",
    name="transfer_call",
    description="To a person.",
    destinations=[TransferDestination(name="desk", to=DESK, summary=SUMMARY)],
)


async def asked(call: LiveCall) -> TransferAsked:
    """The transfer that the host is asked for."""
    return await call.media.reports.wait_for(TransferAsked, lambda each: each.call_id == call.call_id, within_s=30)


async def told(call: LiveCall, stage: Any, cause: Any = None) -> None:
    await call.media.send(TransferUpdate(call_id=call.call_id, stage=stage, cause=cause))


def stages(call: LiveCall) -> list[tuple[str, str | None]]:
    found = [each for each in call.media.reports.all if isinstance(each, Transferring)]
    return [(each.transfer.status, each.transfer.cause) for each in found if each.call_id == call.call_id]


@pytest.mark.requirement("TRANSFER-08")
async def test_the_host_is_asked_to_transfer_and_the_call_ends_when_it_has(line: Line) -> None:
    async with line.call(tools=[TOOL], host_transfers=True) as call:
        await call.turn("agent", 1)
        await call.say(PERSON)
        wanted = await asked(call)
        await told(call, "ringing")
        await told(call, "answered")
        await told(call, "bridged")
        ended = await call.ended()
    assert (wanted.kind, wanted.to, wanted.summary, wanted.language) == ("warm", DESK, SUMMARY, "en-US")
    assert stages(call) == [("ringing", None), ("answered", None), ("bridged", None)]
    assert (ended.cause, ended.ended_by, ended.disposition) == ("transfer_completed", "agent", "escalated")


@pytest.mark.requirement("TRANSFER-08", "TRANSFER-02")
async def test_the_agent_goes_on_when_the_host_says_that_nobody_took_over(line: Line) -> None:
    async with line.call(tools=[TOOL], host_transfers=True) as call:
        await call.turn("agent", 1)
        await call.say(PERSON)
        await asked(call)
        await told(call, "failed", "busy")
        await call.says(f"{SORRY} {QUESTION}")
        await call.hang_up()
        ended = await call.ended()
    assert stages(call) == [("ringing", None), ("failed", "busy")]
    assert ended.cause == "normal_clearing"


@pytest.mark.requirement("TRANSFER-08")
async def test_a_talk_in_the_browser_cannot_be_transferred_and_goes_on(line: Line) -> None:
    async with line.call(tools=[TOOL]) as call:
        await call.turn("agent", 1)
        await call.say(PERSON)
        await call.says(f"{SORRY} {QUESTION}")
        await call.hang_up()
        await call.ended()
    assert stages(call) == [("failed", "not_possible")]


@pytest.mark.requirement("TRANSFER-09")
async def test_a_model_that_transfers_for_ever_is_told_to_stop_after_two_tries(line: Line) -> None:
    tries = [[("transfer_call", {"destination": "desk", "summary": "Hm."})]] * 3
    line.service.answers = (*tries, "All right.")
    async with line.call(tools=[TOOL], thinks=True) as call:
        await call.turn("agent", 1)
        await call.say(PERSON)
        await call.says("All right.")
        await call.hang_up()
        await call.ended()
    results = [turn.tool_call.result for turn in call.turns() if turn.tool_call is not None]
    assert len(results) == 3
    assert "no line" in results[0]
    assert "often enough" in results[2]
    assert stages(call) == [("failed", "not_possible")] * 2


WANTED = Wanted(kind="warm", to=DESK, summary=SUMMARY, language="en-US", ring_timeout_s=10)


@pytest.mark.requirement("TRANSFER-08")
@pytest.mark.parametrize(("last", "is_away"), [("bridged", True), ("failed", True), ("failed", False)])
async def test_sound_that_ends_after_the_last_word_ends_because_the_carrier_has_the_contact(
    last: Any, is_away: bool
) -> None:
    """The contact may be hearing a sentence to its end when the last word comes: until then nothing else is told."""
    asks: list[TransferAsked] = []
    failures: list[NotTransferred] = []
    transfers = HostTransfers("call_1", asks.append)

    def tells(stage: Any, *, away: bool) -> None:
        transfers.update(TransferUpdate(call_id="call_1", stage=stage, is_away=away))

    async def transferred() -> None:
        try:
            await transfers.transfer(WANTED, lambda: None)
        except NotTransferred as error:
            failures.append(error)

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(transferred)
            while not asks:
                await anyio.lowlevel.checkpoint()
            tells("answered", away=is_away)
            tells(last, away=is_away)
        assert [error.is_away for error in failures] == ([is_away] if last == "failed" else [])
        assert await transfers.takes_away() is is_away
        tells("failed", away=not is_away)  # nobody asked for anything
        assert await transfers.takes_away() is is_away
    await transfers.close()
