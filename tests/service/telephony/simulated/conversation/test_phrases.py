import re
from typing import get_args

import pytest

from callwright.service.telephony.simulated.conversation.phrases import (
    LANGUAGES,
    REGISTERS,
    Act,
    Bank,
    bank_of,
    bank_or_english,
    other_language,
    primary,
)
from callwright.service.telephony.simulated.conversation.speech_acts import Wish, act_of, is_question, wish_of

BANKS = [bank_or_english(language) for language in LANGUAGES]
banks = pytest.mark.parametrize("bank", BANKS, ids=LANGUAGES)

# What the agent has to understand when the contact says it.
MEANT: dict[str, tuple[Wish, ...]] = {
    "opt_out": ("opt_out",),
    "wrong_number": ("wrong_number",),
    "wants_human": ("human",),
    "robot": ("robot",),
    "refuse": ("no",),
    "later": ("later",),
    "gatekeeper": ("away",),
    "gatekeeper_ok": ("goodbye",),
    "screening": ("screening",),
    "screening_hold": ("hold",),
    "interrupt": ("hurry",),
    "questions": ("question",),
    "goodbye": ("goodbye",),
    "no": ("no_start",),
    "pick_up": ("nothing",),
    "listen": ("nothing",),
    "good_time": ("nothing", "no_start"),
    "identity_check": ("nothing",),
    "yes": ("nothing",),
    "offer": ("nothing",),
    "confirm": ("nothing",),
    "detail": ("nothing", "no_start"),
    "any": ("nothing", "no_start"),
    "rating": ("nothing", "no_start"),
    "how_many": ("nothing", "no_start"),
    "when": ("nothing", "no_start"),
    "choice_vague": ("nothing", "no_start"),
    "how_are": ("nothing", "no_start"),
    "open": ("nothing", "no_start"),
    "ack": ("nothing", "no_start"),
}


@banks
def test_every_bank_has_the_same_phrases_as_the_english_one(bank: Bank) -> None:
    english = bank_or_english("en")
    # Only a contact who falls back to English has to say that it speaks something else.
    assert {key for key, _ in english.contact} - {key for key, _ in bank.contact} <= {"other_language_unknown"}
    assert bank.contact.keys() <= english.contact.keys()
    assert bank.agent.keys() == english.agent.keys()
    assert bank.hears.keys() == english.hears.keys()
    assert bank.topics.keys() == english.topics.keys()
    assert bank.asks.keys() == english.asks.keys()
    assert bank.marks.keys() == english.marks.keys()
    assert all(bank.contact.values())
    assert all(bank.agent.values())


INCOMING = [bank_or_english(language, incoming=True) for language in LANGUAGES]
MEANT_BY_CALLERS = MEANT | {"calling": ("nothing",)}


@pytest.mark.parametrize("bank", INCOMING, ids=LANGUAGES)
def test_the_agent_understands_whatever_a_caller_says(bank: Bank) -> None:
    misheard = [
        (key, phrase, heard)
        for key, meant in MEANT_BY_CALLERS.items()
        for register in REGISTERS
        for phrase in bank.contact[key, register]
        if (heard := wish_of(phrase.partition("|")[2] or phrase, bank)) not in meant
    ]
    assert misheard == []
    for register in REGISTERS:
        left = bank.contact["message", register] + bank.contact["message_more", register]
        assert "opt_out" not in {wish_of(words, bank) for words in left}
        for lead in bank.contact["calling_question", register]:
            asked = [lead.replace("{0}", question) for question in bank.contact["questions", register]]
            assert {wish_of(words, bank) for words in asked} == {"question"}


@pytest.mark.parametrize("bank", INCOMING, ids=LANGUAGES)
def test_every_bank_has_the_same_phrases_for_calls_that_come_in(bank: Bank) -> None:
    english, made = bank_or_english("en", incoming=True), bank_or_english(bank.language)
    assert bank.agent.keys() == english.agent.keys() == made.agent.keys()
    assert english.contact.keys() - bank.contact.keys() <= {("other_language_unknown", each) for each in REGISTERS}
    own = {key for key, phrases in bank.agent.items() if phrases != made.agent[key]}
    assert own >= {"hello", "wrong_number", "human", "purpose", "close"}
    assert all("{0}" in phrase for phrase in bank.agent["queue_position"])
    assert {act_of(phrase, bank) for phrase in bank.agent["purpose"]} == {"any"}
    assert bank is bank_or_english(bank.language, incoming=True)


@banks
def test_acts_are_known_and_general_sentences_cover_those_that_are_said(bank: Bank) -> None:
    assert set(bank.acts) | {"yes_no", "statement"} == set(get_args(Act))
    assert set(bank.general) >= set(get_args(Act)) - {"good_time", "identity_check", "offer", "how_are"}


@banks
def test_the_agent_understands_whatever_a_contact_says(bank: Bank) -> None:
    misheard = [
        (key, phrase, heard)
        for key, meant in MEANT.items()
        for register in REGISTERS
        for phrase in bank.contact[key, register]
        if (heard := wish_of(phrase.partition("|")[2] or phrase, bank)) not in meant
    ]
    assert misheard == []


@banks
def test_general_questions_are_questions_and_the_statement_is_not(bank: Bank) -> None:
    for act, sentences in bank.general.items():
        assert all(is_question(sentence) == (act != "statement") for sentence in sentences)


