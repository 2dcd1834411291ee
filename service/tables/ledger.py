"""The wallet's ledger, by double entry: every movement is a row with the account it debits and the one it credits.

The same transaction changes the balances of both accounts and the wallet. The balance of an account is its credits less
its debits, so that all accounts of an organization together are zero.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, select, update

from callwright.contract.checks.counts import count_of
from callwright.contract.deployments.call_price import CURRENCY
from callwright.contract.events import WALLET_LOW_BALANCE, WalletLowBalance
from callwright.service.platform.clock.clock import MINUTE
from callwright.service.platform.database.prepared import Prepared
from callwright.service.platform.ids import Ids
from callwright.service.platform.money import amount
from callwright.service.tables.outbox import emit
from callwright.service.tables.schema import ledger_accounts, transactions, wallets

WALLET, RESERVED = "wallet", "reserved"
"""What can be spent, and what is held back for calls under way; the wallet's balance is both together."""
RESERVATION, RELEASE = "reservation", "reservation_release"
HELD = (RESERVATION, RELEASE)
"""The types of transactions that move money between the two, and leave the balance as it is."""
FROZEN = "frozen"
"""The status of a wallet from which no new call is paid."""
_OTHERS = {
    "topup": "funding",
    "call_charge": "calls",
    "number_rental": "rentals",
    "refund": "refunds",
    "adjustment": "adjustments",
    RESERVATION: RESERVED,
    RELEASE: RESERVED,
}
"""The account with which the wallet exchanges money, by the type of the transaction."""
ACCOUNTS = (WALLET, *dict.fromkeys(_OTHERS.values()))
_W, _T, _A = wallets.c, transactions.c, ledger_accounts.c
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
_ADD = Prepared(insert(transactions))
_CREDIT = (
    update(ledger_accounts)
    .where(_A.org_id == bindparam("b_org"), _A.account == bindparam("b_account"))
    .values(balance_micros=_A.balance_micros + bindparam("b_micros"))
)


@dataclass(frozen=True)
class Movement:
    """One transaction to book. `amount_micros` is signed: a charge is negative. Without an `id` it gets one."""

    type: str
    amount_micros: int
    reference_type: str | None
    reference_id: str | None
    description: str
    id: str | None = None

    @property
    def accounts(self) -> tuple[str, str]:
        """The account that it debits and the one that it credits."""
        other = _OTHERS[self.type]
        return (other, WALLET) if self.amount_micros >= 0 else (WALLET, other)


def wallet_of(connection: Connection, org_id: str, *, lock: bool = False) -> Any:
    """The wallet's row; with `lock` nobody else can change it before this transaction ends."""
    return connection.execute(_LOCKED if lock else _FIND, {"org": org_id}).one()


def open_accounts(connection: Connection, org_id: str) -> None:
    """Opens the accounts of a new organization, with nothing in them."""
    rows = [{"org_id": org_id, "account": account, "balance_micros": 0} for account in ACCOUNTS]
    connection.execute(insert(ledger_accounts), rows)


def book(
    connection: Connection,
    ids: Ids,
    org_id: str,
    movements: list[Movement],
    *,
    now_ms: int,
    reserved_micros: int = 0,
    calls: int = 1,
    deployment_id: str | None = None,
) -> int:
    """Books movements and changes the reserved amount; returns the new balance in micros.

    The change of the reserved amount is one transaction, the first, for so many `calls` of the deployment. By time and
    id, transactions are in the order in which they are booked, so that a statement adds up line by line. Emits one
    event when the balance drops below the threshold.
    """
    wallet = wallet_of(connection, org_id, lock=True)
    now_ms = _after(wallet, now_ms)
    balance: int = wallet.balance_micros
    if reserved_micros:
        movements = [_held(reserved_micros, calls, deployment_id), *movements]
    rows: list[dict[str, Any]] = []
    moved: Counter[str] = Counter()
    in_order = sorted(ids.new("txn") for _ in movements)
    for movement, own_id in zip(movements, in_order, strict=True):
        debit, credit = movement.accounts
        moved[debit] -= abs(movement.amount_micros)
        moved[credit] += abs(movement.amount_micros)
        balance += 0 if movement.type in HELD else movement.amount_micros
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
                "debit_account": debit,
                "credit_account": credit,
            }
        )
    _ADD.run_many(connection, rows)
    if changed := [(account, micros) for account, micros in sorted(moved.items()) if micros]:
        given = [{"b_org": org_id, "b_account": account, "b_micros": micros} for account, micros in changed]
        connection.execute(_CREDIT, given)
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


def _held(reserved_micros: int, calls: int, deployment_id: str | None) -> Movement:
    about = (None if deployment_id is None else "deployment", deployment_id)
    said = f"{'held back' if reserved_micros > 0 else 'released'} for {count_of(calls, 'call')}"
    return Movement(RESERVATION if reserved_micros > 0 else RELEASE, -reserved_micros, *about, said)


def check(connection: Connection, org_id: str) -> list[str]:
    """What does not add up in an organization's ledger; empty if everything does. Reads all of its transactions."""
    shown = connection.execute(select(_A.account, _A.balance_micros).where(_A.org_id == org_id))
    kept: dict[str, int] = {account: micros for account, micros in shown}
    sums: Counter[str] = Counter()
    for column, sign in ((_T.debit_account, -1), (_T.credit_account, 1)):
        booked = select(column, func.sum(func.abs(_T.amount_micros))).where(_T.org_id == org_id).group_by(column)
        for account, micros in connection.execute(booked):
            sums[account] += sign * int(micros)
    found = [f"{len(kept)} accounts, not {len(ACCOUNTS)}"] if set(kept) != set(ACCOUNTS) else []
    if total := sum(kept.values()):
        found.append(f"all accounts together hold {amount(total)}, not zero")
    for account in sorted({*kept, *sums}):
        if (held := kept.get(account, 0)) != sums[account]:
            found.append(f"{account} holds {amount(held)}, but its transactions sum to {amount(sums[account])}")
    wallet = wallet_of(connection, org_id)
    stated = {WALLET: wallet.balance_micros - wallet.reserved_micros, RESERVED: wallet.reserved_micros}
    for account, micros in stated.items():
        if (held := kept.get(account, 0)) != micros:
            found.append(f"{account} holds {amount(held)}, but the wallet says {amount(micros)}")
    return found


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
