"""Makes the folder of a test run and sees to it that the run leaves nothing behind, even when it is killed.

`python -m tests.support.database.run_folder` is a process that waits for the end of a pipe from the run. The pipe ends
however the run ends. The process also starts the run's Postgres server and its pooler, as its own children: a worker
would leave them when it dies.
"""

import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal, get_args

CLEAN_UP_LIMIT_S = 60
START_LIMIT_S = 130
POLL_S = 0.05

Program = Literal["server", "pooler"]
LEFTOVERS = "databases-elsewhere"
"""Marks a run that makes its databases on somebody else's server."""
FAILED = "failed: "


class RunFolder:
    """A new folder for the run's databases, and the process that cleans up after them."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="callwright-tests-"))
        self.path.chmod(0o711)  # the account that Postgres runs as passes through to the server's own folder
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.database.run_folder", str(self.path)],
            cwd=Path(__file__).parents[3],
            stdin=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the run; the process cleans up then
        )

    def close(self) -> None:
        """Waits until everything is cleaned up.

        Raises:
            RuntimeError: The process failed; it has written why to standard error.
        """
        self._process.communicate(timeout=CLEAN_UP_LIMIT_S)
        if self._process.returncode != 0:
            raise RuntimeError(f"cleaning up after the tests failed; what is left is in {self.path}")


def ask_for(folder: Path, program: Program, about: str = "") -> str:
    """The URL of the run's Postgres server or pooler, started by the process of `RunFolder` when it is first asked for.

    `about` is the URL of the server that a pooler stands in front of.

    Raises:
        RuntimeError: It did not start; the message says why.
        TimeoutError: No answer within `START_LIMIT_S`.
    """
    answer, end = _answer(folder, program), time.monotonic() + START_LIMIT_S
    _put(_request(folder, program), about)
    while not answer.exists():
        if time.monotonic() > end:
            raise TimeoutError(f"no Postgres {program} within {START_LIMIT_S} s")
        time.sleep(POLL_S)
    text = answer.read_text(encoding="utf-8")
    if text.startswith(FAILED):
        raise RuntimeError(text.removeprefix(FAILED))
    return text


def serve(folder: Path) -> None:
    """Starts what `folder` holds a request for, and cleans up when standard input ends."""
    stops: list[Callable[[], None]] = []
    while not select.select([sys.stdin], [], [], POLL_S)[0]:
        for program in get_args(Program):
            if _request(folder, program).exists() and not _answer(folder, program).exists():
                stops += _start(folder, program)
    for stop in reversed(stops):
        stop()
    if (folder / LEFTOVERS).exists():
        from tests.support.database.databases import RunDatabases

        RunDatabases(folder).drop_all()
    shutil.rmtree(folder)


def _start(folder: Path, program: Program) -> list[Callable[[], None]]:
    """Starts it and writes the answer. Returns what stops it; nothing where it did not start."""
    from tests.support.database.pgbouncer import Pooler  # slow to import, and short runs do not need them
    from tests.support.database.postgres import Server

    try:
        if program == "server":
            started = Server(folder / "pg")
        else:
            started = Pooler(folder / "pooler", _request(folder, program).read_text(encoding="utf-8"))
    except (OSError, RuntimeError) as error:
        _put(_answer(folder, program), f"{FAILED}{error}")
        return []
    _put(_answer(folder, program), started.url)
    return [started.stop]


def _request(folder: Path, program: Program) -> Path:
    return folder / f"{program}-wanted"


def _answer(folder: Path, program: Program) -> Path:
    return folder / f"{program}-answer"


def _put(file: Path, text: str) -> None:
    """Writes a file that is there as a whole or not at all."""
    draft = file.with_suffix(".draft")
    draft.write_text(text, encoding="utf-8")
    draft.rename(file)


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
