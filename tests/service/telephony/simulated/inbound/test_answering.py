from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.contract.calls.calls import Outcome
from callwright.service.telephony.answering import Answering, AnsweringAction, RejectReason, Wait
from callwright.service.telephony.engine import EndedBy, HangupCause
from callwright.service.telephony.simulated.conversation.phrases import LANGUAGES, bank_or_english
from callwright.service.telephony.simulated.network import simulate
from callwright.service.telephony.simulated.person import ANSWERS
from callwright.service.telephony.simulated.steering import CALLER_INTENTS, CALLER_OUTCOMES, MOODS
from tests.support.calls.simulated_callers import CALLER, assert_sound_call, incoming
from tests.support.calls.simulated_calls import said_by

SEEDS = [str(seed) for seed in range(40)]


@pytest.mark.requirement("INSIM-01")
def test_the_agent_answers_after_a_ring_or_two_and_the_caller_says_why_it_calls() -> None:
    calling = {phrase for register in ("warm", "plain", "curt") for phrase in _contact("calling", register)}
    for seed in SEEDS:
        request = incoming(seed=seed, steering={"intent": "yes", "persona": "neutral"}, variables={"name": "Maria"})
        result = simulate(request)
        assert_sound_call(result, request)
        assert (result.outcome, result.disposition) == ("answered", "goal_met")
        assert result.answered_s is not None
        assert result.ringing_s is not None
        assert 2.0 <= result.answered_s - result.ringing_s <= 7.0
        agent, contact = said_by(result, "agent"), said_by(result, "contact")
        assert agent[0].startswith("Hello Maria, this is Ada from Northwind Dental.")
        assert "assistant" in agent[0]
        assert agent[0].endswith("How can I help you?")
        assert contact[0] in calling
        assert len(contact) > 2


def _contact(key: str, register: str) -> tuple[str, ...]:
    return next(
        phrases
        for (name, spoken), phrases in bank_or_english("en", incoming=True).contact.items()
        if (name, spoken) == (key, register)
    )


@pytest.mark.requirement("INSIM-01")
@pytest.mark.parametrize(
    ("intent", "disposition", "cause", "ended_by"),
    [
        ("yes", "goal_met", "normal_clearing", "agent"),
        ("asks_first", "goal_met", "normal_clearing", "agent"),
        ("no", "not_interested", "normal_clearing", "agent"),
        ("later", "callback_requested", "normal_clearing", "agent"),
        ("opt_out", "do_not_call", "normal_clearing", "agent"),
        ("wrong_number", "wrong_number", "normal_clearing", "agent"),
        ("wants_human", "escalated", "normal_clearing", "agent"),
        ("other_language", "goal_met", "normal_clearing", "agent"),
        ("silent", "incomplete", "inactivity_timeout", "platform"),
    ],
)
@pytest.mark.parametrize("language", LANGUAGES)
def test_what_a_caller_wants_decides_the_end_in_every_language(
    intent: str, disposition: str, cause: HangupCause, ended_by: EndedBy, language: str
) -> None:
    for seed in SEEDS[:8]:
        request = incoming(seed=seed, language=language, welcome="", steering={"intent": intent})
        result = simulate(request)
        assert_sound_call(result, request)
        assert (result.disposition, result.hangup_cause, result.ended_by) == (disposition, cause, ended_by)


@pytest.mark.requirement("INSIM-01")
def test_a_caller_hears_neither_the_reason_of_a_call_nor_thanks_for_picking_up() -> None:
    prompt = "You are Ada from Northwind. The next check-up is on 12 March. A check-up costs 40 dollars."
    steering = {"script": "Hello, I would like to make an appointment.|No."}
    for seed in SEEDS:
        result = simulate(incoming(seed=seed, prompt=prompt, welcome="", steering=steering))
        agent = " ".join(said_by(result, "agent"))
        assert "12 March" not in agent
        assert "picking up" not in agent
        assert "get in touch" not in agent


def test_a_question_of_a_caller_is_answered_from_the_prompt() -> None:
    script = "Hi, how much does a check-up cost?|No, that was all."
    result = simulate(incoming(steering={"script": script}))
    assert said_by(result, "contact")[:2] == script.split("|")
    assert said_by(result, "agent")[1].startswith("A check-up costs 40 dollars.")
    assert result.unanswered_questions == ()


def test_a_caller_who_asks_for_a_person_is_transferred_from_the_number_that_was_called() -> None:
    request = incoming(steering={"outcome": "transferred"})
    result = simulate(request)
    assert_sound_call(result, request)
    assert (result.outcome, result.hangup_cause) == ("transferred", "transfer_completed")
    nobody = simulate(incoming(steering={"transfer": "busy"}))
    assert any("no destination" in warning for warning in nobody.warnings)


