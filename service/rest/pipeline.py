"""The request pipeline: every request to an operation passes through it.

The order of checks: size, origin, JSON, key prefix, key, rate limit, route; then in one unit of work
(`transaction.py`): idempotency key, what is wrong with the fields, creator, handler. Answers show the state of
the key's limits.
"""

import logging
import os
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import orjson
from anyio import to_thread
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, IntegrityError
from starlette.responses import FileResponse

from callwright.contract.checks.tracebacks import without_tracebacks
from callwright.contract.declaration.betas import RATELIMIT_FIELDS
from callwright.contract.declaration.operation import AnyOperation
from callwright.contract.problems import (
    IDEMPOTENCY_IN_PROGRESS,
    INTERNAL_ERROR,
    METHOD_NOT_ALLOWED,
    NOT_FOUND,
    ORIGIN_NOT_ALLOWED,
    SERVICE_UNAVAILABLE,
    STORAGE_FULL,
)
from callwright.service.accounts.principals import RequestPrincipal
from callwright.service.handlers.request_context import ASKS, MARKS, PREPARES, THEN, TableRequest
from callwright.service.platform.database.postgres.lock_waits import unavailable_because
from callwright.service.platform.database.sqlite.disk_space import StorageFull, has_no_room
from callwright.service.platform.database.unavailable import StorageUnavailable
from callwright.service.platform.database.units import Unit, brief
from callwright.service.platform.refusals import Refusal
from callwright.service.platform.table_columns import MEDIA_TYPES
from callwright.service.platform.written_folders import unwritable_because
from callwright.service.rest import betas, idempotency
from callwright.service.rest.answers import Answer, encoded
from callwright.service.rest.authentication.api_key_check import bearer, in_process_key
from callwright.service.rest.authentication.request_checks import Authentication, refuse_if_too_many
from callwright.service.rest.incoming import Incoming
from callwright.service.rest.known_answers import KnownAnswers
from callwright.service.rest.problems import problem_body
from callwright.service.rest.ranges import check_range
from callwright.service.rest.requests import check_media_type, read_input, read_json
from callwright.service.rest.routes import RouteMatch, RouteTable
from callwright.service.rest.tables.files import SentOnce, remove, write_table
from callwright.service.rest.tables.streams import table_stream
from callwright.service.rest.transaction import ApiRequest, MediaWanted, performed
from callwright.service.services import Services
from callwright.service.speech.line_recordings import NotRecorded
from callwright.service.speech.recording_content import RecordingContent
from callwright.service.speech.synthesiser import SpeechUnavailable

log = logging.getLogger(__name__)
TOOL_HEADER = b"x-callwright-tool"
_TOOL = re.compile(r"[a-z_]{1,64}")
_AGAIN = ("40001", "40P01")
"""SQLSTATE of a serialization failure and of a deadlock. The transaction may be tried again."""
_SHORT = ("53000", "53200", "53300", "53400")
"""SQLSTATE of insufficient resources. A full disk, 53100, has a problem code of its own."""
ROOM_AFTER_S = 60
"""Seconds after which a write that found the disk full may be retried: a person has to free space first."""


class _Again(Exception):
    """A write that is to be tried once more."""


