"""Takes an answer's data out of its envelope, whatever that looks like. Nothing is renamed and nothing is added."""

from typing import Any, cast

from callwright.contract.declaration.operation import AnyOperation

Json = dict[str, Any]

_LIST_NAMES = ("items", "results", "records", "entries")


def data_in(operation: AnyOperation, whole: Any) -> Json:
    """The resource, or for a list `{"data": [...]}` with the other fields of the envelope, for example `pagination`."""
    return _list(operation, whole) if operation.shape == "many" else _single(whole)


def without_nulls(value: Any) -> Any:
    """JSON without the fields that are null, at any depth."""
    if isinstance(value, dict):
        entries = cast("Json", value)
        return {name: without_nulls(entry) for name, entry in entries.items() if entry is not None}
    if isinstance(value, list):
        return [without_nulls(entry) for entry in cast("list[Any]", value)]
    return value


def _single(whole: Any) -> Json:
    """A resource, with or without an envelope. Other fields of the envelope are kept beside the resource's own."""
    if not isinstance(whole, dict):
        return {"data": whole}
    body = cast("Json", whole)
    inner = body.get("data")
    if not isinstance(inner, dict) or "id" in body:
        return body
    beside = {name: value for name, value in body.items() if name != "data"}
    return {**beside, **cast("Json", inner)}


def _list(operation: AnyOperation, whole: Any) -> Json:
    entries, beside = _entries(operation, whole)
    return beside if entries is None else {"data": entries, **beside}


def _entries(operation: AnyOperation, whole: Any) -> tuple[list[Any] | None, Json]:
    if isinstance(whole, list):
        return cast("list[Any]", whole), {}
    if not isinstance(whole, dict):
        return None, {"data": whole}
    body = cast("Json", whole)
    inner = body.get("data")
    if isinstance(inner, dict):
        found, more = _entries(operation, inner)
        beside = {name: value for name, value in body.items() if name != "data"}
        return found, ({**beside, **more} if found is not None else body)
    lists = [name for name, value in body.items() if isinstance(value, list)]
    named = [name for name in ("data", operation.noun, *_LIST_NAMES) if name in lists]
    name = named[0] if named else (lists[0] if len(lists) == 1 else None)
    if name is None:
        return None, body
    return body[name], {other: value for other, value in body.items() if other != name}
