"""The settings of speech and language models: which services hear, think and speak where no provider is set."""

import re
from dataclasses import dataclass, field
from typing import Literal

from callwright.server.setting import BadSetting, Given, Setting

ServiceKind = Literal["openai", "deepgram", "elevenlabs", "cartesia"]

SPEECH_SETTINGS: tuple[Setting, ...] = (
    Setting(
        "CALLWRIGHT_SECRETS_KEY",
        "secrets.key in the data folder, made when it is needed",
        "Encrypts the keys of providers: 32 bytes in base64 (openssl rand -base64 32). Several with commas: the first "
        "one encrypts, all decrypt. Processes on several machines need the same.",
    ),
    Setting(
        "CALLWRIGHT_STT_URL",
        "none",
        "What hears on live calls where no provider is set: the address of a service with OpenAI's interface, such as "
        "https://api.openai.com/v1. It charges for what it hears.",
    ),
    Setting("CALLWRIGHT_STT_KEY", "none", "Its key."),
    Setting("CALLWRIGHT_STT_MODEL", "the service's usual one", "The model that hears, also Deepgram's."),
    Setting(
        "CALLWRIGHT_LLM_URL",
        "none: the rules of the simulated network answer",
        "What thinks on live calls where no provider is set: the address of a service with OpenAI's interface. It "
        "charges for what it reads and writes.",
    ),
    Setting("CALLWRIGHT_LLM_KEY", "none", "Its key."),
    Setting("CALLWRIGHT_LLM_MODEL", "the service's usual one", "The language model."),
    Setting(
        "CALLWRIGHT_TTS_URL",
        "none: espeak-ng speaks, on this machine",
        "What speaks on live calls where no provider is set: the address of a service with OpenAI's interface. It "
        "charges for what it speaks.",
    ),
    Setting("CALLWRIGHT_TTS_KEY", "none", "Its key."),
    Setting("CALLWRIGHT_TTS_MODEL", "the service's usual one", "The model that speaks, also that of the two below."),
    Setting("CALLWRIGHT_TTS_VOICE", "the service's usual one", "The service's id of the voice."),
    Setting("DEEPGRAM_API_KEY", "none", "Deepgram hears, where CALLWRIGHT_STT_URL is not set."),
    Setting(
        "ELEVENLABS_API_KEY",
        "none",
        "ElevenLabs speaks, where CALLWRIGHT_TTS_URL is not set and CALLWRIGHT_TTS_VOICE or the agent names a voice.",
    ),
    Setting(
        "CARTESIA_API_KEY",
        "none",
        "Cartesia speaks, where neither of the two is set and CALLWRIGHT_TTS_VOICE or the agent names a voice.",
    ),
)
_URL = re.compile(r"https?://[^\s/?#@]+(?:/[^\s?#]*)?")
_HEARING: tuple[tuple[str, ServiceKind], ...] = (("DEEPGRAM_API_KEY", "deepgram"),)
_SPEAKING: tuple[tuple[str, ServiceKind], ...] = (
    ("ELEVENLABS_API_KEY", "elevenlabs"),
    ("CARTESIA_API_KEY", "cartesia"),
)


@dataclass(frozen=True, kw_only=True)
class SpeechServiceSetting:
    """A service of the installation. The key is not shown."""

    kind: ServiceKind
    url: str | None = None
    key: str | None = field(default=None, repr=False)
    model: str | None = None
    voice: str | None = None


@dataclass(frozen=True, kw_only=True)
class SpeechSetting:
    """What hears, thinks and speaks where no provider is set; None where nothing is set either."""

    hearing: SpeechServiceSetting | None = None
    thinking: SpeechServiceSetting | None = None
    speaking: SpeechServiceSetting | None = None


def read_speech(given: Given) -> SpeechSetting:
    """The services of the installation, of each role the first that is set. Raises `BadSetting`."""
    return SpeechSetting(
        hearing=_service(given, "STT", _HEARING),
        thinking=_service(given, "LLM", ()),
        speaking=_service(given, "TTS", _SPEAKING),
    )


def _service(given: Given, role: str, others: tuple[tuple[str, ServiceKind], ...]) -> SpeechServiceSetting | None:
    url, key = given(f"CALLWRIGHT_{role}_URL"), given(f"CALLWRIGHT_{role}_KEY")
    model, voice = given(f"CALLWRIGHT_{role}_MODEL"), given(f"CALLWRIGHT_{role}_VOICE") if role == "TTS" else None
    if url is not None:
        if not _URL.fullmatch(url):
            expected = "an address without user, query and fragment that begins with https:// or http://"
            raise BadSetting(f"CALLWRIGHT_{role}_URL must be {expected}, such as https://api.openai.com/v1")
        return SpeechServiceSetting(kind="openai", url=url.rstrip("/"), key=key, model=model, voice=voice)
    if key is not None:
        raise BadSetting(f"CALLWRIGHT_{role}_KEY needs CALLWRIGHT_{role}_URL, the address that it is sent to")
    for variable, kind in others:
        if (secret := given(variable)) is not None:
            return SpeechServiceSetting(kind=kind, key=secret, model=model, voice=voice)
    return None


def read_secrets_key(given: Given) -> str | None:
    """The secrets keys of the installation, checked. Raises `BadSetting`, which does not repeat them."""
    text = given("CALLWRIGHT_SECRETS_KEY")
    if text is None:
        return None
    from callwright.contract.checks.secrets_keys import keys_in  # only here: a start of the MCP server waits for it

    try:
        return ",".join(keys_in(text))
    except ValueError as error:
        raise BadSetting(
            f"CALLWRIGHT_SECRETS_KEY: {error}; `openssl rand -base64 32` makes one, and several stand with commas"
        ) from None
