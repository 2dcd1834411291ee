"""Refusals on the wire: the nested envelope, and the flat one of the four problems with keys and origins."""

from typing import Any

import orjson
from pydantic import ValidationError

from callwright.contract.operation import AnyOperation
from callwright.contract.problems import INVALID_FIELD, MISSING_FIELD
from callwright.service.domain.refusals import FieldError, Refusal


def problem_body(refusal: Refusal, request_id: str) -> bytes:
    """The body of the answer to a refused request, in one of the two envelopes."""
    problem = refusal.problem
    body: dict[str, Any]
    if problem.flat:
        body = {"error": problem.code, "message": refusal.message, **refusal.details, "request_id": request_id}
    else:
        error: dict[str, Any] = {"type": problem.type, "code": problem.code, "message": refusal.message}
        if refusal.field is not None:
            error["field"] = refusal.field
        if refusal.errors:
            error["errors"] = [{"code": e.code, "field": e.field, "message": e.message} for e in refusal.errors]
        body = {"error": {**error, **refusal.details, "request_id": request_id}}
    return orjson.dumps(body)


def refusal_of(error: ValidationError, operation: AnyOperation) -> Refusal:
    """All that is wrong with a request, the first thing as the main one. Values that were sent are not repeated."""
    found: list[FieldError] = []
    for item in error.errors(include_url=False, include_input=False):
        location = [str(part) for part in item["loc"]]
        name = location[0] if location else ""
        if name in operation.takes.model_fields:
            location[0] = operation.wire_name(name)
            if operation.place_of(name) == "query":
                del location[1:]  # there is nothing inside a parameter
        field = ".".join(location) or "body"
        if item["type"] == "missing":
            found.append(FieldError(MISSING_FIELD.code, field, "is required"))
        elif item["type"] == "extra_forbidden":
            known = ", ".join(operation.wire_name(f) for f in operation.takes.model_fields)
            hint = f"is not a field of this operation; known: {known}" if len(location) == 1 else "is not a known field"
            found.append(FieldError(INVALID_FIELD.code, field, hint))
        else:
            found.append(FieldError(INVALID_FIELD.code, field, item["msg"].removeprefix("Value error, ")))
    first = found[0]
    problem = MISSING_FIELD if first.code == MISSING_FIELD.code else INVALID_FIELD
    return Refusal(problem, f"{first.field}: {first.message}", field=first.field, errors=found)
