"""The websocket of a page that talks to an agent: it is passed on to the media process that has the call.

The page names its call in the path, and its token as a subprotocol, so that the token is in no address and in no log.
"""

from collections.abc import MutableMapping
from contextlib import suppress
from typing import Any

import anyio
from starlette.websockets import WebSocket, WebSocketDisconnect

from callwright.service.rest.lines.passing_on import closed, passed_on
from callwright.service.rest.talks.calls_of_pages import NO_LINE, UNKNOWN, CallsOfPages
from callwright.service.services import Services
from callwright.service.telephony.carriers.browser_calls import BrowserCalls, TooManyPages, WaitingPage
from callwright.service.telephony.carriers.opening import Opening
from callwright.service.telephony.chosen_services import ProviderUnusable, speech_services_of
from callwright.service.telephony.engine import CallRequest

PATH = "/talk/"
PROTOCOL = "callwright.talk"
"""The subprotocol that is accepted; the token is offered beside it."""
TAKEN_WITHIN_S = 40.0
"""Seconds that a page waits for a line. The first media process takes some to start."""


class TalkWebsocket:
    """Answers the websockets of pages. `browser` is None if this process carries no calls."""

    def __init__(self, services: Services, browser: BrowserCalls | None) -> None:
        self._services, self._browser = services, browser
        self._calls = CallsOfPages(services)

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        """Answers one websocket."""
        socket = WebSocket(scope, receive, send)
        call_id = str(scope["path"]).removeprefix(PATH)
        offered = [word.strip() for word in socket.headers.get("sec-websocket-protocol", "").split(",")]
        if not str(scope["path"]).startswith(PATH) or offered[:1] != [PROTOCOL] or len(offered) != 2:
            await socket.close()  # before it is accepted: the answer is 403
            return
        if not self._comes_from_here(socket):
            await socket.close()
            return
        await socket.accept(PROTOCOL)
        if self._browser is None:
            await socket.close(UNKNOWN)
            return
        if (why := await self._calls.refusal(call_id, offered[1])) is not None:
            await closed(socket, why)
            return
        try:
            with self._browser.page(call_id) as page:
                opening = await _opening(socket, page)
                if opening is not None:
                    await self._say_what_is_heard(socket, opening.call)
                    await passed_on(socket, opening.port, opening.token, call_id)
        except TooManyPages:
            await socket.close(NO_LINE)

    async def _say_what_is_heard(self, socket: WebSocket, call: CallRequest) -> None:
        """Tells a page whose speech nobody understands that it has to type."""
        services = self._services
        with suppress(ProviderUnusable, WebSocketDisconnect, RuntimeError):  # the call itself fails of these
            chosen = await services.database.read(speech_services_of, services.settings, call.org_id, call.agent)
            if chosen.what_is_missing is not None:
                await socket.send_json({"type": "hears", "speech": False})

    def _comes_from_here(self, socket: WebSocket) -> bool:
        """Whether the page is of this service. Browsers always say where a page is from; other programs need not."""
        origin = socket.headers.get("origin")
        host = socket.headers.get("host", "")
        here = (self._services.own_address.root, f"http://{host}", f"https://{host}")  # a proxy may have ended TLS
        return origin is None or origin in {_origin_of(address) for address in here}


def _origin_of(address: str) -> str:
    scheme, _, rest = address.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}"


async def _opening(socket: WebSocket, page: WaitingPage) -> Opening | None:
    """Where the websocket goes on, once the call is taken; None if it is closed. What the page sends before is dropped:
    nobody listens yet, and later it would be more sound than time has passed.
    """
    found: list[Opening | None] = []
    async with anyio.create_task_group() as tasks:

        async def wait() -> None:
            found.append(await page.opening(TAKEN_WITHIN_S))
            tasks.cancel_scope.cancel()

        tasks.start_soon(wait)
        while (await socket.receive())["type"] == "websocket.receive":
            pass
        tasks.cancel_scope.cancel()
        return None
    if found[0] is None:
        await closed(socket, NO_LINE)
    return found[0]
