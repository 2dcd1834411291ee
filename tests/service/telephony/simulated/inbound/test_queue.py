import re
from itertools import pairwise

import pytest

from callwright.service.telephony.answering import Answering, Wait
from callwright.service.telephony.engine import CallResult
from callwright.service.telephony.simulated.inbound.queue import EVERY_S
from callwright.service.telephony.simulated.network import simulate
from callwright.service.telephony.simulated.steering import MOODS
from tests.support.calls.simulated_callers import assert_sound_call, incoming
from tests.support.calls.simulated_calls import said_by

SEEDS = [str(seed) for seed in range(30)]


def waiting(wait: Wait, seed: str = "tests", **more: str) -> CallResult:
    request = incoming(Answering("agent", wait=wait), seed=seed, steering=more, variables={"name": "Maria"})
    result = simulate(request)
    assert_sound_call(result, request)
    return result


def positions(result: CallResult) -> list[int]:
    return [
        int(found[1]) for text in said_by(result, "agent") if (found := re.fullmatch(r"You are number (\d+) .*", text))
    ]


@pytest.mark.requirement("INSIM-03")
def test_a_caller_hears_the_position_as_it_falls_and_then_the_agent() -> None:
    for seed in SEEDS:
        result = waiting(Wait(3, 300.0, 135.0), seed, outcome="answered", intent="yes")
        assert (result.outcome, result.disposition) == ("answered", "goal_met")
        heard = positions(result)
        assert heard[0] == 3
        assert heard[-1] == 1
        assert heard == sorted(heard, reverse=True)
        starts = [turn.start_s for turn in result.turns[: len(heard)]]
        assert all(EVERY_S <= later - earlier < EVERY_S + 5 for earlier, later in pairwise(starts))
        greeting = result.turns[len(heard)]
        assert greeting.text.startswith("Hello Maria")
        assert result.answered_s is not None
        assert 135.0 <= result.answered_s + greeting.start_s < 137.0


@pytest.mark.requirement("INSIM-03")
def test_a_caller_who_loses_patience_hangs_up_while_it_waits() -> None:
    for patience_s in (0, 20, 75):
        result = waiting(Wait(3, 300.0, 200.0), patience=str(patience_s))
        assert (result.outcome, result.hangup_cause, result.ended_by) == ("abandoned", "contact_hangup", "contact")
        assert result.disposition is None
        assert len(positions(result)) == len(result.turns) == 1 + patience_s // 32
        assert patience_s <= result.duration_s <= patience_s + 4


@pytest.mark.requirement("INSIM-03")
@pytest.mark.parametrize("waits_s", [4.0, 100.0, None])
def test_a_caller_who_is_to_abandon_does_so_before_the_wait_is_over(waits_s: float | None) -> None:
    for seed in SEEDS:
        result = waiting(Wait(1, 120.0, waits_s), seed, outcome="abandoned")
        assert result.outcome == "abandoned"
        assert result.duration_s < 120.0


@pytest.mark.requirement("INSIM-03")
def test_a_caller_who_gives_up_is_gone_before_the_line_is_free() -> None:
    for seed in range(300):
        result = waiting(Wait(2, 300.0, 60.0), str(seed))
        assert (result.outcome == "abandoned") == (result.ended_s <= 60.0)


@pytest.mark.requirement("INSIM-03")
def test_angry_callers_wait_less_long_than_friendly_ones() -> None:
    def abandoned(mood: str) -> int:
        return sum(waiting(Wait(2, 600.0, 90.0), str(seed), persona=mood).outcome == "abandoned" for seed in range(100))

    counts = {mood: abandoned(mood) for mood in MOODS}
    assert 5 < counts["friendly"] < counts["neutral"] < counts["busy"] < counts["angry"] < 100


@pytest.mark.requirement("INSIM-04")
@pytest.mark.parametrize("waits_s", [None, 97.1, 1e9])
def test_a_wait_that_would_be_too_long_ends_with_a_sentence(waits_s: float | None) -> None:
    for seed in SEEDS[:10]:
        result = waiting(Wait(2, 90.0, waits_s), seed, patience="3600")
        assert (result.outcome, result.hangup_cause, result.ended_by) == ("busy", "user_busy", "platform")
        assert result.turns[-1].text.startswith("I'm sorry, all our lines are still busy.")
        assert not result.turns[-1].interrupted
        assert 90.0 <= result.turns[-1].start_s < 92.0


@pytest.mark.requirement("INSIM-04")
def test_a_wait_that_the_longest_duration_ends_is_still_told_so() -> None:
    request = incoming(
        Answering("agent", wait=Wait(2, 900.0, 800.0)), max_duration_s=60.0, steering={"patience": "900"}
    )
    result = simulate(request)
    assert_sound_call(result, request)
    assert (result.outcome, result.hangup_cause) == ("busy", "user_busy")
    assert result.turns[-1].text.startswith("I'm sorry, all our lines are still busy.")


def test_a_line_that_is_free_before_the_answer_is_given_at_once_and_a_long_wait_is_not_talked_through() -> None:
    assert positions(waiting(Wait(1, 60.0, 1.0), outcome="answered")) == []
    request = incoming(Answering("agent", wait=Wait(9, 1e6)), max_duration_s=1e6, steering={"outcome": "answered"})
    assert 50 < len(simulate(request).turns) < 110
