"""How a deployment ends or pauses: completed, at its end, failed, cancelled, or out of money."""

import json
from collections import Counter
from typing import Any

from sqlalchemy import Connection, Row, bindparam, select, update

from callwright.contract.declaration.model import Resource
from callwright.contract.deployments.contacts import Stats
from callwright.contract.events import (
    DEPLOYMENT_AUDIENCE_EXHAUSTED,
    DEPLOYMENT_COMPLETED,
    DEPLOYMENT_FAILED,
    DEPLOYMENT_PAUSED,
    AudienceExhausted,
    DeploymentCompleted,
    DeploymentFailed,
    DeploymentPaused,
    EventType,
)
from callwright.service.accounts.principals import SERVICE
from callwright.service.dialling.dropped_contacts import drop_waiting
from callwright.service.dialling.leases import mine
from callwright.service.dialling.queue import FIND, soonest
from callwright.service.platform.clock.clock import HOUR, moment, moment_or_none
from callwright.service.platform.ids import Ids
from callwright.service.platform.money import money
from callwright.service.tables import audit_log, outbox
from callwright.service.tables.counters import CONTACT_COUNTERS, MACHINES, REACHED, moved, stats_of
from callwright.service.tables.schema import calls, deployment_contacts, deployments

_D, _K, _C = deployments.c, deployment_contacts.c, calls.c
UNCONFIRMED_CALLS = "unconfirmed_calls"
"""Why a deployment pauses that has nobody left to call but those of whom nobody knows whether their telephone rang."""
TALK_ENDED = "talk_ended"
"""Why the deployment of a talk in the browser is completed."""
_LONGEST_CALL_MS = 2 * HOUR
"""More than a call can last, with its ringing."""
_FORMER = calls.alias("former")
_ENDED_LATER = (
    select(
        _C.outcome,
        _C.disposition,
        _C.cost_micros,
        _K.status.label("contact_status"),
        _FORMER.c.outcome.label("former_outcome"),
    )
    .outerjoin(
        _FORMER,
        (_FORMER.c.contact_id == _C.contact_id)
        & (_FORMER.c.deployment_id == _C.deployment_id)
        & (_FORMER.c.attempt_number == _C.attempt_number - 1),
    )
    .join(deployment_contacts, (_K.deployment_id == _C.deployment_id) & (_K.id == _C.contact_id))
    .where(_C.deployment_id == bindparam("id"), _C.created_at >= bindparam("since"), _C.ended_at > bindparam("at"))
)


def _emit(connection: Connection, ids: Ids, row: Row[Any], type_: EventType, data: Resource, at_ms: int) -> None:
    outbox.emit(connection, ids, row.org_id, type_, data, at_ms=at_ms, simulated=row.simulated)


def _audit(connection: Connection, ids: Ids, row: Row[Any], action: str, reason: str, now_ms: int) -> None:
    entry = audit_log.entry_row(ids, row.org_id, action, row.id, by=SERVICE, at_ms=now_ms, changes={"reason": reason})
    audit_log.add_entries(connection, [entry])


def complete(connection: Connection, ids: Ids, deployment_id: str, *, owner: str, now_ms: int) -> bool:
    """Completes a deployment with nobody left to call and no call under way; false if there is somebody after all.

    While contacts are held it pauses instead: a person may say that they are still to be called.
    """
    row: Row[Any] = mine(connection, deployment_id, owner)
    if row.status != "active" or row.in_flight or soonest(connection, deployment_id) is not None:
        return False
    if stats_of(row).held:
        pause_holding_lock(connection, ids, row, UNCONFIRMED_CALLS, now_ms=now_ms)
        return True
    if row.call_type == "web":
        _end(connection, ids, row, "completed", TALK_ENDED, _last_end_ms(row), now_ms)
        return True
    _exhaust(connection, ids, row, now_ms)
    return True


def complete_resolved(connection: Connection, ids: Ids, deployment_id: str, *, now_ms: int) -> None:
    """Completes a deployment that paused for its held contacts alone, once the last of them is decided and nobody is
    to be called again. The caller holds its lock.
    """
    row: Row[Any] = connection.execute(FIND, {"id": deployment_id}).one()
    waited = (row.status, row.status_reason) == ("paused", UNCONFIRMED_CALLS)
    if not waited or row.in_flight or stats_of(row).held or soonest(connection, deployment_id) is not None:
        return
    _exhaust(connection, ids, row, now_ms)


def _exhaust(connection: Connection, ids: Ids, row: Row[Any], now_ms: int) -> None:
    """Completes a deployment that has nobody left to call."""
    at_ms = _last_end_ms(row)
    exhausted_ms = row.last_dial_ms or at_ms
    exhausted = AudienceExhausted(
        deployment_id=row.id,
        audience_id=row.audience_id,
        stats=_stats_at(connection, row, exhausted_ms),
        simulated=row.simulated,
    )
    _emit(connection, ids, row, DEPLOYMENT_AUDIENCE_EXHAUSTED, exhausted, exhausted_ms)
    _end(connection, ids, row, "completed", "audience_exhausted", at_ms, now_ms)


