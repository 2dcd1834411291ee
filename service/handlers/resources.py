"""Resources of the contract, made from rows of the database."""

import json
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, get_origin

from callwright.contract.declaration.field_types import in_whole_seconds
from callwright.contract.declaration.model import Resource
from callwright.service.platform.clock.clock import moment_or_none

R = TypeVar("R", bound=Resource)


def resource(model: type[R], row: Any, /, **values: Any) -> R:
    """The resource of a row. `values` are the fields that are not a column of the same name.

    Milliseconds become a timestamp and JSON text becomes a list or object, as the contract declares the field.
    """
    for name, read in _readers(model):
        if name not in values and (value := getattr(row, name, _ABSENT)) is not _ABSENT:
            values[name] = value if read is None else read(value)
    return model(**values)


_ABSENT = object()


@cache
def _readers(model: type[Resource]) -> list[tuple[str, Callable[[Any], Any] | None]]:
    """Each field with how its column is read; None for a column that holds what is shown."""
    readers: list[tuple[str, Callable[[Any], Any] | None]] = []
    for name, field in model.model_fields.items():
        is_json = get_origin(field.annotation) in (dict, list)
        readers.append((name, moment_or_none if in_whole_seconds(field) else json.loads if is_json else None))
    return readers
