"""Campaigns as they run, and other pages that change, by server-sent events. Source: the HTML standard, section 9.2.

All viewers of a campaign share one reading a second, so that a campaign that many look at costs no more than one.
"""

from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field

import anyio
from starlette.responses import Response, StreamingResponse

from callwright.contract.deployments.deployments import get_deployment
from callwright.service.accounts import sessions
from callwright.service.dashboard import rendering
from callwright.service.dashboard.asking import Refused, SessionEnded
from callwright.service.dashboard.visitors import Visitor
from callwright.service.services import Services

EVERY_S = 1.0
"""Seconds between two readings of a campaign."""
LONGEST_S = 900.0
"""A stream ends after this time; the browser opens another one, which asks again who is logged in."""
MOST_BOARDS = 256
"""Campaigns whose last reading is remembered; the one that nobody has looked at for longest is forgotten."""
MOST_SILENT = 15
"""After so many readings without a change a comment is sent, so that proxies keep the connection."""
_ENDED = ("completed", "cancelled", "failed")


@dataclass
class Board:
    """The last reading of a campaign."""

    read_at_ms: int = -1
    text: str = ""
    is_ended: bool = False
    lock: anyio.Lock = field(default_factory=anyio.Lock)


class LiveBoards:
    """The last reading of each campaign that somebody looks at, by organization and campaign."""

    def __init__(self) -> None:
        self._boards: OrderedDict[tuple[str, str], Board] = OrderedDict()

    async def now(self, visitor: Visitor, deployment_id: str, running_ms: int) -> Board:
        """The board, read again if the last reading is a second old. Raises `Refused`."""
        place = (visitor.org_id, deployment_id)
        board = self._boards.setdefault(place, Board())
        self._boards.move_to_end(place)
        if len(self._boards) > MOST_BOARDS:
            self._boards.popitem(last=False)
        async with board.lock:
            if board.read_at_ms < 0 or running_ms - board.read_at_ms >= EVERY_S * 1_000:
                found = await visitor.ask.one(get_deployment, id=deployment_id)
                board.text = rendering.rendered("board.html", {"campaign": found})
                board.is_ended = found["status"] in _ENDED and found["contact_changes"] is None
                board.read_at_ms = running_ms
        return board


def event_stream(boards: LiveBoards, visitor: Visitor, deployment_id: str, services: Services) -> Response:
    """The stream of a campaign: `board` with HTML whenever it changes, `ended` once it has."""
    return stream_of(lambda: boards.now(visitor, deployment_id, services.clock.running_ms()), visitor, services)


def stream_of(read: Callable[[], Awaitable[Board]], visitor: Visitor, services: Services) -> Response:
    """A stream of what `read` gives, once a second: `board` with HTML whenever it changes, `ended` at its end."""
    headers = {**rendering.HEADERS, "X-Accel-Buffering": "no"}
    return StreamingResponse(_pieces(read, visitor, services), media_type="text/event-stream", headers=headers)


async def _pieces(read: Callable[[], Awaitable[Board]], visitor: Visitor, services: Services) -> AsyncGenerator[str]:
    said, silent, begun_ms = "", 0, services.clock.running_ms()
    yield "retry: 2000\n\n"
    while services.clock.running_ms() - begun_ms < LONGEST_S * 1_000 and not services.ending.is_begun:
        if await services.database.read(sessions.session_of, visitor.secret, services.clock.now_ms()) is None:
            yield _event("ended", "login")
            return
        try:
            board = await read()
        except SessionEnded:
            yield _event("ended", "login")
            return
        except Refused as refused:
            if refused.status in (403, 404):
                yield _event("ended", "gone")
                return
        else:
            silent += 1
            if board.text != said:
                said, silent = board.text, 0
                yield _event("board", said)
            if board.is_ended:
                yield _event("ended", "done")
                return
        if silent >= MOST_SILENT:
            silent = 0
            yield ": still here\n\n"
        await anyio.sleep(EVERY_S)


def _event(kind: str, text: str) -> str:
    lines = "".join(f"data: {line}\n" for line in text.splitlines())
    return f"event: {kind}\n{lines}\n"
