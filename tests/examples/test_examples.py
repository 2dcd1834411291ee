"""The file of examples, held against the running service and the contract."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from callwright.contract.events import EVENT_TYPES
from callwright.contract.problems import PROBLEMS
from callwright.contract.surface import OPERATIONS
from callwright.service.rest.documentation.examples import FILE
from tests.examples.record import BASE, file_text
from tests.examples.repeatable_service import ENDPOINT, CountedIds
from tests.examples.scenario import examples
from tests.support.clock_set_by_test import MovableClock

KEPT: dict[str, dict[str, Any]] = json.loads(FILE.read_bytes())
pytestmark = pytest.mark.usefixtures("shipped_law")
AGAIN = "run scripts/examples and look at what has changed"


async def test_the_service_answers_as_the_examples_say(database_url: str, tmp_path: Path) -> None:
    told = json.loads(file_text(await examples(database_url, tmp_path)))
    for part, kept in KEPT.items():
        for name, example in told[part].items():
            assert example == kept.get(name), f"{part}: {name}; {AGAIN}"
        assert list(told[part]) == list(kept), AGAIN


def test_every_operation_has_an_example() -> None:
    assert sorted(set(OPERATIONS) - set(KEPT["operations"])) == [], "perform it in tests/examples/scenario.py"
    assert sorted(set(KEPT["operations"]) - set(OPERATIONS)) == [], AGAIN


def test_every_event_has_an_example() -> None:
    assert sorted(set(EVENT_TYPES) - set(KEPT["events"])) == []


def test_an_example_is_of_its_operation_and_succeeds() -> None:
    for name, example in KEPT["operations"].items():
        operation, request = OPERATIONS[name], example["request"]
        assert (request["method"], request["path"]) == (operation.method, f"/v1{operation.path}")
        assert set(request.get("path_values", {})) == set(operation.path_fields)
        assert example["answer"]["status"] == operation.status


def test_an_example_of_a_problem_has_its_status_and_its_envelope() -> None:
    for code, answer in KEPT["problems"].items():
        problem, error = PROBLEMS[code], answer["body"]["error"]
        assert answer["status"] == problem.status
        assert error == code if problem.flat else (error["code"], error["type"]) == (code, problem.type)


def test_what_a_request_can_provoke_was_provoked() -> None:
    """What is left needs a fault, a race, a telephone that really rings, no lines, millions of rows or a browser."""
    left = {"internal_error", "service_unavailable", "request_timeout", "idempotency_in_progress"}
    left |= {
        "lines_unavailable",
        "plan_required",
        "audience_full",
        "storage_full",
        "malformed_request",
        "headers_too_large",
        "not_authenticated",
        "forbidden",
    }
    assert set(PROBLEMS) - set(KEPT["problems"]) == left


def test_examples_hold_no_secret_and_nobodys_number() -> None:
    text = FILE.read_text(encoding="utf-8")
    assert re.findall(r"(?:svc_live|svc_mcp|whsec)_[0-9A-Za-z]", text) == []
    numbers = set(re.findall(r"\+[0-9]{8,15}", text))
    assert numbers
    assert [number for number in numbers if not re.fullmatch(r"\+1[0-9]{3}55501[0-9]{2}", number)] == []
    assert set(re.findall(r"https?://[^/\"]+", text)) <= {BASE, ENDPOINT.removesuffix("/callwright-events")}


@pytest.mark.parametrize("secret", ["svc_live_" + "0a" * 24, "whsec_0123456789abcdefghijklmn"])
def test_a_secret_does_not_get_into_the_file(secret: str) -> None:
    prefix = secret.rpartition("_")[0]
    assert json.loads(file_text({"header": f"Bearer {secret}"})) == {"header": f"Bearer {prefix}_…"}


def test_ids_follow_from_moment_and_order_alone() -> None:
    first, second = (CountedIds(MovableClock(1_000)) for _ in range(2))
    made = [first.new("agt"), first.new("cal"), first.new("agt")]
    assert len(set(made)) == 3
    assert [second.new("agt"), second.new("cal"), second.new("agt")] == made
