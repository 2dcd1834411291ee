"""The state of a deployment at the beginning of a round of dialling, and the pace of its rounds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from sqlalchemy import Connection, Row, bindparam, select

from callwright.service.dialling.claims import Allowance, Draft, allowance
from callwright.service.dialling.eligibility.attempts import NumberCalls, calls_to, longest_memory_ms
from callwright.service.dialling.eligibility.predial import MOST_ASKED
from callwright.service.dialling.leases import LeaseLost
from callwright.service.dialling.limits.caller_id import CallerIds
from callwright.service.dialling.queue import FIND, Rules, due, numbers_of, soonest
from callwright.service.dialling.schedule import Schedule
from callwright.service.tables.schema import calls
from callwright.service.telephony.engine import CallRequest

_HANG_UPS = select(calls.c.id).where(
    calls.c.deployment_id == bindparam("id"), calls.c.ended_at.is_(None), calls.c.hang_up_requested_at.is_not(None)
)


@dataclass(frozen=True)
class Round:
    """The state of a deployment at the beginning of a round."""

    rules: Rules
    now_ms: int
    """The time of the deployment's clock."""
    contacts: Sequence[Row[Any]]
    """The contacts that are due; the schedule asks the gate about them."""
    past: NumberCalls
    """The calls to the contacts' numbers, by any campaign."""
    caller_ids: CallerIds
    channel_free_at: Sequence[int]
    room: int
    """The most calls that the concurrency limit, budget, wallet and the pre-dial check allow."""
    blocked: str | None
    """Why no call is allowed until something changes."""
    is_waiting: bool
    """Whether other campaigns of the organization have all lines."""
    dial_from_ms: int
    """No call before this moment, because of the daily budget cap."""
    next_ms: int | None
    """When the next waiting contact falls due; None when nobody waits."""
    hang_ups: Sequence[str]
    """The ids of calls under way that are to be hung up."""

    @property
    def is_past_end(self) -> bool:
        """Whether the end of the deployment has come."""
        end_ms = self.rules.row.end_at
        return end_ms is not None and self.now_ms >= end_ms


Held = Literal["busy", "put_off"]
"""Why nobody who is due was called: other campaigns are calling them, or the pre-dial check put them all off."""


class Pace(Protocol):
    """How time passes for a runner: by a clock, or by jumps from call to call."""

    @property
    def jumps(self) -> bool:
        """Whether time jumps from call to call, and does not pass between rounds."""
        ...

    def now_ms(self, row: Row[Any], next_ms: int | None) -> int:
        """The time of the deployment's clock at the beginning of a round."""
        ...

    def due_until_ms(self, rules: Rules, now_ms: int) -> int:
        """A contact that is due by this time belongs to the round."""
        ...

    def channel_free_at(self, row: Row[Any], room: int) -> list[int]:
        """When each channel that the round may use is free."""
        ...

    def is_idle(self, row: Row[Any]) -> bool:
        """Whether no call is under way."""
        ...

    async def resume(self, rules: Rules, unfinished: Sequence[tuple[CallRequest, Row[Any]]]) -> None:
        """Resumes calls that another process began, each with its row."""
        ...

    async def hang_up(self, call_ids: Sequence[str]) -> None:
        """Hangs up calls that are under way."""
        ...

    def lasts_ms(self, request: CallRequest) -> int:
        """How long a call occupies its channel, if that is known before it is dialled."""
        ...

    def is_due(self, dial_ms: int) -> bool:
        """Whether a scheduled call is dialled in this round."""
        ...

    async def carry_out(self, rules: Rules, dialled: Sequence[Draft], schedule: Schedule) -> None:
        """Makes or begins calls that were claimed."""
        ...

    async def wait(self, seen: Round, held: Held | None) -> None:
        """Waits until the next round."""
        ...


def look(
    connection: Connection, deployment_id: str, owner: str, pace: Pace, service_ms: int, *, look_ahead: int = 0
) -> Round:
    """Reads the state of a deployment for a round. By `service_ms`, the service's time, do-not-call entries expire.

    `look_ahead` contacts are read beyond those that can be called at once.

    Raises:
        LeaseLost: another process drives the deployment.
    """
    row: Row[Any] | None = connection.execute(FIND, {"id": deployment_id}).one_or_none()
    if row is None or row.lease_owner != owner:
        raise LeaseLost(deployment_id)
    rules, next_ms = Rules.of(connection, row), soonest(connection, deployment_id)
    now_ms = pace.now_ms(row, next_ms)
    # A talk has its one call from the beginning, and nobody else is called for it.
    room = Allowance(0) if row.call_type == "web" else allowance(connection, row, jumps=pace.jumps, at_ms=now_ms)
    dial_from_ms = now_ms if room.dial_from_ms is None else room.dial_from_ms
    now_ms = dial_from_ms if pace.jumps else now_ms
    most_calls = room.most if rules.settings.predial_check_url is None else min(room.most, MOST_ASKED)
    numbers = numbers_of(connection, deployment_id)
    contacts: Sequence[Row[Any]] = ()
    dials = row.status == "active" and not row.contact_changes and numbers and next_ms is not None
    dials = dials and room.most and dial_from_ms <= now_ms
    if dials and (row.end_at is None or now_ms < row.end_at):
        until_ms = pace.due_until_ms(rules, now_ms)
        most = most_calls + look_ahead
        contacts = due(connection, row, until_ms, most, clock_ms=now_ms, now_ms=service_ms)
    return Round(
        rules,
        now_ms,
        contacts,
        calls_to(
            connection,
            row.org_id,
            [contact.phone for contact in contacts],
            simulated=row.simulated,
            since_ms=now_ms - longest_memory_ms(rules.regions),
        ),
        CallerIds.read(connection, numbers, now_ms, most_calls if contacts else 0),
        pace.channel_free_at(row, most_calls)[-max(1, room.lines) :],
        most_calls,
        room.reason,
        room.is_waiting and next_ms is not None,
        dial_from_ms,
        next_ms,
        () if pace.jumps else connection.execute(_HANG_UPS, {"id": deployment_id}).scalars().all(),
    )
