"""get_deployment that waits."""

from typing import Any

import pytest
from mcp.types import CallToolResult

from callwright.contract.deployments.deployments import Deployment
from tests.support.tools import samples
from tests.support.tools.fakes import FakeCaller, FakeClock, assistant, server
from tests.support.tools.results import text_of


def at(done: int, status: str = "active") -> Deployment:
    counts = samples.stats(pending=300 - done, in_flight=0, retry_waiting=0, completed=done, exhausted=0)
    return samples.deployment(status=status, stats=counts)


async def waited(
    answers: Any, *, seconds: int, era: str = "2026-07-28"
) -> tuple[CallToolResult, FakeCaller, FakeClock, list[tuple[float, float | None, str | None]]]:
    caller, clock = FakeCaller(answers={"get_deployment": answers}), FakeClock()
    seen: list[tuple[float, float | None, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, total, message))

    async with assistant(server(caller, clock=clock), era) as client:
        asked = {"id": "dep_1", "wait_seconds": seconds}
        result = await client.call_tool("get_deployment", asked, progress_callback=note)
    return result, caller, clock, seen


async def test_it_waits_until_the_campaign_is_finished_and_reports_progress(era: str) -> None:
    steps = [at(10), at(10), at(182), at(300, "completed")]
    result, caller, _, seen = await waited(steps, seconds=45, era=era)
    assert not result.is_error
    assert result.structured_content is not None
    assert result.structured_content["status"] == "completed"
    assert len(caller.asked) == 4
    assert seen == [
        (10.0, 300.0, "10 of 300 contacts done (10 reached, 0 not)"),
        (182.0, 300.0, "182 of 300 contacts done (182 reached, 0 not)"),
        (300.0, 300.0, "300 of 300 contacts done (300 reached, 0 not)"),
    ]


@pytest.mark.parametrize("status", ["draft", "paused", "completed", "cancelled", "failed"])
async def test_a_campaign_at_rest_is_not_waited_for(status: str) -> None:
    result, caller, clock, _ = await waited(at(5, status), seconds=45)
    assert clock.slept == []
    assert len(caller.asked) == 1
    assert "call again to go on waiting" not in text_of(result)


async def test_without_wait_seconds_it_answers_at_once_and_reports_nothing() -> None:
    _, caller, clock, seen = await waited(at(5), seconds=0)
    assert (len(caller.asked), clock.slept, seen) == (1, [], [])


async def test_it_gives_up_when_the_time_is_over_and_says_so() -> None:
    result, caller, clock, seen = await waited(at(5), seconds=45)
    assert sum(clock.slept) == pytest.approx(45)
    assert max(clock.slept) <= 2.0
    assert len(caller.asked) < 35
    assert len(seen) == 1
    assert text_of(result).endswith("Not finished after 45 seconds; call again to go on waiting.")


async def test_a_wait_below_nothing_is_refused() -> None:
    result, caller, _, _ = await waited(at(5), seconds=-1)
    assert result.is_error
    assert text_of(result).startswith("Invalid arguments: wait_seconds: ")
    assert caller.asked == []


async def test_a_wait_that_is_too_long_is_the_longest_and_the_answer_says_so() -> None:
    result, _, clock, _ = await waited(at(5), seconds=46)
    assert sum(clock.slept) == pytest.approx(45)
    assert text_of(result).splitlines()[0] == "wait_seconds: at most 45, so 45 was taken."
    assert text_of(result).endswith("Not finished after 45 seconds; call again to go on waiting.")


async def test_waiting_is_not_asked_of_the_service() -> None:
    _, caller, _, _ = await waited(at(5, "completed"), seconds=3)
    assert caller.asked[0].asked.model_dump() == {"id": "dep_1"}
