"""The problems that an operation may answer with, and their descriptions, derived from the contract."""

from collections.abc import Iterable, Sequence

from callwright.contract.declaration.operation import AnyOperation
from callwright.contract.problems import (
    API_KEY_REQUIRED,
    EVERYWHERE,
    IDEMPOTENCY_IN_PROGRESS,
    IDEMPOTENCY_KEY_REUSED,
    INVALID_API_KEY,
    INVALID_CURSOR,
    INVALID_JSON,
    ORIGIN_NOT_ALLOWED,
    PAYLOAD_TOO_LARGE,
    RANGE_NOT_SATISFIABLE,
    REQUEST_TIMEOUT,
    UNSUPPORTED_MEDIA_TYPE,
    ProblemCode,
)
from callwright.service.rest.documentation.examples import problem_example
from callwright.service.rest.documentation.openapi.headers import LIMITS, REQUEST_ID, Json, headers
from callwright.service.rest.documentation.openapi.schemas import reference

_OF_BODIES = (INVALID_JSON, PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT, UNSUPPORTED_MEDIA_TYPE)
_BEFORE_THE_KEY = {
    INVALID_JSON,
    PAYLOAD_TOO_LARGE,
    REQUEST_TIMEOUT,
    ORIGIN_NOT_ALLOWED,
    API_KEY_REQUIRED,
    INVALID_API_KEY,
}
"""Problems found before the key is known, so that their answers have no headers of limits."""
_TRIED_AGAIN = {"rate_limited", "daily_quota_exceeded", "idempotency_in_progress", "service_unavailable"}


def problems_of(operation: AnyOperation) -> tuple[ProblemCode, ...]:
    """Every problem an operation may answer with, by status. Problems of bodies are only for operations that read a
    body."""
    found = [*EVERYWHERE, *operation.problems]
    if operation.shape == "many":
        found.append(INVALID_CURSOR)
    if operation.has_parts:
        found.append(RANGE_NOT_SATISFIABLE)
    if operation.method == "POST":
        found += [IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_IN_PROGRESS]
    if operation.has_body or operation.method in ("POST", "PATCH"):
        found += _OF_BODIES
    else:
        found = [problem for problem in found if problem not in _OF_BODIES]
    return tuple(sorted(dict.fromkeys(found), key=lambda problem: problem.status))


class ProblemAnswers:
    """Describes answers with problems as components that operations share.

    A component's name has its status and the codes that not every operation with this status has.
    """

    def __init__(self, operations: Iterable[AnyOperation]) -> None:
        self._common: dict[int, set[ProblemCode]] = {}
        self._used: dict[str, Json] = {}
        self._shown: dict[str, ProblemCode] = {}
        for operation in operations:
            for status, found in _by_status(operation).items():
                self._common[status] = self._common.get(status, set(found)) & set(found)

    def of(self, operation: AnyOperation) -> Json:
        answers: Json = {}
        for status, found in _by_status(operation).items():
            more = sorted(problem.code for problem in found if problem not in self._common.get(status, ()))
            name = "-".join((str(status), *more))
            if name not in self._used:
                self._used[name] = _answer(status, found)
                self._shown.update((problem.code, problem) for problem in found)
            answers[str(status)] = {"$ref": f"#/components/responses/{name}"}
        return answers

    @property
    def responses(self) -> Json:
        return dict(sorted(self._used.items()))

    @property
    def examples(self) -> Json:
        """An example of each problem that an operation may answer with."""
        return {
            code: {"summary": problem.meaning, "value": problem_example(problem).body}
            for code, problem in sorted(self._shown.items())
        }


def _by_status(operation: AnyOperation) -> dict[int, list[ProblemCode]]:
    found: dict[int, list[ProblemCode]] = {}
    for problem in problems_of(operation):
        found.setdefault(problem.status, []).append(problem)
    return found


def _answer(status: int, found: Sequence[ProblemCode]) -> Json:
    words = "\n".join(f"- `{problem.code}`: {problem.meaning} {problem.remedy}" for problem in found)
    sent = [REQUEST_ID]
    if not _BEFORE_THE_KEY.issuperset(found):
        sent += LIMITS
    if _TRIED_AGAIN & {problem.code for problem in found}:
        sent.append("Retry-After")
    if RANGE_NOT_SATISFIABLE in found:
        sent.append("Content-Range")
    schemas = [_schema([p for p in found if p.flat is flat], flat=flat) for flat in (False, True)]
    kept = [schema for schema in schemas if schema]
    examples = {problem.code: {"$ref": f"#/components/examples/{problem.code}"} for problem in found}
    content = {"schema": kept[0] if len(kept) == 1 else {"anyOf": kept}, "examples": examples}
    return {"description": words, "headers": headers(*sent), "content": {"application/json": content}}


def _schema(found: Sequence[ProblemCode], *, flat: bool) -> Json:
    if not found:
        return {}
    codes = {"enum": [problem.code for problem in found]}
    if flat:
        return {"allOf": [reference("FlatProblem"), {"properties": {"error": codes}}]}
    types = {"enum": list(dict.fromkeys(problem.type for problem in found))}
    inside = {"properties": {"code": codes, "type": types}}
    return {"allOf": [reference("Problem"), {"properties": {"error": inside}}]}
