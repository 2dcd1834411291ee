"""Corrects times that were stored while the clock was ahead and are further in the future than a right time can be.

Otherwise everything that waits for them would stand still until the clock reaches them again. Making them due now is
harmless: a retry comes early, and a holder keeps a shortened lease as long as it renews it.
"""

from sqlalchemy import BindParameter, ColumnElement, Connection, bindparam, literal_column, update

from callwright.service.platform.clock.clock import MINUTE
from callwright.service.settings import ServiceSettings
from callwright.service.tables.schema import deliveries, endpoint_queues
from callwright.service.tables.schema.leases import DEPLOYMENTS, ENDPOINT_QUEUES, IMPORTS

LONGEST_RETRY_MS = 10 * MINUTE
"""Longer than any delivery waits for its next attempt."""
EVERY_S = 20.0
"""Seconds between two checks for such times."""
SLACK_MS = MINUTE
"""How far the clocks of processes may differ."""
_NOW: BindParameter[int] = bindparam("b_now")
_BEYOND: BindParameter[int] = bindparam("b_beyond")
_PENDING: ColumnElement[bool] = literal_column("deliveries.status = 'pending'")
_ATTEMPTS = update(deliveries).where(_PENDING, deliveries.c.next_attempt_at > _BEYOND).values(next_attempt_at=_NOW)
_QUEUES = update(endpoint_queues).where(endpoint_queues.c.due_at > _BEYOND).values(due_at=_NOW)


def correct(connection: Connection, settings: ServiceSettings, now_ms: int) -> None:
    """Makes deliveries and queues that are due too far in the future due now, and shortens leases that are too long."""
    retries = {"b_beyond": now_ms + LONGEST_RETRY_MS, "b_now": now_ms}
    for lease in (DEPLOYMENTS, IMPORTS):
        lease.shorten(connection, now_ms, settings.deployment_lease_ms, SLACK_MS)
    # Endpoint queues before their deliveries, in the order in which their holders lock them.
    ENDPOINT_QUEUES.shorten(connection, now_ms, settings.delivery_lease_ms, SLACK_MS)
    connection.execute(_QUEUES, retries)
    connection.execute(_ATTEMPTS, retries)
