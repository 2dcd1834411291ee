import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from callwright.client import errors
from callwright.client.envelopes import problem_of, retry_after_s
from callwright.contract import problems
from callwright.contract.problems import PROBLEMS, ProblemCode


def _nested(**error: Any) -> bytes:
    return json.dumps({"error": error}).encode()


def test_the_nested_envelope_gives_every_field_and_keeps_further_ones() -> None:
    body = _nested(
        type="conflict_error",
        code="invalid_state_transition",
        message="It is active.",
        field="id",
        request_id="req_7",
        errors=[{"field": "id", "message": "no"}],
        current_status="active",
        allowed=["paused"],
    )
    problem = problem_of(409, {}, body)
    assert type(problem) is errors.Conflict
    assert (problem.code, problem.status, problem.type) == ("invalid_state_transition", 409, "conflict_error")
    assert (problem.message, problem.field, problem.request_id) == ("It is active.", "id", "req_7")
    assert problem.errors == ({"field": "id", "message": "no"},)
    assert problem.details == {"current_status": "active", "allowed": ["paused"]}
    assert str(problem) == "409 invalid_state_transition: It is active. (field id) [request req_7]"


def test_the_flat_envelope_gives_code_message_request_id_and_details() -> None:
    body = b'{"error":"api_key_owner_required","message":"Gone.","request_id":"req_2","action_url":"https://x/y"}'
    problem = problem_of(409, {}, body)
    assert type(problem) is errors.Conflict
    assert (problem.code, problem.message, problem.request_id) == ("api_key_owner_required", "Gone.", "req_2")
    assert problem.type == "conflict_error"
    assert problem.details == {"action_url": "https://x/y"}


def test_a_flat_envelope_without_request_id_takes_it_from_the_header() -> None:
    problem = problem_of(401, {"x-request-id": "req_3"}, b'{"error":"invalid_api_key","message":"No."}')
    assert type(problem) is errors.AuthenticationFailed
    assert problem.request_id == "req_3"
    assert problem.details == {}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>Bad Gateway secret</html>",
        b"[]",
        b'{"error":7}',
        b'"x"',
        b'{"detail":"secret"}',
        b"\xff",
        b"[" * 9999,
    ],
)
def test_a_body_that_is_no_envelope_gives_a_problem_by_its_status_and_repeats_none_of_it(body: bytes) -> None:
    problem = problem_of(502, {}, body)
    assert type(problem) is errors.ServiceFailed
    assert (problem.code, problem.message, problem.type) == ("http_502", "Bad Gateway", "api_error")
    assert problem.retryable
    assert "secret" not in str(problem)


def test_fields_of_a_wrong_type_are_left_out() -> None:
    problem = problem_of(400, {}, _nested(code=5, message=["a"], field={}, request_id=None, errors="x", type=1))
    assert (problem.code, problem.message, problem.field) == ("http_400", "Bad Request", None)
    assert (problem.request_id, problem.errors, problem.type) == (None, (), "validation_error")


def test_an_envelope_without_a_message_says_what_the_code_means() -> None:
    assert problem_of(404, {}, _nested(code="not_found")).message == problems.NOT_FOUND.meaning


def test_a_status_that_has_no_name_still_gives_a_problem() -> None:
    assert problem_of(499, {}, b"").code == "http_499"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, errors.InvalidRequest),
        (401, errors.AuthenticationFailed),
        (403, errors.PermissionRefused),
        (404, errors.NotFound),
        (405, errors.InvalidRequest),
        (409, errors.Conflict),
        (413, errors.InvalidRequest),
        (415, errors.InvalidRequest),
        (416, errors.InvalidRequest),
        (422, errors.RuleRejected),
        (429, errors.RateLimited),
        (500, errors.ServiceFailed),
        (503, errors.ServiceFailed),
    ],
)
def test_each_status_has_its_class(status: int, kind: type[errors.ServiceProblem]) -> None:
    assert type(problem_of(status, {}, b"")) is kind


@pytest.mark.parametrize("code", PROBLEMS.values(), ids=lambda code: code.code)
def test_only_passing_problems_of_the_contract_are_retryable(code: ProblemCode) -> None:
    problem = problem_of(code.status, {}, _nested(code=code.code, type=code.type, message="m"))
    passing = {"rate_limited", "internal_error", "service_unavailable", "idempotency_in_progress"}
    assert problem.retryable is (code.code in passing)


_DATE = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": " 0 "}, 0.0),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "1.5"}, None),
        ({"retry-after": "٣"}, None),
        ({"retry-after": "9" * 5000}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": format_datetime(_DATE + timedelta(seconds=90), usegmt=True)}, None),
        (
            {
                "retry-after": format_datetime(_DATE + timedelta(seconds=90), usegmt=True),
                "date": format_datetime(_DATE, usegmt=True),
            },
            90.0,
        ),
        (
            {
                "retry-after": format_datetime(_DATE - timedelta(seconds=90), usegmt=True),
                "date": format_datetime(_DATE, usegmt=True),
            },
            0.0,
        ),
    ],
)
def test_retry_after_is_read_as_seconds_or_as_a_date_against_the_answers_own_date(
    headers: dict[str, str], wait_s: float | None
) -> None:
    assert retry_after_s(headers) == wait_s
