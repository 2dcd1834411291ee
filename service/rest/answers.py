"""Answers of the request pipeline: envelopes, headers and bytes."""

import re
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import orjson
from pydantic import BaseModel
from starlette.responses import Response
from starlette.types import Receive, Send

from callwright.contract.declaration.operation import OPERATIONS, AnyOperation
from callwright.contract.declaration.pagination import Page
from callwright.service.rest.idempotency import StoredAnswer
from callwright.service.rest.routes import PREFIX

_JSON = (b"content-type", b"application/json")


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer. `file` replaces the body if parts of it can be requested."""

    status: int
    body: bytes
    headers: Mapping[str, str]
    file: Response | None = None

    async def send(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if self.file is not None:
            for name, text in self.headers.items():
                self.file.headers[name] = text
            await self.file(scope, receive, send)
            return
        headers = [(name.lower().encode("ascii"), text.encode("latin-1")) for name, text in self.headers.items()]
        if self.body:
            headers.append(_JSON)
        if self.status not in (204, 304):
            headers.append((b"content-length", str(len(self.body)).encode("ascii")))
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": self.body})


def encoded(operation: AnyOperation, result: Any, path: str) -> Answer:
    """The answer to an operation that succeeded. `path` is the canonical path of the request."""
    if operation.shape == "nothing":
        return Answer(operation.status, b"", {})
    if isinstance(result, Page):
        page = cast("Page[Any]", result)
        data = b",".join(entry if isinstance(entry, bytes) else _json(entry) for entry in page.data)
        return Answer(operation.status, b'{"data":[' + data + b'],"pagination":' + _json(page.pagination) + b"}", {})
    made = getattr(result, "id", None) if operation.creates else None
    return Answer(operation.status, b'{"data":' + _json(result) + b"}", _location(operation, path, made))


def replayed(operation: AnyOperation, stored: StoredAnswer, path: str) -> Answer:
    """The first answer again, byte for byte."""
    made = orjson.loads(stored.body)["data"].get("id") if operation.creates else None
    return Answer(stored.status, stored.body, {"Idempotent-Replayed": "true", **_location(operation, path, made)})


def _location(operation: AnyOperation, path: str, made: str | None) -> dict[str, str]:
    """The Location header of a new resource."""
    if made is None:
        return {}
    return {"Location": f"{PREFIX}{path if _has_own_list(operation) else f'/{operation.noun}'}/{made}"}


@cache
def _has_own_list(operation: AnyOperation) -> bool:
    """Whether a new resource can be read below the path that creates it; not so for `/deployments/inbound`."""
    below = re.compile(re.escape(operation.path) + r"/\{\w+\}")
    return any(other.method == "GET" and below.fullmatch(other.path) for other in OPERATIONS.values())


def _json(model: BaseModel) -> bytes:
    return model.__pydantic_serializer__.to_json(model, by_alias=True)
