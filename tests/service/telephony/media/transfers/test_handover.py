"""What comes of a transfer while the contact still hears that they should hold."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import anyio
import pytest

from callwright.contract.agents.call_tools import TransferTool
from callwright.contract.agents.transfer_destinations import TransferDestination
from callwright.service.rules.call_tools import stored_tools
from callwright.service.telephony.media.messages import PersonOnLine, Transferring
from callwright.service.telephony.media.other_side import Gone, OtherSide
from callwright.service.telephony.media.policy import Phrases, Saying
from callwright.service.telephony.media.sound.sound_clock import SoundClock
from callwright.service.telephony.media.transfers import handover
from callwright.service.telephony.media.transfers.handover import Handover
from callwright.service.telephony.media.transfers.means import Wanted
from callwright.service.telephony.media.turns.transcript import Transcript
from tests.service.telephony.legs.interleavings import REQUEST
from tests.service.telephony.media.scripted_talk import Heard

DESK = "+14155550177"
TOOL = TransferTool(
    type="transfer",
    name="transfer_call",
    description="To a person.",
    destinations=[TransferDestination(name="desk", to=DESK, summary="A caller.")],
)
ASKS = replace(REQUEST, to="+14155550123", agent=replace(REQUEST.agent, call_tools=stored_tools([TOOL])))


def joins_nobody(person: OtherSide) -> None:
    raise AssertionError(person)


def shows_nothing(kind: str, **content: object) -> None: ...


@dataclass
class Slow(Heard):
    """A sentence takes until it `may_end`."""

    begun: anyio.Event = field(default_factory=anyio.Event)
    may_end: anyio.Event = field(default_factory=anyio.Event)

    async def say(self, saying: Saying) -> None:
        self.begun.set()
        await self.may_end.wait()
        await super().say(saying)


@dataclass
class Replaced:
    """The trunk lets the person take the agent's place, once they `take` it."""

    calls_persons = True
    take: anyio.Event = field(default_factory=anyio.Event)
    over: anyio.Event = field(default_factory=anyio.Event)

    async def transfer(self, wanted: Wanted, answered: Callable[[], None]) -> OtherSide | None:
        answered()
        await self.take.wait()
        self.over.set()
        return None

    async def close(self) -> None: ...


@pytest.mark.requirement("TRANSFER-05")
async def test_a_contact_who_is_with_the_person_before_a_sentence_ends_was_transferred(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(handover, "EVERY_S", 0.0)
    monkeypatch.setattr(handover, "TONE_S", 0.0)
    reports = list[Transferring | PersonOnLine]()
    talk, means, now = Slow(Phrases(ASKS)), Replaced(), [10.0]
    clock = SoundClock(lambda: now[0])
    clock.start()
    made = Handover(
        ASKS,
        talk,
        transcript=Transcript("cal_1", lambda _: None, shows_nothing),
        clock=clock,
        report=reports.append,
        announces=False,
        is_wanted=lambda: False,
    )
    made.connect(means, joins_nobody)
    gone = None
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(made.to, "desk", "")
            await talk.begun.wait()
            now[0] += 5.0
            means.take.set()
            await means.over.wait()
            gone = made.other_side_gone(Gone("contact_hangup", "contact"))
            now[0] += 7.0
            talk.may_end.set()
    assert gone is not None
    assert (gone.cause, gone.ended_by) == ("transfer_completed", "agent")
    told = [each.transfer for each in reports if isinstance(each, Transferring)]
    assert [(each.status, each.cause, each.at_s) for each in told] == [
        ("ringing", None, 0.0),
        ("answered", None, 0.0),
        ("bridged", None, 5.0),
    ]
    lines = [each.leg for each in reports if isinstance(each, PersonOnLine)]
    assert [(each.answered_s, each.ended_s) for each in lines] == [(0.0, 0.0), (0.0, 5.0)]
    assert [(end.cause, end.ended_by) for end in talk.ended] == [("transfer_completed", "agent")]
