"""A service that answers by script, and a client to it that never waits for real."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from callwright.client import Client, Retries
from callwright.client.transport import MockTransport, Request, Response

KEY = "svc_live_" + "0123456789abcdef" * 3
BASE = "http://service.test/v1"
AT = "2026-11-21T09:30:00Z"

AGENT: dict[str, Any] = {
    "id": "agt_1",
    "created_at": AT,
    "updated_at": AT,
    "name": "Ada",
    "voice_id": "en-US-ada",
    "language": "en-US",
    "system_prompt": "Be kind.",
    "welcome_message": "",
    "variables": [],
    "metadata": {},
}

Step = Response | Exception | Callable[[Request], Response]


class ScriptedService:
    """Answers each request with the next step of its script, the last one for ever. Keeps what it was sent."""

    def __init__(self, *steps: Step) -> None:
        self._steps: list[Step] = list(steps)
        self.requests: list[Request] = []

    def __call__(self, request: Request) -> Response:
        self.requests.append(request)
        step = self._steps.pop(0) if len(self._steps) > 1 else self._steps[0]
        if isinstance(step, Exception):
            raise step
        if isinstance(step, Response):
            return Response(step.status_code, headers=step.headers, content=step.content)
        return step(request)

    @property
    def only(self) -> Request:
        """The one request that came."""
        (request,) = self.requests
        return request

    @property
    def keys(self) -> list[str | None]:
        """The idempotency keys of the requests, in order."""
        return [request.headers.get("idempotency-key") for request in self.requests]


class Pauses:
    """Stands for `sleep`: keeps the waits and does not wait."""

    def __init__(self) -> None:
        self.taken: list[float] = []

    async def __call__(self, wait_s: float) -> None:
        self.taken.append(wait_s)


class Keys:
    """Stands for the id factory: key-1, key-2, ..."""

    def __init__(self) -> None:
        self.made = 0

    def __call__(self) -> str:
        self.made += 1
        return f"key-{self.made}"


def client_of(
    service: Callable[[Request], Response] | Callable[[Request], Awaitable[Response]],
    *,
    pauses: Pauses | None = None,
    retries: Retries | None = None,
    base_url: str = BASE,
    timeout_s: float = 30.0,
    max_answer_bytes: int = 1_000_000,
    beta: Collection[str] = (),
) -> Client:
    """A client whose jitter takes nothing off its waits."""
    handler: Any = service
    return Client(
        base_url,
        KEY,
        beta=beta,
        transport=MockTransport(handler),
        timeout_s=timeout_s,
        max_answer_bytes=max_answer_bytes,
        retries=retries,
        sleep=pauses or Pauses(),
        draw=lambda: 0.0,
        new_key=Keys(),
    )


@asynccontextmanager
async def scripted(*steps: Step) -> AsyncGenerator[tuple[ScriptedService, Client]]:
    """A service with a script, and a client of it."""
    service = ScriptedService(*steps)
    async with client_of(service) as client:
        yield service, client


def one(resource: Mapping[str, Any], status: int = 200) -> Response:
    """The envelope of one resource."""
    return Response(status, json={"data": dict(resource)})


def many(items: Sequence[Mapping[str, Any]], *, next_cursor: str | None = None, **changes: Any) -> Response:
    """The envelope of a page."""
    pagination = {
        "page": 1,
        "per_page": 50,
        "total": len(items),
        "has_more": next_cursor is not None,
        "next_cursor": next_cursor,
    }
    return Response(200, json={"data": [dict(item) for item in items], "pagination": pagination | changes})


def nested(status: int, code: str, *, headers: Mapping[str, str] | None = None, **fields: Any) -> Response:
    """The nested envelope of a problem."""
    error = {"type": "api_error", "code": code, "message": "No.", "request_id": "req_1", **fields}
    return Response(status, json={"error": error}, headers=dict(headers or {}))


def body_of(request: Request) -> Any:
    """The JSON that a request carried."""
    return json.loads(request.content)
