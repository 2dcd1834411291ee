"""Asks the operations of the contract for a page, as who is logged in: through the request pipeline, without HTTP.

So every rule of the API holds for pages as it does for keys: fields are checked, limits count, idempotency keys repeat,
and the audit log records.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlencode

import orjson

from callwright.contract.declaration.operation import AnyOperation
from callwright.contract.problems import NOT_AUTHENTICATED, NOT_FOUND
from callwright.service.accounts.principals import IN_PROCESS_KEY, InProcessKey
from callwright.service.rest.answers import Answer
from callwright.service.rest.incoming import Incoming
from callwright.service.rest.pipeline import RequestPipeline
from callwright.service.rest.routes import PREFIX


@dataclass(frozen=True)
class FieldFault:
    """What is wrong with one field of a form."""

    field: str
    message: str


class Refused(Exception):
    """An operation refused what a page asked for: with the status, the code and the words of the API."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        faults: Sequence[FieldFault] = (),
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.status, self.code, self.message, self.faults = status, code, message, tuple(faults)
        self.details: Mapping[str, Any] = details or {}


class SessionEnded(Exception):
    """The session ended before an operation was asked."""


@dataclass(frozen=True)
class Page:
    """One page of a list."""

    data: list[dict[str, Any]]
    has_more: bool
    next_cursor: str | None
    total: int | None


class Operations:
    """The operations, for the session of one request."""

    def __init__(self, pipeline: RequestPipeline, secret: str) -> None:
        self._pipeline, self._secret = pipeline, secret

    async def one(self, operation: AnyOperation, *, key: str | None = None, **fields: Any) -> dict[str, Any]:
        """The `data` of an answer; empty where an operation gives nothing. `key` is an idempotency key.

        Raises:
            Refused: with the status, the code and the words of the API.
        """
        answer = await self.answer(operation, key=key, **fields)
        return orjson.loads(answer.body)["data"] if answer.body else {}

    async def one_or_none(self, operation: AnyOperation, **fields: Any) -> dict[str, Any] | None:
        """The `data` of an answer; None where there is no such thing, or not any more. Raises `Refused`."""
        try:
            return await self.one(operation, **fields)
        except Refused as error:
            if error.status == NOT_FOUND.status:
                return None
            raise

    async def many(self, operation: AnyOperation, **fields: Any) -> Page:
        """One page of a list. Raises `Refused`."""
        found = orjson.loads((await self.answer(operation, **fields)).body)
        pagination = found["pagination"]
        return Page(
            found["data"],
            bool(pagination.get("has_more", pagination.get("next_cursor"))),
            pagination.get("next_cursor"),
            pagination.get("total"),
        )

    async def answer(
        self,
        operation: AnyOperation,
        *,
        key: str | None = None,
        headers: Sequence[tuple[bytes, bytes]] = (),
        **fields: Any,
    ) -> Answer:
        """The answer as the API gives it, also with a file. `fields` have the names of the operation's input.

        Raises:
            Refused: with the status, the code and the words of the API.
        """
        given = {name: value for name, value in fields.items() if value is not None}
        place = {name: operation.place_of(name) for name in given}
        path = operation.path.format_map({name: str(given[name]) for name in operation.path_fields})
        query = {operation.wire_name(name): _text(given[name]) for name in given if place[name] == "query"}
        sent = {name: given[name] for name in given if place[name] == "body"}
        body = orjson.dumps(sent) if operation.method in ("POST", "PATCH", "PUT") else b""
        sent_headers = [*headers, *([] if key is None else [(b"idempotency-key", key.encode("ascii"))])]
        scope: dict[str, Any] = {
            "type": "http",
            "method": operation.method,
            "path": PREFIX + path,
            "root_path": PREFIX,
            "query_string": urlencode(query).encode("ascii"),
            "headers": sent_headers,
            IN_PROCESS_KEY: InProcessKey(self._secret),
        }

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        answer = await self._pipeline.answer(Incoming(scope, receive))
        if answer.status == NOT_AUTHENTICATED.status:
            raise SessionEnded
        if answer.status >= 400:
            raise refused_by(answer)
        return answer


def refused_by(answer: Answer) -> Refused:
    """The refusal of an answer, in either envelope."""
    found = orjson.loads(answer.body)
    error = found["error"]
    if isinstance(error, str):
        return Refused(answer.status, error, found["message"], details=found)
    faults = [FieldFault(fault["field"], fault["message"]) for fault in error.get("errors", ())]
    return Refused(answer.status, error["code"], error["message"], faults, error)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(cast("list[str]", value)) if isinstance(value, list) else str(value)
