"""Refunds: what a call cost is paid back into the wallet, once and never more than was charged."""

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from callwright.service.accounts.errors import AccountError
from callwright.service.accounts.records import add_audit_entry, before_and_after
from callwright.service.platform.ids import Ids
from callwright.service.platform.money import amount
from callwright.service.tables.ledger import Movement, book, wallet_of
from callwright.service.tables.schema import transactions

_T = transactions.c


@dataclass(frozen=True)
class Refund:
    """A refund and the wallet after it, in micros. `is_new` is false if the call had been refunded before."""

    micros: int
    balance: int
    is_new: bool


def refund_call(connection: Connection, ids: Ids, org_id: str, call_id: str, micros: int | None, now_ms: int) -> Refund:
    """Pays back what a call cost, or `micros` of it. The same refund again changes nothing.

    Raises:
        AccountError: the call was not charged to the organization, the amount is not between zero and what was
            charged, or the call was refunded with another amount.
    """
    wallet = wallet_of(connection, org_id, lock=True)  # of two commands at once the second one sees the first refund
    sums = select(_T.type, func.sum(_T.amount_micros)).where(_T.org_id == org_id, _T.reference_id == call_id)
    booked = {type_: int(total) for type_, total in connection.execute(sums.group_by(_T.type))}
    charged = -booked.get("call_charge", 0) - booked.get("adjustment", 0)  # less what the carrier did not charge
    if not charged:
        raise AccountError(f"no call {call_id} was charged to this organization; `list_transactions` shows charges")
    wanted = charged if micros is None else micros
    if not 0 < wanted <= charged:
        raise AccountError(f"--amount must be above zero and at most {amount(charged)}, which the call cost")
    if (before := booked.get("refund")) is not None:
        if micros is not None and micros != before:
            raise AccountError(f"the call was refunded with {amount(before)} before; a call is refunded once")
        return Refund(before, wallet.balance_micros, is_new=False)
    movement = Movement("refund", wanted, "call", call_id, "refund of a call")
    balance = book(connection, ids, org_id, [movement], now_ms=now_ms)
    changes = {"refunded": before_and_after(amount(0), amount(wanted))}
    add_audit_entry(connection, ids, org_id, "call.refunded", call_id, now_ms, changes)
    return Refund(wanted, balance, is_new=True)
