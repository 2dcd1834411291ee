"""Listening in: both sides of a call that goes on, as sound that follows its recording.

The media process writes the recording while the call lasts, and counts in its header what is there. A listener reads
that file and nothing else, so nobody on the call hears them, and one who is slow or gone holds up nothing: whoever
falls behind goes on with what is said now. Nothing is kept for a listener but the piece that is being sent.
"""

import struct
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import anyio
from anyio import to_thread
from sqlalchemy import Connection, Row, bindparam, select
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from callwright.contract.problems import INVALID_STATE_TRANSITION, NOT_FOUND, SERVICE_UNAVAILABLE
from callwright.service.accounts import sessions
from callwright.service.accounts.memberships import VIEWER
from callwright.service.accounts.principals import UserActor
from callwright.service.dashboard.html import rendering
from callwright.service.dashboard.visitors import Visitor
from callwright.service.platform.database.postgres.lock_waits import unavailable_because
from callwright.service.platform.refusals import Refusal, not_found
from callwright.service.services import Services
from callwright.service.speech.line_recordings import LineRecordings
from callwright.service.speech.mu_law_files import RATE_HZ, frames_of, pcm_from
from callwright.service.tables import audit_log
from callwright.service.tables.campaign_settings import settings_of
from callwright.service.tables.schema import calls, deployments

LISTENED = "call.listened"
"""The action in the audit log."""
LOOK_S = 0.25
"""Seconds between two looks whether more was recorded."""
BEHIND_S = 4.0
"""Whoever is so much behind goes on with what is said now."""
BEGINS_S = 1.0
"""So much of what was said last is heard first."""
ASKED_EVERY_S = 2.0
"""Seconds between two questions whether the call goes on and the listener is still logged in."""
NO_FILE_S = 3.0
"""Seconds that a recording may take to begin."""
LONGEST_S = 3 * 3_600.0
MOST_LISTENERS = 20
"""Listeners of a process at once."""
_FRAME_BYTES = 4
_ENDLESS = 0xFFFFFFFF
_C, _D = calls.c, deployments.c
_CALL = select(_C.id, _C.status, _C.simulated, _C.answered_at, _C.ended_at, _C.deployment_id).where(
    _C.id == bindparam("id"), _C.org_id == bindparam("org")
)
_SETTINGS = select(_D.settings, _D.inbound).where(_D.id == bindparam("id"))
_ELSEWHERE = (
    "The sound of this call is not on this machine: another one carries it, or nothing was recorded yet. Listen in at "
    "the dashboard of the machine that carries the call."
)
_SIMULATED = "This call is simulated: nobody speaks, so there is no live sound."


def has_live_sound(recordings: LineRecordings, call_id: str) -> bool:
    """Whether a call that goes on can be listened to here: its recording is being written on this machine."""
    return frames_of(recordings.path_of(call_id)) > 0


def sound_header() -> bytes:
    """The header of a WAV without an end: two channels of 16-bit samples, the agent left."""
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 2, RATE_HZ, _FRAME_BYTES * RATE_HZ, _FRAME_BYTES, 16)
    return struct.pack("<4sI4s", b"RIFF", _ENDLESS, b"WAVE") + form + struct.pack("<4sI", b"data", _ENDLESS)


