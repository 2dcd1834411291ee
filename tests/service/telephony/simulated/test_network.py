import json
import os
import subprocess
import sys
from dataclasses import asdict, replace
from typing import Literal, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.contract.calls.calls import Outcome
from callwright.service.telephony.engine import VoicemailPolicy
from callwright.service.telephony.simulated.network import simulate
from callwright.service.telephony.simulated.steering import INTENTS, MOODS
from tests.support.calls.simulated_calls import WELCOME, assert_sound, call, said_by

SEEDS = [str(seed) for seed in range(30)]
MACHINE = "+12025550103"

DIGEST = """
import json, sys
from dataclasses import asdict
sys.path.insert(0, "")
from callwright.service.telephony.simulated.network import simulate
from tests.support.calls.simulated_calls import call
calls = [call(to=f"+4915{n:08d}", language=tag) for n in range(40) for tag in ("en", "de", "hi")]
print(json.dumps([asdict(simulate(each)) for each in calls]))
"""


def test_other_processes_with_other_hash_seeds_get_the_same_calls() -> None:
    here = json.dumps(
        [asdict(simulate(call(to=f"+4915{n:08d}", language=tag))) for n in range(40) for tag in ("en", "de", "hi")]
    )
    for hash_seed in ("0", "12345"):
        done = subprocess.run(
            [sys.executable, "-c", DIGEST],
            env=os.environ | {"PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        assert json.loads(done.stdout) == json.loads(here)


def test_the_order_of_calls_and_their_ids_change_nothing() -> None:
    numbers = [f"+4915{index:08d}" for index in range(200)]
    forwards = {to: simulate(call(to=to)) for to in numbers}
    backwards = {to: simulate(call(to=to, call_id="cal_other")) for to in reversed(numbers)}
    assert {to: replace(result, call_id="cal_1") for to, result in backwards.items()} == forwards


def test_another_seed_number_or_attempt_is_another_call() -> None:
    first = simulate(call(to="+12025550100", seed="a"))
    assert simulate(call(to="+12025550100", seed="a")) == first
    assert simulate(call(to="+12025550100", seed="b")) != first
    assert simulate(call(to="+12025550100", seed="a", attempt=2)) != first
    assert simulate(call(to="+12025550106", seed="a")) != first


@pytest.mark.parametrize("outcome", get_args(Outcome))
def test_a_steered_outcome_happens_on_every_attempt(outcome: Outcome) -> None:
    for to in ("+4930123456", "+12025550102", "+12025550104"):
        for attempt, seed in enumerate(SEEDS[:10], start=1):
            request = call(to=to, seed=seed, attempt=attempt, steering={"outcome": outcome}, ring_timeout_s=15)
            result = simulate(request)
            assert_sound(result, request)
            assert result.outcome == outcome


@pytest.mark.parametrize(
    ("intent", "disposition", "cause"),
    [
        ("yes", "goal_met", "normal_clearing"),
        ("no", "not_interested", "normal_clearing"),
        ("later", "callback_requested", "normal_clearing"),
        ("asks_first", "goal_met", "normal_clearing"),
        ("opt_out", "do_not_call", "normal_clearing"),
        ("wrong_number", "wrong_number", "normal_clearing"),
        ("wants_human", "escalated", "normal_clearing"),
        ("other_language", "goal_met", "normal_clearing"),
        ("silent", "incomplete", "inactivity_timeout"),
        ("gatekeeper", "not_available", "normal_clearing"),
        ("screening", "goal_met", "normal_clearing"),
    ],
)
@pytest.mark.parametrize("mood", MOODS)
def test_a_steered_intent_decides_the_end_in_every_mood(intent: str, disposition: str, cause: str, mood: str) -> None:
    assert intent in INTENTS
    for seed in SEEDS:
        request = call(seed=seed, steering={"outcome": "answered", "intent": intent, "persona": mood})
        result = simulate(request)
        assert_sound(result, request)
        assert (result.disposition, result.hangup_cause) == (disposition, cause)


def test_a_contact_that_wants_a_call_later_says_when() -> None:
    for seed in SEEDS:
        result = simulate(call(seed=seed, steering={"outcome": "answered", "intent": "later"}))
        assert result.callback_after_s in (3_600, 10_800, 86_400, 604_800)


def test_an_opt_out_is_confirmed_and_ends_the_call() -> None:
    for seed in SEEDS:
        result = simulate(call(to="+12025550104", seed=seed))
        agent = said_by(result, "agent")
        assert "won't call you again" in agent[-1] or "won't hear from us again" in agent[-1]


def test_silence_is_asked_about_twice() -> None:
    result = simulate(call(steering={"outcome": "answered", "intent": "silent"}))
    assert said_by(result, "contact") == []
    assert len(said_by(result, "agent")) == 4
    assert result.duration_s > 15


def test_a_script_is_said_word_for_word_before_anything_else() -> None:
    script = ["Hm,  who is this?", "ça va… \U0001f600", "And what colour is the door?", "No.", "Fine then"]
    for seed in SEEDS:
        steering = {"outcome": "answered", "script": "|".join(script), "persona": "angry"}
        request = call(seed=seed, steering=steering)
        result = simulate(request)
        assert_sound(result, request)
        assert said_by(result, "contact")[: len(script)] == script
        assert "And what colour is the door?" in result.unanswered_questions


def test_a_script_longer_than_the_prompt_is_said_to_its_end() -> None:
    script = ["Yes.", "Yes.", "Right.", "Good.", "Fine.", "See you."]
    result = simulate(call(prompt="- Is it fine?", steering={"outcome": "answered", "script": "|".join(script)}))
    assert said_by(result, "contact")[: len(script)] == script


@pytest.mark.parametrize(
    ("words", "disposition"),
    [
        ("Take me off your list.", "do_not_call"),
        ("You have the wrong number.", "wrong_number"),
        ("I want to talk to a real person.", "escalated"),
        ("No thanks, not interested.", "not_interested"),
        ("Please call me back.", "callback_requested"),
    ],
)
def test_the_agent_understands_scripted_wishes(words: str, disposition: str) -> None:
    result = simulate(call(steering={"outcome": "answered", "script": f"Hello.|{words}"}))
    assert result.disposition == disposition


def test_a_transfer_is_announced() -> None:
    result = simulate(call(steering={"outcome": "transferred"}))
    assert (result.outcome, result.disposition) == ("transferred", "escalated")
    assert any("colleague" in text for text in said_by(result, "agent"))


def test_a_question_is_answered_from_the_prompt_or_recorded() -> None:
    steering = {"outcome": "answered", "script": "Hello.|How much does it cost?|Is the door green?"}
    result = simulate(call(steering=steering))
    assert any(text.startswith("A check-up costs 40 dollars. Does Thursday") for text in said_by(result, "agent"))
    assert result.unanswered_questions == ("Is the door green?",)


def test_the_objectives_of_the_prompt_are_walked_in_order() -> None:
    text = " ".join(said_by(simulate(call(to="+12025550100")), "agent"))
    steps = ["Does Thursday at ten suit you?", "Could you confirm the address?", "How many people will come?"]
    assert sorted(steps, key=text.index) == steps


def test_the_welcome_comes_first_and_discloses_an_automated_caller() -> None:
    first = simulate(call(to="+12025550100")).turns[0]
    assert first.speaker == "agent"
    assert first.text.startswith("Hello Maria, this is Ada from Northwind Dental.")
    assert "AI assistant" in first.text or "automated assistant" in first.text
    assert first.text.endswith("Is now a good time?")
    plain = simulate(call(to="+12025550100", ai_disclosure=False)).turns[0]
    assert plain.text == WELCOME.replace("{{name}}", "Maria")


def test_a_welcome_that_discloses_by_itself_stays_as_it_is() -> None:
    welcome = "Hello, I am an automated assistant of Northwind."
    assert simulate(call(to="+12025550100", welcome=welcome)).turns[0].text == welcome


@pytest.mark.requirement("AGENT-10")
def test_without_a_welcome_the_contact_speaks_first_and_still_hears_the_disclosure() -> None:
    for seed in SEEDS:
        turns = simulate(call(to="+12025550100", welcome=" ", seed=seed)).turns
        assert [turn.speaker for turn in turns[:2]] == ["contact", "agent"]
        assert "assistant" in turns[1].text


@pytest.mark.parametrize("welcome", [WELCOME, ""])
def test_a_person_behind_a_screening_service_hears_the_disclosure_as_well(welcome: str) -> None:
    for seed in SEEDS:
        turns = simulate(
            call(seed=seed, welcome=welcome, steering={"outcome": "answered", "intent": "screening"})
        ).turns
        connected = next(turn.index for turn in turns if "line" in turn.text and turn.speaker == "contact") + 1
        assert turns[connected].speaker == "contact"
        assert "assistant" in turns[connected + 1].text


@pytest.mark.requirement("CONV-29")
def test_every_variable_without_a_value_is_warned_about_once() -> None:
    for to in ("+12025550100", "+12025550102"):
        result = simulate(call(to=to, variables={}))
        assert [warning for warning in result.warnings if "no value" in warning] == [
            "The variable 'name' has no value for this contact.",
            "The variable 'day' has no value for this contact.",
        ]
    assert simulate(call(to="+12025550100")).warnings == ()


def test_a_value_of_several_lines_may_hold_the_objectives() -> None:
    variables = {"name": "Maria", "steps": "- Is the roof dry?\n- Is the cellar dry?"}
    text = " ".join(said_by(simulate(call(to="+12025550100", prompt="{{steps}}", variables=variables)), "agent"))
    assert "Is the roof dry?" in text
    assert "Is the cellar dry?" in text


Action = Literal["hangup", "leave_message", "continue"]


@pytest.mark.parametrize(
    ("action", "message", "outcome", "heard"),
    [
        ("hangup", "Call us, {{name}}.", "voicemail", None),
        ("leave_message", "Call us, {{name}}.", "voicemail_left", "Call us, Maria."),
        ("leave_message", "", "voicemail_left", "Hello Maria, this is Ada from Northwind Dental."),
        ("continue", "Call us.", "voicemail_left", "Hello Maria, this is Ada from Northwind Dental."),
    ],
)
def test_the_voicemail_policy_decides_what_a_machine_hears(
    action: Action, message: str, outcome: Outcome, heard: str | None
) -> None:
    for seed in SEEDS:
        request = call(to=MACHINE, seed=seed, voicemail=VoicemailPolicy(action=action, message=message))
        result = simulate(request)
        assert_sound(result, request)
        assert result.outcome == outcome
        assert result.answered_by in ("machine_end_beep", "machine_end_silence")
        assert result.turns[0].speaker == "contact"
        agent = said_by(result, "agent")
        assert agent[0].startswith(heard) if heard else not agent


@pytest.mark.parametrize("outcome", ["voicemail", "voicemail_left", None])
def test_a_planted_greeting_is_what_the_mailbox_says_and_changes_nothing_else(outcome: Outcome | None) -> None:
    planted = "Hi, this is ANN. Leave a message about the kayak | after the beep."
    steering = {} if outcome is None else {"outcome": outcome}
    for seed in SEEDS:
        usual = simulate(call(to=MACHINE, seed=seed, steering=steering))
        request = call(to=MACHINE, seed=seed, steering=steering | {"greeting": planted})
        result = simulate(request)
        assert_sound(result, request)
        assert said_by(result, "contact") == [planted]
        assert said_by(result, "agent") == said_by(usual, "agent")
        assert (result.outcome, result.answered_by) == (usual.outcome, usual.answered_by)


def test_a_planted_greeting_is_not_said_by_a_person() -> None:
    request = call(to="+12025550100", steering={"greeting": "After the beep."})
    assert simulate(request) == simulate(replace(request, steering={}))


def test_without_detection_a_machine_is_talked_to_as_to_a_person() -> None:
    result = simulate(call(to=MACHINE, voicemail=VoicemailPolicy(detection=False, action="hangup")))
    assert (result.outcome, result.answered_by, result.disposition) == ("answered", "unknown", "incomplete")
    assert len(said_by(result, "agent")) > 1


def test_leaving_a_message_without_any_words_is_warned_about() -> None:
    result = simulate(call(to=MACHINE, welcome="", voicemail=VoicemailPolicy(action="leave_message")))
    assert result.outcome == "voicemail_left"
    assert any("general one" in warning for warning in result.warnings)


@pytest.mark.parametrize("limit_s", [0.5, 3.0, 8.0, 15.0, 25.0])
def test_the_longest_duration_cuts_the_call(limit_s: float) -> None:
    for seed in SEEDS:
        request = call(to="+12025550100", seed=seed, max_duration_s=limit_s)
        result = simulate(request)
        assert_sound(result, request)
        assert (result.hangup_cause, result.ended_by) == ("max_duration", "platform")
        assert result.duration_s == pytest.approx(limit_s)


def test_an_opt_out_counts_even_when_the_time_runs_out_during_the_confirmation() -> None:
    whole = simulate(call(to="+12025550104"))
    confirmation = [turn for turn in whole.turns if turn.speaker == "agent"][-1]
    cut = simulate(call(to="+12025550104", max_duration_s=confirmation.start_s + 0.5))
    assert (cut.disposition, cut.hangup_cause) == ("do_not_call", "max_duration")


def test_a_language_without_phrases_is_warned_about_and_spoken_in_english() -> None:
    result = simulate(
        call(to="+12025550100", language="pl-PL", prompt="- Czy czwartek pasuje?", welcome="Dzień dobry.")
    )
    assert any("'pl-PL'" in warning and "English" in warning for warning in result.warnings)
    assert {turn.language for turn in result.turns if turn.speaker == "contact"} == {"en"}
    assert {turn.language for turn in result.turns if "Czy" in turn.text} == {"pl-PL"}


def test_a_contact_whose_language_nobody_speaks_is_a_language_barrier() -> None:
    result = simulate(call(steering={"outcome": "answered", "language": "pl"}))
    assert result.disposition == "language_barrier"
    assert any("'pl'" in warning for warning in result.warnings)


@pytest.mark.parametrize("language", ["es", "de-AT", "hi-IN"])
def test_a_contact_of_another_language_is_followed_into_it(language: str) -> None:
    for intent, disposition in (("", "goal_met"), ("no", "not_interested"), ("opt_out", "do_not_call")):
        result = simulate(call(steering={"outcome": "answered", "language": language, "intent": intent}))
        assert result.disposition == disposition or intent == ""
        assert {turn.language for turn in result.turns[1:]} == {language}


def test_steering_that_is_not_understood_becomes_a_warning() -> None:
    result = simulate(call(steering={"mood": "angry", "intent": "perhaps"}))
    assert len([warning for warning in result.warnings if "sim." in warning]) == 2


def test_interruptions_happen_and_cut_the_agent_off() -> None:
    interrupted = 0
    for seed in range(200):
        request = call(seed=str(seed), steering={"outcome": "answered", "persona": "angry"})
        result = simulate(request)
        assert_sound(result, request)
        interrupted += any(turn.interrupted for turn in result.turns)
    assert 20 < interrupted < 150


texts = st.one_of(
    st.text(max_size=400),
    st.sampled_from(
        ["", " ", "?", "{{name}}", "{{", "- \n- ?", "\U0001f600" * 50, "שלום עולם? مرحبا بالعالم؟", "a" * 32_768]
    ),
    st.text(alphabet="-*.?! \nAsk if{}:", max_size=400),
)


@settings(max_examples=200, deadline=None)
@given(
    prompt=texts,
    welcome=texts,
    language=st.one_of(st.sampled_from(["en", "es-MX", "hi", "pl", "", "xx-YY"]), st.text(max_size=10)),
    variables=st.dictionaries(st.sampled_from(["name", "day"]), texts),
    seed=st.text(max_size=5),
    intent=st.sampled_from(INTENTS),
    script=st.text(max_size=60),
    limit_s=st.floats(min_value=0.1, max_value=600),
    outcome=st.sampled_from(["answered", "voicemail", "voicemail_left", "transferred"]),
)
def test_any_prompt_and_welcome_make_a_sound_call(
    prompt: str,
    welcome: str,
    language: str,
    variables: dict[str, str],
    seed: str,
    intent: str,
    script: str,
    limit_s: float,
    outcome: str,
) -> None:
    request = call(
        prompt=prompt,
        welcome=welcome,
        language=language,
        variables=variables,
        seed=seed,
        max_duration_s=limit_s,
        steering={"outcome": outcome, "intent": intent, "script": script},
    )
    result = simulate(request)
    assert_sound(result, request)
    assert simulate(request) == result
    assert all(len(turn.text) <= 10_000 for turn in result.turns)


@pytest.mark.parametrize(
    "prompt", ["x" * 32_768, "Ask " * 8_192, "- Ask if it is so\n" * 1_800, "a. " * 10_922, "?\n" * 16_384]
)
def test_the_longest_prompt_is_read(prompt: str) -> None:
    request = call(to="+12025550100", prompt=prompt)
    assert_sound(simulate(request), request)
