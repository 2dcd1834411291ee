"""Callers of a SIP trunk, between two SIP stacks: a telephone calls the media process of a host."""

import os
import signal
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import anyio
import pytest

from callwright.contract.agents.call_tools import TransferTool
from callwright.contract.agents.transfer_destinations import TransferDestination
from callwright.service.platform.wake_signal import WakeSignal
from callwright.service.telephony.answering import Answering
from callwright.service.telephony.carriers import media_calls
from callwright.service.telephony.carriers.sip import SipCarrier
from callwright.service.telephony.carriers.sip_callers import SipCaller, SipCallers
from callwright.service.telephony.carriers.sip_trunk import SipTrunk
from callwright.service.telephony.engine import CallResult, EarlyEnd
from callwright.service.telephony.legs.carrier import HangUpAsked, LegRequest, Refused
from callwright.service.telephony.lines.media_processes import MediaProcesses
from callwright.service.telephony.media.messages import SpeechService, SpeechServices
from tests.service.telephony.media.calls import Line
from tests.service.telephony.media.sentences import GREETING, PERSON, SUMMARY
from tests.service.telephony.media.sip.plain_trunk import Answer, always, plain_trunk
from tests.service.telephony.media.sip.switch import switch
from tests.service.telephony.media.sip.telephone import Telephone, free_port, telephone

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("live-calls")]
OWN, DESK = "+14155550100", "+14155550177"


async def until(holds: Callable[[], bool]) -> None:
    """Waits until something holds."""
    with anyio.fail_after(60):
        while True:
            if holds():
                return
            await anyio.sleep(0.02)


class Media(MediaProcesses):
    """Media processes that can be killed."""

    def kill(self) -> None:
        for process in self._processes:
            os.kill(process.process.pid, signal.SIGKILL)


@dataclass
class Desk:
    """Decides about callers, and answers them as a line host does."""

    line: Line
    media: Media
    trunk: SipTrunk
    answers: bool = True
    places: bool = True
    port: int = 0
    has_room: bool = True
    order: dict[str, Any] = field(default_factory=dict[str, Any])
    """What calls are, beside the usual."""
    came: list[SipCaller] = field(default_factory=list[SipCaller])
    stages: list[str] = field(default_factory=list[str])
    results: list[CallResult] = field(default_factory=list[CallResult])
    asked: HangUpAsked = field(default_factory=HangUpAsked)
    callers: SipCallers = field(init=False)
    call_ids: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.callers = SipCallers(self.trunk, (OWN,), self.receive, has_room=lambda: self.has_room, woken=WakeSignal())
        self.media.take_callers(self.callers.ingress)

    async def receive(self, caller: SipCaller) -> str | None:
        self.came.append(caller)
        if not self.answers:
            return None
        call_id = f"cal_{len(self.came)}"
        self.call_ids.append(call_id)
        return call_id

    async def place(self) -> None:
        """Answers whoever waits, one after the other."""
        carrier = SipCarrier(
            "sip",
            self.media,
            media_calls.always(self.line.order(**self.order).services),
            self.trunk,
            callers=self.callers,
        )
        while True:
            await anyio.sleep(0.02)
            for call_id in self.callers.call_ids() if self.places else ():
                await self.carry(carrier, call_id)

    async def carry(self, carrier: SipCarrier, call_id: str) -> None:
        caller = self.came[self.call_ids.index(call_id)]
        request = replace(
            self.line.order(**self.order).request,
            call_id=call_id,
            to=caller.to,
            from_=caller.from_,
            answering=Answering("agent"),
        )
        leg = LegRequest(request, anyio.current_time() + 30)

        async def told(stage: str, provider_call_id: str | None) -> None:
            self.stages.append(stage)

        try:
            await carrier.place(leg)
        except Refused as refused:
            self.results.append(refused.result)
            return
        self.results.append(await carrier.ended(leg, None, told, self.asked))

    async def result(self) -> CallResult:
        await until(lambda: bool(self.results))
        return self.results[0]


