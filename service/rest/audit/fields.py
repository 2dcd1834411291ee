"""How the audit log records each field, according to its marks in the contract."""

from dataclasses import dataclass
from functools import cache

from pydantic import BaseModel

from callwright.contract.declaration.marks import Derived, Own, Secret, is_personal, mark_of


@dataclass(frozen=True)
class AuditedFields:
    """The fields of a model that are not recorded as they are, by their names in JSON."""

    personal: frozenset[str] = frozenset()
    """Fields about other people: at most their size is recorded."""
    derived: frozenset[str] = frozenset()
    """Fields that no request can change; they are not recorded."""
    counted: frozenset[str] = frozenset()
    """Counters that change by themselves: recorded only when the thing is deleted."""
    own_numbers: frozenset[str] = frozenset()
    """Numbers that the organization rents: the only ones that are not masked."""
    secret: frozenset[str] = frozenset()
    """Fields of which only that they were given is recorded."""


@cache
def fields_of(model: type[BaseModel]) -> AuditedFields:
    fields = {name: field.serialization_alias or name for name, field in model.model_fields.items()}
    derived = {name: mark for name in fields if (mark := mark_of(model, name, Derived)) is not None}
    own = {name: mark for name in fields if (mark := mark_of(model, name, Own)) is not None}
    return AuditedFields(
        personal=frozenset(wire for name, wire in fields.items() if is_personal(model, name)),
        derived=frozenset(fields[name] for name, mark in derived.items() if not mark.recorded_on_deletion),
        counted=frozenset(fields[name] for name, mark in derived.items() if mark.recorded_on_deletion),
        own_numbers=frozenset(fields[name] for name, mark in own.items() if mark.kind == "number"),
        secret=frozenset(wire for name, wire in fields.items() if mark_of(model, name, Secret) is not None),
    )
