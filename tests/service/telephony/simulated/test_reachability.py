from collections import Counter

import pytest

from callwright.service.telephony.simulated.network import simulate
from callwright.service.telephony.simulated.reachability import DEFAULT_PROFILE, ReachabilityProfile, is_possible
from tests.support.calls.simulated_calls import assert_sound, call


def number(index: int) -> str:
    return f"+4915{index:08d}"


def quick(index: int, *, attempt: int = 1, profile: ReachabilityProfile = DEFAULT_PROFILE) -> str:
    request = call(to=number(index), attempt=attempt, prompt="", welcome="Hello.", variables={})
    return simulate(request, profile).outcome


def test_the_default_profile_is_met_over_many_numbers() -> None:
    total = 20_000
    outcomes = Counter(quick(index) for index in range(total))
    wanted = {
        "answered": 0.46,
        "voicemail": 0.24,
        "no_answer": 0.18,
        "busy": 0.06,
        "invalid_number": 0.03,
        "rejected": 0.03,
    }
    assert set(outcomes) == set(wanted)
    for outcome, share in wanted.items():
        assert outcomes[outcome] / total == pytest.approx(share, abs=0.012)


def test_a_second_attempt_tends_to_end_like_the_first_and_keeps_the_profile() -> None:
    total = 5_000
    pairs = [(quick(index), quick(index, attempt=2)) for index in range(total)]
    missed = [second for first, second in pairs if first == "no_answer"]
    reached = [second for first, second in pairs if first == "answered"]
    assert missed.count("no_answer") / len(missed) > 0.18 + 0.15
    assert missed.count("answered") / len(missed) < 0.46 - 0.1
    assert reached.count("answered") / len(reached) > 0.46 + 0.1
    assert missed.count("answered") > 0
    assert [second for _, second in pairs].count("answered") / total == pytest.approx(0.46, abs=0.03)


def test_an_invalid_number_is_invalid_on_every_attempt_and_a_valid_one_never() -> None:
    for index in range(2_000):
        outcomes = {quick(index, attempt=attempt) == "invalid_number" for attempt in (1, 2, 3)}
        assert len(outcomes) == 1


def test_without_persistence_attempts_are_independent() -> None:
    profile = ReachabilityProfile(
        answered=0.5, voicemail=0, no_answer=0.5, busy=0, invalid_number=0, rejected=0, persistence=0
    )
    pairs = [(quick(index, profile=profile), quick(index, attempt=2, profile=profile)) for index in range(3_000)]
    assert sum(first == second for first, second in pairs) / len(pairs) == pytest.approx(0.5, abs=0.04)


@pytest.mark.parametrize(
    "shares", [{"answered": 0.5}, {"busy": -0.06, "rejected": 0.15}, {"persistence": 1.1}, {"busy": float("nan")}]
)
def test_a_profile_that_does_not_add_up_is_refused(shares: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"must"):
        ReachabilityProfile(**shares)


@pytest.mark.parametrize(
    "to", ["", "12025550100", "+0123456789", "+1202555010", "+120255501000", "+1", "+49 30 12", "+4" * 9]
)
def test_an_impossible_number_is_invalid_whatever_is_steered(to: str) -> None:
    assert not is_possible(to)
    for steering in ({}, {"outcome": "answered"}):
        result = simulate(call(to=to, steering=steering))
        assert (result.outcome, result.hangup_cause) == ("invalid_number", "unallocated_number")


@pytest.mark.parametrize("timeout_s", [5.0, 12.0, 30.0])
def test_nobody_rings_longer_than_the_ring_timeout(timeout_s: float) -> None:
    for index in range(300):
        request = call(to=number(index), ring_timeout_s=timeout_s)
        result = simulate(request)
        assert_sound(result, request)
        if result.ringing_s is not None:
            assert (result.answered_s or result.ended_s) - result.ringing_s <= timeout_s + 0.002
        if timeout_s < 15:
            assert not result.outcome.startswith("voicemail")


def test_a_machine_answers_after_about_twenty_seconds() -> None:
    result = simulate(call(to="+12025550103"))
    assert result.ringing_s is not None
    assert result.answered_s is not None
    assert 18 <= result.answered_s - result.ringing_s <= 22


@pytest.mark.parametrize("to", ["+12025550101", "+12025550109", "+12025550110", "+1"])
def test_a_line_that_refuses_does_so_quickly(to: str) -> None:
    for attempt in range(50):
        assert simulate(call(to=to, attempt=attempt)).ended_s < 20
