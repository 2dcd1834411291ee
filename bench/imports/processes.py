"""What a process and those that it started take: memory, and time of processors. Linux alone."""

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_SPIN = "import os\nos.nice(int({}))\nwhile True: pass"


class Taken(NamedTuple):
    """Memory of a process with its children now, and the seconds of processors that each has taken so far."""

    memory_mb: float
    own_s: float
    children_s: dict[int, float]


def taken_by(process: int) -> Taken:
    """What a process takes. What several processes share is counted for each of them."""
    children = [int(one) for one in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    memory, seconds = 0.0, dict[int, float]()
    for one in (process, *children):
        try:
            memory += int(Path(f"/proc/{one}/statm").read_text().split()[1]) * _PAGE / 1_000_000
            fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        seconds[one] = (int(fields[11]) + int(fields[12])) / _TICKS
    return Taken(memory, seconds.pop(process, 0.0), seconds)


@contextmanager
def busy_processes(count: int, niceness: int) -> Generator[None]:
    """So many processes that do nothing but use a processor each, and give way to others."""
    made = [subprocess.Popen([sys.executable, "-c", _SPIN.format(niceness)]) for _ in range(count)]
    try:
        yield
    finally:
        for one in made:
            one.kill()
            one.wait()
