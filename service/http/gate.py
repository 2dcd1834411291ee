"""The one way into every operation.

The order of checks: size, origin, JSON, key prefix, key, rate limit; then in one unit of work (`unit.py`): idempotency
key, route and fields, creator, handler. What is answered says where the key stands with its limits.
"""

import logging
import os
import re
from typing import Any

from sqlalchemy.exc import DBAPIError, IntegrityError
from starlette.responses import FileResponse

from callwright.contract.betas import RATELIMIT_FIELDS
from callwright.contract.problems import (
    DAILY_QUOTA_EXCEEDED,
    IDEMPOTENCY_IN_PROGRESS,
    INTERNAL_ERROR,
    METHOD_NOT_ALLOWED,
    NOT_FOUND,
    ORIGIN_NOT_ALLOWED,
    RATE_LIMITED,
    SERVICE_UNAVAILABLE,
)
from callwright.service.domain.refusals import Refusal
from callwright.service.domain.request_rate import Standing
from callwright.service.ports import Ports
from callwright.service.speech.synthesiser import SpeechUnavailable
from callwright.service.storage.request_limits import Allowance

from . import betas, idempotency
from .answers import Answer
from .attempts import FailedAttempts
from .incoming import Incoming
from .known_answers import KnownAnswers
from .known_keys import KnownKeys
from .principals import Principal, bearer, handed_over
from .problems import problem_body
from .ranges import check_range
from .requests import check_media_type, read_input, read_json
from .routes import Found, RouteTable
from .unit import Asked, MediaWanted, performed

log = logging.getLogger(__name__)
TOOL_HEADER = b"x-callwright-tool"
_TOOL = re.compile(r"[a-z_]{1,64}")
_NO_ROUTE = "other"
_LOCKED = "55P03"
"""Postgres: another transaction held a lock for longer than this one would wait."""
_AGAIN = ("40001", "40P01")
"""Postgres: the transaction lost against another one, or both waited for each other. It may be tried again."""


