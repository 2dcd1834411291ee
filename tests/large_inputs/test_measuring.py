"""The measure itself: a busy machine is no fault, and what grows faster than its input is one, however busy it is."""

from collections.abc import Iterator
from itertools import chain, repeat

import pytest

from tests.large_inputs.cases import ENTRIES, Case
from tests.large_inputs.measuring import Measured, faults_of

CASE = Case("the case", "POST", "/mcp", body=lambda entries: b"x" * entries)


async def said(*, half_ms: Iterator[float], all_ms: Iterator[float], reading_half_ms: Iterator[float]) -> list[str]:
    """What is found where requests and reading take so long, one after the other; reading all takes 16 ms."""

    async def measured(_: Case, entries: int) -> Measured:
        return Measured(next(all_ms if entries == ENTRIES else half_ms) / 1_000, 200, b"{}")

    def reading(sent: bytes) -> float:
        return (16.0 if len(sent) == ENTRIES else next(reading_half_ms)) / 1_000

    return await faults_of(CASE, measured, reading)


async def test_reading_that_was_slow_once_makes_no_fault_of_what_misses_the_cache_as_reading_does() -> None:
    busy = chain([9.0], repeat(5.9))
    assert await said(half_ms=repeat(38.0), all_ms=repeat(136.0), reading_half_ms=busy) == []


async def test_requests_that_were_slow_once_make_no_fault() -> None:
    busy = chain([400.0, 390.0, 250.0], repeat(125.0))
    assert await said(half_ms=repeat(60.0), all_ms=busy, reading_half_ms=repeat(8.0)) == []


@pytest.mark.parametrize("busy", [1.0, 1.5])
async def test_four_times_the_time_for_twice_the_input_is_a_fault(busy: float) -> None:
    half_ms = chain([60.0 * busy, 60.0 * busy], repeat(60.0))
    found = await said(half_ms=half_ms, all_ms=repeat(240.0), reading_half_ms=repeat(8.0))
    assert found == ["the case: 60.0 ms for half of it, 240.0 ms for all"]


async def test_more_than_twenty_times_as_long_as_reading_is_a_fault() -> None:
    found = await said(half_ms=repeat(170.0), all_ms=repeat(330.0), reading_half_ms=repeat(8.0))
    assert found == ["the case: 330.0 ms of the loop's thread, 320.0 ms allowed"]
