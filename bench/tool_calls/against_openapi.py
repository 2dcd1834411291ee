"""Compares a read tool over HTTP with the same tool of a server that FastMCP makes of the OpenAPI document."""

import json
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio

from bench.tool_calls.over_http import KEY, NEWER, START_S, load, message, request, serving

CONNECTIONS = 16
ROUND_S = 4.0


@dataclass(frozen=True)
class Round:
    """Calls a second of the service and of the baseline, measured one after the other."""

    ours: float
    baseline: float

    @property
    def ratio(self) -> float:
        """Calls a second of the service divided by those of the baseline."""
        return self.ours / self.baseline


@contextmanager
def _baseline(root: str, key: str, folder: str) -> Generator[str]:
    """The address of a FastMCP server in front of the service at `root`."""
    log = Path(folder, "baseline.log")
    program = [sys.executable, str(Path(__file__).with_name("from_openapi.py")), root, key]
    with log.open("w", encoding="utf-8") as said:
        process = subprocess.Popen(program, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        try:
            deadline = time.monotonic() + START_S
            while (found := re.search(r"http://(\S+)/mcp", log.read_text(encoding="utf-8"))) is None:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(log.read_text(encoding="utf-8"))
                time.sleep(0.05)
            yield found[1]
        finally:
            process.kill()
            process.wait(30)


def _agent(root: str, key: str) -> str:
    """The id of an agent to read."""
    fields = {"name": "Bench", "voice_id": "en-US-ada", "language": "en-US", "system_prompt": "Say hello."}
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    made = urllib.request.Request(f"{root}/v1/agents", json.dumps(fields).encode(), headers)
    with urllib.request.urlopen(made, timeout=START_S) as answer:
        return json.load(answer)["data"]["id"]


def _per_second(address: str, key: str, agent: str, seconds: float) -> float:
    headers = {"MCP-Protocol-Version": NEWER, "Mcp-Method": "tools/call", "Mcp-Name": "get_agent"}
    asked = message("tools/call", {"name": "get_agent", "arguments": {"id": agent}}, newer=True)
    call = request(address, key, "/mcp", asked, headers)

    async def run() -> float:
        begun = time.perf_counter()
        times = await load(address, [call] * CONNECTIONS, seconds, has=agent.encode())
        return len(times) / (time.perf_counter() - begun)

    return anyio.run(run, backend_options={"use_uvloop": sys.platform != "win32"})


def compared(count: int) -> list[Round]:
    """Measures both in turn. The load and the servers share the machine's cores."""
    with tempfile.TemporaryDirectory(prefix="callwright-bench-") as folder:
        key = subprocess.run([*KEY, folder], capture_output=True, text=True, check=True).stdout.strip()
        with serving(folder) as server, _baseline(f"http://{server.address}", key, folder) as other:
            agent = _agent(f"http://{server.address}", key)
            _per_second(server.address, key, agent, 1.0)
            _per_second(other, key, agent, 1.0)
            return [
                Round(_per_second(server.address, key, agent, ROUND_S), _per_second(other, key, agent, ROUND_S))
                for _ in range(count)
            ]
