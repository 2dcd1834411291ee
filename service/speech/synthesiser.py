"""Starts the speech worker, sends it requests, and replaces it when it fails.

The library itself is loaded in `espeak_worker.py`, a process of its own. There is one worker and it answers one request
at a time; a sentence takes a few milliseconds.
"""

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from subprocess import DEVNULL, PIPE
from types import TracebackType
from typing import Any, Self

import anyio
from anyio.abc import ByteSendStream, Process
from anyio.streams.buffered import BufferedByteReceiveStream

from callwright.service.speech.voices import EspeakVoice

SAMPLE_RATE = 22_050
"""Samples per second of all speech."""
MAX_TEXT_CHARS = 10_000
MIN_RATE_WPM, MAX_RATE_WPM = 80, 450
"""The range of words per minute that espeak-ng accepts."""

_WORKER = Path(__file__).with_name("espeak_worker.py")
_MAX_ANSWER_BYTES = 1 << 27
_END_TIMEOUT_S = 5.0
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class SpeechUnavailable(Exception):
    """There is no speech now. `reason` is a sentence for people; `detail` may name paths of this machine."""

    def __init__(self, reason: str, *, detail: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True)
class SpokenWord:
    """A word of a text, with the marks and spaces after it. `sample` is where it begins in the speech."""

    text: str
    sample: int


@dataclass(frozen=True)
class WordedSpeech:
    """Speech like that of `Synthesiser.speak`, with its words in their order."""

    samples: bytes
    words: tuple[SpokenWord, ...]


class _WorkerLost(Exception):
    """The worker ended in the middle of a request."""


@dataclass(frozen=True)
class _Worker:
    process: Process
    requests: ByteSendStream
    answers: BufferedByteReceiveStream


@dataclass(frozen=True)
class EspeakLibrary:
    """A library that may be espeak-ng, and the folder with its `espeak-ng-data` (empty: the library's default)."""

    path: str
    data: str = ""


def find_libraries(preferred: str | None = None) -> tuple[EspeakLibrary, ...]:
    """Where espeak-ng may be, in the order to try: the preferred file, the `espeakng_loader` package, the system's.

    Loads nothing and does not import `espeakng_loader`.
    """
    found: list[EspeakLibrary] = []
    if preferred:
        folder = Path(preferred).parent
        found.append(EspeakLibrary(preferred, str(folder) if (folder / "espeak-ng-data").is_dir() else ""))
    suffix = {"win32": "dll", "darwin": "dylib"}.get(sys.platform, "so")
    package = find_spec("espeakng_loader")
    for place in package.submodule_search_locations or () if package else ():
        name = f"espeak-ng.{suffix}" if suffix == "dll" else f"libespeak-ng.{suffix}"
        found.append(EspeakLibrary(str(Path(place) / name), place))
    system = {
        "dll": ("libespeak-ng.dll", "espeak-ng.dll"),
        "dylib": ("libespeak-ng.dylib", "/opt/homebrew/lib/libespeak-ng.dylib", "/usr/local/lib/libespeak-ng.dylib"),
        "so": ("libespeak-ng.so.1", "libespeak-ng.so"),
    }
    return (*found, *(EspeakLibrary(name) for name in system[suffix]))


