"""What carriers charge is known after their calls: a late price changes the call, its campaign and the ledger once."""

from typing import Any

from sqlalchemy import Connection, bindparam, func, select, update

from callwright.service.accounts.principals import SERVICE
from callwright.service.accounts.records import before_and_after
from callwright.service.dialling.queue import LOCKED
from callwright.service.platform.ids import Ids
from callwright.service.platform.money import amount
from callwright.service.rules.cost_items import settled
from callwright.service.rules.prices.price_list import agreed_price
from callwright.service.tables import audit_log, awaited_charges, call_counts, deployment_costs, price_lists
from callwright.service.tables.campaign_settings import settings_of
from callwright.service.tables.ledger import Movement, book, wallet_of
from callwright.service.tables.schema import calls, deployments, transactions
from callwright.service.telephony.legs.carrier import Charge

_C, _D, _T = calls.c, deployments.c, transactions.c
_DEPLOYMENT = select(_C.deployment_id).where(_C.id == bindparam("id"))
_CALL = select(_C.to_number, _C.price, _C.cost_items, _C.cost_micros, _C.ended_at).where(_C.id == bindparam("id"))
_REFUNDED = select(func.count()).where(_T.reference_id == bindparam("id"), _T.type == "refund")
_MICROS = 1_000_000
_CODE = 3
"""Letters of a currency's code."""


def _told(charge: Charge) -> tuple[int, str] | None:
    """The amount in millionths and the currency; None where that is no code of ISO 4217, so that nobody can book it."""
    currency = charge.currency.strip().upper()
    is_code = len(currency) == _CODE and currency.isascii() and currency.isalpha()
    return (round(charge.amount * _MICROS), currency) if is_code else None


def settle(
    connection: Connection, ids: Ids, call_id: str, charge: Charge | None, *, now_ms: int, transfer: str | None = None
) -> bool:
    """Settles what the carrier charged for a call; False if that was done before. None: nobody waits for it any more.

    `transfer` is the carrier's id of the call to a person to whom this one was transferred, if the charge is for that.

    The difference to what the call was charged goes back into the wallet as an adjustment, in the transaction that
    changes the call and what its campaign has spent. A call that was refunded gets nothing back a second time.
    """
    deployment_id = connection.execute(_DEPLOYMENT, {"id": call_id}).scalar_one()
    deployment = connection.execute(LOCKED, {"id": deployment_id}).one()  # before the wallet, as in a record
    wallet_of(connection, deployment.org_id, lock=True)
    if not awaited_charges.remove(connection, call_id, transfer):
        return False
    call: Any = connection.execute(_CALL, {"id": call_id}).one()  # another of its charges may have changed it
    listed = price_lists.list_of_version(connection, agreed_price(call.price, call.to_number).list_version)
    assert listed is not None, "only charges of calls with a price list are awaited"
    told = None if charge is None else _told(charge)
    if connection.execute(_REFUNDED, {"id": call_id}).scalar_one():
        told = None  # its money has gone back already
    items, change = settled(call.cost_items, told, listed, transfer=transfer)
    cost: int = call.cost_micros + change
    connection.execute(update(calls).where(_C.id == call_id).values(cost_items=items, cost_micros=cost))
    if not change:
        return True
    call_counts.change_cost(connection, call_id, call.cost_micros)
    connection.execute(update(deployments).where(_D.id == deployment.id).values(spend_micros=_D.spend_micros + change))
    if settings_of(deployment).daily_budget_cap is not None:
        deployment_costs.add(connection, deployment.id, [(call.ended_at, change)])
    movement = Movement("adjustment", -change, "call", call_id, "the carrier charged less than the price list")
    book(connection, ids, deployment.org_id, [movement], now_ms=now_ms)
    changes = {"cost": before_and_after(amount(call.cost_micros), amount(cost))}
    entry = audit_log.entry_row(
        ids, deployment.org_id, "call.cost_settled", call_id, by=SERVICE, at_ms=now_ms, changes=changes
    )
    audit_log.add_entries(connection, [entry])
    return True
