"""Calls whose other side comes over a websocket to the media process: a browser, or the other end of a loopback line.

No telephone rings: what could not be begun has certainly reached nobody.
"""

import logging
import secrets
from functools import partial
from pathlib import Path

import anyio

from callwright.service.telephony.carriers.media_calls import ServicesOf, followed, left, recording_of, services_for
from callwright.service.telephony.carriers.opening import Opening, OtherSide
from callwright.service.telephony.engine import CallRequest, CallResult
from callwright.service.telephony.legs.carrier import Charge, Found, HangUpAsked, LegRequest, NotSent, ToldStage
from callwright.service.telephony.lines.media_processes import MediaCall, MediaProcesses, MediaUnavailable
from callwright.service.telephony.media.messages import BeginCall, Listening

log = logging.getLogger(__name__)
LISTENS_WITHIN_S = 20.0
"""Seconds in which a media process must be ready for the websocket of a call."""


class WebsocketCarrier:
    """Lines that are websockets of this host's media processes."""

    lists_calls = False
    unheard_ends = True

    def __init__(
        self,
        name: str,
        media: MediaProcesses,
        services_of: ServicesOf,
        other_side: OtherSide,
        *,
        recordings: Path | None = None,
    ) -> None:
        """`other_side` is told where to come; recordings are written into a folder while calls run."""
        self.name = name
        self._media, self._services_of, self._other_side, self._recordings = media, services_of, other_side, recordings
        self._begun: dict[str, tuple[MediaCall, Opening]] = {}

    async def place(self, leg: LegRequest) -> str | None:
        """Begins the call in a media process.

        Raises:
            NotSent: no process takes it.
        """
        services = await services_for(leg.call, self._services_of)
        leg.check_in_time()
        token = secrets.token_urlsafe(32)
        begin = BeginCall(
            request=leg.call, token=token, services=services, recording=recording_of(self._recordings, leg.call)
        )
        try:
            call = await self._media.begin(begin)
        except MediaUnavailable as error:
            raise NotSent(str(error)) from error
        with anyio.move_on_after(LISTENS_WITHIN_S):
            if isinstance(await call.reports.receive(), Listening):
                self._begun[leg.call.call_id] = call, Opening(leg.call, call.port, token)
                return leg.call.call_id
        async with left(call, leg.call.call_id):
            raise NotSent("the media process does not take the call")

    async def ended(
        self, leg: LegRequest, provider_call_id: str | None, told: ToldStage, hang_up: HangUpAsked
    ) -> CallResult:
        """Brings the other side, and follows the call until its end."""
        call, opening = self._begun.pop(leg.call.call_id)
        bring, recording = partial(self._bring, opening), recording_of(self._recordings, leg.call)
        return await followed(call, leg, told, hang_up, recording=recording, meanwhile=bring)

    async def _bring(self, opening: Opening) -> None:
        """Brings the other side. If it fails, nobody comes, and the call ends after its longest ringing."""
        try:
            await self._other_side(opening)
        except Exception as error:
            name = type(error).__name__
            log.error("the other side of a call failed: %s", name, extra={"call_id": opening.call.call_id})

    async def find(self, call: CallRequest, *, placing_ms: int) -> Found:
        """Nothing: a websocket is in no list."""
        return Found("none")

    async def hang_up(self, provider_call_id: str) -> None:
        """Nothing is left to do: the call has ended with its process."""

    async def charge_of(self, provider_call_id: str) -> Charge | None:
        """None: nobody charges for a websocket."""
