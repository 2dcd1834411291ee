"""The recording of a live call: a WAV with two channels, the agent left and the other side right.

It is G.711 mu-law at 8 kHz, as a telephone line carries it, and takes 1 MB a minute. The header says at each second how
much has been written by then, so a file whose process ended suddenly is complete up to the last second.
"""

from pathlib import Path
from typing import BinaryIO, Literal

import anyio
import numpy as np
from anyio import to_thread

from callwright.service.speech.mu_law_files import HEADER_BYTES, RATE_HZ, header
from callwright.service.telephony.media.sound.resampling import Halved, Samples
from callwright.service.telephony.media.sound.sound_clock import RATE, SoundClock

FULL_DISK = "The recording ends early: it could not be written."
_FLUSH_S = 1.0
_LATE_S = 0.5
"""How long sound may come after its time and still be recorded."""
_MOST_WAITING = RATE * 2 * 60
"""Bytes of a channel that wait to be written; more means that the disk hangs."""


def mu_law(samples: Samples) -> bytes:
    """G.711 mu-law of 16-bit samples."""
    magnitude = np.minimum(np.abs(samples.astype(np.int32)), 32_635) + 132
    exponent = np.floor(np.log2(magnitude)).astype(np.int32) - 7
    mantissa = (magnitude >> (exponent + 3)) & 0x0F
    sign = np.where(samples < 0, 0x80, 0)
    return bytes((~(sign | (exponent << 4) | mantissa) & 0xFF).astype(np.uint8))


class _Channel:
    """One side's sound that is not written yet."""

    def __init__(self) -> None:
        self._waiting = bytearray()
        self._written = 0
        self._halved = Halved()

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def add(self, start: int, pcm: bytes) -> None:
        """Adds sound at its place. What comes after its time was written is left out."""
        late = self._written - start
        if late > 0:
            pcm, start = pcm[2 * late :], self._written
        gap = 2 * (start - self._written) - len(self._waiting)
        if 0 < gap <= _MOST_WAITING:
            self._waiting += bytes(gap)
        self._waiting += pcm

    def take(self, samples: int) -> bytes:
        """The next samples, silence where there is none."""
        pcm = bytes(self._waiting[: 2 * samples])
        del self._waiting[: 2 * samples]
        self._written += samples
        return pcm + bytes(2 * samples - len(pcm))

    def encode(self, pcm: bytes) -> bytes:
        """The recorded form of samples that follow those before."""
        return mu_law(self._halved.add(pcm))


class Recorder:
    """Records a call into a file. `agent` and `contact` take the sound of their tracks.

    `run` writes once a second until it is cancelled, `close` writes the rest. A file that cannot be written, or a disk
    that hangs, ends the recording and not the call: `problem` says so in a sentence.
    """

    def __init__(self, path: Path, clock: SoundClock) -> None:
        self._path = path
        self._clock = clock
        self._sides = {"agent": _Channel(), "contact": _Channel()}
        self._file: BinaryIO | None = None
        self._frames = 0
        self._ended = False
        self._writing = anyio.Lock()
        self.problem: str | None = None

    @property
    def has_sound(self) -> bool:
        """Whether anything was written that can be played."""
        return self._frames > 0

    def agent(self, start: int, pcm: bytes) -> None:
        """Takes sound of the agent."""
        self._add("agent", start, pcm)

    def contact(self, start: int, pcm: bytes) -> None:
        """Takes sound of the other side."""
        self._add("contact", start, pcm)

    def _add(self, side: Literal["agent", "contact"], start: int, pcm: bytes) -> None:
        if self._ended:
            return
        self._sides[side].add(start, pcm)
        if self._sides[side].waiting > _MOST_WAITING:
            self._fail()

    def _fail(self) -> None:
        self._ended = True
        self.problem = FULL_DISK

    async def run(self) -> None:
        """Writes what has been said, once a second."""
        while True:
            await anyio.sleep(_FLUSH_S)
            await self._write_until(self._clock.now_s() - _LATE_S)

    async def close(self) -> None:
        """Writes the rest and closes the file. Later sound is left out."""
        await self._write_until(self._clock.now_s())
        self._ended = True
        file, self._file = self._file, None
        if file is not None:
            try:
                await to_thread.run_sync(file.close)
            except OSError:
                self._fail()

    async def _write_until(self, moment_s: float) -> None:
        async with self._writing:
            samples = (int(moment_s * RATE_HZ) - self._frames) * 2
            if self._ended or samples <= 0:
                return
            left, right = (self._sides[side].take(samples) for side in ("agent", "contact"))
            try:
                await to_thread.run_sync(self._write, left, right)
            except OSError:
                self._fail()

    def _write(self, left: bytes, right: bytes) -> None:
        """Writes the samples first and the header after them: it never counts what is not there."""
        if self._file is None:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._file = self._path.open("wb")
            self._file.write(header(0))
        both = bytearray(len(left) // 2)
        both[0::2] = self._sides["agent"].encode(left)
        both[1::2] = self._sides["contact"].encode(right)
        self._file.seek(HEADER_BYTES + 2 * self._frames)
        self._file.write(both)
        self._file.flush()
        self._frames += len(both) // 2
        self._file.seek(0)
        self._file.write(header(self._frames))
        self._file.flush()
