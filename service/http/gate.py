"""The one way into every operation.

The order of checks: size, origin, JSON, key prefix; then in one unit of work: key, idempotency key, fields, handler,
audit entry, stored answer. A refusal undoes the unit; nothing of a refused request is kept.
"""

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import orjson
from pydantic import BaseModel
from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from callwright.contract.model import Input
from callwright.contract.operation import AnyOperation
from callwright.contract.pagination import Page
from callwright.contract.problems import (
    INTERNAL_ERROR,
    METHOD_NOT_ALLOWED,
    NOT_FOUND,
    ORIGIN_NOT_ALLOWED,
    SERVICE_UNAVAILABLE,
)
from callwright.service.domain.refusals import Refusal
from callwright.service.handlers.work import HANDLERS, MEDIA_HANDLERS, Work
from callwright.service.ports import Ports
from callwright.service.speech.synthesiser import SpeechUnavailable
from callwright.service.storage import journal

from . import idempotency
from .known_keys import KnownKeys
from .principals import Principal, bearer, handed_over, identify
from .problems import problem_response
from .requests import check_media_type, read_body, read_input, read_json
from .routes import PREFIX, Found, RouteTable

log = logging.getLogger(__name__)
TOOL_HEADER = "x-callwright-tool"
_TOOL = re.compile(r"[a-z_]{1,64}")


@dataclass(frozen=True)
class _Answer:
    status: int
    body: bytes
    headers: Mapping[str, str]
    media: Any = None
    org_id: str = ""