class RequestPipeline:
    """Serves every operation of the contract, as an ASGI application below the versioned prefix."""

    def __init__(self, services: Services, routes: RouteTable) -> None:
        self._services = services
        self._routes = routes
        self._authentication = Authentication(services)
        self._answers = KnownAnswers()
        self._public_path = urlsplit(services.settings.public_url or "").path.rstrip("/")
        """The path before the prefix in the public URL. A reverse proxy removes it from requests."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        answer = await self.answer(Incoming(scope, receive))
        await answer.send(scope, receive, send)

    def streams(self, path: str) -> bool:
        """Whether a GET of this path, below the prefix, is answered with bytes that are made while they are sent."""
        operation = self._routes.find("GET", path).operation
        return operation is not None and operation.is_streamed

    def count_unknown_key(self, address: str) -> Mapping[str, str] | None:
        """Counts an unknown key that other code has refused. Returns the headers of a 429 if there were too many."""
        return self._authentication.count_unknown_key(address)

    async def answer(self, incoming: Incoming) -> Answer:
        """The answer to one request; a problem if it is refused or fails."""
        request_id = self._services.ids.new("req")
        headers = {"X-Request-Id": request_id}
        try:
            found = await self._serve(incoming, request_id, headers)
            sent = {**headers, **found.headers}
            if "Location" in sent:
                sent["Location"] = self._public_path + sent["Location"]
            return Answer(found.status, found.body, sent, found.file)
        except Exception as error:
            refusal = self.refusal_of(error, request_id)
            without_tracebacks(error)  # they refer to the request and would keep its body in memory
            return Answer(refusal.problem.status, problem_body(refusal, request_id), {**headers, **refusal.headers})

    def refusal_of(self, error: Exception, request_id: str) -> Refusal:
        """The refusal for an error of a request. Logs errors that a person has to look at."""
        if isinstance(error, Refusal):
            return error
        if isinstance(error, StorageFull):
            return _no_room()
        if (folder := unwritable_because(error, self._services.settings.data)) is not None:
            log.error("%s, so a request was answered with 503", folder, extra={"request_id": request_id})
            said = f"{folder[0].upper()}{folder[1:]}; nothing was changed. Whoever runs the service has to permit it."
            return Refusal(SERVICE_UNAVAILABLE, said, headers={"Retry-After": str(ROOM_AFTER_S)})
        unavailable = unavailable_because(error)
        if unavailable is None:
            log.exception("a request failed", extra={"request_id": request_id})
            return Refusal(INTERNAL_ERROR)
        if not isinstance(error, StorageUnavailable):  # that is logged once, not for each request
            log.warning("%s, so a request was answered with 503", unavailable, extra={"request_id": request_id})
        return Refusal(SERVICE_UNAVAILABLE, f"{unavailable}; try again.", headers={"Retry-After": "1"})

    async def _serve(self, incoming: Incoming, request_id: str, headers: dict[str, str]) -> Answer:
        body = await incoming.body() if incoming.method in ("POST", "PATCH", "PUT") else b""
        with self._services.database.limited():
            found = await self._served(incoming, body, request_id, headers)
        return await self._media(found, incoming) if isinstance(found, MediaWanted) else found

    async def _served(
        self, incoming: Incoming, body: bytes, request_id: str, headers: dict[str, str]
    ) -> Answer | MediaWanted:
        origin = incoming.header(b"origin")
        if origin is not None and origin not in self._services.settings.allowed_origins:
            raise Refusal(ORIGIN_NOT_ALLOWED)
        sent = read_json(body)
        secret = in_process_key(incoming.scope)
        if secret is None:
            secret = bearer(incoming.header(b"authorization"))
        found = self._routes.find(incoming.method, incoming.path.removeprefix(incoming.scope["root_path"]))
        operation = found.operation
        # What is asked beyond the thing itself, as the comparison of two versions, may take longer.
        looks_up = operation is not None and operation.looks_up and not incoming.query

        def look_up(connection: Connection, principal: RequestPrincipal) -> Answer | Refusal | None:
            if operation is None or not looks_up:
                return None
            request = self._read_request(operation, found, principal, incoming, body, sent, request_id, secret)
            return _look_up(connection, self._services, request)

        authenticated = await self._authentication.authenticate(secret, operation, incoming.address, look_up)
        limit_state = authenticated.limit_state
        if limit_state is not None:
            headers.update(limit_state.headers())
            refuse_if_too_many(limit_state, self._services.clock.now_ms())
        switched_on = betas.enabled(incoming.header(b"x-service-beta"))
        if switched_on:
            headers[betas.HEADER] = f"enable={','.join(sorted(switched_on))}"
            if RATELIMIT_FIELDS.name in switched_on and limit_state is not None:
                headers.update(limit_state.draft_fields(self._services.clock.now_ms()))
        if operation is None:
            raise _no_route(found)
        if operation.deprecated is not None:
            headers.update(operation.deprecated.headers())
        if isinstance(authenticated.answer, Refusal):
            raise authenticated.answer
        if authenticated.answer is not None:
            return authenticated.answer
        request = self._read_request(
            operation, found, authenticated.principal, incoming, body, sent, request_id, secret
        )
        if looks_up and request.refusal is None:
            return await self._looked_up(request, incoming.query)
        await self._prepare(request)
        return await self._performed(request)

    async def _prepare(self, request: ApiRequest) -> None:
        """Does what takes long before the unit of work, so that no other write waits for it."""
        prepare, asks = PREPARES.get(request.operation.name), ASKS.get(request.operation.name)
        if (prepare is None and asks is None) or request.refusal is not None:
            return
        try:
            with self._services.database.uncounted():
                if asks is not None:
                    request.prepared = await asks(request.input, self._services.settings)
                elif prepare is not None:
                    request.prepared = await to_thread.run_sync(prepare, request.input)
        except Refusal as refusal:
            request.refusal = without_tracebacks(refusal)

    def _read_request(
        self,
        operation: AnyOperation,
        found: RouteMatch,
        principal: RequestPrincipal,
        incoming: Incoming,
        body: bytes,
        sent: Mapping[str, Any],
        request_id: str,
        secret: str,
    ) -> ApiRequest:
        request = ApiRequest(
            operation=operation,
            principal=principal,
            path=found.path,
            canonical=found.canonical,
            method=incoming.method,
            body=body,
            request_id=request_id,
            secret=secret,
            tool=_tool(incoming.header(TOOL_HEADER)),
        )
        try:
            if incoming.method == "POST":
                request.idempotency_key = idempotency.read_key(incoming.header(b"idempotency-key"))
                if not (operation.writes and operation.keeps_answer):
                    request.idempotency_key = None  # there is nothing to do twice
            check_media_type(incoming.header(b"content-type"), body)
            request.input = read_input(incoming.query, operation, found.path, sent)
        except Refusal as refusal:
            request.refusal = without_tracebacks(refusal)  # raised after the idempotency key was looked up
        return request

    async def _looked_up(self, request: ApiRequest, query: bytes) -> Answer:
        """The answer to a look-up, from the cache if nothing was committed since the key was looked up."""
        place, generation = (request.principal.org_id, request.canonical, query), self._authentication.known.generation
        now_ms = self._services.clock.now_ms()
        answer = self._answers.find(place, generation, now_ms)
        if answer is None:
            found = await self._services.database.read(_look_up, self._services, request)
            if isinstance(found, Refusal):
                raise found
            self._answers.keep(place, generation, now_ms, answer := found)
        return answer

    async def _performed(self, request: ApiRequest) -> Answer | MediaWanted:
        if not request.operation.writes:
            return await self._services.database.read(performed, self._services, request)
        try:
            answer = await self._written(request)
        except _Again:
            answer = await self._written(request, is_last=True)
        self._services.wake()
        then = THEN.get(request.operation.name)
        return answer if then is None or not isinstance(answer, Answer) else await self._followed(request, answer, then)

    async def _followed(
        self, request: ApiRequest, answer: Answer, then: Callable[[Any, Services], Awaitable[Any]]
    ) -> Answer:
        """The answer after another service was asked for what the unit of work has stored."""
        assert request.operation.item is not None
        stored = request.operation.item.model_validate(orjson.loads(answer.body)["data"])
        with self._services.database.uncounted():
            result = await then(stored, self._services)
        return answer if result is stored else replace(answer, body=encoded(request.operation, result, "").body)

    async def _written(self, request: ApiRequest, *, is_last: bool = False) -> Answer | MediaWanted:
        try:
            unit = Unit(performed, MARKS[request.operation.name])
            return await self._services.database.write(unit, self._services, request)
        except idempotency.KeyInProgress as error:
            raise Refusal(IDEMPOTENCY_IN_PROGRESS, headers={"Retry-After": "1"}) from error
        except DBAPIError as error:
            state = getattr(error.orig, "sqlstate", None)
            if state in _SHORT:
                raise Refusal(
                    SERVICE_UNAVAILABLE, "The database is short of memory or connections.", headers={"Retry-After": "5"}
                ) from error
            # If another request was faster, a second attempt sees its row and gives a proper refusal.
            if is_last or not (isinstance(error, IntegrityError) or state in _AGAIN):
                raise
            raise _Again from error

    async def _media(self, wanted: MediaWanted, incoming: Incoming) -> Answer:
        if isinstance(wanted.request, TableRequest):
            if wanted.is_streamed:
                is_head = incoming.method == "HEAD"
                return Answer(
                    200, b"", {}, await table_stream(self._services.database, wanted.request, is_head=is_head)
                )
            return await self._table(wanted.request, incoming)
        content, media_type = wanted.request
        try:
            recording = await self._services.recordings.open(content, media_type=media_type)
        except SpeechUnavailable as error:
            raise Refusal(SERVICE_UNAVAILABLE, f"no recording can be made: {error.reason}") from error
        except NotRecorded as error:
            raise Refusal(NOT_FOUND, "This call has no recording.") from error
        except OSError as error:
            if has_no_room(error):
                raise _no_room() from error
            raise
        headers = {"ETag": recording.etag}
        if isinstance(content, RecordingContent) or content.simulated:
            headers["X-Service-Simulated"] = "true"
        if _has_it(incoming, recording.etag):
            return Answer(304, b"", headers)
        check_range(incoming, os.stat(recording.path).st_size)
        return Answer(200, b"", headers, FileResponse(recording.path, media_type=recording.media_type))

    async def _table(self, wanted: TableRequest, incoming: Incoming) -> Answer:
        try:
            table = await write_table(self._services.database, wanted, self._services.settings.data / "tables")
        except OSError as error:
            if has_no_room(error):
                raise _no_room() from error
            raise
        try:
            if _has_it(incoming, table.etag):
                remove(table.path)
                return Answer(304, b"", {"ETag": table.etag})
            check_range(incoming, table.size)
        except Refusal:
            remove(table.path)
            raise
        return Answer(200, b"", {"ETag": table.etag}, SentOnce(table.path, media_type=MEDIA_TYPES[wanted.form]))


@brief
def _look_up(connection: Connection, services: Services, request: ApiRequest) -> Answer | Refusal:
    try:
        answer = performed(connection, services, request)
    except Refusal as refusal:
        return refusal
    assert isinstance(answer, Answer)  # media operations are not look-ups
    return answer


def _has_it(incoming: Incoming, etag: str) -> bool:
    """Whether the caller says that it has the file of this tag already."""
    tags = {tag.strip().removeprefix("W/") for tag in (incoming.header(b"if-none-match") or "").split(",")}
    return etag in tags or "*" in tags


def _no_room() -> Refusal:
    return Refusal(STORAGE_FULL, headers={"Retry-After": str(ROOM_AFTER_S)})


def _no_route(found: RouteMatch) -> Refusal:
    if found.allowed:
        return Refusal(METHOD_NOT_ALLOWED, headers={"Allow": ", ".join(found.allowed)})
    return Refusal(NOT_FOUND, "There is no such path.")


def _tool(said: str | None) -> str | None:
    """The tool through which a request came, as the client says. It is only for the audit log and grants nothing."""
    return said if said is not None and _TOOL.fullmatch(said) else None