@pytest.mark.requirement("INSIM-02")
@pytest.mark.parametrize("name", ["", None])
def test_a_caller_whose_name_nobody_knows_is_greeted_without_it(name: str | None) -> None:
    variables = {} if name is None else {"name": name}
    result = simulate(incoming(variables=variables, ai_disclosure=False, steering={"intent": "yes"}))
    assert said_by(result, "agent")[0] == "Hello, this is Ada from Northwind Dental. How can I help you?"
    assert "The variable 'name' has no value for this caller: what needs it is left out." in result.warnings
    assert not any(" at ten suits" in text or "{{" in text for text in said_by(result, "agent"))


@pytest.mark.requirement("INSIM-02")
def test_an_agent_whose_welcome_needs_what_is_not_known_greets_all_the_same() -> None:
    result = simulate(incoming(welcome="Am I speaking with {{name}}?", ai_disclosure=False))
    assert said_by(result, "agent")[0] == "Hello, thank you for calling. How can I help you?"


@pytest.mark.requirement("INSIM-07")
@pytest.mark.parametrize(
    ("reason", "outcome", "cause"),
    [
        ("busy", "busy", "user_busy"),
        ("blocked", "rejected", "call_rejected"),
        ("closed", "rejected", "call_rejected"),
        (None, "busy", "user_busy"),
    ],
)
def test_a_refused_call_ends_at_once(reason: RejectReason | None, outcome: Outcome, cause: HangupCause) -> None:
    request = incoming(Answering("reject", reject_reason=reason))
    result = simulate(request)
    assert_sound_call(result, request)
    assert (result.outcome, result.hangup_cause, result.ended_by) == (outcome, cause, "platform")
    assert (result.ended_s, result.ringing_s, result.answered_s) == (0.0, None, None)


@pytest.mark.requirement("INSIM-08")
def test_a_steered_caller_hangs_up_before_anybody_answers() -> None:
    request = incoming(steering={"outcome": "abandoned"})
    result = simulate(request)
    assert_sound_call(result, request)
    assert (result.outcome, result.hangup_cause, result.ended_by) == ("abandoned", "contact_hangup", "contact")
    assert result.ringing_s is not None
    assert 1.0 < result.ended_s - result.ringing_s < 7.0


@pytest.mark.requirement("INSIM-08")
@pytest.mark.parametrize(
    ("steering", "names"),
    [
        ({"greeting": "Hi"}, "sim.greeting is not a steering column"),
        ({"intent": "screening"}, "sim.intent cannot be 'screening'"),
        ({"outcome": "invalid_number"}, "sim.outcome cannot be 'invalid_number'"),
        ({"outcome": "voicemail"}, "sim.outcome cannot be 'voicemail' on a call that is answered by agent"),
        ({"patience": "long"}, "sim.patience cannot be 'long'"),
        ({"patience": "3601"}, "sim.patience cannot be '3601'"),
        ({"patience": "-1"}, "sim.patience cannot be '-1'"),
    ],
)
def test_steering_that_does_not_fit_a_caller_is_a_warning_and_changes_nothing(
    steering: dict[str, str], names: str
) -> None:
    plain, result = simulate(incoming()), simulate(incoming(steering=steering))
    assert any(warning.startswith(names) for warning in result.warnings)
    assert replace(result, warnings=()) == replace(plain, warnings=())


@pytest.mark.requirement("INSIM-09")
def test_the_caller_the_number_and_the_seed_decide_and_the_ids_do_not() -> None:
    first = simulate(incoming())
    assert replace(simulate(incoming(call_id="cal_2")), call_id="cal_1") == first
    assert simulate(incoming(seed="other")) != first
    assert simulate(incoming(caller="+4915112345679")) != first
    assert simulate(incoming(to="+4930123457")) != first


@pytest.mark.requirement("INSIM-09")
@pytest.mark.parametrize("action", get_args(AnsweringAction))
def test_a_caller_may_withhold_its_number(action: AnsweringAction) -> None:
    asked = {"intent": "later"} if action == "agent" else {}
    request = incoming(Answering(action, forward_to="+4930999999"), caller="", steering=asked)
    result = simulate(request)
    assert_sound_call(result, request)
    assert result.callback_after_s is None
    if action == "agent":
        assert result.disposition == "callback_requested"
        assert simulate(incoming(steering=asked)).callback_after_s is not None


def test_a_reserved_number_calls_with_its_intent() -> None:
    dispositions = {
        number: simulate(incoming(caller=f"+120255501{number}")).disposition for number in ("04", "05", "07")
    }
    assert dispositions == {"04": "do_not_call", "05": "wrong_number", "07": "escalated"}
    early = simulate(incoming(caller="+12025550108"))
    assert (early.outcome, early.hangup_cause, said_by(early, "contact")) == ("answered", "contact_hangup", [])


