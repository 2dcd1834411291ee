"""Pages of talks without a browser: the websocket that a page opens, and the service that answers it over HTTP."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

import anyio
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from callwright.client import Client
from callwright.contract.calls.calls import Call
from callwright.contract.deployments.talks import Talk
from callwright.server.embedded.embedded import listener_on, listening
from tests.support.service import Tenant


@asynccontextmanager
async def answering(tenant: Tenant) -> AsyncGenerator[str]:
    """The service over HTTP; yields where."""
    with listener_on() as listener:
        async with listening(tenant.service.asgi, listener) as base_url:
            tenant.services.own_address.bound = root = base_url.removesuffix("/v1")
            yield root


def page_of(talk: Talk, *, token: str | None = None, origin: str | None = None) -> connect:
    """The websocket that the page of a talk opens."""
    address, _, own = talk.url.partition("#")
    offered = ["callwright.talk", own if token is None else token]
    return connect(address.replace("http", "ws", 1), subprotocols=offered, origin=origin, proxy=None)  # pyright: ignore[reportArgumentType]


async def silent_microphone(page: ClientConnection) -> None:
    """The sound of a page whose microphone hears nothing, as long as the page is open."""
    with suppress(ConnectionClosed):
        while True:
            await page.send(bytes(640))
            await anyio.sleep(0.02)


async def closed_with(page: ClientConnection) -> int | None:
    with pytest.raises(ConnectionClosed):
        await page.recv()
    return page.close_code


async def ended(client: Client, call_id: str) -> Call:
    with anyio.fail_after(30):
        while True:
            call = await client.calls.get(call_uuid=call_id)
            if call.ended_at is not None:
                return call
            await anyio.sleep(0.05)
