"""Moments that were written while the clock was ahead, and lie further in the future than anything can that is right.

Left alone, whatever waits for them would stand still until the clock gets there once more. Nothing is lost by making
it due now: a retry comes early, and a lease that is cut is its holder's as long as that renews it.
"""

from dataclasses import dataclass

from sqlalchemy import (
    BigInteger,
    BindParameter,
    Column,
    ColumnElement,
    Connection,
    Table,
    bindparam,
    literal,
    literal_column,
    update,
)

from callwright.service.platform.clock.clock import MINUTE
from callwright.service.platform.database.concurrency import moment_of
from callwright.service.settings import ServiceSettings
from callwright.service.tables.schema import deliveries, deployments, imports, webhook_lanes

LONGEST_RETRY_MS = 10 * MINUTE
"""Longer than any delivery waits for its next attempt."""
EVERY_S = 20.0
"""Between two looks for such moments."""
SLACK_MS = MINUTE
"""How far the clocks of several processes may be apart."""
_NOW: BindParameter[int] = bindparam("b_now")
_BEYOND: BindParameter[int] = bindparam("b_beyond")
_PENDING: ColumnElement[bool] = literal_column("deliveries.status = 'pending'")
_ATTEMPTS = update(deliveries).where(_PENDING, deliveries.c.next_attempt_at > _BEYOND).values(next_attempt_at=_NOW)
_LANES = update(webhook_lanes).where(webhook_lanes.c.due_at > _BEYOND).values(due_at=_NOW)


@dataclass(frozen=True)
class _Lease:
    table: Table
    until: Column[int]
    is_by_database: bool
    """Whether it goes by the database's clock, where that is another one."""

    def cut(self, connection: Connection, now_ms: int, lease_ms: int) -> None:
        """No lease lasts longer than from now on."""
        at_ms = moment_of(connection, now_ms) if self.is_by_database else literal(now_ms, BigInteger)
        latest = update(self.table).where(self.until > at_ms + (lease_ms + SLACK_MS))
        connection.execute(latest.values(lease_until=at_ms + lease_ms))


_DRIVERS = (_Lease(deployments, deployments.c.lease_until, True), _Lease(imports, imports.c.lease_until, True))
_SENDERS = _Lease(webhook_lanes, webhook_lanes.c.lease_until, False)


def correct(connection: Connection, settings: ServiceSettings, now_ms: int) -> None:
    """Brings what lies too far in the future back to now."""
    retries = {"b_beyond": now_ms + LONGEST_RETRY_MS, "b_now": now_ms}
    for lease in _DRIVERS:
        lease.cut(connection, now_ms, settings.deployment_lease_ms)
    # Lanes before their deliveries, as whoever holds one locks them.
    _SENDERS.cut(connection, now_ms, settings.delivery_lease_ms)
    connection.execute(_LANES, retries)
    connection.execute(_ATTEMPTS, retries)
