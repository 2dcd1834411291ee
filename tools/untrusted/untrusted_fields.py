"""Finds the fields of an answer that came from outside, by their marks in the contract."""

from collections.abc import Iterator, Mapping
from functools import cache

from pydantic import BaseModel

from callwright.contract.declaration.marks import (
    CallType,
    Own,
    Untrusted,
    UntrustedKind,
    field_named,
    mark_of,
    model_in,
    untrusted_mark,
)

Rules = Mapping[str, UntrustedKind | type[BaseModel]]

CONVERSATIONS = frozenset({"transcript", "turns", "messages", "segments", "utterances"})
"""Names that other services give to fields with what was said on a call."""
_RENTED = frozenset({"e164", "phone_number", "phoneNumber"})
"""Names that other services give to fields with a number that an organization rents."""


@cache
def untrusted_fields(model: type[BaseModel], call_type: CallType = "outbound") -> Rules:
    """The fields of a model that came from outside, with their kind, or with their model if they have such fields
    inside.

    `call_type` is that of the answer, where it is a call.
    """
    found: dict[str, UntrustedKind | type[BaseModel]] = {}
    for name in model.model_fields:
        mark, inner = untrusted_mark(model, name), model_in(model, name)
        if mark is not None and mark.call_type in (None, call_type):
            found[name] = mark.kind
        elif inner is not None and untrusted_fields(inner):
            found[name] = inner
    return found


def untrusted_paths(model: type[BaseModel], within: type[BaseModel] | None = None) -> Iterator[str]:
    """The paths of text from outside in an answer, such as `turns.text`, without telephone numbers.

    `within` is the model of the shown part of the answer, if that is less.
    """
    for name, kind in untrusted_fields(model).items():
        if within is not None and name not in within.model_fields:
            continue
        if isinstance(kind, type):
            shown = None if within is None else model_in(within, name)
            yield from (f"{name}.{inner}" for inner in untrusted_paths(kind, shown))
        elif kind != "number":
            yield name


@cache
def is_about_a_contact(model: type[BaseModel]) -> bool:
    """Whether a model has the number of one person, and so the cells of their row."""
    return "number" in untrusted_fields(model).values()


@cache
def is_speech(model: type[BaseModel]) -> bool:
    """Whether a model holds what was said on a call, or a part of it."""
    kinds = untrusted_fields(model).values()
    parts = (kind for kind in kinds if isinstance(kind, type))
    return not is_about_a_contact(model) and ("speech" in kinds or any(map(is_speech, parts)))


@cache
def shows_whole(model: type[BaseModel], name: str, call_type: CallType = "outbound") -> bool:
    """Whether a field, by its name in Python or in JSON, shows the organization's numbers, or what its agents say."""
    field = field_named(model, name) or (field_named(model, "number") if name in _RENTED else None)
    if field is None:
        return False
    own, outside = mark_of(model, field, Own), mark_of(model, field, Untrusted)
    return own.kind != "text" if own is not None else outside is not None and outside.call_type not in (None, call_type)
