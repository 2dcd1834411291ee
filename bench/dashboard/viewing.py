"""Many browsers that look at one page as it changes: `python -m bench.dashboard.viewing ROOT CODE PATH COUNT`.

Says `ready` once all have seen something, and at the end of its input how many pieces and bytes came.
"""

import sys
from urllib.parse import urlsplit

import anyio
from anyio import to_thread
from anyio.abc import SocketStream

from callwright.client.transport import httpx


class Viewers:
    """What they have seen."""

    def __init__(self, count: int) -> None:
        self.waiting, self.pieces, self.bytes = count, 0, 0
        self.all_see = anyio.Event()

    async def look(self, root: str, path: str, cookie: str) -> None:
        """One browser, until it is cancelled or the stream ends."""
        address = urlsplit(root)
        stream: SocketStream = await anyio.connect_tcp(str(address.hostname), address.port or 80)
        async with stream:
            head = f"GET {path} HTTP/1.1\r\nHost: {address.netloc}\r\nCookie: {cookie}\r\n\r\n"
            await stream.send(head.encode())
            has_seen = False
            async for piece in stream:
                self.pieces += piece.count(b"event: board")
                self.bytes += len(piece)
                if not has_seen and b"event: board" in piece:
                    has_seen = True
                    self.waiting -= 1
                    if self.waiting == 0:
                        self.all_see.set()


async def main(root: str, code: str, path: str, count: int) -> None:
    """Opens them all, and waits for the end of the input."""
    async with httpx.AsyncClient(base_url=root) as http:
        answer = await http.post("/login", data={"code": code}, headers={"Origin": root})
        cookie = "; ".join(f"{name}={value}" for name, value in answer.cookies.items())
    viewers = Viewers(count)
    async with anyio.create_task_group() as tasks:
        for _ in range(count):
            tasks.start_soon(viewers.look, root, path, cookie)
        with anyio.fail_after(60):
            await viewers.all_see.wait()
        print("ready", flush=True)
        await to_thread.run_sync(sys.stdin.read)
        tasks.cancel_scope.cancel()
    print(viewers.pieces, viewers.bytes, flush=True)


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