class Gate:
    """Serves every operation of the contract, as an ASGI application below the versioned prefix."""

    def __init__(self, ports: Ports, routes: RouteTable) -> None:
        self._ports = ports
        self._routes = routes
        self._known = KnownKeys(ports.database)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answers one request."""
        response = await self.answer(Request(scope, receive))
        await response(scope, receive, send)

    async def answer(self, request: Request) -> Response:
        """The answer to one request, which is a problem where it is refused or fails."""
        request_id = self._ports.ids.new("req")
        try:
            return await self._serve(request, request_id)
        except Refusal as refusal:
            return problem_response(refusal, request_id)
        except Exception:
            log.exception("a request failed", extra={"request_id": request_id})
            return problem_response(Refusal(INTERNAL_ERROR), request_id)

    async def _serve(self, request: Request, request_id: str) -> Response:
        body = await read_body(request) if request.method in ("POST", "PATCH", "PUT") else b""
        origin = request.headers.get("origin")
        if origin is not None and origin not in self._ports.settings.allowed_origins:
            raise Refusal(ORIGIN_NOT_ALLOWED)
        sent = read_json(body)
        secret = handed_over(cast("dict[str, Any]", request.scope))
        if secret is None:
            secret = bearer(request.headers.get("authorization"))
        found = self._routes.find(request.method, request.scope["path"].removeprefix(request.scope["root_path"]))
        if found.operation is None:
            return await self._refuse_route(secret, found)
        call = _Call(found.operation, found.path, request_id, secret, request.method, found.canonical, body)
        call.tool = _tool(request.headers.get(TOOL_HEADER))
        try:
            if request.method == "POST":
                call.idempotency_key = idempotency.read_key(request.headers.get(idempotency.HEADER))
            check_media_type(request, body)
            call.asked = read_input(request, found.operation, found.path, sent)
        except Refusal as refusal:
            call.refusal = refusal  # held back until the key was checked
        database = self._ports.database
        if found.operation.writes:
            try:
                answer = await database.write(self._work, call)
            except IntegrityError:  # another request was faster; now its row is seen, and refused in words
                answer = await database.write(self._work, call)
            self._ports.wake()
        else:
            if database.is_sqlite:
                call.principal = await self._known.find(secret)
            answer = await (database.look_up if found.operation.looks_up else database.read)(self._work, call)
        if answer.media is not None:
            return await self._send_media(answer, request, request_id)
        headers = {"X-Request-Id": request_id, **answer.headers}
        return Response(answer.body, answer.status, headers, media_type="application/json" if answer.body else None)

    async def _refuse_route(self, secret: str, found: Found) -> Response:
        principal = await self._ports.database.read(identify, secret)
        self._ports.note_use(principal.key_id)
        if found.allowed:
            raise Refusal(METHOD_NOT_ALLOWED, headers={"Allow": ", ".join(found.allowed)})
        raise Refusal(NOT_FOUND, "There is no such path.")

    def _work(self, connection: Connection, call: "_Call") -> _Answer:
        ports, operation = self._ports, call.operation
        now_ms = ports.clock.now_ms()
        principal = call.principal or identify(connection, call.secret)
        ports.note_use(principal.key_id)
        if call.idempotency_key is not None:
            fingerprint = idempotency.request_fingerprint(call.method, call.canonical, call.body)
            stored = idempotency.claim(
                connection, principal.org_id, principal.key_id, call.idempotency_key, fingerprint, now_ms
            )
            if stored is not None:
                return _replayed(call, stored)
        if call.refusal is not None:
            raise call.refusal
        work = Work(
            connection=connection,
            org_id=principal.org_id,
            plan=principal.plan,
            key_id=principal.key_id,
            request_id=call.request_id,
            now_ms=now_ms,
            ids=ports.ids,
            cursors=ports.cursors,
            plan_seal=ports.plan_seal,
            settings=ports.settings,
            spending_cap_micros=principal.spending_cap_micros,
        )
        if operation.shape == "media":
            return _Answer(200, b"", {}, media=MEDIA_HANDLERS[operation.name](call.asked, work))
        result = HANDLERS[operation.name](call.asked, work)
        answer = _encode(operation, result, call)
        if operation.writes:
            _record(work, operation, principal, call, result)
        if call.idempotency_key is not None:
            stored = idempotency.StoredAnswer(answer.status, answer.body)
            idempotency.store(connection, principal.org_id, principal.key_id, call.idempotency_key, stored)
        return answer

    async def _send_media(self, answer: _Answer, request: Request, request_id: str) -> Response:
        plan, media_type = answer.media
        try:
            recording = await self._ports.recordings.open(plan, media_type=media_type)
        except SpeechUnavailable as error:
            raise Refusal(SERVICE_UNAVAILABLE, f"no recording can be made: {error.reason}") from error
        headers = {"X-Request-Id": request_id, "ETag": recording.etag, "X-Service-Simulated": "true"}
        wanted = {tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")}
        if recording.etag in wanted or "*" in wanted:
            return Response(None, 304, headers)
        return FileResponse(recording.path, headers=headers, media_type=recording.media_type)


class _Call:
    """A request on its way through the gate."""

    def __init__(
        self,
        operation: AnyOperation,
        path: Mapping[str, str],
        request_id: str,
        secret: str,
        method: str,
        canonical: str,
        body: bytes,
    ) -> None:
        self.operation = operation
        self.path = path
        self.request_id = request_id
        self.secret = secret
        self.method = method
        self.canonical = canonical
        self.body = body
        self.asked: Input | None = None
        self.idempotency_key: str | None = None
        self.tool: str | None = None
        self.principal: Principal | None = None
        """Whose key it is, where that is known before the unit of work: for what only reads."""
        self.refusal: Refusal | None = None


def _tool(said: str | None) -> str | None:
    """The tool through which a request came, as the client says. It is for the audit log alone and grants nothing."""
    return said if said is not None and _TOOL.fullmatch(said) else None


def _encode(operation: AnyOperation, result: Any, call: _Call) -> _Answer:
    if operation.shape == "nothing":
        return _Answer(operation.status, b"", {})
    if isinstance(result, Page):
        page = cast("Page[Any]", result)
        data = b",".join(_json(entry) for entry in page.data)
        return _Answer(operation.status, b'{"data":[' + data + b'],"pagination":' + _json(page.pagination) + b"}", {})
    made = getattr(result, "id", None) if operation.creates else None
    return _Answer(operation.status, b'{"data":' + _json(result) + b"}", _location(call, made))


def _location(call: _Call, made: str | None) -> dict[str, str]:
    """Where the resource is that was made."""
    return {} if made is None else {"Location": f"{PREFIX}{call.canonical}/{made}"}


def _replayed(call: _Call, stored: idempotency.StoredAnswer) -> _Answer:
    """The first answer again."""
    made = orjson.loads(stored.body)["data"].get("id") if call.operation.creates else None
    return _Answer(stored.status, stored.body, {"Idempotent-Replayed": "true", **_location(call, made)})


def _json(model: BaseModel) -> bytes:
    return model.__pydantic_serializer__.to_json(model, by_alias=True)


def _record(work: Work, operation: AnyOperation, principal: Principal, call: _Call, result: Any) -> None:
    subject = next(iter(call.path.values()), None) or getattr(result, "id", "")
    changed = call.asked.model_dump(mode="json", exclude_unset=True) if call.asked is not None else {}
    entry = journal.entry_row(
        work.ids,
        work.org_id,
        operation.name,
        str(subject)[:60],
        at_ms=work.now_ms,
        actor=principal.key_id,
        request_id=call.request_id,
        changes={"fields": sorted(set(changed) - set(call.path))},
        tool=call.tool,
    )
    journal.add_entries(work.connection, [entry])
