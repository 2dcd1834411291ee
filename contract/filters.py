"""Filters of lists: how a field becomes `filter[<name>]`, and the ones that many lists have."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field
from pydantic.fields import FieldInfo

from .model import Input
from .words import Timestamp


@dataclass(frozen=True)
class Filter:
    """Marks a query field as `filter[<name>]`. `test` says how it is held against the column."""

    column: str = ""
    test: Literal["equals", "from", "before"] = "equals"


def filter_of(field: FieldInfo) -> Filter | None:
    """The filter mark of a field, if it has one."""
    return next((mark for mark in field.metadata if isinstance(mark, Filter)), None)


class MadeBetween(Input):
    """When something was made."""

    created_from: Annotated[
        Timestamp | None, Field(description="Only those made at this moment or later."), Filter("created_at", "from")
    ] = None
    created_before: Annotated[
        Timestamp | None, Field(description="Only those made before this moment."), Filter("created_at", "before")
    ] = None
