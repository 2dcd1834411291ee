"""The media processes of a host: calls are spread over them, and end with them."""

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from callwright.service.telephony.engine import CallResult
from callwright.service.telephony.lines import media_processes
from callwright.service.telephony.lines.conversation_results import Conversation
from callwright.service.telephony.lines.media_processes import MediaCall, MediaProcesses, MediaUnavailable
from callwright.service.telephony.media.messages import MOST_CALLS, BeginCall, Ended, HangUp
from tests.service.telephony.legs.interleavings import REQUEST
from tests.support import scripted_media

COMMAND = (sys.executable, str(Path(scripted_media.__file__)))


@asynccontextmanager
async def processes(most: int = 2, *command: str) -> AsyncGenerator[MediaProcesses]:
    made = MediaProcesses(most, command=command or COMMAND)
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(made.run)
            await anyio.wait_all_tasks_blocked()
            yield made
            tasks.cancel_scope.cancel()


def order(index: int, kind: int) -> BeginCall:
    request = replace(REQUEST, call_id=f"cal_{index}", to=f"+1212555{index:03d}{kind}")
    return BeginCall(request=request, token=f"t{index}")


async def followed(call: MediaCall, call_id: str) -> CallResult:
    """The result once the call has ended."""
    conversation = Conversation(call_id)
    async with call.reports:
        async for report in call.reports:
            if isinstance(report, Ended):
                return conversation.result(report)
            conversation.add(report)
    raise AssertionError("the call has no end")


async def test_a_call_has_its_turns_keys_and_end() -> None:
    async with processes() as made:
        result = await followed(await made.begin(order(1, 1)), "cal_1")
    assert [turn.text for turn in result.turns] == ["Hello.", "Yes."]
    assert (result.outcome, result.disposition, result.keys) == ("answered", "goal_met", ("1#",))
    assert (result.hangup_cause, result.ended_by, result.answered_by) == ("contact_hangup", "contact", "human")


async def test_a_line_that_is_no_report_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async with processes() as made:
        result = await followed(await made.begin(order(1, 4)), "cal_1")
    assert result.outcome == "answered"
    assert "was no report" in caplog.text


async def test_an_order_reaches_its_call() -> None:
    async with processes() as made:
        call = await made.begin(order(1, 3))
        await call.send(HangUp(call_id="cal_1", cause="max_duration", ended_by="platform"))
        result = await followed(call, "cal_1")
    assert (result.hangup_cause, result.ended_by) == ("max_duration", "platform")


async def test_the_calls_of_a_process_that_dies_end_with_what_was_said_and_the_next_call_has_another() -> None:
    async with processes(1) as made:
        waiting = await made.begin(order(1, 3))
        dying = await followed(await made.begin(order(2, 2)), "cal_2")
        beside = await followed(waiting, "cal_1")
        for result in (dying, beside):
            assert (result.outcome, result.hangup_cause, result.ended_by) == ("answered", "platform_error", "platform")
            assert [turn.text for turn in result.turns] == ["Hello."]
            assert result.warnings
        assert (await followed(await made.begin(order(3, 1)), "cal_3")).outcome == "answered"


@pytest.mark.requirement("COST-10")
async def test_what_is_known_of_a_person_when_a_process_dies_stays_in_the_result() -> None:
    async with processes(1) as made:
        dying = await followed(await made.begin(order(1, 9)), "cal_1")
    (leg,) = dying.transfer_legs
    assert (leg.to, leg.seconds, leg.charge_id) == ("+12125550177", 15, None)
    assert dying.hangup_cause == "platform_error"


async def test_full_processes_take_no_call() -> None:
    async with processes(2) as made:
        calls = [await made.begin(order(index, 3)) for index in range(2 * MOST_CALLS)]
        with pytest.raises(MediaUnavailable, match="full"):
            await made.begin(order(99, 3))
        for call in calls:
            call.close()


async def test_a_process_that_has_had_its_calls_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(media_processes, "CALLS_OF_A_PROCESS", 2)
    async with processes(1) as made:
        for index in range(5):
            call = await made.begin(order(index, 1))
            assert (await followed(call, f"cal_{index}")).outcome == "answered"


async def test_a_process_that_does_not_start_is_said() -> None:
    async with processes(1, *COMMAND, "broken") as made:
        with pytest.raises(MediaUnavailable, match="did not start"):
            await made.begin(order(1, 1))


async def test_a_process_is_ready_before_the_first_call_and_again_after_it_has_died() -> None:
    async with processes(1) as made:
        for index in (1, 2):
            with anyio.fail_after(30):
                while not made.has_room():  # noqa: ASYNC110 - another process is awaited, which tells nobody
                    await anyio.sleep(0.02)
            assert (await followed(await made.begin(order(index, 2)), f"cal_{index}")).hangup_cause == "platform_error"


async def test_a_full_process_has_no_room_and_another_is_started() -> None:
    async with processes(2) as made:
        calls = [await made.begin(order(index, 3)) for index in range(MOST_CALLS)]
        with anyio.fail_after(30):
            while not made.has_room():  # noqa: ASYNC110 - another process is awaited, which tells nobody
                await anyio.sleep(0.02)
        for call in calls:
            call.close()