def _stats_at(connection: Connection, row: Row[Any], last_dial_ms: int) -> Stats:
    """The statistics at the time of the last dial. Calls that ended later count as under way."""
    given = {"id": row.id, "since": last_dial_ms - _LONGEST_CALL_MS, "at": last_dial_ms}
    late = connection.execute(_ENDED_LATER, given).all()
    final = stats_of(row)
    now: dict[str, Any] = {name: getattr(final, name) for name in CONTACT_COUNTERS}
    for call in late:
        now[call.contact_status] -= 1
    now["in_flight"] += len(late)
    earlier = [(call.outcome, call.former_outcome) for call in late]
    outcomes = Counter(final.outcomes) - Counter(call.outcome for call in late)
    dispositions = Counter(final.dispositions) - Counter(call.disposition for call in late if call.disposition)
    return final.model_copy(
        update={
            **now,
            "answered": final.answered - sum(call.outcome in REACHED for call in late),
            "voicemail": final.voicemail - sum(call.outcome in MACHINES for call in late),
            "outcomes": dict(outcomes),
            "dispositions": dict(dispositions),
            "last_outcomes": json.loads(moved(row.last_outcomes, earlier)),
            "spend": money(row.spend_micros - sum(call.cost_micros or 0 for call in late)),
        }
    )


def complete_at_end(connection: Connection, ids: Ids, deployment_id: str, *, owner: str, now_ms: int) -> bool:
    """Completes a deployment whose end has passed. Its waiting contacts expire."""
    row: Row[Any] = mine(connection, deployment_id, owner)
    if row.status != "active" or row.in_flight:
        return False
    dropped = drop_waiting(connection, row, "expiring")
    connection.execute(update(deployments).where(_D.id == row.id).values(**dropped))
    row = connection.execute(FIND, {"id": deployment_id}).one()
    _end(connection, ids, row, "completed", "end_reached", max(row.clock_ms, row.end_at), now_ms)
    return True


def fail(connection: Connection, ids: Ids, deployment_id: str, reason: str, *, owner: str, now_ms: int) -> None:
    """Ends a deployment that cannot go on, for example because it has no number any more."""
    row: Row[Any] = mine(connection, deployment_id, owner)
    if row.status == "active" and not row.in_flight:
        _end(connection, ids, row, "failed", reason, row.clock_ms, now_ms)


def fail_without_number(connection: Connection, ids: Ids, row: Row[Any], *, now_ms: int) -> None:
    """Ends an inbound deployment whose number is not rented any more; the caller holds its lock."""
    _end(connection, ids, row, "failed", "no_phone_number", now_ms, now_ms)


def _end(connection: Connection, ids: Ids, row: Row[Any], status: str, reason: str, at_ms: int, now_ms: int) -> None:
    connection.execute(
        update(deployments)
        .where(_D.id == row.id)
        .values(
            status=status,
            status_reason=reason,
            status_changed_at=now_ms,
            updated_at=now_ms,
            completed_at=at_ms,
            clock_ms=at_ms,
            lease_owner=None,
            lease_until=None,
        )
    )
    _emit_end(connection, ids, row, status, reason, at_ms)
    _audit(connection, ids, row, f"deployment.{status}", reason, now_ms)


def finish_cancelled(connection: Connection, ids: Ids, deployment_id: str) -> None:
    """Emits the event of a cancelled deployment once its last call has ended; until then does nothing.

    It is called when a deployment is cancelled and when a call of it ends later. The caller holds its lock.
    """
    row: Row[Any] = connection.execute(FIND, {"id": deployment_id}).one()
    if row.status != "cancelled" or row.in_flight:
        return
    at_ms = max(row.completed_at, _last_end_ms(row))
    connection.execute(update(deployments).where(_D.id == row.id).values(completed_at=at_ms))
    _emit_end(connection, ids, row, row.status, row.status_reason, at_ms)


def _last_end_ms(row: Row[Any]) -> int:
    """When, on the deployment's clock, its last call had ended."""
    return max(row.clock_ms or 0, *json.loads(row.channel_free_at), 0)


def _emit_end(connection: Connection, ids: Ids, row: Row[Any], status: str, reason: str | None, at_ms: int) -> None:
    """Emits the event of the end, deployment.failed or deployment.completed."""
    given: dict[str, Any] = {
        "deployment_id": row.id,
        "status": status,
        "status_reason": reason,
        "stats": stats_of(row),
        "started_at": moment_or_none(row.started_at),
        "simulated": row.simulated,
    }
    if status == "failed":
        type_, data = DEPLOYMENT_FAILED, DeploymentFailed(**given, failed_at=moment(at_ms))
    else:
        type_, data = DEPLOYMENT_COMPLETED, DeploymentCompleted(**given, completed_at=moment(at_ms))
    _emit(connection, ids, row, type_, data, at_ms)


def pause(connection: Connection, ids: Ids, deployment_id: str, reason: str, *, owner: str, now_ms: int) -> None:
    """Pauses an active deployment on behalf of the service, for example when its budget is used up."""
    row: Row[Any] = mine(connection, deployment_id, owner)
    if row.status == "active":
        pause_holding_lock(connection, ids, row, reason, now_ms=now_ms)


def pause_holding_lock(connection: Connection, ids: Ids, row: Row[Any], reason: str, *, now_ms: int) -> None:
    """Pauses an active or scheduled deployment, whichever process drives it. The caller holds its lock."""
    connection.execute(
        update(deployments)
        .where(_D.id == row.id)
        .values(status="paused", status_reason=reason, status_changed_at=now_ms, updated_at=now_ms)
    )
    data = DeploymentPaused(deployment_id=row.id, reason=reason, simulated=row.simulated)
    _emit(connection, ids, row, DEPLOYMENT_PAUSED, data, now_ms)
    _audit(connection, ids, row, "deployment.paused", reason, now_ms)