class Synthesiser:
    """Speech from text. Starts its worker at the first request; `async with` or `aclose` ends it.

    Belongs to one event loop. A request waits at most `wait_timeout_s` for its turn and `request_timeout_s` for its
    answer. A worker that ends in the middle of a request is replaced and asked once more; one that does not answer in
    time is ended.
    """

    def __init__(
        self,
        libraries: Sequence[EspeakLibrary],
        *,
        wait_timeout_s: float = 30.0,
        request_timeout_s: float = 10.0,
        start_timeout_s: float = 10.0,
    ) -> None:
        self._libraries = tuple(libraries)
        self._wait_timeout_s = wait_timeout_s
        self._request_timeout_s = request_timeout_s
        self._start_timeout_s = start_timeout_s
        self._turn = anyio.Lock()
        self._worker: _Worker | None = None
        self._closed = False

    @property
    def worker_pid(self) -> int | None:
        """The process id of the worker, `None` while there is none."""
        return self._worker.process.pid if self._worker else None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Ends the worker. Later requests are refused."""
        self._closed = True
        await self._end_worker()

    async def speak(self, text: str, voice: EspeakVoice, *, rate_wpm: int | None = None) -> bytes:
        """Mono signed 16-bit samples of a text, at `SAMPLE_RATE`, in the machine's byte order.

        `rate_wpm` replaces the voice's own rate and is kept between `MIN_RATE_WPM` and `MAX_RATE_WPM`.

        Raises:
            SpeechUnavailable: no library, an unknown voice, a worker that failed twice or did not answer, a full queue.
            ValueError: the text is longer than `MAX_TEXT_CHARS`.
        """
        return await self._request(_request(text, voice, rate_wpm))

    async def speak_words(self, text: str, voice: EspeakVoice, *, rate_wpm: int | None = None) -> WordedSpeech:
        """The same speech, with the sample at which each word begins. Together the words are the text.

        Raises:
            SpeechUnavailable: as for `speak`.
            ValueError: the text is longer than `MAX_TEXT_CHARS`.
        """
        request = _request(text, voice, rate_wpm) | {"words": True}
        body = await self._request(request)
        end = 4 + int.from_bytes(body[:4], "little")
        places: list[tuple[int, int, int]] = json.loads(body[4:end])
        return WordedSpeech(body[end:], tuple(_words(str(request["text"]), places)))

    async def _request(self, request: Mapping[str, object]) -> bytes:
        try:
            with anyio.fail_after(self._wait_timeout_s):
                await self._turn.acquire()
        except TimeoutError:
            raise SpeechUnavailable("The speech synthesiser is busy.") from None
        try:
            return await self._ask(json.dumps(request).encode())
        finally:
            self._turn.release()

    async def _ask(self, request: bytes) -> bytes:
        for _ in range(2):
            if self._worker is not None and self._worker.process.returncode is not None:
                await self._end_worker()
            answered = False
            try:
                worker = self._worker or await self._start_worker()
                if self._closed:  # perhaps while the worker was starting
                    raise SpeechUnavailable("The speech synthesiser is closed.")
                with anyio.fail_after(self._request_timeout_s):
                    kind, body = await _exchange(worker, request)
                answered = True
            except _WorkerLost:
                continue
            except TimeoutError:
                raise SpeechUnavailable("The speech synthesiser did not answer in time.") from None
            finally:
                if not answered:  # also after a cancelled request, whose answer the next one would get
                    await self._end_worker()
            if kind in (b"P", b"W"):
                return body
            raise SpeechUnavailable("The speech synthesiser refused the request.", detail=body.decode(errors="replace"))
        raise SpeechUnavailable("The speech synthesiser ended unexpectedly.")

    async def _start_worker(self) -> _Worker:
        places = [part for library in self._libraries for part in (library.path, library.data)]
        try:
            with anyio.fail_after(self._start_timeout_s):
                process = await anyio.open_process(
                    [sys.executable, "-I", "-S", str(_WORKER), *places],
                    stdin=PIPE,
                    stdout=PIPE,
                    stderr=DEVNULL,
                    env=worker_environment(os.environ),
                    start_new_session=True,  # Ctrl-C in the terminal is the parent's to handle
                )
                assert process.stdin is not None  # both are pipes
                assert process.stdout is not None
                self._worker = worker = _Worker(process, process.stdin, BufferedByteReceiveStream(process.stdout))
                kind, body = await _answer(worker)
        except TimeoutError:
            raise SpeechUnavailable("The speech synthesiser did not start in time.") from None
        except OSError as error:
            raise SpeechUnavailable("The speech synthesiser could not be started.", detail=str(error)) from None
        if kind == b"L":
            raise SpeechUnavailable("No espeak-ng library could be loaded.", detail=body.decode(errors="replace"))
        if json.loads(body)["sample_rate"] != SAMPLE_RATE:
            raise SpeechUnavailable("The espeak-ng library speaks at an unexpected sample rate.")
        return worker

    async def _end_worker(self) -> None:
        worker, self._worker = self._worker, None
        if worker is None:
            return
        with anyio.move_on_after(_END_TIMEOUT_S, shield=True):
            if worker.process.returncode is None:
                with suppress(ProcessLookupError):  # it ended a moment ago
                    worker.process.kill()  # it holds nothing that could be lost
            await worker.process.aclose()  # closes the pipes and waits for the end, so nothing is left behind


def _request(text: str, voice: EspeakVoice, rate_wpm: int | None) -> dict[str, Any]:
    if len(text) > MAX_TEXT_CHARS:
        raise ValueError(f"a text to speak has at most {MAX_TEXT_CHARS} characters")
    return {
        "voice": f"{voice.identifier}+{voice.variant}",
        "rate": min(max(rate_wpm or voice.rate_wpm, MIN_RATE_WPM), MAX_RATE_WPM),
        "pitch": voice.pitch,
        "text": _CONTROL.sub(" ", text),
    }


def _words(text: str, places: Sequence[tuple[int, int, int]]) -> Iterator[SpokenWord]:
    """The text from each word's place to the next one's; what stands before the first word belongs to it."""
    merged: list[tuple[int, int]] = []
    for position, _, sample in places:
        if not merged or position > merged[-1][0]:  # a number, for example, has several words at one place
            merged.append((position, sample))
    starts = [0, *(position for position, _ in merged[1:]), len(text)]
    for at, (_, sample) in enumerate(merged):
        yield SpokenWord(text[starts[at] : starts[at + 1]], sample)


async def _exchange(worker: _Worker, request: bytes) -> tuple[bytes, bytes]:
    try:
        await worker.requests.send(len(request).to_bytes(4, "little") + request)
    except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
        raise _WorkerLost from None
    return await _answer(worker)


async def _answer(worker: _Worker) -> tuple[bytes, bytes]:
    """The kind and the body of the next answer."""
    try:
        head = await worker.answers.receive_exactly(5)
        size = int.from_bytes(head[1:], "little")
        if size > _MAX_ANSWER_BYTES:
            raise _WorkerLost
        return head[:1], await worker.answers.receive_exactly(size)
    except (anyio.IncompleteRead, anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
        raise _WorkerLost from None


def worker_environment(own: Mapping[str, str]) -> dict[str, str]:
    """The worker's environment: only the variables that an interpreter needs to start, no settings of the service."""
    needed = ("SYSTEMROOT",) if sys.platform == "win32" else ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
    return {name: own[name] for name in needed if name in own}
