"""Problems as the client raises them."""

from pydantic import JsonValue

from callwright.client.errors import ServiceProblem
from callwright.contract.problems import PROBLEMS


def service_problem(
    code: str,
    *,
    message: str = "",
    field: str | None = None,
    errors: list[JsonValue] | None = None,
    details: dict[str, JsonValue] | None = None,
    retry_after_s: float | None = None,
) -> ServiceProblem:
    known = PROBLEMS[code]
    return ServiceProblem(
        message or known.meaning,
        code=code,
        status=known.status,
        type=known.type,
        field=field,
        request_id="req_1",
        errors=errors or (),
        details=details,
        retry_after_s=retry_after_s,
    )