class Gate:
    """Serves every operation of the contract, as an ASGI application below the versioned prefix."""

    def __init__(self, ports: Ports, routes: RouteTable) -> None:
        self._ports = ports
        self._routes = routes
        self._known = KnownKeys(ports.database)
        self._answers = KnownAnswers()
        self._failed = FailedAttempts()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answers one request."""
        answer = await self.answer(Incoming(scope, receive))
        await answer.send(scope, receive, send)

    async def answer(self, incoming: Incoming) -> Answer:
        """The answer to one request, which is a problem where it is refused or fails."""
        request_id = self._ports.ids.new("req")
        headers = {"X-Request-Id": request_id}
        try:
            found = await self._serve(incoming, request_id, headers)
            return Answer(found.status, found.body, {**headers, **found.headers}, found.file)
        except Refusal as raised:
            refusal = raised
        except Exception:
            log.exception("a request failed", extra={"request_id": request_id})
            refusal = Refusal(INTERNAL_ERROR)
        return Answer(refusal.problem.status, problem_body(refusal, request_id), {**headers, **refusal.headers})

    async def _serve(self, incoming: Incoming, request_id: str, headers: dict[str, str]) -> Answer:
        body = await incoming.body() if incoming.method in ("POST", "PATCH", "PUT") else b""
        origin = incoming.header(b"origin")
        if origin is not None and origin not in self._ports.settings.allowed_origins:
            raise Refusal(ORIGIN_NOT_ALLOWED)
        sent = read_json(body)
        secret = handed_over(incoming.scope)
        if secret is None:
            secret = bearer(incoming.header(b"authorization"))
        principal = await self._identified(secret, incoming)
        found = self._routes.find(incoming.method, incoming.path.removeprefix(incoming.scope["root_path"]))
        standing = await self._counted(principal, found, headers)
        switched_on = betas.enabled(incoming.header(b"x-service-beta"))
        if switched_on:
            headers[betas.HEADER] = f"enable={','.join(sorted(switched_on))}"
            if RATELIMIT_FIELDS.name in switched_on and standing is not None:
                headers.update(standing.draft_fields(self._ports.clock.now_ms()))
        operation = found.operation
        if operation is None:
            raise _no_route(found)
        if operation.deprecated is not None:
            headers.update(operation.deprecated.headers())
        asked = Asked(
            operation=operation,
            principal=principal,
            path=found.path,
            canonical=found.canonical,
            method=incoming.method,
            body=body,
            request_id=request_id,
            secret=secret,
            origin=incoming.origin if operation.creator_bound else "",
            tool=_tool(incoming.header(TOOL_HEADER)),
        )
        try:
            if incoming.method == "POST":
                asked.idempotency_key = idempotency.read_key(incoming.header(b"idempotency-key"))
                if not operation.writes:
                    asked.idempotency_key = None  # there is nothing to do twice
            check_media_type(incoming.header(b"content-type"), body)
            asked.input = read_input(incoming.query, operation, found.path, sent)
        except Refusal as refusal:
            asked.refusal = refusal  # held back until the idempotency key was looked up
        if operation.looks_up and asked.refusal is None:
            return await self._looked_up(asked, incoming.query)
        answer = await self._performed(asked)
        return await self._media(answer, incoming) if isinstance(answer, MediaWanted) else answer

    async def _identified(self, secret: str, incoming: Incoming) -> Principal:
        try:
            principal = await self._known.find(secret)
        except Refusal:
            address, now_ms = incoming.address, self._ports.clock.now_ms()
            wait_s = None if address is None else self._failed.note(address, now_ms)
            if wait_s is None:
                raise
            said = "Too many unknown keys came from this address."
            raise Refusal(RATE_LIMITED, said, headers={"Retry-After": str(wait_s)}) from None
        self._ports.note_use(principal.key_id)
        return principal

    async def _counted(self, principal: Principal, found: Found, headers: dict[str, str]) -> Standing | None:
        """Counts the request, notes in the headers where the key stands, and refuses what is too much."""
        plan, operation = principal.plan, found.operation
        if plan.requests_per_second is None and plan.requests_per_day is None:
            return None
        share = 1.0 if operation is None else operation.rate_share
        allowance = Allowance(
            key_id=principal.key_id,
            group=_NO_ROUTE if operation is None else operation.group,
            per_second=None if plan.requests_per_second is None else plan.requests_per_second * share,
            per_day=plan.requests_per_day,
        )
        now_ms = self._ports.clock.now_ms()
        standing = await self._ports.limits.take(allowance, now_ms)
        if standing is not None:
            headers.update(standing.headers())
            if standing.refused is not None:
                headers["Retry-After"] = str(standing.wait_s(now_ms))
                raise Refusal(RATE_LIMITED if standing.refused == "second" else DAILY_QUOTA_EXCEEDED)
        return standing

    async def _looked_up(self, asked: Asked, query: bytes) -> Answer:
        """The answer to a look-up, the one of a moment ago where nothing was committed since the key was found."""
        place, generation = (asked.principal.org_id, asked.canonical, query), self._known.generation
        now_ms = self._ports.clock.now_ms()
        answer = self._answers.find(place, generation, now_ms)
        if answer is None:
            found = await self._ports.database.look_up(performed, self._ports, asked)
            assert isinstance(found, Answer)  # nothing that is looked up comes as media
            self._answers.keep(place, generation, now_ms, answer := found)
        return answer

    async def _performed(self, asked: Asked) -> Answer | MediaWanted:
        database, operation = self._ports.database, asked.operation
        if not operation.writes:
            return await database.read(performed, self._ports, asked)
        try:
            answer = await database.write(performed, self._ports, asked)
        except IntegrityError:  # another request was faster; now its row is seen, and refused in words
            answer = await database.write(performed, self._ports, asked)
        except DBAPIError as error:
            state = getattr(error.orig, "sqlstate", None)
            if state == _LOCKED:
                busy = IDEMPOTENCY_IN_PROGRESS if asked.idempotency_key else SERVICE_UNAVAILABLE
                raise Refusal(busy, headers={"Retry-After": "1"}) from error
            if state not in _AGAIN:
                raise
            answer = await database.write(performed, self._ports, asked)
        self._ports.wake()
        return answer

    async def _media(self, wanted: MediaWanted, incoming: Incoming) -> Answer:
        try:
            recording = await self._ports.recordings.open(wanted.plan, media_type=wanted.media_type)
        except SpeechUnavailable as error:
            raise Refusal(SERVICE_UNAVAILABLE, f"no recording can be made: {error.reason}") from error
        headers = {"ETag": recording.etag, "X-Service-Simulated": "true"}
        tags = {tag.strip().removeprefix("W/") for tag in (incoming.header(b"if-none-match") or "").split(",")}
        if recording.etag in tags or "*" in tags:
            return Answer(304, b"", headers)
        check_range(incoming, os.stat(recording.path).st_size)
        return Answer(200, b"", headers, FileResponse(recording.path, media_type=recording.media_type))


def _no_route(found: Found) -> Refusal:
    if found.allowed:
        return Refusal(METHOD_NOT_ALLOWED, headers={"Allow": ", ".join(found.allowed)})
    return Refusal(NOT_FOUND, "There is no such path.")


def _tool(said: str | None) -> str | None:
    """The tool through which a request came, as the client says. It is for the audit log alone and grants nothing."""
    return said if said is not None and _TOOL.fullmatch(said) else None
