"""The served description of the API, held against the contract."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from callwright.contract.declaration.betas import BETA_FEATURES
from callwright.contract.declaration.operation import Deprecation
from callwright.contract.events import EVENT_TYPES
from callwright.contract.problems import PROBLEMS
from callwright.contract.surface import OPERATIONS
from callwright.service.rest.documentation.openapi import document
from callwright.service.rest.documentation.openapi.answers import successes
from callwright.service.rest.documentation.openapi.headers import LIMITS
from callwright.service.rest.documentation.openapi.openapi_document import operation_entry
from callwright.service.rest.documentation.openapi.problems import problems_of
from callwright.service.rest.documentation.openapi.schemas import contract_schemas
from tests.service.rest.documentation.description import DESCRIPTION, answers_of, entry_of, parameters_of, resolved
from tests.support.http.raw_requests import raw_client
from tests.support.service import Tenant

COMMITTED = Path(__file__).parents[4] / "docs" / "reference" / "openapi.json"
BEFORE_THE_KEY = {
    "payload_too_large",
    "request_timeout",
    "origin_not_allowed",
    "invalid_json",
    "api_key_required",
    "invalid_api_key",
}
"""Problems that are found before the key is: nothing is counted yet."""
MEDIA_HEADERS = {("Range", "header"), ("If-None-Match", "header"), ("If-Range", "header")}


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


@pytest.mark.requirement("VER-05", "VER-09")
async def test_the_description_is_served_without_a_key_and_is_the_committed_copy(tenant: Tenant) -> None:
    async with raw_client(tenant, key=None) as http:
        answer = await http.get("/openapi.json")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.content == document()
    assert answer.content == COMMITTED.read_bytes(), "run scripts/generate"
    assert answer.json() == DESCRIPTION
    assert DESCRIPTION["info"]["version"] == version("callwright")


@pytest.mark.requirement("VER-09")
def test_the_description_is_valid_openapi_3_1() -> None:
    assert DESCRIPTION["openapi"].startswith("3.1.")
    assert [error.message for error in OpenAPIV31SpecValidator(DESCRIPTION).iter_errors()] == []


def test_a_description_that_is_not_valid_is_found_out() -> None:
    broken = {**DESCRIPTION, "paths": {"/v1/agents/{id}": {"get": {"responses": {"200": {"description": ""}}}}}}
    assert list(OpenAPIV31SpecValidator(broken).iter_errors())


@pytest.mark.requirement("VER-09", "PATH-19")
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
    entry, parameters = entry_of(operation), parameters_of(operation)
    places = {(parameter["name"], parameter["in"]) for parameter in parameters}
    fields = operation.takes.model_fields
    expected = {(operation.wire_name(f), operation.place_of(f)) for f in fields if operation.place_of(f) != "body"}
    expected.add(("X-Service-Beta", "header"))
    if operation.method == "POST":
        expected.add(("Idempotency-Key", "header"))
    assert places == expected | (MEDIA_HEADERS if operation.has_parts else set())
    assert len(parameters) == len(places)
    required = {operation.wire_name(f) for f in fields if fields[f].is_required()}
    for parameter in parameters:
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
    answers = answers_of(operation)
    success = answers[str(operation.status)]
    well = {status for status in answers if status < "400"}
    assert well == ({"200", "206", "304"} if operation.has_parts else {str(operation.status)})
    if operation.shape == "nothing":
        assert "content" not in success
    elif operation.shape == "media":
        assert set(success["content"]) == set(operation.media_types)
        if operation.is_streamed:
            assert "ETag" not in success["headers"]
            return
        assert set(answers["206"]["content"]) == {*operation.media_types, "multipart/byteranges"}
        assert {"ETag", "Accept-Ranges"} <= set(success["headers"])
        assert "content" not in answers["304"]
    else:
        schema = success["content"]["application/json"]["schema"]
        assert schema["required"] == (["data", "pagination"] if operation.shape == "many" else ["data"])
    assert ("Idempotent-Replayed" in success["headers"]) == (operation.method == "POST")
    makes_one = operation.creates and operation.item is not None and "id" in operation.item.model_fields
    assert ("Location" in success["headers"]) == makes_one


@pytest.mark.parametrize("name", list(OPERATIONS))
def test_an_operation_is_described_with_every_problem_it_may_answer_with(name: str) -> None:
    operation = OPERATIONS[name]
    found = {
        status: {code for schema in codes_in(answer) for code in schema}
        for status, answer in answers_of(operation).items()
        if status >= "400"
    }
    expected: dict[str, set[str]] = {}
    for problem in problems_of(operation):
        expected.setdefault(str(problem.status), set()).add(problem.code)
    assert found == expected
    for status, codes in found.items():
        answer = answers_of(operation)[status]
        assert set(answer["content"]["application/json"]["examples"]) == codes
        assert all(f"`{code}`" in answer["description"] for code in codes)


def codes_in(value: object) -> Iterator[list[str]]:
    """The values that a problem's code may have, in the schemas of an answer."""
    if isinstance(value, dict):
        shape = cast("dict[str, Any]", value)
        for name in ("code", "error"):
            if isinstance(shape.get("properties"), dict) and "enum" in shape["properties"].get(name, {}):
                yield shape["properties"][name]["enum"]
        for part in shape.values():
            yield from codes_in(part)
    elif isinstance(value, list):
        for part in cast("list[object]", value):
            yield from codes_in(part)


