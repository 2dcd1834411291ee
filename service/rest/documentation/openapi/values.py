"""Example values of parameters: from recorded requests, else from the contract, else from recorded answers."""

from collections.abc import Callable, Iterator
from typing import Any, cast

from callwright.contract.declaration.filters import filter_of
from callwright.contract.declaration.operation import OPERATIONS, AnyOperation
from callwright.service.rest.documentation.examples import Example, example_of
from callwright.service.rest.documentation.openapi.headers import Json

_OF_EVERY_LIST = ("page", "per_page", "cursor")


def example_value(operation: AnyOperation, name: str, shape: Json) -> Any:
    """A value that the parameter may have; None if no source has one."""
    wire = operation.wire_name(name)
    example = None if name in _OF_EVERY_LIST else example_of(operation.name)
    choices: tuple[Callable[[], Any], ...] = (
        lambda: None if example is None else _sent(example).get(wire),
        lambda: _first(shape.get("examples")),
        lambda: _sort(operation) if name == "sort" else None,
        lambda: _next_part(operation) if name == "cursor" else None,
        lambda: None if example is None else _answered(operation, name, example),
        lambda: _choice(shape),
        lambda: shape.get("default", shape.get("minimum")),
        lambda: _first([value for value in _elsewhere(name, wire) if value is not None]),
    )
    for choice in choices:
        value = choice()
        if value is not None:
            return _typed(value, shape)
    return None


def _sent(example: Example) -> Json:
    return {**example.query, **example.path_values}


def _sort(operation: AnyOperation) -> str:
    first, *others = operation.sorts
    return ",".join((f"-{first}", *others[:1]))


def _next_part(operation: AnyOperation) -> Any:
    """The `next_cursor` in the example answer of a resource that is read in parts."""
    example = example_of(operation.name)
    return None if example is None else _object(_object(example.answer.body).get("data")).get("next_cursor")


def _answered(operation: AnyOperation, name: str, example: Example) -> Any:
    """The value of a filter's field in the first entry of the operation's example answer."""
    mark = filter_of(operation.takes.model_fields[name])
    entries = _object(example.answer.body).get("data")
    if mark is None or not isinstance(entries, list):
        return None
    entry = _object(_first(cast("list[Any]", entries)))
    return entry.get(name, entry.get(mark.column))


def _choice(shape: Json) -> Any:
    inside = shape.get("items", shape)
    return inside.get("const", _first(inside.get("enum")))


def _elsewhere(name: str, wire: str) -> Iterator[Any]:
    """Values of the same name in requests and answers of other operations' examples."""
    for operation in OPERATIONS.values():
        example = example_of(operation.name)
        if example is None:
            continue
        if name == "cursor":
            yield _object(_object(example.answer.body).get("pagination")).get("next_cursor")
        elif name == "idempotency_key":
            yield example.headers.get("Idempotency-Key")
        else:
            yield _sent(example).get(wire)
            yield _object(_object(example.answer.body).get("data")).get(name)


def _typed(value: Any, shape: Json) -> Any:
    """Text from a query, converted to its JSON type."""
    kind = shape.get("type")
    if kind == "array" and not isinstance(value, list):
        return str(value).split(",")
    if not isinstance(value, str):
        return cast("object", value)
    if kind == "integer":
        return int(value)
    if kind == "number":
        return float(value)
    return value == "true" if kind == "boolean" else value


def _first(values: list[Any] | None) -> Any:
    return values[0] if values else None


def _object(value: Any) -> Json:
    return cast("Json", value) if isinstance(value, dict) else {}
