"""Load for a trial in which the database is killed: connections that send one request after another, all recorded.

A request without an answer is given up after `GIVE_UP_S`, so that a service that never answers is measured too; the
next one uses a new connection. A POST is sent with the same Idempotency-Key until its outcome is known.
"""

import json
import time
from bisect import bisect_left
from collections import deque
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import anyio
from anyio.abc import ByteStream
from anyio.streams.buffered import BufferedByteReceiveStream

from bench.rest.bare import FIELDS
from bench.tool_calls.over_http import answer, request

GIVE_UP_S = 20.0
PAUSE_S = (0.1, 0.3)
"""Pause between two requests of a connection, so that the machine is not saturated: 64 send about 300 a second."""
RECENT = 500
"""How many of the newest agents are read again."""
NO_ANSWER = 0
"""Stands for the status of a request whose connection broke, or that was given up."""
LOST = (
    OSError,
    ValueError,
    anyio.EndOfStream,
    anyio.IncompleteRead,
    anyio.BrokenResourceError,
    anyio.DelimiterNotFound,
)
"""Errors of a broken connection, and of bytes that are not an HTTP answer."""


@dataclass(frozen=True)
class FinishedRequest:
    """A finished request. Times are of `time.monotonic`; `code` is the problem's, where there is one."""

    what: str
    begun_s: float
    ended_s: float
    status: int
    code: str = ""
    says_when: bool = False
    """Whether the answer has a `Retry-After` header."""
    body: bytes = b""

    @property
    def took_s(self) -> float:
        """How long it was open."""
        return self.ended_s - self.begun_s

    @property
    def is_to_be_repeated(self) -> bool:
        """Whether its outcome is unknown, so that it has to be sent again."""
        return self.status in (NO_ANSWER, 503) or (self.status, self.code) == (409, "idempotency_in_progress")


@dataclass
class Record:
    """The requests of all connections."""

    over: list[FinishedRequest] = field(default_factory=list[FinishedRequest])
    """Every finished request, without its body, in the order in which they ended."""
    good_s: list[float] = field(default_factory=list[float])
    """When each successful answer arrived, in order."""
    open: dict[int, float] = field(default_factory=dict[int, float])
    """When each open request was sent."""
    acknowledged: dict[str, str] = field(default_factory=dict[str, str])
    """The ids of the agents whose creation was acknowledged, by name."""
    unanswered: set[str] = field(default_factory=set[str])
    """Names of agents that were sent and never acknowledged or refused."""
    recent: deque[str] = field(default_factory=lambda: deque[str](maxlen=RECENT))
    given_up: int = 0
    is_done: bool = False
    """Set to end the load; what is under way is finished first."""
    _count: int = 0

    @contextmanager
    def opened(self) -> Generator[float]:
        """Counts a request as open inside the context. Yields the time at which it was sent."""
        self._count += 1
        number, begun_s = self._count, time.monotonic()
        self.open[number] = begun_s
        try:
            yield begun_s
        finally:
            del self.open[number]

    def longest_s(self) -> float:
        """The longest time that a request was open; those still open count until now."""
        now_s = time.monotonic()
        return max([one.took_s for one in self.over] + [now_s - begun_s for begun_s in self.open.values()], default=0.0)

    def good(self, begin_s: float, end_s: float) -> int:
        """How many requests were answered successfully in this time."""
        return bisect_left(self.good_s, end_s) - bisect_left(self.good_s, begin_s)

    def note(self, asked: FinishedRequest) -> FinishedRequest:
        """Records a finished request."""
        self.over.append(replace(asked, body=b""))
        if 200 <= asked.status < 300:
            self.good_s.append(asked.ended_s)
        return asked


class Caller:
    """One connection, opened again when it breaks. Requests go one after the other."""

    def __init__(self, address: str, record: Record) -> None:
        self.address, self._record = address, record
        self._connection: ByteStream | None = None
        self._answers: BufferedByteReceiveStream | None = None

    async def ask(self, what: str, sent: bytes) -> FinishedRequest:
        """Sends a request and waits for its answer. `what` is the kind of request it counts as."""
        status, code, says_when, body = NO_ANSWER, "", False, b""
        with self._record.opened() as begun_s:
            with anyio.move_on_after(GIVE_UP_S) as limit:
                try:
                    head, body = await self._exchanged(sent)
                    status, code = int(head[9:12]), code_of(body)
                    says_when = b"\nretry-after:" in head.lower()
                except LOST:
                    await self.close()
        if limit.cancelled_caught:
            self._record.given_up += 1
            await self.close()
        return self._record.note(FinishedRequest(what, begun_s, time.monotonic(), status, code, says_when, body))

    async def _exchanged(self, sent: bytes) -> tuple[bytes, bytes]:
        if self._connection is None or self._answers is None:
            host, _, port = self.address.rpartition(":")
            self._connection = await anyio.connect_tcp(host, int(port))
            self._answers = BufferedByteReceiveStream(self._connection)
        await self._connection.send(sent)
        return await answer(self._answers)

    async def close(self) -> None:
        """Closes the connection. The next request opens another one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await anyio.aclose_forcefully(connection)


def code_of(body: bytes) -> str:
    """The problem code of an answer, or an empty string."""
    found: Any = None
    with suppress(ValueError, KeyError, TypeError):
        found = json.loads(body)["error"]
        return str(found["code"])
    return found if isinstance(found, str) else ""  # the flat envelope


class Load:
    """Connections that read in two of three requests and create an agent with a unique name in the third.

    `token` begins every name and key, so that they can be found.
    """

    def __init__(self, record: Record, api_key: str, token: str, chance: Random) -> None:
        self._record, self._api_key, self._token, self._chance = record, api_key, token, chance
        self._made = 0

    async def go_round(self, address: str) -> None:
        """Sends requests over one connection until the record says that the load is done."""
        caller = Caller(address, self._record)
        try:
            while not self._record.is_done:
                await anyio.sleep(self._chance.uniform(*PAUSE_S))
                if self._chance.random() * 3 < 1:
                    await self._make(caller)
                else:
                    await caller.ask("GET", self._reading(address))
        finally:
            await caller.close()

    def _reading(self, address: str) -> bytes:
        if self._record.recent and self._chance.random() < 0.5:
            path = f"/v1/agents/{self._chance.choice(self._record.recent)}"
        else:
            path = self._chance.choice(("/v1/phone-numbers", "/v1/webhooks"))  # lists that do not grow meanwhile
        return request(address, self._api_key, path, b"", {})

    async def _make(self, caller: Caller) -> None:
        self._made += 1
        name = f"{self._token} {self._made}"
        body = json.dumps({**FIELDS, "name": name}).encode()
        key = {"Idempotency-Key": f"{self._token}-{self._made}"}
        sent = request(caller.address, self._api_key, "/v1/agents", body, key)
        self._record.unanswered.add(name)
        made = await repeated(lambda: caller.ask("POST", sent), self._chance)
        self._record.unanswered.discard(name)
        if made.status == 201:
            self._record.acknowledged[name] = json.loads(made.body)["data"]["id"]
            self._record.recent.append(self._record.acknowledged[name])


async def repeated(ask: Callable[[], Awaitable[FinishedRequest]], chance: Random) -> FinishedRequest:
    """Sends a request until its outcome is known, and returns that answer."""
    while True:
        found = await ask()
        if not found.is_to_be_repeated:
            return found
        await anyio.sleep(chance.uniform(*PAUSE_S))
