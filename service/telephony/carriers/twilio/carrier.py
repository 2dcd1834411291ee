"""Telephone calls through Twilio: one request places a call, and a media process carries its sound.

The media process waits for the sound before the call is placed. When somebody answers, Twilio asks this service what to
do (`service/rest/lines`), and brings the sound to the websocket that it is told. How a call stands comes from Twilio to
any process, is kept with the leg, and is read here; where nothing comes, Twilio is asked.
"""

import secrets
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

import anyio

from callwright.service.telephony.carriers.media_calls import ServicesOf, followed, left, recording_of, services_for
from callwright.service.telephony.carriers.twilio.api import TwilioApi
from callwright.service.telephony.carriers.twilio.following import FollowTimes, TwilioWatch
from callwright.service.telephony.carriers.twilio.media_places import MediaPlace, MediaPlaces
from callwright.service.telephony.carriers.twilio.reports import TwilioReports
from callwright.service.telephony.carriers.twilio.statuses import FREE
from callwright.service.telephony.carriers.twilio.transfers import TwilioTransfers
from callwright.service.telephony.engine import CallRequest, CallResult
from callwright.service.telephony.legs.carrier import (
    Charge,
    Found,
    HangUpAsked,
    LegRequest,
    NotSent,
    ToldStage,
    Unknown,
)
from callwright.service.telephony.legs.leg_rows import LegStage
from callwright.service.telephony.lines.media_processes import MediaCall, MediaProcesses, MediaUnavailable
from callwright.service.telephony.media.messages import BeginCall, Listening

CREATED_WITHIN_S = 10.0
"""Seconds after the fence in which Twilio has created a call, if it got the request at all."""


@dataclass(frozen=True)
class _Begun:
    """A call whose sound is waited for, until a moment of `anyio.current_time`."""

    media: MediaCall
    until_s: float


class TwilioCarrier:
    """Lines of a Twilio account, carried by this host's media processes."""

    lists_calls = True
    unheard_ends = False

    def __init__(
        self,
        name: str,
        media: MediaProcesses,
        services_of: ServicesOf,
        api: TwilioApi,
        places: MediaPlaces,
        reports: TwilioReports,
        *,
        recordings: Path | None = None,
        times: FollowTimes = FollowTimes(),  # noqa: B008 - it cannot change
    ) -> None:
        """`reports` has what Twilio tells of calls. Recordings are written into a folder while calls run; None: there
        are none."""
        self.name = name
        self._media, self._services_of, self._api, self._places = media, services_of, api, places
        self._reports, self._recordings, self._times = reports, recordings, times
        self._begun: dict[str, _Begun] = {}

    async def place(self, leg: LegRequest) -> str | None:
        """Places the call, or makes ready for the sound of one that comes in, and returns its sid.

        Where the answer of Twilio is lost, the sound of the call is waited for all the same: it may come.

        Raises:
            NotSent: no media process takes the call, or no connection to Twilio was made in time.
            Refused: Twilio does not make the call.
            Unknown: Twilio may have the call.
        """
        await self._give_up_old()
        services = await services_for(leg.call, self._services_of)
        leg.check_in_time()
        begin = BeginCall(
            request=leg.call,
            token=secrets.token_urlsafe(32),
            transport="twilio",
            services=services,
            recording=recording_of(self._recordings, leg.call),
            host_transfers=True,
        )
        try:
            media = await self._media.begin(begin)
        except MediaUnavailable as error:
            raise NotSent(str(error)) from error
        try:
            await self._waits(media, leg)
            self._places.add(leg.call.call_id, MediaPlace(media.port, begin.token))
            is_caller = leg.call.answering is not None  # whoever has called is never called back
            sid = leg.provider_call_id if is_caller or leg.provider_call_id else await self._api.place(leg)
        except Unknown:
            self._keep(leg.call, media)
            raise
        except BaseException:
            self._places.forget(leg.call.call_id)
            async with left(media, leg.call.call_id):
                raise
        self._keep(leg.call, media)
        return sid

    async def _waits(self, media: MediaCall, leg: LegRequest) -> None:
        """Returns once the process waits for the sound of the call."""
        with anyio.move_on_after(leg.place_before_s - anyio.current_time()):
            try:
                if isinstance(await media.reports.receive(), Listening):
                    return
            except anyio.EndOfStream:
                pass
            raise NotSent("the media process does not take the call")
        raise NotSent("the media process was not ready in time")

    def _keep(self, call: CallRequest, media: MediaCall) -> None:
        lasts_s = call.ring_timeout_s + call.max_duration_s + self._times.kept_s
        self._begun[call.call_id] = _Begun(media, anyio.current_time() + lasts_s)

    async def _give_up_old(self) -> None:
        """Leaves calls of which nobody has learnt whether they were placed, and which are over by now."""
        now_s = anyio.current_time()
        for call_id in [call_id for call_id, begun in self._begun.items() if begun.until_s < now_s]:
            self._places.forget(call_id)
            async with left(self._begun.pop(call_id).media, call_id):
                pass

    async def ended(
        self, leg: LegRequest, provider_call_id: str | None, told: ToldStage, hang_up: HangUpAsked
    ) -> CallResult:
        """Follows the call until its end, and makes sure that Twilio has ended it."""
        if provider_call_id is None:
            raise ValueError("a call of Twilio without its sid cannot be followed")
        call_id, begun = leg.call.call_id, self._begun.pop(leg.call.call_id)
        transfers = TwilioTransfers(self._api, self._reports, leg, provider_call_id)
        watch = TwilioWatch(
            self._api,
            self._reports,
            leg.call,
            provider_call_id,
            begun.media,
            self._times,
            is_moved=lambda: transfers.is_away,
        )

        async def told_and_seen(stage: LegStage, sid: str | None) -> None:
            if stage == "answered" and not watch.is_open:
                watch.is_open, transfers.answered_s = True, anyio.current_time()
            await told(stage, sid)

        try:
            result = await followed(
                begun.media,
                leg,
                told_and_seen,
                hang_up,
                recording=recording_of(self._recordings, leg.call),
                meanwhile=watch.run,
                transfer=transfers.transfer,
                persons=transfers.legs,
            )
        finally:
            self._places.forget(call_id)
        if transfers.is_away:
            result = await transfers.until_over(result, hang_up)
        else:
            await watch.hang_up_after(result)
        return watch.completed(replace(result, transfer_legs=transfers.legs()))

    async def find(self, call: CallRequest, *, placing_ms: int) -> Found:
        """Looks for the call among those between the two numbers that were created when it was placed."""
        found = await self._api.calls_between(call.to, call.from_, placing_ms, within_s=CREATED_WITHIN_S)
        if len(found) > 1:
            return Found("several")
        return Found("one", found[0].sid) if found else Found("none")

    async def hang_up(self, provider_call_id: str) -> None:
        """Ends a call whose host is gone. Raises TwilioUnavailable."""
        await self._api.hang_up(provider_call_id)

    async def charge_of(self, provider_call_id: str) -> Charge | None:
        """What Twilio charges for a call, once it has rated it: minutes after its end. Raises TwilioUnavailable."""
        call = await self._api.call(provider_call_id)
        if call.price is None:
            return None if call.status not in FREE else Charge("telephony", Decimal(0), call.price_unit)
        return Charge("telephony", -call.price, call.price_unit)
