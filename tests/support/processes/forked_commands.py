"""Commands in processes that fork off one which has imported the program: a start takes milliseconds and not a second.

Such a process has its own environment, folder and standard streams, and ends as a program ends. That the program starts
from nothing is the matter of the tests that start it so.
"""

import atexit
import gc
import json
import os
import pkgutil
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path

from callwright.server import commands

START_LIMIT_S = 60.0
STOP_LIMIT_S = 10.0
REQUEST_LIMIT_S = 10.0
_starting = threading.Lock()


def run(command: Sequence[str], *, env: Mapping[str, str], timeout: float) -> subprocess.CompletedProcess[str]:
    """What a command of the program has said, and its status. `command` begins with its own name; its input is empty.

    Raises:
        TimeoutError: It has not ended within `timeout` seconds; it is killed.
    """
    wanted = json.dumps([list(command), dict(env), os.getcwd()]).encode()
    with _starting:
        address = _address()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors, socket.socket(socket.AF_UNIX) as asked:
        asked.settimeout(timeout)
        asked.connect(address)
        socket.send_fds(asked, [len(wanted).to_bytes(4, "big")], [out.fileno(), errors.fileno()])
        asked.sendall(wanted)
        with asked.makefile() as told:
            process_id = int(told.readline())
            try:
                status = int(told.readline())
            except TimeoutError:
                os.kill(process_id, signal.SIGKILL)
                raise
        said = [file.read().decode() for file in (out, errors) if file.seek(0) == 0]
    return subprocess.CompletedProcess(list(command), status, *said)


@cache
def _address() -> str:
    """Where the process listens that commands fork off. It ends with this one."""
    folder = Path(tempfile.mkdtemp(prefix="callwright-commands-"))
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.processes.forked_commands", folder],
        cwd=Path(__file__).parents[3],
        stdin=subprocess.PIPE,
    )

    atexit.register(process.communicate, timeout=STOP_LIMIT_S)
    address, deadline = folder / "socket", time.monotonic() + START_LIMIT_S
    while not address.exists():
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError("the process that commands fork off did not start")
        time.sleep(0.01)
    return str(address)


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
        head, streams, _, _ = socket.recv_fds(asked, 4, 2)
        with asked.makefile("rb") as request:
            command, env, there = json.loads(request.read(int.from_bytes(head, "big")))
        if process_id := os.fork():
            asked.sendall(f"{process_id}\n".encode())
            asked.sendall(f"{os.waitstatus_to_exitcode(os.waitpid(process_id, 0)[1])}\n".encode())
            os._exit(0)
    for number, stream in enumerate([os.open(os.devnull, os.O_RDONLY), *streams]):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(there)
    os.environ.clear()
    os.environ.update(env)
    sys.argv[:] = command
    return True


if __name__ == "__main__":
    _import_all()
    if _serve(Path(sys.argv[1])):
        from callwright.server.main import main

        main()
