"""Reading a request: its JSON, and the operation's input from path, query and body."""

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple, cast, get_args
from urllib.parse import parse_qsl

import orjson
from pydantic import AwareDatetime

from callwright.contract.checks.bounds import MOST_PROBLEMS
from callwright.contract.checks.json_containers import CROWDED, brackets, is_crowded
from callwright.contract.checks.json_keys import key_twice, keys_in
from callwright.contract.declaration.checking import BadInput, checked
from callwright.contract.declaration.field_types import MAX_ID
from callwright.contract.declaration.model import Input
from callwright.contract.declaration.operation import AnyOperation
from callwright.contract.problems import INVALID_JSON, UNSUPPORTED_MEDIA_TYPE
from callwright.service.platform.refusals import Refusal, invalid, not_found
from callwright.service.rest.problems import refusal_of, refused, unknown_parameter

MAX_QUERY = 16_384
"""Bytes of a query string."""
MOST_PARAMETERS = 100
_DEEP = 100
"""Levels of nested lists and objects; deeper JSON is read by a parser that uses Python's stack and may exhaust it."""
_UNREAD = "It holds a number of too many digits, NaN, or half a character. Send large numbers as text."
_NO_EFFECT = "org_id"
"""The organization comes from the key; this field is accepted and ignored, in query and body."""


def read_json(body: bytes) -> dict[str, Any]:
    """The JSON object in a body; an empty body is an empty object.

    Raises:
        Refusal: invalid_json if it is not an object, nests too deeply, has more than 20,000 lists and objects, or has a
            key twice in one object, which parsers read differently.
    """
    if not body:
        return {}
    if is_crowded(body):
        raise Refusal(INVALID_JSON, CROWDED)
    try:
        value: object = orjson.loads(body)
        twice = key_twice(body, keys_in(value, deepest=_DEEP, containers=brackets(body)))
    except (ValueError, RecursionError) as error:
        raise Refusal(INVALID_JSON, _UNREAD if _is_read_by_others(body) else "") from error
    if twice is not None:
        raise Refusal(INVALID_JSON, f"The key {twice!r} stands twice in one object.")
    if not isinstance(value, dict):
        raise Refusal(INVALID_JSON)
    return cast("dict[str, Any]", value)


def _is_read_by_others(body: bytes) -> bool:
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True


def check_media_type(declared: str | None, body: bytes) -> None:
    """Raises `Refusal`: unsupported_media_type for a body that is not declared as JSON."""
    if not body or declared is None or declared == "application/json":
        return
    kind = declared.split(";")[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        raise Refusal(UNSUPPORTED_MEDIA_TYPE)


class _Form(NamedTuple):
    """The allowed form of a parameter's text. Python's own parsing would accept more than the document says."""

    written: re.Pattern[str]
    said: str


_WHOLE = _Form(re.compile(r"-?[0-9]+"), "should be a whole number")
_MOMENT = _Form(re.compile(r"[0-9]{4}-.*"), "should be a date-time like 2026-11-21T09:30:00Z")


def _form(annotation: Any) -> _Form | None:
    kinds = {annotation, *get_args(annotation)}
    if int in kinds:
        return _WHOLE
    return _MOMENT if any(AwareDatetime in get_args(kind) for kind in kinds) else None


@cache
def _parameters(operation: AnyOperation) -> Mapping[str, tuple[str, bool, _Form | None]]:
    """The query parameters of an operation: the field of each, whether it is a list, and how its text is written."""
    return {
        operation.wire_name(name): (name, "list[" in str(field.annotation), _form(field.annotation))
        for name, field in operation.takes.model_fields.items()
        if operation.place_of(name) == "query"
    }


def _query(query: bytes, operation: AnyOperation) -> dict[str, Any]:
    if not query:
        return {}
    if len(query) > MAX_QUERY:
        raise invalid("query", f"is longer than {MAX_QUERY} bytes")
    try:
        text = query.decode("latin-1")
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MOST_PARAMETERS)
    except UnicodeDecodeError as error:
        raise invalid("query", "is not UTF-8") from error
    except ValueError as error:
        raise invalid("query", f"has more than {MOST_PARAMETERS} parameters") from error
    known = _parameters(operation)
    values: dict[str, Any] = {}
    unknown: list[str] = []
    for key, text in pairs:
        if key == _NO_EFFECT:
            continue
        if key not in known:
            unknown.append(key)
            continue
        if "\x00" in text:
            raise invalid(key, "must not contain the character NUL")
        name, is_list, form = known[key]
        if form is not None and not form.written.fullmatch(text):
            raise invalid(key, form.said)
        if name in values:
            raise invalid(key, "is given more than once; separate several values by commas")
        values[name] = text.split(",") if is_list else text
    if unknown:
        named = [unknown_parameter(key, operation) for key in unknown[:MOST_PROBLEMS]]
        raise refused(named, more=len(unknown) - len(named))
    return values


def read_input(query: bytes, operation: AnyOperation, path: Mapping[str, str], body: Mapping[str, Any]) -> Input:
    """The operation's input, checked.

    Raises:
        Refusal: with the fields that are wrong.
    """
    values = _query(query, operation)
    sent = {key: value for key, value in body.items() if key != _NO_EFFECT} if body else {}
    for name, value in path.items():
        if name in sent:
            raise invalid(name, "belongs to the path, not to the body")
        if len(value) > MAX_ID:
            raise not_found()
    try:
        # An operation without a body has no fields in `sent`, so anything in it is refused by name.
        return checked(operation.takes, {**sent, **values, **path}, is_json=operation.has_body)
    except BadInput as error:
        raise refusal_of(error, operation) from error
