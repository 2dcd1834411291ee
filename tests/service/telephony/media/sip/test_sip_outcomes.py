"""Telephone calls over SIP that nobody answers, and how others end."""

from dataclasses import replace

import anyio
import pytest

from callwright.service.telephony.carriers.sip_trunk import SipTrunk, options_of
from callwright.service.telephony.media.messages import HangUp, Limits, Listening
from tests.service.telephony.media.calls import Line
from tests.service.telephony.media.sentences import GREETING
from tests.service.telephony.media.sip.plain_trunk import Answer, always, challenged, plain_trunk
from tests.service.telephony.media.sip.sip_calls import answered, placed
from tests.service.telephony.media.sip.telephone import free_port, telephone

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("live-calls")]


async def test_a_telephone_that_is_busy_says_so(line: Line) -> None:
    async with telephone("busy") as phone:
        call = await placed(line, phone.trunk)
        ended = await call.ended()
        incoming = await phone.wait_for("incoming")
    assert (ended.cause, ended.ended_by, ended.sip_status) == ("user_busy", "contact", 486)
    assert (ended.answered_by, ended.talk_s, ended.warnings) == (None, 0.0, ())
    assert "answered" not in call.stages()
    assert len(phone.of("incoming")) == 1
    assert incoming["peer"].startswith("sip:+14155550100@")


async def test_a_telephone_that_rings_too_long_is_not_answered_and_its_call_is_cancelled(line: Line) -> None:
    async with telephone("ring") as phone:
        call = await placed(line, phone.trunk, ring_timeout_s=1.0)
        ended = await call.ended()
        closed = await phone.wait_for("closed")
    assert (ended.cause, ended.ended_by) == ("no_answer", "platform")
    assert call.stages()[-1] == "ringing"
    assert not closed["answered"]


async def test_a_call_that_rings_is_cancelled_by_order(line: Line) -> None:
    async with telephone("ring") as phone:
        call = await placed(line, phone.trunk)
        await call.reached("ringing")
        await call.hang_up(cause="originator_cancel", ended_by="api")
        ended = await call.ended()
        closed = await phone.wait_for("closed")
    assert (ended.cause, ended.ended_by) == ("originator_cancel", "api")
    assert not closed["answered"]


@pytest.mark.parametrize(
    ("status", "cause", "ended_by"),
    [
        (404, "unallocated_number", "carrier"),
        (484, "unallocated_number", "carrier"),
        (480, "no_answer", "contact"),
        (600, "user_busy", "contact"),
        (603, "call_rejected", "contact"),
        (403, "carrier_rejected", "carrier"),
        (503, "carrier_rejected", "carrier"),
        (500, "network_error", "carrier"),
    ],
)
async def test_a_final_answer_has_its_cause(line: Line, status: int, cause: str, ended_by: str) -> None:
    async with plain_trunk(always(Answer(100), Answer(status, 0.05))) as trunk:
        ended = await (await placed(line, trunk.trunk)).ended()
        await trunk.got("ACK")
    assert (ended.cause, ended.ended_by, ended.sip_status) == (cause, ended_by, status)
    assert trunk.methods().count("INVITE") == 1


async def test_sound_before_the_answer_is_no_answer(line: Line) -> None:
    script = always(Answer(100), Answer(183, 0.1, has_sound=True), Answer(486, 0.5))
    async with plain_trunk(script) as trunk:
        call = await placed(line, trunk.trunk)
        ended = await call.ended()
    assert (ended.cause, ended.sip_status) == ("user_busy", 486)
    assert call.stages() == ["initiated", "ringing"]
    assert call.said() == []


@pytest.mark.parametrize("hears", [True, False])
async def test_a_call_whose_sound_never_begins_ends_for_that_reason(line: Line, hears: bool) -> None:
    async with plain_trunk(always(Answer(180), Answer(200, 0.1, has_sound=True))) as trunk:
        call = await placed(line, trunk.trunk, limits=Limits(no_audio_s=2.0), hears=hears)
        ended = await call.ended()
        await trunk.got("BYE")
    assert (ended.cause, ended.ended_by) == ("no_audio", "platform")
    assert call.stages()[-2:] == ["ringing", "answered"]
    assert [turn.speaker for turn in call.turns()] == ["agent"]


