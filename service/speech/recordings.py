"""Recordings as files. Those of simulated calls are made at the first request, and kept while there is room.

Such a recording can be made again at any time, so the folder is a cache. The name of a file is the id of the call, if
there is one, and the hash of the content. Its access time is the time of the last request, set here because many
systems no longer set it. The recordings of calls on lines are files of their own (`line_recordings`), of which only the
MP3 is in the cache.
"""

import os
import re
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Literal

import anyio
from anyio import CapacityLimiter, to_thread

from callwright.service.speech.encoding import SIMULATED_COMMENT, encode_mp3, encode_mp3_pieces, encode_wav
from callwright.service.speech.line_recordings import LineRecording, LineRecordings, NotRecorded, RecordedCall
from callwright.service.speech.mu_law_files import RATE_HZ, NotARecording, pcm_of
from callwright.service.speech.recording_content import RecordingContent
from callwright.service.speech.rendering import Speech, render
from callwright.service.speech.synthesiser import SpeechUnavailable
from callwright.service.tables.database_file import LINE_RECORDINGS

__all__ = ["MediaType", "Recording", "RecordingContent", "Recordings"]

MediaType = Literal["audio/mpeg", "audio/wav"]

_SUFFIXES: dict[MediaType, str] = {"audio/mpeg": ".mp3", "audio/wav": ".wav"}
_CALL = re.compile(r"cal_[0-9A-Za-z]{1,36}")
_FINISHED = re.compile(rf"(?:({_CALL.pattern})\.)?[0-9a-f]{{32}}\.(?:mp3|wav)")
_UNFINISHED = re.compile(rf"{_FINISHED.pattern}\.\d+\.part")


@dataclass(frozen=True)
class Recording:
    """A finished file. `etag` is an HTTP entity tag with its quotes, `size` is in bytes."""

    path: Path
    etag: str
    media_type: MediaType
    size: int


@dataclass
class _Key:
    lock: anyio.Lock
    users: int = 0


