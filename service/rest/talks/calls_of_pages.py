"""The calls that pages open: a talk that waits for its page, or a call to a number, which begins with the page."""

import logging
from dataclasses import dataclass

from callwright.service.inbound import browser_callers
from callwright.service.inbound.live.inbound_router import InboundRouter
from callwright.service.inbound.live.live_calls import LiveCaller, Routed
from callwright.service.platform.clock.clock import SECOND
from callwright.service.platform.database.postgres.lock_waits import Locked
from callwright.service.platform.database.unavailable import StorageUnavailable
from callwright.service.services import Services
from callwright.service.telephony.legs import leg_rows
from callwright.service.telephony.legs.leg_tokens import hash_of, is_call_id
from callwright.service.telephony.legs.line_engine import NOT_TAKEN_S
from callwright.service.telephony.registry import BROWSER

log = logging.getLogger(__name__)
UNKNOWN, LINE_BUSY, CLOSED, NO_LINE = 4401, 4486, 4487, 4503
"""Close codes: the token is unknown, used up or too old; the number is busy; it answers nobody now; no line is free."""


@dataclass(frozen=True)
class Shown:
    """What a page shows: the call that it names, and a token."""

    call_id: str
    token_hash: str


class CallsOfPages:
    """Opens the calls of pages, each once."""

    def __init__(self, services: Services) -> None:
        self._services, self._router = services, InboundRouter(services)

    async def refusal(self, call_id: str, token: str) -> int | None:
        """Why a page does not get its call: a close code. None if its call waits for it."""
        if not is_call_id(call_id):
            return UNKNOWN
        shown = Shown(call_id, hash_of(token))
        if await self._is_talk(shown):
            return None
        try:
            routed = await self._called(shown)
        except (StorageUnavailable, Locked):
            log.error("a caller is refused: nothing can be stored")
            return NO_LINE
        if routed is None:
            return UNKNOWN
        if not routed.is_refused:
            return None
        return LINE_BUSY if routed.answering.reject_reason == "busy" else CLOSED

    async def _is_talk(self, shown: Shown) -> bool:
        database, now_ms = self._services.database, self._services.clock.now_ms()
        given = (shown.call_id, shown.token_hash)
        since = {"made_after_ms": now_ms - round(NOT_TAKEN_S * SECOND)}
        if not await database.read(leg_rows.has_token, *given, **since):  # anybody may ask, and writes are few
            return False
        return await database.write(leg_rows.use_token, *given, **since)

    async def _called(self, shown: Shown) -> Routed | None:
        database, given = self._services.database, (shown.call_id, shown.token_hash, self._services.clock.now_ms())
        if not await database.read(browser_callers.is_open, *given):
            return None
        if (taken := await database.write(browser_callers.take, *given)) is None:
            return None
        caller, number = taken
        return await self._router.route(LiveCaller(BROWSER, number, caller.from_, link=caller))
