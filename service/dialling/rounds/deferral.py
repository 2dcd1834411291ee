"""Defers contacts whom a rule forbids to call now, many in a transaction.

In the evening of a large campaign nobody who waits may be called any more. A round reads a few hundred of them with all
that a call needs; here they are read with what the gate needs.
"""

from collections import defaultdict
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, Select, bindparam, select, tuple_, update

from callwright.service.dialling.eligibility import reasons
from callwright.service.dialling.eligibility.attempts import calls_to, longest_memory_ms
from callwright.service.dialling.eligibility.consent import ConsentColumns, consent_columns
from callwright.service.dialling.eligibility.evidence import Decided, keep_history
from callwright.service.dialling.eligibility.gate import Allowed, Deferred, gate
from callwright.service.dialling.leases import mine, until
from callwright.service.dialling.queue import WAITING, Rules
from callwright.service.platform.ids import Ids
from callwright.service.tables import rules_files
from callwright.service.tables.schema import audience_rows, deployment_contacts, deployments

_K, _R = deployment_contacts.c, audience_rows.c
AT_ONCE = 500
"""Contacts that are read in one transaction."""
PIECES = 10
"""Transactions between two rounds."""


class Place(NamedTuple):
    """A place in the order in which contacts are due."""

    next_ms: int
    position: int


BEFORE_ALL = Place(-1, -1)
_DEFER = (
    update(deployment_contacts)
    .where(_K.deployment_id == bindparam("b_deployment"), _K.id.in_(bindparam("b_ids", expanding=True)), WAITING)
    .values(next_at=bindparam("b_next"), decided_by=bindparam("b_rule"), decided_at=bindparam("b_at"))
    .returning(_K.id)
)


@lru_cache(maxsize=256)
def _due(asked: ConsentColumns, simulated: bool) -> Select[*tuple[Any, ...]]:
    return (
        select(
            *(_K.id, _K.phone, _K.position, _K.due_at, _K.next_at, _K.decided_by, _R.timezone, _R.cells),
            reasons.why_not_by_params(asked, simulated).label("blocked"),
        )
        .outerjoin(audience_rows, _R.id == _K.id)
        .where(_K.deployment_id == bindparam("id"), WAITING, _K.next_at <= bindparam("until"))
        .where(tuple_(_K.next_at, _K.position) > tuple_(bindparam("next_ms"), bindparam("position")))
        .order_by(_K.next_at, _K.position)
        .limit(AT_ONCE)
    )


def defer_due(
    connection: Connection,
    ids: Ids,
    rules: Rules,
    at_ms: int,
    after: Place,
    *,
    owner: str,
    now_ms: int,
    lease_until_ms: int,
) -> Place | None:
    """Defers those of the next contacts that are due at a moment and may not be called then.

    Returns the place of the last contact that was read; None if one of them may be called, or nobody is left. Those who
    are never called are left to the next round. The lease is renewed.

    Raises:
        LeaseLost: another process drives the deployment.
    """
    row: Row[Any] = mine(connection, rules.row.id, owner)
    is_past_end = row.end_at is not None and at_ms >= row.end_at
    if row.status != "active" or row.contact_changes or is_past_end:
        return None
    if rules_files.are_older(connection, row.rules_version):
        return None
    current = Rules.of(connection, row, rules.agent)
    given = {"id": row.id, "until": at_ms, **after._asdict(), **reasons.why_not_params(row, now_ms)}
    contacts = connection.execute(_due(consent_columns(connection, row), row.simulated), given).all()
    past = calls_to(
        connection,
        row.org_id,
        [contact.phone for contact in contacts],
        simulated=row.simulated,
        since_ms=at_ms - longest_memory_ms(current.regions),
    )
    deferred = defaultdict[Deferred, list[Row[Any]]](list)
    is_last = len(contacts) < AT_ONCE
    for contact in contacts:
        decision = gate(current.candidate(contact, contact.blocked, past), at_ms)
        if isinstance(decision, Deferred) and contact.due_at is not None:
            deferred[decision].append(contact)
        elif isinstance(decision, Allowed):
            is_last = True
    decided: list[Decided] = []
    for decision, these in deferred.items():
        new = {"b_next": decision.until_ms, "b_rule": decision.rule, "b_at": row.clock_ms}
        which = {"b_deployment": row.id, "b_ids": [contact.id for contact in these]}
        done = set(connection.execute(_DEFER, which | new).scalars())
        decided += (Decided(one.id, decision, one.decided_by) for one in these if one.id in done)
    keep_history(connection, ids, row.id, decided, at_ms=row.clock_ms, rules_version=current.regions.version)
    renewed = until(connection, now_ms, lease_until_ms)
    connection.execute(update(deployments).where(deployments.c.id == row.id).values(lease_until=renewed))
    return None if is_last else Place(contacts[-1].next_at, contacts[-1].position)