@asynccontextmanager
async def desk(line: Line, trunk: SipTrunk, **options: Any) -> AsyncGenerator[Desk]:
    """A desk whose media process takes callers."""
    made = Desk(line, Media(1), trunk, **options)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(made.media.run)
        tasks.start_soon(made.callers.run)
        tasks.start_soon(made.place)
        await until(made.media.has_room)
        yield made
        tasks.cancel_scope.cancel()


@asynccontextmanager
async def at_port(
    line: Line, *, networks: tuple[str, ...] = (), **options: Any
) -> AsyncGenerator[tuple[Desk, Telephone]]:
    """A desk at a port, and a telephone of its trunk."""
    async with telephone(user="+14155550123") as phone:
        port = free_port()
        trunk = replace(phone.trunk, inbound=f"127.0.0.1:{port}", inbound_from=networks)
        async with desk(line, trunk, port=port, **options) as made:
            yield made, phone


async def rings(phone: Telephone, port: int, number: str = OWN, **headers: str) -> None:
    """Calls until somebody is there: the port is opened a moment after the process has started."""
    with anyio.fail_after(40):
        while not phone.of("rings"):
            phone.all.clear()
            await phone.call(number, port, **headers)
            await phone.wait_for(lambda each: each["event"] in ("rings", "closed"))


@pytest.mark.requirement("SIP-01")
async def test_a_caller_is_answered_talks_and_is_followed_to_the_end(line: Line) -> None:
    async with at_port(line) as (made, phone):
        await rings(phone, made.port)
        await phone.wait_for("answered")
        await phone.hears(line.service.known, GREETING)
        await phone.do("hang_up")
        result = await made.result()
    assert [(caller.to, caller.from_) for caller in made.came] == [(OWN, "+14155550123")]
    assert made.came[0].provider_call_id
    assert made.stages == ["ringing", "answered"]
    assert (result.outcome, result.hangup_cause, result.ended_by) == ("answered", "contact_hangup", "contact")
    assert [turn.text for turn in result.turns] == [GREETING]


async def test_a_call_that_came_in_is_hung_up_by_request(line: Line) -> None:
    async with at_port(line) as (made, phone):
        await rings(phone, made.port)
        await phone.wait_for("answered")
        await until(lambda: "answered" in made.stages)  # the phone knows it before its acknowledgement is here
        made.asked.ask(EarlyEnd("api", "normal_clearing"))
        assert (await phone.wait_for("closed"))["answered"]
        result = await made.result()
    assert (result.outcome, result.ended_by) == ("answered", "api")


@pytest.mark.requirement("SIP-02")
@pytest.mark.parametrize(
    ("options", "number", "came"),
    [
        ({"answers": False}, OWN, 1),
        ({"has_room": False, "answers": False}, OWN, 1),
        ({}, "+14155550199", 0),
        ({"networks": ("192.0.2.0/24",)}, OWN, 0),
    ],
    ids=["refused", "no-room", "another-number", "a-stranger"],
)
async def test_who_is_not_let_in_gets_the_busy_tone(
    line: Line, options: dict[str, Any], number: str, came: int
) -> None:
    async with at_port(line, **options) as (made, phone):
        await rings(phone, made.port, number)
        closed = await phone.wait_for("closed", within_s=4.5)
    assert (closed["answered"], closed["text"]) == (False, "486 Busy Here")
    assert [each.has_line for each in made.came] == [options.get("has_room", True)] * came
    assert made.results == []


async def test_a_caller_whom_nobody_answers_gets_the_busy_tone_and_the_call_ends(line: Line) -> None:
    async with at_port(line, places=False) as (made, phone):
        await rings(phone, made.port)
        closed = await phone.wait_for("closed", within_s=20)
        assert closed["text"] == "486 Busy Here"
        made.places = True  # the leg is taken after that
        result = await made.result()
    assert (result.outcome, result.hangup_cause, result.ended_by) == ("abandoned", "contact_hangup", "contact")


