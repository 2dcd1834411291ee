"""The tone of a mailbox, after which the caller speaks."""

from functools import cache

import numpy as np

from callwright.service.telephony.media.sound.sound_clock import RATE

_TONE_S, _HERTZ, _LOUDNESS = 0.5, 1_000.0, 3_000.0


@cache
def mailbox_tone() -> bytes:
    """Half a second, as 16-bit samples."""
    at = np.arange(round(_TONE_S * RATE)) / RATE
    return (np.sin(2 * np.pi * _HERTZ * at) * _LOUDNESS).astype("<i2").tobytes()
