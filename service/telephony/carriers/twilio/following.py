"""Follows what Twilio says of a call beside its sound: who answered, how it ended, or that nothing comes any more."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace

import anyio

from callwright.service.platform.database.postgres.lock_waits import Locked
from callwright.service.platform.database.unavailable import StorageUnavailable
from callwright.service.telephony.carriers.twilio.api import TwilioApi, TwilioUnavailable
from callwright.service.telephony.carriers.twilio.reports import TwilioReports
from callwright.service.telephony.carriers.twilio.statuses import cause_of_end
from callwright.service.telephony.engine import AnsweredBy, CallRequest, CallResult, EndedBy, HangupCause
from callwright.service.telephony.legs.carrier_reports import CarrierSaid, LegNews
from callwright.service.telephony.legs.leg_results import unconfirmed
from callwright.service.telephony.lines.media_processes import MediaCall
from callwright.service.telephony.media.messages import HangUp, SawMachine

log = logging.getLogger(__name__)
NO_SOUND = (
    "Somebody answered, and Twilio brought no sound. Let CALLWRIGHT_PUBLIC_URL lead here for websockets too, "
    "and where several processes carry calls, CALLWRIGHT_LINES_URL to the one that it is set for."
)
NOT_BEGUN = "Twilio did not begin the call in time: its queue may be longer than its calls per second allow."
NO_STATUS = "Twilio did not say how the call ended, and could not be asked."
_AGAIN_S = 1.0
_MOST_TRIES = 3


@dataclass(frozen=True)
class FollowTimes:
    """How long each step of a call may take, in seconds. Shorter ones are for tests."""

    asks_s: float = 10.0
    """Between two questions to Twilio while a call is not answered: what it tells by itself may be lost."""
    opens_s: float = 15.0
    """From the answer to the sound."""
    begins_s: float = 60.0
    """From placing to the first ringing. Twilio makes calls wait that come faster than the account may make them."""
    overdue_s: float = 20.0
    """After the longest ringing."""
    gives_up_s: float = 120.0
    """A call that cannot be hung up, because Twilio does not answer, is given up after this."""
    ends_s: float = 3.0
    """From the word that a call is over to the end of its sound."""
    kept_s: float = 180.0
    """A call of which nobody knows whether it was placed is waited for this long after its longest ringing and
    talking."""


class TwilioWatch:
    """Follows one call until its media process has ended it. `is_open` once its sound has come."""

    def __init__(
        self,
        api: TwilioApi,
        reports: TwilioReports,
        call: CallRequest,
        sid: str,
        media: MediaCall,
        times: FollowTimes,
        *,
        is_moved: Callable[[], bool] = lambda: False,
    ) -> None:
        """While the call `is_moved`, it is over for others to say."""
        self._is_moved = is_moved
        self._api, self._reports, self._call, self._sid = api, reports, call, sid
        self._media, self._times = media, times
        self.is_open = False
        self._said = CarrierSaid()
        self._is_answered = self._is_unknown = False
        self._seen: AnsweredBy | None = None
        self._warning: str | None = None

    async def run(self) -> None:
        """Tells the media process what Twilio says, and ends the call there once it is over."""
        self._reports.follow(self._call.call_id)
        try:
            await self._follow()
        finally:
            self._reports.leave(self._call.call_id)

    async def _follow(self) -> None:
        placed_s = asked_s = anyio.current_time()
        answered_s: float | None = None
        while True:
            news = await self._news()
            now_s = anyio.current_time()
            if news is None:
                continue
            await self._take(news)
            if self._is_moved():
                continue
            if self._said.status is not None:
                await self._over()
                return
            if self.is_open:
                continue
            if news.is_answered:
                answered_s = now_s if answered_s is None else answered_s
                if now_s - answered_s > self._times.opens_s:
                    await self._give_up("no_audio", "carrier", NO_SOUND)
                    return
            elif not news.rings and now_s - placed_s > self._times.begins_s:
                await self._give_up("network_error", "carrier", NOT_BEGUN)
                return
            elif now_s - placed_s > self._call.ring_timeout_s + self._times.begins_s + self._times.overdue_s:
                await self._give_up("no_answer", "platform", None)
                return
            if now_s - asked_s > self._times.asks_s:
                asked_s = now_s
                await self._ask()

    async def _news(self) -> LegNews | None:
        try:
            return await self._reports.after_a_while(self._call.call_id)
        except (StorageUnavailable, Locked):
            await anyio.sleep(_AGAIN_S)
            return None

    async def _take(self, news: LegNews) -> None:
        self._said, self._is_answered = news.said, news.is_answered
        if self._said.answered_by is not None and self._said.answered_by != self._seen:
            self._seen = self._said.answered_by
            await self._media.send(SawMachine(call_id=self._call.call_id, answered_by=self._seen))

    async def _ask(self) -> None:
        try:
            await self._reports.take(self._call.call_id, await self._api.call(self._sid))
        except (TwilioUnavailable, StorageUnavailable, Locked) as error:
            log.warning("a call could not be asked for: %s", error, extra={"call_id": self._call.call_id})

    async def _over(self) -> None:
        """Twilio says that the call is over."""
        if self.is_open:  # its sound ends by itself, and says more
            await anyio.sleep(self._times.ends_s)
            await self._end("contact_hangup", "contact")
        elif self._said.status == "completed":
            self._warning = NO_SOUND
            await self._end("no_audio", "carrier")
        else:
            await self._end(*cause_of_end(self._said))

    async def _give_up(self, cause: HangupCause, ended_by: EndedBy, warning: str | None) -> None:
        """Hangs up a call that does not go on, for as long as that takes."""
        self._warning = warning
        until_s = anyio.current_time() + self._times.gives_up_s
        while not await self._hung_up():
            if anyio.current_time() > until_s:
                self._is_unknown = not self._is_answered
                break
            await anyio.sleep(_AGAIN_S)
        await self._end(cause, ended_by)

    async def _end(self, cause: HangupCause, ended_by: EndedBy) -> None:
        await self._media.send(HangUp(call_id=self._call.call_id, cause=cause, ended_by=ended_by))

    async def _hung_up(self) -> bool:
        try:
            await self._api.hang_up(self._sid)
        except TwilioUnavailable as error:
            log.warning("Twilio did not hang up: %s", error, extra={"call_id": self._call.call_id})
            return False
        return True

    async def hang_up_after(self, result: CallResult) -> None:
        """Has Twilio end a call whose sound has ended here. It ends by itself too, once its websocket is closed."""
        if self._said.status is not None or result.hangup_cause == "contact_hangup":
            return
        for _ in range(_MOST_TRIES):
            if await self._hung_up():
                return
            await anyio.sleep(_AGAIN_S)

    def completed(self, result: CallResult) -> CallResult:
        """The result of the call, with what Twilio has said."""
        if self._is_unknown:
            return replace(unconfirmed(self._call), warnings=(NO_STATUS,))
        warnings = result.warnings if self._warning is None else (*result.warnings, self._warning)
        if self.is_open:
            return result
        if self._is_answered:
            return replace(result, outcome="answered", answered_by="unknown", warnings=warnings)
        return replace(result, sip_status=self._said.sip_status, warnings=warnings)
