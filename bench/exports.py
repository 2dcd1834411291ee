"""Measures exports of the calls of one deployment on SQLite, of 10,000 and of many: when the first bytes come, how many
rows a second, and what the process holds in memory meanwhile.

The answer is taken as a server takes it, chunk by chunk, and nothing of it is kept. Memory is what the process has of
its own (`RssAnon`, Linux), beside its size before; SQLite's caches of pages are in it, up to 64 MB for each connection.
"""

import tempfile
import time
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from sqlalchemy import Connection, select, update

from bench.million.walk_million import opened
from callwright.service.app import Service
from callwright.service.tables.schema import calls, deployments

FEW = 10_000
ROUNDS = 3
"""Exports one after the other: memory that only the first one takes is a cache."""
_MARK = 20_000_000


def _own_mb() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) / 1_000
    return 0.0


@dataclass
class _Taken:
    """An answer, as it comes."""

    began: float = field(default_factory=time.perf_counter)
    first_s: float = 0.0
    size: int = 0
    rows: int = 0
    most_mb: float = 0.0

    async def send(self, message: MutableMapping[str, Any]) -> None:
        """What the application sends."""
        if message["type"] == "http.response.start" and message["status"] != 200:
            raise RuntimeError(f"an export was answered {message['status']}")
        body: bytes = message.get("body", b"")
        if body and not self.size:
            self.first_s = time.perf_counter() - self.began
        if (self.size + len(body)) // _MARK != self.size // _MARK or not self.size:
            self.most_mb = max(self.most_mb, _own_mb())
        self.size += len(body)
        self.rows += body.count(b"\n")


def _as_one(connection: Connection) -> str:
    """All calls become those of one deployment."""
    deployment_id: str = connection.execute(select(deployments.c.id).order_by(deployments.c.id).limit(1)).scalar_one()
    connection.execute(update(calls).values(deployment_id=deployment_id))
    return deployment_id


async def _export(service: Service, key: str, deployment_id: str, form: str) -> _Taken:
    is_asked = False

    async def receive() -> MutableMapping[str, Any]:
        nonlocal is_asked
        if is_asked:
            await anyio.sleep_forever()
        is_asked = True
        return {"type": "http.request", "body": b"", "more_body": False}

    path = f"/v1/deployments/{deployment_id}/export"
    scope: dict[str, Any] = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "root_path": "",
        "path": path,
        "raw_path": path.encode(),
        "query_string": f"of=calls&format={form}".encode(),
        "headers": [(b"host", b"bench"), (b"authorization", key.encode())],
        "client": ("127.0.0.1", 1),
        "server": ("bench", 80),
    }
    taken = _Taken()
    await service.asgi(scope, receive, taken.send)
    return taken


async def _measure(count: int, form: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with opened(Path(folder), count) as (service, http, _):
            deployment_id = await service.services.database.write(_as_one)
            key = http.headers["authorization"]
            before_mb = _own_mb()
            for number in range(1, ROUNDS + 1):
                taken = await _export(service, key, deployment_id, form)
                took_s = time.perf_counter() - taken.began
                print(
                    f"{count:>9,} calls  {form:8} export {number}: first bytes {taken.first_s * 1e3:5.0f} ms (aim 200) "
                    f"{count / took_s:8,.0f} rows/s  {taken.size / 1e6:7.1f} MB  "
                    f"memory {taken.most_mb - before_mb:+6.0f} MB"
                )


def main(count: int) -> None:
    """Exports few calls and so many."""
    for form in ("csv", "parquet"):
        for number in (FEW, count):
            anyio.run(_measure, number, form)
