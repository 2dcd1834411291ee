"""A refused request leaves nothing in memory, with no garbage collection to wait for."""

from collections.abc import Callable, Generator, Iterable
from itertools import chain
from pathlib import Path

import orjson
import pytest

from tests.large_inputs.cases import SHAPES, Case, envelope_cases, message_cases, rest_cases, tool_cases
from tests.large_inputs.measuring import meter
from tests.support.garbage import largest_garbage, uncollected

ENTRIES = 20_000
MOST_LEFT = 20_000
"""Bytes of one thing: less than what a body takes, as bytes or parsed. The SDK leaves many small things."""


def _raw_cases() -> Generator[Case]:
    """Bodies that are refused before their fields are looked at, and those of requests that are refused otherwise."""
    texts: dict[str, Callable[[int], bytes]] = {
        "a key twice": lambda entries: b'{"a":1,"a":' + orjson.dumps(SHAPES["words"](entries)) + b"}",
        "broken": lambda entries: orjson.dumps(SHAPES["words"](entries))[:-1],
        "a list": lambda entries: orjson.dumps(SHAPES["words"](entries)),
    }
    for name, body in texts.items():
        yield Case(f"JSON: {name}", "POST", "/v1/agents", body=body)
    yield Case("a stored key", "POST", "/v1/agents", body=_words, headers={"Idempotency-Key": "again"})
    yield Case("no such path", "POST", "/v1/nothing", body=_words)
    yield Case("no such key", "POST", "/v1/agents", body=_words, headers={"Authorization": "Bearer svc_live_x"})


def _words(entries: int) -> bytes:
    return orjson.dumps({"name": SHAPES["words"](entries)})


SOURCES: dict[str, Callable[[], Iterable[Case]]] = {
    "operations": lambda: chain(_raw_cases(), rest_cases(every_field=False)),
    "tools": lambda: tool_cases(every_field=False),
    "envelopes": lambda: chain(envelope_cases(), message_cases()),
}


@pytest.mark.parametrize("source", SOURCES)
async def test_refused_requests_leave_no_body_to_the_garbage_collector(
    database_url: str, tmp_path: Path, source: str
) -> None:
    left: dict[str, int] = {}
    async with meter(database_url, tmp_path) as measures:
        for case in SOURCES[source]():
            with uncollected():
                await measures.answered(case, ENTRIES)
                largest = largest_garbage()
            if largest > MOST_LEFT:
                left[case.name] = largest
    assert left == {}
