"""Whether a machine answers: by the words of its greeting, and by its beep."""

import re
from functools import lru_cache

import numpy as np

from callwright.service.telephony.engine import AnsweredBy
from callwright.service.telephony.media.sound.sound_clock import RATE

_WINDOW = 512
"""32 ms."""
_FEWEST_WINDOWS = 5
_LOWEST_HZ, _HIGHEST_HZ = 350.0, 2_200.0
_QUIETEST = 200.0
_PAUSE_S = 2.0
"""Silence after a greeting in which the machine records."""
_LONGEST_GREETING_S = 45.0
_BEEP_S = 3.0
"""A beep within this time is the end of the greeting's words."""
_SHARE_OF_TONE = 0.85
"""How much of the energy of a beep is in one tone. A voice has its overtones."""

_GREETINGS: dict[str, str] = {
    "en": (
        r"(?:leave|record)(?: me| us)? (?:a|your)(?: \w+)? message|after the (?:tone|beep)|at the (?:tone|beep)|"
        r"voice ?mail|mailbox|answering machine|(?:can'?t|cannot|unable to) (?:come to|take|answer)"
        r"(?: the| your)? (?:phone|call)|(?:is|are) not available (?:right now|at the moment|to take)|"
        r"person you (?:are|have) (?:calling|called|trying|dialled)|leave your name"
    ),
    "de": (
        r"nach dem (?:signal|piep|ton)|mailbox|anrufbeantworter|(?:hinterlassen|sprechen) sie (?:bitte )?"
        r"(?:eine |ihre )?nachricht|nachricht (?:zu |bitte )?(?:hinterlassen|auf)|"
        r"(?:der|den) (?:angerufene|gewünschte)|"
        r"(?:zurzeit|zur zeit|derzeit|momentan) nicht (?:erreichbar|zu erreichen|verfügbar)"
    ),
    "fr": (
        r"après le (?:bip|signal)|(?:laissez|laisser)(?:-(?:moi|nous))? (?:un|votre) message|messagerie|boîte vocale|"
        r"répondeur|(?:n'est pas|ne suis pas|ne sommes pas) (?:disponible|joignable)"
    ),
    "es": (
        r"después de (?:la señal|oír la señal|escuchar el tono)|tras la señal|(?:deje|deja|dejar) (?:su|un|tu) mensaje|"
        r"buzón(?: de voz)?|contestador|no (?:está|estoy|se encuentra) disponible"
    ),
    "it": (
        r"dopo il (?:segnale|bip|tono)|(?:lasciate|lascia|lasci|lasciare) (?:un|il tuo|il suo) messaggio|segreteria|"
        r"casella vocale|non (?:è|sono|siamo) (?:raggiungibil|disponibil)\w+"
    ),
    "nl": (
        r"na de (?:toon|piep|pieptoon)|(?:spreek|laat) (?:u )?(?:een|uw|je) (?:bericht|boodschap)|voicemail|"
        r"antwoordapparaat|niet (?:bereikbaar|beschikbaar)"
    ),
    "pt": (
        r"(?:após|depois d)o? ?(?:o )?(?:sinal|bip|tom)|(?:deixe|deixar) (?:a sua|sua|uma|seu) (?:mensagem|recado)|"
        r"caixa postal|correio de voz|secretária eletr[óô]nica|não (?:está|estou) disponível"
    ),
    "hi": r"बीप के बाद|संदेश छोड़|वॉइसमेल|वॉयसमेल|उपलब्ध नहीं|सीमा से बाहर|बंद है",
}


@lru_cache(maxsize=1)
def _greeting() -> re.Pattern[str]:
    return re.compile("|".join(_GREETINGS.values()), re.IGNORECASE)


def is_machine_greeting(text: str) -> bool:
    """Whether words are those of an answering machine, in any of the languages that have phrases."""
    return _greeting().search(text.replace("’", "'")) is not None


class BeepFinder:
    """Finds the beep of a machine in the sound of a call: one steady tone of 160 ms or more, which has ended."""

    def __init__(self) -> None:
        self._rest = b""
        self._tone = 0.0
        self._windows = 0

    def hear(self, pcm: bytes) -> bool:
        """Takes sound. True once for each beep, as soon as it is over: a machine records from then on."""
        sound = self._rest + pcm
        size = 2 * _WINDOW
        whole = len(sound) // size * size
        self._rest = sound[whole:]
        return any([self._window(sound[at : at + size]) for at in range(0, whole, size)])

    def _window(self, pcm: bytes) -> bool:
        tone = _tone_of(pcm)
        goes_on = tone is not None and self._windows > 0 and abs(tone - self._tone) <= RATE / _WINDOW
        has_ended = not goes_on and self._windows >= _FEWEST_WINDOWS
        self._windows = 0 if tone is None else self._windows + 1 if goes_on else 1
        self._tone = tone or 0.0
        return has_ended


class Machine:
    """Waits for the end of a machine's greeting. Times are seconds of one clock."""

    def __init__(self) -> None:
        self._beeps = BeepFinder()
        self._beep_at = self._speech_ended_at = float("-inf")
        self._met_at: float | None = None

    @property
    def is_met(self) -> bool:
        """Whether a machine is known to have answered."""
        return self._met_at is not None

    def hear(self, pcm: bytes, now: float) -> None:
        """Takes sound, to find beeps."""
        if self._beeps.hear(pcm):
            self._beep_at = now

    def speech_ended(self, now: float) -> None:
        """The greeting pauses or ends."""
        self._speech_ended_at = now

    def met(self, now: float) -> None:
        """A machine answered."""
        self._met_at = now

    def ended(self, now: float, *, speaks: bool) -> AnsweredBy | None:
        """How the greeting ended; None while it goes on."""
        if self._met_at is None:
            return None
        if self._beep_at > max(self._met_at, self._speech_ended_at) - _BEEP_S:
            return "machine_end_beep"
        quiet = not speaks and now - max(self._speech_ended_at, self._met_at - _PAUSE_S) > _PAUSE_S
        return "machine_end_silence" if quiet or now - self._met_at > _LONGEST_GREETING_S else None


def _tone_of(pcm: bytes) -> float | None:
    """The frequency of the tone that a window consists of; None if it is no tone."""
    samples = np.frombuffer(pcm, "<i2").astype(np.float64)
    if float(np.sqrt(np.mean(samples * samples))) < _QUIETEST:
        return None
    power = np.abs(np.fft.rfft(samples * np.hanning(len(samples)))) ** 2
    power[:2] = 0.0
    peak = int(np.argmax(power))
    frequency = peak * RATE / _WINDOW
    if not _LOWEST_HZ <= frequency <= _HIGHEST_HZ:
        return None
    near = float(power[max(peak - 2, 0) : peak + 3].sum())
    return frequency if near >= _SHARE_OF_TONE * float(power.sum()) else None
