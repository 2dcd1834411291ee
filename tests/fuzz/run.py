"""One run: makes cases, sends them, checks the answers, counts, and keeps what is wrong."""

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from math import ceil
from random import Random
from typing import Any, cast

import requests
from schemathesis import GenerationMode, Response
from schemathesis.core.failures import FailureGroup

from tests.fuzz.cases import Case, Operation, described, edges, meet, operations_of, random_cases
from tests.fuzz.checks import CHECKS
from tests.fuzz.service import REQUEST_LIMIT_S, FuzzedService
from tests.fuzz.values import KnownValues

EDGES = 0.4
"""The largest part of a run that is cases at the edges of fields; the rest is random."""
OVER_LOOPBACK = 0.03
"""The part of a run that goes over a real socket."""
RESTOCKED = 100
"""Cases after which there is something of everything again."""
TURN = 18
"""Random cases of an operation before it is the next one's turn; fewer in a short run, so that each has a turn."""
RIGHT = 2 / 3
"""The part of them that is right, which reaches further than what is wrong."""


@dataclass
class Finding:
    """Something wrong, how often it was seen, and the shortest request that shows it."""

    operation: str
    title: str
    says: str
    request: str
    times: int = 1


@dataclass
class Figures:
    """What a run saw. A status of 0 stands for no answer."""

    statuses: dict[str, Counter[int]] = field(default_factory=dict[str, Counter[int]])
    over_loopback: int = 0
    findings: dict[tuple[str, str], Finding] = field(default_factory=dict[tuple[str, str], Finding])

    @property
    def cases(self) -> int:
        """How many requests were sent."""
        return sum(counted.total() for counted in self.statuses.values())

    def count(self, operation: str, status: int) -> None:
        """Counts an answer."""
        self.statuses.setdefault(operation, Counter())[status] += 1

    def find(self, found: Finding) -> None:
        """Keeps a finding, once for an operation and title."""
        seen = self.findings.setdefault((found.operation, found.title), found)
        if seen is not found:
            seen.times += 1
            if len(found.request) < len(seen.request):
                seen.says, seen.request = found.says, found.request


def fuzzed(
    service: FuzzedService,
    *,
    cases: int,
    seed: int,
    only: Collection[str] = (),
    heard: Callable[[Figures], None] = lambda _: None,
) -> Figures:
    """Sends this many cases over all operations of the description, or `only` those (like "GET /v1/wallet").

    `heard` is told the figures now and then.
    """
    return _Run(service, seed, heard).whole(cases, only)


class _Run:
    def __init__(self, service: FuzzedService, seed: int, heard: Callable[[Figures], None]) -> None:
        self._service, self._seed, self._heard = service, seed, heard
        self._random = Random(seed)
        self._known = KnownValues()
        self._schema = described()
        self._figures = Figures()

    def whole(self, cases: int, only: Collection[str]) -> Figures:
        known = operations_of(self._schema)
        operations = [operation for operation in known if not only or operation.label in only]
        if unknown := set(only) - {operation.label for operation in known}:
            raise ValueError(f"there is no operation {', '.join(sorted(unknown))}")
        listed = [found.path for found in known if found.method == "get" and "{" not in found.path]
        for path in (*listed, *self._service.unlisted):
            self._learn(path, self._service.session.get(self._service.in_process + path))
        at_edges = [case for operation in operations for case in edges(self._schema, operation)]
        for case in self._random.sample(at_edges, min(len(at_edges), int(cases * EDGES))):
            self._send(case)
        turn = 0
        while (left := cases - self._figures.cases) > 0:
            turn += 1
            self._heard(self._figures)
            size = min(TURN, ceil(left / len(operations)))
            for operation in self._random.sample(operations, len(operations)):
                self._turn(operation, turn, size, cases)
        return self._figures

    def _learn(self, path: str, answer: requests.Response) -> None:
        if "application/json" not in answer.headers.get("content-type", ""):
            return  # a file
        self._known.learn(path, answer.json(), {})

    def _restock(self) -> None:
        """Makes what requests may need, since others delete it."""
        number = self._figures.cases
        person = {"phone_number": f"+1212555{number % 10_000:04d}", "first_name": "Ada"}
        agent = {"name": f"Stock {number}", "voice_id": "en-US-ada", "language": "en-US", "system_prompt": "Say hello."}
        for path, body in (
            ("/v1/agents", agent),
            ("/v1/audiences", {"name": f"Stock {number}", "rows": [person]}),
            ("/v1/phone_numbers", {"country": "US"}),
        ):
            answer = self._service.session.post(self._service.in_process + path, json=body)
            answer.raise_for_status()
            self._learn(path, answer)

    def _turn(self, operation: Operation, turn: int, size: int, cases: int) -> None:
        right = ceil(size * RIGHT)
        for mode, most in ((GenerationMode.POSITIVE, right), (GenerationMode.NEGATIVE, size - right)):
            count = min(most, cases - self._figures.cases)
            if count > 0:
                random_cases(operation, mode, count=count, seeded=self._seed * 1_000_000 + turn, take=self._send)

    def _send(self, case: Case) -> None:
        if self._figures.cases % RESTOCKED == 0:
            self._restock()
        meet(case, self._known, self._random)
        loopback = self._random.random() < OVER_LOOPBACK
        base_url = self._service.loopback if loopback else self._service.in_process
        label = case.operation.label
        try:
            answer = case.call(base_url=base_url, session=self._service.session, timeout=REQUEST_LIMIT_S)
        except Exception as error:  # whatever it is, it is no answer
            self._figures.count(label, 0)
            self._figures.find(Finding(label, f"no answer: {type(error).__name__}", str(error), case.as_curl_command()))
            return
        self._figures.over_loopback += loopback
        self._figures.count(label, answer.status_code)
        self._check(case, answer)
        if answer.status_code == 204:
            self._known.forget(str(case.path_parameters.get("id")))
        elif answer.status_code < 300 and "application/json" in answer.headers.get("content-type", []):
            self._known.learn(case.path, answer.json(), answer.headers, case.query)

    def _check(self, case: Case, answer: Response) -> None:
        try:
            cast("Any", case).validate_response(answer, checks=CHECKS)
        except FailureGroup as group:
            for failure in group.exceptions:
                title = f"{failure.title} ({answer.status_code})"
                self._figures.find(Finding(case.operation.label, title, failure.message, case.as_curl_command()))
