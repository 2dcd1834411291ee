"""How many tool calls a second `callwright serve` answers over HTTP, with each transport.

The processor time of a request is the most reliable figure: it hardly depends on the machine's other work.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from typing import Any

import anyio
from anyio.streams.buffered import BufferedByteReceiveStream

SERVE = [sys.executable, "-m", "callwright.server.main", "serve", "--port=0", "--data"]
KEY = [sys.executable, "-m", "callwright.server.main", "keys", "create", "--quiet", "--data"]
NEWER, OLDER = "2026-07-28", "2025-11-25"
CALL: dict[str, Any] = {"name": "get_overview", "arguments": {}}
START_S = 60.0


@dataclass(frozen=True)
class Server:
    """A running service."""

    address: str
    process_id: int

    def processor_s(self) -> float:
        """Seconds of processor time it has used so far; 0 where the system does not report it."""
        try:
            fields = Path(f"/proc/{self.process_id}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serving(folder: str, *flags: str) -> Generator[Server]:
    """Runs a service inside the context."""
    log = Path(folder, "serve.log")
    with log.open("w", encoding="utf-8") as errors:
        process = subprocess.Popen([*SERVE, folder, *flags], stderr=errors)
        try:
            deadline = time.monotonic() + START_S
            while (said := re.search(r"serves http://(\S+)/v1", log.read_text(encoding="utf-8"))) is None:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(log.read_text(encoding="utf-8"))
                time.sleep(0.05)
            yield Server(said[1], process.pid)
        finally:
            process.terminate()
            process.wait(30)


def message(method: str, params: Mapping[str, Any], *, newer: bool) -> bytes:
    """The body of a request of the newer protocol or the older one."""
    meta: dict[str, Any] = {
        "io.modelcontextprotocol/protocolVersion": NEWER,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    sent = {**params, "_meta": meta} if newer else dict(params)
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": sent}).encode()


def request(address: str, key: str, path: str, body: bytes, headers: Mapping[str, str]) -> bytes:
    """The bytes of an HTTP request."""
    sent = {
        "Host": address,
        "Authorization": f"Bearer {key}",
        "Accept": "application/json, text/event-stream",
        **({"Content-Type": "application/json", "Content-Length": str(len(body))} if body else {}),
        **headers,
    }
    lines = [f"{'POST' if body else 'GET'} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in sent.items())]
    return "\r\n".join([*lines, "", ""]).encode() + body


async def answer(stream: BufferedByteReceiveStream) -> tuple[bytes, bytes]:
    """Head and body of the next answer."""
    head = await stream.receive_until(b"\r\n\r\n", 65_536)
    if (length := re.search(rb"content-length: (\d+)", head, re.I)) is not None:
        return head, await stream.receive_exactly(int(length[1]))
    body = b""
    while size := int(await stream.receive_until(b"\r\n", 100), 16):
        body += await stream.receive_exactly(size)
        await stream.receive_until(b"\r\n", 2)
    await stream.receive_until(b"\r\n", 2)
    return head, body


async def once(address: str, sent: bytes) -> tuple[bytes, bytes]:
    """One request on a connection of its own."""
    host, _, port = address.rpartition(":")
    async with await anyio.connect_tcp(host, int(port)) as connection:
        await connection.send(sent)
        return await answer(BufferedByteReceiveStream(connection))


async def load(address: str, wanted: list[bytes], seconds: float, *, has: bytes = b"play_money") -> list[float]:
    """The seconds that each request took. Each of `wanted` is sent repeatedly on a connection of its own.

    Raises RuntimeError for an answer with another status than 200 or without `has`.
    """
    host, _, port = address.rpartition(":")
    times: list[float] = []

    async def client(sent: bytes) -> None:
        async with await anyio.connect_tcp(host, int(port)) as connection:
            stream = BufferedByteReceiveStream(connection)
            while (begun := time.perf_counter()) < until:
                await connection.send(sent)
                head, body = await answer(stream)
                if b" 200 " not in head[:15] or has not in body:
                    raise RuntimeError((head + body).decode())
                times.append(time.perf_counter() - begun)

    until = time.perf_counter() + seconds
    async with anyio.create_task_group() as tasks:
        for sent in wanted:
            tasks.start_soon(client, sent)
    return times


async def older(address: str, key: str, count: int) -> list[bytes]:
    """A tool call of the older protocol for each connection, each in a session of its own where there are sessions."""
    handshake = {"protocolVersion": OLDER, "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
    found: list[bytes] = []
    for _ in range(count):
        opening = request(address, key, "/mcp", message("initialize", handshake, newer=False), {})
        head, _body = await once(address, opening)
        session = re.search(rb"mcp-session-id: (\S+)", head, re.I)
        headers = {"MCP-Protocol-Version": OLDER} | ({"Mcp-Session-Id": session[1].decode()} if session else {})
        found.append(request(address, key, "/mcp", message("tools/call", CALL, newer=False), headers))
    return found


async def measure(server: Server, key: str, ways: tuple[str, ...], seconds: float, connections: int) -> None:
    """Measures these ways and prints the results."""
    address = server.address
    headers = {"MCP-Protocol-Version": NEWER, "Mcp-Method": "tools/call", "Mcp-Name": "get_overview"}
    rest = request(address, key, "/v1/wallet", b"", {})
    newer = request(address, key, "/mcp", message("tools/call", CALL, newer=True), headers)
    for way in ways:
        wanted = {"rest": [rest] * connections, "newer": [newer] * connections}.get(way)
        wanted = wanted or await older(address, key, connections)
        for count in (1, connections):
            before = server.processor_s()
            times = await load(address, wanted[:count], seconds)
            each_ms = (server.processor_s() - before) / len(times) * 1e3
            cuts = [cut * 1e3 for cut in quantiles(times, n=100)]
            print(
                f"{way:20} {count:3} connections {len(times) / seconds:7.0f}/s   p50 {cuts[49]:6.2f} ms   "
                f"p99 {cuts[98]:7.2f} ms   processor {each_ms:5.2f} ms"
            )


def main() -> None:
    """Runs every way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--connections", type=int, default=16)
    asked = parser.parse_args()
    runs = ((("--sticky",), ("rest", "newer", "older, sessions")), (("--no-sticky",), ("older, no sessions",)))
    with tempfile.TemporaryDirectory(prefix="callwright-bench-") as folder:
        key = subprocess.run([*KEY, folder], capture_output=True, text=True, check=True).stdout.strip()
        for flags, ways in runs:
            with serving(folder, *flags) as server:
                options = {"use_uvloop": os.name != "nt"}
                anyio.run(measure, server, key, ways, asked.seconds, asked.connections, backend_options=options)


if __name__ == "__main__":
    main()
