"""The settings of speech and language models: which is first, what is wrong, and that no key is shown."""

from base64 import b64encode, urlsafe_b64encode

import pytest

from callwright.server.embedded.speech import speech_settings
from callwright.server.settings import BadSetting, ProgramSettings, read_settings
from callwright.service.settings import InstalledService, SpeechSettings

RAW = bytes(range(190, 222))


def given(**environment: str) -> ProgramSettings:
    return read_settings(environment)


def test_without_any_of_them_nothing_is_set() -> None:
    assert speech_settings(given()) == SpeechSettings()
    assert given().secrets_key is None


def test_each_role_has_its_address_key_and_model() -> None:
    found = speech_settings(
        given(
            CALLWRIGHT_STT_URL="https://stt.example.com/v1/",
            CALLWRIGHT_STT_KEY="k1",
            CALLWRIGHT_STT_MODEL="m1",
            CALLWRIGHT_LLM_URL="http://10.0.0.7:8000/v1",
            CALLWRIGHT_TTS_URL="https://tts.example.com",
            CALLWRIGHT_TTS_KEY="k3",
            CALLWRIGHT_TTS_VOICE="v3",
        )
    )
    assert found == SpeechSettings(
        hearing=InstalledService(kind="openai", url="https://stt.example.com/v1", key="k1", model="m1"),
        thinking=InstalledService(kind="openai", url="http://10.0.0.7:8000/v1"),
        speaking=InstalledService(kind="openai", url="https://tts.example.com", key="k3", voice="v3"),
    )


def test_the_first_that_is_set_counts() -> None:
    others = {"DEEPGRAM_API_KEY": "d", "ELEVENLABS_API_KEY": "e", "CARTESIA_API_KEY": "c"}
    found = given(**others, CALLWRIGHT_STT_MODEL="nova-3", CALLWRIGHT_TTS_VOICE="her").speech
    assert found.hearing is not None
    assert (found.hearing.kind, found.hearing.key, found.hearing.model) == ("deepgram", "d", "nova-3")
    assert found.speaking is not None
    assert (found.speaking.kind, found.speaking.key, found.speaking.voice) == ("elevenlabs", "e", "her")
    assert found.thinking is None
    del others["ELEVENLABS_API_KEY"]
    second = given(**others).speech.speaking
    assert second is not None
    assert (second.kind, second.key) == ("cartesia", "c")
    urls = {f"CALLWRIGHT_{role}_URL": "https://x.example.com" for role in ("STT", "TTS")}
    first = given(**others, **urls).speech
    assert [one.kind for one in (first.hearing, first.speaking) if one] == ["openai", "openai"]


@pytest.mark.parametrize(
    "url", ["x.example.com", "wss://x.example.com", "https://", "https://me@x/v1", "https://x?y=1"]
)
def test_an_address_that_is_none_is_named(url: str) -> None:
    with pytest.raises(BadSetting, match="CALLWRIGHT_LLM_URL must be an address"):
        given(CALLWRIGHT_LLM_URL=url)


def test_a_key_without_an_address_is_named() -> None:
    with pytest.raises(BadSetting, match="CALLWRIGHT_TTS_KEY needs CALLWRIGHT_TTS_URL"):
        given(CALLWRIGHT_TTS_KEY="k")


def test_secrets_keys_are_read_in_both_alphabets_of_base64() -> None:
    written, stored = b64encode(RAW).decode(), urlsafe_b64encode(RAW).decode()
    assert written != stored
    assert given(CALLWRIGHT_SECRETS_KEY=f" {written}, {stored} ").secrets_key == f"{stored},{stored}"


@pytest.mark.parametrize("text", [",", "short", b64encode(RAW[:-1]).decode(), b64encode(RAW).decode() + ",ü"])
def test_a_secrets_key_that_is_none_is_named_and_not_repeated(text: str) -> None:
    with pytest.raises(BadSetting, match="CALLWRIGHT_SECRETS_KEY") as caught:
        given(CALLWRIGHT_SECRETS_KEY=text)
    assert not [word for word in text.split(",") if word and word in str(caught.value)]


def test_no_key_is_shown() -> None:
    secret = "k-that-nobody-sees"
    settings = given(
        CALLWRIGHT_LLM_URL="https://x.example.com",
        CALLWRIGHT_LLM_KEY=secret,
        DEEPGRAM_API_KEY=secret,
        CALLWRIGHT_SECRETS_KEY=b64encode(RAW).decode(),
    )
    shown = f"{settings!r} {settings} {settings.speech!r} {speech_settings(settings)!r}"
    assert secret not in shown
    assert urlsafe_b64encode(RAW).decode() not in shown
