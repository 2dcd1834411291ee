"""The programs as people start them: real processes, each ended and waited for, every wait with a bound."""

import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal, cast

import anyio
from mcp import Client
from mcp.client.session import MessageHandlerFnT
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import CallToolResult, TextContent

from tests.support.processes import forked_commands
from tests.support.processes.forked_commands import ForkedCommand, launcher

Process = ForkedCommand | subprocess.Popen[bytes]
COMMAND = str(Path(sys.executable).with_name("callwright"))
START_S = 60.0
"""Limit for a program to be ready, on a machine that does much else."""
STOP_S = 20.0
LIFE_S = 180.0
"""After this a program is killed, so that reading from its pipes ends."""
ERAS: tuple[Literal["legacy", "auto"], ...] = ("legacy", "auto")
"""How the official client connects: by the older handshake, or as it finds, which is the protocol of 2026-07-28."""


def environment(home: Path, **settings: str) -> dict[str, str]:
    """An environment with these settings of the programs and no others but the rules of the tests. `~` is `home`."""
    ours = {name for name in os.environ if name.startswith("CALLWRIGHT_")} - {"CALLWRIGHT_RULES"}
    kept = {name: value for name, value in os.environ.items() if name not in ours}
    return {**kept, "HOME": str(home), "USERPROFILE": str(home), "NO_COLOR": "1", **settings}


def run(home: Path, *arguments: str | Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """Runs a command that ends by itself."""
    return forked_commands.run([COMMAND, *map(str, arguments)], env=environment(home, **settings), timeout=START_S * 2)


def until(met: Callable[[], bool], what: str, *, within_s: float = START_S) -> None:
    """Looks again and again until a condition is met."""
    deadline = time.monotonic() + within_s
    while not met():
        assert time.monotonic() < deadline, f"not within {within_s:g} s: {what}"
        time.sleep(0.02)


@contextmanager
def spawned(
    home: Path,
    *arguments: str | Path,
    stdin: int = subprocess.DEVNULL,
    stderr: int | IO[bytes] = subprocess.PIPE,
    settings: Mapping[str, str] | None = None,
    command: str | Path | None = None,
    life_s: float = LIFE_S,
) -> Generator[Process]:
    """A program that runs until the block ends, and is killed after `life_s`.

    With `command` it starts from nothing, as people start it.
    """
    start = ForkedCommand if command is None else subprocess.Popen[bytes]
    process = start(
        [str(command or COMMAND), *map(str, arguments)],
        env=environment(home, **(settings or {})),
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=stderr,
    )
    limit = threading.Timer(life_s, process.kill)
    limit.start()
    try:
        yield process
    finally:
        limit.cancel()
        if process.poll() is None:
            process.kill()
        process.wait(STOP_S)
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()


@dataclass(frozen=True)
class Serving:
    """A `callwright serve` that answers."""

    process: Process
    base_url: str
    log: Path

    @property
    def root(self) -> str:
        """The address without the version prefix."""
        return self.base_url.removesuffix("/v1")

    def told(self, signal_number: int) -> int:
        """Sends a signal; returns the exit status."""
        self.process.send_signal(signal_number)
        return self.process.wait(STOP_S)


@contextmanager
def serving(home: Path, data: Path, *flags: str, command: str | None = None, **settings: str) -> Generator[Serving]:
    """`callwright serve` on a free port, from the moment it has said its address. The rest: see `spawned`."""
    with serving_for(LIFE_S, home, data, *flags, command=command, **settings) as served:
        yield served


@contextmanager
def serving_for(
    life_s: float, home: Path, data: Path, *flags: str, command: str | None = None, **settings: str
) -> Generator[Serving]:
    """The same, for another time than usual."""
    log = home / f"serve-{data.name}.log"
    with log.open("wb") as errors:
        arguments = ("serve", "--port=0", "--data", data, *flags)
        with spawned(home, *arguments, stderr=errors, settings=settings, command=command, life_s=life_s) as process:

            def address() -> re.Match[str] | None:
                return re.search(r"http://\S+/v1", log.read_text(encoding="utf-8"))

            until(lambda: address() is not None or process.poll() is not None, "callwright serve says its address")
            said = address()
            assert said is not None, log.read_text(encoding="utf-8")
            yield Serving(process, said.group(), log)


def text_of(result: CallToolResult) -> str:
    """The words of a reply."""
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))


@dataclass(frozen=True)
class Assistant:
    """The official client, connected to `callwright mcp` in a process of its own.

    `log` holds what the process said on stderr; `used` the tools that have succeeded.
    """

    client: Client
    log: Path
    used: set[str] = field(default_factory=set[str])

    async def result(self, tool: str, /, **arguments: Any) -> CallToolResult:
        """Calls a tool. The client holds the structured answer against the advertised schema."""
        with anyio.fail_after(START_S * 2):
            return await self.client.call_tool(tool, arguments)

    async def use(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Calls a tool that succeeds; gives its data."""
        result = await self.result(tool, **arguments)
        assert not result.is_error, f"{tool}: {text_of(result)}"
        assert text_of(result), f"{tool} says nothing"
        self.used.add(tool)
        return cast("dict[str, Any]", result.structured_content)

    async def refused(self, tool: str, /, **arguments: Any) -> str:
        """Calls a tool that refuses; gives its words."""
        result = await self.result(tool, **arguments)
        assert result.is_error, f"{tool}: {text_of(result)}"
        return text_of(result)


@asynccontextmanager
async def assistant(
    home: Path,
    *flags: str | Path,
    era: Literal["legacy", "auto"] = "auto",
    settings: Mapping[str, str] | None = None,
    hears: MessageHandlerFnT | None = None,
) -> AsyncGenerator[Assistant]:
    """`callwright mcp` with the official client, until the block ends: then its stdin is closed.

    `hears` gets what the server sends unasked.
    """
    handle, name = tempfile.mkstemp(suffix=".log", dir=home)
    with os.fdopen(handle, "w", encoding="utf-8") as errors:
        command, *arguments = *launcher(), "mcp", *map(str, flags)
        program = StdioServerParameters(command=command, args=arguments, env=environment(home, **(settings or {})))
        async with Client(stdio_client(program, errlog=errors), mode=era, message_handler=hears) as client:
            yield Assistant(client, Path(name))
