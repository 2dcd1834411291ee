"""Transfers over SIP between three SIP stacks: the media process, the contact's telephone and that of a person, with a
switch that knows where each number is."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import pytest

from callwright.contract.agents.call_tools import TransferTool
from callwright.contract.agents.transfer_destinations import TransferDestination
from callwright.service.rules.prices.transfer_prices import TransferLeg
from callwright.service.telephony.media.messages import Ended, Limits, PersonOnLine, Transferring
from callwright.service.telephony.transfers import CallTransfer
from tests.service.telephony.media.calls import Line
from tests.service.telephony.media.closed_set import resampled
from tests.service.telephony.media.conftest import Sounds
from tests.service.telephony.media.sentences import PERSON, QUESTION, SUMMARY, YES
from tests.service.telephony.media.sip.sip_calls import SipCall, placed
from tests.service.telephony.media.sip.switch import Switch, switch
from tests.service.telephony.media.sip.telephone import Telephone, telephone

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("live-calls")]
CONTACT, DESK = "+14155550123", "+14155550177"
SORRY = "I'm sorry, none of my colleagues can take your call just now."
WAITS = Limits(reports_s=50.0)
"""A busy machine takes its time to replace one call by another."""


@dataclass
class Transferred:
    """A call whose contact wants a person."""

    line: Line
    call: SipCall
    contact: Telephone
    person: Telephone
    switch: Switch

    def has_ended(self) -> bool:
        reports = self.call.media.reports.all
        return any(isinstance(each, Ended) and each.call_id == self.call.call_id for each in reports)

    async def asks_for_person(self) -> None:
        await self.call.turn("agent", 1)
        await self.contact.say(self.line.sounds[PERSON])

    def transfers(self) -> list[CallTransfer]:
        reports = self.call.media.reports.all
        return [
            each.transfer for each in reports if isinstance(each, Transferring) and each.call_id == self.call.call_id
        ]

    def persons(self) -> list[TransferLeg]:
        """What was told of the person who was on the line, in the end of each try."""
        reports = [each for each in self.call.media.reports.all if isinstance(each, PersonOnLine)]
        return list({each.number: each.leg for each in reports if each.call_id == self.call.call_id}.values())

    async def reaches(self, status: str) -> CallTransfer:
        found = await self.call.media.reports.wait_for(
            Transferring, lambda each: each.call_id == self.call.call_id and each.transfer.status == status, within_s=60
        )
        return found.transfer

    async def ended_after_bridging(self) -> Ended:
        """The end of the agent's part. Where a telephone does not take the other's place, as on a busy machine, the two
        are joined here until one hangs up."""
        with anyio.move_on_after(20):
            return await self.call.ended()
        await self.contact.do("hang_up")
        return await self.call.ended()

    async def hears(self, who: Telephone, other: Telephone, text: str) -> None:
        """Waits until one of the two hears what the other says, who says it again if it was not understood."""
        known = self.line.service.known
        with anyio.fail_after(60):
            while True:
                before = len(await who.heard())
                await other.say(self.line.sounds[text])
                with anyio.move_on_after(4):
                    while True:
                        new = (await who.heard())[before:]
                        if new and known.recognise(resampled(new, 8_000)) == text:
                            return
                        await other.heard()


@asynccontextmanager
async def wanting(
    line: Line,
    *,
    limits: Limits = WAITS,
    loses: str | None = None,
    person: dict[str, Any] | None = None,
    contact: dict[str, Any] | None = None,
    kind: str = "warm",
    to: str = DESK,
    ring_s: int = 30,
    **destination: Any,
) -> AsyncGenerator[Transferred]:
    """A call over the switch. The agent may transfer it to the desk, whose telephone answers unless told otherwise."""
    given = {"name": "desk", "to": to, "kind": kind, "ring_timeout_seconds": ring_s, "summary": SUMMARY}
    tool = TransferTool(
        type="transfer",
        name="transfer_call",
        description="To a person.",
        destinations=[TransferDestination.model_validate(given | destination)],
    )
    async with telephone(**({"transfers": "auto"} | (contact or {}))) as theirs, telephone(**(person or {})) as desk:
        async with switch({CONTACT: theirs.port, DESK: desk.port}, loses=loses) as between:
            call = await placed(line, between.trunk, tools=[tool], limits=limits)
            await call.reached("answered")
            yield Transferred(line, call, theirs, desk, between)


@pytest.mark.requirement("TRANSFER-05")
async def test_a_person_who_answers_takes_the_place_of_the_agent(line: Line) -> None:
    for is_last in (False, False, True):  # on a busy machine a telephone may refuse, and the two are joined here
        async with wanting(line) as made:
            await made.asks_for_person()
            bridged = await made.reaches("bridged")
            with anyio.move_on_after(None if is_last else 20):
                await made.call.ended()
            if made.has_ended():
                await made.hears(made.person, made.contact, YES)
                await made.hears(made.contact, made.person, YES)
                break
            await made.contact.do("hang_up")
            await made.call.ended()
    ended = await made.call.ended()
    assert [each.status for each in made.transfers()] == ["ringing", "answered", "bridged"]
    assert (bridged.kind, bridged.to, bridged.name, bridged.cause) == ("warm", DESK, "desk", None)
    assert (ended.cause, ended.ended_by, ended.disposition) == ("transfer_completed", "agent", "escalated")
    assert made.call.turns()[-1].tool_call is not None
    (leg,) = made.persons()
    answered = next(each for each in made.transfers() if each.status == "answered")
    assert (leg.to, leg.charge_id) == (DESK, None)
    assert answered.at_s - 0.1 <= leg.answered_s <= answered.at_s
    assert bridged.at_s <= leg.ended_s <= bridged.at_s + 0.5, "it is the trunk's from then on"


@pytest.mark.requirement("TRANSFER-05", "COST-10")
async def test_where_the_trunk_does_not_replace_the_agent_the_two_are_joined_here(line: Line) -> None:
    async with wanting(line, contact={"transfers": "reject"}) as made:
        await made.asks_for_person()
        await made.reaches("bridged")
        await made.hears(made.person, made.contact, YES)
        await made.hears(made.contact, made.person, YES)
        words = made.call.words()
        await made.person.do("hang_up")
        ended = await made.call.ended()
        closed = await made.contact.wait_for("closed")
    assert (ended.cause, ended.ended_by) == ("transfer_completed", "agent")
    assert closed["answered"]
    assert made.call.words() == words  # what the two say to each other is in no transcript
    (leg,) = made.persons()
    assert leg.ended_s == pytest.approx(ended.talk_s, abs=0.5), "the person is on the line until the end"
    assert leg.ended_s > next(each for each in made.transfers() if each.is_bridged).at_s + 1


async def test_the_contact_of_two_who_are_joined_here_may_hang_up(line: Line) -> None:
    async with wanting(line, contact={"transfers": "reject"}) as made:
        await made.asks_for_person()
        await made.reaches("bridged")
        await made.contact.do("hang_up")
        ended = await made.call.ended()
        closed = await made.person.wait_for("closed")
    assert (ended.cause, ended.ended_by) == ("transfer_completed", "contact")
    assert closed["answered"]


@pytest.mark.requirement("TRANSFER-05", "TRANSFER-02")
@pytest.mark.parametrize(("phone", "cause"), [("busy", "busy"), ("ring", "no_answer")])
async def test_a_contact_goes_on_with_the_agent_when_the_person_does_not_answer(
    line: Line, phone: str, cause: str
) -> None:
    async with wanting(line, person={"on_call": phone}, ring_s=5) as made:
        await made.asks_for_person()
        failed = await made.reaches("failed")
        await made.call.says(f"{SORRY} {QUESTION}")
        await made.contact.say(line.sounds[YES])
        await made.call.turn("contact", 2)
        await made.person.wait_for("closed")
        await made.contact.do("hang_up")
        await made.call.ended()
    assert failed.cause == cause
    assert ("contact", YES) in made.call.words()
    assert not any(each["answered"] for each in made.person.of("closed"))


@pytest.mark.requirement("TRANSFER-05")
async def test_a_person_who_hangs_up_during_the_summary_leaves_the_contact_with_the_agent(line: Line) -> None:
    async with wanting(line) as made:
        await made.asks_for_person()
        await made.reaches("answered")
        await made.person.do("hang_up")
        failed = await made.reaches("failed")
        await made.call.says(f"{SORRY} {QUESTION}")
        await made.contact.do("hang_up")
        ended = await made.call.ended()
    assert failed.cause == "hung_up"
    assert (ended.cause, ended.ended_by) == ("contact_hangup", "contact")
    (leg,) = made.persons()
    assert leg.answered_s < leg.ended_s <= failed.at_s


@pytest.mark.requirement("TRANSFER-06")
async def test_a_person_rings_no_more_once_the_contact_has_hung_up(line: Line) -> None:
    async with wanting(line, person={"on_call": "ring"}) as made:
        await made.asks_for_person()
        await made.person.wait_for("incoming")
        await made.contact.do("hang_up")
        ended = await made.call.ended()
        closed = await made.person.wait_for("closed", within_s=5)
    assert (made.transfers()[-1].status, made.transfers()[-1].cause) == ("failed", "hung_up")
    assert ended.cause == "contact_hangup"
    assert not closed["answered"]


@pytest.mark.requirement("TRANSFER-05")
async def test_a_cold_transfer_moves_the_contact_to_the_person(line: Line) -> None:
    async with wanting(line, kind="cold") as made:
        await made.asks_for_person()
        await made.reaches("bridged")
        ended = await made.call.ended()
        await made.hears(made.person, made.contact, YES)
    assert [each.status for each in made.transfers()] == ["ringing", "bridged"]
    assert (ended.cause, ended.ended_by) == ("transfer_completed", "agent")
    assert made.persons() == [], "nobody was called from here"


@pytest.mark.requirement("TRANSFER-05")
@pytest.mark.parametrize(("person", "contact", "cause"), [("busy", "auto", "busy"), ("answer", "reject", "rejected")])
async def test_a_cold_transfer_that_fails_leaves_the_contact_with_the_agent(
    line: Line, person: str, contact: str, cause: str
) -> None:
    async with wanting(line, kind="cold", person={"on_call": person}, contact={"transfers": contact}) as made:
        await made.asks_for_person()
        failed = await made.reaches("failed")
        await made.call.says(f"{SORRY} {QUESTION}")
        await made.contact.do("hang_up")
        await made.call.ended()
    assert failed.cause == cause


@pytest.mark.requirement("TRANSFER-07")
@pytest.mark.parametrize("to", ["+19005550123", "+493012345678"])
async def test_a_number_that_may_not_be_called_is_not_called(line: Line, to: str) -> None:
    async with wanting(line, to=to) as made:
        await made.asks_for_person()
        failed = await made.reaches("failed")
        await made.call.says(f"{SORRY} {QUESTION}")
        await made.contact.do("hang_up")
        await made.call.ended()
    assert failed.cause == "not_allowed"
    assert {number for method, number in made.switch.passed if method == "INVITE"} == {CONTACT}


@pytest.mark.requirement("TRANSFER-05")
async def test_a_person_hears_the_summary_and_takes_the_call_with_a_key(line: Line) -> None:
    async with wanting(line, confirm_key="1") as made:
        await made.asks_for_person()
        await made.person.wait_for("answered")
        await made.person.hears(line.service.known, SUMMARY)
        await made.person.do("press", digits="1")
        await made.reaches("bridged")
        ended = await made.ended_after_bridging()
    assert ended.cause == "transfer_completed"
    assert SUMMARY not in [text for _, text in made.call.words()]


@pytest.mark.requirement("TRANSFER-05")
async def test_a_person_who_never_presses_the_key_is_asked_twice_and_the_contact_is_back_with_the_agent(
    line: Line, sounds: Sounds
) -> None:
    async with wanting(line, confirm_key="1") as made:
        await made.asks_for_person()
        await made.person.wait_for("answered")
        for _ in range(2):
            await made.person.hears(line.service.known, SUMMARY)
        failed = await made.reaches("failed")
        closed = await made.person.wait_for("closed")
        await made.call.says(f"{SORRY} {QUESTION}")
        await made.contact.do("hang_up")
        ended = await made.call.ended()
    assert failed.cause == "no_answer"
    assert [each.status for each in made.transfers()] == ["ringing", "answered", "failed"]
    assert closed["heard_s"] < 2.5 * len(sounds.agent[SUMMARY]) / 32_000, "it was asked a third time"
    assert (ended.cause, ended.ended_by) == ("contact_hangup", "contact")


@pytest.mark.requirement("TRANSFER-05")
async def test_a_trunk_that_takes_a_cold_transfer_and_hangs_up_without_a_report_ends_the_call_as_transfer_failed(
    line: Line,
) -> None:
    async with wanting(line, kind="cold", contact={"transfers": "manual"}, loses="NOTIFY") as made:
        await made.asks_for_person()
        await made.contact.wait_for("asked_to_transfer")
        await made.contact.do("hang_up")
        ended = await made.call.ended()
    assert [(each.status, each.cause) for each in made.transfers()] == [("ringing", None), ("failed", "hung_up")]
    assert (ended.cause, ended.ended_by) == ("transfer_failed", "carrier")
    assert ("INVITE", DESK) not in made.switch.passed


@pytest.mark.requirement("TRANSFER-05")
async def test_the_silence_of_a_contact_while_the_trunk_moves_it_is_no_end_of_the_call(line: Line) -> None:
    async with wanting(line, limits=Limits(reports_s=50.0, no_audio_s=3.0)) as made:
        await made.asks_for_person()
        await made.reaches("answered")
        made.person.freeze()
        await made.contact.wait_for("goes_on")
        await anyio.sleep(4.5)  # the contact is on hold and sends nothing, for longer than a call may be without sound
        made.person.thaw()
        await made.reaches("bridged")
        ended = await made.call.ended()
        await made.hears(made.person, made.contact, YES)
    assert (ended.cause, ended.ended_by) == ("transfer_completed", "agent")


@pytest.mark.requirement("TRANSFER-05")
async def test_a_person_who_takes_the_place_of_the_agent_after_the_two_were_joined_here_talks_on(line: Line) -> None:
    async with wanting(line, limits=Limits(reports_s=1.0)) as made:
        await made.asks_for_person()
        await made.reaches("answered")
        made.person.freeze()
        await made.contact.wait_for("goes_on")
        await made.reaches("bridged")
        made.person.thaw()
        ended = await made.call.ended()
        await made.hears(made.person, made.contact, YES)
        await made.hears(made.contact, made.person, YES)
    assert [each.status for each in made.transfers()] == ["ringing", "answered", "bridged"]
    assert (ended.cause, ended.ended_by) == ("transfer_completed", "agent")
