"""A file whose reading takes as long as a test wants."""

import io
from threading import Event

import anyio
from anyio import to_thread

_SAYS_IT_HAS = 1_000_000
_LONGEST_S = 30.0


class EndlessFile(io.RawIOBase):
    """A list with blank lines that do not end before `end` is called. It claims a size of 1 MB."""

    def __init__(self) -> None:
        super().__init__()
        self._position = 0
        self._is_read, self._is_over = Event(), Event()

    async def is_read(self) -> None:
        """Returns once more of it was read than it claims to have."""
        with anyio.fail_after(_LONGEST_S):
            assert await to_thread.run_sync(self._is_read.wait, _LONGEST_S)

    def end(self) -> None:
        """Lets the file end, for a reader that nothing else ends."""
        self._is_over.set()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        self._position = offset + (_SAYS_IT_HAS if whence == io.SEEK_END else 0)
        return self._position

    def tell(self) -> int:
        return self._position

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]  # typeshed's Buffer needs Python 3.12
        if self._is_over.is_set():
            return 0
        text = b"phone_number\n"[self._position :]
        text += b"\n" * (len(buffer) - len(text))
        buffer[:] = text[: len(buffer)]
        self._position += len(buffer)
        if self._position > _SAYS_IT_HAS:
            self._is_read.set()
        return len(buffer)
