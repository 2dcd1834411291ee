"""Runs several `callwright serve` on one database and records the lines of their standard error with their times."""

import re
import subprocess
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.support.processes.programs import environment

from bench.tool_calls.over_http import SERVE, START_S

END_S = 10.0
"""Seconds that a process may take to end after it is told to."""


class Process:
    """A `callwright serve` with its workers and a data folder of its own. `lines` are its log, with times."""

    def __init__(self, database_url: str, data: Path, time_scale: float) -> None:
        self.name = data.name
        self.lines: list[tuple[float, str]] = []
        self._process = subprocess.Popen(
            [*SERVE, str(data), f"--database={database_url}", "--webhook-networks=localhost"],
            env=environment(data, CALLWRIGHT_SIM_TIME_SCALE=str(time_scale)),
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as said:
            for line in said:
                self.lines.append((time.monotonic(), line.rstrip("\n")))

    @property
    def is_running(self) -> bool:
        """Whether it is still running."""
        return self._process.poll() is None

    def address(self) -> str:
        """Host and port where it answers, once it does. Raises RuntimeError if it ends or does not answer in time."""
        end = time.monotonic() + START_S
        while self.is_running and time.monotonic() < end:
            for _, line in list(self.lines):
                if said := re.search(r"serves http://(\S+)/v1", line):
                    return said[1]
            time.sleep(0.05)
        raise RuntimeError("\n".join(line for _, line in self.lines))

    def tell_to_end(self) -> None:
        """Tells it to end, and does not wait."""
        self._process.terminate()

    def end(self) -> None:
        """Waits `END_S` for it to end, then kills it."""
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(END_S)
        self._reader.join(END_S)


@contextmanager
def services(database_url: str, folder: Path, count: int, time_scale: float) -> Generator[list[Process]]:
    """`count` processes that start at once, with their data below `folder`. They may not answer yet.

    `time_scale` is how many times faster than real time the simulated network runs.
    """
    made: list[Process] = []
    try:
        for index in range(count):
            data = folder / f"process-{index + 1}"
            data.mkdir()
            made.append(Process(database_url, data, time_scale))
        yield made
    finally:
        for process in made:
            process.tell_to_end()
        for process in made:
            process.end()