class FollowedRecording:
    """A recording that grows, read from almost its end on."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = max(0, frames_of(path) - int(BEGINS_S * RATE_HZ))

    def further(self) -> bytes:
        """What was recorded since the last time; of much, what was said last."""
        there = frames_of(self._path)
        if there - self._read > BEHIND_S * RATE_HZ:
            self._read = there - int(BEGINS_S * RATE_HZ)
        if there <= self._read:
            return b""
        piece = pcm_from(self._path, self._read, there)
        self._read = there
        return piece


class _Sound(StreamingResponse):
    """Sound that somebody listens to, until they leave: also before the first byte."""

    def __init__(self, pieces: AsyncGenerator[bytes], leave: Callable[[], None]) -> None:
        headers = {**rendering.HEADERS, "X-Accel-Buffering": "no"}
        super().__init__(pieces, media_type="audio/wav", headers=headers)
        self._leave = leave

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._leave()


class Listeners:
    """Those who listen in, at most `MOST_LISTENERS` at once."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._listening = 0

    async def stream(self, visitor: Visitor, call_id: str) -> Response:
        """The sound of a call from now to its end; the audit log has who listens to which call.

        Raises:
            Refusal: not_found, invalid_state_transition where nothing can be heard, service_unavailable for too many
                listeners.
        """
        services = self._services
        call = await services.database.read(_found, visitor.org_id, call_id)
        _check(call, is_recorded=await services.database.read(_is_recorded, call.deployment_id))
        path = services.recordings.lines.path_of(call.id)
        if not await _has_begun(path):
            raise Refusal(NOT_FOUND, _SIMULATED if call.simulated else _ELSEWHERE)
        if self._listening >= MOST_LISTENERS:
            raise Refusal(
                SERVICE_UNAVAILABLE, f"At most {MOST_LISTENERS} can listen in at once. Try again in a minute."
            )
        self._listening += 1
        try:
            await services.database.write(self._write_down, visitor, call_id)
        except BaseException:
            self._leave()
            raise
        return _Sound(self._pieces(visitor, call_id, path), self._leave)

    def _leave(self) -> None:
        self._listening -= 1

    def _write_down(self, connection: Connection, visitor: Visitor, call_id: str) -> None:
        services = self._services
        by, at_ms = UserActor(visitor.user_id), services.clock.now_ms()
        entry = audit_log.entry_row(services.ids, visitor.org_id, LISTENED, call_id, by=by, at_ms=at_ms)
        audit_log.add_entries(connection, [entry])

    async def _pieces(self, visitor: Visitor, call_id: str, path: Path) -> AsyncGenerator[bytes]:
        try:
            yield sound_header()
            followed = await to_thread.run_sync(FollowedRecording, path)
            begun_s = asked_s = anyio.current_time()
            while anyio.current_time() - begun_s < LONGEST_S and not self._services.ending.is_begun:
                is_asked = anyio.current_time() - asked_s >= ASKED_EVERY_S
                goes_on = not is_asked or await self._goes_on(visitor, call_id)
                if piece := await to_thread.run_sync(followed.further):
                    yield piece
                if not goes_on:
                    return
                if is_asked:
                    asked_s = anyio.current_time()
                await anyio.sleep(LOOK_S)
        except OSError:
            return  # the recording was removed: there is no more to hear
        except Exception as error:  # whether the listener is still logged in cannot be asked, so nothing more is heard
            if unavailable_because(error) is None:
                raise

    async def _goes_on(self, visitor: Visitor, call_id: str) -> bool:
        services = self._services
        session = await services.database.read(sessions.session_of, visitor.secret, services.clock.now_ms())
        call = await services.database.read(_found, visitor.org_id, call_id)
        return session is not None and session.role != VIEWER and call.ended_at is None


async def _has_begun(path: Path) -> bool:
    """Whether something is recorded, now or within `NO_FILE_S`."""
    for _ in range(round(NO_FILE_S / LOOK_S)):
        if await to_thread.run_sync(frames_of, path) > 0:
            return True
        await anyio.sleep(LOOK_S)
    return False


def _found(connection: Connection, org_id: str, call_id: str) -> Row[Any]:
    row: Any = connection.execute(_CALL, {"id": call_id, "org": org_id}).one_or_none()
    if row is None:
        raise not_found()
    return row


def _is_recorded(connection: Connection, deployment_id: str | None) -> bool:
    row: Any = connection.execute(_SETTINGS, {"id": deployment_id}).one_or_none()
    return row is None or settings_of(row).recording.enabled


def _check(call: Row[Any], *, is_recorded: bool) -> None:
    if call.ended_at is not None:
        message = "This call has ended. Its recording is on its page."
    elif call.status != "in_progress":
        message = "Nobody has answered yet."
    elif not is_recorded:
        message = "This call is not recorded, so it cannot be listened to: its campaign has recording.enabled false."
    else:
        return
    raise Refusal(INVALID_STATE_TRANSITION, message, details={"current_status": call.status, "allowed": []})
