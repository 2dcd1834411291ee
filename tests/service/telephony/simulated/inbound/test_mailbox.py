from collections.abc import Mapping

import pytest

from callwright.service.telephony.answering import LONGEST_MESSAGE_S, Answering
from callwright.service.telephony.engine import CallResult
from callwright.service.telephony.simulated.conversation.phrases import LANGUAGES
from callwright.service.telephony.simulated.network import simulate
from tests.support.calls.simulated_callers import assert_sound_call, incoming
from tests.support.calls.simulated_calls import said_by

MAILBOX = Answering("voicemail")
SEEDS = [str(seed) for seed in range(300)]


def called(
    seed: str = "tests", steering: Mapping[str, str] | None = None, *, announces: bool = False, **also: str
) -> CallResult:
    request = incoming(MAILBOX, seed=seed, steering={**(steering or {}), **also}, recording_announcement=announces)
    result = simulate(request)
    assert_sound_call(result, request)
    return result


@pytest.mark.requirement("INSIM-05")
def test_a_caller_leaves_a_message_after_the_tone_or_hangs_up_without_a_word() -> None:
    results = [called(seed) for seed in SEEDS]
    for result in results:
        first, *message = result.turns
        assert first.text == "Hello. We are closed at the moment. Please leave a message after the tone."
        assert {turn.speaker for turn in message} <= {"contact"}
        assert result.outcome == ("voicemail_left" if message else "voicemail")
        if message:
            assert message[0].start_s >= first.end_s + 1.0
    assert {len(result.turns) for result in results} >= {1, 2, 3, 4}
    left = sum(result.outcome == "voicemail_left" for result in results)
    assert 0.6 < left / len(results) < 0.85


@pytest.mark.requirement("INSIM-05")
def test_a_message_that_does_not_end_is_cut() -> None:
    endless = [result for result in map(called, SEEDS) if result.hangup_cause == "max_duration"]
    assert 1 <= len(endless) < 30
    scripted = called(script="|".join(["and so on " * 99] * 30))
    for result in (*endless, scripted):
        assert (result.outcome, result.ended_by) == ("voicemail_left", "platform")
        assert result.duration_s - result.turns[0].end_s == pytest.approx(1.0 + LONGEST_MESSAGE_S)
    assert all(result.ended_by == "contact" for result in map(called, SEEDS) if result not in endless)


@pytest.mark.requirement("INSIM-08")
def test_a_steered_caller_says_its_script_or_nothing() -> None:
    result = called(script="It is about the boiler.|It leaks.")
    assert said_by(result, "contact") == ["It is about the boiler.", "It leaks."]
    assert called(outcome="voicemail", script="Hello?").outcome == "voicemail"
    assert called(intent="silent").outcome == "voicemail"
    assert all(called(seed, outcome="voicemail_left").outcome == "voicemail_left" for seed in SEEDS[:40])


@pytest.mark.parametrize("steering", [{"intent": "opt_out"}, {"script": "Stop calling me."}, {"script": "[9]"}])
def test_who_asks_a_mailbox_not_to_be_called_again_has_opted_out(steering: dict[str, str]) -> None:
    assert called(steering=steering).disposition == "do_not_call"
    assert called(outcome="voicemail_left", intent="yes").disposition is None


def test_keys_alone_are_no_message() -> None:
    result = called(script="[1]|[23]")
    assert (result.outcome, list(result.keys)) == ("voicemail", ["1", "23"])


def test_a_mailbox_says_that_it_records_where_that_is_to_be_said() -> None:
    assert "record" in called(announces=True).turns[0].text
    assert "record" not in called().turns[0].text


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_message_by_chance_is_no_opt_out_in_any_language(language: str) -> None:
    steering = {"outcome": "voicemail_left", "intent": "yes"}
    results = [simulate(incoming(MAILBOX, seed=seed, language=language, steering=steering)) for seed in SEEDS[:40]]
    assert {result.disposition for result in results} == {None}
