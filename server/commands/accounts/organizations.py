"""`callwright orgs`."""

from dataclasses import dataclass
from types import EllipsisType
from typing import Any

from rich.console import Console
from rich.markup import escape
from sqlalchemy import Connection

from callwright.contract.checks.counts import count_of
from callwright.contract.deployments.call_price import CURRENCY
from callwright.server.commands.accounts.accounts import account_database, amount_data, dollars, moment_data
from callwright.server.commands.command_error import CommandError
from callwright.server.commands.output.json_text import print_json
from callwright.server.commands.output.tables import Cell, day, show
from callwright.server.settings import ProgramSettings
from callwright.service import accounts
from callwright.service.platform.ids import Ids
from callwright.service.platform.money import amount
from callwright.service.rules.organization_plans import PRICE_PLANS, PricePlan, plan_of

PLAN = "plan"
"""The value that removes a negotiated limit, so that the plan's applies."""
OFF = "off"
"""The value that switches the low-balance warning off."""
NEGOTIATED = "*"
"""Marks a negotiated value in a table."""


async def create(
    settings: ProgramSettings,
    name: str,
    plan: str,
    owner: str | None,
    real_money: bool,
    quiet: bool,
    as_json: bool = False,
) -> None:
    """Makes an organization; prints its id."""

    def work(connection: Connection, ids: Ids, now_ms: int) -> str:
        owner_id = None if owner is None else _owner(connection, ids, owner, now_ms)
        return accounts.create_organization(
            connection, ids, name, plan, now_ms, owner_user_id=owner_id, real_money=real_money
        )

    async with account_database(settings) as (database, ids, now_ms):
        org_id = await database.write(work, ids, now_ms)
    if as_json:
        print_json({"id": org_id, "name": name, "plan": plan, "play_money": not real_money})
        return
    if quiet:
        Console().out(org_id)
        return
    owned = f", owned by {escape(owner or accounts.OPERATOR)}"
    money = "0.00 USD, real money" if real_money else "100.00 USD of play money"
    said = f"[bold]{escape(name)}[/] {org_id}, plan {plan}, {money}{owned}"
    Console().print(said, highlight=False, soft_wrap=True)


def _owner(connection: Connection, ids: Ids, email: str, now_ms: int) -> str:
    known = accounts.user_with(connection, email)
    return known.id if known else accounts.create_user(connection, ids, email, email.partition("@")[0], now_ms)


async def show_all(settings: ProgramSettings, as_json: bool = False) -> None:
    """Prints the organizations with their limits."""
    async with account_database(settings) as (database, _, _):
        found = await database.read(accounts.organizations_of)
    if as_json:
        print_json([_data(row) for row in found])
        return
    columns = (
        ("name", "id"),
        ("plan", "recordings"),
        ("requests/s", "requests/day"),
        ("balance", "money"),
        "made (UTC)",
    )
    show(columns, (_row(row) for row in found))
    if any(plan_of(row) != PRICE_PLANS[row.plan] for row in found):
        Console().print(f"{NEGOTIATED} negotiated, in place of what the plan says", highlight=False)


def _data(row: Any) -> dict[str, Any]:
    wallet = {"balance": amount_data(row.balance_micros), "play_money": row.play_money}
    made = {**wallet, "created_at": moment_data(row.created_at)}
    return {"id": row.id, "name": row.name, **_limits(plan_of(row)), **made}


def _limits(plan: PricePlan) -> dict[str, Any]:
    """What a plan allows, with what was negotiated; None is unlimited."""
    return {
        "plan": plan.name,
        "requests_per_second": plan.requests_per_second,
        "requests_per_day": plan.requests_per_day,
        "recording_days": plan.recording_retention_days,
        "concurrent_calls": plan.concurrent_calls,
        "reserved_inbound_concurrency": plan.reserved_inbound_concurrency,
    }


def _row(row: Any) -> list[Cell]:
    plan, allowed = PRICE_PLANS[row.plan], plan_of(row)
    return [
        (row.name, row.id),
        (row.plan, _limit(plan.recording_retention_days, allowed.recording_retention_days, " days")),
        (
            _limit(plan.requests_per_second, allowed.requests_per_second),
            _limit(plan.requests_per_day, allowed.requests_per_day),
        ),
        (f"{amount(row.balance_micros)[:-4]} {CURRENCY}", "play money" if row.play_money else "real money"),
        day(row.created_at),
    ]


def _limit(plan: int | None, allowed: int | None, unit: str = "") -> str:
    return f"{_number(allowed)}{unit}{'' if plan == allowed else NEGOTIATED}"


def _number(limit: int | None) -> str:
    return "unlimited" if limit is None else f"{limit:,}"


@dataclass(frozen=True)
class OrganizationChanges:
    """The changes to an organization. A limit is a number, `plan` for the plan's value, or None to leave it."""

    plan: str | None = None
    requests_per_second: str | None = None
    requests_per_day: str | None = None
    recording_days: str | None = None
    reserved_inbound: str | None = None
    low_balance: str | None = None
    """Dollars below which the wallet warns, or `off`."""