@banks
def test_a_phrase_of_disclosure_counts_as_one(bank: Bank) -> None:
    for phrase in bank.agent["disclosure"]:
        assert any(mark in f" {phrase.lower()} " for mark in bank.agent["disclosure_marks"])


@banks
def test_every_request_to_call_later_says_how_much_later(bank: Bank) -> None:
    for register in REGISTERS:
        assert all(re.fullmatch(r"\d+\|.+", phrase) for phrase in bank.contact["later", register])


@banks
def test_patterns_of_instructions_have_one_place_to_fill(bank: Bank) -> None:
    for pattern, sentence in bank.imperatives:
        assert pattern.groups == 1
        assert sentence.count("{0}") == 1


@pytest.mark.parametrize(
    ("sentence", "act"),
    [
        ("Is now a good time?", "good_time"),
        ("Am I speaking with Maria?", "identity_check"),
        ("On a scale of 1 to 10, how was it?", "rating"),
        ("How many people will come?", "how_many"),
        ("Thanks. When would you like to come?", "when"),
        ("Could you confirm the address?", "confirm"),
        ("Could you give me your email?", "detail"),
        ("Do you have any allergies?", "any"),
        ("Would you be interested?", "offer"),
        ("Do you prefer tea or coffee?", "choice"),
        ("How are you?", "how_are"),
        ("What is your budget?", "open"),
        ("Does Thursday suit you?", "yes_no"),
        ("When you come, ring the bell.", "statement"),
        ("", "statement"),
    ],
)
def test_the_last_sentence_of_a_turn_decides_what_it_asks_for(sentence: str, act: Act) -> None:
    assert act_of(sentence, bank_or_english("en")) == act


def test_a_language_is_found_by_its_tag_and_others_have_no_phrases() -> None:
    assert primary("pt_BR") == "pt"
    assert bank_of("DE-at") is bank_of("de")
    assert bank_of("pl-PL") is None
    assert bank_or_english("pl-PL") is bank_of("en")


def test_a_short_or_own_text_is_not_taken_for_another_language() -> None:
    english = bank_or_english("en")
    assert other_language("Ist das so, und wer ist da?", english) is None
    assert other_language("You are Ada. Ask them if it is the right day for them and for the team.", english) is None


@pytest.mark.parametrize(
    "said",
    [
        "Don't call back.",
        "Not interested, and don't call back.",
        "No, don't ring me again.",
        "Do not contact me anymore.",
        "I never want to hear from you again.",
        "Quit calling here",
        "No more calls please",
        "STOP",
        "Lose my number.",
        "Please don't phone me again",
        "Don't bother me again",
        "I do not wish to be called again",
        "I don't want any more calls",
        "Delete my data and do not contact me anymore",
        "do  not\u00a0call me",
        "Hören Sie auf mich anzurufen",
        "Rufen Sie nicht zurück.",
        "Ne me téléphonez plus",
        "Je ne veux plus être appelé",
        "Ne me contactez plus",
        "No me contacte más",
        "Non mi richiami più.",
        "Não me contacte mais",
        "Bel niet meer.",
    ],
)
def test_a_wish_not_to_be_called_again_is_heard_in_each_language_whatever_the_agent_speaks(said: str) -> None:
    assert {wish_of(said, bank) for bank in BANKS} == {"opt_out"}


@pytest.mark.parametrize(
    "said",
    [
        "Call me back tomorrow.",
        "Stop by on Friday.",
        "Rufen Sie später noch einmal an.",
        "Alto.",
        "Hören Sie auf mich?",
        "Don't call before noon, call after.",
        "I would love to hear from you again.",
    ],
)
def test_a_wish_to_be_called_back_is_no_wish_not_to_be_called(said: str) -> None:
    assert "opt_out" not in {wish_of(said, bank) for bank in BANKS}


@pytest.mark.parametrize(
    ("text", "language", "wish"),
    [
        ("Far too dear for me, no.", "en", "no_start"),
        ("I just changed supplier, no!", "en", "no_start"),
        ("Das ist mir zu teuer, nein.", "de", "no_start"),
        ("Not now, no, I am driving.", "en", "no_start"),
        ("After the trouble with your bills? No.", "en", "no_start"),
        ("Heute? Nein. Das passt nicht.", "de", "no_start"),
        ("That is fine, no?", "en", "question"),
        ("There is no hurry.", "en", "nothing"),
        ("I have no idea, but yes.", "en", "nothing"),
    ],
)
def test_a_no_after_its_reason_is_understood(text: str, language: str, wish: Wish) -> None:
    assert wish_of(text, bank_or_english(language)) == wish


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("de", "Rufen Sie mich bitte morgen um zehn Uhr wieder an."),
        ("de", "Rufen Sie mich morgen zurück."),
        ("en", "Please call me again tomorrow at ten."),
        ("es", "Llámeme mañana a las diez."),
        ("fr", "Rappelez-moi demain à dix heures."),
        ("it", "Mi richiami domani alle dieci."),
        ("nl", "Bel me morgen om tien uur terug."),
        ("pt", "Ligue-me amanhã às dez."),
    ],
)
def test_a_wish_to_be_called_another_time_is_heard_with_words_between_the_parts_of_its_verb(
    language: str, said: str
) -> None:
    assert wish_of(said, bank_or_english(language)) == "later"


def test_never_again_is_no_wish_to_be_called_again() -> None:
    assert wish_of("Rufen Sie mich nie wieder an!", bank_or_english("de")) == "opt_out"
