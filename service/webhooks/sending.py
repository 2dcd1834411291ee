"""Sending to one subscription, for as long as this process holds its endpoint queue.

Attempts run concurrently up to a limit. Meanwhile one loop records finished attempts and fetches the next deliveries,
in one transaction, as soon as the last write is done and a few attempts have finished.
"""

import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import anyio
import orjson
from anyio.abc import TaskGroup, TaskStatus
from sqlalchemy.exc import IntegrityError

from callwright.service.platform.clock.clock import SECOND, Clock
from callwright.service.platform.database.database import Database
from callwright.service.platform.database.postgres.lock_waits import Locked
from callwright.service.platform.database.unavailable import StorageUnavailable
from callwright.service.platform.event_envelope import envelope
from callwright.service.platform.ids import Ids
from callwright.service.platform.lease import LeaseLost
from callwright.service.platform.outgoing.posted import Poster
from callwright.service.webhooks.batches import Batch, BatchResult, Due, process_batch
from callwright.service.webhooks.outcomes import CUT_OFF, Attempt
from callwright.service.webhooks.signing import request_headers, secrets_at

log = logging.getLogger(__name__)
MOST_AT_ONCE = 16
"""The most attempts under way to one endpoint."""
MOST_AHEAD = 80
"""The most deliveries that a process marks as under way at a time, shared by its endpoint queues. At most these arrive
twice if the process is killed.
"""
MOST_AHEAD_WHERE_SHARED = 200
"""The same on Postgres, where a write takes longer and more is sent meanwhile."""
GATHER_S = 0.03
"""How long to wait for more attempts to finish after the first, if more are under way."""
SLICE_MS = 2_000
"""How long an endpoint queue keeps its place while others wait for one."""
TRY_AGAIN_S = 30.0
TRY_EVERY_S = 0.5
"""How long, and how often, recording the results of attempts is tried."""
FINISH_S = 3.0
"""How long attempts that are under way may take when the process ends."""


@dataclass
class SendingLimits:
    """The limits of what a process, and each of its endpoint queues, may have under way."""

    others_wait: bool = False
    """Whether queues are due that this process has no place for."""
    at_once: int = MOST_AT_ONCE
    """Attempts that each endpoint queue may have under way."""
    most_ahead: int = MOST_AHEAD
    """Deliveries that all endpoint queues together may have marked."""
    ahead: int = MOST_AHEAD
    """Deliveries that each endpoint queue may have marked."""

    @property
    def gathered(self) -> int:
        """The number of finished attempts that are recorded without waiting for more."""
        return self.most_ahead * 3 // 5


@dataclass(frozen=True)
class DeliveryContext:
    """What endpoint queues need for sending."""

    database: Database
    clock: Clock
    ids: Ids
    endpoints: Poster
    owner: str
    lease_ms: int
    chance: Callable[[], float]
    """Returns random numbers in [0, 1)."""


