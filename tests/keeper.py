"""Makes the folder of a test run and sees to it that the run leaves nothing behind, even when it is killed.

The keeper is a process that waits for the end of a pipe from the run. The pipe ends however the run ends. The keeper
also starts the run's Postgres server, as its own child: a worker would leave it behind when the worker dies.
"""

import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

CLEAN_UP_LIMIT_S = 60
START_LIMIT_S = 130
POLL_S = 0.05

REQUEST = "server-wanted"
ANSWER = "server-answer"
LEFTOVERS = "databases-elsewhere"
"""Marks a run that makes its databases on somebody else's server."""
FAILED = "failed: "


class Keeper:
    """A new folder for the run's databases, and the process that cleans up after them."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="callwright-tests-"))
        self.folder.chmod(0o711)  # the account that Postgres runs as passes through to the server's own folder
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.keeper", str(self.folder)],
            cwd=Path(__file__).parents[1],
            stdin=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the run; the keeper has work to do then
        )

    def close(self) -> None:
        """Waits until everything is cleaned up.

        Raises:
            RuntimeError: The keeper failed; it has written why to standard error.
        """
        self._process.communicate(timeout=CLEAN_UP_LIMIT_S)
        if self._process.returncode != 0:
            raise RuntimeError(f"cleaning up after the tests failed; what is left is in {self.folder}")


def ask_for_server(folder: Path) -> str:
    """The URL of the Postgres server of the run, which the keeper starts when it is first asked.

    Raises:
        RuntimeError: The server did not start; the message says why.
        TimeoutError: No answer within `START_LIMIT_S`.
    """
    answer, end = folder / ANSWER, time.monotonic() + START_LIMIT_S
    (folder / REQUEST).touch()
    while not answer.exists():
        if time.monotonic() > end:
            raise TimeoutError(f"no Postgres server within {START_LIMIT_S} s")
        time.sleep(POLL_S)
    text = answer.read_text(encoding="utf-8")
    if text.startswith(FAILED):
        raise RuntimeError(text.removeprefix(FAILED))
    return text


def keep(folder: Path) -> None:
    """Starts a Postgres server when `folder` holds a request, and cleans up when standard input ends."""
    stop: Callable[[], None] | None = None
    request = folder / REQUEST
    while not select.select([sys.stdin], [], [], POLL_S)[0]:
        if request.exists() and not (folder / ANSWER).exists():
            stop = _start(folder)
    if stop is not None:
        stop()
    if (folder / LEFTOVERS).exists():
        from tests.databases import RunDatabases

        RunDatabases(folder).drop_all()
    shutil.rmtree(folder)


def _start(folder: Path) -> Callable[[], None] | None:
    from tests.postgres import Server  # slow to import, and short runs do not need it

    draft, stop = folder / "draft", None
    try:
        server = Server(folder / "pg")
        stop = server.stop
        draft.write_text(server.url, encoding="utf-8")
    except (OSError, RuntimeError) as error:
        draft.write_text(f"{FAILED}{error}", encoding="utf-8")
    draft.rename(folder / ANSWER)
    return stop


if __name__ == "__main__":
    keep(Path(sys.argv[1]))
