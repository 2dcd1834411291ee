"""Twilio's REST interface for calls, version 2010-04-01, as far as lines need it.

`place` is sent once and never repeated: Twilio has no key by which it knows a repeated request, and calls again for
each (error 20500). Everything else may be asked again. Numbers and what Twilio says in words are in no error.
"""

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from email.utils import parsedate_to_datetime
from functools import cached_property
from ssl import SSLContext
from typing import Annotated, Any

import anyio
import httpx2
from anyio import to_thread
from pydantic import BaseModel, BeforeValidator, StringConstraints, ValidationError

from callwright.service.platform.clock.clock import SECOND
from callwright.service.telephony.carriers.twilio.account import TwilioAccount
from callwright.service.telephony.carriers.twilio.statuses import cause_of_refusal
from callwright.service.telephony.engine import CallRequest, CallResult
from callwright.service.telephony.legs.carrier import LegRequest, NotSent, Refused, Unknown

LIMIT_S = 4.0
"""Seconds for the connection, and again for the answer."""
LONGEST_RING_S = 600
RINGS_LONGER_S = 5
"""Twilio adds this to the time that it is told to let a telephone ring."""
TALKS_LONGER_S = 20
"""A call ends by itself this long after its longest talking, should nobody be there any more to hang up."""
LONGEST_TALK_S = 86_400
PAGE = 50
_SKEW = timedelta(seconds=10)
"""How far Twilio's clock and that of the database may be apart. Times of creation have whole seconds."""
_EVENTS = ("initiated", "ringing", "answered", "completed")
_CREDENTIALS = "CALLWRIGHT_TWILIO_ACCOUNT_SID and CALLWRIGHT_TWILIO_AUTH_TOKEN"
_OVER = (400, 404, 409)
"""Statuses of an answer to a hang-up when the call is over, or not there."""

# The client would log addresses, which have numbers in them.
logging.getLogger("httpx2").setLevel(logging.WARNING)


class TwilioUnavailable(Exception):
    """Twilio did not answer, or not as documented. The text has no number in it."""


class TwilioRefused(TwilioUnavailable):
    """Twilio did not do what it was asked for, and says so with a status of 4xx."""


Sid = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9]{2,64}$")]
"""An id of Twilio. It becomes part of addresses."""


class TwilioCall(BaseModel):
    """A call as Twilio shows it."""

    sid: Sid
    status: str = ""
    direction: str = ""
    date_created: Annotated[str, BeforeValidator(lambda value: value or "")] = ""  # pyright: ignore[reportUnknownLambdaType]  # null

    price: Decimal | None = None
    """What is charged, below zero; None until Twilio has rated the call."""
    price_unit: Annotated[str, BeforeValidator(lambda value: value or "USD")] = "USD"  # pyright: ignore[reportUnknownLambdaType]  # null
    """The currency of the price, as ISO 4217."""

    def was_created_between(self, begin: datetime, end: datetime) -> bool:
        """Whether it was; false where the time of its creation is missing."""
        try:
            return begin <= parsedate_to_datetime(self.date_created).astimezone(UTC) <= end
        except ValueError:
            return False


class _Calls(BaseModel):
    calls: list[TwilioCall]


class _Problem(BaseModel):
    code: int | None = None


@dataclass(frozen=True)
class PersonRequest:
    """A call to a person who is to take over another one. `token` opens it, in every address that Twilio is given."""

    to: str
    token: str = field(repr=False)
    ring_timeout_s: float
    place_before_s: float
    """Seconds of `anyio.current_time` after which the request must not be sent any more."""


