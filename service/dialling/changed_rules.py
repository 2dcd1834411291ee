"""When waiting contacts are called after the rules of their deployment were changed.

Changed calling hours: every contact is due again when the retry policy says, and the driver defers those whom the new
hours forbid. Another address of the pre-dial check: the same, and it is asked about whom the former one declined. A
changed retry policy: the next attempt of a contact is decided again from its last call.

Of a large campaign the contacts follow in pieces, so that others need not wait for one transaction: `changed_fields` of
the deployment names what has changed, `contacts_changed` the position from which contacts still go by what was before.
Nobody is called until the last one follows.
"""

import json
from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, Row, Select, Update, bindparam, case, func, select, update

from callwright.contract.deployments.dialling import RetryPolicy
from callwright.service.dialling.eligibility.campaign_hours import CampaignHours
from callwright.service.dialling.eligibility.gate import CALLING_HOURS, NO_CONSENT
from callwright.service.dialling.eligibility.predial import PREDIAL_DECLINED
from callwright.service.dialling.leases import mine
from callwright.service.dialling.queue import FIND, WAITING, change_contacts
from callwright.service.platform.clock.clock import MINUTE
from callwright.service.platform.database.units import ROWS_AT_ONCE
from callwright.service.platform.json_text import json_text
from callwright.service.rules.retry_policy import CALLBACK_MINUTES, Step, after_call
from callwright.service.tables.campaign_settings import settings_of
from callwright.service.tables.counters import moved
from callwright.service.tables.schema import audience_rows, calls, deployment_contacts, deployments

_C, _K, _R = calls.c, deployment_contacts.c, audience_rows.c
AT_ONCE = 1_000
"""Contacts that follow in one transaction of a large change, and that are decided in one."""
FOLLOWED = ("calling_hours", "compliance", "predial_check_url", "retry_policy")
"""The fields of which a change is followed by contacts."""
_COUNTED = ("pending", "retry_waiting", "suppressed")
NOTHING_CHANGES: dict[str, None] = {"contact_changes": None, "changed_fields": None, "contacts_changed": None}
"""The columns of a deployment whose contacts all go by what holds now."""
_RETRYING = _K.status == "retry_waiting"
_LAST = select(func.max(_K.position)).where(_K.deployment_id == bindparam("id"))
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
    """Applies changed fields of a deployment that has started to its waiting contacts. The caller holds its lock.

    Many contacts follow in pieces, by `change_piece`, and so do those of a campaign whose contacts are being added.
    """
    row: Row[Any] = connection.execute(FIND, {"id": deployment_id}).one()
    followed = {name for name in FOLLOWED if name in fields}
    if row.started_at is None or not followed:
        return
    states: dict[str, int] = json.loads(row.states)
    if row.contact_changes is None and sum(states.get(name, 0) for name in _COUNTED) <= ROWS_AT_ONCE:
        _follow(connection, row, followed)
        return
    still = followed | set(json.loads(row.changed_fields or "[]"))
    connection.execute(
        update(deployments)
        .where(deployments.c.id == row.id)
        .values(
            contact_changes=row.contact_changes or "rescheduling",
            changed_fields=json_text(sorted(still)),
            contacts_changed=0,
        )
    )


def change_piece(connection: Connection, row: Row[Any]) -> bool:
    """Has the next contacts of a deployment that is `rescheduling` follow its changed fields; true if they were the
    last ones and it is to be dialled. The caller has locked it."""
    begin: int = row.contacts_changed
    _follow(connection, row, json.loads(row.changed_fields), begin, begin + AT_ONCE)
    last: int | None = connection.execute(_LAST, {"id": row.id}).scalar()
    is_last = last is None or begin + AT_ONCE > last
    values = NOTHING_CHANGES if is_last else {"contacts_changed": begin + AT_ONCE}
    connection.execute(update(deployments).where(deployments.c.id == row.id).values(**values))
    return is_last and row.status == "active"


def _follow(
    connection: Connection, row: Row[Any], fields: Collection[str], begin: int = 0, end: int | None = None
) -> None:
    """The contacts in a range of positions follow changed fields."""
    these = [_K.deployment_id == row.id]
    if end is not None:
        these += [_K.position >= begin, _K.position < end]
    own = update(deployment_contacts).where(*these)
    freed: list[str] = [CALLING_HOURS] * ("calling_hours" in fields)
    freed += [NO_CONSENT] * ("compliance" in fields)
    freed += [PREDIAL_DECLINED] * ("predial_check_url" in fields)
    if freed:
        _free(connection, row, freed, own)
    if "calling_hours" in fields or "predial_check_url" in fields:
        connection.execute(own.where(WAITING, _K.next_at > _K.due_at).values(next_at=_K.due_at))
    if "retry_policy" in fields:
        soon = case((_K.next_at < row.clock_ms, _K.next_at), else_=row.clock_ms)
        connection.execute(own.where(_RETRYING).values(due_at=None, next_at=soon))
    _decide(connection, row.id)


def _free(connection: Connection, row: Row[Any], reasons: Collection[str], own: Update) -> None:
    """Makes contacts that were suppressed for these reasons wait again. If a reason still holds, the claim finds it."""
    states: str = row.states
    for status, is_one, due_ms in (
        ("pending", _K.attempts == 0, row.clock_ms),
        ("retry_waiting", _K.attempts > 0, None),
    ):
        count = connection.execute(
            own.where(_K.status == "suppressed", _K.status_reason.in_(reasons), is_one).values(
                status=status, status_reason=None, due_at=due_ms, next_at=row.clock_ms
            )
        ).rowcount
        states = moved(states, [("suppressed", status)] * count)
    connection.execute(update(deployments).where(deployments.c.id == row.id).values(states=states))


def decide(connection: Connection, deployment_id: str, *, owner: str) -> None:
    """Decides when contacts are called again after a change of the retry policy, some at once.

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