def test_callers_are_of_many_kinds() -> None:
    results = [simulate(incoming(seed=str(seed))) for seed in range(400)]
    dispositions = [result.disposition for result in results]
    assert set(dispositions) >= {"goal_met", "escalated", "wrong_number", "do_not_call", "incomplete", "not_interested"}
    assert 200 < dispositions.count("goal_met") < 380


texts = st.one_of(
    st.text(max_size=200),
    st.sampled_from(["", " ", "?", "{{name}}", "Hello {{name}}", "{{", "{{a b}}, hi. {{name}}?", "\n", "a" * 9_000]),
    st.text(alphabet="-*.?!, \nHello{}name", max_size=200),
)
seconds = st.one_of(st.floats(min_value=0, max_value=4_000), st.sampled_from([0.0, 1e-3, 1e9]))
answerings = st.builds(
    Answering,
    action=st.sampled_from(get_args(AnsweringAction)),
    reject_reason=st.sampled_from([None, "busy", "blocked", "closed"]),
    forward_to=st.sampled_from([None, "+4930111111", "+12025550101", "+12025550103", "+1", "+8816555555"]),
    wait=st.none() | st.builds(Wait, position=st.integers(0, 10_000), longest_s=seconds, waits_s=st.none() | seconds),
)
OUTCOMES: dict[AnsweringAction, set[Outcome]] = {
    "agent": {"answered", "transferred", "abandoned", "busy"},
    "voicemail": {"voicemail", "voicemail_left", "abandoned", "busy"},
    "forward": {"transferred", "busy", "no_answer", "abandoned"},
    "reject": {"busy", "rejected"},
}


@pytest.mark.requirement("INSIM-09")
@settings(max_examples=300, deadline=None)
@given(
    answering=answerings,
    prompt=texts,
    welcome=texts,
    language=st.one_of(st.sampled_from([*LANGUAGES, "es-MX", "pl", "", "xx-YY"]), st.text(max_size=10)),
    variables=st.dictionaries(st.sampled_from(["name", "a b"]), texts),
    seed=st.text(max_size=5),
    caller=st.sampled_from(["", CALLER, "+12025550104", "+12025550108", "anonymous"]),
    steering=st.fixed_dictionaries(
        {},
        optional={
            "outcome": st.sampled_from(CALLER_OUTCOMES),
            "intent": st.sampled_from(CALLER_INTENTS),
            "persona": st.sampled_from(MOODS),
            "language": st.sampled_from(["de", "pl", "en"]),
            "transfer": st.sampled_from(ANSWERS),
            "patience": st.sampled_from(["0", "20", "3600"]),
            "script": st.text(max_size=60) | st.sampled_from(["[9]", "Yes.|[9]", "Stop calling me.", "x " * 400]),
        },
    ),
    limit_s=st.floats(min_value=0.1, max_value=4_000),
    announces=st.booleans(),
)
def test_any_call_that_comes_in_ends_soundly_and_the_same_again(
    answering: Answering,
    prompt: str,
    welcome: str,
    language: str,
    variables: dict[str, str],
    seed: str,
    caller: str,
    steering: dict[str, str],
    limit_s: float,
    announces: bool,
) -> None:
    request = incoming(
        answering,
        prompt=prompt,
        welcome=welcome,
        language=language,
        variables=variables,
        seed=seed,
        caller=caller,
        steering=steering,
        max_duration_s=limit_s,
        recording_announcement=announces,
    )
    result = simulate(request)
    assert result.outcome in OUTCOMES[answering.action]
    assert simulate(request) == result
    assert result.ended_s >= (result.answered_s or result.ringing_s or result.initiated_s)
    assert result.duration_s <= limit_s + 1e-6
    starts = [turn.start_s for turn in result.turns]
    assert starts == sorted(starts)
    assert all(0 <= turn.start_s <= turn.end_s <= result.duration_s + 1e-6 for turn in result.turns)
    assert (answering.action == "reject") <= (result.answered_s is None)
    assert all("{{name}}" not in turn.text for turn in result.turns if "{{" not in "".join(variables.values()))


@pytest.mark.parametrize("action", get_args(AnsweringAction))
def test_every_language_has_its_own_words_for_callers(action: AnsweringAction) -> None:
    answering = Answering(action, forward_to="+12025550102", wait=Wait(2, 60.0) if action == "agent" else None)
    for language in LANGUAGES:
        result = simulate(incoming(answering, language=language))
        assert {turn.language for turn in result.turns} <= {language}
        assert (action == "reject") or result.turns
        english = simulate(incoming(answering, language="en"))
        assert language == "en" or action == "reject" or result.turns[0].text != english.turns[0].text


def test_an_agent_in_a_language_without_phrases_is_introduced_in_english() -> None:
    request = incoming(Answering("voicemail"), language="pl-PL")
    result = simulate(request)
    assert_sound_call(result, request)
    assert result.turns[0].language == "en"
