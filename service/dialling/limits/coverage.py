"""Whether a call that is under way is covered: more is held back for it minute by minute, or it is ended.

Before a call is dialled the price of two minutes is held back. Shortly before it is used up, the price of a further
minute is; if the budget or the wallet does not have it, the call ends when what is held back for it is used up.
"""

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, Row, bindparam, select, update

from callwright.contract.deployments.call_price import EXTENDED_S, HELD_BACK_S
from callwright.service.dialling.leases import mine
from callwright.service.dialling.limits.daily_budget import micros_left
from callwright.service.platform.clock.clock import SECOND
from callwright.service.platform.ids import Ids
from callwright.service.rules.cost_items import Cost, cost_of
from callwright.service.rules.prices.price_list import Price, agreed_price
from callwright.service.tables.ledger import book, wallet_of
from callwright.service.tables.schema import calls, deployments
from callwright.service.telephony.early_end import cut_short
from callwright.service.telephony.engine import CallRequest, CallResult, EarlyEnd, HangupCause

LEAD_S = 10
"""Seconds before the end of what is held back at which more is: it takes the service's time too."""
_C = calls.c
_HELD = select(_C.id, _C.to_number, _C.reserved_micros, _C.price).where(_C.id.in_(bindparam("ids", expanding=True)))
_CALL = select(_C.to_number, _C.reserved_micros, _C.price).where(_C.id == bindparam("id"), _C.ended_at.is_(None))


@dataclass(frozen=True)
class Held:
    """What is held back for a call, and the price that was agreed when it was claimed."""

    micros: int
    price: Price


def held_for(connection: Connection, call_ids: Sequence[str]) -> dict[str, Held]:
    """What is held back for calls, by their ids."""
    rows = connection.execute(_HELD, {"ids": list(call_ids)}).all()
    return {row.id: Held(row.reserved_micros, agreed_price(row.price, row.to_number)) for row in rows}


@dataclass
class Funds:
    """What the budget, if there is one, and the wallet have left for calls."""

    budget: int | None
    wallet: int

    @classmethod
    def of(cls, connection: Connection, row: Row[Any], wallet: Row[Any], at_ms: int) -> "Funds":
        """What is left for the calls of a deployment at a moment of its clock, without what is held back.

        Of the budget cap and the daily one, whichever leaves less.
        """
        cap = row.budget_cap_micros
        whole = None if cap is None else cap - row.spend_micros - row.reserved_micros
        caps = [left for left in (whole, micros_left(connection, row, at_ms)) if left is not None]
        return cls(min(caps, default=None), wallet.balance_micros - wallet.reserved_micros)

    def lacking(self, micros: int) -> HangupCause | None:
        """Why so much cannot be held back; None if it can."""
        if self.budget is not None and self.budget < micros:
            return "budget_reached"
        return "insufficient_credits" if self.wallet < micros else None

    def add(self, micros: int) -> None:
        """Adds what is not held back any more; less than zero: takes what is held back."""
        self.wallet += micros
        self.budget = None if self.budget is None else self.budget + micros


def extend(
    connection: Connection, ids: Ids, request: CallRequest, until_s: int, *, owner: str, now_ms: int
) -> HangupCause | None:
    """Holds back what a call costs until `until_s` after its answer. Returns why not, if that is not there.

    It is done once for each moment: what was held back before a crash is not held back again.

    Raises:
        LeaseLost: another process drives the deployment.
    """
    row: Row[Any] = mine(connection, request.deployment_id, owner)
    wallet = wallet_of(connection, row.org_id, lock=True)
    call = connection.execute(_CALL, {"id": request.call_id}).one_or_none()
    if call is None:
        return None
    further = agreed_price(call.price, call.to_number).call(until_s) - call.reserved_micros
    if further <= 0:
        return None
    if cause := Funds.of(connection, row, wallet, row.clock_ms).lacking(further):
        return cause
    connection.execute(
        update(calls).where(_C.id == request.call_id).values(reserved_micros=_C.reserved_micros + further)
    )
    reserved = deployments.c.reserved_micros + further
    connection.execute(update(deployments).where(deployments.c.id == row.id).values(reserved_micros=reserved))
    book(connection, ids, row.org_id, [], now_ms=now_ms, reserved_micros=further, deployment_id=row.id)
    return None


@dataclass(frozen=True)
class KnownCall:
    """A call whose result is known in advance, dialled at `dial_ms`."""

    request: CallRequest
    result: CallResult
    dial_ms: int


@dataclass(frozen=True)
class Covered:
    """The results of calls as far as they are covered, in their order, and what was held back for each in the end."""

    results: list[CallResult]
    held: list[Held]


def cover(known: Sequence[KnownCall], held: Mapping[str, Held], funds: Funds) -> Covered:
    """Decides in the order of time what `extend` decides while calls last, for calls whose results are known.

    A call that ends gives back what is held back for it, less its cost.
    """
    results = [one.result for one in known]
    kept = [held[one.request.call_id] for one in known]
    covered_s = [HELD_BACK_S] * len(known)
    ended_by_us = [False] * len(known)

    def next_ms(index: int) -> tuple[int, bool]:
        """When something happens to a call next, and whether it is its end."""
        one, result = known[index], results[index]
        longest_s = one.request.max_duration_s
        decision_s = covered_s[index] - LEAD_S
        if ended_by_us[index] or result.duration_s <= decision_s or covered_s[index] >= longest_s:
            return one.dial_ms + round(result.ended_s * SECOND), True
        return one.dial_ms + round(((result.answered_s or 0) + decision_s) * SECOND), False

    waiting = [(*next_ms(index), index) for index in range(len(known))]
    heapq.heapify(waiting)
    while waiting:
        _, ends, index = heapq.heappop(waiting)
        price, micros = kept[index].price, kept[index].micros
        if ends:
            funds.add(micros - simulated_cost(price, results[index]).micros)
            continue
        until_s = covered_s[index] + EXTENDED_S
        further = max(0, price.call(until_s) - micros)
        if cause := funds.lacking(further) if further else None:
            ended_by_us[index] = True
            after_s = (results[index].answered_s or 0) + covered_s[index]
            results[index] = cut_short(results[index], round(after_s, 3), EarlyEnd("platform", cause))
        else:
            funds.add(-further)
            kept[index] = replace(kept[index], micros=micros + further)
            covered_s[index] = until_s
        heapq.heappush(waiting, (*next_ms(index), index))
    return Covered(results, kept)


def billed_of(result: CallResult) -> int:
    """The seconds of a call that are charged, before they are rounded up to the increment of its price.

    A call that failed because of the network or of the service is free.
    """
    if result.outcome == "failed" and result.hangup_cause in ("network_error", "platform_error"):
        return 0
    return -(-round(result.duration_s * 1_000) // 1_000)


def simulated_cost(price: Price, result: CallResult) -> Cost:
    """The cost of a call on the simulated network."""
    return cost_of(price, billed_of(result), tuple(result.transfer_legs))
