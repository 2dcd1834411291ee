"""Reads an answer leniently: the contract's model where it fits, and the service's own JSON in any case.

A service of the same specification may return fewer fields than the contract declares, other ones, or other names of
states. Defaults do not replace what it leaves out: absent stays absent.
"""

import json
import re
from collections.abc import Callable
from functools import cache
from typing import Any, Generic, TypeVar, cast, get_args

from pydantic import BaseModel, ValidationError

from callwright.client.answers import adapter
from callwright.client.compat.unwrapping import Json, data_in, without_nulls
from callwright.client.errors import UnexpectedAnswer
from callwright.contract.declaration.operation import AnyOperation, Operation

Out = TypeVar("Out")


class LenientResponse(Generic[Out]):
    """An answer. `data` is the service's JSON without its nulls, out of its envelope; a list is `{"data": [...], ...}`.

    `answer` is the contract's model of it. It is None where the model does not fit, where it would add a default that
    the service did not send, and where the operation returns nothing. `data` may be a function, which is called on
    first access: callers that have `answer` rarely need it.
    """

    def __init__(self, *, answer: Out | None, data: Json | Callable[[], Json]) -> None:
        self.answer = answer
        self._data = data

    @property
    def data(self) -> Json:
        """The service's JSON."""
        if callable(self._data):
            self._data = self._data()
        return self._data

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LenientResponse):
            return NotImplemented
        found = cast("LenientResponse[object]", other)
        return (self.answer, self.data) == (found.answer, found.data)

    __hash__ = None  # pyright: ignore[reportAssignmentType]  # it holds a dict, which has no hash

    def __repr__(self) -> str:
        return f"LenientResponse(answer={self.answer!r}, data={self.data!r})"


def lenient_response(
    operation: Operation[..., Any, Out], body: bytes, *, status: int, request_id: str | None = None
) -> LenientResponse[Out]:
    """Parses a successful answer.

    Raises:
        UnexpectedAnswer: the body is not JSON.
    """
    if operation.shape == "nothing":
        return LenientResponse(answer=None, data={})
    answer = _as_declared(operation, body)
    if answer is not None:
        return LenientResponse(
            answer=cast("Out", answer), data=lambda: without_nulls(data_in(operation, json.loads(body)))
        )
    try:
        whole: Any = json.loads(body) if body.strip() else {}
    except (ValueError, RecursionError):
        message = f"the answer to {operation.name} is not JSON"
        raise UnexpectedAnswer(message, status=status, request_id=request_id) from None
    data = data_in(operation, whole)
    return LenientResponse(answer=cast("Out | None", fitting(operation, data)), data=without_nulls(data))


def _as_declared(operation: AnyOperation, body: bytes) -> object | None:
    """The contract's model of an answer that has exactly the declared form, the common case; None for any other."""
    if operation.item is None:
        return None
    many = operation.shape == "many"
    try:
        found = adapter(operation.item, many).validate_json(body, extra="allow")
    except ValidationError:
        return None
    return None if _invents(found) else (found if many else found.data)


def fitting(operation: AnyOperation, data: Json) -> object | None:
    """The contract's model of this data, None where it does not fit."""
    if operation.item is None:
        return None
    many = operation.shape == "many"
    entries: list[Any] = data.get("data", []) if many else [data]
    keyed = [_keyed(operation, entry) for entry in entries]
    candidate: Json = {**data, "data": keyed} if many else {"data": keyed[0]}
    try:
        found = adapter(operation.item, many).validate_python(candidate, extra="allow")
    except (ValidationError, RecursionError):
        return None
    return None if _invents(found) else (found if many else found.data)


def _invents(value: object) -> bool:
    """Whether a model holds a default in place of something that the service did not send."""
    if isinstance(value, list):
        return any(_invents(entry) for entry in cast("list[object]", value))
    if not isinstance(value, BaseModel):
        return False
    said, filled = value.model_fields_set, _filled(type(value))
    return not said >= filled or any(_invents(getattr(value, name)) for name in said if name in _inner(type(value)))


@cache
def _filled(model: type[BaseModel]) -> frozenset[str]:
    """The fields that have a default other than None or an empty value."""
    defaults = {
        name: field.get_default(call_default_factory=True, validated_data={})
        for name, field in model.model_fields.items()
        if not field.is_required()
    }
    return frozenset(name for name, value in defaults.items() if value not in (None, "", [], {}))


@cache
def _inner(model: type[BaseModel]) -> frozenset[str]:
    """The fields that may hold models."""
    return frozenset(name for name, field in model.model_fields.items() if _holds_models(field.annotation))


def _holds_models(annotation: Any) -> bool:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return True
    return any(_holds_models(part) for part in get_args(annotation))


def _keyed(operation: AnyOperation, entry: Any) -> Any:
    """The entry with its id under both of its names: `id`, and `call_id` for a call."""
    if not isinstance(entry, dict) or operation.item is None:
        return cast("Any", entry)
    found, fields = cast("Json", entry), operation.item.model_fields
    long = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", operation.item.__name__).lower() + "_id"
    value = found.get("id", found.get(long))
    return {**{name: value for name in ("id", long) if name in fields and value is not None}, **found}
