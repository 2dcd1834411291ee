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
    assert str(problem) == (
        "409 invalid_state_transition: It is active (field id). Look at `current_status` and `allowed`. "
        "(current_status active; allowed paused) [request req_7]"
    )


def test_the_flat_envelope_gives_code_message_request_id_and_details() -> None:
    body = b'{"error":"api_key_owner_required","message":"Gone.","request_id":"req_2","action_url":"https://x/y"}'
    problem = problem_of(409, {}, body)
    assert type(problem) is errors.KeyOwnerRequired
    assert (problem.code, problem.message, problem.request_id) == ("api_key_owner_required", "Gone.", "req_2")
    assert problem.type == "conflict_error"
    assert problem.details == {"action_url": "https://x/y"}
    assert problem.action_url == "https://x/y"
    assert str(problem) == (
        "409 api_key_owner_required: Gone. Use a key made by a present member; `action_url` leads to the keys. "
        "(action_url https://x/y) [request req_2]"
    )


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


def test_a_message_names_every_wrong_field_and_what_to_do() -> None:
    wrong = [{"code": "missing_field", "field": name, "message": "is required"} for name in ("voice_id", "language")]
    body = _nested(code="missing_field", message="voice_id: is required", field="voice_id", errors=[*wrong, 7, {}])
    assert str(problem_of(400, {}, body)) == (
        "400 missing_field: voice_id: is required (field voice_id); language: is required. "
        "Add the field named in `field`."
    )


def test_money_in_a_message_reads_as_an_amount() -> None:
    money = {"amount": "9.50", "currency": "USD"}
    body = _nested(code="insufficient_credits", message="Too little.", required=money, available=None, stack=["secret"])
    said = str(problem_of(422, {}, body))
    assert "(required 9.50 USD)" in said
    assert "secret" not in said


MIDNIGHT = datetime(2026, 11, 22, tzinfo=UTC)
RATE = {"retry-after": "43200", "x-ratelimit-limit": "5000", "x-ratelimit-reset": str(int(MIDNIGHT.timestamp()))}


def test_a_used_up_quota_says_when_it_goes_on_and_is_not_tried_again() -> None:
    problem = problem_of(429, RATE, _nested(code="daily_quota_exceeded", message="Enough for today."))
    assert isinstance(problem, errors.QuotaExceeded)
    assert (problem.limit, problem.resets_at, problem.retry_after_s) == (5000, MIDNIGHT, 43200.0)
    assert not problem.retryable
    assert str(problem) == (
        "429 daily_quota_exceeded: Enough for today. Go on after midnight UTC, or move to a larger plan. "
        "(goes on at 2026-11-22T00:00:00Z)"
    )


def test_a_quota_of_a_service_that_tells_no_moment_says_how_long_to_wait() -> None:
    problem = problem_of(429, {"retry-after": "60"}, _nested(code="daily_quota_exceeded", message="Enough."))
    assert isinstance(problem, errors.QuotaExceeded)
    assert (problem.limit, problem.resets_at) == (None, None)
    assert "(wait 60 s)" in str(problem)


@pytest.mark.parametrize("value", ["", "soon", "-1", "9" * 20, "1.5"])
def test_a_limit_header_that_cannot_be_read_is_none(value: str) -> None:
    problem = problem_of(429, {"x-ratelimit-reset": value, "x-ratelimit-limit": value}, _nested(code="rate_limited"))
    assert isinstance(problem, errors.RateLimited)
    assert (problem.limit, problem.resets_at) == (None, None)


@pytest.mark.parametrize(("value", "total_bytes"), [("bytes */76480", 76480), ("bytes 0-1/7", None), ("", None)])
def test_a_range_that_is_not_there_says_how_many_bytes_are(value: str, total_bytes: int | None) -> None:
    problem = problem_of(416, {"content-range": value}, _nested(code="range_not_satisfiable"))
    assert isinstance(problem, errors.RangeNotSatisfiable)
    assert problem.total_bytes == total_bytes


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
        (416, errors.RangeNotSatisfiable),
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
    passing = {"rate_limited", "internal_error", "service_unavailable", "idempotency_in_progress", "request_timeout"}
    passing |= {"storage_full"}
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
