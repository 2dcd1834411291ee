from dataclasses import replace

import pytest

from callwright.service.speech.recording_content import MAX_DURATION_S
from callwright.service.telephony.engine import Turn
from tests.support.calls.speech_source import plan_of

FIRST = Turn(0, "agent", "Hello.", 0.0, 1.0, "en-US")
SECOND = Turn(1, "contact", "Yes?", 1.5, 2.5, "en-US")
PLAN = replace(plan_of("Hello.", "Yes?"), turns=(FIRST, SECOND))


def test_equal_plans_have_equal_hashes_and_what_cannot_be_heard_does_not_matter() -> None:
    assert plan_of("Hello.", "Yes?").content_hash == PLAN.content_hash
    unheard = [replace(turn, source="llm", interrupted=True) for turn in (FIRST, SECOND)]
    assert replace(PLAN, turns=unheard).content_hash == PLAN.content_hash
    assert len(PLAN.content_hash) == 32


def test_whatever_can_be_heard_changes_the_hash() -> None:
    changed = [
        replace(PLAN, turns=[replace(FIRST, text="Hello!"), SECOND]),
        replace(PLAN, turns=[replace(FIRST, start_s=0.001), SECOND]),
        replace(PLAN, turns=[replace(FIRST, end_s=1.001), SECOND]),
        replace(PLAN, turns=[replace(FIRST, language="de-DE"), SECOND]),
        replace(PLAN, turns=[replace(FIRST, speaker="contact"), SECOND]),
        replace(PLAN, turns=[FIRST]),
        replace(PLAN, call_id="cal_2"),
        replace(PLAN, duration_s=9.0),
        replace(PLAN, agent_voice_id="en-US-ben"),
        replace(PLAN, agent_language="en-GB"),
        replace(PLAN, seed="other"),
    ]
    assert len({plan.content_hash for plan in [PLAN, *changed]}) == len(changed) + 1


@pytest.mark.parametrize("duration_s", [0, -1, MAX_DURATION_S + 1, float("nan"), float("inf")])
def test_a_call_without_a_length_or_with_too_much_of_it_is_refused(duration_s: float) -> None:
    with pytest.raises(ValueError, match="seconds"):
        replace(PLAN, duration_s=duration_s)


def test_a_turn_that_is_too_long_to_speak_is_refused() -> None:
    with pytest.raises(ValueError, match="characters"):
        plan_of("a" * 10_001)