async def change(settings: ProgramSettings, name: str, wanted: OrganizationChanges, as_json: bool = False) -> None:
    """Changes an organization's plan or negotiated limits; prints what it is allowed now."""
    if wanted == OrganizationChanges():
        flags = (
            "--plan, --requests-per-second, --requests-per-day, --recording-days, --reserved-inbound or --low-balance"
        )
        raise CommandError(f"say what to change: {flags}")
    second = _negotiated("--requests-per-second", wanted.requests_per_second)
    requests_per_day = _negotiated("--requests-per-day", wanted.requests_per_day)
    retention = _negotiated("--recording-days", wanted.recording_days)
    reserved = _negotiated("--reserved-inbound", wanted.reserved_inbound)
    threshold = _threshold(wanted.low_balance)

    def work(connection: Connection, ids: Ids, now_ms: int) -> accounts.PlanChange:
        org_id = accounts.find_organization(connection, name)
        if threshold is not ...:
            accounts.warn_of_low_balance(connection, ids, org_id, threshold, now_ms)
        return accounts.change_plan(
            connection,
            ids,
            org_id,
            now_ms,
            wanted.plan,
            requests_per_second=second,
            requests_per_day=requests_per_day,
            recording_retention_days=retention,
            reserved_inbound_concurrency=reserved,
        )

    async with account_database(settings) as (database, ids, now_ms):
        made = await database.write(work, ids, now_ms)
    if as_json:
        print_json({"name": name, **_limits(made.after), "deletes_recordings": made.deletes_recordings})
        return
    Console().print(f"[bold]{escape(name)}[/] {_allowed(made.after)}", highlight=False, soft_wrap=True)
    if threshold is not ...:
        when = "never" if threshold is None else f"below {amount(threshold)[:-4]} USD"
        Console().print(f"The event wallet.low_balance comes {when}", highlight=False)
    if made.deletes_recordings:
        kept = made.after.recording_retention_days
        said = f"Recordings of calls that ended more than {count_of(kept, 'day')} ago will be deleted for good"
        Console().print(said, highlight=False, soft_wrap=True)


def _negotiated(flag: str, text: str | None) -> int | EllipsisType | None:
    if text is None:
        return ...
    if text == PLAN:
        return None
    try:
        return int(text)
    except ValueError as error:
        raise CommandError(f"{flag} is a whole number, or `plan` for what the plan says, not {text!r}") from error


def _threshold(text: str | None) -> int | EllipsisType | None:
    if text is None:
        return ...
    return None if text == OFF else dollars("--low-balance", text)


def _allowed(plan: PricePlan) -> str:
    reserved = plan.reserved_inbound_concurrency
    free = (
        f", {count_of(reserved, 'line')} of {_number(plan.concurrent_calls)} left free for callers" if reserved else ""
    )
    return (
        f"has the plan {plan.name}: {_number(plan.requests_per_second)} requests per second, "
        f"{_number(plan.requests_per_day)} per day, recordings kept {_number(plan.recording_retention_days)} days{free}"
    )


async def fund(settings: ProgramSettings, name: str, text: str, as_json: bool = False) -> None:
    """Adds play money; prints the new balance."""
    added = dollars("--amount", text)
    async with account_database(settings) as (database, ids, now_ms):
        org_id = await database.read(accounts.find_organization, name)
        balance = await database.write(accounts.fund, ids, org_id, added, now_ms)
    if as_json:
        print_json({"id": org_id, "name": name, "balance": amount_data(balance)})
        return
    Console().print(f"[bold]{escape(name)}[/] has {amount(balance)[:-4]} USD of play money", highlight=False)


async def refund(settings: ProgramSettings, name: str, call_id: str, text: str | None, as_json: bool = False) -> None:
    """Pays a call back; prints how much and the new balance."""
    wanted = None if text is None else dollars("--amount", text)
    async with account_database(settings) as (database, ids, now_ms):
        org_id = await database.read(accounts.find_organization, name)
        made = await database.write(accounts.refund_call, ids, org_id, call_id, wanted, now_ms)
    if as_json:
        amounts = {"refunded": amount_data(made.micros), "balance": amount_data(made.balance)}
        print_json({"id": org_id, "name": name, "call_id": call_id, **amounts, "is_new": made.is_new})
        return
    was = "refunded" if made.is_new else "refunded before, nothing changed:"
    said = f"{escape(call_id)} {was} {amount(made.micros)} {CURRENCY}; the balance is {amount(made.balance)} {CURRENCY}"
    Console().print(said, highlight=False, soft_wrap=True)


async def set_status(
    settings: ProgramSettings, name: str, status: accounts.WalletStatus, as_json: bool = False
) -> None:
    """Freezes a wallet or lets it pay again; prints its status."""
    async with account_database(settings) as (database, ids, now_ms):
        org_id = await database.read(accounts.find_organization, name)
        changed = await database.write(accounts.set_wallet_status, ids, org_id, status, now_ms)
    if as_json:
        print_json({"id": org_id, "name": name, "wallet_status": status, "changed": changed})
        return
    still = "" if changed else " already"
    what = "no new call is paid" if status == "frozen" else "calls are paid; paused campaigns wait to be resumed"
    Console().print(f"[bold]{escape(name)}[/]: the wallet is {status}{still}, {what}", highlight=False, soft_wrap=True)


async def renew_predial_secret(settings: ProgramSettings, name: str, quiet: bool, as_json: bool = False) -> None:
    """Makes a new secret that signs an organization's pre-dial checks and prints it; it is shown only here."""

    def work(connection: Connection, ids: Ids, now_ms: int) -> str:
        return accounts.renew_predial_secret(connection, ids, accounts.find_organization(connection, name), now_ms)

    async with account_database(settings) as (database, ids, now_ms):
        secret = await database.write(work, ids, now_ms)
    if as_json:
        print_json({"secret": secret})
    elif quiet:
        Console().out(secret)
    else:
        about = "It signs pre-dial checks. It is not shown again. The former one signs for another day."
        Console().print(f"{secret}\n{about}", highlight=False, soft_wrap=True)
