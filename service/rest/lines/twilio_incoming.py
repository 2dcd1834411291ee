"""What Twilio asks when somebody calls a number of the account: who is to answer, while the telephone rings.

The answer comes once the sound of the call is waited for, so that nobody is picked up and then hears nothing. Twilio
may ask again about the same call; it is one call here, with one token, which follows from Twilio's own id of it.
"""

import hmac
import logging
import re

import anyio
from starlette.responses import Response

from callwright.service.inbound.live.inbound_router import InboundRouter
from callwright.service.inbound.live.live_calls import LiveCaller
from callwright.service.platform.database.postgres.lock_waits import Locked
from callwright.service.platform.database.unavailable import StorageUnavailable
from callwright.service.platform.phone import Dialable, read_number
from callwright.service.rest.lines.twilio_person import Form, told_to
from callwright.service.services import Services
from callwright.service.telephony.answering import Answering
from callwright.service.telephony.carriers.twilio import twiml
from callwright.service.telephony.carriers.twilio.account import TwilioAccount, media_url
from callwright.service.telephony.engine import EarlyEnd
from callwright.service.telephony.legs import carrier_reports, leg_rows
from callwright.service.telephony.legs.leg_tokens import hash_of
from callwright.service.telephony.registry import TWILIO

log = logging.getLogger(__name__)
TAKEN_WITHIN_S = 8.0
"""How long the telephone rings, after the decision, until a process must wait for the sound. Twilio waits 15 s."""
_LOOK_S = 0.1
_SID = re.compile(r"CA[0-9A-Za-z]{1,62}")


class IncomingCalls:
    """Answers Twilio's requests about calls that come in, once they are known to be its own."""

    def __init__(self, services: Services, account: TwilioAccount, router: InboundRouter) -> None:
        self._services, self._account, self._router = services, account, router

    async def answer(self, _call_id: str, _token: str, form: Form) -> Response:
        """Somebody calls: where the sound goes, or that nobody answers."""
        sid = form.get("CallSid", "")
        if _SID.fullmatch(sid) is None:
            log.warning("a request about a caller names no call of Twilio")
            return Response("CallSid is missing, or is no id of a call.", 400)
        token = hmac.digest(self._account.auth_token.encode(), b"incoming " + sid.encode(), "sha256").hex()
        caller = LiveCaller(
            carrier=TWILIO,
            to=form.get("To", ""),
            from_=_shown_number(form.get("From", "")),
            provider_call_id=sid,
        )
        try:
            routed = await self._router.route(caller)
        except (StorageUnavailable, Locked):
            log.error("a caller is refused: nothing can be stored")
            return told_to(twiml.BUSY)
        call_id = routed.call_id
        if call_id is None or routed.is_refused:
            return told_to(_refusal(routed.answering))
        host_url = await self._host_of(call_id, token, sid)
        if host_url is None:
            return told_to(twiml.BUSY)
        return told_to(twiml.stream(media_url(host_url, call_id, token)))

    async def _host_of(self, call_id: str, token: str, sid: str) -> str | None:
        """Where the sound goes, once it is waited for there; None if nobody takes the call in time."""
        database, clock = self._services.database, self._services.clock
        with anyio.move_on_after(TAKEN_WITHIN_S):
            while True:
                leg = await database.read(leg_rows.find, call_id)
                if leg is None or leg.state not in ("new", "placing"):
                    break
                await anyio.sleep(_LOOK_S)
        given = (call_id, hash_of(token), sid, clock.now_ms())
        host_url = await database.write(carrier_reports.answered_caller, *given)
        if host_url is None:
            early = EarlyEnd("platform", "platform_error")
            await database.write(leg_rows.ask_to_hang_up, call_id, early, clock.now_ms())
        return host_url


def _refusal(answering: Answering) -> str:
    return twiml.BUSY if answering.reject_reason == "busy" else twiml.REJECTED


def _shown_number(given: str) -> str:
    """The caller's number in E.164; empty if it is withheld, for which Twilio shows a number that nobody has."""
    read = read_number(given)
    return read.e164 if isinstance(read, Dialable) else ""
