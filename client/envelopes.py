"""Reads a problem from an answer: the nested envelope, the flat one, or neither.

For any other body, for example HTML from a proxy, the problem has only the status; the body's text is not repeated.
"""

from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from pydantic import JsonValue, TypeAdapter, ValidationError

from callwright.client.errors import (
    AuthenticationFailed,
    Conflict,
    InvalidRequest,
    KeyOwnerRequired,
    NotFound,
    PermissionRefused,
    QuotaExceeded,
    RangeNotSatisfiable,
    RateLimited,
    RuleRejected,
    ServiceFailed,
    ServiceProblem,
)
from callwright.contract.problems import PROBLEMS, ProblemType

_BY_STATUS: dict[int, tuple[type[ServiceProblem], ProblemType]] = {
    401: (AuthenticationFailed, "authentication_error"),
    403: (PermissionRefused, "permission_error"),
    404: (NotFound, "not_found_error"),
    409: (Conflict, "conflict_error"),
    416: (RangeNotSatisfiable, "validation_error"),
    422: (RuleRejected, "business_rule_error"),
    429: (RateLimited, "rate_limit_error"),
}
_BY_CODE: dict[tuple[int, str], type[ServiceProblem]] = {
    (409, "api_key_owner_required"): KeyOwnerRequired,
    (429, "daily_quota_exceeded"): QuotaExceeded,
}
_NAMED = frozenset({"type", "code", "message", "field", "request_id", "errors"})
_JSON_OBJECT: TypeAdapter[dict[str, JsonValue]] = TypeAdapter(dict[str, JsonValue])


def problem_of(status: int, headers: Mapping[str, str], body: bytes) -> ServiceProblem:
    """The problem in an answer of status 400 or above. `headers` have names in lower case."""
    fields = _fields(body)
    kind, type_by_status = _kind(status)
    code = _text(fields, "code") or f"http_{status}"
    known = PROBLEMS.get(code)
    errors = fields.get("errors")
    return _BY_CODE.get((status, code), kind)(
        _text(fields, "message") or (known.meaning if known else _phrase(status)),
        code=code,
        status=status,
        type=_text(fields, "type") or (known.type if known else type_by_status),
        field=_text(fields, "field"),
        request_id=_text(fields, "request_id") or headers.get("x-request-id"),
        errors=errors if isinstance(errors, list) else (),
        details={name: value for name, value in fields.items() if name not in _NAMED},
        retry_after_s=retry_after_s(headers),
        headers=headers,
    )


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """The wait of a `Retry-After` header in seconds, never below 0; None when it is missing or cannot be parsed.

    A date counts from the answer's own `Date` header, so that no clock of this machine is needed.
    Source: RFC 9110, section 10.2.3.
    """
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value) if len(value) <= 9 else None
    try:
        wait = parsedate_to_datetime(value) - parsedate_to_datetime(headers.get("date", ""))
    except (ValueError, TypeError):
        return None
    return max(wait.total_seconds(), 0.0)


def _fields(body: bytes) -> dict[str, JsonValue]:
    try:
        envelope = _JSON_OBJECT.validate_json(body)
    except ValidationError:
        return {}
    error = envelope.get("error")
    if isinstance(error, dict):
        return error
    if isinstance(error, str):
        return {"code": error, **{name: value for name, value in envelope.items() if name not in ("error", "code")}}
    return {}


def _text(fields: Mapping[str, JsonValue], name: str) -> str | None:
    value = fields.get(name)
    return value if isinstance(value, str) and value else None


def _kind(status: int) -> tuple[type[ServiceProblem], ProblemType]:
    if status >= 500:
        return ServiceFailed, "api_error"
    return _BY_STATUS.get(status, (InvalidRequest, "validation_error"))


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "The service gave no reason."