class Recordings:
    """The recordings of a folder, at most `max_bytes` of them together, and those of calls on lines beside it.

    One object at a time may use a folder. Open a path at once: making other recordings may remove the file.
    `now_ns` is the time in nanoseconds since the epoch; it only orders the files by their last use. A single file
    larger than `max_bytes` stays until the next one is made.
    """

    def __init__(
        self,
        folder: Path,
        *,
        max_bytes: int,
        synthesiser: Speech,
        max_renders: int = 2,
        open_timeout_s: float = 120.0,
        now_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        self._folder = folder
        self.lines = LineRecordings(folder.with_name(LINE_RECORDINGS))
        self._max_bytes = max_bytes
        self._speech = synthesiser
        self._open_timeout_s = open_timeout_s
        self._now_ns = now_ns
        self._renders = CapacityLimiter(max_renders)
        self._threads = CapacityLimiter(max_renders + 1)
        self._keys: dict[str, _Key] = {}
        self._numbers = count()
        self._swept = False
        self._looked_at = ""
        self._folder_lock = threading.Lock()
        """Held by threads that list and remove files, never while waiting for anything else."""

    async def open(self, content: RecordingContent | RecordedCall, *, media_type: MediaType) -> Recording:
        """The recording with this content, made now if there is no file. Other requests for it wait until it is made.

        That of a call on a line is its file, or an MP3 of it.

        The entity tag changes with the content, and when a file that was removed is made again: a synthesiser may give
        other samples the second time, and a client must never join parts of two files.

        Raises:
            SpeechUnavailable: there is no speech, or the recording was not ready in `open_timeout_s`.
            NotRecorded: there is no file of a call on a line here.
        """
        if isinstance(content, RecordingContent):
            return await self._opened(_name(content, media_type), media_type, partial(self._make, content, media_type))
        file = await to_thread.run_sync(self.lines.find, content.call_id, limiter=self._threads)
        if media_type == "audio/wav":
            return Recording(file.path, _tag(file.content_hash, "wav", file.mtime_ns), media_type, file.size)
        name = f"{content.call_id}.{file.content_hash}{_SUFFIXES[media_type]}"
        return await self._opened(name, media_type, partial(self._encode, content, file))

    async def _opened(self, name: str, media_type: MediaType, make: Callable[[], Awaitable[bytes]]) -> Recording:
        try:
            with anyio.fail_after(self._open_timeout_s):
                async with self._alone(name):
                    found = await to_thread.run_sync(self._find, name, media_type, limiter=self._threads)
                    if found is not None:
                        return found
                    async with self._renders:
                        made = await make()
                        return await to_thread.run_sync(self._store, name, made, media_type, limiter=self._threads)
        except TimeoutError:
            raise SpeechUnavailable("The recording was not ready in time.") from None

    async def held(self, most: int) -> list[str]:
        """The ids of calls that have files here: the next `most` of them, and after the last the first ones again.

        With at most `most` of them, all are returned each time.
        """
        ids = await to_thread.run_sync(self._call_ids, limiter=self._threads)
        following = [call_id for call_id in ids if call_id > self._looked_at] or ids
        shown = following[:most]
        self._looked_at = shown[-1] if len(following) > most else ""
        return shown

    async def forget(self, call_ids: Collection[str]) -> None:
        """Removes the files of these calls. One that another program has open at the time may stay, on Windows."""
        if call_ids:
            await to_thread.run_sync(self._remove, frozenset(call_ids), limiter=self._threads)

    async def _make(self, content: RecordingContent, media_type: MediaType) -> bytes:
        rendering = await render(content, self._speech, threads=self._threads)
        encode = encode_mp3 if media_type == "audio/mpeg" else encode_wav
        encoded = partial(encode, rendering.pcm, title=f"Simulated call {content.call_id}")
        return await to_thread.run_sync(encoded, limiter=self._threads)

    async def _encode(self, call: RecordedCall, file: LineRecording) -> bytes:
        title = f"Simulated call {call.call_id}" if call.simulated else f"Call {call.call_id}"
        comment = SIMULATED_COMMENT if call.simulated else None

        def encoded() -> bytes:
            try:
                return encode_mp3_pieces(pcm_of(file.path), title=title, rate_hz=RATE_HZ, comment=comment)
            except (FileNotFoundError, NotARecording) as error:
                raise NotRecorded(call.call_id) from error

        return await to_thread.run_sync(encoded, limiter=self._threads)

    @asynccontextmanager
    async def _alone(self, name: str) -> AsyncGenerator[None]:
        key = self._keys.setdefault(name, _Key(anyio.Lock()))
        key.users += 1
        try:
            async with key.lock:
                yield
        finally:
            key.users -= 1
            if not key.users:
                del self._keys[name]

    def _find(self, name: str, media_type: MediaType) -> Recording | None:
        """The finished file, marked as used now; `None` when there is none."""
        path = self._folder / name
        try:
            status = path.stat()
            os.utime(path, ns=(self._now_ns(), status.st_mtime_ns))
        except FileNotFoundError:
            return None
        return _recording(path, status, media_type)

    def _store(self, name: str, content: bytes, media_type: MediaType) -> Recording:
        self._folder.mkdir(parents=True, exist_ok=True)
        with self._folder_lock:
            if not self._swept:
                self._sweep()
                self._swept = True
        path = self._folder / name
        unfinished = self._folder / f"{name}.{next(self._numbers)}.part"
        try:
            with unfinished.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())  # otherwise a power cut may leave the name without the content
            os.utime(unfinished, ns=(now := self._now_ns(), now))
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
        with self._folder_lock:
            self._evict(keep=name)
        return _recording(path, path.stat(), media_type)

    def _sweep(self) -> None:
        """Removes unfinished files that an earlier process left."""
        for path in self._folder.iterdir():
            if _UNFINISHED.fullmatch(path.name):
                path.unlink(missing_ok=True)

    def _call_ids(self) -> list[str]:
        with self._folder_lock:
            return sorted({call_id for _, call_id in self._files_of_calls()} | self.lines.call_ids())

    def _remove(self, call_ids: frozenset[str]) -> None:
        self.lines.remove(call_ids)
        with self._folder_lock:
            for name, call_id in self._files_of_calls():
                if call_id in call_ids:
                    with suppress(PermissionError):
                        (self._folder / name).unlink(missing_ok=True)

    def _files_of_calls(self) -> list[tuple[str, str]]:
        names = os.listdir(self._folder) if self._folder.is_dir() else []
        found = [_FINISHED.fullmatch(name) for name in names]
        return [(match[0], match[1]) for match in found if match is not None and match[1] is not None]

    def _evict(self, *, keep: str) -> None:
        """Removes the files that were not used for longest until the rest fits. Other files in the folder stay."""
        with os.scandir(self._folder) as entries:
            files = [(entry.stat(), entry) for entry in entries if _FINISHED.fullmatch(entry.name)]
        total = sum(status.st_size for status, _ in files)
        for status, entry in sorted(files, key=lambda file: file[0].st_atime_ns):
            if total <= self._max_bytes:
                return
            if entry.name != keep:
                with suppress(PermissionError):  # Windows keeps a file that is being sent
                    Path(entry.path).unlink(missing_ok=True)
                    total -= status.st_size


def _name(content: RecordingContent, media_type: MediaType) -> str:
    owner = f"{content.call_id}." if _CALL.fullmatch(content.call_id) else ""
    return owner + content.content_hash + _SUFFIXES[media_type]


def _recording(path: Path, status: os.stat_result, media_type: MediaType) -> Recording:
    kind = _SUFFIXES[media_type][1:]
    tag = _tag(path.stem.rpartition(".")[2], kind, status.st_mtime_ns)
    return Recording(path, tag, media_type, status.st_size)


def _tag(content_hash: str, kind: str, mtime_ns: int) -> str:
    return f'"{content_hash}-{kind}-{mtime_ns:x}"'
