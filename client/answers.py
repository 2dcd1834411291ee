"""Parses an answer's bytes into the operation's output. Fields that a newer service adds are kept, at any depth."""

import json
from functools import cache
from typing import Any, Generic, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from callwright.client.compat.unwrapping import data_in, without_nulls
from callwright.client.errors import DoesNotFit, UnexpectedAnswer, reasons
from callwright.contract.declaration.model import Resource
from callwright.contract.declaration.operation import Operation
from callwright.contract.declaration.pagination import Page

Out = TypeVar("Out")
Item = TypeVar("Item", bound=Resource)


class _Envelope(Resource, Generic[Item]):
    data: Item


@cache
def adapter(item: type[Resource], many: bool) -> TypeAdapter[Any]:
    """Reads the envelope of one resource, or of a page of them."""
    # The item is known at run time only, so the type checker cannot follow the subscription.
    envelope = cast("Any", Page if many else _Envelope)
    return TypeAdapter(envelope[item])


def output_of(operation: Operation[..., Any, Out], body: bytes, *, status: int, request_id: str | None = None) -> Out:
    """The output that a successful answer holds: the resource, the page, or None.

    Raises:
        UnexpectedAnswer: the body is not JSON or does not fit the operation's model.
    """
    if operation.shape == "nothing":
        return cast("Out", None)
    if operation.item is None:
        raise TypeError(f"{operation.name} answers with bytes; use open")
    many = operation.shape == "many"
    try:
        # `extra` also reaches nested models that callers send too, which by themselves refuse unknown fields.
        envelope = adapter(operation.item, many).validate_json(body, extra="allow")
    except ValidationError as error:
        message = f"the answer to {operation.name} does not fit: {reasons(error)}"
        try:
            data = without_nulls(data_in(operation, json.loads(body) if body.strip() else {}))
        except (ValueError, RecursionError):
            raise UnexpectedAnswer(message, status=status, request_id=request_id) from None
        raise DoesNotFit(message, operation=operation.name, data=data, status=status, request_id=request_id) from None
    return cast("Out", envelope if many else envelope.data)
