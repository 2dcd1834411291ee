"""What a service's OpenAPI document says about its operations."""

from typing import Any

import pytest

from callwright.client.compat.description import MOST_FIELDS, extra_properties, routes
from callwright.contract.agents.agents import create_agent, list_agents, update_agent
from callwright.contract.deployments.deployments import create_deployment, start_deployment
from callwright.contract.phone_numbers import list_phone_numbers, rent_phone_number
from callwright.service.rest.documentation.openapi import describe

SAID = "Only this service has it."


def posting(path: str, schema: Any, *, method: str = "post", **components: Any) -> dict[str, Any]:
    """A document with one operation whose body has this schema."""
    body = {"content": {"application/json": {"schema": schema}}}
    return {"paths": {path: {method: {"requestBody": body}}}, "components": components}


def fields(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize("prefix", ["", "/v1", "/api/v1", "/rest", "/voice/v2"])
@pytest.mark.parametrize("path", ["/phone_numbers", "/phone-numbers"])
def test_an_operation_is_found_with_any_prefix_and_spelling(prefix: str, path: str) -> None:
    document = posting(prefix + path, fields(country={"type": "string"}, tier={"type": "string"}))
    found = routes(document, base_path="/rest")
    assert found == {"rent_phone_number": path[1:]}
    assert list(extra_properties(document, rent_phone_number, base_path="/rest")) == ["tier"]


@pytest.mark.parametrize("path", ["/admin/agents", "/agents/archive", "/v1/agents/x", "/old/agents"])
def test_another_path_is_another_operation(path: str) -> None:
    assert routes(posting(path, fields(x={"type": "string"}))) == {}
    assert extra_properties(posting(path, fields(x={})), create_agent) == {}


def test_variables_of_paths_may_have_other_names() -> None:
    document = posting("/v1/agents/{agentId}", fields(mood={"type": "string"}), method="patch")
    assert list(routes(document)) == ["update_agent"]
    assert list(extra_properties(document, update_agent)) == ["mood"]


def test_only_unknown_fields_that_can_be_given_are_extra() -> None:
    body = fields(
        name={"type": "string"},
        **{"voice-id": {"type": "string"}, "mood": {"type": "string"}, "not a name": {}, "__class__": {}},
        made_at={"type": "string", "readOnly": True},
    )
    assert list(extra_properties(posting("/agents", body), create_agent)) == ["mood"]


def test_the_schema_is_small_and_says_whose_it_is() -> None:
    body = fields(
        mood={
            "type": "string",
            "nullable": True,
            "enum": ["kind", "stern"],
            "description": "How it speaks.",
            "default": "kind",
            "example": "x",
            "x-internal": True,
            "maxLength": 5,
        },
        speed={"type": ["number", "null"], "minimum": 0.5},
    )
    body["required"] = ["speed"]
    found = extra_properties(posting("/agents", body), create_agent)
    assert found["mood"] == {
        "type": ["string", "null"],
        "enum": ["kind", "stern"],
        "description": f"How it speaks. {SAID}",
        "default": "kind",
        "maxLength": 5,
    }
    assert found["speed"] == {"type": ["number", "null"], "minimum": 0.5, "description": f"{SAID} Required."}


def test_references_are_followed_to_bodies_schemas_and_fields() -> None:
    document: dict[str, Any] = {
        "paths": {"/v1/deployments": {"$ref": "#/components/pathItems/deployments"}},
        "components": {
            "pathItems": {"deployments": {"post": {"requestBody": {"$ref": "#/components/requestBodies/make"}}}},
            "requestBodies": {
                "make": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Make~1It"}}}}
            },
            "schemas": {
                "Make/It": fields(window={"$ref": "#/components/schemas/Window", "description": "When."}),
                "Window": fields(begin={"type": "string"}, zone={"$ref": "#/components/schemas/Zone"}),
                "Zone": {"type": "string", "enum": ["UTC"]},
            },
        },
    }
    assert extra_properties(document, create_deployment) == {
        "window": {
            "type": "object",
            "description": f"When. {SAID}",
            "properties": {"begin": {"type": "string"}, "zone": {"type": "string", "enum": ["UTC"]}},
        }
    }


def test_the_parts_of_a_body_are_put_together() -> None:
    schema = {
        "allOf": [
            {"$ref": "#/components/schemas/Base"},
            {**fields(mood={"type": "string"}), "required": ["mood"]},
            {"oneOf": [fields(pitch={"type": "number"}), fields(tone={"type": "string"})]},
        ]
    }
    document = posting("/agents", schema, schemas={"Base": fields(name={}, origin={"type": "string"})})
    found = extra_properties(document, create_agent)
    assert sorted(found) == ["mood", "origin", "pitch", "tone"]
    assert found["mood"]["description"] == f"{SAID} Required."


def test_lists_and_choices_are_shown() -> None:
    body = fields(
        tags={"type": "array", "items": {"type": "string"}},
        either={"anyOf": [{"type": "string"}, {"type": "object", "properties": {"a": {"type": "integer"}}}]},
    )
    found = extra_properties(posting("/agents", body), create_agent)
    assert found["tags"]["items"] == {"type": "string"}
    assert found["either"]["anyOf"][1] == {"type": "object", "properties": {"a": {"type": "integer"}}}


def test_an_action_without_a_body_in_the_contract_may_have_one() -> None:
    document = posting("/v1/deployments/{id}/start", fields(note={"type": "string"}))
    assert list(extra_properties(document, start_deployment)) == ["note"]


def test_reading_gains_nothing() -> None:
    document = posting("/v1/agents", fields(x={}), method="get")
    assert extra_properties(document, list_agents) == {}
    assert list(routes(document)) == ["list_agents"]


def circle() -> dict[str, Any]:
    return posting(
        "/agents",
        {"$ref": "#/components/schemas/A"},
        schemas={"A": fields(inner={"$ref": "#/components/schemas/A"}), "B": {"$ref": "#/components/schemas/B"}},
    )


def wide() -> dict[str, Any]:
    node: dict[str, Any] = {"type": "string"}
    for _ in range(8):
        node = {"type": "object", "properties": {f"f{number}": node for number in range(60)}}
    return posting("/agents", node)


def branching() -> dict[str, Any]:
    node: dict[str, Any] = fields(x={"type": "string"})
    for _ in range(12):
        node = {"allOf": [node] * 60}
    return posting("/agents", node)


@pytest.mark.parametrize("document", [circle(), wide(), branching()], ids=["circle", "wide", "branching"])
def test_a_document_without_end_is_read_within_bounds(document: dict[str, Any]) -> None:
    found = extra_properties(document, create_agent)
    assert len(found) <= MOST_FIELDS
    assert len(str(found)) < 40_000


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"paths": []},
        {"paths": {"/agents": 3}},
        {"paths": {"/agents": {"post": []}}},
        {"paths": {"/agents": {"post": {"requestBody": {"content": {"application/json": 7}}}}}},
        {"paths": {"/agents": {"post": {"requestBody": {"$ref": "https://other.example/body"}}}}},
        {"paths": {"/agents": {"post": {"requestBody": {"$ref": "#/nowhere/at/all"}}}}},
        posting("/agents", {"$ref": "#/components/schemas/B"}, schemas={"B": {"$ref": "#/components/schemas/B"}}),
        posting("/agents", {"properties": ["a"], "required": "a", "allOf": {}}),
        posting("/agents", {"properties": {"a": {"type": "colour", "enum": [[1]], "items": 4}}}),
    ],
)
def test_a_document_that_makes_no_sense_is_read_without_harm(document: dict[str, Any]) -> None:
    routes(document)
    extra_properties(document, create_agent)


def test_callwrights_own_document_adds_nothing() -> None:
    document = describe()
    assert extra_properties(document, create_agent) == {}
    assert extra_properties(document, create_deployment) == {}
    assert routes(document)["list_phone_numbers"] == list_phone_numbers.path[1:]