@dataclass(frozen=True)
class TwilioApi:
    """Asks Twilio on behalf of an account. Each request has a connection of its own: one that was kept may have been
    closed by the other side, and then nobody knows what became of the request."""

    account: TwilioAccount
    limit_s: float = LIMIT_S

    async def place(self, leg: LegRequest) -> str:
        """Places a call, with one request that is never repeated, and returns its sid.

        Raises:
            Refused: Twilio does not make the call (status 4xx).
            NotSent: no connection was made, or it is too late.
            Unknown: anything else. The call may ring.
        """
        return await self._placed(self._form_of(leg), leg.call.call_id, leg.place_before_s)

    async def place_person(self, leg: LegRequest, asked: PersonRequest) -> str:
        """Calls a person who is to take over a call that is placed already, as `place` does."""
        return await self._placed(self._form_of_person(leg, asked), leg.call.call_id, asked.place_before_s)

    async def _placed(self, form: dict[str, Any], call_id: str, before_s: float) -> str:
        context = await self._secured()
        left_s = before_s - anyio.current_time()
        if left_s <= 0:
            raise NotSent("the request was late, and was not sent")
        # The request leaves as soon as there is a connection: one that comes too late must not be made any more.
        timeout = httpx2.Timeout(self.limit_s, connect=min(self.limit_s, left_s))
        try:
            async with self._client(context, timeout) as client:
                answer = await client.post(self._address("Calls"), data=form)
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            raise NotSent(f"no connection to Twilio was made: {type(error).__name__}") from error
        except httpx2.HTTPError as error:
            raise Unknown(f"Twilio did not answer: {type(error).__name__}") from error
        if 400 <= answer.status_code < 500 and answer.status_code != 408:
            raise _refused(call_id, answer)
        if answer.status_code != 201:
            raise Unknown(f"Twilio answered with status {answer.status_code}")
        try:
            return TwilioCall.model_validate_json(answer.content).sid
        except ValidationError:
            raise Unknown("Twilio's answer shows no call") from None

    async def calls_between(self, to: str, from_: str, placing_ms: int, *, within_s: float) -> Sequence[TwilioCall]:
        """The calls from one number to another that were created when a leg was placed: after the fence, and not later
        than `within_s` after it.

        Raises TwilioUnavailable.
        """
        placing = datetime.fromtimestamp(placing_ms / SECOND, UTC)
        day = (placing - timedelta(days=1)).date().isoformat()
        asked = {"To": to, "From": from_, "StartTime>": day, "PageSize": str(PAGE)}
        answer = await self.ask("GET", "Calls", params=asked)
        try:
            found = _Calls.model_validate_json(answer.content).calls
        except ValidationError:
            raise TwilioUnavailable("Twilio's list of calls is not as documented") from None
        end = placing + timedelta(seconds=within_s) + _SKEW
        return [call for call in found if call.was_created_between(placing - _SKEW, end)]

    async def call(self, sid: str) -> TwilioCall:
        """A call as it stands. Raises TwilioUnavailable."""
        answer = await self.ask("GET", f"Calls/{sid}")
        try:
            return TwilioCall.model_validate_json(answer.content)
        except ValidationError:
            raise TwilioUnavailable("Twilio's answer shows no call") from None

    async def move(self, sid: str, twiml: str) -> bool:
        """Has a call go on with other instructions; false if it is over, or not there. It may be asked again.

        Raises TwilioUnavailable.
        """
        return (await self.ask("POST", f"Calls/{sid}", data={"Twiml": twiml}, fine=_OVER)).is_success

    async def hang_up(self, sid: str) -> None:
        """Ends a call, also one that only rings. One that is over is left alone. Raises TwilioUnavailable."""
        await self.ask("POST", f"Calls/{sid}", data={"Status": "completed"}, fine=_OVER)

    def _form_of(self, leg: LegRequest) -> dict[str, Any]:
        call, account = leg.call, self.account
        form: dict[str, Any] = {
            "To": call.to,
            "From": call.from_,
            "Url": account.answer_url(call.call_id, leg.token),
            "Method": "POST",
            "StatusCallback": account.status_url(call.call_id, leg.token),
            "StatusCallbackMethod": "POST",
            "StatusCallbackEvent": list(_EVENTS),
            "Timeout": ring_timeout(call.ring_timeout_s),
            "TimeLimit": _time_limit(call),
        }
        if call.voicemail.detection:
            waits = call.voicemail.action == "leave_message"
            form |= {
                "MachineDetection": "DetectMessageEnd" if waits else "Enable",
                "AsyncAmd": "true",
                "AsyncAmdStatusCallback": account.machine_url(call.call_id, leg.token),
                "AsyncAmdStatusCallbackMethod": "POST",
            }
        return form

    def _form_of_person(self, leg: LegRequest, asked: PersonRequest) -> dict[str, Any]:
        call, account = leg.call, self.account
        return {
            "To": asked.to,
            "From": call.own_number,
            "Url": account.person_url("answer", call.call_id, asked.token),
            "Method": "POST",
            "StatusCallback": account.person_url("status", call.call_id, asked.token),
            "StatusCallbackMethod": "POST",
            "StatusCallbackEvent": list(_EVENTS),
            "Timeout": ring_timeout(asked.ring_timeout_s),
            "TimeLimit": _time_limit(call),
        }

    def _address(self, resource: str) -> str:
        return f"{self.account.api_base}/2010-04-01/Accounts/{self.account.sid}/{resource}.json"

    async def ask(
        self,
        method: str,
        resource: str,
        *,
        params: Mapping[str, str] | None = None,
        data: Mapping[str, str] | None = None,
        fine: Sequence[int] = (),
    ) -> httpx2.Response:
        """Asks for a resource of the account, or changes one. `fine` are statuses of a refusal that is none.

        Raises TwilioUnavailable, and for a status of 4xx TwilioRefused.
        """
        try:
            async with self._client(await self._secured(), httpx2.Timeout(self.limit_s)) as client:
                answer = await client.request(method, self._address(resource), params=params, data=data)
        except httpx2.HTTPError as error:
            raise TwilioUnavailable(f"Twilio did not answer: {type(error).__name__}") from error
        if not answer.is_success and answer.status_code not in fine:
            checks = f"; check {_CREDENTIALS}" if answer.status_code == 401 else ""
            is_refusal = 400 <= answer.status_code < 500 and answer.status_code != 408
            problem = TwilioRefused if is_refusal else TwilioUnavailable
            raise problem(f"Twilio answered with {_named(answer)}{checks}")
        return answer

    def _client(self, context: SSLContext | bool, timeout: httpx2.Timeout) -> httpx2.AsyncClient:
        auth = (self.account.sid, self.account.auth_token)
        return httpx2.AsyncClient(auth=auth, timeout=timeout, verify=context, trust_env=False, follow_redirects=False)

    async def _secured(self) -> SSLContext | bool:
        return await to_thread.run_sync(lambda: self._context) if self.account.api_base.startswith("https") else False

    @cached_property
    def _context(self) -> SSLContext:  # takes some milliseconds, so it is made once
        return httpx2.create_ssl_context()


