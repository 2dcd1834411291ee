"""What a prompt says about days, times, places and prices is spoken, in every language that has phrases."""

import pytest

from callwright.service.telephony.engine import CallResult, VoicemailPolicy
from callwright.service.telephony.simulated.conversation.facts import is_news
from callwright.service.telephony.simulated.conversation.phrases import LANGUAGES, bank_or_english
from callwright.service.telephony.simulated.conversation.prompts import answer_to, read_prompt, sentences_of
from callwright.service.telephony.simulated.conversation.speech_acts import is_question
from callwright.service.telephony.simulated.network import simulate
from callwright.service.telephony.simulated.steering import MOODS
from tests.support.calls.prompts_with_facts import LANGUAGES_SPOKEN, Spoken
from tests.support.calls.simulated_calls import assert_sound, call, said_by

PROMPTS = [
    pytest.param(spoken, prompt, id=f"{language}-{kind}")
    for language, spoken in LANGUAGES_SPOKEN.items()
    for kind, prompt in (("stated", spoken.stated), ("instructed", spoken.instructed))
]
each_prompt = pytest.mark.parametrize(("spoken", "prompt"), PROMPTS)


def talk(spoken: Spoken, prompt: str, number: int, **steering: str) -> CallResult:
    request = call(
        to=f"+4930{number:08d}",
        seed=f"seed {number % 7}",
        prompt=prompt,
        welcome=spoken.welcome,
        language=spoken.language,
        variables={"name": "Kim"},
        steering={"outcome": "answered", **steering},
    )
    result = simulate(request)
    assert_sound(result, request)
    return result


def asked(spoken: Spoken, prompt: str) -> str:
    """The one question of the prompt, as the agent asks it."""
    (question,) = read_prompt(prompt, bank_or_english(spoken.language)).objectives
    assert is_question(question)
    return question


def test_every_language_with_phrases_has_prompts_here() -> None:
    assert set(LANGUAGES_SPOKEN) == set(LANGUAGES)


@each_prompt
def test_day_time_and_place_are_said_in_every_call_that_gets_beyond_the_greeting(spoken: Spoken, prompt: str) -> None:
    for number, mood in enumerate(MOODS):
        text = " ".join(said_by(talk(spoken, prompt, number, intent="yes", persona=mood), "agent"))
        assert spoken.day in text
        assert spoken.time in text
        assert spoken.place in text


@each_prompt
def test_nothing_is_asked_before_the_reason_is_said_and_no_instruction_or_secret_is_read_out(
    spoken: Spoken, prompt: str
) -> None:
    question = asked(spoken, prompt)
    questions = 0
    for number in range(60):
        said = talk(spoken, prompt, number, language=spoken.language)
        heard = ""
        for text in said_by(said, "agent"):
            heard += f" {text}"
            if question in text:
                questions += 1
                assert spoken.day in heard
        assert not [words for words in spoken.not_said if words in heard]
    assert questions > 25


@each_prompt
def test_no_fact_is_said_twice_in_a_row(spoken: Spoken, prompt: str) -> None:
    facts = {fact.text for fact in read_prompt(prompt, bank_or_english(spoken.language)).facts}
    repeated = 0
    for number in range(60):
        before: set[str] = set()
        for turn in talk(spoken, prompt, number, language=spoken.language).turns:
            if turn.speaker == "contact":
                continue
            said = {fact for fact in facts if fact in turn.text}
            assert all(turn.text.count(fact) == 1 for fact in said)
            repeated += len(said & before)
            before = said
    assert repeated == 0


@each_prompt
def test_each_question_of_a_contact_gets_the_fact_that_fits(spoken: Spoken, prompt: str) -> None:
    script = "|".join(["Ok.", *spoken.questions.values()])
    for number in range(5):
        result = talk(spoken, prompt, number, script=script)
        turns = [turn.text for turn in result.turns]
        answers = {
            field: turns[turns.index(question) + 1] for field, question in spoken.questions.items() if question in turns
        }
        assert answers.keys() == spoken.questions.keys()
        assert {field for field, answer in answers.items() if getattr(spoken, field) not in answer} == set()
        assert result.unanswered_questions == ()


@each_prompt
def test_a_mailbox_that_is_talked_to_as_a_person_hears_the_day(spoken: Spoken, prompt: str) -> None:
    result = simulate(
        call(
            to="+12025550103",
            prompt=prompt,
            welcome=spoken.welcome,
            language=spoken.language,
            variables={"name": "Kim"},
            voicemail=VoicemailPolicy(action="continue"),
        )
    )
    text = " ".join(said_by(result, "agent"))
    assert spoken.day in text
    assert not [words for words in spoken.not_said if words in text]


