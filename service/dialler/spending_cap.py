"""What a personal key with a spending cap has committed, and whether it may commit more.

Committed is what its money could become in the worst case: for a deployment it has started, the budget cap while it can
still spend and the real spend once it has ended; for a number it has rented, every month that was booked. A month costs
the key nothing before it is booked: who turns automatic renewal on checks that month's price first.
"""

from typing import Any

from sqlalchemy import Connection, Row, bindparam, case, func, select

from callwright.contract.problems import SPENDING_CAP_REACHED
from callwright.service.domain.deployment_states import TERMINAL
from callwright.service.domain.money import amount
from callwright.service.domain.refusals import Refusal
from callwright.service.storage.schema import api_keys, deployments, phone_numbers, transactions

_D, _N, _T = deployments.c, phone_numbers.c, transactions.c
_LOCK = select(api_keys.c.id).where(api_keys.c.id == bindparam("key")).with_for_update()
_spent = _D.spend_micros + _D.reserved_micros
_STARTED = select(
    func.sum(
        case((_D.status.in_(TERMINAL), _spent), (_D.budget_cap_micros > _spent, _D.budget_cap_micros), else_=_spent)
    ).label("micros"),
    func.min(case((_D.budget_cap_micros.is_(None) & _D.status.not_in(TERMINAL), _D.id))).label("unbounded"),
).where(_D.started_by_key_id == bindparam("key"), _D.id != bindparam("but"))
_RENTED = (
    select(func.sum(-_T.amount_micros))
    .join(phone_numbers, _N.id == _T.reference_id)
    .where(_N.created_by_key_id == bindparam("key"), _T.type == "number_rental")
)


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
    return int(started.micros or 0) + int(rented or 0)


def check(connection: Connection, key_id: str, cap_micros: int | None, extra_micros: int, *, but: str = "") -> None:
    """Lets a key commit more, in the transaction that commits it. Nothing is checked without a cap.

    `but` is a deployment whose commitment `extra_micros` replaces. Two requests of one key wait for one another here,
    so that both together cannot go beyond the cap.

    Raises:
        Refusal: spending_cap_reached, with the amounts.
    """
    if cap_micros is None:
        return
    connection.execute(_LOCK, {"key": key_id})
    current = committed(connection, key_id, but=but)
    if current + extra_micros > cap_micros:
        message = f"this key may commit {amount(cap_micros)} USD, {amount(current)} of it is committed already"
        details = {"limit": amount(cap_micros), "current": amount(current), "required": amount(extra_micros)}
        raise Refusal(SPENDING_CAP_REACHED, message, details=details)


def check_deployment(
    connection: Connection, key_id: str, cap_micros: int | None, deployment_id: str, budget_cap_micros: int | None
) -> None:
    """Lets a key start or resume a deployment with this budget cap, or change the cap of one it has started.

    Raises:
        Refusal: spending_cap_reached, when the deployment has no budget cap, or one that goes beyond the key's.
    """
    if cap_micros is None:
        return
    if budget_cap_micros is None:
        message = "a key with a spending cap needs the deployment to have a budget_cap"
        raise Refusal(SPENDING_CAP_REACHED, message, field="budget_cap", details={"limit": amount(cap_micros)})
    check(connection, key_id, cap_micros, budget_cap_micros, but=deployment_id)


def check_new_cap(
    connection: Connection, key_id: str, cap_micros: int | None, deployment: Row[Any], budget_cap_micros: int | None
) -> None:
    """Lets a key change the budget cap of a deployment. Nothing is checked of one that has not started.

    Raises:
        Refusal: spending_cap_reached, when the new cap goes beyond the key's, or raises what another key has started.
    """
    if cap_micros is None or deployment.started_by_key_id is None:
        return
    if deployment.started_by_key_id == key_id:
        check_deployment(connection, key_id, cap_micros, deployment.id, budget_cap_micros)
        return
    old = deployment.budget_cap_micros
    if old is not None and (budget_cap_micros is None or budget_cap_micros > old):
        message = "a key with a spending cap cannot raise the budget cap of a deployment that another key started"
        raise Refusal(SPENDING_CAP_REACHED, message, field="budget_cap", details={"limit": amount(cap_micros)})
