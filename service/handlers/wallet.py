"""The wallet."""

from typing import Any

from sqlalchemy import Row, bindparam, select

from callwright.contract import wallet as contract
from callwright.contract.declaration.pagination import Page
from callwright.service.handlers.changes import given
from callwright.service.handlers.request_context import RequestContext, handles
from callwright.service.handlers.resources import resource
from callwright.service.platform.database.listing import Listing
from callwright.service.platform.money import micros, money
from callwright.service.rules.prices import price_list
from callwright.service.rules.prices.installation_prices import InstallationPrices
from callwright.service.tables.ledger import HELD, wallet_of, warn_below
from callwright.service.tables.price_lists import current_list
from callwright.service.tables.schema import phone_numbers, transactions
from callwright.service.tables.schema.accounts import HELD_MOVEMENTS, MOVEMENTS_OF_EVERY_CALL, RARE_MOVEMENTS

_T, _N = transactions.c, phone_numbers.c
_RENTED = (
    select(_N.country, _N.provider, _N.simulated)
    .where(_N.org_id == bindparam("org"), _N.released_at.is_(None))
    .distinct()
)


def _prices(context: RequestContext) -> list[contract.Price]:
    """The prices of the countries from which the organization has numbers, and of the rest of the world."""
    rented = context.connection.execute(_RENTED, {"org": context.org_id}).all()
    countries = sorted({number.country for number in rented})
    agreed = [price for country in (*countries, None) for price in _prices_of(country)]
    listed = current_list(context.connection)
    if listed is None:
        return agreed
    real = sorted({(number.provider, number.country) for number in rented if not number.simulated})
    return [*agreed, *(_most(listed, provider, country) for provider, country in real)]


def _most(listed: InstallationPrices, provider: str, country: str) -> contract.Price:
    """The most that a minute to a country costs on a carrier's lines, by the price list of the installation."""
    dearest = listed.prices_to(provider, [country])[-1]
    minute = money(dearest.minute + dearest.started_minute)
    return contract.Price(item="outbound_call", unit="minute", price=minute, country=country, provider=provider)


def _prices_of(country: str | None) -> list[contract.Price]:
    prices = price_list.IN_FORCE.carriers[price_list.SIMULATED]
    destination = prices.destination(country)
    kinds: dict[contract.CalledType | None, price_list.Price] = {None: destination.landline}
    if destination.landline != destination.mobile:
        kinds = {"landline": destination.landline, "mobile": destination.mobile}
    calls = [
        contract.Price(
            item="outbound_call", unit="minute", price=money(price.minute), country=country, called_type=kind
        )
        for kind, price in kinds.items()
    ]
    rents = [(kind, prices.rental(country or price_list.REST, kind)) for kind in price_list.NUMBER_TYPES]
    rentals = [
        contract.Price(item=f"{kind}_number", unit="month", price=money(rent), country=country) for kind, rent in rents
    ]
    return [*calls, *rentals]


@handles(contract.get_wallet)
def get_wallet(asked: contract.GetWallet, context: RequestContext) -> contract.Wallet:
    """The wallet of the organization."""
    return _get_resource(context)


@handles(contract.update_wallet)
def update_wallet(asked: contract.UpdateWallet, context: RequestContext) -> contract.Wallet:
    """The wallet, after its warning threshold was changed or removed."""
    changes = given(asked)
    if "low_balance_threshold" in changes:
        threshold = changes["low_balance_threshold"]
        micros_ = None if threshold is None else micros(threshold.amount)
        warn_below(context.connection, context.ids, context.org_id, micros_, now_ms=context.now_ms)
    return _get_resource(context)


def _get_resource(context: RequestContext) -> contract.Wallet:
    row = wallet_of(context.connection, context.org_id)
    return resource(
        contract.Wallet,
        row,
        balance=money(row.balance_micros),
        reserved=money(row.reserved_micros),
        available=money(row.balance_micros - row.reserved_micros),
        low_balance_threshold=None if row.threshold_micros is None else money(row.threshold_micros),
        low_balance=row.low,
        prices=_prices(context),
    )


@handles(contract.list_transactions)
def list_transactions(asked: contract.ListTransactions, context: RequestContext) -> Page[contract.Transaction]:
    """A page of movements."""
    play_money: bool = wallet_of(context.connection, context.org_id).play_money

    def to_resource(row: Row[Any]) -> contract.Transaction:
        reference = None
        if row.reference_id is not None:
            reference = contract.Reference(type=row.reference_type, id=row.reference_id)
        return resource(
            contract.Transaction,
            row,
            amount=money(row.amount_micros),
            balance_after=money(row.balance_after_micros),
            reference=reference,
            play_money=play_money,
        )

    columns = {name: _T[name] for name in ("type", "reference_id", "created_at")}
    rows = select(transactions).where(_T.org_id == context.org_id)
    if not asked.type:
        rows = rows.where(_T.type.not_in(HELD))
    elif set(asked.type) <= set(HELD):
        rows = rows.where(HELD_MOVEMENTS)
    elif not MOVEMENTS_OF_EVERY_CALL & set(asked.type):
        rows = rows.where(RARE_MOVEMENTS)
    listing = Listing(contract.list_transactions, rows, columns, _T.id, is_long=True, narrow=("reference_id",))
    return context.page(listing, asked, to_resource)
