"""Deciding anew when people are called who wait, once the rules that had decided it were changed.

A change of the calling hours makes everybody due again from the moment the retry policy allows, and the driver puts off
whom the new hours forbid. A change of the retry policy leaves open when the next attempt is due; it is decided by the
last call, at once for the first few thousand people, by the driver for more.
"""

import json
from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, case, select, update

from callwright.contract.deployments.dialling import RetryPolicy
from callwright.service.dialling.eligibility.gate import CALLING_HOURS, NO_CONSENT
from callwright.service.dialling.leases import mine
from callwright.service.dialling.queue import FIND, WAITING
from callwright.service.platform.clock.clock import MINUTE
from callwright.service.rules.retries import CALLBACK_MINUTES, Step, after_call
from callwright.service.tables.campaign_settings import settings_of
from callwright.service.tables.counters import moved
from callwright.service.tables.schema import calls, deployment_contacts, deployments

_C, _K = calls.c, deployment_contacts.c
AT_ONCE = 2_000
"""People decided about in one transaction."""
_RETRYING = _K.status == "retry_waiting"
_UNDECIDED: Select[*tuple[Any, ...]] = (
    select(
        *(_K.id, _K.attempt_times),
        *(_C.outcome, _C.disposition, _C.duration_ms, _C.ended_at, _C.callback_at),
    )
    .join(calls, _C.id == _K.last_call_id)
    .where(_K.deployment_id == bindparam("id"), _RETRYING, _K.due_at.is_(None))
    .order_by(_K.position)
    .limit(AT_ONCE)
)
_DECIDE = (
    update(deployment_contacts)
    .where(_K.deployment_id == bindparam("b_deployment"), _K.id == bindparam("b_id"))
    .values(status=bindparam("b_status"), due_at=bindparam("b_due"), next_at=bindparam("b_due"))
)


def rules_changed(connection: Connection, deployment_id: str, fields: Collection[str]) -> None:
    """Lets changed fields of a deployment that has started hold for everybody who waits. The caller holds its lock."""
    row: Row[Any] = connection.execute(FIND, {"id": deployment_id}).one()
    if row.started_at is None:
        return
    own = update(deployment_contacts).where(_K.deployment_id == row.id)
    freed = [CALLING_HOURS] * ("calling_hours" in fields)
    freed += [NO_CONSENT] * ("compliance" in fields)
    if freed:
        _free(connection, row, freed)
    if "calling_hours" in fields:
        connection.execute(own.where(WAITING, _K.next_at > _K.due_at).values(next_at=_K.due_at))
    if "retry_policy" in fields:
        soon = case((_K.next_at < row.clock_ms, _K.next_at), else_=row.clock_ms)
        connection.execute(own.where(_RETRYING).values(due_at=None, next_at=soon))
    _decide(connection, deployment_id)


def _free(connection: Connection, row: Row[Any], reasons: Collection[str]) -> None:
    """Lets people wait again who were suppressed for these reasons; if one still holds, the claim suppresses them."""
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
    """Decides when the next attempt of people is due of whom that is open, a few thousand at a time.

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
    steps = [(contact.id, _step(policy, contact)) for contact in found]
    own = {"b_deployment": deployment_id}
    connection.execute(
        _DECIDE, [{**own, "b_id": name, "b_status": step.state, "b_due": step.due_ms} for name, step in steps]
    )
    states = moved(row.states, [("retry_waiting", step.state) for _, step in steps])
    connection.execute(update(deployments).where(deployments.c.id == deployment_id).values(states=states))


def _step(policy: RetryPolicy, contact: Row[Any]) -> Step:
    """The step after the contact's last call, by the policy as it is now."""
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
    )
