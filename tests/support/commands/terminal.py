"""Commands at a terminal of their own: what they show, what they are answered, how they end."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.processes.forked_commands import ForkedCommand
from tests.support.processes.programs import COMMAND, START_S, STOP_S, environment

_STYLES = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass
class Terminal:
    """The terminal of one command. `shown` is all it has shown, without colours."""

    process: ForkedCommand
    _descriptor: int
    _raw: bytes = b""

    @property
    def shown(self) -> str:
        return _STYLES.sub(b"", self._raw).decode().replace("\r\n", "\n")

    def until(self, words: str) -> None:
        """Waits until these words are shown."""
        deadline = time.monotonic() + START_S
        while words not in self.shown:
            assert self._read(deadline - time.monotonic()), f"{words!r} is not shown: {self.shown}"

    def type(self, text: bytes) -> None:
        """Types, for example a line with its end."""
        os.write(self._descriptor, text)

    def ctrl_c(self) -> None:
        """Sends what a terminal sends for Ctrl-C to the command that it controls."""
        self.process.send_signal(signal.SIGINT)

    def ended(self) -> int:
        """The status of the command's end, and the rest of what it shows."""
        deadline = time.monotonic() + START_S
        while self._read(deadline - time.monotonic()):
            pass
        return self.process.wait(STOP_S)

    def _read(self, limit_s: float) -> bool:
        if limit_s <= 0 or not select.select([self._descriptor], [], [], limit_s)[0]:
            return False
        try:
            found = os.read(self._descriptor, 65_536)
        except OSError:  # on Linux the end of what a terminal has to read
            found = b""
        self._raw += found
        return bool(found)


@contextmanager
def at_terminal(home: Path, *arguments: str | Path, columns: int = 80, **settings: str) -> Generator[Terminal]:
    """A command whose standard streams are a terminal, so many columns wide."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    env = {**environment(home, **settings), "TERM": "xterm", "COLUMNS": str(columns)}
    try:
        with os.fdopen(theirs, "wb", buffering=0) as stream:
            process = ForkedCommand(
                [COMMAND, *map(str, arguments)], env=env, stdin=stream, stdout=stream, stderr=stream
            )
        try:
            yield Terminal(process, ours)
        finally:
            process.kill()
            process.wait(STOP_S)
    finally:
        os.close(ours)
