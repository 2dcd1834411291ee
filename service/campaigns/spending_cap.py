"""What a personal key with a spending cap has committed, and whether it may commit more.

A key has committed the most that its deployments and numbers can cost. For a deployment that it started: what was left
of the budget cap at the start, and what calls under way may cost more when the cap is reached; after its end, its
real spend. For a number that it rented: every month that was charged. If another key starts the deployment again, what
was spent before stays with the first key.

A key with a cap cannot make a deployment of another key spend more (`check_change`, `check_additions`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, bindparam, func, insert, or_, select

from callwright.contract.deployments.settings import SETTINGS
from callwright.contract.problems import SPENDING_CAP_REACHED
from callwright.service.platform.money import amount
from callwright.service.platform.refusals import Refusal
from callwright.service.rules.deployment_states import TERMINAL
from callwright.service.tables.audience_prices import AudiencePrices, prices_of
from callwright.service.tables.campaign_settings import settings_of
from callwright.service.tables.schema import api_keys, deployments, past_commitments, phone_numbers, transactions

_D, _N, _T, _P = deployments.c, phone_numbers.c, transactions.c, past_commitments.c
_CAP = select(api_keys.c.spending_cap_micros).where(api_keys.c.id == bindparam("key"))
_LOCK = _CAP.with_for_update()
_OWN = (_D.started_by_key_id == bindparam("key"), _D.id != bindparam("but"))
_GOING = or_(_D.status.not_in(TERMINAL), _D.in_flight > 0)
_LIVE = select(deployments).where(*_OWN, _GOING).order_by(_D.id)
_ENDED = select(func.sum(_D.spend_micros + _D.reserved_micros - _D.spend_before_micros)).where(*_OWN, ~_GOING)
_PAST = select(func.sum(_P.micros)).where(_P.key_id == bindparam("key"))
_RENTED = (
    select(func.sum(-_T.amount_micros))
    .join(phone_numbers, _N.id == _T.reference_id)
    .where(_N.created_by_key_id == bindparam("key"), _T.type.in_(("number_rental", "refund")))
)
_CALLING = (
    select(deployments)
    .where(_D.audience_id == bindparam("audience"), _D.status.in_(("scheduled", "active", "paused")))
    .order_by(_D.id)
)
_COSTS_NOTHING = frozenset({"name", "metadata"})
_LESS_IS_FREE = frozenset({"max_concurrency", "calls_per_second", "max_call_duration_seconds"})
_BOUNDS = frozenset({"end_at", "budget_cap_micros"})
"""Fields that end a deployment, if they are set."""
_UNCHANGED: Mapping[str, Any] = {}


@dataclass(frozen=True)
class SpendingKey:
    """The key that is charged for what a unit of work commits.

    `key_id` is None if there is no key, `cap_micros` if the key has no cap.
    """

    key_id: str | None
    cap_micros: int | None


def lock_spending_key(connection: Connection, key_id: str | None) -> SpendingKey:
    """The key as it is now. A key with a cap is locked until the transaction ends: lock it before anything else."""
    capped = connection.execute(_CAP, {"key": key_id}).scalar() is not None
    return SpendingKey(key_id, connection.execute(_LOCK, {"key": key_id}).scalar() if capped else None)


def committed(connection: Connection, key_id: str, *, but: str = "") -> int:
    """Micros that a key has committed, leaving out the deployment `but`.

    Raises:
        Refusal: spending_cap_reached, when a deployment of the key has lost its budget cap and can still spend.
    """
    given = {"key": key_id, "but": but}
    live = connection.execute(_LIVE, given).all()
    unbounded = next((row for row in live if row.budget_cap_micros is None and row.status not in TERMINAL), None)
    if unbounded is not None:
        message = f"deployment {unbounded.id}, started with this key, has no budget cap: nothing more is allowed"
        raise Refusal(SPENDING_CAP_REACHED, message)
    going = sum(_worst(row, prices_of(connection, row)) - row.spend_before_micros for row in live)
    sums = [connection.execute(_ENDED, given), connection.execute(_RENTED, given), connection.execute(_PAST, given)]
    return going + sum(int(found.scalar() or 0) for found in sums)


def _worst(row: Row[Any], prices: AudiencePrices, changes: Mapping[str, Any] = _UNCHANGED) -> int:
    """The most, in micros, that a deployment can have cost in total when its last call has ended.

    A call under way may cost up to a minute more than is reserved for it, also when the budget cap is reached.
    """
    names = ("budget_cap_micros", "max_concurrency", "max_call_duration_seconds")
    cap, concurrency, longest_s = (changes.get(name, _kept(row, name)) for name in names)
    under_way = row.spend_micros + row.reserved_micros + prices.dearest.overrun(row.in_flight, longest_s)
    if row.status in TERMINAL:
        return under_way
    lines = max(row.in_flight, min(concurrency, cap // prices.cheapest.held_back))
    return max(under_way, cap + prices.dearest.overrun(lines, longest_s))


def check(connection: Connection, by: SpendingKey, extra_micros: int, *, but: str = "", next_step: str = "") -> None:
    """Checks that a key may commit `extra_micros` more, in the transaction that commits them. Without a cap it may.

    `but` is a deployment whose commitment `extra_micros` replaces. Requests of one key wait for one another here, so
    that they cannot exceed the cap together. `next_step` is added to the message of the refusal.

    Raises:
        Refusal: spending_cap_reached, with the amounts.
    """
    if by.key_id is None or by.cap_micros is None:
        return
    connection.execute(_LOCK, {"key": by.key_id})
    current = committed(connection, by.key_id, but=but)
    if current + extra_micros > by.cap_micros:
        message = f"this key may commit {amount(by.cap_micros)} USD, {amount(current)} of it is committed already"
        details = {"limit": amount(by.cap_micros), "current": amount(current), "required": amount(extra_micros)}
        raise Refusal(SPENDING_CAP_REACHED, message + next_step, details=details)


def check_deployment(
    connection: Connection,
    by: SpendingKey,
    row: Row[Any],
    changes: Mapping[str, Any] = _UNCHANGED,
    *,
    agent: Mapping[str, Any] | None = None,
) -> None:
    """Checks that a key may start a deployment, with these fields of its agent, or change one that it started by
    `changes`.

    Raises:
        Refusal: spending_cap_reached, when the deployment has no budget cap, or can cost more than the key's cap
            leaves.
    """
    if by.cap_micros is None:
        return
    cap = changes.get("budget_cap_micros", row.budget_cap_micros)
    if cap is None:
        message = "a key with a spending cap needs the deployment to have a budget_cap"
        raise _refused(by, message, "budget_cap")
    before = row.spend_before_micros if row.started_by_key_id == by.key_id else row.spend_micros
    extra = _worst(row, prices_of(connection, row, agent), changes) - before
    next_step = (
        f"; the deployment may cost {amount(extra)} USD more, because calls under way may last a minute beyond its "
        f"budget_cap of {amount(cap)} USD. Lower max_concurrency, max_call_duration_seconds or budget_cap"
    )
    check(connection, by, extra, but=row.id, next_step=next_step)


def charge_deployment(
    connection: Connection, by: SpendingKey, row: Row[Any], *, agent: Mapping[str, Any] | None = None, now_ms: int
) -> dict[str, Any]:
    """The columns that charge a deployment to this key from now on. What was spent stays with the previous key.
    `agent` are the fields of the agent with which it starts.

    Raises:
        Refusal: spending_cap_reached, see `check_deployment`.
    """
    check_deployment(connection, by, row, agent=agent)
    if row.started_by_key_id == by.key_id:
        return {}
    if row.started_by_key_id is not None:
        spent = row.spend_micros + row.reserved_micros - row.spend_before_micros
        past = {"key_id": row.started_by_key_id, "deployment_id": row.id, "micros": spent, "created_at": now_ms}
        connection.execute(insert(past_commitments), past)
    return {"started_by_key_id": by.key_id, "spend_before_micros": row.spend_micros}


def check_change(connection: Connection, by: SpendingKey, row: Row[Any], changes: Mapping[str, Any]) -> None:
    """Checks that a key may change a deployment. `changes` are columns and settings with their new values.

    Raises:
        Refusal: spending_cap_reached, when the deployment could spend more and is inbound, was started by another key,
            or exceeds the key's cap.
    """
    if by.cap_micros is None or row.status == "draft":
        return
    shorter_s = changes.get("max_call_duration_seconds")
    if shorter_s is not None and row.in_flight and shorter_s < settings_of(row).max_call_duration_seconds:
        message = "max_call_duration_seconds: calls under way keep the one they began with; lower it when they ended"
        raise _refused(by, message, "max_call_duration_seconds")
    field = next((name for name, value in changes.items() if _may_cost_more(name, value, row)), None)
    if field is None:
        return
    if row.call_type == "inbound":
        raise unbounded(by)
    if row.started_by_key_id != by.key_id:
        message = f"{field}: a key with a spending cap cannot make a deployment that another key started spend more"
        raise _refused(by, message, field)
    check_deployment(connection, by, row, changes)


def _may_cost_more(name: str, new: Any, row: Row[Any]) -> bool:
    """Whether a change may make a deployment spend more. That is assumed of every field not known to cost nothing."""
    if name in _COSTS_NOTHING:
        return False
    if row.call_type == "inbound":
        return True
    old = _kept(row, name)
    if name in _LESS_IS_FREE:
        return new > old
    if name in _BOUNDS:
        return old is not None and (new is None or new > old)
    return True


def _kept(row: Row[Any], name: str) -> Any:
    return getattr(settings_of(row), name) if name in SETTINGS else getattr(row, name)


def check_additions(connection: Connection, by: SpendingKey, audience_id: str) -> None:
    """Checks that a key may add people to an audience. Deployments that call the audience will call them too.

    Raises:
        Refusal: spending_cap_reached, when another key started such a deployment, or it exceeds the key's cap.
    """
    if by.cap_micros is None:
        return
    for row in connection.execute(_CALLING, {"audience": audience_id}).all():
        if row.started_by_key_id != by.key_id:
            message = f"deployment {row.id} calls the people of this audience and was started with another key; "
            raise _refused(by, f"{message}a key with a spending cap cannot add people to it", None)
        check_deployment(connection, by, row)


def unbounded(by: SpendingKey) -> Refusal:
    """The refusal of an inbound deployment: it has no budget cap, and nobody knows how many people will call."""
    message = "inbound deployments have no budget_cap, so a key with a spending cap cannot allow their calls"
    return _refused(by, message, None)


def check_renewals(connection: Connection, by: SpendingKey, row: Row[Any]) -> None:
    """Checks that a key may have a number renewed every month.

    Raises:
        Refusal: spending_cap_reached, when another key rented it, or the next month exceeds the key's cap.
    """
    if by.cap_micros is None:
        return
    if row.created_by_key_id != by.key_id:
        message = "auto_renew: a key with a spending cap cannot renew a number that another key rented"
        raise _refused(by, message, "auto_renew")
    check(connection, by, row.monthly_micros)


def covers_renewal(connection: Connection, row: Row[Any]) -> bool:
    """Whether the key that renews a number may commit another month. Call it before any other lock is taken."""
    by = lock_spending_key(connection, row.renewed_by_key_id)
    try:
        check(connection, by, row.monthly_micros)
    except Refusal:
        return False
    return True


def _refused(by: SpendingKey, message: str, field: str | None) -> Refusal:
    details = None if by.cap_micros is None else {"limit": amount(by.cap_micros)}
    return Refusal(SPENDING_CAP_REACHED, message, field=field, details=details)
