"""Organizations, their plans and their wallets."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import EllipsisType
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from callwright.contract.checks.names import checked_name
from callwright.contract.deployments.call_price import CURRENCY
from callwright.contract.events import WALLET_TOPUP_SETTLED, WalletTopupSettled
from callwright.service.accounts.errors import AccountError
from callwright.service.accounts.memberships import OWNER, join
from callwright.service.accounts.records import add_audit_entry, before_and_after, lock_organization
from callwright.service.accounts.users import checked, operator_user
from callwright.service.platform.ids import Ids
from callwright.service.platform.money import LOW_BALANCE_THRESHOLD, OPENING_BALANCE, amount
from callwright.service.rules.organization_plans import PRICE_PLANS, PricePlan, plan_of
from callwright.service.tables import outbox
from callwright.service.tables.ledger import Movement, book, open_accounts, wallet_of, warn_below
from callwright.service.tables.recording_watermarks import settle
from callwright.service.tables.schema import organizations, wallets

_O = organizations.c
_RESERVED = "--reserved-inbound"
_NEGOTIABLE = {
    "requests_per_second": ("--requests-per-second", 1, 1_000_000),
    "requests_per_day": ("--requests-per-day", 1, 1_000_000_000),
    "recording_retention_days": ("--recording-days", 1, 36_500),
    "reserved_inbound_concurrency": (_RESERVED, 0, 1_000),
}
"""The limits that an organization may negotiate: the flag that sets each, and the least and the most it may be."""


@dataclass(frozen=True)
class PlanChange:
    """The limits of an organization before and after a change, with negotiated values."""

    before: PricePlan
    after: PricePlan

    @property
    def deletes_recordings(self) -> bool:
        """Whether recordings are now kept for a shorter time."""
        return self.after.recording_retention_days < self.before.recording_retention_days


def create_organization(
    connection: Connection,
    ids: Ids,
    name: str,
    plan: str,
    now_ms: int,
    *,
    owner_user_id: str | None = None,
    real_money: bool = False,
) -> str:
    """A new organization; returns its id. Its wallet has 100 dollars of play money, or with `real_money` nothing.

    Without `owner_user_id` the operator of the installation owns it.
    """
    _check_plan(plan)
    checked(checked_name, "the name", name)
    if connection.execute(select(_O.id).where(_O.name == name)).scalar() is not None:
        raise AccountError(f"there is an organization {name!r} already")
    org_id = ids.new("org")
    connection.execute(insert(organizations), {"id": org_id, "name": name, "plan": plan, "created_at": now_ms})
    wallet = {
        "org_id": org_id,
        "balance_micros": 0,
        "reserved_micros": 0,
        "threshold_micros": LOW_BALANCE_THRESHOLD,
        "low": True,  # not yet funded: the first top-up re-arms the event
        "play_money": not real_money,
        "updated_at": now_ms,
    }
    connection.execute(insert(wallets), wallet)
    open_accounts(connection, org_id)
    if not real_money:
        _top_up(connection, ids, org_id, OPENING_BALANCE, "opening balance, play money", now_ms)
    add_audit_entry(connection, ids, org_id, "organization.created", org_id, now_ms)
    owner = owner_user_id or operator_user(connection, ids, now_ms)
    join(connection, ids, org_id, owner, OWNER, now_ms)
    return org_id


def find_organization(connection: Connection, name: str) -> str:
    """The id of an organization, by its name or id."""
    found = connection.execute(select(_O.id).where((_O.name == name) | (_O.id == name))).scalar()
    if found is None:
        raise AccountError(f"there is no organization {name!r}; `callwright orgs list` shows them")
    return found


def organizations_of(connection: Connection) -> list[Row[Any]]:
    """Every organization with its balance, by name."""
    statement = (
        select(organizations, wallets.c.balance_micros, wallets.c.play_money)
        .join(wallets, wallets.c.org_id == _O.id)
        .order_by(_O.name)
    )
    return list(connection.execute(statement).all())


def change_plan(
    connection: Connection,
    ids: Ids,
    org_id: str,
    now_ms: int,
    plan: str | None = None,
    *,
    requests_per_second: int | EllipsisType | None = ...,
    requests_per_day: int | EllipsisType | None = ...,
    recording_retention_days: int | EllipsisType | None = ...,
    reserved_inbound_concurrency: int | EllipsisType | None = ...,
) -> PlanChange:
    """Changes an organization's plan or its negotiated limits, from the next request on.

    What is left out stays as it is; a change of the plan keeps negotiated limits. None removes a negotiated limit: the
    plan's limit applies again. Raises `AccountError`, which names the flag of the command, for an unknown plan, for a
    limit that is too low or too high, and for reserved lines that leave none to campaigns.
    """
    if plan is not None:
        _check_plan(plan)
    given = {
        "requests_per_second": requests_per_second,
        "requests_per_day": requests_per_day,
        "recording_retention_days": recording_retention_days,
        "reserved_inbound_concurrency": reserved_inbound_concurrency,
    }
    wanted: dict[str, str | int | None] = {} if plan is None else {"plan": plan}
    for name, value in given.items():
        if value is ...:
            continue
        flag, least, most = _NEGOTIABLE[name]
        if value is not None and not least <= value <= most:
            raise AccountError(f"{flag} is from {least} to {most:,}, or `plan` for what the plan says")
        wanted[name] = value
    lock_organization(connection, org_id)
    before = connection.execute(select(organizations).where(_O.id == org_id)).one()
    _check_reserved(before, wanted)
    changed = {name: value for name, value in wanted.items() if getattr(before, name) != value}
    if not changed:
        return PlanChange(plan_of(before), plan_of(before))
    settle(connection, [org_id], now_ms)  # a longer retention must not show deleted recordings again
    connection.execute(update(organizations).where(_O.id == org_id).values(changed))
    after = connection.execute(select(organizations).where(_O.id == org_id)).one()
    entry = {name: before_and_after(getattr(before, name), value) for name, value in changed.items()}
    add_audit_entry(connection, ids, org_id, "organization.changed", org_id, now_ms, entry)
    return PlanChange(plan_of(before), plan_of(after))


def _check_reserved(before: Row[Any], wanted: Mapping[str, str | int | None]) -> None:
    plan = PRICE_PLANS[str(wanted.get("plan", before.plan))]
    reserved = wanted.get("reserved_inbound_concurrency", before.reserved_inbound_concurrency)
    if plan.concurrent_calls is not None and reserved is not None and int(reserved) >= plan.concurrent_calls:
        most = plan.concurrent_calls - 1
        raise AccountError(f"{_RESERVED} is at most {most} in the plan {plan.name}: one line is left to campaigns")


def _check_plan(plan: str) -> None:
    if plan not in PRICE_PLANS:
        raise AccountError(f"there is no plan {plan!r}; use one of {', '.join(PRICE_PLANS)}")


def fund(connection: Connection, ids: Ids, org_id: str, micros: int, now_ms: int) -> int:
    """Adds play money to a wallet of play money; returns the new balance in micros."""
    if micros <= 0:
        raise AccountError("the amount must be above zero")
    if not wallet_of(connection, org_id).play_money:
        said = "the organization has real money, to which no play money is added"
        raise AccountError(f"{said}; `callwright orgs topup` makes a link for paying")
    balance = _top_up(connection, ids, org_id, micros, "play money added", now_ms)
    add_audit_entry(connection, ids, org_id, "wallet.funded", org_id, now_ms)
    return balance


def warn_of_low_balance(connection: Connection, ids: Ids, org_id: str, micros: int | None, now_ms: int) -> None:
    """Sets the balance below which the wallet warns; None: never. Raises `AccountError` for an amount below zero."""
    if micros is not None and micros < 0:
        raise AccountError("--low-balance must not be below zero")
    before = wallet_of(connection, org_id).threshold_micros
    warn_below(connection, ids, org_id, micros, now_ms=now_ms)
    if before != micros:
        shown = [None if each is None else amount(each) for each in (before, micros)]
        entry = {"low_balance_threshold": before_and_after(*shown)}
        add_audit_entry(connection, ids, org_id, "wallet.changed", org_id, now_ms, entry)


def _top_up(connection: Connection, ids: Ids, org_id: str, micros: int, description: str, now_ms: int) -> int:
    transaction_id = ids.new("txn")
    topup = Movement("topup", micros, "organization", org_id, description, id=transaction_id)
    balance = book(connection, ids, org_id, [topup], now_ms=now_ms)
    data = WalletTopupSettled(
        transaction_id=transaction_id,
        amount=amount(micros),
        currency=CURRENCY,
        balance=amount(balance),
        method="play_money",
        play_money=True,
    )
    outbox.emit(connection, ids, org_id, WALLET_TOPUP_SETTLED, data, at_ms=now_ms, simulated=True)
    return balance
