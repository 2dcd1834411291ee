"""`callwright orgs topup` and `orgs topups`."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from rich.console import Console
from rich.markup import escape

from callwright.contract.checks.counts import count_of
from callwright.server.commands.accounts.accounts import account_database, amount_data, dollars, moment_data
from callwright.server.commands.command_error import CommandError
from callwright.server.commands.output.json_text import print_json
from callwright.server.commands.output.tables import Cell, day, show
from callwright.server.embedded.payments import payment_settings
from callwright.server.settings import ProgramSettings
from callwright.service import accounts
from callwright.service.payments import stripe_checkout, topups
from callwright.service.payments.provider import PaymentProvider, ProviderRefused
from callwright.service.payments.simulated import SimulatedProvider
from callwright.service.platform.clock.clock import HOUR, MINUTE
from callwright.service.platform.data_folder import DataFolder
from callwright.service.platform.money import amount


async def ask(settings: ProgramSettings, name: str, text: str, quiet: bool, as_json: bool = False) -> None:
    """Makes a pending top-up, has the provider make a checkout, and prints its link.

    The top-up is stored before the provider is asked: if this ends in between, it stays pending and expires.
    """
    micros = dollars("--amount", text)
    root = _address(settings)
    async with account_database(settings) as (database, ids, now_ms):
        org_id = await database.read(accounts.find_organization, name)
        try:
            asked = await database.write(topups.ask, ids, org_id, micros, settings.payments, now_ms)
        except topups.WrongAmount as error:
            raise CommandError(f"--amount: {error}") from error
        try:
            async with _provider(settings, root) as provider:
                checkout = await provider.begin(asked)
        except ProviderRefused:
            await database.write(topups.fail, ids, asked.id, now_ms)
            raise
        await database.write(topups.attach, asked.id, checkout, now_ms)
    if as_json:
        print_json(
            {
                "id": asked.id,
                "amount": amount_data(micros),
                "provider": settings.payments,
                "url": checkout.url,
                "expires_at": moment_data(now_ms + checkout.valid_ms),
            }
        )
        return
    if quiet:
        Console().out(checkout.url, highlight=False)
        return
    minutes = checkout.valid_ms // MINUTE
    valid = count_of(checkout.valid_ms // HOUR, "hour") if minutes >= 120 else count_of(minutes, "minute")
    kind = "play money, nobody pays" if settings.payments == "simulated" else "real money"
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"Top-up {asked.id} of {amount(micros)[:-4]} USD for [bold]{escape(name)}[/]; {kind}")
    console.print(f"The link is valid for {valid}:")
    console.out(checkout.url, highlight=False)


@asynccontextmanager
async def _provider(settings: ProgramSettings, root: str) -> AsyncGenerator[PaymentProvider]:
    if settings.payments == "simulated":
        yield SimulatedProvider(root)
        return
    async with stripe_checkout.connected(payment_settings(settings), root) as provider:
        yield provider


def _address(settings: ProgramSettings) -> str:
    """Where a payer's browser finds the service. Raises `CommandError` if that is not known."""
    if settings.public_url is not None:
        return settings.public_url
    announced = DataFolder(settings.data).address()
    if announced is None:
        raise CommandError("the link leads to the service: start `callwright serve`, or set CALLWRIGHT_PUBLIC_URL")
    return announced.base_url.removesuffix("/v1")


async def show_all(settings: ProgramSettings, name: str, as_json: bool = False) -> None:
    """Prints the top-ups of an organization, newest first."""
    async with account_database(settings) as (database, _, _):
        org_id = await database.read(accounts.find_organization, name)
        found = await database.read(topups.topups_of, org_id)
    if as_json:
        print_json([_data(row) for row in found])
        return
    columns = (("id", "provider"), ("asked for", "paid"), ("state", "went back"), ("made", "settled (UTC)"))
    show(columns, (_row(row) for row in found))


def _data(row: Any) -> dict[str, Any]:
    return {
        "id": row.id,
        "status": row.status,
        "provider": row.provider,
        "amount": amount_data(row.amount_micros),
        "paid": amount_data(row.paid_micros),
        "refunded": amount_data(row.refunded_micros),
        "created_at": moment_data(row.created_at),
        "expires_at": moment_data(row.expires_at),
        "settled_at": moment_data(row.settled_at),
    }


def _row(row: Any) -> list[Cell]:
    return [
        (row.id, row.provider),
        (f"{amount(row.amount_micros)[:-4]} {row.currency}", _dollars(row.paid_micros)),
        (row.status, _dollars(row.refunded_micros or None)),
        (" ".join(day(row.created_at)), "" if row.settled_at is None else " ".join(day(row.settled_at))),
    ]


def _dollars(micros: int | None) -> str:
    return "" if micros is None else f"{amount(micros)[:-4]} USD"
