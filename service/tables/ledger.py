"""The wallet's ledger: every movement is a row, and the same transaction changes the balance."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select, update

from callwright.contract.deployments.call_price import CURRENCY
from callwright.contract.events import WALLET_LOW_BALANCE, WalletLowBalance
from callwright.service.platform.clock.clock import MINUTE
from callwright.service.platform.ids import Ids
from callwright.service.platform.money import amount
from callwright.service.tables.outbox import emit
from callwright.service.tables.schema import transactions, wallets

_W = wallets.c
_FIND = select(wallets).where(_W.org_id == bindparam("org"))
_LOCKED = _FIND.with_for_update()
_MOVE = (
    update(wallets)
    .where(_W.org_id == bindparam("b_org"))
    .values(
        balance_micros=_W.balance_micros + bindparam("b_moved"),
        reserved_micros=_W.reserved_micros + bindparam("b_reserved"),
        low=bindparam("b_low"),
        updated_at=bindparam("b_now"),
    )
)
_ADD = insert(transactions)


@dataclass(frozen=True)
class Movement:
    """One transaction to book. `amount_micros` is signed: a charge is negative. Without an `id` it gets one."""

    type: str
    amount_micros: int
    reference_type: str
    reference_id: str
    description: str
    id: str | None = None


def wallet_of(connection: Connection, org_id: str, *, lock: bool = False) -> Any:
    """The wallet's row; with `lock` nobody else can change it before this transaction ends."""
    return connection.execute(_LOCKED if lock else _FIND, {"org": org_id}).one()


def book(
    connection: Connection, ids: Ids, org_id: str, movements: list[Movement], *, now_ms: int, reserved_micros: int = 0
) -> int:
    """Books movements and changes the reserved amount; returns the new balance in micros.

    By time and id, movements are in the order in which they are booked, so that a statement adds up line by line.
    Emits one event when the balance drops below the threshold.
    """
    wallet = wallet_of(connection, org_id, lock=True)
    now_ms = _after(wallet, now_ms)
    balance: int = wallet.balance_micros
    rows: list[dict[str, Any]] = []
    in_order = sorted(ids.new("txn") for _ in movements)
    for movement, own_id in zip(movements, in_order, strict=True):
        balance += movement.amount_micros
        rows.append(
            {
                "id": movement.id or own_id,
                "org_id": org_id,
                "type": movement.type,
                "amount_micros": movement.amount_micros,
                "balance_after_micros": balance,
                "reference_type": movement.reference_type,
                "reference_id": movement.reference_id,
                "description": movement.description,
                "created_at": now_ms,
            }
        )
    if rows:
        connection.execute(_ADD, rows)
    low = _is_low(balance, wallet.threshold_micros)
    connection.execute(
        _MOVE,
        {
            "b_org": org_id,
            "b_moved": balance - wallet.balance_micros,
            "b_reserved": reserved_micros,
            "b_low": low,
            "b_now": now_ms,
        },
    )
    if low and not wallet.low:
        _tell_low(connection, ids, wallet, balance, wallet.threshold_micros, now_ms)
    return balance


def _after(wallet: Any, now_ms: int) -> int:
    """A time after the wallet's last change: another process may have begun later and got the lock earlier.

    It is `now_ms` if the last change lies so far ahead that a clock was wrong.
    """
    last_ms: int = wallet.updated_at
    return now_ms if last_ms > now_ms + MINUTE else max(now_ms, last_ms + 1)


def warn_below(connection: Connection, ids: Ids, org_id: str, threshold_micros: int | None, *, now_ms: int) -> None:
    """Sets the balance below which an event is emitted; None: never. If the balance is below now, it is emitted now."""
    wallet = wallet_of(connection, org_id, lock=True)
    if wallet.threshold_micros == threshold_micros:
        return
    low = _is_low(wallet.balance_micros, threshold_micros)
    values = {"threshold_micros": threshold_micros, "low": low, "updated_at": _after(wallet, now_ms)}
    connection.execute(update(wallets).where(_W.org_id == org_id).values(values))
    if threshold_micros is not None and low and not wallet.low:
        _tell_low(connection, ids, wallet, wallet.balance_micros, threshold_micros, now_ms)


def _is_low(balance_micros: int, threshold_micros: int | None) -> bool:
    return threshold_micros is not None and balance_micros < threshold_micros


def _tell_low(
    connection: Connection, ids: Ids, wallet: Any, balance_micros: int, threshold_micros: int, now_ms: int
) -> None:
    data = WalletLowBalance(
        balance=amount(balance_micros),
        threshold=amount(threshold_micros),
        currency=CURRENCY,
        play_money=wallet.play_money,
    )
    emit(connection, ids, wallet.org_id, WALLET_LOW_BALANCE, data, at_ms=now_ms, simulated=wallet.play_money)