class EndpointQueue:
    """One endpoint queue that this process holds."""

    def __init__(
        self, context: DeliveryContext, webhook_id: str, limits: SendingLimits, *, until_ms: int, was_abandoned: bool
    ) -> None:
        self.until_ms = until_ms
        """Until when the lease is known to be held."""
        self._context, self._webhook_id, self._limits = context, webhook_id, limits
        self._was_abandoned = was_abandoned
        self._quick = 0
        self._begun_ms = context.clock.running_ms()
        self._due: deque[tuple[Due, Any]] = deque()
        self._unsent: list[str] = []
        self._under_way = 0
        self._senders = 0
        self._finished: list[Attempt] = []
        self._ending = False
        self._first, self._enough = anyio.Event(), anyio.Event()
        self._sending: TaskGroup | None = None

    def end(self) -> None:
        """Stops sending; attempts under way have `FINISH_S` left."""
        self._ending = True
        if self._sending is not None:
            self._sending.cancel_scope.deadline = anyio.current_time() + FINISH_S
        self._first.set()
        self._enough.set()

    async def drive(self) -> None:
        """Sends what is due until nothing is left or the queue's time is over; releases the queue before it returns.

        Raises:
            LeaseLost: another process holds the endpoint queue.
        """
        async with anyio.create_task_group() as tasks:
            self._sending = await tasks.start(self._host)
            while not await self._process_batch():
                await self._first.wait()
                with anyio.move_on_after(GATHER_S):
                    await self._enough.wait()
            tasks.cancel_scope.cancel()

    async def _host(self, *, task_status: TaskStatus[TaskGroup]) -> None:
        """Runs the senders in a task group of their own, so that ending them does not lose their attempts."""
        async with anyio.create_task_group() as sending:
            task_status.started(sending)
            await anyio.sleep_forever()

    def _is_over(self) -> bool:
        if self._ending or not self._limits.others_wait:
            return self._ending
        return self._context.clock.running_ms() - self._begun_ms >= SLICE_MS

    async def _process_batch(self) -> bool:
        """Processes a batch. After a failure it tries again for a while: no other process knows its results."""
        last_s = anyio.current_time() + TRY_AGAIN_S
        while True:
            try:
                return await self._try_batch()
            except (LeaseLost, IntegrityError):  # another process holds the queue, or this was recorded after all
                raise
            except Exception as error:
                if anyio.current_time() >= last_s:
                    raise
                if not isinstance(error, StorageUnavailable):
                    log.warning("recording the results of attempts failed; trying again", exc_info=True)
            await anyio.sleep(TRY_EVERY_S)

    async def _try_batch(self) -> bool:
        """Records finished attempts and fetches the next deliveries. True if the endpoint queue was released."""
        context, now_ms = self._context, self._context.clock.now_ms()
        is_over = self._is_over()
        if is_over:
            self._drop()
        attempts, self._finished = self._finished, []
        # A quick endpoint never waits for a write, and a slow one has few marked. Large and small batches alternate.
        quick, self._quick = max(len(attempts), self._quick), len(attempts)
        ahead = min(2 * (quick + self._limits.at_once), self._limits.ahead)
        unsent, self._unsent = self._unsent, []
        runs_out = now_ms >= self.until_ms
        batch = Batch(
            attempts=attempts,
            unsent=unsent,
            most=0 if is_over else ahead - len(self._due) - self._under_way,
            was_abandoned=self._was_abandoned,
            renew_until_ms=now_ms + context.lease_ms if runs_out else None,
            is_idle=not self._due and not self._under_way,
        )
        self._first, self._enough = anyio.Event(), anyio.Event()
        try:
            taken = await self._written(batch, now_ms)
        except Exception:  # nothing of it was kept
            self._finished, self._unsent = [*attempts, *self._finished], [*unsent, *self._unsent]
            raise
        self._was_abandoned = False
        if runs_out:
            self.until_ms = now_ms + context.lease_ms
        if not taken.is_open:
            self._drop()
        self._send(taken)
        return taken.released

    async def _written(self, batch: Batch, now_ms: int) -> BatchResult:
        """Processes a batch, and tries again while others lock the rows: attempts that were made must be recorded."""
        context = self._context
        while True:
            try:
                return await context.database.write(
                    process_batch,
                    context.ids,
                    self._webhook_id,
                    context.owner,
                    batch,
                    now_ms=now_ms,
                    confirmed_now_ms=context.clock.confirmed_now_ms(),
                    chance=context.chance,
                )
            except Locked:
                if self._ending:
                    raise

    def _drop(self) -> None:
        self._unsent += [row.id for row, _ in self._due]
        self._due.clear()

    def _send(self, taken: BatchResult) -> None:
        assert self._sending is not None
        self._due.extend((row, taken.webhook) for row in taken.due)
        for _ in range(min(self._limits.at_once - self._senders, len(self._due))):
            self._senders += 1
            self._sending.start_soon(self._keep_sending)
        if not self._under_way and not self._due:
            self._tell()

    def _tell(self) -> None:
        self._first.set()
        if len(self._finished) >= self._limits.gathered or not self._due:
            self._enough.set()

    async def _keep_sending(self) -> None:
        clock = self._context.clock
        try:
            while self._due and self._senders <= self._limits.at_once:
                started_ms = clock.now_ms()
                # After `until_ms` another process may be sending already; the next batch finds that out.
                if self._is_over() or started_ms >= self.until_ms:
                    self._tell()
                    return
                row, webhook = self._due.popleft()
                self._under_way += 1
                try:
                    attempt = await self._attempt(row, webhook, started_ms)
                    self._finished.append(attempt)
                finally:
                    self._under_way -= 1
                    self._tell()
        finally:
            self._senders -= 1

    async def _attempt(self, row: Due, webhook: Any, started_ms: int) -> Attempt:
        context = self._context
        body = envelope(row.event_id, row.type, row.created_at, row.org_id, row.data)
        secrets = secrets_at(started_ms, webhook.secret, webhook.earlier_secrets)
        headers = request_headers(
            body, started_ms // SECOND, secrets, event_id=row.event_id, delivery_id=row.id, simulated=row.simulated
        )
        attempt = Attempt(
            delivery_id=row.id,
            number=row.attempt_count + 1,
            is_test=row.cause == "test",
            started_ms=started_ms,
            url=webhook.url,
            headers=orjson.dumps(headers).decode(),
        )
        try:
            posted = await context.endpoints.post(webhook.url, body, headers, subscription=webhook.id)
        except anyio.get_cancelled_exc_class():
            attempt.ended_ms, attempt.detail = context.clock.now_ms(), CUT_OFF
            self._finished.append(attempt)
            raise
        attempt.ended_ms, attempt.duration_ms = context.clock.now_ms(), posted.duration_ms
        attempt.outcome, attempt.status = posted.outcome, posted.status
        attempt.excerpt, attempt.detail = posted.excerpt, posted.detail
        return attempt
