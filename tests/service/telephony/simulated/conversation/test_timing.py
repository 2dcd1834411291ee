import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.service.telephony.simulated.conversation.phrases import LANGUAGES
from callwright.service.telephony.simulated.conversation.timeline import MIN_GAP_S, Timeline
from callwright.service.telephony.simulated.conversation.timing import MIN_DURATION_S, spoken_duration_s


# Measured with espeak-ng 1.52 at 165 words a minute, the silence at the end left out.
@pytest.mark.parametrize(
    ("language", "text", "measured_s"),
    [
        ("en-US", "We moved to a new building on Harbour Street last spring, right next to the station.", 4.82),
        ("es-ES", "El año pasado nos trasladamos a un edificio nuevo en la calle del Puerto.", 4.09),
        ("de-DE", "Ich rufe wegen Ihrer Vorsorgeuntersuchung am Donnerstag an.", 3.06),
        ("fr-FR", "Nous avons déménagé au printemps dernier, juste à côté de la gare.", 3.26),
        ("pt-BR", "Mudamos no ano passado para um prédio novo, bem ao lado da estação.", 4.06),
        ("it-IT", "La chiamo per il controllo di giovedì. Può confermarmi l'indirizzo?", 4.12),
        ("nl-NL", "Ik bel over uw controle van donderdag. Schikt dat nog?", 3.47),
        ("hi-IN", "मैं उत्तरी दंत चिकित्सालय से बोल रहा हूँ।", 2.61),
    ],
)
def test_the_planned_duration_is_near_the_spoken_one(language: str, text: str, measured_s: float) -> None:
    assert spoken_duration_s(text, language) == pytest.approx(measured_s, rel=0.1)


@pytest.mark.parametrize("language", [*LANGUAGES, "pl-PL", "ja", "xx", ""])
def test_more_words_take_longer_in_every_language(language: str) -> None:
    assert spoken_duration_s("one two", language) < spoken_duration_s("one two three four", language)


def test_a_language_without_figures_is_timed_by_its_script() -> None:
    assert spoken_duration_s("您好您好您好您好", "yue-HK") > 1.5
    assert spoken_duration_s("Добрый день", "bg-BG") == spoken_duration_s("Добрый день", "ru")


@given(st.text(), st.sampled_from(["en-US", "hi", "zz", ""]))
def test_any_text_has_a_duration_in_milliseconds(text: str, language: str) -> None:
    duration = spoken_duration_s(text, language)
    assert duration >= MIN_DURATION_S
    assert duration == round(duration, 3)


def test_turns_follow_each_other_after_at_least_the_smallest_gap() -> None:
    timeline = Timeline(60)
    timeline.say("agent", "Hello there.", "en", gap_s=0)
    timeline.say("contact", "Hello.", "en", gap_s=0.1)
    first, second = timeline.turns()
    assert second.start_s - first.end_s == pytest.approx(MIN_GAP_S)


def test_an_interruption_cuts_at_a_word_and_the_next_turn_begins_over_the_end() -> None:
    timeline = Timeline(60)
    words = "This is a rather long sentence that nobody wants to hear to its end today."
    timeline.say("agent", words, "en", gap_s=0.5)
    assert timeline.cut_in(0.5)
    timeline.say("contact", "Stop.", "en", gap_s=2.0)
    first, second = timeline.turns()
    assert words.startswith(f"{first.text} ")
    assert first.interrupted
    assert first.start_s < second.start_s < first.end_s < second.end_s


def test_a_short_turn_cannot_be_interrupted() -> None:
    timeline = Timeline(60)
    timeline.say("agent", "Hello.", "en", gap_s=0.5)
    assert not timeline.cut_in(0.5)
    assert not timeline.turns()[0].interrupted


def test_the_limit_cuts_a_turn_at_a_word_and_nothing_follows() -> None:
    timeline = Timeline(2)
    timeline.say("agent", "One two three four five six seven eight nine ten eleven.", "en", gap_s=0.5)
    timeline.say("contact", "Yes.", "en", gap_s=0.5)
    (turn,) = timeline.turns()
    assert timeline.cut
    assert turn.interrupted
    assert turn.end_s <= 2
    assert turn.text.endswith(("three", "four", "five", "six", "seven"))