async def test_a_call_that_cannot_begin_gives_its_caller_the_busy_tone(line: Line) -> None:
    services = SpeechServices(speaking=SpeechService(kind="nobody"))
    async with at_port(line, order={"services": services}) as (made, phone):
        await rings(phone, made.port)
        closed = await phone.wait_for("closed", within_s=4.5)
        result = await made.result()
    assert closed["text"] == "486 Busy Here"
    assert (result.outcome, result.hangup_cause, result.ended_by) == ("failed", "platform_error", "platform")


async def test_who_hangs_up_while_it_rings_has_given_up(line: Line) -> None:
    async with at_port(line, places=False) as (made, phone):
        await rings(phone, made.port)
        await phone.do("hang_up")
        await phone.wait_for("closed")
        made.places = True
        result = await made.result()
    assert (result.outcome, result.answered_by, made.stages) == ("abandoned", None, [])


@pytest.mark.requirement("SIP-03")
async def test_callers_who_come_by_registration_are_answered_and_outgoing_calls_do_not_register(line: Line) -> None:
    async with plain_trunk(always(Answer(200, headers="Expires: 600"))) as plain, telephone() as phone:
        trunk = replace(plain.trunk, user="bob", registers=True, inbound="register")
        async with desk(line, trunk) as made:
            contact = (await plain.got("REGISTER")).headers["contact"]
            host_port = contact.partition("@")[2].partition(">")[0].partition(";")[0]
            user = contact.partition("sip:")[2].partition("@")[0]
            await phone.call(user, int(host_port.partition(":")[2]), **{"P-Called-Party-ID": f"<sip:{OWN}@trunk>"})
            await phone.wait_for("answered")
            await phone.hears(line.service.known, GREETING)
            await phone.do("hang_up")
            await made.result()
    assert [caller.to for caller in made.came] == [OWN]
    assert plain.methods() == ["REGISTER"]


@pytest.mark.requirement("SIP-05")
@pytest.mark.parametrize("kind", ["cold", "warm"])
async def test_a_caller_is_handed_over_to_a_person_who_sees_the_number_that_was_called(line: Line, kind: str) -> None:
    given = {"name": "desk", "to": DESK, "kind": kind, "summary": SUMMARY}
    tool = TransferTool(
        type="transfer",
        name="transfer_call",
        description="To a person.",
        destinations=[TransferDestination.model_validate(given)],
    )
    async with telephone(user="+14155550123", transfers="auto") as phone, telephone() as person:
        async with switch({DESK: person.port}) as between:
            port = free_port()
            trunk = replace(between.trunk, inbound=f"127.0.0.1:{port}")
            async with desk(line, trunk, port=port, order={"tools": [tool]}) as made:
                await rings(phone, made.port)
                await phone.hears(line.service.known, GREETING)
                await phone.say(line.sounds[PERSON])
                with anyio.move_on_after(30):  # else a telephone has not taken the other's place: they are joined here
                    await made.result()
                if not made.results:
                    await phone.do("hang_up")
                result = await made.result()
                called = person.of("incoming")[0]
    assert (result.outcome, result.transfer and result.transfer.status) == ("transferred", "bridged")
    assert result.transfer is not None
    assert result.transfer.kind == kind
    assert kind == "cold" or OWN in called["peer"]


@pytest.mark.requirement("SIP-04")
async def test_a_process_that_dies_ends_its_calls_and_another_takes_callers(line: Line) -> None:
    async with at_port(line) as (made, phone):
        await rings(phone, made.port)
        await until(lambda: "answered" in made.stages)
        made.media.kill()
        result = await made.result()
        assert (result.outcome, result.hangup_cause) == ("answered", "platform_error")
        await phone.do("hang_up")
        made.results.clear()
        await until(lambda: not made.media.has_room())
        await until(made.media.has_room)
        phone.all.clear()
        await rings(phone, made.port)
        await phone.wait_for("answered")
        assert len(made.came) == 2
