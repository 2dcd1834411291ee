import pytest

from callwright.service.telephony.simulated.network import simulate
from callwright.service.telephony.simulated.reserved import reserved
from tests.support.calls.simulated_calls import PROMPT, WELCOME, assert_sound, call, said_by

SEEDS = [str(seed) for seed in range(25)]


@pytest.mark.parametrize(
    ("ending", "outcome", "disposition", "hangup_cause"),
    [
        ("00", "answered", "goal_met", "normal_clearing"),
        ("01", "busy", None, "user_busy"),
        ("02", "no_answer", None, "no_answer"),
        ("03", "voicemail", None, "agent_hangup"),
        ("04", "answered", "do_not_call", "normal_clearing"),
        ("05", "answered", "wrong_number", "normal_clearing"),
        ("06", "answered", "not_interested", "normal_clearing"),
        ("07", "answered", "escalated", "normal_clearing"),
        ("08", "answered", "incomplete", "contact_hangup"),
        ("09", "unreachable", None, "network_error"),
        ("10", "rejected", None, "call_rejected"),
        ("11", "answered", "goal_met", "normal_clearing"),
        ("12", "answered", "goal_met", "normal_clearing"),
    ],
)
@pytest.mark.parametrize("prompt", [PROMPT, "", "Ask if they need help."])
@pytest.mark.parametrize("welcome", [WELCOME, ""])
def test_a_reserved_number_forces_its_outcome_on_every_attempt_and_seed(
    ending: str, outcome: str, disposition: str | None, hangup_cause: str, prompt: str, welcome: str
) -> None:
    for attempt, seed in enumerate(SEEDS, start=1):
        request = call(to=f"+120255501{ending}", seed=seed, attempt=attempt, prompt=prompt, welcome=welcome)
        result = simulate(request)
        assert_sound(result, request)
        assert (result.outcome, result.disposition, result.hangup_cause) == (outcome, disposition, hangup_cause)


@pytest.mark.parametrize("language", ["en-US", "es-ES", "de-DE", "fr-FR", "pt-BR", "it-IT", "nl-NL", "hi-IN", "pl-PL"])
@pytest.mark.parametrize(
    ("ending", "disposition"),
    [
        ("00", "goal_met"),
        ("04", "do_not_call"),
        ("05", "wrong_number"),
        ("06", "not_interested"),
        ("07", "escalated"),
        ("11", "goal_met"),
    ],
)
def test_a_reserved_number_is_understood_in_every_language(language: str, ending: str, disposition: str) -> None:
    for seed in SEEDS:
        result = simulate(call(to=f"+120255501{ending}", seed=seed, language=language))
        assert result.disposition == disposition


def test_the_contact_asks_whether_it_is_a_robot_and_hears_that_it_is() -> None:
    for seed in SEEDS:
        result = simulate(call(to="+12025550111", seed=seed, welcome="Hi.", ai_disclosure=False))
        answers = [text for text in said_by(result, "agent") if text.startswith("Yes, ") and "AI assistant" in text]
        assert len(answers) == 1


def test_the_contact_changes_the_language_and_the_agent_follows() -> None:
    for seed in SEEDS:
        result = simulate(call(to="+12025550112", seed=seed))
        languages = {turn.language for turn in result.turns if turn.speaker == "contact"}
        assert languages.isdisjoint({"en-US", "en"})
        assert {turn.language for turn in result.turns[2:] if turn.speaker == "agent"} == languages
        assert any("in general words" in warning for warning in result.warnings)
        assert result.unanswered_questions == ()


def test_the_early_hang_up_happens_during_the_first_words() -> None:
    result = simulate(call(to="+12025550108"))
    assert result.ended_by == "contact"
    assert len(result.turns) <= 3


@pytest.mark.parametrize("number", ["+12025550113", "+12025550199", "+12025550200", "+442025550100", "+1202555010"])
def test_a_number_outside_the_list_is_an_ordinary_one(number: str) -> None:
    assert reserved(number) is None
