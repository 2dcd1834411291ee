"""place_call: one call that is waited for, or a draft of it."""

from typing import Any, cast

import pytest
from mcp.types import CallToolResult

from callwright.client.errors import ServiceTimeout
from callwright.server.mcp.app import build
from callwright.tools.runtime.tool_context import ConfirmMode
from tests.support.tools import samples
from tests.support.tools.fakes import FakeCaller, FakeClock, assistant, session
from tests.support.tools.problems import service_problem
from tests.support.tools.results import text_of

ONE: dict[str, Any] = {"agent_id": "agt_1", "phone_number_id": "num_1", "to": samples.CALLEE}


def caller(*states: str, calls: list[Any] | None = None, **changes: Any) -> FakeCaller:
    """A service whose deployment has these states in turn."""
    made = samples.deployment(status="active", **changes)
    return FakeCaller(
        answers=samples.answers()
        | {
            "place_call": made,
            "get_deployment": [samples.deployment(status=state, **changes) for state in states],
            "list_calls": samples.page([samples.call()] if calls is None else calls),
        }
    )


async def placed(
    asked: FakeCaller, *, confirm: ConfirmMode = "real", clock: FakeClock | None = None, **given: Any
) -> CallToolResult:
    own = session(asked, clock=clock)
    own.confirm = confirm
    async with assistant(build(own.opened), "auto") as client:
        return await client.call_tool("place_call", {**ONE, **given})


def data_of(result: CallToolResult) -> dict[str, Any]:
    return cast("dict[str, Any]", result.structured_content)


async def test_it_calls_once_and_answers_with_the_call() -> None:
    asked = caller("active", "completed")
    result = await placed(asked)
    assert not result.is_error, text_of(result)
    assert asked.names().count("place_call") == 1
    assert asked.names()[-1] == "list_calls"
    assert asked.asked[-1].asked.model_dump(exclude_unset=True) == {"deployment_id": ["dep_1"], "per_page": 1}
    call = data_of(result)["call"]
    assert (call["id"], call["outcome"], call["disposition"], call["duration_seconds"]) == (
        *("cal_1", "answered", "goal_met", 65),
    )
    assert (data_of(result)["id"], data_of(result)["status"]) == ("dep_1", "completed")
    assert text_of(result).splitlines() == [
        "cal_1  +1202•••0100  answered  goal_met  1:05  0.042500 USD  simulated",
        "get_transcript reads what was said.",
    ]


async def test_neither_the_number_nor_more_of_the_call_than_is_named_is_in_the_data() -> None:
    data = data_of(await placed(caller("completed")))
    assert samples.CALLEE not in str(data)
    assert set(data["call"]) == {"id", "status", "outcome", "disposition", "duration_seconds", "cost", "turn_count"}


async def test_a_call_that_is_not_over_in_time_is_said_to_go_on() -> None:
    clock = FakeClock()
    under_way = samples.call(status="in_progress", outcome=None, ended_at=None)
    asked = caller(*["active"] * 100, calls=[under_way])
    result = await placed(asked, clock=clock, wait_seconds=20)
    assert sum(clock.slept) == pytest.approx(20)
    assert asked.names().count("place_call") == 1
    assert "call" not in data_of(result)
    assert data_of(result)["status"] == "active"
    assert "Not finished after 20 seconds" in text_of(result)


async def test_whoever_is_left_out_is_said_not_to_be_called_and_why() -> None:
    asked = caller("completed", calls=[])
    left_out = samples.contact().model_copy(update={"status": "suppressed", "status_reason": "do_not_call"})
    asked.answers["list_contacts"] = samples.page([left_out])
    result = await placed(asked)
    assert text_of(result).splitlines()[0] == "NOT CALLED: do_not_call"
    assert asked.asked[-1].asked.model_dump(exclude_unset=True)["status"] == ["suppressed"]


async def test_a_number_on_the_do_not_call_list_is_refused_in_the_words_of_the_service() -> None:
    said = "to: the number is on the do-not-call list, for the reason litigator, so it is not called"
    asked = caller("completed")
    asked.answers["place_call"] = service_problem("compliance_rejected", message=said, field="to")
    result = await placed(asked)
    assert result.is_error
    assert said in text_of(result)
    assert "Nobody was called. Tell the person why." in text_of(result)


