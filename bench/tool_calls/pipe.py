"""A raw MCP client over a pipe. It uses no SDK, so that only the server is timed."""

import json
import os
import select
import subprocess
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

_PROTOCOL = "2025-11-25"


class PipeClient:
    """A server process and a client of it. Times are in seconds."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        self.spawned_at = time.perf_counter()
        self._process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **(environment or {})},
        )
        self._last_id = 0
        self._buffer = b""

    def __enter__(self) -> "PipeClient":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def request(self, method: str, params: dict[str, Any] | None = None, *, within_s: float = 60) -> dict[str, Any]:
        """Sends a request and waits for its answer. Raises TimeoutError, or RuntimeError for an error answer."""
        self._last_id += 1
        self._send({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params or {}})
        deadline = time.perf_counter() + within_s
        while True:
            message = json.loads(self._line(deadline))
            if message.get("id") == self._last_id:
                if "error" in message:
                    raise RuntimeError(str(message["error"]))
                return message["result"]

    def _line(self, deadline: float) -> bytes:
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        while b"\n" not in self._buffer:
            left = deadline - time.perf_counter()
            if left <= 0 or not select.select([descriptor], [], [], left)[0]:
                raise TimeoutError("the server did not answer in time")
            piece = os.read(descriptor, 1 << 20)
            if not piece:
                raise RuntimeError("the server ended")
            self._buffer += piece
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def initialize(self) -> None:
        """The handshake."""
        client = {"name": "bench", "version": "1"}
        self.request("initialize", {"protocolVersion": _PROTOCOL, "capabilities": {}, "clientInfo": client})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Calls a tool."""
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        if result.get("isError"):
            raise RuntimeError(f"{tool}: {result['content']}")
        return result
