"""Requests and answers as the service gave them, for the description and the reference pages.

They are kept in a file that `scripts/examples` writes and a test compares with the running service. It is read when it
is first needed, not when the service starts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from callwright.contract.problems import ProblemCode
from callwright.service.platform.refusals import Refusal
from callwright.service.rest.problems import problem_body

FILE = Path(__file__).with_name("examples.json")
REQUEST_ID = "req_0Vbu2y00hN1cE5gT7mW9rQ3d"


@dataclass(frozen=True)
class Answered:
    """An answer: status, headers, and the JSON of its body if it has one."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: Any = None


@dataclass(frozen=True)
class Example:
    """A request with its answer. `path` is the operation's path with the prefix; `path_values` fill its parameters."""

    method: str
    path: str
    path_values: Mapping[str, str]
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Mapping[str, Any] | None
    answer: Answered


@cache
def _kept() -> dict[str, dict[str, Any]]:
    return orjson.loads(FILE.read_bytes()) if FILE.exists() else {"operations": {}, "problems": {}, "events": {}}


def forget() -> None:
    """Empties the cache, so that the file is read again."""
    _kept.cache_clear()


def example_of(operation: str) -> Example | None:
    """The example of an operation, by its name; None if there is none yet."""
    found = _kept()["operations"].get(operation)
    if found is None:
        return None
    request = found["request"]
    return Example(
        method=request["method"],
        path=request["path"],
        path_values=request.get("path_values", {}),
        query=request.get("query", {}),
        headers=request.get("headers", {}),
        body=request.get("body"),
        answer=Answered(**found["answer"]),
    )


def problem_example(problem: ProblemCode) -> Answered:
    """An answer with this problem: a recorded one, else one with the default message of the problem."""
    found = _kept()["problems"].get(problem.code)
    if found is not None:
        return Answered(**found)
    body = orjson.loads(problem_body(Refusal(problem), REQUEST_ID))
    return Answered(problem.status, {"Content-Type": "application/json", "X-Request-Id": REQUEST_ID}, body)


def event_example(name: str) -> Mapping[str, Any] | None:
    """An event of this type, as it is sent; None if there is none yet."""
    return _kept()["events"].get(name)
