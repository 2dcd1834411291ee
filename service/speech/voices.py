"""The voices a call can be spoken with.

An id such as `en-US-ada` never changes, whatever synthesiser speaks the voice. Only the synthesiser uses
`Voice.espeak`. Importing this module loads no synthesiser.

Languages whose everyday spelling espeak-ng cannot read aloud (Japanese, Thai, Hebrew, Burmese) are left out: it would
spell them letter by letter.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Literal

Gender = Literal["female", "male"]


@dataclass(frozen=True)
class EspeakVoice:
    """How espeak-ng speaks a voice: its voice identifier, the `!v` variant, words per minute and pitch (0-99)."""

    identifier: str
    variant: str
    rate_wpm: int
    pitch: int


@dataclass(frozen=True, kw_only=True)
class Voice:
    """One voice of the catalogue. `language` is a BCP-47 tag, `accent` an English adjective."""

    id: str
    name: str
    language: str
    accent: str
    gender: Gender
    provider: str = "simulated"
    tier: str = "standard"
    espeak: EspeakVoice = field(repr=False, compare=False)


# Language, accent, espeak-ng voice identifier, speakers. Identifiers are paths: language names such as `en-gb` do not
# load. A speaker is `name:variant`, and the first one of a language is its default.
_ROWS: tuple[tuple[str, str, str, str], ...] = (
    ("en-US", "American", "gmw/en-US", "Ada:f2 Ben:m3 Grace:f4 Walter:m7"),
    ("en-GB", "British", "gmw/en", "Olivia:f3 Harry:m1 Edith:f5 George:m8"),
    ("en-scotland", "Scottish", "gmw/en-GB-scotland", "Isla:f1 Callum:m4"),
    ("es-ES", "Castilian", "roa/es", "Lucia:f2 Alvaro:m3 Carmen:f4"),
    ("es-419", "Latin American", "roa/es-419", "Valeria:f3 Mateo:m1 Elena:f5 Diego:m4"),
    ("fr-FR", "French", "roa/fr", "Camille:f2 Louis:m3 Juliette:f4"),
    ("fr-BE", "Belgian", "roa/fr-BE", "Manon:f3 Bastien:m1"),
    ("fr-CH", "Swiss", "roa/fr-CH", "Elodie:f5 Loic:m4"),
    ("de-DE", "German", "gmw/de", "Anna:f2 Jonas:m3 Greta:f4 Karl:m7"),
    ("it-IT", "Italian", "roa/it", "Giulia:f2 Marco:m3 Chiara:f4"),
    ("pt-BR", "Brazilian", "roa/pt-BR", "Beatriz:f2 Rafael:m3 Camila:f4"),
    ("pt-PT", "European", "roa/pt", "Ines:f3 Tiago:m1"),
    ("nl-NL", "Dutch", "gmw/nl", "Sanne:f2 Daan:m3 Fleur:f4"),
    ("pl-PL", "Polish", "zlw/pl", "Zofia:f2 Jakub:m3"),
    ("cs-CZ", "Czech", "zlw/cs", "Tereza:f2 Petr:m3"),
    ("sk-SK", "Slovak", "zlw/sk", "Zuzana:f2 Marek:m3"),
    ("hu-HU", "Hungarian", "urj/hu", "Reka:f2 Bence:m3"),
    ("ro-RO", "Romanian", "roa/ro", "Ioana:f2 Andrei:m3"),
    ("bg-BG", "Bulgarian", "zls/bg", "Elitsa:f2 Georgi:m3"),
    ("el-GR", "Greek", "grk/el", "Eleni:f2 Nikos:m3"),
    ("sv-SE", "Swedish", "gmq/sv", "Astrid:f2 Erik:m3"),
    ("da-DK", "Danish", "gmq/da", "Freja:f2 Mads:m3"),
    ("nb-NO", "Norwegian", "gmq/nb", "Ingrid:f2 Olav:m3"),
    ("fi-FI", "Finnish", "urj/fi", "Aino:f2 Eero:m3"),
    ("hr-HR", "Croatian", "zls/hr", "Petra:f2 Ivan:m3"),
    ("uk-UA", "Ukrainian", "zle/uk", "Oksana:f2 Taras:m3"),
    ("ru-RU", "Russian", "zle/ru", "Irina:f2 Dmitri:m3"),
    ("tr-TR", "Turkish", "trk/tr", "Elif:f2 Emre:m3"),
    ("ar-SA", "Standard Arabic", "sem/ar", "Layla:f2 Omar:m3"),
    ("fa-IR", "Persian", "ira/fa", "Shirin:f2 Reza:m3"),
    ("hi-IN", "Hindi", "inc/hi", "Priya:f2 Arjun:m3 Kavita:f4"),
    ("bn-IN", "Bengali", "inc/bn", "Ananya:f2 Sourav:m3"),
    ("ur-PK", "Urdu", "inc/ur", "Ayesha:f2 Bilal:m3"),
    ("ta-IN", "Tamil", "dra/ta", "Meena:f2 Karthik:m3"),
    ("te-IN", "Telugu", "dra/te", "Lakshmi:f2 Ravi:m3"),
    ("id-ID", "Indonesian", "poz/id", "Dewi:f2 Budi:m3"),
    ("vi-VN", "Northern Vietnamese", "aav/vi", "Linh:f2 Minh:m3"),
    ("ko-KR", "Korean", "ko", "Jiwoo:f2 Minjun:m3"),
    ("zh-CN", "Mandarin", "sit/cmn", "Mei:f2 Wei:m3"),
    ("yue-HK", "Cantonese", "sit/yue", "Kayan:f2 Kaming:m3"),
    ("sw-KE", "Swahili", "bnt/sw", "Amani:f2 Juma:m3"),
    ("ca-ES", "Catalan", "roa/ca", "Nuria:f2 Jordi:m3"),
)

# Pitch by variant keeps two speakers of one gender apart; 50 is espeak-ng's middle.
_PITCH = {"f1": 58, "f2": 55, "f3": 50, "f4": 47, "f5": 44, "m1": 50, "m3": 46, "m4": 54, "m7": 40, "m8": 43}
_RATE_WPM = 165

# Other names of a language, and the nearest accent for regions that have no voice of their own.
_SAME_LANGUAGE = {"no": "nb", "nn": "nb", "cmn": "zh", "in": "id"}
_NEAREST = {"zh-HK": "yue-HK", "zh-MO": "yue-HK", "en": "en-US", "es": "es-ES", "pt": "pt-BR"} | {
    f"en-{region}": "en-GB" for region in ("AU", "IE", "IN", "KE", "MT", "NG", "NZ", "SG", "ZA")
}
_AT_HOME = {"es": ("es-ES", "es-419"), "pt": ("pt-BR", "pt-PT")}


def _catalogue() -> Iterator[Voice]:
    for language, accent, identifier, speakers in _ROWS:
        for speaker in speakers.split():
            name, variant = speaker.split(":")
            yield Voice(
                id=f"{language}-{name.lower()}",
                name=name,
                language=language,
                accent=accent,
                gender="female" if variant.startswith("f") else "male",
                espeak=EspeakVoice(identifier, variant, _RATE_WPM, _PITCH[variant]),
            )


VOICES: tuple[Voice, ...] = tuple(_catalogue())
"""Every voice, grouped by language."""

_BY_ID = {each.id: each for each in VOICES}
_BY_LANGUAGE: dict[str, tuple[Voice, ...]] = {
    language.lower(): tuple(each for each in VOICES if each.language == language) for language, *_ in _ROWS
}


def voice(voice_id: str) -> Voice | None:
    """The voice of that id, or `None`."""
    return _BY_ID.get(voice_id)


def voices_of(language: str) -> tuple[Voice, ...]:
    """The voices nearest to a BCP-47 tag, the default first: same accent, else same language, else American English."""
    primary, _, rest = language.strip().replace("_", "-").partition("-")
    primary = _SAME_LANGUAGE.get(primary.lower(), primary.lower())
    tag = f"{primary}-{rest}" if rest else primary
    region = next((part.upper() for part in rest.split("-") if len(part) == 2), "")
    nearest = _NEAREST.get(f"{primary}-{region}" if region else tag)
    if nearest is None and region and primary in _AT_HOME:
        home, abroad = _AT_HOME[primary]
        nearest = home if home.endswith(f"-{region}") else abroad
    for candidate in (tag, f"{primary}-{region}", nearest):
        if candidate and (found := _BY_LANGUAGE.get(candidate.lower())):
            return found
    same_language = tuple(each for each in VOICES if each.language.partition("-")[0] == primary)
    return same_language or _BY_LANGUAGE["en-us"]


def default_voice(language: str) -> Voice:
    """The voice for a language when none was chosen. A language without voices is spoken by an English one."""
    return voices_of(language)[0]


def same_language(one: str, other: str) -> bool:
    """Whether two BCP-47 tags have the same language, whatever their regions."""
    return voices_of(one)[0].language.partition("-")[0] == voices_of(other)[0].language.partition("-")[0]


def agent_voice(voice_id: str, *, agent_language: str, spoken_language: str) -> Voice:
    """The voice of the agent in a turn: its own, or the default voice if it changed to another language."""
    own = voice(voice_id) or default_voice(agent_language)
    return own if same_language(own.language, spoken_language) else default_voice(spoken_language)


def contact_voice(language: str, *, seed: str, agent: Voice) -> Voice:
    """The voice of the contact: the same for each language and seed, and never the agent's."""
    choice = [each for each in voices_of(language) if each.id != agent.id]
    return choice[int.from_bytes(blake2b(seed.encode(), digest_size=8).digest(), "big") % len(choice)]
