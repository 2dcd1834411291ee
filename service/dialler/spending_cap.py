"""What a personal key with a spending cap has committed, and whether it may commit more.

Committed is what its money could become in the worst case: for a deployment that it set going, what the budget cap left
when it did so, while the deployment can still spend, and the real spend once it has ended; for a number it has rented,
every month that was booked. A key answers for what it has spent even when another key has set the deployment going
again since.

What another key set going, a key with a cap may only make cheaper (`check_change`, `check_joining`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, bindparam, case, func, insert, select

from callwright.contract.problems import SPENDING_CAP_REACHED
from callwright.service.domain.deployment_states import TERMINAL
from callwright.service.domain.money import amount
from callwright.service.domain.refusals import Refusal
from callwright.service.storage.schema import api_keys, deployments, past_commitments, phone_numbers, transactions

_D, _N, _T, _P = deployments.c, phone_numbers.c, transactions.c, past_commitments.c
_CAP = select(api_keys.c.spending_cap_micros).where(api_keys.c.id == bindparam("key"))
_LOCK = _CAP.with_for_update()
_spent = _D.spend_micros + _D.reserved_micros
_STARTED = select(
    func.sum(
        case((_D.status.in_(TERMINAL), _spent), (_D.budget_cap_micros > _spent, _D.budget_cap_micros), else_=_spent)
        - _D.spend_before_micros
    ).label("micros"),
    func.min(case((_D.budget_cap_micros.is_(None) & _D.status.not_in(TERMINAL), _D.id))).label("unbounded"),
).where(_D.started_by_key_id == bindparam("key"), _D.id != bindparam("but"))
_PAST = select(func.sum(_P.micros)).where(_P.key_id == bindparam("key"))
_RENTED = (
    select(func.sum(-_T.amount_micros))
    .join(phone_numbers, _N.id == _T.reference_id)
    .where(_N.created_by_key_id == bindparam("key"), _T.type == "number_rental")
)
_CALLING = (
    select(deployments)
    .where(_D.audience_id == bindparam("audience"), _D.status.in_(("scheduled", "active", "paused")))
    .order_by(_D.id)
)
_COSTS_NOTHING = frozenset({"name", "metadata"})
_LESS_IS_FREE = frozenset({"max_concurrency", "calls_per_second"})
_BOUNDS = frozenset({"end_at", "budget_cap_micros"})
"""What ends a deployment, where it is set."""


@dataclass(frozen=True)
class Answerable:
    """The key that has to answer for what a unit of work makes happen. `cap_micros` is None where it has no cap."""

    key_id: str
    cap_micros: int | None


def answerable(connection: Connection, key_id: str | None) -> Answerable | None:
    """The key as it is now; None for no key. One with a cap is held until the end: take it before any other lock."""
    if key_id is None:
        return None
    capped = connection.execute(_CAP, {"key": key_id}).scalar() is not None
    return Answerable(key_id, connection.execute(_LOCK, {"key": key_id}).scalar() if capped else None)


def committed(connection: Connection, key_id: str, *, but: str = "") -> int:
    """Micros that a key has committed, leaving out the deployment `but`.

    Raises:
        Refusal: spending_cap_reached, when a deployment of the key has lost its budget cap and can still spend.
    """
    started = connection.execute(_STARTED, {"key": key_id, "but": but}).one()
    if started.unbounded is not None:
        message = f"deployment {started.unbounded}, started with this key, has no budget cap: nothing more is allowed"
        raise Refusal(SPENDING_CAP_REACHED, message)
    rented = connection.execute(_RENTED, {"key": key_id}).scalar()
    past = connection.execute(_PAST, {"key": key_id}).scalar()
    return int(started.micros or 0) + int(rented or 0) + int(past or 0)


def check(connection: Connection, by: Answerable, extra_micros: int, *, but: str = "") -> None:
    """Lets a key commit more, in the transaction that commits it. Nothing is checked without a cap.

    `but` is a deployment whose commitment `extra_micros` replaces. Two requests of one key wait for one another here,
    so that both together cannot go beyond the cap.

    Raises:
        Refusal: spending_cap_reached, with the amounts.
    """
    if by.cap_micros is None:
        return
    connection.execute(_LOCK, {"key": by.key_id})
    current = committed(connection, by.key_id, but=but)
    if current + extra_micros > by.cap_micros:
        message = f"this key may commit {amount(by.cap_micros)} USD, {amount(current)} of it is committed already"
        details = {"limit": amount(by.cap_micros), "current": amount(current), "required": amount(extra_micros)}
        raise Refusal(SPENDING_CAP_REACHED, message, details=details)


def check_deployment(connection: Connection, by: Answerable, row: Row[Any], budget_cap_micros: int | None) -> None:
    """Lets a key set a deployment going with this budget cap, or make one that it set going spend more.

    Raises:
        Refusal: spending_cap_reached, when there is no budget cap, or what it leaves goes beyond the key's cap.
    """
    if by.cap_micros is None:
        return
    if budget_cap_micros is None:
        message = "a key with a spending cap needs the deployment to have a budget_cap"
        raise _refused(by, message, "budget_cap")
    before = row.spend_before_micros if row.started_by_key_id == by.key_id else row.spend_micros
    worst = max(budget_cap_micros, row.spend_micros + row.reserved_micros)
    check(connection, by, worst - before, but=row.id)


def set_going(connection: Connection, by: Answerable, row: Row[Any], *, now_ms: int) -> dict[str, Any]:
    """The columns of a deployment by which a key answers for it from now on. What was spent stays with the one before.

    Raises:
        Refusal: spending_cap_reached, see `check_deployment`.
    """
    check_deployment(connection, by, row, row.budget_cap_micros)
    if row.started_by_key_id == by.key_id:
        return {}
    if row.started_by_key_id is not None:
        spent = row.spend_micros + row.reserved_micros - row.spend_before_micros
        past = {"key_id": row.started_by_key_id, "deployment_id": row.id, "micros": spent, "created_at": now_ms}
        connection.execute(insert(past_commitments), past)
    return {"started_by_key_id": by.key_id, "spend_before_micros": row.spend_micros}


def check_change(connection: Connection, by: Answerable, row: Row[Any], changes: Mapping[str, Any]) -> None:
    """Lets a key change a deployment that can spend. `changes` are columns with their new values.

    Raises:
        Refusal: spending_cap_reached, where it could spend more by it, and it lets callers in, was set going by another
            key, or goes beyond the key's cap.
    """
    if by.cap_micros is None or row.status == "draft":
        return
    field = next((name for name, value in changes.items() if _may_cost_more(name, value, row)), None)
    if field is None:
        return
    if row.call_type == "inbound":
        raise unbounded(by)
    if row.started_by_key_id != by.key_id:
        message = f"{field}: a key with a spending cap cannot make a deployment that another key started spend more"
        raise _refused(by, message, field)
    check_deployment(connection, by, row, changes.get("budget_cap_micros", row.budget_cap_micros))


def _may_cost_more(name: str, new: Any, row: Row[Any]) -> bool:
    """Whether a deployment could spend more by a change. What is not known to cost nothing may cost more."""
    if name in _COSTS_NOTHING:
        return False
    if row.call_type == "inbound":
        return True
    old = getattr(row, name)
    if name in _LESS_IS_FREE:
        return new > old
    if name in _BOUNDS:
        return old is not None and (new is None or new > old)
    return True


def check_joining(connection: Connection, by: Answerable, audience_id: str) -> None:
    """Lets a key add people to an audience: those who are added are called by whatever calls it already.

    Raises:
        Refusal: spending_cap_reached, when another key set such a deployment going, or it goes beyond the key's cap.
    """
    if by.cap_micros is None:
        return
    for row in connection.execute(_CALLING, {"audience": audience_id}).all():
        if row.started_by_key_id != by.key_id:
            message = f"deployment {row.id} calls the people of this audience and was started with another key; "
            raise _refused(by, f"{message}a key with a spending cap cannot add people to it", None)
        check_deployment(connection, by, row, row.budget_cap_micros)


def unbounded(by: Answerable) -> Refusal:
    """What lets callers in: nobody knows how many will call, and no budget cap ends it."""
    message = "calls that come in have no budget_cap, and a key with a spending cap may not let them in"
    return _refused(by, message, None)


def check_renewals(connection: Connection, by: Answerable, row: Row[Any]) -> None:
    """Lets a key have a number renewed every month from now on.

    Raises:
        Refusal: spending_cap_reached, when another key rented it, or the next month goes beyond the key's cap.
    """
    if by.cap_micros is None:
        return
    if row.created_by_key_id != by.key_id:
        message = "auto_renew: a key with a spending cap cannot renew a number that another key rented"
        raise _refused(by, message, "auto_renew")
    check(connection, by, row.monthly_micros)


def covers_renewal(connection: Connection, row: Row[Any]) -> bool:
    """Whether the key that wants a number renewed may commit another month of it. Take it before any other lock."""
    by = answerable(connection, row.renewed_by_key_id)
    if by is None:
        return True
    try:
        check(connection, by, row.monthly_micros)
    except Refusal:
        return False
    return True


def _refused(by: Answerable, message: str, field: str | None) -> Refusal:
    details = None if by.cap_micros is None else {"limit": amount(by.cap_micros)}
    return Refusal(SPENDING_CAP_REACHED, message, field=field, details=details)
