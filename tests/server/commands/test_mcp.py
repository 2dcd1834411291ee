"""`callwright mcp` as a host sees it from outside: what is on its pipes, how it ends, what it leaves behind."""

import json
import signal
import stat
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from callwright.service.platform.data_folder import ADDRESS, KEY, LOCK
from callwright.tools.toolsets import enabled_tools
from tests.support.processes.programs import COMMAND, STOP_S, Process, assistant, run, spawned, until

CALLS = ["calls", "get_overview"]
HANDSHAKE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


@dataclass
class Pipes:
    """A server process and its pipes."""

    process: Process
    data: Path
    asked: int = 0

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Sends a request; gives the next line, which has to be its answer."""
        self.asked += 1
        self.send({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params})
        assert self.process.stdout is not None
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        assert (answer["jsonrpc"], answer["id"]) == ("2.0", self.asked)
        return answer["result"]

    def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def call(self, tool: str) -> dict[str, Any]:
        """Calls a tool that needs the service."""
        return self.ask("tools/call", {"name": tool, "arguments": {}})

    def close_stdin(self) -> None:
        """What a host does when it leaves."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def rest(self) -> tuple[bytes, bytes]:
        """What is left on stdout and stderr after the end."""
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        return self.process.stdout.read(), self.process.stderr.read()


@contextmanager
def mcp(home: Path, *flags: str, command: str | None = None) -> Generator[Pipes]:
    data = home / "data"
    with spawned(home, "mcp", "--data", data, *flags, stdin=subprocess.PIPE, command=command) as process:
        pipes = Pipes(process, data)
        pipes.ask("initialize", HANDSHAKE)
        pipes.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        yield pipes


def free(data: Path) -> bool:
    lock = FileLock(data / LOCK, is_singleton=False, blocking=False)
    try:
        with lock:
            return True
    except TimeoutError:
        return False


def test_nothing_but_the_protocol_is_on_stdout_and_nothing_on_stderr(tmp_path: Path) -> None:
    with mcp(tmp_path, command=COMMAND) as pipes:
        assert len(pipes.ask("tools/list", {})["tools"]) > 30
        assert pipes.call("get_overview")["isError"] is False
        assert pipes.call("list_agents")["structuredContent"]["data"] == []
        assert pipes.ask("tools/call", {"name": "get_agent", "arguments": {"id": "agt_1"}})["isError"] is True
        pipes.close_stdin()
        assert pipes.process.wait(STOP_S) == 0
        assert pipes.rest() == (b"", b"")


@pytest.mark.parametrize(
    ("flags", "chosen"),
    [
        ((), {"profile": "builder"}),
        (("--profile", "analyst"), {"profile": "analyst"}),
        (("--profile=all", "--read-only"), {"profile": "all", "read_only": True}),
        (("--toolsets=calls,get_overview", "--exclude-tools=get_call"), {"toolsets": CALLS, "exclude": ["get_call"]}),
    ],
)
def test_only_the_tools_that_were_switched_on_are_listed_and_run(
    flags: tuple[str, ...], chosen: dict[str, Any], tmp_path: Path
) -> None:
    enabled = enabled_tools(**chosen)
    with mcp(tmp_path, *flags) as pipes:
        assert {tool["name"] for tool in pipes.ask("tools/list", {})["tools"]} == enabled
        assert pipes.call("delete_agent")["isError"] is True
        assert pipes.call("get_overview")["isError"] is False
        pipes.close_stdin()
        assert pipes.process.wait(STOP_S) == 0


def test_a_tool_nobody_knows_ends_the_program_at_once_with_the_known_ones(tmp_path: Path) -> None:
    done = run(tmp_path, "mcp", "--toolsets", "calls,telegrams")
    assert (done.returncode, done.stdout) == (2, "")
    assert "'telegrams'; toolsets are context, agents, " in done.stderr


@pytest.mark.parametrize("when", ["at once", "while the service starts", "when it serves", "after a tool"])
def test_it_ends_in_peace_when_stdin_ends(when: str, tmp_path: Path) -> None:
    with mcp(tmp_path) as pipes:
        if when == "while the service starts":
            until((pipes.data / LOCK).exists, "the service starts")
        if when == "when it serves":
            until((pipes.data / ADDRESS).exists, "the service serves the folder")
        if when == "after a tool":
            pipes.call("get_overview")
        pipes.close_stdin()
        assert pipes.process.wait(STOP_S) == 0
        assert pipes.rest() == (b"", b"")
        assert not (pipes.data / ADDRESS).exists()
        assert not pipes.data.exists() or free(pipes.data)


@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "Ctrl-C"])
async def test_a_signal_ends_it_at_once_and_the_next_one_goes_on(told: signal.Signals, tmp_path: Path) -> None:
    with mcp(tmp_path) as pipes:
        pipes.call("get_overview")
        pipes.process.send_signal(told)
        assert pipes.process.wait(STOP_S) == -told
        assert pipes.rest() == (b"", b"")
        assert free(pipes.data)
    async with assistant(tmp_path, "--data", tmp_path / "data") as again:
        assert (await again.use("get_overview"))["wallet"]["play_money"] is True


def test_the_folder_and_the_key_are_for_the_owner_alone(tmp_path: Path) -> None:
    with mcp(tmp_path) as pipes:
        pipes.call("get_overview")
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (pipes.data, *pipes.data.iterdir())}
        pipes.close_stdin()
        assert pipes.process.wait(STOP_S) == 0
    assert (modes["data"], modes[KEY], modes[ADDRESS]) == (0o700, 0o600, 0o600)


def test_a_folder_that_cannot_be_used_is_explained_by_every_tool(tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    with mcp(tmp_path) as pipes:
        for _ in range(2):
            result = pipes.call("get_overview")
            assert result["isError"] is True
            assert f"{tmp_path / 'data'} is not a folder" in result["content"][0]["text"]
        pipes.close_stdin()
        assert pipes.process.wait(STOP_S) == 0
        stdout, stderr = pipes.rest()
    assert stdout == b""
    assert b"Traceback" not in stderr
