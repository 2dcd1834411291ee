"""Commands in processes that fork off one which has imported the program: a start takes milliseconds and not a second.

Such a process has its own environment, folder and standard streams. It ends as a program ends, or when nobody waits for
it any more. That the program starts from nothing is the matter of the tests that start it so.
"""

import atexit
import gc
import json
import os
import pkgutil
import runpy
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import IO, Literal

from callwright.server import commands

START_LIMIT_S = 60.0
STOP_LIMIT_S = 10.0
REQUEST_LIMIT_S = 10.0
_starting = threading.Lock()


class ForkedCommand:
    """A command that runs. Its members are those of `subprocess.Popen`.

    Its words are those of `callwright`, after the name of the program, or `-m` and those of a module of the tests.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str],
        stdin: int | IO[bytes] = subprocess.DEVNULL,
        stdout: int | IO[bytes] = subprocess.DEVNULL,
        stderr: int | IO[bytes] = subprocess.DEVNULL,
    ) -> None:
        self.returncode: int | None = None
        self._asked = socket.socket(socket.AF_UNIX)
        self._asked.settimeout(START_LIMIT_S)
        self._asked.connect(address())
        theirs: list[int] = []
        self.stdin = _stream(stdin, theirs, "wb")
        self.stdout = _stream(stdout, theirs, "rb")
        self.stderr = _stream(stderr, theirs, "rb")
        _ask(self._asked, command, env, theirs)
        for number in theirs:
            os.close(number)
        self._told = self._asked.makefile("rb", buffering=0)
        self.pid = int(self._told.readline())

    def poll(self) -> int | None:
        """The status of the end; None while it runs."""
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def wait(self, timeout: float) -> int:
        """The status of the end. Raises `subprocess.TimeoutExpired`."""
        if self.returncode is None:
            if not select.select([self._asked], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(str(self.pid), timeout)
            self.returncode = int(self._told.readline())
            self._told.close()
            self._asked.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Sends a signal to the command if it has not ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Ends the command at once."""
        self.send_signal(signal.SIGKILL)


def _stream(asked: int | IO[bytes], theirs: list[int], mode: Literal["rb", "wb"]) -> IO[bytes] | None:
    """This end of a standard stream, if it is a pipe. The other end is put to `theirs`."""
    if asked == subprocess.PIPE:
        reading, writing = os.pipe()
        theirs.append(writing if mode == "rb" else reading)
        return os.fdopen(reading if mode == "rb" else writing, mode)
    if asked == subprocess.DEVNULL:
        theirs.append(os.open(os.devnull, os.O_RDWR))
    else:
        theirs.append(os.dup(asked if isinstance(asked, int) else asked.fileno()))
    return None


def _ask(asked: socket.socket, command: Sequence[str], env: Mapping[str, str], streams: Sequence[int]) -> None:
    wanted = json.dumps([list(command), dict(env), os.getcwd()]).encode()
    socket.send_fds(asked, [len(wanted).to_bytes(4, "big")], streams)
    asked.sendall(wanted)


def run(command: Sequence[str], *, env: Mapping[str, str], timeout: float) -> subprocess.CompletedProcess[str]:
    """What a command of the program has said, and its status. `command` begins with its own name; its input is empty.

    Raises:
        TimeoutExpired: It has not ended within `timeout` seconds; it is killed.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        process = ForkedCommand(command, env=env, stdout=out, stderr=errors)
        try:
            status = process.wait(timeout)
        finally:
            process.kill()
        said = [file.read().decode() for file in (out, errors) if file.seek(0) == 0]
    return subprocess.CompletedProcess(list(command), status, *said)


def launcher() -> list[str]:
    """A command for programs that start commands themselves. What follows it are the arguments of `callwright`.

    It passes on its environment, folder, standard streams, and the signals that ask it to end.
    """
    return [sys.executable, "-I", "-S", str(Path(__file__).with_name("launcher.py")), address()]


def address() -> str:
    """Where the process listens that commands fork off. It ends with this one."""
    with _starting:
        return _started()


def launcher_script(folder: Path) -> Path:
    """The same as one file, for programs that take the name of a program and no more."""
    script = folder / "callwright"
    script.write_text(f'#!/bin/sh\nexec {shlex.join(launcher())} "$@"\n', encoding="utf-8")
    script.chmod(0o700)
    return script


@cache
def _started() -> str:
    folder = Path(tempfile.mkdtemp(prefix="callwright-commands-"))
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.processes.forked_commands", folder],
        cwd=Path(__file__).parents[3],
        stdin=subprocess.PIPE,
    )

    atexit.register(process.communicate, timeout=STOP_LIMIT_S)
    listens, deadline = folder / "socket", time.monotonic() + START_LIMIT_S
    while not listens.exists():
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError("the process that commands fork off did not start")
        time.sleep(0.01)
    return str(listens)


def _import_all() -> None:
    """Imports whatever a command may need."""
    for module in pkgutil.walk_packages(commands.__path__, f"{commands.__name__}."):
        import_module(module.name)
    for name in ("alembic.command", "callwright.service.tables.migrations.upgrade"):
        import_module(name)
    gc.freeze()  # a command that ends would look through all of it, which takes as long as a start


def _serve(folder: Path) -> bool:
    """Starts the commands that are asked for until standard input ends. Returns True in the process of a command."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for who waits for a command
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "draft"))
        listener.listen()
        (folder / "draft").rename(folder / "socket")
        while True:
            ready = select.select([listener, sys.stdin], [], [])[0]
            if listener not in ready:
                shutil.rmtree(folder)
                return False
            asked, _ = listener.accept()
            if os.fork() == 0:
                break
            asked.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with asked:
        asked.settimeout(REQUEST_LIMIT_S)
        head, streams, _, _ = socket.recv_fds(asked, 4, 3)
        with asked.makefile("rb") as request:
            command, env, there = json.loads(request.read(int.from_bytes(head, "big")))
        if process_id := os.fork():
            for stream in streams:
                os.close(stream)
            _tell(asked, process_id)
            os._exit(0)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(there)
    os.environ.clear()
    os.environ.update(env)
    sys.argv[:] = command
    return True


def _tell(asked: socket.socket, process_id: int) -> None:
    """Tells the number of a process and the status of its end. Kills it when nobody listens any more."""
    asked.sendall(f"{process_id}\n".encode())
    # Elsewhere than on Linux it ends with its input.
    if hasattr(os, "pidfd_open") and asked in select.select([asked, os.pidfd_open(process_id)], [], [])[0]:
        os.kill(process_id, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(process_id, 0)[1])
    with suppress(OSError):
        asked.sendall(f"{status}\n".encode())


if __name__ == "__main__":
    _import_all()
    if _serve(Path(sys.argv[1])):
        if sys.argv[0] == "-m":
            del sys.argv[0]
            runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        else:
            from callwright.server.main import main

            main()