@pytest.mark.parametrize(
    ("language", "sentence", "news"),
    [
        ("de", "Wir sehen uns am 12.03.2026.", True),
        ("de", "Der Termin ist um 9:30 Uhr.", True),
        ("de", "Die Praxis ist Montag bis Freitag von 8 bis 17 Uhr geöffnet.", False),
        ("de", "Die Untersuchung dauert zwanzig Minuten.", False),
        ("en", "The delivery is on 2026-03-12.", True),
        ("en", "Your appointment is at {{hour}}.", True),
        ("en", "We are open from Monday to Friday.", False),
        ("en", "Support is there 24/7.", False),
        ("es", "La entrega es el 12/03.", True),
        ("fr", "La livraison est prévue mardi à 9 h.", True),
        ("it", "La consegna è lunedì alle 9.", True),
        ("nl", "De levering is dinsdag om 9 uur.", True),
        ("pt", "A entrega é na terça-feira às 9h.", True),
        ("hi", "डिलीवरी मंगलवार को है।", True),
    ],
)
def test_a_day_is_a_reason_to_call_and_opening_hours_are_none(language: str, sentence: str, news: bool) -> None:
    assert is_news(sentence, bank_or_english(language)) is news


@pytest.mark.parametrize(
    ("language", "instruction", "said"),
    [
        ("de", "Du hilfst {{name}} mit dem Termin am 12. März um 9:30 Uhr.", "Termin am 12. März um 9:30 Uhr"),
        ("de", "- Erinnere den Patienten an seinen Termin am 12. März", "erinnern"),
        (
            "de",
            "Du rufst Kunden der Praxis am Markt an und erinnerst sie an ihren Termin am 12.12.2026 um 9:30 Uhr.",
            "Ihren Termin am 12.12.2026 um 9:30 Uhr erinnern",
        ),
        ("de", "- Nenne den Termin am 12. März um 9:30 Uhr", "Termin am 12. März um 9:30 Uhr"),
        ("de", "Termin: 12. März, 9:30 Uhr", "12. März, 9:30 Uhr"),
        ("de", "- Datum: 12. März", "12. März"),
        ("en", "- Date: 12 March", "Date: 12 March"),
        ("en", "You have an appointment on 12 March at 9:30.", "appointment on 12 March at 9:30"),
        ("es", "Recuérdale al paciente su cita del 12 de marzo", "su cita del 12 de marzo"),
        ("fr", "- Rappelle au patient son rendez-vous du 12 mars", "votre rendez-vous du 12 mars"),
        ("it", "- Ricorda al paziente l'appuntamento del 12 marzo", "l'appuntamento del 12 marzo"),
        ("nl", "- Herinner de patiënt aan zijn afspraak op 12 maart", "uw afspraak op 12 maart"),
        (
            "de",
            "Du rufst {{name}} an, weil seine Brille am 12. März fertig ist.",
            "weil Ihre Brille am 12. März fertig ist",
        ),
        ("de", "Deine Aufgabe ist es, {{name}} an den Termin am 12. März zu erinnern.", "den Termin am 12. März"),
        ("en", "Your goal is to confirm the patient's visit on 12 March.", "confirm your visit on 12 March"),
        ("es", "Tu objetivo es recordar a la clienta su cita del 12 de marzo.", "recordarle su cita del 12 de marzo"),
        (
            "fr",
            "Vous appelez {{name}} parce que sa voiture est prête le 12 mars.",
            "votre voiture est prête le 12 mars",
        ),
        ("it", "Ricorda all'ospite che la visita è il 12 marzo.", "la visita è il 12 marzo"),
        ("nl", "Je belt {{name}} omdat de fiets op 12 maart klaar is.", "omdat de fiets op 12 maart klaar is"),
        ("hi", "मरीज़ को बताएँ कि उनका अपॉइंटमेंट 12 मार्च को है।", "आपका अपॉइंटमेंट 12 मार्च को है"),
        ("pt", "- Lembre o paciente da consulta de 12 de março", "da consulta de 12 de março"),
    ],
)
def test_a_day_in_an_instruction_is_said_without_the_instruction(language: str, instruction: str, said: str) -> None:
    result = simulate(
        call(
            prompt=instruction,
            welcome="",
            language=language,
            variables={"name": "Kim"},
            steering={"outcome": "answered", "intent": "yes"},
        )
    )
    text = " ".join(said_by(result, "agent"))
    assert said in text
    assert not [words for words in INSTRUCTED if words in text]


INSTRUCTED = (
    "Du hilfst",
    "Du rufst",
    "Aufgabe",
    "Erinnere",
    "Nenne",
    "You have",
    "Your goal",
    "objetivo",
    "Recuérdale",
)


