"""The carrier of SIP trunks: what it says about a call that it placed, with real media processes."""

import os
import re
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from callwright.service.telephony.carriers import media_calls, sip
from callwright.service.telephony.carriers.sip import SipCarrier
from callwright.service.telephony.carriers.sip_trunk import SipTrunk
from callwright.service.telephony.engine import CallResult, EarlyEnd
from callwright.service.telephony.legs.carrier import HangUpAsked, LegRequest, NotSent, Refused, Unknown
from callwright.service.telephony.lines.media_processes import MediaProcesses
from callwright.service.telephony.media.sip.stack import RTP_PORTS
from tests.service.telephony.media.calls import Line
from tests.service.telephony.media.sentences import GREETING, LONG
from tests.service.telephony.media.sip.plain_trunk import Answer, always, plain_trunk
from tests.service.telephony.media.sip.telephone import free_port, telephone

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("live-calls")]


class Media(MediaProcesses):
    """Media processes that can be killed."""

    def kill(self) -> None:
        for process in self._processes:
            os.kill(process.process.pid, signal.SIGKILL)


@asynccontextmanager
async def media_of(most: int = 1) -> AsyncGenerator[Media]:
    media = Media(most)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(media.run)
        yield media
        tasks.cancel_scope.cancel()


def leg(line: Line, *, within_s: float = 30.0, **options: Any) -> LegRequest:
    """A leg that must be placed within this time."""
    return LegRequest(line.order(**options).request, anyio.current_time() + within_s)


def carrier_of(line: Line, media: MediaProcesses, trunk: SipTrunk, **options: Any) -> SipCarrier:
    return SipCarrier("sip", media, media_calls.always(line.order().services), trunk, **options)


async def carried(
    carrier: SipCarrier, request: LegRequest, stages: list[str], asked: HangUpAsked | None = None
) -> CallResult:
    """Places a leg and follows it to its end."""

    async def told(stage: str, provider_call_id: str | None) -> None:
        stages.append(stage)

    provider_call_id = await carrier.place(request)
    return await carrier.ended(request, provider_call_id, told, asked or HangUpAsked())


async def test_a_call_is_placed_followed_recorded_and_hung_up_by_request(line: Line, tmp_path: Path) -> None:
    asked, stages, results, request = HangUpAsked(), list[str](), list[CallResult](), leg(line)
    async with media_of() as media, telephone() as phone, anyio.create_task_group() as tasks:
        carrier = carrier_of(line, media, phone.trunk, recordings=tmp_path)

        async def carry() -> None:
            results.append(await carried(carrier, request, stages, asked))

        tasks.start_soon(carry)
        await phone.wait_for("answered")
        await phone.hears(line.service.known, GREETING)
        asked.ask(EarlyEnd("api", "normal_clearing"))
        assert (await phone.wait_for("closed"))["answered"]
    (result,) = results
    assert (result.outcome, result.hangup_cause, result.ended_by) == ("answered", "normal_clearing", "api")
    assert [turn.text for turn in result.turns] == [GREETING]
    assert stages == ["ringing", "answered"] or stages == ["answered"]
    assert (tmp_path / f"{request.call.call_id}.wav").stat().st_size > 8_000


async def test_a_call_that_is_hung_up_while_it_rings_is_cancelled(line: Line) -> None:
    asked, results = HangUpAsked(), list[CallResult]()
    async with media_of() as media, telephone("ring") as phone, anyio.create_task_group() as tasks:
        carrier = carrier_of(line, media, phone.trunk)

        async def carry() -> None:
            results.append(await carried(carrier, leg(line), [], asked))

        tasks.start_soon(carry)
        await phone.wait_for("incoming")
        asked.ask(EarlyEnd("api", "normal_clearing"))
        assert not (await phone.wait_for("closed"))["answered"]
    (result,) = results
    assert (result.outcome, result.hangup_cause, result.ended_by) == ("cancelled", "originator_cancel", "api")
    assert result.answered_by is None


async def test_a_refusal_is_a_result_with_its_cause_and_status(line: Line) -> None:
    async with media_of() as media, telephone("busy") as phone:
        busy = await carried(carrier_of(line, media, phone.trunk), leg(line), [])
        async with plain_trunk(always(Answer(404))) as plain:
            unknown = await carried(carrier_of(line, media, plain.trunk), leg(line), [])
        async with plain_trunk(always(Answer(603))) as plain:
            rejected = await carried(carrier_of(line, media, plain.trunk), leg(line), [])
    assert (busy.outcome, busy.hangup_cause, busy.sip_status) == ("busy", "user_busy", 486)
    assert (unknown.outcome, unknown.sip_status) == ("invalid_number", 404)
    assert (rejected.outcome, rejected.sip_status) == ("rejected", 603)


