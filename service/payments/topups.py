"""Top-ups as rows: asked for, settled, refunded, expired or failed. Each function is part of one unit of work.

The row is locked before the wallet. What a provider says may come twice, late or in the wrong order: money that was
paid is booked once, and so is what went back.
"""

import logging
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from callwright.contract.deployments.call_price import CURRENCY, MICROS
from callwright.contract.events import WALLET_TOPUP_SETTLED, WalletTopupSettled
from callwright.service.accounts.errors import AccountError
from callwright.service.accounts.principals import COMMAND_LINE, SERVICE
from callwright.service.accounts.records import before_and_after
from callwright.service.payments.provider import CHECKOUT_MS, Asked, Checkout, Payment, Refund
from callwright.service.payments.simulated import NAME as SIMULATED
from callwright.service.payments.simulated import reference_of
from callwright.service.platform.clock.clock import MINUTE
from callwright.service.platform.ids import Ids
from callwright.service.platform.money import amount
from callwright.service.tables import audit_log, outbox
from callwright.service.tables.ledger import Movement, book, wallet_of
from callwright.service.tables.schema import topups

log = logging.getLogger(__name__)
LEAST, MOST = MICROS, 999_999 * MICROS
"""The smallest and the largest top-up."""
MOST_LISTED = 100
FIRST_LOOK_MS = MINUTE
"""After this time a pending top-up is first compared with the provider."""
_T = topups.c
_CENT = MICROS // 100


class UnknownTopup(Exception):
    """A provider speaks of a top-up that was made here, but is not in the database."""


class WrongAmount(AccountError):
    """An amount that nobody can pay."""


def ask(
    connection: Connection,
    ids: Ids,
    org_id: str,
    micros: int,
    provider: str,
    now_ms: int,
    *,
    by: audit_log.Actor = COMMAND_LINE,
) -> Asked:
    """A pending top-up; `by` asks for it. Commit it before the provider is asked.

    Raises:
        WrongAmount: it is too small, too large or not in whole cents.
        AccountError: where it cannot be.
    """
    if not LEAST <= micros <= MOST or micros % _CENT:
        raise WrongAmount("the amount of a top-up is from 1.00 to 999,999.00, in whole cents")
    has_play_money = wallet_of(connection, org_id).play_money
    if has_play_money and provider != SIMULATED:
        said = "the organization has play money, for which nobody pays; `callwright orgs fund` adds some, and"
        raise AccountError(f"{said} `callwright orgs create --real-money` makes one that is topped up for real")
    if not has_play_money and provider == SIMULATED:
        said = "the organization has real money, which the simulated provider does not take"
        raise AccountError(f"{said}; set CALLWRIGHT_PAYMENTS=stripe, see docs/wallet.md")
    asked = Asked(ids.new("top"), micros, CURRENCY)
    row = {
        "id": asked.id,
        "org_id": org_id,
        "amount_micros": micros,
        "currency": asked.currency,
        "provider": provider,
        "status": "pending",
        "refunded_micros": 0,
        "created_at": now_ms,
        "expires_at": now_ms + CHECKOUT_MS,
        "next_look_at": now_ms + FIRST_LOOK_MS,
    }
    connection.execute(insert(topups), row)
    changes = {"amount": before_and_after(None, amount(micros))}
    entry = audit_log.entry_row(ids, org_id, "wallet.topup_asked", asked.id, by=by, at_ms=now_ms, changes=changes)
    audit_log.add_entries(connection, [entry])
    return asked


def attach(connection: Connection, topup_id: str, checkout: Checkout, now_ms: int) -> None:
    """Stores the provider's checkout of a top-up. Commit it before anybody gets the link."""
    values = {"provider_reference": checkout.reference, "expires_at": now_ms + checkout.valid_ms}
    connection.execute(update(topups).where(_T.id == topup_id).values(values))


