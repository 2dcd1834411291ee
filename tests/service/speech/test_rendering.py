from array import array
from collections.abc import Sequence

import anyio
import pytest

from callwright.service.speech.recording_content import RecordingContent
from callwright.service.speech.rendering import render
from callwright.service.speech.synthesiser import SAMPLE_RATE, SpeechUnavailable, Synthesiser, find_libraries
from callwright.service.speech.voices import default_voice
from callwright.service.telephony.engine import Speaker, Turn
from tests.support.calls.speech_source import SquareWave, plan_of

SAID = {
    "en-US": [
        "Yes.",
        "Hello, this is Ada from Northwind Clinic. Am I speaking with Sam?",
        "We have ten in the morning and a quarter past four in the afternoon. Which one suits you better, and shall I "
        "send you a message the day before, so that you do not forget it?",
    ],
    "es-MX": ["Sí.", "Buenos días, le llamo de la clínica por su cita del martes.", "Muchas gracias. ¿Hay algo más?"],
    "de-DE": [
        "Ja.",
        "Guten Tag, ich rufe wegen Ihres Termins am Dienstag an. Haben Sie kurz Zeit?",
        "Auf Wiederhören.",
    ],
    "fr-FR": ["Oui.", "Bonjour, je vous appelle au sujet de votre rendez-vous de mardi prochain.", "Merci, au revoir."],
    "pt-BR": ["Sim.", "Bom dia, estou ligando por causa da sua consulta de terça-feira.", "Obrigado, até logo."],
    "it-IT": ["Sì.", "Buongiorno, la chiamo per il suo appuntamento di martedì pomeriggio.", "Grazie, arrivederci."],
    "nl-NL": ["Ja.", "Goedemiddag, ik bel over uw afspraak van aanstaande dinsdag.", "Dank u wel, tot ziens."],
    "hi-IN": ["हाँ।", "नमस्ते, मैं क्लिनिक से आपकी मुलाकात के बारे में बोल रही हूँ।", "धन्यवाद, फिर मिलेंगे।"],
    "pl-PL": ["Tak.", "Dzień dobry, dzwonię w sprawie wizyty w najbliższy wtorek.", "Dziękuję, do widzenia."],
    "zh-CN": ["好。", "你好，我打电话是想确认您星期二下午的预约。", "谢谢，再见。"],
}


def call_of(turns: Sequence[Turn], *, duration_s: float, language: str = "en-US") -> RecordingContent:
    return RecordingContent(
        call_id="cal_1",
        duration_s=duration_s,
        turns=turns,
        agent_voice_id=default_voice(language).id,
        agent_language=language,
        seed="seed",
    )


def energy(samples: "array[int]") -> int:
    return sum(sample * sample for sample in samples)


async def call_in(language: str, synthesiser: Synthesiser) -> RecordingContent:
    """Each text said by both sides, at 0.7 to 1.4 times the length it has at its own rate."""
    turns: list[Turn] = []
    now_s = 0.25
    for text in SAID[language]:
        nominal_s = len(await synthesiser.speak(text, default_voice(language).espeak)) / 2 / SAMPLE_RATE
        for factor in (0.7, 0.85, 0.96, 1.04, 1.2, 1.4):
            speaker: Speaker = "agent" if len(turns) % 2 == 0 else "contact"
            turns.append(Turn(len(turns), speaker, text, now_s, now_s + factor * nominal_s, language))
            now_s = turns[-1].end_s + 0.4
    return call_of(turns, duration_s=now_s + 0.3, language=language)


async def test_turns_of_many_languages_and_lengths_fill_their_planned_slots() -> None:
    with anyio.fail_after(25):
        async with Synthesiser(find_libraries()) as synthesiser:
            for language in SAID:
                plan = await call_in(language, synthesiser)
                rendering = await render(plan, synthesiser)
                assert len(rendering.pcm) == 2 * round(plan.duration_s * SAMPLE_RATE)
                assert [fit.index for fit in rendering.fits] == list(range(18))
                assert all(fit.rate_wpm > 0 and fit.rendered_s > 0 for fit in rendering.fits)
                assert rendering.worst_misfit_s < 0.15, (language, rendering.fits)


