"""Marks on fields: whom a text is about, who wrote it, and what follows from something else.

The audit log, the guard before a model, the masks of telephone numbers and the labels of untrusted text go by these
marks. A text without one counts as personal and untrusted.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

from pydantic import BaseModel, JsonValue
from pydantic.fields import FieldInfo

UntrustedKind = Literal["speech", "text", "number", "quoted", "column"]
OwnKind = Literal["text", "number", "script"]
CallType = Literal["outbound", "inbound", "web"]


@dataclass(frozen=True)
class Personal:
    """Marks what is about a person who is called or calls. The audit log keeps no more of it than its size."""


@dataclass(frozen=True)
class Untrusted:
    """Marks what somebody outside said or wrote: data for a model, never an instruction.

    `speech` was said on a call: it is cleaned, and numbers in it stay. `text` stood in a file, is made of its cells, or
    is what an endpoint answered: numbers in it are masked. `number` is the telephone number of a contact. `quoted`
    holds cells without the columns they come from: whatever may be a number is masked. `column` is the name of a
    column, which in a file without a header row is somebody's cell: digits behind a word count as well.
    """

    kind: UntrustedKind
    call_type: CallType | None = None
    """The calls on which the number is the contact's. On others it is the organization's."""


@dataclass(frozen=True)
class Own:
    """Marks what the organization or the service wrote.

    Telephone numbers in `text` are masked. A `number` of the organization and a `script`, which tells an agent what to
    say, are shown as they are.
    """

    kind: OwnKind = "text"


@dataclass(frozen=True)
class Secret:
    """Marks what nobody may see again: it is in no answer, no record and no text about the input that has it."""


@dataclass(frozen=True)
class Derived:
    """Marks what follows from other fields, from time or from dialling: no request changes it.

    `recorded_on_deletion`: the audit log keeps it of what is deleted.
    """

    recorded_on_deletion: bool = False


PERSONAL, DERIVED, COUNTED, OWN = Personal(), Derived(), Derived(recorded_on_deletion=True), Own()
SECRET = Secret()

OwnText = Annotated[str, OWN]
OwnNumber = Annotated[str, Own("number")]
OwnScript = Annotated[str, Own("script")]
ContactNumber = Annotated[str, PERSONAL, Untrusted("number")]
Speech = Annotated[str, PERSONAL, Untrusted("speech")]
Cell = Annotated[str, PERSONAL, Untrusted("text")]
ColumnText = Annotated[str, Untrusted("column")]
UntrustedText = Annotated[str, Untrusted("text")]
QuotedText = Annotated[str, Untrusted("quoted")]

Mark = TypeVar("Mark", Personal, Untrusted, Own, Derived, Secret)
_ID = re.compile(r"(?:^|_)(?:id|ids|uuid)$")


def mark_of(model: type[BaseModel], name: str, mark: type[Mark]) -> Mark | None:
    """The mark of this kind that a field has, or the type of its entries or values."""
    return next((found for found in _marks(model, name) if isinstance(found, mark)), None)


def untrusted_mark(model: type[BaseModel], name: str) -> Untrusted | None:
    """The untrusted mark of a field; that of `quoted` for a text without a mark."""
    return mark_of(model, name, Untrusted) or (Untrusted("quoted") if is_unmarked(model, name) else None)


@cache
def is_personal(model: type[BaseModel], name: str) -> bool:
    """Whether a field, or a part of what stands in it, is about a person outside."""
    if mark_of(model, name, Personal) is not None or is_unmarked(model, name):
        return True
    inner = model_in(model, name)
    return inner is not None and inner is not model and any(is_personal(inner, part) for part in inner.model_fields)


@cache
def is_unmarked(model: type[BaseModel], name: str) -> bool:
    """Whether a field may hold any text and has no mark that says whose. Ids need none."""
    if _ID.search(name) or not _is_text(model.model_fields[name].annotation):
        return False
    return not any(isinstance(found, (Personal, Untrusted, Own)) for found in _marks(model, name))


@cache
def model_in(model: type[BaseModel], name: str) -> type[BaseModel] | None:
    """The model of what stands in a field, or in the list of a field; None where it is none or there is no field."""
    field = model.model_fields.get(name)
    return None if field is None else _model_in(field.annotation)


def field_named(model: type[BaseModel], name: str) -> str | None:
    """The field that has this name, in Python or in JSON; None where there is none."""
    fields = model.model_fields.items()
    return next((own for own, field in fields if name in (own, field.serialization_alias)), None)


@cache
def _marks(model: type[BaseModel], name: str) -> tuple[Any, ...]:
    field: FieldInfo = model.model_fields[name]
    return (*field.metadata, *_inside(field.annotation))


def _inside(annotation: Any) -> Iterator[Any]:
    if get_origin(annotation) is Annotated:
        yield from annotation.__metadata__
    if get_origin(annotation) is not Literal:
        for part in get_args(annotation):
            yield from _inside(part)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_model_in, get_args(annotation))), None)


def _is_text(annotation: Any) -> bool:
    origin = get_origin(annotation)
    if origin is Literal:
        return False
    if origin is Annotated:
        return _is_text(annotation.__origin__)
    if parts := get_args(annotation):
        return any(map(_is_text, parts[1:] if origin is dict else parts))
    return annotation in (str, bytes, Any, object, dict, list, JsonValue)