def topups_of(connection: Connection, org_id: str) -> list[Row[Any]]:
    """The newest top-ups of an organization, newest first."""
    own = select(topups).where(_T.org_id == org_id).order_by(_T.created_at.desc(), _T.id.desc())
    return list(connection.execute(own.limit(MOST_LISTED)).all())


def find(connection: Connection, topup_id: str, *, lock: bool = False) -> Row[Any] | None:
    """A top-up by its id."""
    one = select(topups).where(_T.id == topup_id)
    return connection.execute(one.with_for_update() if lock else one).one_or_none()


def confirm_simulated(connection: Connection, ids: Ids, topup_id: str, now_ms: int) -> Row[Any] | None:
    """Settles a top-up of play money whose page somebody has confirmed, if it is still open; returns it."""
    row = find(connection, topup_id, lock=True)
    if row is None or row.provider != SIMULATED:
        return None
    if row.status != "pending":
        return row
    is_open = now_ms < row.expires_at and wallet_of(connection, row.org_id).play_money
    paid = {"paid_micros": row.amount_micros, "currency": row.currency} if is_open else {}
    record_payment(
        connection,
        ids,
        Payment(SIMULATED, reference_of(row.id), row.id, "paid" if is_open else "expired", **paid),
        now_ms,
    )
    return find(connection, topup_id)


def record_payment(connection: Connection, ids: Ids, payment: Payment, now_ms: int) -> bool:
    """Brings a top-up to what the provider says; whether anything was changed.

    Money that was paid is booked once, also after the checkout has expired. If another amount was paid than asked for,
    that one is booked; money of another currency is not, and the top-up fails.

    Raises:
        UnknownTopup: the provider names a top-up that is not here.
    """
    row = _checkout(connection, payment)
    if row is None or row.settled_at is not None or payment.status == "pending":
        return False
    if payment.status != "paid":
        return row.status == "pending" and _close(connection, ids, row, payment.status, now_ms)
    if payment.currency != row.currency or payment.paid_micros <= 0:
        log.error("a top-up was paid in another currency, and is not booked", extra={"topup_id": row.id})
        values = {"payment_reference": payment.payment_reference}
        return row.status != "failed" and _close(connection, ids, row, "failed", now_ms, values)
    if payment.paid_micros != row.amount_micros:
        log.warning("a top-up was paid with another amount, which is booked", extra={"topup_id": row.id})
    _settle(connection, ids, row, payment, now_ms)
    return True


def record_refund(connection: Connection, ids: Ids, refund: Refund, now_ms: int) -> bool:
    """Books down what went back to the payer and was not booked yet; whether anything was changed.

    If the payment is not known yet, the refund is kept and booked with it.

    Raises:
        UnknownTopup: the provider names a top-up that is not here.
    """
    row = _paid(connection, refund)
    if row is None or refund.currency != row.currency or refund.refunded_micros <= row.refunded_micros:
        return False
    connection.execute(update(topups).where(_T.id == row.id).values(refunded_micros=refund.refunded_micros))
    if row.settled_at is not None:
        _book_refund(connection, ids, row, row.paid_micros, row.refunded_micros, refund.refunded_micros, now_ms)
    return True


def expire(connection: Connection, ids: Ids, topup_id: str, now_ms: int) -> bool:
    """Marks a pending top-up as expired; whether it was pending."""
    row = find(connection, topup_id, lock=True)
    return row is not None and row.status == "pending" and _close(connection, ids, row, "expired", now_ms)


def fail(connection: Connection, ids: Ids, topup_id: str, now_ms: int) -> None:
    """Marks a pending top-up as failed: the provider did not want it."""
    row = find(connection, topup_id, lock=True)
    if row is not None and row.status == "pending":
        _close(connection, ids, row, "failed", now_ms)


