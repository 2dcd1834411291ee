"""The files of calls on lines: what was really said, and the only copy of it.

Each is `<call id>.wav`, written by the media process while the call lasts. Nothing here makes one again, and none goes
for want of room: one goes when its time is over, or when the person's data is deleted.
"""

import os
import re
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from callwright.service.speech.mu_law_files import has_sound

_FILE = re.compile(r"(cal_[0-9A-Za-z]{1,36})\.wav")
_SOUNDS = 1
"""Increased whenever the same file would be encoded otherwise, so that no older MP3 is served for it."""


@dataclass(frozen=True)
class RecordedCall:
    """A call on a line, whose recording is a file if there is one. `simulated`: no telephone rang."""

    call_id: str
    simulated: bool


class NotRecorded(Exception):
    """There is no file of the call here: it is on another machine, was lost, or was never written."""


@dataclass(frozen=True)
class LineRecording:
    """A finished file. `content_hash` changes with the content, and does not say whose recording it is."""

    path: Path
    size: int
    mtime_ns: int

    @property
    def content_hash(self) -> str:
        """32 hexadecimal digits."""
        said = f"{_SOUNDS} {self.path.stem} {self.size} {self.mtime_ns}"
        return blake2b(said.encode(), digest_size=16).hexdigest()


class LineRecordings:
    """The recordings of a folder. Other files in it stay."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path_of(self, call_id: str) -> Path:
        """Where the recording of a call is, or would be, also while it lasts. Raises `NotRecorded`: that is no id."""
        path = self.folder / f"{call_id}.wav"
        if not _FILE.fullmatch(path.name):
            raise NotRecorded(call_id)
        return path

    def find(self, call_id: str) -> LineRecording:
        """The recording of a call that has ended.

        Raises:
            NotRecorded: there is none, or nothing can be heard in it.
        """
        path = self.path_of(call_id)
        if not has_sound(path):
            raise NotRecorded(call_id)
        try:
            status = path.stat()
        except FileNotFoundError:
            raise NotRecorded(call_id) from None
        return LineRecording(path, status.st_size, status.st_mtime_ns)

    def call_ids(self) -> set[str]:
        """The calls that have files here, also those that last."""
        names = os.listdir(self.folder) if self.folder.is_dir() else []
        return {match[1] for name in names if (match := _FILE.fullmatch(name))}

    def remove(self, call_ids: Collection[str]) -> None:
        """Removes the files of these calls. One that another program has open at the time may stay, on Windows."""
        for call_id in call_ids:
            if _FILE.fullmatch(f"{call_id}.wav"):
                with suppress(PermissionError):
                    (self.folder / f"{call_id}.wav").unlink(missing_ok=True)
