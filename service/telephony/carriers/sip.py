"""Telephone calls over a SIP trunk. The media process that carries the sound of a call also places it.

A call is prepared in its process first, with everything that can fail and rings nobody. Then the carrier, within the
time that its leg has, says `Dial`, once, and one INVITE leaves. From there on only what the trunk answers counts.

To place a call that came in is to answer it, in the process that has its line. What becomes of it is always known.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import anyio

from callwright.contract.checks.extras import installing
from callwright.service.telephony.carriers.media_calls import ServicesOf, followed, left, recording_of, services_for
from callwright.service.telephony.carriers.sip_callers import SipCallers
from callwright.service.telephony.carriers.sip_trunk import SipTrunk, options_of
from callwright.service.telephony.engine import CallRequest, CallResult
from callwright.service.telephony.legs.carrier import (
    Charge,
    Found,
    HangUpAsked,
    LegRequest,
    NotSent,
    Refused,
    ToldStage,
    Unknown,
)
from callwright.service.telephony.lines.conversation_results import Conversation
from callwright.service.telephony.lines.media_processes import MediaCall, MediaProcesses, MediaUnavailable
from callwright.service.telephony.media.messages import (
    BeginCall,
    Dial,
    Ended,
    Listening,
    Reached,
    Report,
    SpeechServices,
)

HEARD_WITHIN_S = 4.0
"""Seconds after `Dial` in which the trunk must have answered anything at all. A trunk answers `100 Trying` at once."""


def missing_packages() -> str | None:
    """What to install for calls over SIP, as a sentence; None if everything is there."""
    if find_spec("baresip") is None or find_spec("pipecat") is None:
        return f"Calls over SIP need more packages: {installing('sip')}."
    return None


@dataclass
class _Placed:
    """A call that the trunk has."""

    media: MediaCall
    heard: Sequence[Report]


class SipCarrier:
    """Lines of a SIP trunk, carried by this host's media processes."""

    lists_calls = False
    unheard_ends = True

    def __init__(
        self,
        name: str,
        media: MediaProcesses,
        services_of: ServicesOf,
        trunk: SipTrunk,
        *,
        recordings: Path | None = None,
        callers: SipCallers | None = None,
        heard_within_s: float = HEARD_WITHIN_S,
    ) -> None:
        """Recordings are written into a folder while calls run; None: there are none. `callers` are those who call."""
        self.name = name
        self._callers = callers
        self._media, self._services_of, self._trunk, self._recordings = media, services_of, trunk, recordings
        self._heard_within_s = heard_within_s
        self._placed: dict[str, _Placed] = {}

    async def place(self, leg: LegRequest) -> str | None:
        """Places the call, and returns its SIP Call-ID once the trunk has answered anything, be it that it is busy.

        Raises:
            NotSent: packages are missing, no process takes the call, or no INVITE left it.
            Refused: the trunk refused to register this machine.
            Unknown: the INVITE may have left, and nothing was heard of it.
        """
        if leg.call.answering is not None:
            return await self._answer(leg)
        missing = missing_packages()
        if missing is not None:
            raise NotSent(missing)
        services = await services_for(leg.call, self._services_of)
        leg.check_in_time()
        try:
            media = await self._media.begin(self._order(leg.call, services))
        except MediaUnavailable as error:
            raise NotSent(str(error)) from error
        return await self._begun(media, leg)

    async def _answer(self, leg: LegRequest) -> str | None:
        """Answers a caller. Raises Refused if they have gone, or cannot be answered."""
        caller = self._callers.take(leg.call.call_id) if self._callers is not None else None
        if caller is None:
            raise Refused("the caller has gone", _gone(leg.call))
        try:
            services = await services_for(leg.call, self._services_of)
            media = await self._media.answer(caller.process, self._order(leg.call, services, token=caller.handle))
        except (NotSent, MediaUnavailable) as error:
            await caller.refuse()
            raise Refused(str(error), _failed(leg.call, str(error))) from error
        try:
            return await self._begun(media, leg)
        except (NotSent, Unknown) as error:
            await caller.refuse()
            raise Refused(str(error), _failed(leg.call, str(error))) from error

    def _order(self, call: CallRequest, services: SpeechServices, *, token: str = "") -> BeginCall:
        return BeginCall(
            request=call,
            token=token,
            transport="sip",
            services=services,
            recording=recording_of(self._recordings, call),
            carrier_options=options_of(self._trunk),
        )

    async def _begun(self, media: MediaCall, leg: LegRequest) -> str | None:
        call_id = leg.call.call_id
        try:
            await self._prepared(media, leg)
            heard = await self._dialled(media, leg)
        except BaseException:
            async with left(media, call_id):
                raise
        self._placed[call_id] = _Placed(media, [heard])
        return heard.provider_call_id if isinstance(heard, Reached) else None

    async def _prepared(self, media: MediaCall, leg: LegRequest) -> None:
        """Waits until the process may be told to dial."""
        report: Report | None = None
        with anyio.move_on_after(leg.place_before_s - anyio.current_time()):
            report = await _next(media)
        if isinstance(report, Ended) and report.sip_status is not None:
            raise Refused(_why(report), Conversation(leg.call.call_id).result(report))
        if isinstance(report, Ended) and report.cause == "contact_hangup":
            raise Refused(_why(report), _gone(leg.call))
        if isinstance(report, Ended):
            raise NotSent(_why(report))
        if not isinstance(report, Listening):
            raise NotSent("the media process was not ready in time")

    async def _dialled(self, media: MediaCall, leg: LegRequest) -> Report:
        """Has the process dial, and returns the first that is heard of the call."""
        leg.check_in_time()
        left_s = leg.place_before_s - anyio.current_time()
        report: Report | None = None
        with anyio.move_on_after(self._heard_within_s):
            await media.send(Dial(call_id=leg.call.call_id, before_s=time.monotonic() + left_s))
            report = await _next(media)
        if isinstance(report, Ended) and not report.was_sent:
            raise NotSent(_why(report))
        if isinstance(report, Reached) or (isinstance(report, Ended) and report.sip_status is not None):
            return report
        raise Unknown(_why(report) if isinstance(report, Ended) else "nothing was heard of the call")

    async def ended(
        self, leg: LegRequest, provider_call_id: str | None, told: ToldStage, hang_up: HangUpAsked
    ) -> CallResult:
        """Follows the call until its end."""
        placed = self._placed.pop(leg.call.call_id)
        recording = recording_of(self._recordings, leg.call)
        return await followed(placed.media, leg, told, hang_up, recording=recording, heard=placed.heard)

    async def find(self, call: CallRequest, *, placing_ms: int) -> Found:
        """Nothing: a trunk lists no calls."""
        return Found("none")

    async def hang_up(self, provider_call_id: str) -> None:
        """Nothing is left to do: a media process whose host is gone hangs up and ends."""

    async def charge_of(self, provider_call_id: str) -> Charge | None:
        """None: a trunk says nothing of what it charges."""


async def _next(media: MediaCall) -> Report | None:
    """The next report; None if there is none any more."""
    try:
        return await media.reports.receive()
    except anyio.EndOfStream:
        return None


def _gone(call: CallRequest) -> CallResult:
    """A caller who hung up while it rang."""
    return CallResult(call_id=call.call_id, outcome="abandoned", hangup_cause="contact_hangup", ended_by="contact")


def _failed(call: CallRequest, why: str) -> CallResult:
    """A caller who could not be answered, and got the busy tone."""
    return CallResult(
        call_id=call.call_id, outcome="failed", hangup_cause="platform_error", ended_by="platform", warnings=(why,)
    )


def _why(ended: Ended) -> str:
    """Why a call did not come about, for the log: without numbers and names."""
    return ended.warnings[0] if ended.warnings else f"the media process ended the call: {ended.cause}"
