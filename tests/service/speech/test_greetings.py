"""What voices say when they are tried."""

import pytest

from callwright.service.speech.greetings import greeting, greetings
from callwright.service.speech.voices import VOICES


@pytest.mark.parametrize("language", sorted({voice.language for voice in VOICES}))
def test_every_language_that_voices_speak_has_a_sentence(language: str) -> None:
    assert 10 <= len(greeting(language)) <= 60


def test_no_sentence_is_for_a_language_that_nobody_speaks() -> None:
    assert set(greetings()) == {voice.language.partition("-")[0] for voice in VOICES}
    assert len(set(greetings().values())) == len(greetings())
