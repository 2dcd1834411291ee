import pytest

from callwright.contract.agents.call_tools import TransferTool
from callwright.service.rules.call_tools import stored_tools
from callwright.service.telephony.early_end import cut_short
from callwright.service.telephony.engine import CallResult, EarlyEnd
from callwright.service.telephony.simulated.network import simulate
from callwright.service.telephony.simulated.person import ANSWERS, HOLD_S
from tests.support.calls.simulated_calls import assert_sound, call, said_by

TO = "+12025550123"
DESK = stored_tools(
    [
        TransferTool.model_validate(
            {
                "type": "transfer",
                "name": "transfer_call",
                "description": "Transfers the call.",
                "destinations": [{"name": "desk", "to": TO}],
            }
        )
    ]
)
FAILED = [answer for answer in ANSWERS if answer != "answered"]


def transferred(answer: str, *, seed: str = "tests") -> CallResult:
    steering = {"transfer": answer, "language": "en"}
    request = call(seed=seed, steering=steering, to="+12025550100", call_tools=DESK)
    result = simulate(request)
    assert_sound(result, request)
    return result


@pytest.mark.requirement("TRANSFER-04")
@pytest.mark.parametrize("seed", ["a", "b", "c"])
def test_a_person_who_answers_takes_over_and_the_part_of_the_agent_ends(seed: str) -> None:
    result = transferred("answered", seed=seed)
    transfer = result.transfer
    assert transfer is not None
    assert (transfer.kind, transfer.to, transfer.status, transfer.cause) == ("warm", TO, "bridged", None)
    assert (result.outcome, result.disposition) == ("transferred", "escalated")
    assert (result.hangup_cause, result.ended_by) == ("transfer_completed", "agent")
    assert 0 < transfer.started_s < transfer.at_s <= result.duration_s


@pytest.mark.requirement("TRANSFER-01", "TRANSFER-02")
@pytest.mark.parametrize("answer", FAILED)
def test_a_person_who_does_not_take_over_leaves_the_contact_with_the_agent(answer: str) -> None:
    result = transferred(answer)
    transfer = result.transfer
    assert transfer is not None
    assert (transfer.status, transfer.cause) == ("failed", answer)
    assert (result.outcome, result.disposition) == ("answered", "escalated")
    assert result.hangup_cause != "transfer_completed"
    after = [turn.text for turn in result.turns if turn.start_s >= transfer.at_s and turn.speaker != "system"]
    assert after[0].startswith("I'm sorry, none of my colleagues")
    assert len(after) > 1


@pytest.mark.requirement("TRANSFER-02")
def test_who_waits_for_a_person_never_waits_in_silence_for_long() -> None:
    result = transferred("no_answer")
    transfer = result.transfer
    assert transfer is not None
    assert transfer.at_s - transfer.started_s >= 25.0
    ends = [turn.end_s for turn in result.turns if turn.end_s <= transfer.at_s]
    starts = [turn.start_s for turn in result.turns if turn.start_s > transfer.started_s]
    silences = [start - max(end for end in ends if end <= start) for start in starts if start <= transfer.at_s]
    assert len(silences) >= 2
    assert max(silences) < HOLD_S + 1.0


def test_every_language_has_words_for_a_transfer() -> None:
    for language in ("de", "en", "es", "fr", "hi", "it", "nl", "pt"):
        steering = {"transfer": "no_answer", "outcome": "answered"}
        result = simulate(call(language=language, steering=steering, call_tools=DESK))
        assert result.transfer is not None, language
        assert result.transfer.cause == "no_answer"


def test_a_contact_who_asks_for_a_person_again_is_called_back_in_the_end() -> None:
    script = "Hello.|I want to talk to a real person.|A real person, please.|A real person, I said."
    steering = {"transfer": "busy", "outcome": "answered", "script": script}
    said = said_by(simulate(call(steering=steering, call_tools=DESK)), "agent")
    assert sum("sorry, none of my colleagues" in text for text in said) == 2
    assert any("call you back" in text for text in said)


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_agent_without_a_destination_connects_nobody_and_the_call_says_why(answer: str) -> None:
    result = simulate(call(language="de", steering={"transfer": answer, "outcome": "answered"}))
    said = " ".join(said_by(result, "agent"))
    assert (result.transfer, result.disposition) == (None, "escalated")
    assert "Ich verbinde Sie" not in said
    assert "Eine Kollegin ruft Sie zurück" in said
    assert any("no destination" in warning for warning in result.warnings)


def test_a_forced_outcome_decides_whether_somebody_takes_over() -> None:
    asked = {"outcome": "answered", "intent": "wants_human"}
    assert simulate(call(steering=asked)).transfer is None  # the agent has nobody to transfer to
    forced = simulate(call(steering={"outcome": "transferred"}))
    assert forced.transfer is not None
    assert forced.transfer.is_bridged


@pytest.mark.parametrize(
    ("moment", "outcome", "status"),
    [("before", "answered", None), ("within", "answered", "failed"), ("after", "transferred", "bridged")],
)
def test_a_call_that_is_hung_up_has_its_transfer_as_it_was_then(moment: str, outcome: str, status: str | None) -> None:
    result = transferred("answered")
    transfer, answered_s = result.transfer, result.answered_s
    assert transfer is not None
    assert answered_s is not None
    at_s = {
        "before": transfer.started_s - 0.1,
        "within": (transfer.started_s + transfer.at_s) / 2,
        "after": transfer.at_s + 0.1,
    }[moment]
    cut = cut_short(result, answered_s + at_s, EarlyEnd("api", "normal_clearing"))
    assert (cut.outcome, cut.transfer.status if cut.transfer else None) == (outcome, status)
    if status == "failed":
        assert cut.transfer is not None
        assert cut.transfer.cause == "hung_up"
