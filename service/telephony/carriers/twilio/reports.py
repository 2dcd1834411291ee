"""What Twilio has told of the calls of this process, as it stands in their legs."""

from collections.abc import Mapping

import anyio

from callwright.service.platform.clock.clock import Clock
from callwright.service.platform.database.database import Database
from callwright.service.telephony.carriers.twilio.api import TwilioCall
from callwright.service.telephony.carriers.twilio.statuses import PERSON_STAGES, STAGES, said_of
from callwright.service.telephony.legs import carrier_reports, person_calls
from callwright.service.telephony.legs.carrier_reports import CarrierSaid, LegNews
from callwright.service.telephony.legs.person_calls import PersonCall

LOOK_S = 0.25
"""Seconds between two reads of the legs that are followed, all of a process at once."""
_NOTHING = LegNews(CarrierSaid(), rings=False, is_answered=False)


class TwilioReports:
    """Reads what is known of legs, and writes what Twilio answers when it is asked."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database, self._clock = database, clock
        self._followed: set[str] = set()
        self._reading = anyio.Lock()
        self._read_s = 0.0
        self._known: Mapping[str, LegNews] = {}

    def follow(self, call_id: str) -> None:
        """A call is asked about from now on."""
        self._followed.add(call_id)

    def leave(self, call_id: str) -> None:
        """It is asked about no more."""
        self._followed.discard(call_id)

    async def after_a_while(self, call_id: str) -> LegNews:
        """What is known of a call that is followed, after a short wait. One read serves all that wait."""
        await anyio.sleep(LOOK_S)
        async with self._reading:
            if call_id not in self._known or anyio.current_time() - self._read_s > LOOK_S / 2:
                self._known = await self._database.read(carrier_reports.news_of, list(self._followed))
                self._read_s = anyio.current_time()
        return self._known.get(call_id, _NOTHING)

    async def take(self, call_id: str, call: TwilioCall) -> None:
        """Keeps how a call stands by Twilio's answer."""
        await self._database.write(
            carrier_reports.record,
            call_id,
            None,
            call.sid,
            stage=STAGES.get(call.status, "initiated"),
            said=said_of(call.status, ""),
            now_ms=self._clock.now_ms(),
        )

    async def begin_person(self, call_id: str, person: PersonCall) -> bool:
        """Keeps the call to a person before it is placed; false if the contact's leg is over. Raises
        StorageUnavailable."""
        return await self._database.write(person_calls.begin, call_id, person)

    async def take_person(self, call_id: str, token_hash: str, call: TwilioCall) -> None:
        """Keeps how the call to a person stands by Twilio's answer."""
        said = said_of(call.status, "")
        stage = PERSON_STAGES.get(call.status, "asked")
        given = (call_id, token_hash, call.sid)
        await self._database.write(person_calls.told, *given, stage=stage, status=said.status)

    async def leave_person(self, call_id: str, token_hash: str) -> None:
        """The person is wanted no more. Raises StorageUnavailable."""
        await self._database.write(person_calls.over, call_id, token_hash)
