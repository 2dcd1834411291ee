"""What is checked about every answer."""

import json
import re
from typing import Any

from schemathesis import CheckContext, Response, checks
from schemathesis.generation.meta import CoveragePhaseData, CoverageScenario
from schemathesis.specs.openapi import checks as openapi_checks

from callwright.contract.problems import METHOD_NOT_ALLOWED, PROBLEMS
from tests.fuzz.cases import Case

_REQUEST_ID = re.compile(r"req_[0-9A-Za-z]{24}")


def envelope(_: CheckContext, response: Response, case: Case) -> None:
    """Every answer names its request; a refusal is in its one of the two envelopes, and names it too."""
    named = response.headers.get("x-request-id", [])
    assert len(named) == 1, f"X-Request-Id is there {len(named)} times"
    assert _REQUEST_ID.fullmatch(named[0]), f"X-Request-Id is {named[0]!r}"
    if response.status_code < 400 or response.request.method == "HEAD":
        return
    try:
        body: Any = json.loads(response.content)
        error: Any = body["error"]
        flat = isinstance(error, str)
        code, request_id = (error, body["request_id"]) if flat else (error["code"], error["request_id"])
    except (ValueError, LookupError, TypeError) as wrong:
        raise AssertionError(f"the body is no envelope: {response.content[:200]!r}") from wrong
    problem = PROBLEMS.get(code)
    assert problem is not None, f"{code!r} is no code"
    assert (problem.status, problem.flat) == (response.status_code, flat), f"{code} is not answered like this"
    assert request_id == named[0], "the body names another request than the header"
    if problem is METHOD_NOT_ALLOWED:
        assert response.headers.get("allow"), "there is no Allow"


def other_method(_: CheckContext, response: Response, case: Case) -> None:
    """A method that the path does not have does nothing. (HEAD is answered like GET.)"""
    about = case.meta.phase.data if case.meta is not None else None
    if isinstance(about, CoveragePhaseData) and about.scenario == CoverageScenario.UNSPECIFIED_HTTP_METHOD:
        assert response.status_code >= 400 or case.method == "HEAD", f"{case.method} was done"
        assert response.status_code < 500, f"{case.method} failed"


_GENERAL: Any = checks
_DESCRIBED: Any = openapi_checks


CHECKS: list[Any] = [
    _GENERAL.not_a_server_error,
    _DESCRIBED.status_code_conformance,
    _DESCRIBED.content_type_conformance,
    _DESCRIBED.response_headers_conformance,
    _DESCRIBED.response_schema_conformance,
    _DESCRIBED.negative_data_rejection,
    envelope,
    other_method,
]
"""Of every answer: no failure of the service; status, type, body and headers as described; nothing wrong accepted."""
