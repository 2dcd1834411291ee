"""Refusals as JSON: the nested envelope, and the flat one of the four problems with keys and origins."""

from collections.abc import Sequence
from typing import Any

import orjson

from callwright.contract.checks.bounds import Problem
from callwright.contract.declaration.checking import BadInput, fields_at, meant
from callwright.contract.declaration.operation import AnyOperation
from callwright.contract.problems import INVALID_FIELD, MISSING_FIELD
from callwright.service.platform.refusals import FieldError, Refusal

_LONGEST_NAME = 80
"""The most characters of a client's name for a field that a message repeats."""


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


def refusal_of(bad: BadInput, operation: AnyOperation) -> Refusal:
    """The refusal of a request with wrong input; the first problem is the main one. Values are not repeated in full."""
    return refused([_field_error(problem, operation) for problem in bad.problems], more=bad.more)


def refused(found: Sequence[FieldError], *, more: int = 0) -> Refusal:
    """The refusal for problems with fields, of which `more` are not named."""
    first = found[0]
    problem = MISSING_FIELD if first.code == MISSING_FIELD.code else INVALID_FIELD
    said = f"{first.field}: {first.message}"
    details = {"more_errors": more} if more else {}
    return Refusal(problem, said, field=first.field, errors=found, details=details)


def unknown_parameter(name: str, operation: AnyOperation) -> FieldError:
    known = [
        operation.wire_name(field) for field in operation.takes.model_fields if operation.place_of(field) == "query"
    ]
    return FieldError(INVALID_FIELD.code, _shortened(name), _unknown("is not a parameter here", name, known))


def _field_error(problem: Problem, operation: AnyOperation) -> FieldError:
    place, message = problem.place, problem.message
    name = str(place[0]) if place else ""
    steps = [_shortened(str(step)) for step in place]
    if name in operation.takes.model_fields:
        steps[0] = operation.wire_name(name)
        if operation.place_of(name) == "query":  # there is nothing inside a parameter, but it may have several values
            entry = place[1] if len(place) > 1 else None
            message = f"value {entry + 1} {message}" if isinstance(entry, int) else message
            del steps[1:]
    field = ".".join(steps) or "body"
    if problem.code == "missing":
        return FieldError(MISSING_FIELD.code, field, message)
    if problem.code == "unknown":
        known = fields_at(operation.takes, place)
        if len(place) == 1:
            known = [operation.wire_name(one) for one in known if operation.place_of(one) != "path"]
        message = _unknown("is not a field here", steps[-1], known)
    return FieldError(INVALID_FIELD.code, field, message)


def _unknown(said: str, name: str, known: Sequence[str]) -> str:
    near = meant(name, known)
    asked = f"did you mean {near}? " if near else ""
    return f"{said}; {asked}known: {', '.join(known) or 'none'}"


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 1] + "…"
