"""Transfers of a call through Twilio to a person.

Warm: the person is called with a second call, while the contact stays with the agent. Once the person has taken over,
the contact's call is moved into the room where the person is. Cold: the contact's call is moved at once, and calls the
person itself. Either way the contact's call goes on at Twilio when its sound has left this process, so it is followed
until Twilio says that it is over.
"""

import logging
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace

import anyio

from callwright.contract.transfers import TransferCause
from callwright.service.platform.database.postgres.lock_waits import Locked
from callwright.service.platform.database.unavailable import StorageUnavailable
from callwright.service.rules.prices.transfer_prices import TransferLeg
from callwright.service.telephony.carriers.media_calls import ToldUpdate
from callwright.service.telephony.carriers.twilio import twiml
from callwright.service.telephony.carriers.twilio.api import PersonRequest, TwilioApi, TwilioUnavailable, ring_timeout
from callwright.service.telephony.carriers.twilio.reports import TwilioReports
from callwright.service.telephony.carriers.twilio.statuses import FINAL, cause_of_person
from callwright.service.telephony.engine import CallResult
from callwright.service.telephony.legs.carrier import HangUpAsked, LegRequest, NotSent, Refused, Unknown
from callwright.service.telephony.legs.leg_tokens import hash_of
from callwright.service.telephony.legs.person_calls import PersonCall
from callwright.service.telephony.media.messages import PERSON_TOLD_EVERY_S, TransferAsked

log = logging.getLogger(__name__)
_PLACED_WITHIN_S = 8.0
_TAKEN_WITHIN_S = 55.0
"""After the longest ringing. The media process waits five seconds longer."""
_ASKS_S = 10.0
"""Between two questions to Twilio about the person's call: what it tells by itself may be lost."""
_AGAIN_S = 1.0
_MOST_TRIES = 3
_CLEAN_S = 20.0
_LATE_S = 3.0
"""After the end of the contact's call, until what Twilio tells of the person counts as lost."""
_SAYS_SORRY_S = 30.0
"""How long the contact may be told, after a transfer that failed, that nobody takes over."""


@dataclass
class _Person:
    """The person of one try: the token that opens the call, and its sid once it is known."""

    token: str
    to: str
    sid: str | None = None
    answered_s: float | None = None
    """When they answered, and when their call was over, by `anyio.current_time`."""
    ended_s: float | None = None

    @property
    def token_hash(self) -> str:
        return hash_of(self.token)

    def answered(self) -> None:
        """They have answered, if that was not known."""
        if self.answered_s is None:
            self.answered_s = anyio.current_time()

    def ended(self) -> None:
        """Their call is over, if that was not known."""
        if self.ended_s is None:
            self.ended_s = anyio.current_time()


