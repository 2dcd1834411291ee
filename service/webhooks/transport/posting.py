"""One POST to an endpoint, from the DNS look-up to the beginning of its answer.

Imports aiohttp, so it is imported only when it is needed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BytesIO

import anyio
from aiohttp import ClientConnectionError, ClientSession, InvalidURL
from yarl import URL

from callwright.contract.attempts import AttemptOutcome
from callwright.service.platform.outgoing.failures import of_error
from callwright.service.platform.outgoing.guard import progress_of_this, system_roots
from callwright.service.platform.outgoing.posted import Posted
from callwright.service.platform.outgoing.progress import Progress, seconds, timed_out
from callwright.service.webhooks.transport.attempts import MOST_EXCERPT_BYTES, of_status, shown
from callwright.service.webhooks.transport.sessions import Sessions

__all__ = ["Posting", "Sessions", "system_roots"]

_MOST_AT_ONCE_BYTES = 500_000
"""A longer body is given to the session as a file, which it sends in parts."""


@dataclass(slots=True)
class _Answer:
    """What an endpoint has answered so far, and how much of it is read."""

    most_bytes: int = MOST_EXCERPT_BYTES
    status: int | None = None
    location: str | None = None
    duration_ms: int = 0
    excerpt: bytearray = field(default_factory=bytearray)
    is_whole: bool = False


class Posting:
    """Sends requests, each within a deadline.

    `most_answer_bytes`: the whole answer is wanted, and is not longer. None: its status alone counts.
    """

    def __init__(self, sessions: Sessions, deadline_s: float, most_answer_bytes: int | None = None) -> None:
        self._sessions, self._deadline_s, self._most_answer_bytes = sessions, deadline_s, most_answer_bytes

    async def close(self) -> None:
        await self._sessions.close()

    async def post(self, url: str, body: bytes, headers: Mapping[str, str], subscription: str | None) -> Posted:
        begun_s = anyio.current_time()
        progress, answer = Progress(plain=True), self._nothing_yet()
        outcome, detail = "timeout", ""
        try:
            with anyio.move_on_after(self._deadline_s):
                await self._send(url, body, headers, subscription, begun_s, progress, answer)
            if answer.status is None:
                detail = timed_out(progress, self._deadline_s)
        except Exception as error:  # whatever an endpoint does, the result must be recorded
            outcome, detail = of_error(error, progress)
        if answer.status is None:
            return Posted(outcome, None, "", progress.said(detail), _since_ms(begun_s))
        outcome, detail = of_status(answer.status, answer.location)
        body, duration_ms = b"", answer.duration_ms
        if self._most_answer_bytes is not None:
            body, duration_ms = bytes(answer.excerpt), _since_ms(begun_s)
            if outcome == "succeeded" and not answer.is_whole:
                outcome, detail = self._broken_off(answer, duration_ms)
        excerpt, detail = shown(bytes(answer.excerpt)), progress.said(detail)
        return Posted(outcome, answer.status, excerpt, detail, duration_ms, answer.is_whole, body)

    def _nothing_yet(self) -> _Answer:
        # One byte more than is allowed shows that an answer is too long.
        return _Answer() if self._most_answer_bytes is None else _Answer(self._most_answer_bytes + 1)

    def _broken_off(self, answer: _Answer, duration_ms: int) -> tuple[AttemptOutcome, str]:
        """Why the whole answer did not come, though it began well."""
        if len(answer.excerpt) >= answer.most_bytes:
            return "bad_answer", f"The endpoint's answer is longer than {(answer.most_bytes - 1) // 1_024} KB."
        if duration_ms >= self._deadline_s * 1_000:
            return "timeout", f"The endpoint did not send its whole answer within {seconds(self._deadline_s)}."
        return "bad_answer", "The endpoint closed the connection before its answer was whole."

    async def _send(
        self,
        url: str,
        body: bytes,
        headers: Mapping[str, str],
        subscription: str | None,
        begun_s: float,
        progress: Progress,
        answer: _Answer,
    ) -> None:
        target = _target(url)
        progress.plain = target.scheme == "http"
        progress_of_this.set(progress)
        if subscription is not None:
            session = await self._sessions.take(subscription, url)
            try:
                await _exchange(session.http, target, body, headers, begun_s, progress, answer)
                return
            except ClientConnectionError:
                if not progress.reused:
                    raise
                # A server may close a kept connection just when it is used again. That is not a failure, but the
                # server may have read the request, so the log says that it was sent twice.
                progress.begin_again()
            finally:
                await self._sessions.give_back(session)
        closes = {**headers, "Connection": "close"}
        await _exchange(self._sessions.unkept, target, body, closes, begun_s, progress, answer)


def _target(url: str) -> URL:
    try:
        target = URL(url)
    except ValueError as error:
        raise InvalidURL(url) from error
    if target.scheme not in ("http", "https"):
        raise InvalidURL(url)
    return target


async def _exchange(
    session: ClientSession,
    target: URL,
    body: bytes,
    headers: Mapping[str, str],
    begun_s: float,
    progress: Progress,
    answer: _Answer,
) -> None:
    """Sends the request and reads the beginning of the answer. Raises if there is no status."""
    data = body if len(body) <= _MOST_AT_ONCE_BYTES else BytesIO(body)
    response = await session.post(target, data=data, headers=headers, allow_redirects=False, trace_request_ctx=progress)
    try:
        answer.status, answer.location = response.status, response.headers.get("Location")
        answer.duration_ms = _since_ms(begun_s)
        while len(answer.excerpt) < answer.most_bytes:
            part = await response.content.read(answer.most_bytes - len(answer.excerpt))
            if not part:
                answer.is_whole = True
                break
            answer.excerpt += part
    except Exception:  # the status counts, even if the rest of the answer fails
        pass
    finally:
        if response.content.at_eof():
            response.release()
        else:
            response.close()


def _since_ms(begun_s: float) -> int:
    return round((anyio.current_time() - begun_s) * 1_000)
