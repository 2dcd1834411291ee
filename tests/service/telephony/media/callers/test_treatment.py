"""What callers hear before the agent or in its place, in scripted time."""

from dataclasses import replace

import pytest

from callwright.service.telephony.answering import LONGEST_MESSAGE_S, Answering, Wait
from callwright.service.telephony.media.callers.tone import mailbox_tone
from callwright.service.telephony.media.callers.treatment import PLACE_EVERY_S, SILENT_S, Treatment, stage_of
from callwright.service.telephony.media.findings import End
from callwright.service.telephony.media.policy import Phrases
from callwright.service.telephony.transfers import Destination
from tests.service.telephony.legs.interleavings import REQUEST
from tests.service.telephony.media.scripted_talk import Heard

DESK = "+14155550177"
CLOSED, LEAVE = "Hello. We are closed at the moment.", "Please leave a message after the tone."
RECORDED = ("This call is recorded.", "Please note that this call is being recorded.")
BUSY = "I'm sorry, all our lines are still busy. Please call again later. Goodbye."


def place(number: int) -> str:
    return f"You are number {number} in the queue."


class Caller:
    """A caller who is treated, and a clock."""

    def __init__(self, answering: Answering, *, announced: bool = False) -> None:
        request = replace(REQUEST, answering=answering, recording_announcement=announced)
        self.now, self.forwarded = 0.0, list[Destination]()
        self.heard = Heard(Phrases(request))
        stage = stage_of(answering)
        assert stage is not None
        self.treatment = Treatment(request, self.heard, stage, self.forwarded.append, now=lambda: self.now)

    async def until(self, moment: float, *, speaks: bool = False) -> None:
        """Time passes, and the caller perhaps speaks."""
        while self.now < moment and not self.heard.ended:
            self.now = round(self.now + 0.5, 1)
            await self.treatment.tick(self.now, hears=speaks)


def waiting(position: int = 2, longest_s: float = 300.0) -> Answering:
    return Answering("agent", wait=Wait(position, longest_s))


@pytest.mark.requirement("INB-13")
async def test_the_place_is_said_at_first_when_it_changes_and_now_and_then_until_the_agent_answers() -> None:
    caller = Caller(waiting())
    await caller.treatment.begin()
    await caller.treatment.moved(2)
    assert caller.heard.said == [place(2)]
    await caller.treatment.moved(1)
    await caller.until(PLACE_EVERY_S)
    assert caller.heard.said == [place(2), place(1), place(1)]
    assert caller.heard.voice.played
    caller.heard.speaks = True
    await caller.treatment.moved(0)
    await caller.until(PLACE_EVERY_S + 1)
    assert caller.heard.agent_answers == 0
    caller.heard.speaks = False
    await caller.until(PLACE_EVERY_S + 1.5)
    assert (caller.heard.agent_answers, caller.heard.ended) == (1, [])


@pytest.mark.requirement("INB-13")
async def test_who_has_waited_for_the_longest_time_hears_that_all_lines_are_busy() -> None:
    caller = Caller(waiting(longest_s=60.0))
    await caller.treatment.begin()
    await caller.until(600.0)
    assert (caller.now, caller.heard.said[-1]) == (60.0, BUSY)
    assert caller.heard.ended == [End("user_busy", "platform")]


@pytest.mark.requirement("INB-12")
async def test_a_message_begins_after_the_tone_and_somebody_who_never_stops_is_ended_with_a_sentence() -> None:
    caller = Caller(Answering("voicemail"))
    await caller.treatment.begin()
    assert caller.heard.said == [CLOSED, LEAVE]
    await caller.until(0.5)
    assert caller.heard.voice.played == [mailbox_tone()]
    await caller.until(1_000.0, speaks=True)
    assert caller.now == LONGEST_MESSAGE_S + 0.5
    assert len(caller.heard.said) == 3
    assert caller.heard.ended == [End("max_duration", "platform")]


@pytest.mark.requirement("INB-12")
async def test_silence_after_a_message_ends_it() -> None:
    caller = Caller(Answering("voicemail"))
    await caller.treatment.begin()
    await caller.until(30.0, speaks=True)
    assert caller.treatment.heard("Stop calling me.", keys="")
    await caller.until(100.0)
    assert (caller.now, caller.heard.ended) == (30.0 + SILENT_S, [End("normal_clearing", "platform")])
    assert caller.heard.findings.disposition == "do_not_call"


@pytest.mark.requirement("INB-14")
async def test_a_caller_is_put_through_once_after_hearing_so() -> None:
    caller = Caller(Answering("forward", forward_to=DESK))
    await caller.treatment.begin()
    caller.heard.speaks = True
    await caller.until(1.0)
    assert (caller.forwarded, len(caller.heard.said)) == ([], 1)
    caller.heard.speaks = False
    await caller.until(5.0)
    (to,) = caller.forwarded
    assert (to.to, to.kind, to.countries) == (DESK, "cold", ("US",))


@pytest.mark.requirement("INB-13")
@pytest.mark.parametrize("answering", [waiting(), Answering("voicemail"), Answering("forward", forward_to=DESK)])
async def test_where_recordings_are_announced_that_is_the_first_thing_a_caller_hears(answering: Answering) -> None:
    caller = Caller(answering, announced=True)
    await caller.treatment.begin()
    assert caller.heard.said[0] in RECORDED
