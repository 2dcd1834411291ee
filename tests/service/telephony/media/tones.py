"""Tones of keys in the sound of a call."""

import numpy as np


def has_tones(sound: bytes, *hertz: float) -> bool:
    """Whether somewhere in the sound nearly all energy is in these tones, for a tenth of a second."""
    samples = np.frombuffer(sound, "<i2").astype(np.float64)
    for start in range(0, len(samples) - 1_600, 320):
        power = np.abs(np.fft.rfft(samples[start : start + 1_600] * np.hanning(1_600))) ** 2
        shares = [power[round(tone / 10) - 2 : round(tone / 10) + 3].sum() / max(power.sum(), 1.0) for tone in hertz]
        if min(shares) > 0.2 and sum(shares) > 0.9:
            return True
    return False
