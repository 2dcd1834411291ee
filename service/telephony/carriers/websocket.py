"""Calls whose other side comes over a websocket to the media process: a browser, or the other end of a loopback line.

No telephone rings: what could not be begun has certainly reached nobody.
"""

import logging
import secrets
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from callwright.service.telephony.engine import CallRequest, CallResult
from callwright.service.telephony.legs.carrier import Found, HangUpAsked, LegRequest, NotSent, ToldStage
from callwright.service.telephony.lines.conversation_results import Conversation
from callwright.service.telephony.lines.media_processes import MediaCall, MediaProcesses, MediaUnavailable
from callwright.service.telephony.media.messages import (
    BeginCall,
    Ended,
    HangUp,
    Listening,
    Reached,
    SpeechServices,
)

log = logging.getLogger(__name__)
HANG_UP_S = 2.0
"""Seconds that telling a media process to end a call may take."""
LISTENS_WITHIN_S = 20.0
"""Seconds in which a media process must be ready for the websocket of a call."""


@dataclass(frozen=True)
class Opening:
    """Where the other side of a call comes to: once, with this token."""

    call: CallRequest
    port: int
    token: str


OtherSide = Callable[[Opening], Coroutine[Any, Any, None]]
"""Brings the other side of a call, and returns when it is over for it."""


class WebsocketCarrier:
    """Lines that are websockets of this host's media processes."""

    lists_calls = False

    def __init__(
        self,
        name: str,
        media: MediaProcesses,
        services: SpeechServices,
        other_side: OtherSide,
        *,
        recordings: Path | None = None,
    ) -> None:
        """`other_side` is told where to come; recordings are written into a folder while calls run."""
        self.name = name
        self._media, self._services, self._other_side, self._recordings = media, services, other_side, recordings
        self._begun: dict[str, tuple[MediaCall, Opening]] = {}

    async def place(self, leg: LegRequest) -> str | None:
        """Begins the call in a media process.

        Raises:
            NotSent: no process takes it.
        """
        leg.check_in_time()
        token, recording = secrets.token_urlsafe(32), self._recording(leg.call)
        begin = BeginCall(request=leg.call, token=token, services=self._services, recording=recording)
        try:
            call = await self._media.begin(begin)
        except MediaUnavailable as error:
            raise NotSent(str(error)) from error
        with anyio.move_on_after(LISTENS_WITHIN_S):
            if isinstance(await call.reports.receive(), Listening):
                self._begun[leg.call.call_id] = call, Opening(leg.call, call.port, token)
                return leg.call.call_id
        async with _left(call, leg.call.call_id):
            raise NotSent("the media process does not take the call")

    async def ended(
        self, leg: LegRequest, provider_call_id: str | None, told: ToldStage, hang_up: HangUpAsked
    ) -> CallResult:
        """Brings the other side, and follows the call until its end."""
        call, opening = self._begun.pop(leg.call.call_id)
        conversation, ended = Conversation(leg.call.call_id, recording=self._recording(leg.call)), None
        async with _left(call, leg.call.call_id), anyio.create_task_group() as tasks:
            tasks.start_soon(self._bring, opening)
            tasks.start_soon(_obey, call, leg.call.call_id, hang_up)
            async for report in call.reports:
                if isinstance(report, Ended):
                    ended = report
                    break
                conversation.add(report)
                if isinstance(report, Reached):
                    await told(report.stage, report.provider_call_id)
            tasks.cancel_scope.cancel()
        gone = Ended(call_id=leg.call.call_id, cause="platform_error", ended_by="platform")
        return conversation.result(ended or gone)

    async def _bring(self, opening: Opening) -> None:
        """Brings the other side. If it fails, nobody comes, and the call ends after its longest ringing."""
        try:
            await self._other_side(opening)
        except Exception as error:
            name = type(error).__name__
            log.error("the other side of a call failed: %s", name, extra={"call_id": opening.call.call_id})

    async def find(self, call: CallRequest, *, placing_ms: int) -> Found:
        """Nothing: a websocket is in no list."""
        return Found("none")

    async def hang_up(self, provider_call_id: str) -> None:
        """Nothing is left to do: the call has ended with its process."""

    def _recording(self, call: CallRequest) -> str | None:
        """The path of the recording. None where the campaign records nothing."""
        if self._recordings is None or not call.recorded:
            return None
        return str(self._recordings / f"{call.call_id}.wav")


@asynccontextmanager
async def _left(call: MediaCall, call_id: str) -> AsyncGenerator[None]:
    """Ends the call in its media process when it is followed no more; a call that has ended is left alone."""
    try:
        yield
    finally:
        with anyio.move_on_after(HANG_UP_S, shield=True):
            await call.send(HangUp(call_id=call_id, cause="platform_error", ended_by="platform"))
        call.close()


async def _obey(call: MediaCall, call_id: str, hang_up: HangUpAsked) -> None:
    await hang_up.wait()
    await call.send(HangUp(call_id=call_id, cause=hang_up.end.cause, ended_by=hang_up.end.ended_by))