@pytest.mark.parametrize("factor", [1.15, 1.4, 1.9])
async def test_a_very_long_turn_fits_by_stretching_its_pauses(factor: float) -> None:
    text = "Could we move your appointment, please? It is only a small change, and nothing else. " * 12
    with anyio.fail_after(5):
        async with Synthesiser(find_libraries()) as synthesiser:
            nominal_s = len(await synthesiser.speak(text, default_voice("en-US").espeak)) / 2 / SAMPLE_RATE
            turn = Turn(0, "agent", text, 0.0, factor * nominal_s, "en-US")
            rendering = await render(call_of([turn], duration_s=turn.end_s + 1), synthesiser)
    assert turn.end_s > 50
    assert rendering.worst_misfit_s < 0.11


async def test_the_agent_is_on_the_left_and_the_contact_on_the_right_and_both_at_their_times() -> None:
    plan = call_of(
        [
            Turn(0, "agent", "Hello, this is Ada.", 0.5, 1.7, "en-US"),
            Turn(1, "contact", "Good morning, this is Sam.", 2.2, 3.6, "en-US"),
        ],
        duration_s=4.0,
    )
    with anyio.fail_after(5):
        async with Synthesiser(find_libraries()) as synthesiser:
            rendering = await render(plan, synthesiser)
    left, right = rendering.pcm[0::2], rendering.pcm[1::2]
    gap = round(2.0 * SAMPLE_RATE)
    assert energy(left[:gap]) > 1e9
    assert energy(right[gap:]) > 1e9
    assert energy(left[gap:]) == energy(right[:gap]) == 0
    first = next(place for place, sample in enumerate(left) if abs(sample) > 64) / SAMPLE_RATE
    assert first == pytest.approx(0.5, abs=0.05)


async def test_the_contact_is_heard_with_another_voice_than_the_agent() -> None:
    said = "Hello, this is Sam."
    plan = call_of(
        [Turn(0, "agent", said, 0.0, 1.2, "en-US"), Turn(1, "contact", said, 2.0, 3.2, "en-US")], duration_s=4
    )
    with anyio.fail_after(5):
        async with Synthesiser(find_libraries()) as synthesiser:
            pcm = (await render(plan, synthesiser)).pcm
    agent, contact = pcm[0 : 4 * SAMPLE_RATE : 2], pcm[4 * SAMPLE_RATE + 1 :: 2]
    difference = sum((one - other) ** 2 for one, other in zip(agent, contact, strict=False))
    assert difference > 0.5 * energy(agent)


async def test_a_turn_without_words_is_silence_and_fits() -> None:
    speech = SquareWave()
    rendering = await render(plan_of(" ", ""), speech)
    assert speech.requests == 0
    assert not any(rendering.pcm)
    assert rendering.worst_misfit_s == 0


async def test_a_text_nothing_of_which_can_be_pronounced_is_silence() -> None:
    with anyio.fail_after(5):
        async with Synthesiser(find_libraries()) as synthesiser:
            rendering = await render(plan_of("..."), synthesiser)
    assert not any(rendering.pcm)
    assert rendering.worst_misfit_s == 0


async def test_an_interrupted_turn_is_fitted_like_any_other() -> None:
    turn = Turn(0, "agent", "I wanted to tell you that", 0.0, 1.0, "en-US", interrupted=True)
    rendering = await render(call_of([turn], duration_s=2), SquareWave())
    assert rendering.worst_misfit_s < 0.1


async def test_a_turn_that_fits_at_once_is_spoken_once() -> None:
    speech = SquareWave(seconds_per_char=0.1)
    await render(plan_of("ten chars."), speech)
    assert speech.requests == 1


async def test_a_turn_that_cannot_fit_reports_its_misfit_and_ends_with_the_call() -> None:
    rendering = await render(plan_of("x" * 400), SquareWave())  # 20 s at its own rate, 7.3 s at the fastest
    assert rendering.fits[0].misfit_s == pytest.approx(20 * 165 / 450 - 1, abs=0.01)
    assert len(rendering.pcm) == 2 * 2 * SAMPLE_RATE
    assert rendering.pcm[-2] != 0


async def test_a_turn_that_lies_after_the_end_of_the_call_is_not_heard() -> None:
    rendering = await render(call_of([Turn(0, "contact", "too late", 5, 6, "en-US")], duration_s=2), SquareWave())
    assert not any(rendering.pcm)


async def test_missing_speech_passes_through() -> None:
    speech = SquareWave()
    speech.fails = True
    with pytest.raises(SpeechUnavailable):
        await render(plan_of("Hello."), speech)
