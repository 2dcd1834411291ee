"""The served description of the API, held against the contract."""

from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

import pytest

from callwright.contract.events import EVENT_TYPES
from callwright.contract.operation import AnyOperation
from callwright.contract.problems import EVERYWHERE
from callwright.contract.surface import OPERATIONS
from callwright.service.http.openapi import describe, document
from tests.service.doors import open_service
from tests.service.wire import by_hand

DESCRIPTION = describe()
COUNTRY = "filter[country]"
"""The only query parameter that must be sent."""


def entry_of(operation: AnyOperation) -> dict[str, Any]:
    """What the description says of an operation."""
    return DESCRIPTION["paths"][f"/v1{operation.path}"][operation.method.lower()]


def references(value: object) -> Iterator[str]:
    """Every reference in a piece of the description."""
    if isinstance(value, dict):
        for name, part in cast("dict[str, object]", value).items():
            if name == "$ref":
                yield str(part)
            yield from references(part)
    elif isinstance(value, list):
        for part in cast("list[object]", value):
            yield from references(part)


async def test_the_description_is_served_without_a_key(database_url: str, tmp_path: Path) -> None:
    async with open_service(database_url, tmp_path, workers=False) as door, by_hand(door, key=None) as http:
        answer = await http.get("/openapi.json")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.content == document()
    served = answer.json()
    assert served == DESCRIPTION
    assert served["openapi"] == "3.1.0"
    assert served["info"]["version"] == version("callwright")


def test_it_holds_the_operations_of_the_contract_and_no_other() -> None:
    described = {
        (method.upper(), path, entry["operationId"])
        for path, methods in DESCRIPTION["paths"].items()
        for method, entry in methods.items()
    }
    assert described == {(op.method, f"/v1{op.path}", op.name) for op in OPERATIONS.values()}


@pytest.mark.parametrize("name", list(OPERATIONS))
def test_an_operation_is_described_with_every_field_where_it_travels(name: str) -> None:
    operation = OPERATIONS[name]
    entry = entry_of(operation)
    places = {(parameter["name"], parameter["in"]) for parameter in entry["parameters"]}
    fields = operation.takes.model_fields
    expected = {(operation.wire_name(f), operation.place_of(f)) for f in fields if operation.place_of(f) != "body"}
    if operation.method == "POST":
        expected.add(("Idempotency-Key", "header"))
    assert places == expected
    assert len(entry["parameters"]) == len(places)
    required = {operation.wire_name(f) for f in fields if fields[f].is_required()}
    for parameter in entry["parameters"]:
        needed = parameter["in"] == "path" or parameter["name"] in required
        assert parameter["required"] is needed
        assert "null" not in str(parameter["schema"].get("type"))
    body_fields = {f for f in fields if operation.place_of(f) == "body"}
    assert ("requestBody" in entry) == bool(body_fields)
    if body_fields:
        schema = entry["requestBody"]["content"]["application/json"]["schema"]
        assert set(schema["properties"]) == body_fields
        assert set(schema.get("required", ())) == {f for f in body_fields if fields[f].is_required()}
        assert schema["additionalProperties"] is False


@pytest.mark.parametrize("name", list(OPERATIONS))
def test_an_operation_is_described_with_its_answers(name: str) -> None:
    operation = OPERATIONS[name]
    responses = entry_of(operation)["responses"]
    success = responses[str(operation.status)]
    assert [status for status in responses if status.startswith("2")] == [str(operation.status)]
    if operation.shape == "nothing":
        assert "content" not in success
    elif operation.shape == "media":
        assert set(success["content"]) == set(operation.media_types)
    else:
        schema = success["content"]["application/json"]["schema"]
        assert schema["required"] == (["data", "pagination"] if operation.shape == "many" else ["data"])
    for problem in (*operation.problems, *EVERYWHERE):
        assert f"`{problem.code}`" in responses[str(problem.status)]["description"], problem.code
    assert ("idempotency_key_reused" in str(responses)) == (operation.method == "POST")


def test_no_reference_leads_nowhere_and_no_schema_lies_about() -> None:
    schemas = DESCRIPTION["components"]["schemas"]
    known = {f"#/components/schemas/{name}" for name in schemas}
    used = set(references(DESCRIPTION))
    assert used <= known, used - known
    assert known <= used, known - used


def test_every_event_is_described_with_its_data() -> None:
    assert set(DESCRIPTION["webhooks"]) == set(EVENT_TYPES)
    for name, event in EVENT_TYPES.items():
        assert f"#/components/schemas/{event.data.__name__}" in set(references(DESCRIPTION["webhooks"][name]))


def test_flat_problems_are_described_as_flat() -> None:
    responses = entry_of(OPERATIONS["get_wallet"])["responses"]
    for status, model in (("401", "FlatProblem"), ("403", "FlatProblem"), ("400", "Problem"), ("500", "Problem")):
        schema = responses[status]["content"]["application/json"]["schema"]
        assert schema == {"$ref": f"#/components/schemas/{model}"}, status
