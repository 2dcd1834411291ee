"""Refusals of requests: a declared problem code with a message, a field and details."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from callwright.contract.problems import INVALID_FIELD, NOT_FOUND, ProblemCode


@dataclass(frozen=True)
class FieldError:
    """One thing wrong with a request."""

    code: str
    field: str
    message: str


class Refusal(Exception):
    """Ends a request with a declared problem; the unit of work is undone."""

    def __init__(
        self,
        problem: ProblemCode,
        message: str = "",
        *,
        field: str | None = None,
        errors: Sequence[FieldError] = (),
        details: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.problem = problem
        self.message = message or problem.meaning
        self.field = field
        self.errors = tuple(errors)
        self.details = dict(details or {})
        self.headers = dict(headers or {})
        super().__init__(f"{problem.code}: {self.message}")


def not_found(field: str | None = None) -> Refusal:
    """The answer for an id that is unknown or another organization's; the two cannot be told apart."""
    return Refusal(NOT_FOUND, field=field)


def invalid(field: str, message: str) -> Refusal:
    return Refusal(
        INVALID_FIELD, f"{field}: {message}", field=field, errors=(FieldError(INVALID_FIELD.code, field, message),)
    )
