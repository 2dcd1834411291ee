"""The paths of one service: their prefix, their spelling, and which operations it has, learned from its answers.

Services of one specification differ in these and need not document them. So a request that reaches no route is sent
again with another prefix or spelling, and what worked is remembered for the session.

| answer                                                                | what it proves                     |
|-----------------------------------------------------------------------|------------------------------------|
| 404 in neither error envelope; 405; a page of HTML in answer to a GET | no such route here, nothing done   |
| 501                                                                   | the route is there, but not served |
| 404 to a GET that names no resource, for example of a list            | no such route here                 |
| 401, 408, 429                                                         | nothing: decided before routing    |
| a success; a problem with any other code                              | the route is there                 |

When the first path works, nothing more is sent. An operation that answered once, or that the service's OpenAPI document
names, is known to exist: from then on a 404 means that the resource does not exist.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import Protocol, TypeVar
from urllib.parse import urlsplit

from callwright.client.errors import UNSERVED_STATUSES, NotFound, NotOffered, ServiceProblem
from callwright.client.request import WireRequest
from callwright.contract.declaration.operation import AnyOperation
from callwright.contract.problems import NOT_FOUND

PREFIXES = ("/v1", "/api/v1", "")
"""Prefixes to try for the paths if the base URL has no path: first those below which no pages of a dashboard are."""

SPELLINGS: Mapping[str, tuple[str, ...]] = {"phone_numbers": ("phone_numbers", "phone-numbers")}
"""First segments of paths that services spell in different ways. The contract's spelling comes first."""

_ABSENT = (404, 405, 501)
_BEFORE_THE_ROUTE = {401, *UNSERVED_STATUSES}


class WithHeaders(Protocol):
    """The part of an answer that is read here."""

    @property
    def headers(self) -> Mapping[str, str]:
        """By name in lower case."""
        ...


A = TypeVar("A", bound=WithHeaders)


class Compat:
    """What is known so far about the paths of the service at `base_url`."""

    def __init__(self, base_url: str) -> None:
        self._base_url = base_url
        self._prefix: str | None = None if urlsplit(base_url).path in ("", "/") else ""
        self._spelt: dict[str, str] = {}
        self._spelt_by_method: dict[str, str] = {}
        self._known_routes: set[str] = set()
        self._documented: Mapping[str, str] = {}
        self._worked = False

    @property
    def prefix(self) -> str | None:
        """The text between the base URL and every path; None while it is not known."""
        return self._prefix

    def spelling(self, operation: str) -> str | None:
        """The first segment of the operation's path as the service spells it, once that is known."""
        return self._spelt.get(operation)

    def learn_documented(self, spelt: Mapping[str, str]) -> None:
        """Records the operations that an OpenAPI document names, each with the first segment of its path."""
        self._documented = dict(spelt)

    async def send(self, operation: AnyOperation, wire: WireRequest, once: Callable[[WireRequest], Awaitable[A]]) -> A:
        """Calls `once` with one path after another until one reaches a route, and returns its answer.

        Raises:
            NotOffered: no path reaches a route.
            CallwrightError: any other error of `once`.
        """
        tried: list[str] = []
        status = 404
        for prefix, word in self._candidates(operation):
            tried.append(f"{wire.method} {prefix}{_spelt(operation.path, word)}")
            try:
                answer = await once(_with_path(wire, prefix, word))
            except ServiceProblem as problem:
                if not self._absent(operation, problem):
                    if problem.status not in _BEFORE_THE_ROUTE:
                        self._learn(operation, prefix, word)
                    raise self._read(operation, problem) from None
                status = problem.status
                if status == 501:
                    break  # this is the route, and the service says that it does not serve it
                continue
            if wire.method == "GET" and operation.shape != "media" and _page_for_people(answer.headers):
                continue
            self._learn(operation, prefix, word)
            return answer
        raise NotOffered(
            operation.name, status=status, base_url=self._base_url, tried=tried, nothing_found=not self._worked
        )

    def _candidates(self, operation: AnyOperation) -> list[tuple[str, str]]:
        prefixes: Iterable[str] = PREFIXES if self._prefix is None else (self._prefix,)
        words = self._words(operation)
        return [(prefix, word) for prefix in prefixes for word in words]

    def _words(self, operation: AnyOperation) -> list[str]:
        own = operation.path.split("/")[1]
        known = self._spelt.get(operation.name)
        if known is not None or own not in SPELLINGS:
            return [known or own]
        likely = self._documented.get(operation.name, self._spelt_by_method.get(operation.method))
        return sorted(SPELLINGS[own], key=lambda word: word != likely)

    def _learn(self, operation: AnyOperation, prefix: str, word: str) -> None:
        self._prefix, self._worked = prefix, True
        self._known_routes.add(operation.name)
        if word in SPELLINGS.get(operation.path.split("/")[1], ()):
            self._spelt[operation.name] = self._spelt_by_method[operation.method] = word

    def _absent(self, operation: AnyOperation, problem: ServiceProblem) -> bool:
        documented = operation.name in self._documented and self._worked and len(operation.path_fields) > 0
        if problem.status not in _ABSENT or (
            problem.status == 404 and (documented or operation.name in self._known_routes)
        ):
            return False
        names_nothing = operation.method == "GET" and not operation.path_fields and problem.field is None
        return problem.status != 404 or names_nothing or _without_code(problem)

    def _read(self, operation: AnyOperation, problem: ServiceProblem) -> ServiceProblem:
        """A 404 without a code, of an operation that is known to exist, means that the resource does not exist."""
        if problem.status != 404 or not _without_code(problem) or not operation.path_fields:
            return problem
        return NotFound(
            NOT_FOUND.meaning,
            code=NOT_FOUND.code,
            status=404,
            type=NOT_FOUND.type,
            field=operation.path_fields[-1],
            request_id=problem.request_id,
            headers=problem.headers,
        )


def _without_code(problem: ServiceProblem) -> bool:
    """Whether the answer was in neither envelope. Some servers put the status phrase in the place of the code."""
    return problem.code == f"http_{problem.status}" or problem.code == HTTPStatus(problem.status).phrase


def _page_for_people(headers: Mapping[str, str]) -> bool:
    return headers.get("content-type", "").partition(";")[0].strip().lower() == "text/html"


def _spelt(path: str, word: str) -> str:
    return "/".join(("", word, *path.split("/")[2:]))


def _with_path(wire: WireRequest, prefix: str, word: str) -> WireRequest:
    path = prefix + _spelt(wire.path, word)
    return wire if path == wire.path else replace(wire, path=path)
