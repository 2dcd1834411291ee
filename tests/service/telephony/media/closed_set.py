"""A recogniser for tests that knows a closed set of sentences and hears which one was said, or none.

It compares log-mel spectra by dynamic time warping with sentences that the test itself synthesised. It hears: silence,
foreign words or the other side's sound give another sentence or none. It recognises nothing else and never ships.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

Samples = np.ndarray[Any, np.dtype[np.float64]]
Places = np.ndarray[Any, np.dtype[np.int64]]

RATE = 16_000
THRESHOLD = 0.3
"""A greater distance is no sentence of the set. The same voice has 0.03, over a telephone up to 0.2; another sentence
has 0.36 and more, noise 0.69."""
_WINDOW, _HOP, _BANDS = 512, 320, 26
_QUIET = 0.04
"""What has less than this share of the loudest frame is silence."""


def samples_of(pcm: bytes) -> Samples:
    """Samples between -1 and 1."""
    return np.frombuffer(pcm[: len(pcm) // 2 * 2], "<i2").astype(np.float64) / 32_768


def resampled(pcm: bytes, rate: int) -> bytes:
    """16-bit samples of another rate as such of `RATE`."""
    given = np.frombuffer(pcm, "<i2").astype(np.float64)
    at = np.arange(int(len(given) * RATE / rate)) * rate / RATE
    return np.interp(at, np.arange(len(given)), given).astype("<i2").tobytes()


def _filters() -> Samples:
    lowest, highest = (2595 * float(np.log10(1 + hertz / 700)) for hertz in (150, 4_000))
    edges: Samples = 700 * (np.power(10.0, np.linspace(lowest, highest, _BANDS + 2) / 2595) - 1)
    bins: Samples = np.arange(_WINDOW // 2 + 1, dtype=np.float64) * RATE / _WINDOW
    rising: Samples = (bins[None] - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling: Samples = (edges[2:, None] - bins[None]) / (edges[2:] - edges[1:-1])[:, None]
    return np.maximum(0.0, np.minimum(rising, falling))


_FILTERS = _filters()


def features(samples: Samples) -> Samples | None:
    """Normalised log-mel spectra of the sound without the silence around it; None for silence."""
    if len(samples) < _WINDOW:
        return None
    starts = np.arange(0, len(samples) - _WINDOW, _HOP)
    frames = samples[starts[:, None] + np.arange(_WINDOW)]
    loud = np.sqrt((frames**2).mean(axis=1))
    if loud.max(initial=0.0) < 0.003:
        return None
    heard = np.nonzero(loud > max(_QUIET * loud.max(), 0.002))[0]
    frames = frames[heard[0] : heard[-1] + 1]
    if len(frames) < 8:
        return None
    power = np.abs(np.fft.rfft(frames * np.hanning(_WINDOW))) ** 2
    mel = np.log(power @ _FILTERS.T + 1e-6 * power.max())
    mel -= mel.mean(axis=0)
    return mel / np.maximum(np.linalg.norm(mel, axis=1, keepdims=True), 1e-9)


def distance(one: Samples, other: Samples) -> float:
    """Mean distance along the best alignment: 0 for the same sound, about 1 for unrelated ones."""
    cost = 1.0 - one @ other.T
    rows, columns = cost.shape
    total = np.full((rows + 1, columns + 1), np.inf)
    total[0, 0] = 0.0
    for diagonal in range(2, rows + columns + 1):  # along a diagonal no cell depends on another
        row: Places = np.arange(max(1, diagonal - columns), min(rows, diagonal - 1) + 1, dtype=np.int64)
        column: Places = diagonal - row
        step = cost[row - 1, column - 1]
        total[row, column] = np.minimum(
            total[row - 1, column - 1] + 2 * step,
            np.minimum(total[row - 1, column], total[row, column - 1]) + step,
        )
    return float(total[rows, columns] / (rows + columns))


class ClosedSet:
    """Sentences with their sound, as 16-bit samples of `RATE`."""

    def __init__(self, sentences: Mapping[str, bytes]) -> None:
        self._sentences: dict[str, Samples] = {}
        for text, pcm in sentences.items():
            known = features(samples_of(pcm))
            assert known is not None, text
            self._sentences[text] = known

    def scores(self, pcm: bytes) -> dict[str, float]:
        """The distance to each sentence, the nearest first."""
        heard = features(samples_of(pcm))
        if heard is None:
            return {}
        found = {text: distance(heard, known) for text, known in self._sentences.items()}
        return dict(sorted(found.items(), key=lambda each: each[1]))

    def recognise(self, pcm: bytes) -> str:
        """The sentence that was said; empty if it was none of them."""
        scores = self.scores(pcm)
        if not scores:
            return ""
        text = next(iter(scores))
        return text if scores[text] <= THRESHOLD else ""
