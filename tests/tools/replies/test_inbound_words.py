"""How an inbound deployment reads, and that nothing said of it is a campaign's."""

from typing import Any

import pytest

from callwright.contract.deployments.dialling import Window
from callwright.contract.deployments.inbound import AfterHours, BusinessHours, Overflow
from callwright.tools.catalogue.registry import tool_named
from callwright.tools.replies.campaign_words import entry, started, stopped, whole
from callwright.tools.replies.inbound_words import taking
from tests.support.tools import samples
from tests.support.tools.fakes import ERAS, FakeCaller, FakeClock, assistant, server, use_of
from tests.support.tools.inbound import inbound_of
from tests.support.tools.results import text_of

BOUND = inbound_of(samples.deployment())


def test_its_settings_and_that_nobody_calls_in_are_said_and_nothing_of_a_campaign() -> None:
    said = whole(BOUND, use_of(FakeCaller()))
    assert entry(BOUND, use_of(FakeCaller())) in said
    assert "inbound" in entry(BOUND, use_of(FakeCaller()))
    assert "agent agt_1  answers callers of num_1" in said
    assert "up to 10 calls at once, then busy  calls are recorded" in said
    assert "answers at any hour" in said
    assert "simulate_inbound_call has people call" in said
    assert "cancel_deployment ends it and frees the number" in said
    for foreign in ("audience", "budget", "attempts a contact", "None", "contacts done", "get_deployment with"):
        assert foreign not in said


def test_hours_and_where_callers_are_forwarded_to_are_said() -> None:
    assert BOUND.inbound is not None
    settings = BOUND.inbound.model_copy(
        update={
            "business_hours": BusinessHours(
                timezone="Europe/London", windows=[Window(days=["mon", "tue"], start="09:00", end="17:00")]
            ),
            "after_hours": AfterHours(action="voicemail"),
            "overflow": Overflow(action="forward", forward_to="+12125550177"),
            "recording_enabled": False,
        }
    )
    said = whole(inbound_of(samples.deployment(), inbound=settings), use_of(FakeCaller()))
    assert "answers mon,tue 09:00-17:00 in Europe/London, else voicemail" in said
    assert "then forward to +12125550177  calls are not recorded" in said


def test_after_a_pause_and_a_resume_the_next_step_is_its_own() -> None:
    paused = inbound_of(samples.deployment(), status="paused")
    assert "resume_deployment answers callers again" in stopped(paused, use_of(FakeCaller()), 0)
    assert "simulate_inbound_call has people call" in started(BOUND, use_of(FakeCaller()))
    real = inbound_of(samples.deployment(), simulated=False)
    assert "Simulated" not in started(real, use_of(FakeCaller())) + whole(real, use_of(FakeCaller()))


@pytest.mark.parametrize("era", ERAS)
async def test_it_is_not_waited_for_because_it_never_ends_by_itself(era: str) -> None:
    caller, clock = FakeCaller(answers={"get_deployment": BOUND}), FakeClock()
    async with assistant(server(caller, clock=clock), era) as client:
        result = await client.call_tool("get_deployment", {"deployment_id": "dep_1", "wait_seconds": 45})
    assert not result.is_error
    assert clock.slept == []
    assert "Not finished" not in text_of(result)
    data: dict[str, Any] = result.structured_content or {}
    assert (data["call_type"], data["inbound"]["phone_number_id"]) == ("inbound", "num_1")
    assert "audience_id" not in data


def test_a_number_says_which_deployment_answers_it() -> None:
    said = tool_named("get_phone_number").reply(samples.number(inbound_deployment_id="dep_2"), use_of(FakeCaller()))
    assert "answered by dep_2" in said
    assert "answered by" not in tool_named("get_phone_number").reply(samples.number(), use_of(FakeCaller()))


def test_settings_that_another_service_leaves_out_or_words_otherwise_are_told_as_they_are() -> None:
    assert taking({}) == ("at any hour, any number of calls at a time, recorded", "")
    odd = {"business_hours": {"opens": "9 o'clock"}, "after_hours": {"action": "sing", "song": "A. B"}}
    assert taking(odd) == (
        'at the hours (opens "9 o\'clock"), any number of calls at a time, recorded',
        'Who calls at another hour: (action sing, song "A. B").',
    )
