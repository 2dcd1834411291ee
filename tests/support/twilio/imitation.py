"""Twilio as far as lines use it, from its public documentation: calls, their list with a lag, numbers, requests with
signatures to the addresses it was given, and media streams. It refuses what Twilio refuses, and rings telephones of
tests."""

import re
import secrets
import time
from base64 import b64decode
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any
from urllib.parse import parse_qsl

import anyio
import httpx2 as httpx
from anyio.abc import TaskGroup
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from callwright.server.embedded.embedded import listener_on, listening
from tests.support.twilio.account import SID, TOKEN, signature
from tests.support.twilio.instructions import Room, perform
from tests.support.twilio.telephone import Telephone

_E164 = re.compile(r"\+[1-9][0-9]{6,14}")
_FINAL = ("completed", "busy", "no-answer", "canceled", "failed")
_EVENT = {"queued": "initiated", "ringing": "ringing", "in-progress": "answered"}


@dataclass
class PlacedCall:
    """A call that Twilio makes. `form` is what it was asked for, by name; each name has all its values."""

    sid: str
    form: dict[str, list[str]]
    created_s: float
    status: str = "queued"
    hung_up: anyio.Event = field(default_factory=anyio.Event)
    """By a request of the account."""
    told: int = 0
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list[tuple[str, dict[str, str]]])
    """What Twilio asked and told: the kind, and the form."""
    twiml: list[str] = field(default_factory=list[str])
    moved: anyio.Event = field(default_factory=anyio.Event)
    """By a request of the account, to `new_twiml`."""
    new_twiml: str = ""

    def __getitem__(self, name: str) -> str:
        return self.form[name][0]


