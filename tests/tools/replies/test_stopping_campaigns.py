"""pause_deployment and cancel_deployment: what is stopped, with its settings, and whether others go on."""

from typing import Any

import pytest

from callwright.client.errors import ServiceTimeout
from tests.support.tools import samples
from tests.support.tools.fakes import FakeCaller, assistant, server
from tests.support.tools.results import text_of


async def stopped(tool: str, others: Any, *, in_flight: int = 0) -> tuple[str, FakeCaller]:
    status = "paused" if tool == "pause_deployment" else "cancelled"
    made = samples.deployment(status=status, stats=samples.stats(in_flight=in_flight))
    caller = FakeCaller(answers=samples.answers() | {tool: made, "list_deployments": others})
    async with assistant(server(caller), "2026-07-28") as client:
        result = await client.call_tool(tool, {"deployment_id": "dep_1"})
    assert not result.is_error, text_of(result)
    return text_of(result), caller


@pytest.mark.parametrize("tool", ["pause_deployment", "cancel_deployment"])
@pytest.mark.parametrize(
    ("going_on", "said"),
    [
        (0, "Nothing else is active or scheduled."),
        (1, "1 other deployment is active or scheduled."),
        (3, "3 other deployments are active or scheduled."),
    ],
)
async def test_the_answer_says_whether_others_go_on(tool: str, going_on: int, said: str) -> None:
    text, caller = await stopped(tool, samples.page([samples.deployment()] * going_on))
    assert said in text
    assert "attempts a contact (after " in text
    question = caller.asked[-1].asked.model_dump()
    assert (question["status"], question["per_page"]) == (["active", "scheduled"], 1)


async def test_what_is_stopped_is_no_error_where_the_others_cannot_be_read() -> None:
    text, _ = await stopped("pause_deployment", ServiceTimeout("late", request_sent=True, repeatable=True))
    assert "paused" in text
    assert "active or scheduled" not in text


@pytest.mark.parametrize(("in_flight", "said"), [(0, "no call under way"), (2, "2 calls are still under way")])
async def test_a_pause_says_whether_anybody_is_still_talking(in_flight: int, said: str) -> None:
    assert said in (await stopped("pause_deployment", samples.page([]), in_flight=in_flight))[0]
