"""What somebody hears who holds: a soft tone now and then, as if it rang elsewhere."""

from functools import cache

import numpy as np

from callwright.service.telephony.media.sound.sound_clock import RATE

TONE_S, EVERY_S = 1.0, 4.0
"""Seconds of the tone, and from one to the next: as it rings in most of Europe."""
_HERTZ, _LOUDNESS, _FADE_S = 425.0, 900.0, 0.05


@cache
def hold_tone() -> bytes:
    """The tone, as 16-bit samples."""
    at = np.arange(round(TONE_S * RATE)) / RATE
    fade = np.clip(np.minimum(at, TONE_S - at) / _FADE_S, 0.0, 1.0)
    return (np.sin(2 * np.pi * _HERTZ * at) * fade * _LOUDNESS).astype("<i2").tobytes()
