"""When waiting contacts are called after the rules of their deployment were changed.

Changed calling hours: every contact is due again when the retry policy says, and the driver defers those whom the new
hours forbid. Another address of the pre-dial check: the same, and it is asked about whom the former one declined. A
changed retry policy: the next attempt of a contact is decided again from its last call, for the first 2,000 contacts at
once and for the others by the driver.
"""

import json
from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, case, select, update

from callwright.contract.deployments.dialling import RetryPolicy
from callwright.service.dialling.eligibility.campaign_hours import CampaignHours
from callwright.service.dialling.eligibility.gate import CALLING_HOURS, NO_CONSENT
from callwright.service.dialling.eligibility.predial import PREDIAL_DECLINED
from callwright.service.dialling.leases import mine
from callwright.service.dialling.queue import FIND, WAITING, change_contacts
from callwright.service.platform.clock.clock import MINUTE
from callwright.service.rules.retry_policy import CALLBACK_MINUTES, Step, after_call
from callwright.service.tables.campaign_settings import settings_of
from callwright.service.tables.counters import moved
from callwright.service.tables.schema import audience_rows, calls, deployment_contacts, deployments

_C, _K, _R = calls.c, deployment_contacts.c, audience_rows.c
AT_ONCE = 2_000
"""Contacts decided in one transaction."""
_RETRYING = _K.status == "retry_waiting"
_UNDECIDED: Select[*tuple[Any, ...]] = (
    select(
        *(_K.id, _K.attempt_times, _K.phone, _R.timezone, _R.cells),
        *(_C.outcome, _C.disposition, _C.duration_ms, _C.ended_at, _C.callback_at),
    )
    .join(calls, _C.id == _K.last_call_id)
    .outerjoin(audience_rows, _R.id == _K.id)
    .where(_K.deployment_id == bindparam("id"), _RETRYING, _K.due_at.is_(None))
    .order_by(_K.position)
    .limit(AT_ONCE)
)


def rules_changed(connection: Connection, deployment_id: str, fields: Collection[str]) -> None:
    """Applies changed fields of a deployment that has started to its waiting contacts. The caller holds its lock."""
    row: Row[Any] = connection.execute(FIND, {"id": deployment_id}).one()
    if row.started_at is None:
        return
    own = update(deployment_contacts).where(_K.deployment_id == row.id)
    freed: list[str] = [CALLING_HOURS] * ("calling_hours" in fields)
    freed += [NO_CONSENT] * ("compliance" in fields)
    freed += [PREDIAL_DECLINED] * ("predial_check_url" in fields)
    if freed:
        _free(connection, row, freed)
    if "calling_hours" in fields or "predial_check_url" in fields:
        connection.execute(own.where(WAITING, _K.next_at > _K.due_at).values(next_at=_K.due_at))
    if "retry_policy" in fields:
        soon = case((_K.next_at < row.clock_ms, _K.next_at), else_=row.clock_ms)
        connection.execute(own.where(_RETRYING).values(due_at=None, next_at=soon))
    _decide(connection, deployment_id)


def _free(connection: Connection, row: Row[Any], reasons: Collection[str]) -> None:
    """Makes contacts that were suppressed for these reasons wait again. If a reason still holds, the claim finds it."""
    states: str = row.states
    for status, is_one, due_ms in (
        ("pending", _K.attempts == 0, row.clock_ms),
        ("retry_waiting", _K.attempts > 0, None),
    ):
        count = connection.execute(
            update(deployment_contacts)
            .where(_K.deployment_id == row.id, _K.status == "suppressed", _K.status_reason.in_(reasons), is_one)
            .values(status=status, status_reason=None, due_at=due_ms, next_at=row.clock_ms)
        ).rowcount
        states = moved(states, [("suppressed", status)] * count)
    connection.execute(update(deployments).where(deployments.c.id == row.id).values(states=states))


def decide(connection: Connection, deployment_id: str, *, owner: str) -> None:
    """Decides when contacts are called again after a change of the retry policy, at most 2,000 that are undecided.

    Raises:
        LeaseLost: another process drives the deployment.
    """
    mine(connection, deployment_id, owner)
    _decide(connection, deployment_id)


def _decide(connection: Connection, deployment_id: str) -> None:
    found = connection.execute(_UNDECIDED, {"id": deployment_id}).all()
    if not found:
        return
    row: Row[Any] = connection.execute(FIND, {"id": deployment_id}).one()
    policy = settings_of(row).retry_policy
    hours = CampaignHours.of(connection, row)

    def zone(contact: Row[Any]) -> str:
        return (
            hours.of_person(contact.phone, contact.timezone, contact.cells).place.zone if policy.parts_of_day else "UTC"
        )

    steps = [(contact.id, _step(policy, contact, zone(contact))) for contact in found]
    changes = {
        name: {"status": step.state, "status_reason": step.reason, "due_at": step.due_ms, "next_at": step.due_ms}
        for name, step in steps
    }
    change_contacts(connection, deployment_id, changes)
    states = moved(row.states, [("retry_waiting", step.state) for _, step in steps])
    connection.execute(update(deployments).where(deployments.c.id == deployment_id).values(states=states))


def _step(policy: RetryPolicy, contact: Row[Any], zone: str) -> Step:
    """The contact's next step after its last call, by the current policy."""
    callback_ms: int | None = contact.callback_at
    if callback_ms is not None:
        callback_ms = max(callback_ms, contact.ended_at + CALLBACK_MINUTES * MINUTE)
    return after_call(
        policy,
        outcome=contact.outcome,
        disposition=contact.disposition,
        duration_s=contact.duration_ms / 1_000,
        attempt_times_ms=json.loads(contact.attempt_times),
        ended_ms=contact.ended_at,
        callback_ms=callback_ms,
        zone=zone,
    )
