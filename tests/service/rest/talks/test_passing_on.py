"""A page whose websocket the server has closed by itself, while the agent still speaks."""

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from types import SimpleNamespace
from typing import Any, cast

import anyio
import pytest
from websockets.asyncio.server import ServerConnection, serve

from callwright.service.rest.talks.websocket import PATH, PROTOCOL, TalkWebsocket
from callwright.service.telephony.carriers.opening import Opening
from callwright.service.telephony.chosen_services import speech_services_of

pytestmark = pytest.mark.asyncio
LONGEST_S = 20.0


@asynccontextmanager
async def speaking() -> AsyncGenerator[int]:
    """A media process that speaks to whoever listens; its port."""

    async def speak(connection: ServerConnection) -> None:
        await connection.send(b"\x01" * 320)
        await connection.wait_closed()

    async with serve(speak, "127.0.0.1", 0) as server:
        yield next(iter(server.sockets)).getsockname()[1]


class Anybody:
    """A database in which every token may open a talk, and every agent hears."""

    async def read(self, work: object, *_: object, **__: object) -> Any:
        return SimpleNamespace(what_is_missing=None) if work is speech_services_of else True

    write = read


async def test_a_page_that_the_server_has_closed_ends_without_an_error() -> None:
    closed = anyio.Event()
    messages = iter([{"type": "websocket.connect"}])
    first: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        message = next(messages, None)
        if message is None:
            await closed.wait()
            return {"type": "websocket.disconnect", "code": 1006}
        return message

    async def send(message: dict[str, Any]) -> None:
        first.append(message)
        if message["type"] == "websocket.send":
            closed.set()
            raise RuntimeError("Unexpected ASGI message 'websocket.send', after sending 'websocket.close'.")

    async with speaking() as port:

        async def opening(_: float) -> Opening:
            return Opening(cast("Any", SimpleNamespace(call_id="cal_1", org_id="org_1", agent=None)), port, "token")

        @contextmanager
        def page(_: str) -> Generator[Any]:
            yield SimpleNamespace(opening=opening)

        clock = SimpleNamespace(now_ms=lambda: 0)
        own_address = SimpleNamespace(root="http://service")
        services = cast("Any", SimpleNamespace(database=Anybody(), clock=clock, own_address=own_address, settings=None))
        talks = TalkWebsocket(services, cast("Any", SimpleNamespace(page=page)))
        offered = (b"sec-websocket-protocol", f"{PROTOCOL}, tlk_1".encode())
        scope = {"type": "websocket", "path": f"{PATH}cal_1", "headers": [offered], "subprotocols": [PROTOCOL]}
        with anyio.fail_after(LONGEST_S):
            await talks(scope, receive, send)
    assert [message["type"] for message in first][:2] == ["websocket.accept", "websocket.send"]
