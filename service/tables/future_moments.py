"""Moments that were written while the clock was ahead, and lie further in the future than anything can that is right.

Left alone, whatever waits for them would stand still until the clock gets there once more. Nothing is lost by making
it due now: a retry comes early, and a lease that is cut is its holder's as long as that renews it.
"""

from sqlalchemy import BindParameter, ColumnElement, Connection, bindparam, literal_column, update

from callwright.service.platform.clock.clock import MINUTE
from callwright.service.settings import ServiceSettings
from callwright.service.tables.schema import deliveries, endpoint_queues
from callwright.service.tables.schema.leases import DEPLOYMENTS, ENDPOINT_QUEUES, IMPORTS

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
_QUEUES = update(endpoint_queues).where(endpoint_queues.c.due_at > _BEYOND).values(due_at=_NOW)


def correct(connection: Connection, settings: ServiceSettings, now_ms: int) -> None:
    """Brings what lies too far in the future back to now."""
    retries = {"b_beyond": now_ms + LONGEST_RETRY_MS, "b_now": now_ms}
    for lease in (DEPLOYMENTS, IMPORTS):
        lease.shorten(connection, now_ms, settings.deployment_lease_ms, SLACK_MS)
    # Endpoint queues before their deliveries, as whoever holds one locks them.
    ENDPOINT_QUEUES.shorten(connection, now_ms, settings.delivery_lease_ms, SLACK_MS)
    connection.execute(_QUEUES, retries)
    connection.execute(_ATTEMPTS, retries)
