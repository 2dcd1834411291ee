"""Filters of lists: how a field becomes `filter[<name>]`, and the ones that many lists have."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.fields import FieldInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from callwright.contract.declaration.field_types import MAX_ID, Timestamp
from callwright.contract.declaration.marks import PERSONAL, OwnText
from callwright.contract.declaration.model import Input

Value = TypeVar("Value")
MOST_VALUES = 100
"""Values of one filter."""
FilterText = Annotated[OwnText, Field(max_length=MAX_ID)]
"""A value of a filter: an id, a name, a word."""
PersonalFilter = Annotated[FilterText, PERSONAL]
"""As `FilterText`, with the number of a person, or what the caller knows them by."""
Several = Annotated[list[Value], Field(max_length=MOST_VALUES)]
"""The values of a filter that takes several."""


@dataclass(frozen=True)
class Filter:
    """Marks a query field as `filter[<name>]`. `test` says how it is held against the column."""

    column: str = ""
    test: Literal["equals", "from", "before", "words"] = "equals"
    """`words`: each word begins a word of the column, without case and accents."""


@dataclass(frozen=True)
class OneOrSeveral:
    """Marks a filter of type `str | list[str] | None`, or with a choice of words in place of `str`.

    A caller gives one value or several. It is described as a list and always holds one.
    """

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(_listed, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        described = handler(schema)
        several = [branch for branch in described["anyOf"] if branch.get("type") == "array"]
        return {**described, "anyOf": [*several, {"type": "null"}]}


OneOrMore = Annotated[Value | Several[Value] | None, Filter(), OneOrSeveral()]
"""The field of a filter for which a caller gives one value or several."""
Choices = Annotated[Several[Value] | None, Filter()]
"""The field of a filter for which a caller gives a list of values."""


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


def takes_several(field: FieldInfo) -> bool:
    return any(isinstance(mark, OneOrSeveral) for mark in field.metadata)


def filter_of(field: FieldInfo) -> Filter | None:
    return next((mark for mark in field.metadata if isinstance(mark, Filter)), None)


class MadeBetween(Input):
    """When something was made, in whole seconds, as lists show it."""

    created_from: Annotated[
        Timestamp | None,
        Field(description="Only those made at this moment or later, to the second."),
        Filter("created_at", "from"),
    ] = None
    created_before: Annotated[
        Timestamp | None,
        Field(description="Only those made before this moment, to the second."),
        Filter("created_at", "before"),
    ] = None
