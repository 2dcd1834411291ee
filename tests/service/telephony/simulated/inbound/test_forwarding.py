import pytest

from callwright.contract.calls.calls import Outcome
from callwright.service.telephony.answering import Answering
from callwright.service.telephony.engine import CallResult
from callwright.service.telephony.simulated.network import simulate
from tests.support.calls.simulated_callers import assert_sound_call, incoming
from tests.support.calls.simulated_calls import said_by

SORRY = "I'm sorry, nobody can take your call just now. Please call again later. Goodbye."


def forwarded(to: str | None = "+4930999999", seed: str = "tests", **steering: str) -> CallResult:
    request = incoming(Answering("forward", forward_to=to), seed=seed, steering=steering)
    result = simulate(request)
    assert_sound_call(result, request)
    return result


@pytest.mark.requirement("INSIM-06")
def test_a_caller_is_put_through() -> None:
    result = forwarded(transfer="answered")
    transfer = result.transfer
    assert transfer is not None
    assert (transfer.kind, transfer.to, transfer.status, transfer.cause) == ("cold", "+4930999999", "bridged", None)
    assert (result.outcome, result.hangup_cause, result.ended_by) == ("transferred", "transfer_completed", "platform")
    assert said_by(result, "agent") == ["One moment, please. I'm putting you through."]
    assert transfer.at_s > transfer.started_s >= result.turns[0].end_s


@pytest.mark.requirement("INSIM-06")
@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("busy", "busy"),
        ("no_answer", "no_answer"),
        ("rejected", "no_answer"),
        ("unreachable", "no_answer"),
        ("hung_up", "no_answer"),
    ],
)
def test_a_caller_hears_that_nobody_takes_over(answer: str, outcome: Outcome) -> None:
    result = forwarded(transfer=answer)
    transfer = result.transfer
    assert transfer is not None
    assert (transfer.status, transfer.cause) == ("failed", answer)
    assert (result.outcome, result.hangup_cause, result.ended_by) == (outcome, "transfer_failed", "platform")
    assert result.turns[-1].text == SORRY
    assert result.turns[-1].start_s >= transfer.at_s


@pytest.mark.requirement("INSIM-06")
@pytest.mark.parametrize(
    ("to", "outcome", "cause"),
    [
        ("+12025550100", "transferred", None),
        ("+12025550101", "busy", "busy"),
        ("+12025550102", "no_answer", "no_answer"),
        ("+12025550103", "transferred", None),
        ("+12025550109", "no_answer", "unreachable"),
        ("+12025550110", "no_answer", "rejected"),
        ("+1", "no_answer", "not_allowed"),
        ("+881612345678", "no_answer", "not_allowed"),
        (None, "no_answer", "unreachable"),
    ],
)
def test_the_number_decides_where_it_is_reserved_or_cannot_be_called(
    to: str | None, outcome: Outcome, cause: str | None
) -> None:
    result = forwarded(to)
    assert result.transfer is not None
    assert (result.outcome, result.transfer.cause) == (outcome, cause)


@pytest.mark.requirement("INSIM-08")
@pytest.mark.parametrize("outcome", ["transferred", "busy", "no_answer"])
def test_a_steered_outcome_happens(outcome: Outcome) -> None:
    assert {forwarded(seed=str(seed), outcome=outcome).outcome for seed in range(20)} == {outcome}


def test_chance_decides_elsewhere() -> None:
    outcomes = [forwarded(seed=str(seed)).outcome for seed in range(200)]
    assert 110 < outcomes.count("transferred") < 170
    assert outcomes.count("no_answer") > outcomes.count("busy") > 0
