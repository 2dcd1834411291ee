"""Changes: what a PATCH may name, and what null means in it.

A field that is left out stays as it is. Null empties a field that may be empty, which `Clears` marks; no other field
takes it. The description, the tools and the service all read it here.
"""

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import GetJsonSchemaHandler, ValidationInfo, field_validator
from pydantic.fields import FieldInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from callwright.contract.declaration.model import Input
from callwright.contract.declaration.revisions import Expecting

_NULL: JsonSchemaValue = {"type": "null"}


@dataclass(frozen=True)
class Clears:
    """Marks a field that null empties. `to` is what it holds then: `text` none, `entries` none, or `nothing` at all."""

    to: Literal["text", "entries", "nothing"]

    def emptied(self) -> Any:
        empty: dict[str, Any] = {"text": "", "entries": {}, "nothing": None}
        return empty[self.to]


TO_NOTHING, TO_NO_TEXT, TO_NO_ENTRIES = Clears("nothing"), Clears("text"), Clears("entries")


def clears(field: FieldInfo) -> Clears | None:
    """How null empties a field; None where the field cannot be empty."""
    return next((mark for mark in field.metadata if isinstance(mark, Clears)), None)


class Changes(Input):
    """What to change. Fields that are left out stay as they are."""

    @classmethod
    def changing(cls) -> list[str]:
        """The fields that say what to change; a tool may take others beside them."""
        own = [base.__annotations__ for base in cls.__mro__ if issubclass(base, Changes)]
        return [name for name in cls.model_fields if any(name in each for each in own)]

    @classmethod
    def _left_out(cls) -> list[str]:
        """The fields that may be left out and are not null by that."""
        return [*cls.changing(), *(name for name in Expecting.model_fields if name in cls.model_fields)]

    @field_validator("*")
    @classmethod
    def _keeps_what_cannot_be_empty(cls, value: Any, info: ValidationInfo) -> Any:
        if value is None and info.field_name in cls._left_out() and clears(cls.model_fields[info.field_name]) is None:
            raise ValueError("cannot be null; leave it out to keep it as it is")
        return value

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        described = handler(schema)
        properties = handler.resolve_ref_schema(described)["properties"]
        for name in cls._left_out():
            field = cls.model_fields[name]
            # A default of null would have generated clients send it, and so empty what nobody named.
            properties[name] = {key: value for key, value in properties[name].items() if key != "default"}
            if clears(field) is None:
                properties[name] = _without_null(properties[name])
        return described

    def named(self) -> dict[str, Any]:
        """The fields that were named; a null stands as the empty value that it means."""
        found: dict[str, Any] = {}
        for name in self.model_fields_set.intersection(self.changing()):
            value, mark = getattr(self, name), clears(type(self).model_fields[name])
            found[name] = mark.emptied() if value is None and mark is not None else value
        return found


def _without_null(shape: JsonSchemaValue) -> JsonSchemaValue:
    kept = [branch for branch in shape.get("anyOf", ()) if branch != _NULL]
    if not kept:
        return shape
    around = {key: value for key, value in shape.items() if key != "anyOf"}
    return {**kept[0], **around} if len(kept) == 1 else {**around, "anyOf": kept}
