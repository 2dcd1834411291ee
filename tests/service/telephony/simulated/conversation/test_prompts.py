import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.service.telephony.simulated.conversation.phrases import bank_or_english
from callwright.service.telephony.simulated.conversation.prompts import (
    MAX_OBJECTIVES,
    MAX_SENTENCE_CHARS,
    answer_to,
    clipped,
    read_prompt,
    sentences_of,
)
from tests.support.calls.simulated_calls import PROMPT

ENGLISH = bank_or_english("en")


def test_bullets_are_objectives_and_the_section_of_facts_holds_facts() -> None:
    brief = read_prompt(PROMPT, ENGLISH)
    assert brief.objectives == (
        "Does {{day}} at ten suit you?",
        "Could you confirm the address?",
        "How many people will come?",
    )
    assert [fact.text for fact in brief.facts] == ["A check-up costs 40 dollars.", "It takes twenty minutes."]
    assert brief.identity == "I'm Ada from Northwind Dental."


def test_instructions_about_manner_are_neither_said_nor_known() -> None:
    brief = read_prompt("Be polite. Never give advice.\n## Rules\n- Speak slowly\n- The price is secret.", ENGLISH)
    assert brief.objectives == ()
    assert brief.facts == ()


def test_instructions_in_running_text_are_objectives_too() -> None:
    brief = read_prompt("Ask whether Thursday suits and confirm the address. Parking is free.", ENGLISH)
    assert brief.objectives == ("Does Thursday suit you?", "Could you confirm the address?")
    assert [fact.text for fact in brief.facts] == ["Parking is free."]


@pytest.mark.parametrize("marker", ["- ", "* ", "• ", "1. ", "2) ", "(3) ", "Step 4: ", "a) "])
def test_every_usual_bullet_is_recognised(marker: str) -> None:
    assert read_prompt(f"{marker}Is the roof leaking?", ENGLISH).objectives == ("Is the roof leaking?",)


@pytest.mark.parametrize(
    ("language", "prompt", "said"),
    [
        ("es", "- Pregunta si el jueves le viene bien", "¿Puedo preguntarle si el jueves le viene bien?"),
        ("de", "- Frage, ob der Donnerstag passt", "Darf ich fragen, ob der Donnerstag passt?"),
        ("fr", "- Confirmez l'adresse", "Pouvez-vous me confirmer l'adresse ?"),
        ("pt", "- Confirme o endereço", "Pode confirmar o endereço, por favor?"),
        ("it", "- Chiedi se giovedì va bene", "Posso chiederle se giovedì va bene?"),
        ("nl", "- Vraag of donderdag schikt", "Mag ik vragen of donderdag schikt?"),
        ("hi", "- पते की पुष्टि करें", "क्या आप पते की पुष्टि कर सकते हैं?"),
        ("de", "- Das Dach ist neu", "Das Dach ist neu."),
    ],
)
def test_other_languages_turn_plain_instructions_and_say_the_rest_as_it_stands(
    language: str, prompt: str, said: str
) -> None:
    assert read_prompt(prompt, bank_or_english(language)).objectives == (said,)


def test_questions_are_answered_by_the_sentence_that_fits() -> None:
    brief = read_prompt(PROMPT + "\nQ: Is there parking?\nA: Yes, right behind the house.", ENGLISH)
    assert answer_to("How much is it?", brief, ENGLISH) == "A check-up costs 40 dollars."
    assert answer_to("How long does that take?", brief, ENGLISH) == "It takes twenty minutes."
    assert answer_to("And is there parking?", brief, ENGLISH) == "Yes, right behind the house."
    assert answer_to("Who is this?", brief, ENGLISH) == "I'm Ada from Northwind Dental."
    assert answer_to("What colour is the door?", brief, ENGLISH) is None


def test_abbreviations_do_not_end_a_sentence() -> None:
    assert sentences_of("Dr. Smith is in. Please wait.") == ["Dr. Smith is in.", "Please wait."]


def test_there_are_never_more_objectives_than_a_call_can_hold() -> None:
    brief = read_prompt("\n".join(f"- Is number {number} fine?" for number in range(50)), ENGLISH)
    assert len(brief.objectives) == MAX_OBJECTIVES


@given(st.text(max_size=2_000), st.sampled_from(["en", "es", "hi", "xx"]))
def test_any_text_is_a_prompt(text: str, language: str) -> None:
    bank = bank_or_english(language)
    brief = read_prompt(text, bank)
    assert all(objective.strip() for objective in brief.objectives)
    answer_to(text[:300], brief, bank)


@given(st.text())
def test_a_clipped_text_is_never_longer_than_the_limit_and_its_mark(text: str) -> None:
    assert len(clipped(text * 20)) <= MAX_SENTENCE_CHARS + 1
