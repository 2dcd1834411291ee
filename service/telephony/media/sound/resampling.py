"""Changes between the rate of a media process and that of the telephone: 16 kHz and 8 kHz, 16-bit samples.

A stream keeps what its filter needs of the sound before, so pieces of any length give the same as the whole.
"""

from typing import Any

import numpy as np

TELEPHONE_RATE = 8_000
_TAPS = 31
Samples = np.ndarray[Any, np.dtype[Any]]


def _half_band() -> Samples:
    """A low pass: what 8 kHz cannot carry is left out."""
    at = np.arange(_TAPS) - _TAPS // 2
    taps = np.sinc(at * 0.47) * np.hamming(_TAPS)
    return taps / taps.sum()


_FILTER = _half_band()


def _as_samples(sound: Samples) -> Samples:
    return np.clip(np.rint(sound), -32_768, 32_767)


class Halved:
    """Sound of 16 kHz as sound of 8 kHz. A sample that has no second one yet waits for it."""

    def __init__(self) -> None:
        self._before = np.zeros(_TAPS - 1)

    def add(self, pcm: bytes) -> Samples:
        """The samples of the sound that follows."""
        sound = np.concatenate((self._before, np.frombuffer(pcm, "<i2").astype(np.float64)))
        if len(sound) < _TAPS:
            self._before = sound
            return np.zeros(0, np.int32)
        low = np.convolve(sound, _FILTER, "valid")[::2]
        self._before = sound[2 * len(low) :]
        return _as_samples(low).astype(np.int32)


class Doubled:
    """Sound of 8 kHz as sound of 16 kHz."""

    def __init__(self) -> None:
        self._before = np.zeros(_TAPS - 1)

    def add(self, pcm: bytes) -> bytes:
        """The sound that follows."""
        if not pcm:
            return b""
        given = np.frombuffer(pcm, "<i2").astype(np.float64)
        spread = np.zeros(2 * len(given))
        spread[::2] = 2 * given
        sound = np.concatenate((self._before, spread))
        self._before = sound[len(spread) :]
        return _as_samples(np.convolve(sound, _FILTER, "valid")).astype("<i2").tobytes()