def ring_timeout(seconds: float) -> str:
    """How long a telephone may ring, as Twilio is told it."""
    return str(min(max(math.ceil(seconds) - RINGS_LONGER_S, 5), LONGEST_RING_S))


def _time_limit(call: CallRequest) -> str:
    return str(min(math.ceil(call.max_duration_s) + TALKS_LONGER_S, LONGEST_TALK_S))


def _refused(call_id: str, answer: httpx2.Response) -> Refused:
    code = _code_of(answer)
    warning = f"Twilio refused the call with {_named(answer)}."
    if answer.status_code == 401:
        warning += f" Check {_CREDENTIALS}."
    elif code is not None:
        warning += f" https://www.twilio.com/docs/api/errors/{code} says why."
    cause = cause_of_refusal(code)
    result = CallResult(
        call_id=call_id,
        outcome="invalid_number" if cause == "unallocated_number" else "failed",
        hangup_cause=cause,
        ended_by="carrier",
        warnings=(warning,),
    )
    return Refused(f"Twilio answered with {_named(answer)}", result)


def _named(answer: httpx2.Response) -> str:
    code = _code_of(answer)
    return f"status {answer.status_code}" + ("" if code is None else f" and error {code}")


def _code_of(answer: httpx2.Response) -> int | None:
    try:
        return _Problem.model_validate_json(answer.content).code
    except ValidationError:
        return None
