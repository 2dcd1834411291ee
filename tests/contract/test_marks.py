"""Each text of the contract is marked: whom it is about, and who wrote it."""

from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field, JsonValue

from callwright.contract.declaration.marks import (
    DERIVED,
    Own,
    OwnText,
    Untrusted,
    is_personal,
    is_unmarked,
    mark_of,
    model_in,
    untrusted_mark,
)
from callwright.contract.declaration.model import Resource
from callwright.contract.declaration.pagination import Page
from callwright.contract.events import EVENT_TYPES
from callwright.contract.surface import OPERATIONS
from callwright.service.rest.audit.fields import fields_of
from callwright.tools.untrusted.guarded_answers import guarded


def reached(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """The model, and those of its parts."""
    yield model
    for name in model.model_fields:
        if (inner := model_in(model, name)) is not None:
            yield from reached(inner)


def models() -> list[type[BaseModel]]:
    """What every operation takes and gives, what every event holds, and all parts of them."""
    given = [operation.item for operation in OPERATIONS.values() if operation.item is not None]
    taken = [operation.takes for operation in OPERATIONS.values()]
    events = [event.data for event in EVENT_TYPES.values()]
    found = {part for model in (*given, *taken, *events, Page[Resource]) for part in reached(model)}
    return sorted(found, key=lambda model: f"{model.__module__}.{model.__name__}")


def test_every_text_has_a_mark() -> None:
    assert len(models()) > 100
    unmarked = [
        f"{model.__name__}.{name}" for model in models() for name in model.model_fields if is_unmarked(model, name)
    ]
    assert unmarked == []


def test_no_text_is_the_organizations_own_and_foreign() -> None:
    both = [
        f"{model.__name__}.{name}"
        for model in models()
        for name in model.model_fields
        if mark_of(model, name, Own) is not None and mark_of(model, name, Untrusted) is not None
    ]
    assert both == []


def test_marks_do_not_show_in_json_schema() -> None:
    class Marked(Resource):
        text: Annotated[OwnText | None, Field(max_length=5), DERIVED] = None

    class Plain(Resource):
        text: Annotated[str | None, Field(max_length=5)] = None

    schemas = [{**model.model_json_schema(), "title": ""} for model in (Marked, Plain)]
    assert schemas[0] == schemas[1]


class Unmarked(Resource):
    """What somebody declares who knows of no marks."""

    id: str = "x_1"
    deployment_ids: list[str] = []
    count: int = 0
    note: str | None = "ring (202) 555-0100"
    notes: Annotated[list[Annotated[str, Field(max_length=99)]], Field(max_length=9)] = ["202 555 0100"]
    by_name: dict[str, str] = {"a": "2025550100"}
    counts: dict[str, int] = {}
    anything: Any = "2025550100"
    cells: dict[str, JsonValue] = {"a": "2025550100"}


UNMARKED = {"note", "notes", "by_name", "anything", "cells"}


def test_a_text_without_a_mark_is_found_however_it_is_declared() -> None:
    assert {name for name in Unmarked.model_fields if is_unmarked(Unmarked, name)} == UNMARKED


@pytest.mark.parametrize("name", sorted(UNMARKED))
def test_a_text_without_a_mark_counts_as_personal_and_foreign(name: str) -> None:
    assert is_personal(Unmarked, name)
    assert untrusted_mark(Unmarked, name) == Untrusted("quoted")
    assert name in fields_of(Unmarked).personal
    assert "555" not in str(getattr(guarded(Unmarked(), masks=True), name))


def test_what_has_a_personal_part_is_personal() -> None:
    class Outer(Resource):
        parts: list[Unmarked]
        count: int

    assert fields_of(Outer).personal == {"parts"}
