"""What changes while one looks at it, by server-sent events. Source: the HTML standard, section 9.2.

All viewers of a board share one reading a second, so that a campaign that many look at costs no more than one.
Whether a viewer is still logged in is asked every fifteen seconds. While the database is away streams end without a
word: the browser opens them again two seconds later, until it is back.
"""

from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field

import anyio
from starlette.responses import Response, StreamingResponse

from callwright.contract.problems import SERVICE_UNAVAILABLE
from callwright.service.accounts import sessions
from callwright.service.dashboard.asking import Refused, SessionEnded
from callwright.service.dashboard.html import rendering
from callwright.service.dashboard.visitors import Visitor
from callwright.service.platform.database.postgres.lock_waits import unavailable_because
from callwright.service.services import Services

EVERY_S = 1.0
"""Seconds between two readings of a board."""
SESSION_EVERY_S = 15.0
"""Seconds after which a viewer is asked for their session again: a stream ends so soon after a log-out."""
LONGEST_S = 900.0
"""A stream ends after this time; the browser opens another one, which asks again who is logged in."""
MOST_BOARDS = 256
"""Boards whose last reading is remembered; the one that nobody has looked at for longest is forgotten."""
MOST_SILENT = 10
"""After so many readings without a change `still` is sent: proxies keep the connection, and pages know that the service
is there."""


@dataclass
class Board:
    """The last reading of a thing that changes."""

    read_at_ms: int = -1
    text: str = ""
    is_ended: bool = False
    event: str = ""
    """The text as every viewer gets it, made once for all."""
    lock: anyio.Lock = field(default_factory=anyio.Lock)


Read = Callable[[Visitor, str], Awaitable[tuple[str, bool]]]
"""Reads what a board shows of a thing: its HTML, and whether nothing changes any more. Raises `Refused`."""


class LiveBoards:
    """The last reading of each board that somebody looks at. Those who may change things may see another one."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._boards: OrderedDict[tuple[str, str, bool], Board] = OrderedDict()

    async def now(self, visitor: Visitor, subject: str, running_ms: int) -> Board:
        """The board, read again if the last reading is a second old. Raises `Refused`."""
        place = (visitor.org_id, subject, visitor.may_change)
        board = self._boards.setdefault(place, Board())
        self._boards.move_to_end(place)
        if len(self._boards) > MOST_BOARDS:
            self._boards.popitem(last=False)
        async with board.lock:
            if board.read_at_ms < 0 or running_ms - board.read_at_ms >= EVERY_S * 1_000:
                board.text, board.is_ended = await self._read(visitor, subject)
                board.event, board.read_at_ms = _event("board", board.text), running_ms
        return board


def event_stream(boards: LiveBoards, visitor: Visitor, subject: str, services: Services) -> Response:
    """The stream of a board: `board` with HTML whenever it changes, `ended` once nothing changes any more."""
    return stream_of(lambda: boards.now(visitor, subject, services.clock.running_ms()), visitor, services)


def stream_of(read: Callable[[], Awaitable[Board]], visitor: Visitor, services: Services) -> Response:
    """A stream of what `read` gives, once a second: `board` with HTML whenever it changes, `ended` at its end."""
    headers = {**rendering.HEADERS, "X-Accel-Buffering": "no"}
    return StreamingResponse(pieces_of(read, visitor, services), media_type="text/event-stream", headers=headers)


async def pieces_of(
    read: Callable[[], Awaitable[Board]],
    visitor: Visitor,
    services: Services,
    *,
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
) -> AsyncGenerator[str]:
    """The text of a stream, one piece after the other. It ends early while the database cannot be read."""
    try:
        async with aclosing(_pieces(read, visitor, services, sleep)) as pieces:
            async for piece in pieces:
                yield piece
    except Exception as error:  # what is wrong with the database was logged where it was found
        if unavailable_because(error) is None:
            raise


async def _pieces(
    read: Callable[[], Awaitable[Board]],
    visitor: Visitor,
    services: Services,
    sleep: Callable[[float], Awaitable[None]],
) -> AsyncGenerator[str]:
    said, silent, begun_ms = "", 0, services.clock.running_ms()
    asked_ms = begun_ms  # the page that opened the stream has just asked
    yield "retry: 2000\n\n"
    while services.clock.running_ms() - begun_ms < LONGEST_S * 1_000 and not services.ending.is_begun:
        if services.clock.running_ms() - asked_ms >= SESSION_EVERY_S * 1_000:
            asked_ms = services.clock.running_ms()
            if not await _is_logged_in(visitor, services):
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
            if refused.status == SERVICE_UNAVAILABLE.status:
                return
        else:
            silent += 1
            if board.text != said:
                said, silent = board.text, 0
                yield board.event or _event("board", said)
            if board.is_ended:
                yield _event("ended", "done")
                return
        if silent >= MOST_SILENT:
            silent = 0
            yield _event("still", "here")
        await sleep(EVERY_S)


async def _is_logged_in(visitor: Visitor, services: Services) -> bool:
    """Whether the session goes on, in the organization that the stream shows."""
    found = await services.database.read(sessions.session_of, visitor.secret, services.clock.now_ms())
    return found is not None and found.org_id == visitor.org_id


def _event(kind: str, text: str) -> str:
    lines = "".join(f"data: {line}\n" for line in text.splitlines())
    return f"event: {kind}\n{lines}\n"
