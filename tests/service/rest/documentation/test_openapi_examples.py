"""The examples in the description, held against the schemas beside them."""

from typing import Any, cast

import jsonschema
import pytest

from callwright.contract.events import EVENT_TYPES
from callwright.contract.surface import OPERATIONS
from tests.service.rest.documentation.description import DESCRIPTION, answers_of, entry_of, parameters_of, resolved

VALIDATOR: Any = cast("Any", jsonschema).Draft202012Validator
"""The dialect of OpenAPI 3.1."""


def wrong_with(value: object, schema: dict[str, Any]) -> list[str]:
    """What keeps a value from being of a schema of the description."""
    whole = {"components": DESCRIPTION["components"], **schema}
    found = VALIDATOR(whole, format_checker=VALIDATOR.FORMAT_CHECKER).iter_errors(value)
    return [f"{error.json_path}: {error.message}"[:300] for error in found]


@pytest.mark.parametrize("name", list(OPERATIONS))
def test_every_parameter_has_an_example_that_it_may_have(name: str) -> None:
    for parameter in parameters_of(OPERATIONS[name]):
        assert "example" in parameter, parameter["name"]
        assert wrong_with(parameter["example"], parameter["schema"]) == [], parameter["name"]


@pytest.mark.parametrize("name", list(OPERATIONS))
def test_the_example_of_a_body_is_one_that_the_operation_takes(name: str) -> None:
    operation = OPERATIONS[name]
    if operation.has_body:
        content = entry_of(operation)["requestBody"]["content"]["application/json"]
        assert wrong_with(content["example"], content["schema"]) == []
        assert wrong_with({**content["example"], "nonsense": 1}, content["schema"])


@pytest.mark.parametrize("name", list(OPERATIONS))
def test_the_example_of_an_answer_is_one_that_the_operation_gives(name: str) -> None:
    operation = OPERATIONS[name]
    content = answers_of(operation)[str(operation.status)].get("content", {}).get("application/json")
    assert (content is not None) == (operation.shape in ("one", "many"))
    if content is not None:
        assert wrong_with(content["example"], content["schema"]) == []
        assert wrong_with({}, content["schema"])


@pytest.mark.parametrize("name", sorted(DESCRIPTION["components"]["responses"]))
def test_the_examples_of_a_problem_are_problems_of_that_answer(name: str) -> None:
    content = DESCRIPTION["components"]["responses"][name]["content"]["application/json"]
    for code, example in content["examples"].items():
        body = resolved(example)["value"]
        assert wrong_with(body, content["schema"]) == [], code
    elsewhere = {"error": "elsewhere", "message": "", "request_id": ""}
    assert wrong_with(elsewhere, content["schema"])
    assert wrong_with({"error": {**elsewhere, "code": "elsewhere", "type": "api_error"}}, content["schema"])


@pytest.mark.parametrize("name", list(EVENT_TYPES))
def test_the_example_of_an_event_is_one_that_is_sent(name: str) -> None:
    content = DESCRIPTION["webhooks"][name]["post"]["requestBody"]["content"]["application/json"]
    assert content["example"]["type"] == name
    assert wrong_with(content["example"], content["schema"]) == []
    assert wrong_with({**content["example"], "type": "another"}, content["schema"])


def test_the_examples_of_headers_are_ones_that_they_may_have() -> None:
    for name, header in DESCRIPTION["components"]["headers"].items():
        assert wrong_with(header["example"], header["schema"]) == [], name
    signature = resolved({"$ref": "#/components/parameters/X-Service-Signature"})
    assert wrong_with(signature["example"], signature["schema"]) == []
