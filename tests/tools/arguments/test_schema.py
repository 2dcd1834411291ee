"""Compact JSON Schema."""

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from callwright.contract.declaration.model import Input, Part, Resource
from callwright.tools.arguments.schema import input_schema, list_schema, output_schema


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
        "properties": {"times": {"type": "integer", "default": 3, "description": "How many."}},
    }
    found = input_schema(Asked, descriptions={"name": "Another.", "policy.times": "Times."})
    assert found == {
        "type": "object",
        "required": ["name"],
        "additionalProperties": False,
        "properties": {
            "name": {"type": "string", "description": "Another."},
            "note": {"type": "string", "description": "A note."},
            "policy": policy | {"properties": {"times": {"type": "integer", "default": 3, "description": "Times."}}},
            "kept": policy,
            "row": {"type": "object", "additionalProperties": True, "description": "Anything."},
            "kind": {"type": "string", "enum": ["a", "b"], "default": "a", "description": "A kind."},
        },
    }


def test_input_holds_what_is_offered_and_of_flat_arguments_their_words_alone() -> None:
    found = input_schema(Asked, descriptions={}, offered=("policy", "row"), collapsed=("policy",))
    assert found["properties"] == {
        "policy": {"type": "object", "description": "How often."},
        "row": {"type": "object", "additionalProperties": True, "description": "Anything."},
    }


def test_output_requires_nothing_and_hides_the_inside_of_inputs() -> None:
    inner = {"type": "object", "properties": {"label": {"type": "string"}, "count": {"type": "integer"}}}
    properties = {
        "id": {"type": "string"},
        "inner": inner,
        "many": {"type": "array", "items": inner},
        "policy": {"type": "object"},
    }
    assert output_schema(Given, brief=False) == {"type": "object", "properties": properties}
    told = output_schema(Given, brief=True, omitted=("policy", "many"))
    assert told["properties"] == {"id": {"type": "string"}, "inner": {"type": "object"}}
    assert told["description"]


def test_a_list_names_the_fields_that_its_entries_have_by_default() -> None:
    schema = list_schema(Given, default_fields=("id", "many"))
    assert schema["properties"]["data"]["items"] == {"type": "object", "description": "id, many."}


class Ring(Part):
    """Rings."""

    type: Literal["ring"]
    name: str
    tones: list[int] = []


class Wait(Part):
    """Waits."""

    type: Literal["wait"]
    name: str
    minutes: int | None = None
    anything: JsonValue = None


class Steps(Input):
    """Steps of several kinds."""

    steps: Annotated[list[Annotated[Ring | Wait, Field(discriminator="type")]], Field(description="In order.")]


def test_a_collapsed_list_of_several_kinds_names_the_kinds() -> None:
    found = input_schema(Steps, descriptions={}, collapsed=("steps",))["properties"]["steps"]
    inside = {"type": "object", "description": "Its type: ring, wait."}
    assert found == {"type": "array", "description": "In order.", "items": inside}