def _checkout(connection: Connection, payment: Payment) -> Row[Any] | None:
    """The row of a checkout, locked; None if the checkout is not ours."""
    mine = select(topups).where(_T.provider == payment.provider).with_for_update()
    row = connection.execute(mine.where(_T.provider_reference == payment.reference)).one_or_none()
    if row is None and payment.topup_id is not None:
        unanswered = mine.where(_T.id == payment.topup_id, _T.provider_reference.is_(None))
        row = connection.execute(unanswered).one_or_none()
        if row is None:
            raise UnknownTopup
    return row


def _paid(connection: Connection, refund: Refund) -> Row[Any] | None:
    """The row of a payment, locked; None if the payment is not ours."""
    mine = select(topups).where(_T.provider == refund.provider).with_for_update()
    row = connection.execute(mine.where(_T.payment_reference == refund.payment_reference)).one_or_none()
    if row is None and refund.topup_id is not None:
        row = connection.execute(mine.where(_T.id == refund.topup_id, _T.payment_reference.is_(None))).one_or_none()
        if row is None:
            raise UnknownTopup
    return row


def _settle(connection: Connection, ids: Ids, row: Row[Any], payment: Payment, now_ms: int) -> None:
    values = {
        "provider_reference": payment.reference,
        "payment_reference": payment.payment_reference,
        "paid_micros": payment.paid_micros,
        "settled_at": now_ms,
    }
    _change(connection, ids, row, "settled", now_ms, values, action="wallet.topup_settled", micros=payment.paid_micros)
    transaction_id = ids.new("txn")
    said = f"top-up through {row.provider}"
    topup = Movement("topup", payment.paid_micros, "topup", row.id, said, id=transaction_id)
    balance = book(connection, ids, row.org_id, [topup], now_ms=now_ms)
    play_money: bool = wallet_of(connection, row.org_id).play_money
    data = WalletTopupSettled(
        transaction_id=transaction_id,
        amount=amount(payment.paid_micros),
        currency=row.currency,
        balance=amount(balance),
        method=row.provider,
        play_money=play_money,
    )
    outbox.emit(connection, ids, row.org_id, WALLET_TOPUP_SETTLED, data, at_ms=now_ms, simulated=play_money)
    if row.refunded_micros:
        _book_refund(connection, ids, row, payment.paid_micros, 0, row.refunded_micros, now_ms)


def _book_refund(
    connection: Connection, ids: Ids, row: Row[Any], paid_micros: int, before_micros: int, now_micros: int, now_ms: int
) -> None:
    """Takes from the wallet what went back, never more than was paid. `..._micros` are sums of all refunds."""
    back = min(now_micros, paid_micros) - min(before_micros, paid_micros)
    if back > 0:
        movement = Movement("adjustment", -back, "topup", row.id, f"refund of a top-up through {row.provider}")
        book(connection, ids, row.org_id, [movement], now_ms=now_ms)
    status = "refunded" if now_micros >= paid_micros else "settled"
    _change(connection, ids, row, status, now_ms, {}, action="wallet.topup_refunded", micros=-back)


def _close(
    connection: Connection,
    ids: Ids,
    row: Row[Any],
    status: str,
    now_ms: int,
    values: Mapping[str, Any] | None = None,
) -> bool:
    _change(connection, ids, row, status, now_ms, values or {}, action=f"wallet.topup_{status}")
    return True


def _change(
    connection: Connection,
    ids: Ids,
    row: Row[Any],
    status: str,
    now_ms: int,
    values: Mapping[str, Any],
    *,
    action: str,
    micros: int | None = None,
) -> None:
    """Changes the row's status, which ends its comparisons with the provider, and says so in the audit log."""
    changed = {**values, "status": status, "next_look_at": None}
    connection.execute(update(topups).where(_T.id == row.id).values(changed))
    changes = {"status": before_and_after(row.status, status)}
    if micros is not None:
        changes["booked"] = before_and_after(None, amount(micros))
    entry = audit_log.entry_row(ids, row.org_id, action, row.id, by=SERVICE, at_ms=now_ms, changes=changes)
    audit_log.add_entries(connection, [entry])