async def test_a_trunk_that_says_nothing_leaves_it_unknown_and_a_late_ringing_is_cancelled(line: Line) -> None:
    async with media_of() as media, plain_trunk(always(Answer(180, after_s=3.0))) as plain:
        carrier = carrier_of(line, media, plain.trunk, heard_within_s=1.5)
        with pytest.raises(Unknown, match="nothing was heard"):
            await carrier.place(leg(line))
        assert plain.methods() == ["INVITE"]
        await plain.got("CANCEL")


async def test_a_trunk_that_has_the_call_may_take_its_time_to_ring(line: Line) -> None:
    stages: list[str] = []
    async with media_of() as media, plain_trunk(always(Answer(100), Answer(180, 3.0), Answer(480, 0.2))) as plain:
        carrier = carrier_of(line, media, plain.trunk, heard_within_s=1.5)
        result = await carried(carrier, leg(line), stages)
    assert (result.outcome, stages) == ("no_answer", ["ringing"])


async def test_what_did_not_leave_is_said_to_be_so(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    async with media_of() as media, plain_trunk(always(Answer(486))) as plain:
        carrier = carrier_of(line, media, plain.trunk)
        with pytest.raises(NotSent, match="late"):
            await carrier.place(leg(line, within_s=-0.1))
        with pytest.raises(NotSent, match=r"ready in time|late"):
            await carrier.place(leg(line, within_s=0.01))
        nowhere = carrier_of(line, media, SipTrunk("127.0.0.1", free_port(), transport="tcp"))
        with pytest.raises(NotSent, match="No connection"):
            await nowhere.place(leg(line))
        with pytest.raises(NotSent, match="not running"):
            await carrier_of(line, MediaProcesses(1), plain.trunk).place(leg(line))
        monkeypatch.setattr(sip, "find_spec", lambda _name: None)  # pyright: ignore[reportUnknownLambdaType,reportUnknownArgumentType]  # no module is found
        with pytest.raises(NotSent, match=r"pip install '\.\[sip\]'"):
            await carrier.place(leg(line))
        assert plain.requests == []


async def test_a_trunk_that_refuses_to_register_refuses_the_call(line: Line) -> None:
    async with media_of() as media, plain_trunk(always(Answer(403))) as plain:
        carrier = carrier_of(line, media, replace(plain.trunk, user="bob", registers=True))
        with pytest.raises(Refused, match="status 403") as refused:
            await carrier.place(leg(line))
    assert (refused.value.result.hangup_cause, refused.value.result.sip_status) == ("carrier_rejected", 403)


async def test_sound_is_taken_at_a_port_that_a_firewall_can_be_told_of(line: Line) -> None:
    async with media_of() as media, plain_trunk(always(Answer(486))) as plain:
        await carried(carrier_of(line, media, plain.trunk), leg(line), [])
        offered = re.search(r"^m=audio (\d+) ", (await plain.got("INVITE")).body, re.MULTILINE)
    assert offered is not None
    assert RTP_PORTS[0] <= int(offered[1]) <= RTP_PORTS[1]


async def test_a_process_that_dies_before_anything_is_heard_leaves_it_unknown(line: Line) -> None:
    async with media_of() as media, plain_trunk(always(Answer(180, after_s=60.0))) as plain:
        carrier = carrier_of(line, media, plain.trunk, heard_within_s=20.0)
        async with anyio.create_task_group() as tasks:

            async def place() -> None:
                with pytest.raises(Unknown):
                    await carrier.place(leg(line))

            tasks.start_soon(place)
            await plain.got("INVITE")
            media.kill()


async def test_a_process_that_is_killed_in_mid_sentence_ends_its_calls_and_the_telephone_hangs_up(line: Line) -> None:
    stages, results = list[str](), list[CallResult]()
    async with media_of() as media, telephone(rtp_timeout=2) as phone, anyio.create_task_group() as tasks:
        carrier = carrier_of(line, media, phone.trunk)

        async def carry() -> None:
            results.append(await carried(carrier, leg(line, welcome=LONG), stages))

        tasks.start_soon(carry)
        await phone.wait_for("answered")
        await phone.hears_anything(1.0)
        media.kill()
        assert (await phone.wait_for("closed"))["answered"]
    (result,) = results
    assert (result.outcome, result.hangup_cause, result.ended_by) == ("answered", "platform_error", "platform")
    assert "process that carried the sound" in result.warnings[0]


async def test_the_end_of_the_host_hangs_up(line: Line) -> None:
    async with telephone() as phone:
        async with media_of() as media:
            carrier = carrier_of(line, media, phone.trunk)
            request = leg(line)
            await carrier.place(request)
            await phone.wait_for("answered")
            with anyio.move_on_after(0.5):
                await carrier.ended(request, None, _silent, HangUpAsked())
            await phone.wait_for("closed")


async def _silent(stage: str, provider_call_id: str | None) -> None:
    """Tells nobody."""