async def test_without_a_wait_it_answers_at_once() -> None:
    clock = FakeClock()
    result = await placed(caller("active", calls=[]), clock=clock, wait_seconds=0)
    assert clock.slept == []
    assert data_of(result)["status"] == "active"


async def test_auto_start_false_drafts_and_says_what_comes_next() -> None:
    asked = FakeCaller(answers=samples.answers() | {"place_call": samples.deployment(status="draft")})
    result = await placed(asked, auto_start=False)
    assert asked.names() == ["place_call"]
    assert asked.asked[0].asked.model_dump(exclude_unset=True) == {**ONE, "auto_start": False}
    assert data_of(result) == {"id": "dep_1", "status": "draft", "simulated": True}
    assert text_of(result).splitlines() == [
        "dep_1  draft: nobody was called",
        "preview_deployment shows who is called and the cost. start_deployment calls.",
    ]


REAL = {"get_wallet": samples.wallet().model_copy(update={"play_money": False})}


@pytest.mark.parametrize(("confirm", "wallet"), [("always", {}), ("always", REAL), ("real", REAL)])
@pytest.mark.parametrize("given", [{}, {"auto_start": True}])
async def test_where_a_person_has_to_be_asked_it_is_refused_with_the_next_step_and_nothing_is_made(
    confirm: ConfirmMode, wallet: dict[str, Any], given: dict[str, Any]
) -> None:
    asked = FakeCaller(answers=samples.answers() | wallet)
    result = await placed(asked, confirm=confirm, **given)
    assert result.is_error
    assert text_of(result) == (
        "auto_start: has to be false here, because a person has to agree to the plan first. Nothing was made. "
        "Call again with it, then use preview_deployment and start_deployment."
    )
    assert "place_call" not in asked.names()


@pytest.mark.parametrize(("confirm", "wallet"), [("always", REAL), ("real", REAL)])
async def test_where_a_person_has_to_be_asked_a_draft_may_be_made(confirm: ConfirmMode, wallet: dict[str, Any]) -> None:
    asked = FakeCaller(answers=samples.answers() | wallet | {"place_call": samples.deployment(status="draft")})
    result = await placed(asked, confirm=confirm, auto_start=False)
    assert data_of(result)["status"] == "draft"


@pytest.mark.parametrize(("confirm", "wallet"), [("real", {}), ("never", REAL)])
async def test_where_nobody_has_to_be_asked_it_calls(confirm: ConfirmMode, wallet: dict[str, Any]) -> None:
    asked = caller("completed")
    asked.answers |= wallet
    assert not (await placed(asked, confirm=confirm)).is_error
    assert asked.names().count("place_call") == 1


@pytest.mark.parametrize("number", ["nobody", "+1", "12", "", "+1202555010000000"])
async def test_what_is_no_number_is_refused_by_its_name_and_nothing_is_made(number: str) -> None:
    asked = caller("completed")
    result = await placed(asked, to=number)
    assert result.is_error
    assert "to: " in text_of(result)
    assert "place_call" not in asked.names()


async def test_a_number_as_people_write_it_is_called_in_e164() -> None:
    asked = caller("completed")
    assert not (await placed(asked, to="(202) 555-0100")).is_error
    sent = next(one for one in asked.asked if one.operation == "place_call")
    assert sent.asked.model_dump()["to"] == samples.CALLEE


async def test_two_calls_of_the_tool_are_two_calls_of_the_person() -> None:
    asked = caller("completed", "completed")
    own = session(asked)
    async with assistant(build(own.opened), "auto") as client:
        await client.call_tool("place_call", ONE)
        await client.call_tool("place_call", ONE)
        (tool,) = [tool for tool in (await client.list_tools()).tools if tool.name == "place_call"]
    keys = [one.key for one in asked.asked if one.operation == "place_call"]
    assert len(set(keys)) == 2
    assert None not in keys
    assert tool.annotations is not None
    assert tool.annotations.idempotent_hint is False


@pytest.mark.parametrize("lookup", ["get_deployment", "list_calls"])
async def test_a_look_up_that_fails_after_the_call_was_placed_is_no_refusal_to_try_again(lookup: str) -> None:
    asked = caller("completed")
    asked.answers[lookup] = ServiceTimeout("late", request_sent=True, repeatable=True)
    result = await placed(asked)
    assert not result.is_error, text_of(result)
    assert "do not place it again" in text_of(result)
    assert data_of(result)["id"] == "dep_1"
    assert asked.names().count("place_call") == 1
