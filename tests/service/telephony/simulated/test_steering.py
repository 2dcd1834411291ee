import pytest

from callwright.contract.calls.calls import OUTCOMES
from callwright.service.telephony.simulated.person import ANSWERS
from callwright.service.telephony.simulated.steering import (
    CALLER_INTENTS,
    CALLER_OUTCOMES,
    CALLERS,
    COLUMNS,
    INTENTS,
    MAX_GREETING_CHARS,
    MAX_SCRIPT_TURNS,
    MOODS,
    check_steering,
    read_steering,
)


@pytest.mark.parametrize(
    ("name", "value"),
    [("outcome", each) for each in OUTCOMES]
    + [("persona", each) for each in MOODS]
    + [("intent", each) for each in INTENTS]
    + [("transfer", each) for each in ANSWERS]
    + [("language", "pt-BR"), ("language", "en_GB"), ("script", "Yes?|No."), ("greeting", "x" * 1_000)]
    + [("intent", " YES ")],
)
def test_every_known_value_is_accepted(name: str, value: str) -> None:
    assert check_steering(name, value) is None


@pytest.mark.requirement("INSIM-08")
@pytest.mark.parametrize(
    ("name", "value"),
    [("outcome", each) for each in CALLER_OUTCOMES]
    + [("intent", each) for each in CALLER_INTENTS]
    + [
        ("persona", "angry"),
        ("transfer", "busy"),
        ("language", "pt-BR"),
        ("script", "Hi.|Bye."),
        ("patience", " 3600 "),
    ],
)
def test_every_known_value_of_a_caller_is_accepted(name: str, value: str) -> None:
    assert check_steering(name, value, CALLERS) is None
    assert read_steering({name: value}, CALLERS).problems == ()


def test_patience_is_of_callers_and_a_greeting_of_contacts() -> None:
    assert check_steering("patience", "60") is not None
    assert check_steering("greeting", "Hi") is None
    refused = check_steering("greeting", "Hi", CALLERS)
    assert refused is not None
    assert "sim.patience" in refused
    assert read_steering({"patience": "60"}, CALLERS).patience_s == 60.0


@pytest.mark.parametrize("name", COLUMNS)
def test_an_empty_value_means_the_column_is_absent(name: str) -> None:
    assert check_steering(name, "  ") is None
    assert read_steering({name: " "}) == read_steering({})


@pytest.mark.parametrize(
    ("name", "allowed"), [("outcome", OUTCOMES), ("persona", MOODS), ("intent", INTENTS), ("transfer", ANSWERS)]
)
def test_a_wrong_value_is_refused_with_everything_that_is_allowed(name: str, allowed: tuple[str, ...]) -> None:
    reason = check_steering(name, "maybe")
    assert reason is not None
    assert reason.startswith(f"sim.{name} cannot be 'maybe'")
    assert all(each in reason for each in allowed)


def test_an_unknown_column_is_refused_with_the_names_of_the_known_ones() -> None:
    reason = check_steering("mood", "angry")
    assert reason is not None
    assert all(f"sim.{each}" in reason for each in COLUMNS)


@pytest.mark.parametrize("value", ["english please", "e", "en--US", "en-US-" + "x" * 40])
def test_what_is_no_language_tag_is_refused(value: str) -> None:
    assert check_steering("language", value) is not None


def test_a_script_with_too_many_turns_is_refused() -> None:
    assert check_steering("script", "|".join(["yes"] * MAX_SCRIPT_TURNS)) is None
    assert check_steering("script", "|".join(["yes"] * (MAX_SCRIPT_TURNS + 1))) is not None


def test_what_is_not_understood_is_left_out_and_named() -> None:
    steering = read_steering({"outcome": "sunny", "intent": "No", "colour": "red"})
    assert steering.outcome is None
    assert steering.intent == "no"
    assert len(steering.problems) == 2


def test_a_script_is_split_at_bars_and_loses_empty_turns() -> None:
    assert read_steering({"script": "Hello? | | Yes, fine.|"}).script == ("Hello?", "Yes, fine.")


def test_a_greeting_that_is_too_long_is_refused_with_the_limit() -> None:
    assert check_steering("greeting", " " + "x" * MAX_GREETING_CHARS + " ") is None
    assert check_steering("greeting", "x" * (MAX_GREETING_CHARS + 1)) == (
        "sim.greeting is too long; allowed are 1000 characters."
    )


def test_a_greeting_keeps_its_letters_and_bars() -> None:
    assert read_steering({"greeting": " Hi | It's Ann. "}).greeting == "Hi | It's Ann."