class TwilioTransfers:
    """The transfers of one call, whose sid is known. `answered_s` is set when the call is answered, by
    `anyio.current_time`."""

    def __init__(self, api: TwilioApi, reports: TwilioReports, leg: LegRequest, sid: str) -> None:
        self._api, self._reports, self._leg, self._sid = api, reports, leg, sid
        self._call_id = leg.call.call_id
        self._person: _Person | None = None
        self._persons: list[_Person] = []
        """Those of all tries."""
        self.answered_s: float | None = None
        self.is_away = False
        """Whether the contact's call was moved, or may have been: it does not end with its sound."""
        self._contact_over_s: float | None = None
        """When Twilio said that the contact's call is over."""
        self._is_bridged = self._is_given_away = False

    async def transfer(self, asked: TransferAsked, told: ToldUpdate) -> None:
        """Transfers the call, and tells what comes of it. Cancelled, it hangs up the person, unless the contact was
        moved already."""
        person = self._person = _Person(secrets.token_urlsafe(24), asked.to)
        self._persons.append(person)
        kept = PersonCall(
            token_hash=person.token_hash,
            room=secrets.token_urlsafe(24),
            language=asked.language,
            summary=asked.summary,
            sorry=asked.sorry,
            confirm_key=asked.confirm_key,
        )
        try:
            if not await self._reports.begin_person(self._call_id, kept):  # committed before any request
                await told("failed", "carrier_error")
            elif asked.kind == "cold":
                await self._give_away(asked, person, told)
            else:
                await self._call_in(asked, person, kept.room, told)
        finally:
            if not self.is_away:
                await self._end_person(person)

    # -- warm ---------------------------------------------------------------------------------------------------------

    async def _call_in(self, asked: TransferAsked, person: _Person, room: str, told: ToldUpdate) -> None:
        until_s = anyio.current_time() + asked.ring_timeout_s + _TAKEN_WITHIN_S
        request = PersonRequest(asked.to, person.token, asked.ring_timeout_s, anyio.current_time() + _PLACED_WITHIN_S)
        try:
            # Not given up half way: then nobody would know the call that is to be hung up.
            with anyio.CancelScope(shield=True):
                person.sid = await self._api.place_person(self._leg, request)
        except Refused as error:
            refused = error.result.hangup_cause == "unallocated_number"
            await told("failed", "unreachable" if refused else "carrier_error")
            return
        except (NotSent, Unknown) as error:  # a call that comes all the same is hung up when Twilio tells of it
            log.warning("a person could not be called: %s", error, extra={"call_id": self._call_id})
            await told("failed", "carrier_error")
            return
        is_told, asked_s = False, anyio.current_time()
        while anyio.current_time() < until_s:
            found = await self._news(person)
            if found is None:
                continue
            if found.stage in ("answered", "taken") and not is_told:
                is_told = True
                await told("answered")
            if found.status is not None:
                await told("failed", _cause(found))
                return
            if found.stage == "taken":
                await self._bring_together(room, told)
                return
            if anyio.current_time() - asked_s > _ASKS_S:
                asked_s = anyio.current_time()
                await self._ask(person)
        await told("failed", "no_answer")

    async def _bring_together(self, room: str, told: ToldUpdate) -> None:
        await told("answered", is_away=True)
        if await self._moved(twiml.response(twiml.meet(room)), told):
            self._is_bridged = True
            await told("bridged", is_away=True)

    # -- cold ---------------------------------------------------------------------------------------------------------

    async def _give_away(self, asked: TransferAsked, person: _Person, told: ToldUpdate) -> None:
        account = self._api.account
        calls = twiml.dial(
            asked.to,
            from_=self._leg.call.own_number,
            ring_timeout=ring_timeout(asked.ring_timeout_s),
            told_url=account.person_url("status", self._call_id, person.token),
            then_url=account.person_url("dialled", self._call_id, person.token),
        )
        await told("ringing", is_away=True)
        if not await self._moved(twiml.response(calls), told):
            return
        self._is_given_away = True
        until_s = anyio.current_time() + asked.ring_timeout_s + _TAKEN_WITHIN_S
        while anyio.current_time() < until_s:
            found = await self._news(person)
            if found is None:
                continue
            if found.stage in ("answered", "taken"):
                self._is_bridged = True
                await told("bridged", is_away=True)
                return
            if found.status is not None:
                await told("failed", _cause(found), is_away=True)
                return
            if self._contact_over_s is not None and anyio.current_time() - self._contact_over_s > _LATE_S:
                await told("failed", "hung_up", is_away=True)
                return
        await told("failed", "carrier_error", is_away=True)

    # -- both ---------------------------------------------------------------------------------------------------------

    async def _moved(self, instructions: str, told: ToldUpdate) -> bool:
        """Moves the contact's call. If Twilio does not say so, it may have been moved all the same, and is ended."""
        self.is_away = True
        for tries in range(_MOST_TRIES):
            try:
                if await self._api.move(self._sid, instructions) or tries:
                    return True  # a call that is over now may have been moved by the request before
                self.is_away = False  # the call is over
                await told("failed", "hung_up")
                return False
            except TwilioUnavailable as error:
                log.warning("a call could not be moved: %s", error, extra={"call_id": self._call_id})
                await anyio.sleep(_AGAIN_S)
        await told("failed", "carrier_error", is_away=True)
        return False

    async def _news(self, person: _Person) -> PersonCall | None:
        """What is known of the person's call, after a short wait; None if nothing is."""
        try:
            news = await self._reports.after_a_while(self._call_id)
        except (StorageUnavailable, Locked):
            await anyio.sleep(_AGAIN_S)
            return None
        if news.said.status is not None and self._contact_over_s is None:
            self._contact_over_s = anyio.current_time()
        found = news.person
        if found is None or found.token_hash != person.token_hash:
            return None
        person.sid = person.sid or found.provider_call_id
        if found.stage in ("answered", "taken"):
            person.answered()
        if found.status is not None:
            person.ended()
        return found

    async def _ask(self, person: _Person) -> None:
        if person.sid is None:
            return
        try:
            await self._reports.take_person(self._call_id, person.token_hash, await self._api.call(person.sid))
        except (TwilioUnavailable, StorageUnavailable, Locked) as error:
            log.warning("a person's call could not be asked for: %s", error, extra={"call_id": self._call_id})

    async def _end_person(self, person: _Person) -> None:
        """The person is called no more, and is left in no call alone."""
        with anyio.move_on_after(_CLEAN_S, shield=True):
            for _ in range(_MOST_TRIES):
                try:
                    await self._reports.leave_person(self._call_id, person.token_hash)
                    if person.sid is not None:
                        await self._api.hang_up(person.sid)
                    person.ended()
                    return
                except (TwilioUnavailable, StorageUnavailable, Locked) as error:
                    log.warning("a person's call was not ended: %s", error, extra={"call_id": self._call_id})
                    await anyio.sleep(_AGAIN_S)

    def legs(self) -> Sequence[TransferLeg]:
        """The calls to persons who have answered, until now."""
        began_s, now_s = self.answered_s or 0.0, anyio.current_time()
        return [
            TransferLeg(
                person.to,
                round(max(person.answered_s - began_s, 0.0), 3),
                round((person.ended_s or now_s) - began_s, 3),
                person.sid,
            )
            for person in self._persons
            if person.answered_s is not None
        ]

    async def until_over(self, result: CallResult, hang_up: HangUpAsked) -> CallResult:
        """Follows a call that was moved until Twilio says that it is over, and ends it when that is asked, when its
        time is over, or when the person is gone. Returns its result."""
        now_s = anyio.current_time()
        left_s = (now_s if self.answered_s is None else self.answered_s) + self._leg.call.max_duration_s - now_s
        waits_s = left_s if self._is_bridged else _SAYS_SORRY_S if self._is_given_away else 0.0
        ends: CallResult | None = None
        self._reports.follow(self._call_id)
        try:
            with anyio.move_on_after(max(waits_s, 0.0)) as limit:
                async with anyio.create_task_group() as tasks:

                    async def until_asked() -> None:
                        await hang_up.wait()
                        tasks.cancel_scope.cancel()

                    tasks.start_soon(until_asked)
                    await self._until_apart(result)
                    tasks.cancel_scope.cancel()
            if self._is_bridged and limit.cancelled_caught:
                ends = replace(result, hangup_cause="max_duration", ended_by="platform")
            elif self._is_bridged and hang_up.is_asked:
                ends = replace(result, ended_by=hang_up.end.ended_by)
        finally:
            self._reports.leave(self._call_id)
            with anyio.move_on_after(_CLEAN_S, shield=True):
                await self._end_both()
        return ends or result

    async def _until_apart(self, result: CallResult) -> None:
        """Returns when one of the two is gone. What the call has come to is kept meanwhile, should this host end."""
        person, asked_s = self._person, anyio.current_time()
        kept_s = asked_s
        while True:
            if anyio.current_time() - kept_s > PERSON_TOLD_EVERY_S:
                kept_s = anyio.current_time()
                so_far = replace(result, hangup_cause="platform_error", ended_by="platform")
                await self._leg.keep(replace(so_far, transfer_legs=self.legs()))
            try:
                news = await self._reports.after_a_while(self._call_id)
            except (StorageUnavailable, Locked):
                await anyio.sleep(_AGAIN_S)
                continue
            if news.said.status is not None:
                return
            if person is not None and self._is_bridged and news.person is not None:
                person.sid = person.sid or news.person.provider_call_id
                if news.person.status is not None:
                    person.ended()
                    return
            if anyio.current_time() - asked_s > _ASKS_S:
                asked_s = anyio.current_time()
                try:
                    if (await self._api.call(self._sid)).status in FINAL:
                        return
                except TwilioUnavailable as error:
                    log.warning("a call could not be asked for: %s", error, extra={"call_id": self._call_id})

    async def _end_both(self) -> None:
        if self._person is not None:
            await self._end_person(self._person)
        for _ in range(_MOST_TRIES):
            try:
                await self._api.hang_up(self._sid)
                return
            except TwilioUnavailable as error:
                log.warning("Twilio did not hang up: %s", error, extra={"call_id": self._call_id})
                await anyio.sleep(_AGAIN_S)


def _cause(person: PersonCall) -> TransferCause:
    """Why a person has not taken over whose call is over."""
    if person.missed:
        return "no_answer"
    return cause_of_person(person.status or "", person.sip_status)
