"""Lists that are packed with gzip (RFC 1952): unpacked while they are read, up to a bound."""

import gzip
import io
import zlib
from typing import BinaryIO

from callwright.list_files.unreadable import UnreadableList

MOST_UNPACKED_BYTES = 4_000_000_000
"""Bytes that come out at most: a small file can unpack to a thousand times its size."""
_GZIP = b"\x1f\x8b"


def is_packed(begin: bytes) -> bool:
    """Whether a file that begins so is packed with gzip."""
    return begin.startswith(_GZIP)


def unpacked(file: BinaryIO, *, most_bytes: int = MOST_UNPACKED_BYTES) -> BinaryIO:
    """The file as it was before it was packed. Reading it raises `UnreadableList` if it is damaged or too large."""
    file.seek(0)
    return io.BufferedReader(_Unpacked(gzip.GzipFile(fileobj=file, mode="rb"), most_bytes), 262_144)


class _Unpacked(io.RawIOBase):
    def __init__(self, packed: gzip.GzipFile, most_bytes: int) -> None:
        super().__init__()
        self._packed, self._most = packed, most_bytes

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]  # typeshed's Buffer needs Python 3.12
        try:
            data = self._packed.read(len(buffer))
        except EOFError as error:
            raise UnreadableList("it is packed with gzip and ends too early; send it again") from error
        except (gzip.BadGzipFile, zlib.error) as error:
            raise UnreadableList("it is packed with gzip and damaged; pack it again") from error
        if self._packed.tell() > self._most:
            raise UnreadableList(f"it unpacks to more than {self._most // 1_000_000:,} MB; cut it in pieces")
        buffer[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        return self._packed.seek(offset, whence)

    def tell(self) -> int:
        return self._packed.tell()
