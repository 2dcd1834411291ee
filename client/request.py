"""Builds the HTTP request of an operation: method, path, query, body, headers. No I/O."""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from pydantic import JsonValue, ValidationError

from callwright.client.errors import InvalidArguments, reasons
from callwright.contract.declaration.model import Input
from callwright.contract.declaration.operation import AnyOperation, Operation

In = TypeVar("In", bound=Input)
Out = TypeVar("Out")
_MOST_FEATURES = 20


@dataclass(frozen=True, kw_only=True)
class WireRequest:
    """One HTTP request, its path below the version prefix. Sending it again sends the same bytes."""

    operation: str
    method: str
    path: str
    query: str
    content: bytes | None = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    keyed: bool = False
    media: bool = False

    @property
    def repeatable(self) -> bool:
        """Whether serving it twice has the effect of serving it once."""
        return self.method in ("GET", "PUT") or (self.method == "POST" and self.keyed)

    @property
    def target(self) -> str:
        """Path and query."""
        return f"{self.path}?{self.query}" if self.query else self.path

    def with_headers(self, **headers: str | None) -> "WireRequest":
        """The same request with further headers; `if_none_match` gives `If-None-Match`. None leaves one out."""
        more = {name.replace("_", "-"): value for name, value in headers.items() if value is not None}
        return replace(self, headers={**self.headers, **more})


def beta_headers(features: Collection[str]) -> dict[str, str]:
    """The header that switches beta features on, or nothing where none is named.

    Raises:
        InvalidArguments: a name is not valid, or there are more than 20.
    """
    if isinstance(features, str) or not all(re.fullmatch("[a-z0-9_]{1,40}", name) for name in features):
        raise InvalidArguments("beta must be a collection of names in lower-case letters, digits and underscores")
    if len(features) > _MOST_FEATURES:
        raise InvalidArguments(f"beta must name at most {_MOST_FEATURES} features")
    return {"X-Service-Beta": f"enable={','.join(features)}"} if features else {}


def asked_with(operation: Operation[..., In, Out], arguments: Mapping[str, Any]) -> In:
    """The operation's input made of keyword arguments.

    Raises:
        InvalidArguments: a field is unknown, missing or out of bounds.
    """
    try:
        return operation.takes.model_validate(dict(arguments))
    except ValidationError as error:
        raise InvalidArguments(f"{operation.name}: {reasons(error)}") from None


def wire_request(
    operation: AnyOperation,
    asked: Input,
    *,
    idempotency_key: str | None = None,
    extra: Mapping[str, JsonValue] | None = None,
) -> WireRequest:
    """The HTTP request of an operation. Only fields that the caller gave are sent: absent differs from null.

    `extra` are fields of the body that the contract does not know, sent as they are.

    Raises:
        InvalidArguments: a value cannot be sent in its place, or the idempotency key is not valid.
    """
    if not isinstance(asked, operation.takes):
        raise InvalidArguments(f"{operation.name} takes {operation.takes.__name__}, not {type(asked).__name__}")
    headers: dict[str, str] = {}
    if idempotency_key is not None:
        headers["Idempotency-Key"] = _checked_key(operation, idempotency_key)
    content = _body(operation, asked, extra or {})
    if content is not None:
        headers["Content-Type"] = "application/json"
    return WireRequest(
        operation=operation.name,
        method=operation.method,
        path=_path(operation, asked),
        query=_query(operation, asked),
        content=content,
        headers=headers,
        keyed=idempotency_key is not None,
        media=operation.shape == "media",
    )


def _path(operation: AnyOperation, asked: Input) -> str:
    path = operation.path
    for name in operation.path_fields:
        path = path.replace("{" + name + "}", _segment(name, str(getattr(asked, name))))
    return path


def _segment(name: str, value: str) -> str:
    # Percent-encoding does not help here: proxies remove empty and dotted segments, and many servers decode %2F before
    # they look for the route. Either way the request would reach another path.
    if value in ("", ".", "..") or "/" in value:
        raise InvalidArguments(f"{name}: must not be empty, '.' or '..', nor contain '/'")
    return quote(value, safe="")


def _query(operation: AnyOperation, asked: Input) -> str:
    asked_for = {name for name in asked.model_fields_set if operation.place_of(name) == "query"}
    if not asked_for:
        return ""
    given = asked.model_dump(mode="json", include=asked_for)
    pairs = [
        (operation.wire_name(name), _query_text(name, value)) for name, value in given.items() if value is not None
    ]
    return urlencode(pairs, quote_via=quote, safe="")


def _query_text(name: str, value: JsonValue) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        parts = [_query_text(name, part) for part in value]
        if not parts or any("," in part or not part for part in parts):
            raise InvalidArguments(f"{name}: needs entries, none of them empty or with a comma")
        return ",".join(parts)
    return str(value)


def _body(operation: AnyOperation, asked: Input, extra: Mapping[str, JsonValue]) -> bytes | None:
    if not operation.has_body and not extra:
        return None
    path = {*operation.path_fields}
    try:
        if not extra:  # pydantic writes it in a seventh of the time: a thousand rows can be a hundred thousand cells
            return asked.model_dump_json(by_alias=True, exclude_unset=True, exclude=path).encode()
        fields = {**extra, **asked.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude=path)}
        return json.dumps(fields, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except ValueError:
        raise InvalidArguments(f"{operation.name}: the body cannot be written as JSON in UTF-8") from None


def _checked_key(operation: AnyOperation, key: str) -> str:
    if operation.method != "POST":
        raise InvalidArguments(f"{operation.name}: only a POST takes an idempotency key")
    if not 1 <= len(key) <= 255 or not all("!" <= character <= "~" for character in key):
        raise InvalidArguments("the idempotency key must be 1 to 255 visible ASCII characters")
    return key