@dataclass
class Twilio:
    """One account. `url` is where its API listens."""

    url: str = ""
    telephones: dict[str, Telephone] = field(default_factory=dict[str, Telephone])
    """By number; one that is not there answers."""
    numbers: dict[str, bool] = field(default_factory=dict[str, bool])
    """The numbers of the account, and whether each can call."""
    calls: list[PlacedCall] = field(default_factory=list[PlacedCall])
    list_lag_s: float = 0.0
    placing: list[str] = field(default_factory=list[str])
    """What becomes of the answers to the next requests for calls: `500`, `429`, `hang`, `nonsense`, `redirect`. The
    call is made for all but `429` and `redirect`."""
    moving: list[str] = field(default_factory=list[str])
    """Statuses with which the next changes of calls are answered, and not made."""
    rooms: dict[str, Room] = field(default_factory=dict[str, Room])
    hangs_s: float = 30.0
    refuses_account: bool = False
    """Whether the auth token counts as wrong."""
    prices: dict[str, str] = field(default_factory=dict[str, str])
    """What calls cost, by their sids, once they are rated."""
    offered: dict[str, str] = field(default_factory=dict[str, str])
    """Numbers that can be rented, and the type of each, as Twilio writes it: `Local`."""
    names: dict[str, str] = field(default_factory=dict[str, str])
    """What the numbers were called when they were rented."""
    renting: list[str] = field(default_factory=list[str])
    """What becomes of the next requests for numbers: `refused` as without money, or rented and then `500` or `hang`;
    `lost` is a 500 before anything is rented."""
    rented: list[str] = field(default_factory=list[str])
    """Every number that was rented, as often as it was."""
    released: list[str] = field(default_factory=list[str])
    tells: str = "once"
    """How statuses are told: `once`, `twice`, `backwards` or `never`."""
    tasks: TaskGroup | None = None
    """In which calls are made."""

    def application(self) -> Starlette:
        """The API."""
        account = f"/2010-04-01/Accounts/{SID}"
        return Starlette(
            routes=[
                Route(f"{account}.json", self._account),
                Route(f"{account}/Calls.json", self._place, methods=["POST"]),
                Route(f"{account}/Calls.json", self._list, methods=["GET"]),
                Route(f"{account}/Calls/{{sid}}.json", self._change, methods=["POST"]),
                Route(f"{account}/Calls/{{sid}}.json", self._show, methods=["GET"]),
                Route(f"{account}/IncomingPhoneNumbers.json", self._numbers, methods=["GET"]),
                Route(f"{account}/IncomingPhoneNumbers.json", self._rent, methods=["POST"]),
                Route(f"{account}/IncomingPhoneNumbers/{{sid}}.json", self._release, methods=["DELETE"]),
                Route(f"{account}/AvailablePhoneNumbers/{{country}}/{{kind}}.json", self._offer, methods=["GET"]),
            ]
        )

    # -- the API ------------------------------------------------------------------------------------------------------

    async def _account(self, request: Request) -> Response:
        return self._refused(request) or JSONResponse({"sid": SID, "status": "active", "type": "Full"})

    async def _place(self, request: Request) -> Response:
        form: dict[str, list[str]] = {}
        for name, value in parse_qsl((await request.body()).decode(), strict_parsing=True):
            form.setdefault(name, []).append(value)
        how = self.placing.pop(0) if self.placing else ""
        if (refused := self._refused(request)) is not None:
            return refused
        if how == "429":
            return _problem(429, 20429, "Too many requests")
        if how == "redirect":
            return Response(status_code=307, headers={"Location": f"{self.url}/elsewhere"})
        if (refused := self._not_taken(form)) is not None:
            return refused
        call = self.add(form)
        assert self.tasks is not None
        self.tasks.start_soon(self.make, call)
        if how == "500":
            return _problem(500, 20500, "An internal server error has occurred")
        if how == "hang":
            await anyio.sleep(self.hangs_s)
        if how == "nonsense":
            return Response("<html>", 201)
        return JSONResponse(self._shown(call), 201)

    def add(self, form: dict[str, list[str]]) -> PlacedCall:
        """A call that is to be made."""
        call = PlacedCall(f"CA{secrets.token_hex(16)}", form, time.time())
        self.calls.append(call)
        return call

    def _not_taken(self, form: dict[str, list[str]]) -> Response | None:
        if not _E164.fullmatch(form["To"][0]) or form["To"][0].startswith("+1900"):
            return _problem(400, 21211, f"The 'To' number {form['To'][0]} is not a valid phone number.")
        if not self.numbers.get(form["From"][0], False):
            return _problem(400, 21210, f"The source phone number provided, {form['From'][0]}, is not yet verified")
        if not 5 <= int(form["Timeout"][0]) <= 600:
            return _problem(400, 21213, "Timeout")
        assert form["StatusCallbackEvent"] == ["initiated", "ringing", "answered", "completed"]
        return None

    async def _list(self, request: Request) -> Response:
        asked, before_s = request.query_params, time.time() - self.list_lag_s
        found = [
            call
            for call in reversed(self.calls)
            if (call["To"], call["From"]) == (asked["To"], asked["From"]) and call.created_s <= before_s
            if time.strftime("%Y-%m-%d", time.gmtime(call.created_s)) >= asked["StartTime>"]
        ]
        shown = [self._shown(call) for call in found[: int(asked["PageSize"])]]
        return self._refused(request) or JSONResponse({"calls": shown, "page": 0, "next_page_uri": None})

    async def _show(self, request: Request) -> Response:
        call = self.call(request.path_params["sid"])
        return self._refused(request) or (JSONResponse(self._shown(call)) if call else _problem(404, 20404, "none"))

    async def _change(self, request: Request) -> Response:
        form = dict(parse_qsl((await request.body()).decode()))
        call = self.call(request.path_params["sid"])
        if (refused := self._refused(request)) is not None:
            return refused
        if call is None:
            return _problem(404, 20404, "none")
        if call.status in _FINAL:
            return _problem(400, 21220, "Call is not in-progress. Cannot redirect.")
        if self.moving:
            return _problem(int(self.moving.pop(0)), 20500, "An internal server error has occurred")
        if "Twiml" in form:
            call.new_twiml = form["Twiml"]
            call.moved.set()
        else:
            assert form == {"Status": "completed"}
            call.hung_up.set()
        return JSONResponse(self._shown(call))

    async def _numbers(self, request: Request) -> Response:
        wanted = request.query_params.get("PhoneNumber", "")
        found = [self._shown_number(number) for number in self.numbers if wanted in number]
        return self._refused(request) or JSONResponse({"incoming_phone_numbers": found, "next_page_uri": None})

    def _shown_number(self, number: str) -> dict[str, Any]:
        able = {"voice": self.numbers[number], "sms": True}
        name = self.names.get(number, number)
        return {"sid": f"PN{number[1:]:0>32}", "phone_number": number, "friendly_name": name, "capabilities": able}

    async def _offer(self, request: Request) -> Response:
        asked, kind = request.query_params, request.path_params["kind"]
        if request.path_params["country"] != "US":
            return self._refused(request) or _problem(404, 20404, "The requested resource was not found")
        assert asked["VoiceEnabled"] == "true"
        found = [
            {"phone_number": number, "locality": None, "iso_country": "US", "capabilities": {"voice": True}}
            for number, of_kind in self.offered.items()
            if of_kind == kind
            and number[2:].startswith(asked.get("AreaCode", ""))
            and asked.get("Contains", "") in number
        ]
        return self._refused(request) or JSONResponse({"available_phone_numbers": found[: int(asked["PageSize"])]})

    async def _rent(self, request: Request) -> Response:
        form = dict(parse_qsl((await request.body()).decode(), strict_parsing=True))
        how, number = self.renting.pop(0) if self.renting else "", form["PhoneNumber"]
        if (refused := self._refused(request)) is not None:
            return refused
        if how == "refused":
            return _problem(400, 21404, "Account has insufficient funds")
        if how == "lost":
            return _problem(500, 20500, "An internal server error has occurred")
        if number not in self.offered:
            return _problem(400, 21422, f"{number} is not available")
        del self.offered[number]
        self.numbers[number], self.names[number] = True, form["FriendlyName"]
        self.rented.append(number)
        if how == "500":
            return _problem(500, 20500, "An internal server error has occurred")
        if how == "hang":
            await anyio.sleep(self.hangs_s)
        return JSONResponse(self._shown_number(number), 201)

    async def _release(self, request: Request) -> Response:
        number = next((one for one in self.numbers if request.path_params["sid"].endswith(one[1:])), None)
        if (refused := self._refused(request)) is not None:
            return refused
        if number is None:
            return _problem(404, 20404, "The requested resource was not found")
        del self.numbers[number]
        self.released.append(number)
        return Response(status_code=204)

    def _refused(self, request: Request) -> Response | None:
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        if not self.refuses_account and scheme == "Basic" and b64decode(given).decode() == f"{SID}:{TOKEN}":
            return None
        return _problem(401, 20003, "Authentication Error - invalid username")

    def _shown(self, call: PlacedCall) -> dict[str, Any]:
        created = formatdate(call.created_s)[:-5] + "+0000"
        return {
            "sid": call.sid,
            "account_sid": SID,
            "to": call["To"],
            "from": call["From"],
            "status": call.status,
            "direction": "outbound-api",
            "date_created": created,
            "start_time": None if call.status == "queued" else created,
            "price": self.prices.get(call.sid),
            "price_unit": "USD",
        }

    def call(self, sid: str) -> PlacedCall | None:
        """A call by its sid."""
        return next((call for call in self.calls if call.sid == sid), None)

    # -- making a call ------------------------------------------------------------------------------------------------

    async def make(self, call: PlacedCall) -> None:
        """Rings the telephone of a call, and does what it is told until it is over."""
        telephone = self.telephones.setdefault(call["To"], Telephone())
        later: list[tuple[str, int | None]] = []

        async def tell(status: str, sip_status: int | None = None) -> None:
            call.status = status
            if self.tells == "backwards" and status not in _FINAL:
                later.append((status, None))
                return
            for _ in range({"never": 0, "twice": 2}.get(self.tells, 1)):
                await self.tell_status(call, status, sip_status)
            if status in _FINAL:
                for earlier, _sip in reversed(later):
                    await self.tell_status(call, earlier, None)

        try:
            await tell("queued")
            await self._ring(call, telephone, tell)
        finally:
            telephone.is_over.set()

    async def _ring(self, call: PlacedCall, telephone: Telephone, tell: Any) -> None:
        if telephone.does == "failed":
            await tell("failed", telephone.sip_status)
            return
        await tell("ringing")
        with anyio.move_on_after(telephone.rings_s):
            await call.hung_up.wait()
            await tell("canceled")
            return
        if telephone.does == "busy":
            await tell("busy", telephone.sip_status or 486)
            return
        if telephone.does == "no-answer":
            await tell("no-answer", telephone.sip_status)
            return
        async with anyio.create_task_group() as tasks:
            call.status = "in-progress"
            if "MachineDetection" in call.form and telephone.answered_by is not None:
                tasks.start_soon(self._detect, call, telephone.answered_by)
            await tell("in-progress")
            if "Url" in call.form:
                twiml = await self.ask(call)
                tasks.start_soon(self._limit, call)
            else:  # another call has made this one, and is joined with it
                twiml = "<Response><Dial><Conference endConferenceOnExit='true'>joined</Conference></Dial></Response>"
            await perform(self, call, telephone, twiml)
            tasks.cancel_scope.cancel()
        await tell("completed")

    async def _limit(self, call: PlacedCall) -> None:
        await anyio.sleep(int(call["TimeLimit"]))
        call.hung_up.set()

    async def _detect(self, call: PlacedCall, answered_by: str) -> None:
        await anyio.sleep(0.3)
        form = {"CallSid": call.sid, "AccountSid": SID, "AnsweredBy": answered_by, "MachineDetectionDuration": "300"}
        call.requests.append(("amd", form))
        await self.post(call["AsyncAmdStatusCallback"], form)

    async def ask(self, call: PlacedCall) -> str:
        """Asks what to do, as when somebody answers."""
        form = self.form(call, "in-progress")
        call.requests.append(("answer", form))
        answer = await self.post(call["Url"], form)
        call.twiml.append(answer.text)
        return answer.text if answer.status_code == 200 else "<Response><Hangup/></Response>"

    async def tell_status(self, call: PlacedCall, status: str, sip_status: int | None) -> httpx.Response:
        """Tells a status once."""
        form = self.form(call, "initiated" if status == "queued" else status)
        form |= {"CallbackSource": "call-progress-events", "SequenceNumber": str(call.told)}
        form |= {} if sip_status is None else {"SipResponseCode": str(sip_status)}
        form |= {"CallDuration": "1"} if status == "completed" else {}
        call.told += 1
        call.requests.append(("status", form))
        return await self.post(call["StatusCallback"], form)

    def form(self, call: PlacedCall, status: str) -> dict[str, str]:
        """What goes with each request about a call."""
        return {
            "CallSid": call.sid,
            "AccountSid": SID,
            "From": call["From"],
            "To": call["To"],
            "CallStatus": status,
            "ApiVersion": "2010-04-01",
            "Direction": "outbound-api",
        } | ({"ParentCallSid": call["ParentCallSid"]} if "ParentCallSid" in call.form else {})

    async def post(self, url: str, form: dict[str, str], *, signed: str | None = None) -> httpx.Response:
        """Sends a request as Twilio does. `signed` replaces its signature."""
        headers = {"X-Twilio-Signature": signature(url, form) if signed is None else signed}
        try:
            async with httpx.AsyncClient(trust_env=False, timeout=15, verify=False) as client:
                return await client.post(url, data=form, headers=headers)
        except httpx.HTTPError:
            return httpx.Response(502)


def _problem(status: int, code: int, message: str) -> Response:
    more = f"https://www.twilio.com/docs/errors/{code}"
    return JSONResponse({"code": code, "message": message, "more_info": more, "status": status}, status)


@asynccontextmanager
async def imitated_twilio(*numbers: str) -> AsyncGenerator[Twilio]:
    """Twilio, with these numbers in its account."""
    with listener_on() as listener:
        twilio = Twilio(numbers=dict.fromkeys(numbers, True))
        async with listening(twilio.application(), listener) as url, anyio.create_task_group() as tasks:
            twilio.url, twilio.tasks = url.removesuffix("/v1"), tasks
            yield twilio
            tasks.cancel_scope.cancel()
