"""What Twilio asks and tells of the call to a person who is to take another call over.

Each request has the token of that call. A call that nobody wants any more is told to hang up when it asks what to do,
and is hung up when Twilio tells of it: its request was answered too late, or never.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from starlette.responses import Response

from callwright.service.platform.database.unavailable import StorageUnavailable
from callwright.service.services import Services
from callwright.service.telephony.carriers.twilio import twiml
from callwright.service.telephony.carriers.twilio.account import PersonRoute, TwilioAccount
from callwright.service.telephony.carriers.twilio.api import TwilioApi, TwilioUnavailable
from callwright.service.telephony.carriers.twilio.statuses import FINAL, PERSON_STAGES, said_of
from callwright.service.telephony.legs import person_calls
from callwright.service.telephony.legs.leg_tokens import hash_of
from callwright.service.telephony.legs.person_calls import PersonCall, PersonStage

log = logging.getLogger(__name__)
Form = dict[str, str]
_UNDER_WAY = ("initiated", "ringing", "in-progress", "answered")
_DIALLED = {"completed": "completed", "answered": "completed"} | {each: each for each in FINAL}
"""Twilio's words for what came of a call that another one has made, as the final status of that call."""


def told_to(*verbs: str) -> Response:
    """What Twilio is told to do."""
    return Response(twiml.response(*verbs), media_type="text/xml")


class PersonAsked:
    """Answers what Twilio asks about the call to a person, once it is known to be Twilio's own."""

    def __init__(self, services: Services, account: TwilioAccount) -> None:
        self._services, self._account, self._api = services, account, TwilioApi(account)

    @property
    def routes(self) -> Mapping[PersonRoute, Callable[[str, str, Form], Awaitable[Response]]]:
        """What answers each."""
        return {
            "answer": self.answer,
            "key": partial(self._key, is_last=False),
            "again": partial(self._key, is_last=True),
            "taken": self.taken,
            "missed": self.missed,
            "status": self.status,
            "dialled": self.dialled,
        }

    async def answer(self, call_id: str, token: str, form: Form) -> Response:
        """The person, or a machine, has answered: the summary, and the question for the key if one is set."""
        person = await self._goes_on(call_id, token, form, "answered")
        if person is None:
            return told_to(twiml.HANG_UP)
        summary, language = person.summary, person.language

        def url(what: PersonRoute) -> str:
            return self._account.person_url(what, call_id, token)

        if person.confirm_key is None:
            return told_to(twiml.say(summary, language), twiml.go_on(url("taken")))
        first, again = (twiml.ask_for_key(url(what), summary, language) for what in ("key", "again"))
        return told_to(first, again, twiml.go_on(url("missed")))

    async def _key(self, call_id: str, token: str, form: Form, *, is_last: bool) -> Response:
        """The person has pressed a key."""
        person = await self._goes_on(call_id, token, form, "answered")
        if person is None:
            return told_to(twiml.HANG_UP)
        if form.get("Digits", "") == person.confirm_key:
            return await self.taken(call_id, token, form)
        if is_last:
            return await self.missed(call_id, token, form)
        again = self._account.person_url("again", call_id, token)
        missed = self._account.person_url("missed", call_id, token)
        return told_to(twiml.ask_for_key(again, person.summary, person.language), twiml.go_on(missed))

    async def taken(self, call_id: str, token: str, form: Form) -> Response:
        """The person has heard the summary, and takes the call: waits for the contact."""
        person = await self._goes_on(call_id, token, form, "taken")
        return told_to(twiml.HANG_UP if person is None else twiml.meet(person.room))

    async def missed(self, call_id: str, token: str, form: Form) -> Response:
        """Nobody has pressed the key."""
        await self._services.database.write(person_calls.missed, call_id, hash_of(token))
        return told_to(twiml.HANG_UP)

    async def status(self, call_id: str, token: str, form: Form) -> Response:
        """How the call to the person stands."""
        status, sid = form.get("CallStatus", ""), form.get("CallSid", "")
        if status not in _UNDER_WAY and status not in FINAL:
            return Response(status_code=204)
        said = said_of(status, form.get("SipResponseCode", ""))
        given = (call_id, hash_of(token), sid)
        # In a cold transfer nothing is asked when the person answers: the contact's call is joined with it at once.
        stage: PersonStage = "answered" if status == "in-progress" and "ParentCallSid" in form else "asked"
        person = await self._services.database.write(
            person_calls.told,
            *given,
            stage=PERSON_STAGES.get(status, stage),
            status=said.status,
            sip_status=said.sip_status,
        )
        if person is None and status in _UNDER_WAY and sid:
            log.warning("a person's call that nobody wants any more is hung up", extra={"call_id": call_id})
            try:
                await self._api.hang_up(sid)
            except TwilioUnavailable as error:  # it is told to hang up when it asks what to do
                log.warning("a person's call was not hung up: %s", error, extra={"call_id": call_id})
        return Response(status_code=204)

    async def dialled(self, call_id: str, token: str, form: Form) -> Response:
        """The call to the person that the contact's call has made is over: nobody is left without a word."""
        status = _DIALLED.get(form.get("DialCallStatus", ""), "failed")
        sid = form.get("DialCallSid") or None
        stage: PersonStage = "answered" if status == "completed" else "asked"
        said = said_of(status, form.get("DialSipResponseCode", ""))
        given = (call_id, hash_of(token), sid)
        person = await self._services.database.write(
            person_calls.told, *given, stage=stage, status=said.status, sip_status=said.sip_status
        )
        if person is None or status == "completed":
            return told_to(twiml.HANG_UP)
        return told_to(twiml.say(person.sorry, person.language), twiml.HANG_UP)

    async def _goes_on(self, call_id: str, token: str, form: Form, stage: PersonStage) -> PersonCall | None:
        given = (call_id, hash_of(token), form.get("CallSid", ""), self._services.clock.now_ms())
        try:
            return await self._services.database.write(person_calls.answered, *given, stage=stage)
        except StorageUnavailable:
            log.error("a person's call is hung up: nothing can be stored", extra={"call_id": call_id})
            return None
