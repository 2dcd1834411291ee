"""Compact JSON Schema."""

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from callwright.contract.model import Input, Part, Resource
from callwright.contract.pagination import Page
from callwright.tools.schema import input_schema, output_schema


class Policy(Part):
    """How often."""

    times: Annotated[int, Field(ge=1, description="How many.")] = 3


class Asked(Input):
    """What is asked."""

    name: Annotated[str, Field(max_length=5, description="A name.", examples=["a"])]
    note: Annotated[str | None, Field(description="A note.")] = None
    policy: Policy | None = None
    kept: Policy = Policy()
    kind: Annotated[Literal["a", "b"], Field(description="A kind.")] = "a"
    row: Annotated[dict[str, JsonValue], Field(description="Anything.")] = {}


class Inner(Resource):
    """Inside."""

    label: str | None
    count: int


class Given(Resource):
    """What is given."""

    id: str
    inner: Inner | None
    many: list[Inner]
    policy: Policy


def test_input_inlines_references_and_drops_null_titles_and_examples() -> None:
    policy = {
        "type": "object",
        "description": "How often.",
        "additionalProperties": False,
        "properties": {"times": {"type": "integer", "minimum": 1, "default": 3, "description": "How many."}},
    }
    assert input_schema(Asked, words={"name": "Another."}) == {
        "type": "object",
        "additionalProperties": False,
        "required": ["name"],
        "properties": {
            "name": {"type": "string", "maxLength": 5, "description": "Another."},
            "note": {"type": "string", "description": "A note."},
            "policy": policy,
            "kept": policy,
            "row": {"type": "object", "additionalProperties": True, "description": "Anything."},
            "kind": {"type": "string", "enum": ["a", "b"], "default": "a", "description": "A kind."},
        },
    }


def test_output_does_not_require_what_may_be_null_and_hides_the_inside_of_inputs() -> None:
    inner = {
        "type": "object",
        "properties": {"label": {"type": "string"}, "count": {"type": "integer"}},
        "required": ["count"],
    }
    assert output_schema(Given, brief=False) == {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "inner": inner,
            "many": {"type": "array", "items": inner},
            "policy": {"type": "object"},
        },
        "required": ["id", "many", "policy"],
    }


def test_a_brief_list_names_the_fields_of_its_entries_alone() -> None:
    schema = output_schema(Page[Given], brief=True)
    assert schema["properties"]["data"]["items"]["properties"] == {
        "id": {"type": "string"},
        "inner": {"type": "object"},
        "many": {"type": "array"},
        "policy": {"type": "object"},
    }
    assert schema["properties"]["pagination"]["required"] == ["page", "per_page", "total", "has_more"]
