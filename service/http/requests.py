"""Reading a request: its body within the limit, its JSON, and the operation's input out of path, query and body."""

from collections.abc import Mapping
from typing import Any, cast

import orjson
from pydantic import ValidationError
from starlette.requests import ClientDisconnect, Request

from callwright.contract.model import Input
from callwright.contract.operation import AnyOperation
from callwright.contract.problems import INVALID_FIELD, INVALID_JSON, PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE
from callwright.service.domain.refusals import FieldError, Refusal, invalid

from .problems import refusal_of

MAX_BODY = 1_000_000
"""Bytes of a request body."""


async def read_body(request: Request) -> bytes:
    """The body. Raises `Refusal`: payload_too_large as soon as it is."""
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > MAX_BODY:
        raise Refusal(PAYLOAD_TOO_LARGE)
    pieces: list[bytes] = []
    size = 0
    try:
        async for piece in request.stream():
            size += len(piece)
            if size > MAX_BODY:
                raise Refusal(PAYLOAD_TOO_LARGE)
            pieces.append(piece)
    except ClientDisconnect as error:
        raise Refusal(INVALID_JSON, "the connection ended before the body did") from error
    return b"".join(pieces)


def read_json(body: bytes) -> dict[str, Any]:
    """The JSON object in a body; an empty one is an empty object."""
    if not body.strip():
        return {}
    try:
        value: object = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise Refusal(INVALID_JSON) from error
    if not isinstance(value, dict):
        raise Refusal(INVALID_JSON)
    return cast("dict[str, Any]", value)


def check_media_type(request: Request, body: bytes) -> None:
    """Raises `Refusal`: unsupported_media_type for a body that is not declared as JSON."""
    declared = request.headers.get("content-type", "application/json").split(";")[0].strip().lower()
    if body and declared != "application/json" and not declared.endswith("+json"):
        raise Refusal(UNSUPPORTED_MEDIA_TYPE)


def _query(request: Request, operation: AnyOperation) -> dict[str, Any]:
    fields = {
        operation.wire_name(name): (name, field)
        for name, field in operation.takes.model_fields.items()
        if operation.place_of(name) == "query"
    }
    values: dict[str, Any] = {}
    unknown: list[FieldError] = []
    for key, text in request.query_params.multi_items():
        if key == "org_id":  # the organization comes from the key; the field has no effect
            continue
        if key not in fields:
            known = ", ".join(fields) or "none"
            unknown.append(FieldError(INVALID_FIELD.code, key[:80], f"is not a parameter here; known: {known}"))
            continue
        if "\x00" in text:
            raise invalid(key, "must not contain the character NUL")
        name, field = fields[key]
        if name in values:
            raise invalid(key, "is given more than once; separate several values by commas")
        listed = "list[" in str(field.annotation)
        values[name] = text.split(",") if listed else text
    if unknown:
        first = unknown[0]
        raise Refusal(INVALID_FIELD, f"{first.field}: {first.message}", field=first.field, errors=unknown)
    return values


def read_input(request: Request, operation: AnyOperation, path: Mapping[str, str], body: Mapping[str, Any]) -> Input:
    """The operation's input, checked. Raises `Refusal` with every field that is wrong."""
    values = _query(request, operation)
    sent = {key: value for key, value in body.items() if key != "org_id"}
    for name in path:
        if name in sent:
            raise invalid(name, "belongs to the path, not to the body")
    try:
        if not operation.has_body:  # then `sent` holds at most what is not a field, and is refused by name
            return operation.takes.model_validate({**sent, **values, **path})
        return operation.takes.model_validate_json(orjson.dumps({**sent, **path}), strict=True)
    except ValidationError as error:
        raise refusal_of(error, operation) from error
    except orjson.JSONEncodeError as error:
        raise Refusal(INVALID_JSON) from error
