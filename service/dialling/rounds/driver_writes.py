"""The writes of a runner. Each checks the lease; claims and records of calls also renew it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row

from callwright.service.dialling import changed_rules
from callwright.service.dialling.claims import Claimed, Draft, claim
from callwright.service.dialling.finishing import Finished, finish
from callwright.service.dialling.limits.coverage import extend
from callwright.service.dialling.queue import Rules
from callwright.service.dialling.rounds.deferral import Place, defer_due
from callwright.service.dialling.schedule import Schedule
from callwright.service.platform.clock.clock import Clock
from callwright.service.platform.database.database import Database
from callwright.service.platform.ids import Ids
from callwright.service.telephony.engine import CallRequest, HangupCause


@dataclass(frozen=True, kw_only=True)
class DriverWrites:
    """The writes of the process that holds the lease as `owner`. All of them raise `LeaseLost` if it does not."""

    database: Database
    clock: Clock
    ids: Ids
    owner: str
    lease_ms: int
    public_url: str | None = None
    events_written: Callable[[], None] = lambda: None
    """Called after events are committed, to wake their delivery."""

    async def claim(
        self,
        rules: Rules,
        drafts: Sequence[Draft],
        schedule: Schedule,
        contacts: Mapping[str, Row[Any]],
        *,
        jumps: bool = False,
    ) -> Claimed:
        """Claims calls, and stores which contacts the schedule defers or never calls. `jumps` as in `Pace`."""
        given: dict[str, Any] = {"jumps": jumps, **self._lease()}
        claimed = await self.database.write(claim, self.ids, rules, drafts, schedule, contacts, **given)
        self.events_written()
        return claimed

    async def defer(self, rules: Rules, at_ms: int, after: Place) -> Place | None:
        """Defers those of the next contacts who may not be called at a moment; returns what `defer_due` does."""
        return await self.database.write(defer_due, self.ids, rules, at_ms, after, **self._lease())

    async def extend(self, request: CallRequest, until_s: int) -> HangupCause | None:
        """Holds back what a call costs until `until_s` after its answer; returns why not, if it is not there."""
        now_ms = self.clock.now_ms()
        return await self.database.write(extend, self.ids, request, until_s, owner=self.owner, now_ms=now_ms)

    async def record(
        self, rules: Rules, finished: Sequence[Finished], channel_free_at: Sequence[int] | None = None
    ) -> None:
        """Records calls that ended. If their results were known in advance, `channel_free_at` is when the channels are
        free again, and calls for which no money is left are ended early."""
        await self.database.write(
            finish,
            self.ids,
            rules,
            finished,
            channel_free_at=channel_free_at,
            public_url=self.public_url,
            decides_cover=channel_free_at is not None,
            **self._lease(),
        )
        self.events_written()

    async def decide(self, deployment_id: str) -> None:
        """Decides when contacts are called again after a change of the retry policy."""
        await self.database.write(changed_rules.decide, deployment_id, owner=self.owner)

    async def end(self, ending: Callable[..., Any], deployment_id: str, *reason: str) -> Any:
        """Ends or pauses the deployment by a function of `endings`."""
        now_ms = self.clock.now_ms()
        ended = await self.database.write(ending, self.ids, deployment_id, *reason, owner=self.owner, now_ms=now_ms)
        self.events_written()
        return ended

    def _lease(self) -> dict[str, Any]:
        now_ms = self.clock.now_ms()
        return {"owner": self.owner, "now_ms": now_ms, "lease_until_ms": now_ms + self.lease_ms}