async def test_a_trunk_that_sends_the_call_elsewhere_is_not_followed(line: Line) -> None:
    async with telephone("ring") as phone:
        contact = f"Contact: <sip:elsewhere@127.0.0.1:{phone.port}>"
        async with plain_trunk(always(Answer(302, headers=contact))) as trunk:
            call = await placed(line, trunk.trunk)
            ended = await call.ended()
        assert (ended.cause, ended.ended_by, ended.sip_status) == ("carrier_rejected", "carrier", 302)
        assert all(not closed["answered"] for closed in phone.of("closed"))


async def test_a_trunk_that_registers_is_logged_in_to_and_calls_show_the_number_as_identity(line: Line) -> None:
    async with plain_trunk(challenged("bob", "secret", Answer(180), Answer(486, 0.1))) as plain:
        trunk = replace(plain.trunk, user="bob", password="secret", registers=True)
        first = await placed(line, trunk)
        assert (await first.ended()).cause == "user_busy"
        second = await placed(line, trunk)
        assert (await second.ended()).cause == "user_busy"
    assert plain.methods().count("REGISTER") == 2  # without the password and with it, once for both calls
    invite = [each for each in plain.requests if each.method == "INVITE"][-1]
    assert invite.proves("bob", "secret")
    assert "sip:bob@" in invite.headers["from"]
    assert "sip:+14155550100@" in invite.headers["p-asserted-identity"]
    assert "sip:+14155550123@" in invite.headers["to"]


async def test_a_trunk_that_refuses_to_register_gets_no_call(line: Line) -> None:
    async with plain_trunk(always(Answer(403))) as plain:
        trunk = replace(plain.trunk, user="bob", password="wrong", registers=True)
        order = line.order(transport="sip", carrier_options=options_of(trunk))
        await line.media.send(order)
        ended = await line.media.ended(order.request.call_id)
    assert (ended.cause, ended.sip_status, ended.was_sent) == ("carrier_rejected", 403, False)
    assert ended.warnings == ("The SIP trunk refused the registration with status 403.",)
    assert plain.methods() == ["REGISTER"]


async def test_a_trunk_that_is_not_there_got_nothing(line: Line) -> None:
    call = await placed(line, SipTrunk("127.0.0.1", free_port(), transport="tcp"))
    ended = await call.ended()
    assert (ended.cause, ended.ended_by, ended.was_sent) == ("network_error", "platform", False)
    assert ended.warnings == ("No connection to the SIP trunk could be made.",)


async def test_an_order_to_dial_that_comes_too_late_dials_nothing(line: Line) -> None:
    async with plain_trunk(always(Answer(486))) as plain:
        late = await placed(line, plain.trunk, before_s=-1.0)
        ended = await late.ended()
        again = await placed(line, plain.trunk)
        await again.ended()
    assert (ended.cause, ended.was_sent) == ("platform_error", False)
    assert plain.methods().count("INVITE") == 1


async def test_a_call_that_is_given_up_before_it_is_dialled_is_not_dialled(line: Line) -> None:
    async with plain_trunk(always(Answer(486))) as plain:
        order = line.order(transport="sip", carrier_options=options_of(plain.trunk))
        call_id = order.request.call_id
        await line.media.send(order)
        await line.media.reports.wait_for(Listening, lambda each: each.call_id == call_id, within_s=40)
        await line.media.send(HangUp(call_id=call_id))
        await line.media.ended(call_id)
    assert plain.requests == []


async def test_two_calls_at_once_go_their_own_ways(line: Line) -> None:
    async with answered(line) as one, answered(line) as other:
        await one.turn("agent", 1)
        await other.turn("agent", 1)
        await one.phone.do("hang_up")
        assert (await one.ended()).cause == "contact_hangup"
        with anyio.fail_after(20):
            await other.hang_up()
            await other.ended()
    assert one.words() == other.words() == [("agent", GREETING)]
