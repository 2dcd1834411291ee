"""What Twilio asks this service: what to do when somebody answers a call or calls in, how a call stands, who answered.

A request has Twilio's signature over the public address, and the token of the call's leg. The process that it comes to
need not be the one that has the call: what it says is kept with the leg.
"""

import logging
from collections.abc import Awaitable, Callable
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from callwright.service.inbound.live.inbound_router import InboundRouter
from callwright.service.platform.database.unavailable import StorageUnavailable
from callwright.service.platform.refusals import invalid
from callwright.service.rest.incoming import Incoming
from callwright.service.rest.lines.twilio_incoming import IncomingCalls
from callwright.service.rest.lines.twilio_person import PersonAsked, told_to
from callwright.service.rest.without_key import RefusalOf, RouteAnswer, refusing
from callwright.service.services import Services
from callwright.service.telephony.carriers.twilio import twiml
from callwright.service.telephony.carriers.twilio.account import INCOMING, PATH, PERSON, TwilioAccount, media_url
from callwright.service.telephony.carriers.twilio.signature import HEADER, is_signed
from callwright.service.telephony.carriers.twilio.statuses import STAGES, answered_by, said_of
from callwright.service.telephony.legs import carrier_reports
from callwright.service.telephony.legs.carrier_reports import CarrierSaid
from callwright.service.telephony.legs.leg_tokens import hash_of

log = logging.getLogger(__name__)
Form = dict[str, str]
Told = Callable[[str, str, Form], Awaitable[Response]]
"""Answers what Twilio tells: the id of the call here, its token, and the form."""
_MOST_FIELDS = 200


def twilio_routes(services: Services, account: TwilioAccount, refusal_of: RefusalOf) -> list[Route]:
    """The routes of Twilio's requests. An error is answered as in the API."""
    asked, person = _Asked(services, account), PersonAsked(services, account)
    incoming = IncomingCalls(services, account, InboundRouter(services))

    def signed(told: Told) -> RouteAnswer:
        async def answered(request: Request) -> Response:
            body = await Incoming(request.scope, request.receive).body()
            try:
                fields = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
            except ValueError:
                raise invalid("body", "is no form of Twilio") from None
            query = request.scope.get("query_string", b"").decode("latin-1")
            path: str = request.scope["path"].removeprefix(request.scope.get("root_path", ""))
            url = f"{account.public_url}{path}{'?' if query else ''}{query}"
            if not is_signed(account.auth_token, url, fields, request.headers.get(HEADER, "")):
                log.warning("a request to a route of Twilio has not its signature over CALLWRIGHT_PUBLIC_URL")
                return Response("The signature is not Twilio's.\n", 403, media_type="text/plain")
            given = request.query_params
            return await told(given.get("call", ""), given.get("t", ""), dict(fields))

        return refusing(services, refusal_of, answered)

    return [
        Route(f"{PATH}{INCOMING}", signed(incoming.answer), methods=["POST"]),
        Route(f"{PATH}answer", signed(asked.answer), methods=["POST"]),
        Route(f"{PATH}status", signed(asked.status), methods=["POST"]),
        Route(f"{PATH}amd", signed(asked.machine), methods=["POST"]),
        *(Route(f"{PATH}{PERSON}{what}", signed(told), methods=["POST"]) for what, told in person.routes.items()),
    ]


class _Asked:
    """Answers Twilio's requests once they are known to be its own."""

    def __init__(self, services: Services, account: TwilioAccount) -> None:
        self._services, self._account = services, account

    async def answer(self, call_id: str, token: str, form: Form) -> Response:
        """Somebody has answered: where the sound goes, or that the call is to end."""
        host_url: str | None = None
        try:
            given = (call_id, hash_of(token), form.get("CallSid", ""), self._services.clock.now_ms())
            host_url = await self._services.database.write(carrier_reports.answered, *given)
        except StorageUnavailable:
            log.error("a call that was answered is hung up: nothing can be stored", extra={"call_id": call_id})
        if host_url is None:
            return told_to(twiml.HANG_UP)
        return told_to(twiml.stream(media_url(host_url, call_id, token)))

    async def status(self, call_id: str, token: str, form: Form) -> Response:
        """How a call stands."""
        status = form.get("CallStatus", "")
        return await self._kept(call_id, token, form, status, said_of(status, form.get("SipResponseCode", "")))

    async def machine(self, call_id: str, token: str, form: Form) -> Response:
        """Who has answered."""
        said = CarrierSaid(answered_by=answered_by(form.get("AnsweredBy", "")))
        return await self._kept(call_id, token, form, "in-progress", said)

    async def _kept(self, call_id: str, token: str, form: Form, status: str, said: CarrierSaid) -> Response:
        if status not in STAGES:
            return Response(status_code=204)
        heard = await self._services.database.write(
            carrier_reports.record,
            call_id,
            hash_of(token),
            form.get("CallSid", ""),
            stage=STAGES[status],
            said=said,
            now_ms=self._services.clock.now_ms(),
        )
        if heard == "another":
            log.error("Twilio tells of a second call for one leg", extra={"call_id": call_id})
        return Response(status_code=204)
