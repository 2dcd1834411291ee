"""The process that runs espeak-ng: reads requests on standard input, writes speech on standard output.

espeak-ng is GPL-3.0-or-later, keeps global state and can crash, so it is loaded only here. The module
imports nothing of its package: it is started by its path with `-I -S`, which halves the start.

Arguments: pairs of a library and the folder that holds its `espeak-ng-data` (empty: the library's own default), tried
in order. A request is a little-endian length of four bytes and that much JSON: `{"voice", "rate", "pitch", "text"}`,
and `"words": true` if the words are wanted too. An answer is one byte of kind, a length of four bytes and the body:

* `R` once at the start: JSON with the sample rate and the version;
* `L` instead of it when no library loads: the reasons, and the process ends;
* `P` signed 16-bit mono samples in the machine's byte order;
* `W` instead of it when the words were wanted: a length of four bytes, that much JSON, then the samples. The JSON is a
  list of `[position, length, sample]`: where a word stands in the text, in characters, and the sample at which it
  begins;
* `E` the request was refused: the reason.

The end of standard input ends the process, so it never outlives its parent.
"""

import ctypes
import json
import os
import sys
from typing import Any, BinaryIO

_SYNCHRONOUS = 2  # espeak_AUDIO_OUTPUT: samples go to the callback, inside the call
_DO_NOT_EXIT = 0x8000  # espeakINITIALIZE_DONT_EXIT: missing data is an error, not exit(1)
_UTF8 = 1  # espeakCHARS_UTF8
_RATE, _PITCH = 1, 3  # espeak_PARAMETER
_MAX_BYTES = 22_050 * 2 * 1800
"""Half an hour of speech; a longer answer is refused."""

_WORD = 1  # espeakEVENT_WORD
_MAX_WORDS = 10_000


class _Event(ctypes.Structure):
    """`espeak_EVENT` of `speak_lib.h`. The last event of a list has the type 0."""

    _fields_ = [
        ("type", ctypes.c_int),
        ("unique_identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),  # in characters, from 1
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),  # in milliseconds
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("id", ctypes.c_char * 8),
    ]


_Callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(_Event))


class Espeak:
    """espeak-ng loaded from one library. Raises OSError when the library or its data cannot be loaded."""

    def __init__(self, library: str, data: str) -> None:
        self._library: Any = ctypes.CDLL(library)
        self._samples = bytearray()
        self.words: list[tuple[int, int, int]] = []
        """The words of the last text: position and length in characters, and the sample at which each begins."""
        self._overflow = False
        self._callback = _Callback(self._collect)  # kept: the library does not own it
        self.sample_rate = int(
            self._library.espeak_Initialize(_SYNCHRONOUS, 0, data.encode() if data else None, _DO_NOT_EXIT)
        )
        if self.sample_rate <= 0:
            raise OSError("its data could not be loaded")
        self._library.espeak_SetSynthCallback(self._callback)
        self._library.espeak_Info.restype = ctypes.c_char_p
        self.version = (self._library.espeak_Info(None) or b"").decode(errors="replace")
        if hasattr(self._library, "espeak_ng_SetRandSeed"):  # since 1.52; otherwise seeded by the time of day
            self._library.espeak_ng_SetRandSeed(ctypes.c_long(1))

    def _collect(self, wave: int | None, count: int, events: Any) -> int:
        at = 0
        while events and events[at].type and len(self.words) < _MAX_WORDS:
            event = events[at]
            if event.type == _WORD:
                self.words.append((max(event.text_position - 1, 0), event.length, event.sample))
            at += 1
        if wave and count > 0:
            self._samples += ctypes.string_at(wave, 2 * count)
        self._overflow = len(self._samples) > _MAX_BYTES
        return int(self._overflow)

    def speak(self, text: str, *, voice: str, rate: int, pitch: int) -> bytes:
        """The samples of a text. Raises ValueError when the voice is unknown or the speech too long."""
        if self._library.espeak_SetVoiceByName(voice.encode()) != 0:
            raise ValueError("the library does not have this voice")
        self._library.espeak_SetParameter(_RATE, rate, 0)
        self._library.espeak_SetParameter(_PITCH, pitch, 0)
        self._samples.clear()
        self.words.clear()
        self._overflow = False
        spoken = text.encode(errors="replace") + b"\0"
        size = ctypes.c_size_t(len(spoken))
        if self._library.espeak_Synth(spoken, size, 0, 1, 0, _UTF8, None, None) != 0:
            raise ValueError("the library could not speak this text")
        if self._overflow:
            raise ValueError("the speech is too long")
        return bytes(self._samples)


def load(libraries: list[str]) -> tuple[Espeak | None, list[str]]:
    """The first library of `[library, data, library, data, ...]` that loads, and why the ones before it did not."""
    reasons: list[str] = []
    for library, data in zip(libraries[::2], libraries[1::2], strict=True):
        try:
            return Espeak(library, data), reasons
        except (OSError, AttributeError) as error:  # AttributeError: a library, but not espeak-ng
            reasons.append(f"{library}: {error}")
    return None, reasons


def _answer(out: BinaryIO, kind: bytes, body: bytes) -> None:
    out.write(kind + len(body).to_bytes(4, "little"))
    out.write(body)
    out.flush()


def serve(requests: BinaryIO, answers: BinaryIO, libraries: list[str]) -> int:
    """Answers requests until there are no more. Returns the exit status."""
    espeak, reasons = load(libraries)
    if espeak is None:
        _answer(answers, b"L", "; ".join(reasons).encode(errors="replace"))
        return 1
    _answer(answers, b"R", json.dumps({"sample_rate": espeak.sample_rate, "version": espeak.version}).encode())
    while len(head := requests.read(4)) == 4:
        request = json.loads(requests.read(int.from_bytes(head, "little")))
        try:
            speech = espeak.speak(request["text"], voice=request["voice"], rate=request["rate"], pitch=request["pitch"])
        except ValueError as error:
            _answer(answers, b"E", str(error).encode())
        else:
            if request.get("words"):
                words = json.dumps(espeak.words).encode()
                _answer(answers, b"W", len(words).to_bytes(4, "little") + words + speech)
            else:
                _answer(answers, b"P", speech)
    return 0


def main() -> int:
    """Serves the process's own standard streams; whatever the library prints goes to standard error."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with answers:
        try:
            return serve(sys.stdin.buffer, answers, sys.argv[1:])
        except BrokenPipeError:  # the parent is gone
            return 0


if __name__ == "__main__":
    status = main()
    # Leaves without unloading: the parent is waiting, and nothing is left to save.
    os._exit(status)
