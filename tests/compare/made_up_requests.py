"""Made-up requests, sent to both sides one after the other, and what they answer.

They are made from what the old side answers. For the new side the ids in them are replaced by its own.
"""

import json
from dataclasses import dataclass
from difflib import ndiff
from math import ceil
from random import Random
from typing import Any

import httpx2
from requests import PreparedRequest, Request
from requests.exceptions import InvalidHeader
from schemathesis import GenerationMode

from tests.compare.names import Names
from tests.compare.seeding import seed_both
from tests.compare.sides import Side
from tests.fuzz.cases import Case, described, edges, meet, operations_of, random_cases
from tests.fuzz.values import KnownValues

HEADERS = ("allow", "content-type", "location", "retry-after", "content-disposition", "content-range", "deprecation")
"""Headers of answers that are compared; the others differ between any two runs, or say how long something takes."""
NOWHERE = "https://events.invalid/callwright"
"""In place of made-up endpoints, which may be somebody's."""
EDGES = 0.5
"""The largest part of the requests that is at the edges of fields; the others are random."""


@dataclass(frozen=True)
class Sent:
    """A request as it travels."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @classmethod
    def of(cls, request: PreparedRequest) -> "Sent":
        """What a prepared request says."""
        body: Any = request.body or b""
        headers = {name: str(value) for name, value in request.headers.items() if name.lower() != "content-length"}
        content: bytes = body.encode() if isinstance(body, str) else body
        return cls(str(request.method), request.path_url, headers, content)

    def translated(self, old: Names, new: Names) -> "Sent":
        """The same request with the ids of the new side."""
        try:
            body = old.translate(self.body.decode(), new).encode()
        except UnicodeDecodeError:
            body = self.body
        headers = {name: old.translate(value, new) for name, value in self.headers.items()}
        return Sent(self.method, old.translate(self.target, new), headers, body)

    def by(self, side: Side) -> httpx2.Response:
        """The answer of a side."""
        headers = [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in self.headers.items()]
        return side.http.request(self.method, self.target, headers=headers, content=self.body)


def differences(old: Side, new: Side, *, cases: int, seed: int) -> list[str]:
    """Where the answers differ."""
    player = _Player(old, new, seed)
    player.seed()
    player.play_all(cases)
    return player.lines


class _Player:
    def __init__(self, old: Side, new: Side, seed: int) -> None:
        self._sides, self._seed = (old, new), seed
        self._names = Names(), Names()
        self._random = Random(seed)
        self._known = KnownValues()
        self._count = 0
        self.lines: list[str] = []

    def seed(self) -> None:
        """Makes some of everything on both sides, and learns it."""
        self._names = seed_both(*self._sides, self._seed)
        for operation in operations_of(described()):
            if operation.method == "get" and "{" not in operation.path:
                self._learn(operation.path, self._both(Sent("GET", operation.path, {}, b"")))

    def play_all(self, cases: int) -> None:
        """Sends so many requests: those at the edges of fields first, then random ones of each operation in turn."""
        schema = described()
        operations = operations_of(schema)
        at_edges = [case for operation in operations for case in edges(schema, operation)]
        for case in self._random.sample(at_edges, min(len(at_edges), int(cases * EDGES))):
            self._play(case)
        each = ceil((cases - self._count) / len(operations) / 2)
        for operation in operations:
            for mode in GenerationMode:
                random_cases(operation, mode, count=each, seeded=self._seed, take=self._play)

    def _play(self, case: Case) -> None:
        self._count += 1
        meet(case, self._known, self._random)
        if isinstance(case.body, dict) and "url" in case.body:
            case.body = {**case.body, "url": NOWHERE}
        try:
            answer = self._both(Sent.of(Request(**case.as_transport_kwargs(base_url="http://service")).prepare()))
        except (httpx2.LocalProtocolError, InvalidHeader):
            return  # it cannot be sent over HTTP at all
        if answer.status_code == 204:
            self._known.forget(str(case.path_parameters.get("id")))
        elif answer.is_success:
            self._learn(case.path, answer)

    def _learn(self, path: str, answer: httpx2.Response) -> None:
        if answer.headers.get("content-type") == "application/json":
            self._known.learn(path, answer.json(), {})

    def _both(self, sent: Sent) -> httpx2.Response:
        """Sends a request to both sides, keeps how their answers differ, and gives that of the old one."""
        old, new = self._names
        answers = sent.by(self._sides[0]), sent.translated(old, new).by(self._sides[1])
        here, there = (_told(answer, names) for answer, names in zip(answers, self._names, strict=True))
        if here != there:
            body = sent.body[:300].decode(errors="replace")
            self.lines += [f"{sent.method} {old.shown(sent.target)} {old.shown(body)}"]
            self.lines += [line for line in ndiff(here, there) if line[0] in "-+"]
        return answers[0]


def _told(answer: httpx2.Response, names: Names) -> list[str]:
    """An answer line by line, without what differs between two runs."""
    lines = [str(answer.status_code)]
    lines += [f"{name}: {names.name(answer.headers[name])}" for name in HEADERS if name in answer.headers]
    try:
        body = json.dumps(names.in_order(json.loads(answer.content)), indent=1, ensure_ascii=False)
    except ValueError:
        if answer.headers.get("content-type", "").startswith("text/"):
            body = answer.content.decode(errors="replace")
        else:
            body = f"{len(answer.content)} bytes"
    return [*lines, *names.name(body).splitlines()]