def test_every_problem_of_an_operation_is_one_of_its_problems() -> None:
    for operation in OPERATIONS.values():
        found = problems_of(operation)
        assert set(operation.problems) <= set(found)
        assert len(found) == len(set(found))
    posted = {problem.code for problem in problems_of(OPERATIONS["create_agent"])}
    assert {"idempotency_key_reused", "idempotency_in_progress", "unsupported_media_type", "invalid_json"} <= posted
    read = {problem.code for problem in problems_of(OPERATIONS["get_agent"])}
    assert not read & {"idempotency_key_reused", "unsupported_media_type", "invalid_json", "payload_too_large"}
    assert "invalid_cursor" in {problem.code for problem in problems_of(OPERATIONS["list_agents"])}
    assert "range_not_satisfiable" in {problem.code for problem in problems_of(OPERATIONS["get_recording"])}


def test_every_answer_names_its_request_and_where_the_key_stands() -> None:
    for operation in OPERATIONS.values():
        for status, answer in answers_of(operation).items():
            assert "X-Request-Id" in answer["headers"]
            codes = {code for schema in codes_in(answer) for code in schema}
            known = not codes or not codes <= BEFORE_THE_KEY
            assert set(answer["headers"]).issuperset(LIMITS) == known, (operation.name, status)
            assert status != "429" or "Retry-After" in answer["headers"]


def test_every_problem_of_the_contract_is_described_but_what_no_operation_answers() -> None:
    assert set(PROBLEMS) - set(DESCRIPTION["components"]["examples"]) == {
        "method_not_allowed",
        "malformed_request",
        "headers_too_large",
        "not_authenticated",  # pages of the dashboard alone
        "forbidden",
    }


def test_no_reference_leads_nowhere_and_no_component_lies_about() -> None:
    known = {
        f"#/components/{kind}/{name}"
        for kind, components in DESCRIPTION["components"].items()
        for name in components
        if kind != "securitySchemes"
    }
    used = set(references(DESCRIPTION))
    assert used <= known, used - known
    assert known <= used, known - used


def test_every_event_is_described_with_its_data_and_its_signature() -> None:
    assert set(DESCRIPTION["webhooks"]) == set(EVENT_TYPES)
    for name, event in EVENT_TYPES.items():
        assert f"#/components/schemas/{event.data.__name__}" in set(references(DESCRIPTION["webhooks"][name]))
        sent = [resolved(parameter) for parameter in DESCRIPTION["webhooks"][name]["post"]["parameters"]]
        assert [(header["name"], header["required"]) for header in sent] == [("X-Service-Signature", True)]
        assert DESCRIPTION["webhooks"][name]["post"]["security"] == []


def test_flat_problems_are_described_as_flat() -> None:
    def envelopes(status: str) -> set[str]:
        shape = answers_of(OPERATIONS["create_agent"])[status]["content"]["application/json"]["schema"]
        return {reference.rpartition("/")[2] for reference in references(shape)}

    assert envelopes("401") == {"FlatProblem"}
    assert envelopes("400") == envelopes("500") == {"Problem"}
    assert envelopes("409") == {"Problem", "FlatProblem"}


@pytest.mark.requirement("VER-04")
def test_every_operation_takes_the_names_of_beta_features() -> None:
    words = resolved({"$ref": "#/components/parameters/X-Service-Beta"})["description"]
    assert [name for name in BETA_FEATURES if f"`{name}`" not in words] == []


@pytest.mark.requirement("VER-08")
def test_a_deprecated_operation_says_so_and_announces_its_headers() -> None:
    ending = Deprecation(
        since=datetime(2026, 11, 24, tzinfo=UTC), sunset=datetime(2027, 11, 24, tzinfo=UTC), link="/docs/changes"
    )
    operation, schemas = replace(OPERATIONS["get_agent"], deprecated=ending), contract_schemas()
    entry = operation_entry(operation, schemas, {})
    assert entry["deprecated"] is True
    assert "2027-11-24" in entry["description"]
    assert {"Deprecation", "Sunset", "Link"} <= set(successes(operation, schemas)["200"]["headers"])
    assert not {"Deprecation", "Sunset", "Link"} & set(answers_of(OPERATIONS["get_agent"])["200"]["headers"])


def test_everything_has_words() -> None:
    assert [tag for tag in DESCRIPTION["tags"] if not tag["description"]] == []
    used = {tag for methods in DESCRIPTION["paths"].values() for entry in methods.values() for tag in entry["tags"]}
    assert used | {"events"} == {tag["name"] for tag in DESCRIPTION["tags"]}
    for operation in OPERATIONS.values():
        assert entry_of(operation)["summary"]
        assert entry_of(operation)["description"]
        wordless = [entry["name"] for entry in parameters_of(operation) if not entry.get("description")]
        assert wordless == [], operation.name


def test_a_service_that_starts_reads_no_examples_and_makes_no_description() -> None:
    program = """
import sys
opened = []
sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == "open" else None)
import callwright.service.app
from callwright.service.rest.documentation.openapi import document
before = [path for path in opened if path.endswith("examples.json")]
before += [name for name in sys.modules if name.startswith("callwright.service.rest.documentation.openapi.")]
assert document() is document()
after = [path for path in opened if path.endswith("examples.json")]
print(len(before), len(after))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["0", "1"]
