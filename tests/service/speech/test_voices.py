import subprocess
import sys
from array import array
from collections import Counter
from pathlib import Path

import anyio
import pytest

from callwright.service.speech.synthesiser import SAMPLE_RATE, Synthesiser, find_libraries
from callwright.service.speech.voices import VOICES, agent_voice, contact_voice, default_voice, voice


def test_ids_are_unique_and_begin_with_the_language() -> None:
    assert len({each.id for each in VOICES}) == len(VOICES)
    assert all(each.id == f"{each.language}-{each.name.lower()}" for each in VOICES)


def test_every_language_has_two_to_four_voices_of_both_genders_that_sound_different() -> None:
    assert all(2 <= number <= 4 for number in Counter(each.language for each in VOICES).values())
    for language in {each.language for each in VOICES}:
        assert {each.gender for each in VOICES if each.language == language} == {"female", "male"}
    assert len({(each.espeak.identifier, each.espeak.variant) for each in VOICES}) == len(VOICES)


def test_a_voice_is_found_by_its_id_and_an_unknown_id_is_none() -> None:
    assert voice("en-US-ada") is VOICES[0]
    assert voice("en-US-nobody") is None


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en-US", "en-US"),
        ("EN_us", "en-US"),
        ("en", "en-US"),
        ("en-CA", "en-US"),
        ("en-AU", "en-GB"),
        ("es", "es-ES"),
        ("es-MX", "es-419"),
        ("es-ES", "es-ES"),
        ("pt", "pt-BR"),
        ("pt-AO", "pt-PT"),
        ("de-AT", "de-DE"),
        ("no", "nb-NO"),
        ("zh-Hans-CN", "zh-CN"),
        ("zh-HK", "yue-HK"),
        ("ja-JP", "en-US"),
        ("", "en-US"),
    ],
)
def test_a_language_gets_its_nearest_voice_or_an_english_one(language: str, expected: str) -> None:
    assert default_voice(language).language == expected


def test_an_agent_keeps_its_voice_until_it_changes_the_language() -> None:
    assert agent_voice("en-GB-harry", agent_language="en-GB", spoken_language="en-US").id == "en-GB-harry"
    assert agent_voice("en-GB-harry", agent_language="en-GB", spoken_language="de-DE").language == "de-DE"
    assert agent_voice("gone", agent_language="fr-FR", spoken_language="fr-FR") == default_voice("fr-FR")


def test_a_contact_never_has_the_agents_voice_and_always_the_same_for_a_seed() -> None:
    for agent in VOICES:
        chosen = [contact_voice(agent.language, seed=f"seed-{number}", agent=agent) for number in range(8)]
        assert agent not in chosen
        assert {each.language for each in chosen} == {agent.language}
        assert chosen[3] == contact_voice(agent.language, seed="seed-3", agent=agent)
    american = voice("en-US-ada")
    assert american is not None
    assert len({contact_voice("en-US", seed=str(number), agent=american) for number in range(20)}) == 3


async def test_every_voice_speaks_through_the_real_worker() -> None:
    with anyio.fail_after(20):
        async with Synthesiser(find_libraries()) as synthesiser:
            for each in VOICES:
                samples = array("h", await synthesiser.speak("12 34", each.espeak))
                assert len(samples) > 0.4 * SAMPLE_RATE, each.id
                assert max(samples) > 3000, each.id


def test_every_variant_is_a_file_of_the_library_because_an_unknown_one_is_ignored_by_it() -> None:
    data = next(Path(library.data) for library in find_libraries() if library.data) / "espeak-ng-data"
    for each in VOICES:
        assert (data / "voices" / "!v" / each.espeak.variant).is_file()
        assert (data / "lang" / each.espeak.identifier).is_file()


def test_importing_the_catalogue_loads_no_foreign_function_interface() -> None:
    code = "import sys, callwright.service.speech.voices; sys.exit('ctypes' in sys.modules or 'anyio' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=20).returncode == 0
