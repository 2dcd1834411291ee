"""Estimates how long a text takes to say. Calls are timed with this estimate; recordings are fitted to it later."""

from functools import lru_cache
from typing import NamedTuple

from callwright.service.telephony.simulated.conversation.phrases import primary

MIN_DURATION_S = 0.2
_CACHED_TEXTS = 8192


class Pace(NamedTuple):
    """Seconds for each part of a text, fitted to espeak-ng at 165 words a minute without its trailing silence."""

    start: float
    letter: float
    word: float
    comma: float
    stop: float
    digit: float


_PACES: dict[str, Pace] = {
    "en": Pace(0.1818, 0.0450, 0.0548, 0.3690, 0.5277, 0.2886),
    "es": Pace(0.0940, 0.0586, 0.0340, 0.2689, 0.4021, 0.2812),
    "de": Pace(0.0947, 0.0437, 0.0788, 0.2926, 0.3943, 0.3114),
    "fr": Pace(0.0635, 0.0503, 0.0081, 0.2844, 0.4343, 0.2208),
    "pt": Pace(0.0964, 0.0699, 0.0009, 0.3071, 0.4355, 0.3009),
    "it": Pace(0.1050, 0.0559, 0.0417, 0.2941, 0.4564, 0.2709),
    "nl": Pace(0.0923, 0.0553, 0.0491, 0.3000, 0.4493, 0.2664),
    "hi": Pace(0.0791, 0.0643, 0.0732, 0.2242, 0.4155, 0.2684),
    "ru": Pace(0.1000, 0.0520, 0.0300, 0.2900, 0.4300, 0.2760),
    "pl": Pace(0.1000, 0.0670, 0.0300, 0.2900, 0.4300, 0.2760),
    "zh": Pace(0.1000, 0.2580, 0.0300, 0.2900, 0.4300, 0.2760),
    "ko": Pace(0.1000, 0.1830, 0.0300, 0.2900, 0.4300, 0.2760),
    "ar": Pace(0.1000, 0.1050, 0.0300, 0.2900, 0.4300, 0.2760),
    "sv": Pace(0.1000, 0.0630, 0.0300, 0.2900, 0.4300, 0.2760),
    "tr": Pace(0.1000, 0.0740, 0.0300, 0.2900, 0.4300, 0.2760),
}
_OTHER = Pace(0.1064, 0.0629, 0.0100, 0.3042, 0.4475, 0.2768)
_SCRIPTS = (
    ("\u0400", "\u052f", "ru"),
    ("\u0600", "\u06ff", "ar"),
    ("\u0900", "\u0dff", "hi"),
    ("\u3040", "\u9fff", "zh"),
    ("\uac00", "\ud7a3", "ko"),
)


def _pace_of(text: str, language: str) -> Pace:
    pace = _PACES.get(primary(language))
    if pace is not None:
        return pace
    for character in text[:40]:
        for first, last, language_of_script in _SCRIPTS:
            if first <= character <= last:
                return _PACES[language_of_script]
    return _OTHER


@lru_cache(maxsize=_CACHED_TEXTS)
def spoken_duration_s(text: str, language: str) -> float:
    """Seconds to say the text in a language (a BCP-47 tag), rounded to milliseconds, at least `MIN_DURATION_S`.

    A linear model of letters, words, commas, ends of sentences and digits. A language without a pace of its own gets
    that of its script, else the mean of the fitted languages that are written with Latin letters.
    """
    pace = _pace_of(text, language)
    count = text.count
    spaces = count(" ")
    commas = count(",") + count(";") + count(":") + count("–") + count("—") + count("，") + count("،")
    stops = count(".") + count("?") + count("!") + count("。") + count("？") + count("؟") + count("।") + count("¿")
    digits = 0 if text.isalpha() else sum(map(count, "0123456789"))
    letters = len(text) - spaces - commas - stops - digits
    inner = max(stops - 1 - count("¿"), 0)
    seconds = (
        pace.start
        + pace.letter * letters
        + pace.word * (spaces + 1)
        + pace.comma * commas
        + pace.stop * inner
        + pace.digit * digits
    )
    return round(max(seconds, MIN_DURATION_S), 3)