@pytest.mark.parametrize(
    ("language", "instruction"),
    [
        ("de", "Wenn der Termin nicht passt, biete den 13. März an."),
        ("en", "If the patient wants another day, offer 13 March."),
        ("es", "Si no puede venir, ofrécele el 13 de marzo."),
        ("fr", "S'il ne peut pas venir, propose le 13 mars."),
        ("it", "Se non può venire, proponi il 13 marzo."),
        ("nl", "Als de dag niet schikt, bied dan 13 maart aan."),
        ("pt", "Se não puder vir, ofereça o dia 13 de março."),
        ("hi", "अगर समय ठीक न हो, तो 13 मार्च की पेशकश करें।"),
    ],
)
def test_what_holds_in_one_case_only_is_no_reason_to_call(language: str, instruction: str) -> None:
    request = call(prompt=instruction, language=language, steering={"outcome": "answered", "intent": "yes"})
    assert "13" not in " ".join(said_by(simulate(request), "agent"))


def test_a_question_that_states_the_day_answers_when_it_is() -> None:
    prompt = "- Confirm the visit on 12 March"
    script = "Yes?|When is it?"
    result = simulate(call(prompt=prompt, language="en", steering={"outcome": "answered", "script": script}))
    turns = [turn.text for turn in result.turns]
    assert turns[turns.index("When is it?") + 1] == "Could you confirm the visit on 12 March?"
    assert result.unanswered_questions == ()


def test_an_amount_answers_what_something_costs_before_what_is_free() -> None:
    brief = read_prompt("Parking is free. The cleaning costs $95.", bank_or_english("en"))
    assert answer_to("How much is it?", brief, bank_or_english("en")) == "The cleaning costs $95."


@pytest.mark.parametrize(
    "prompt",
    [
        "Sage niemals, dass der Termin am 12. März verschoben wird.",
        "- Erwähne den 12. März nicht.",
        "## Intern\n- Der Termin ist am 12. März.",
        "Vertraulich: Der Vertrag endet am 12. März.",
        "Fakten:\nDer 12. März darf nicht genannt werden.",
    ],
)
def test_what_must_not_be_said_is_neither_told_nor_an_answer(prompt: str) -> None:
    script = "Ja?|Wann ist der Termin?|Was ist am 12. März?"
    result = simulate(call(prompt=prompt, language="de", steering={"outcome": "answered", "script": script}))
    assert "12. März" not in " ".join(said_by(result, "agent"))
    assert len(result.unanswered_questions) == 2


def test_the_day_of_each_contact_is_told_and_answers_its_question() -> None:
    prompt = "Wir sehen uns am {{tag}}. Parken kostet {{preis}}.\n- Frage, ob das passt"
    for day, price in (("12. März", "2 Euro"), ("3. April", "3 Euro")):
        request = call(
            prompt=prompt,
            language="de",
            variables={"name": "Kim", "tag": day, "preis": price},
            steering={"outcome": "answered", "script": "Ja?|Was kostet das?|Wann war das noch?"},
        )
        agent = said_by(simulate(request), "agent")
        assert agent[1] == f"Wir sehen uns am {day}. Darf ich fragen, ob das passt?"
        assert agent[2].startswith(f"Parken kostet {price}.")
        assert agent[3].startswith(f"Wir sehen uns am {day}.")


def test_a_value_that_is_no_day_makes_a_sentence_no_reason_to_call() -> None:
    request = call(
        prompt="Wir sehen uns {{tag}}.\n- Frage, ob das passt",
        language="de",
        variables={"name": "Kim", "tag": "bald"},
        steering={"outcome": "answered", "intent": "yes"},
    )
    assert "bald" not in " ".join(said_by(simulate(request), "agent"))


def test_a_prompt_of_facts_alone_tells_the_first_of_them() -> None:
    request = call(
        prompt="Die neue Brille kostet 90 Euro. Der Laden ist in der Hauptstraße 5. Parken kostet nichts.",
        language="de",
        steering={"outcome": "answered", "intent": "yes"},
    )
    agent = said_by(simulate(request), "agent")
    assert agent[1] == "Die neue Brille kostet 90 Euro. Der Laden ist in der Hauptstraße 5."


def test_a_day_with_a_full_stop_does_not_end_a_sentence() -> None:
    assert sentences_of("Am 12. März um neun. Bis dann.") == ["Am 12. März um neun.", "Bis dann."]
    assert sentences_of("Es kostet 40. Parken ist frei.") == ["Es kostet 40.", "Parken ist frei."]
    assert sentences_of("Bei Dott. Rossi, Hauptstr. 5, im 2. Stock.") == ["Bei Dott. Rossi, Hauptstr. 5, im 2. Stock."]
