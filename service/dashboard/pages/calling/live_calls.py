"""The calls that are going on now: one table that follows them, ending one, and listening in to one."""

from datetime import datetime
from typing import Any

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from callwright.contract.calls.calls import list_calls
from callwright.contract.deployments.deployments import list_deployments
from callwright.contract.problems import FORBIDDEN
from callwright.service.dashboard.html import rendering
from callwright.service.dashboard.listening import Listeners, has_live_sound
from callwright.service.dashboard.live import LiveBoards, event_stream
from callwright.service.dashboard.serving import Pages, shown
from callwright.service.dashboard.visitors import Visitor
from callwright.service.platform.clock.clock import SECOND, milliseconds
from callwright.service.platform.refusals import Refusal
from callwright.service.services import Services

HERE = "/calls/live"
GOING_ON = ("queued", "initiated", "ringing", "in_progress")
"""The states of a call that has not ended."""
MOST = 50
"""Calls in the table; of more, the newest."""
_MOST_NAMES = 200


def routes(pages: Pages) -> list[Route]:
    """The routes."""
    services = pages.visitors.services
    listeners = Listeners(services)

    async def read(visitor: Visitor, _: str) -> tuple[str, bool]:
        return rendering.rendered("live_calls_board.html", await _calls(visitor, services)), False

    boards = LiveBoards(read)

    async def page(_: Request, visitor: Visitor) -> Response:
        return shown(visitor, HERE, "live_calls.html", "Calls under way", await _calls(visitor, services))

    async def live(_: Request, visitor: Visitor) -> Response:
        return event_stream(boards, visitor, "calls", services)

    async def listen(request: Request, visitor: Visitor) -> Response:
        if not visitor.may_change:
            raise Refusal(FORBIDDEN, "Only members and owners listen in. Your role is viewer.")
        return await listeners.stream(visitor, request.path_params["id"])

    return [
        pages.route("/calls/live", page, here=HERE),
        pages.route("/calls/live/events", live, here=HERE),
        pages.route("/calls/{id}/listen.wav", listen, here=HERE),
    ]


async def _calls(visitor: Visitor, services: Services) -> dict[str, Any]:
    """What the table shows: the calls, how long each takes by now, and the names of their campaigns."""
    found = await visitor.ask.many(list_calls, status=list(GOING_ON), per_page=MOST, sort="-created_at")
    names: dict[str, str] = {}
    if any(call["deployment_id"] for call in found.data):
        campaigns = await visitor.ask.many(list_deployments, per_page=_MOST_NAMES, status=["active", "paused"])
        names = {one["id"]: one["name"] for one in campaigns.data}
    now_ms, recordings = services.clock.now_ms(), services.recordings.lines
    talking = [call["id"] for call in found.data if call["status"] == "in_progress"]
    heard = await to_thread.run_sync(lambda: {id_ for id_ in talking if has_live_sound(recordings, id_)})
    for call in found.data:
        since = datetime.fromisoformat(call["answered_at"] or call["created_at"])
        call["seconds"] = max(0, now_ms - milliseconds(since)) // SECOND
        call["has_sound"] = call["id"] in heard
        call["campaign"] = names.get(call["deployment_id"] or "", call["deployment_id"])
    return {"calls": found.data, "has_more": found.has_more, "may_change": visitor.may_change, "most": MOST}
