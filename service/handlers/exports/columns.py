"""The columns of an export, read from the model of its rows.

A field is a column. One that is an object gives a column for each of its own fields, `cost_amount` for the amount of
`cost`; a list or a mapping is JSON in one cell, and an empty one an empty cell.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_origin

import orjson
from pydantic.fields import FieldInfo

from callwright.contract.declaration.field_types import in_whole_seconds
from callwright.contract.declaration.marks import Untrusted, untrusted_mark
from callwright.contract.declaration.model import Resource
from callwright.service.platform.phone import masked
from callwright.service.platform.table_columns import Cells, Column, ColumnKind

_KINDS: dict[Any, ColumnKind] = {bool: "truth", int: "integer", float: "number"}
Shown = Mapping[str, Any]
"""A row as it is in JSON."""


@dataclass(frozen=True)
class _Field:
    """Where a column's value stands in the JSON of a row."""

    column: Column
    path: tuple[str, ...]
    is_json: bool
    untrusted: Untrusted | None


@dataclass(frozen=True)
class ExportColumns:
    """The columns of a kind of row, and how a row becomes cells."""

    columns: tuple[Column, ...]
    cells: Callable[[Shown], Cells]


@cache
def columns_of(model: type[Resource], *, is_masked: bool) -> ExportColumns:
    """The columns of rows of this model.

    `is_masked`: numbers of people have their middle masked, and what others say or write is left out.
    """
    found = [
        field
        for field in _fields(model, "", ())
        if not is_masked or field.untrusted is None or field.untrusted.kind == "number"
    ]

    def cells(row: Shown) -> Cells:
        return tuple(_cell(field, row, is_masked) for field in found)

    return ExportColumns(tuple(field.column for field in found), cells)


def _fields(model: type[Resource], prefix: str, path: tuple[str, ...]) -> Iterator[_Field]:
    for name, field in model.model_fields.items():
        wire = field.serialization_alias or name
        inner = _plain(field.annotation)
        if isinstance(inner, type) and issubclass(inner, Resource):
            yield from _fields(inner, f"{prefix}{wire}_", (*path, wire))
            continue
        is_json = get_origin(inner) in (list, dict)
        yield _Field(
            Column(f"{prefix}{wire}", _kind(field, inner)), (*path, wire), is_json, untrusted_mark(model, name)
        )


def _plain(annotation: Any) -> Any:
    """A type without its marks and without None."""
    while True:
        if get_origin(annotation) is Annotated:
            annotation = get_args(annotation)[0]
            continue
        rest = [part for part in get_args(annotation) if part is not type(None)]
        if get_origin(annotation) in (list, dict, Literal) or len(rest) != 1:
            return annotation
        annotation = rest[0]


def _kind(field: FieldInfo, inner: Any) -> ColumnKind:
    return "moment" if in_whole_seconds(field) else _KINDS.get(inner, "text")


def _cell(field: _Field, row: Shown, is_masked: bool) -> Any:
    value: Any = row
    for name in field.path:
        if value is None:
            return None
        value = value.get(name)
    if field.is_json:
        return orjson.dumps(value).decode() if value else None
    mark = field.untrusted
    if is_masked and mark is not None and value and mark.call_type in (None, row.get("call_type")):
        return masked(value)
    return value
