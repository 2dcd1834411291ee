"""The wallet: the organization's balance and every movement of it. On the simulated network it holds play money."""

from typing import Annotated, Literal

from pydantic import Field

from callwright.contract.declaration.changes import TO_NOTHING, Changes
from callwright.contract.declaration.field_types import Money, Spend, Timestamp
from callwright.contract.declaration.filters import Choices, Filter, FilterText, MadeBetween
from callwright.contract.declaration.marks import DERIVED, OwnText
from callwright.contract.declaration.model import Input, Resource
from callwright.contract.declaration.operation import listing, operation
from callwright.contract.declaration.pagination import MOST_COUNTED, PageQuery

TransactionType = Literal[
    "topup", "call_charge", "number_rental", "refund", "adjustment", "reservation", "reservation_release"
]
"""The last two hold money back for calls and release it: they change what is available, and not the balance."""


CalledType = Literal["landline", "mobile"]


class Price(Resource):
    """One line of the price list."""

    item: Annotated[OwnText, Field(description="What is charged.", examples=["outbound_call"])]
    unit: Annotated[OwnText, Field(description="Per what.", examples=["minute"])]
    price: Money
    country: Annotated[
        OwnText | None, Field(description="Of which country, ISO 3166-1 alpha-2; null: those not listed.")
    ] = None
    called_type: Annotated[
        CalledType | None, Field(description="To which numbers, where mobile ones cost more; null: to all.")
    ] = None
    provider: Annotated[
        OwnText | None,
        Field(description="On lines of which carrier, at most and with all services; null: the agreed price."),
    ] = None


class Wallet(Resource):
    """What the organization has and owes."""

    balance: Annotated[Money, Field(description="Money in the wallet."), DERIVED]
    reserved: Annotated[Money, Field(description="Held back for calls that are under way."), DERIVED]
    available: Annotated[Money, Field(description="balance less reserved: what can be spent now."), DERIVED]
    low_balance_threshold: Annotated[
        Money | None, Field(description="Below this balance the event wallet.low_balance is sent; null: never.")
    ] = None
    low_balance: Annotated[bool, Field(description="Whether the balance is below the threshold."), DERIVED]
    status: Annotated[
        Literal["active", "frozen"], Field(description="frozen: no new call is paid; calls under way are."), DERIVED
    ] = "active"
    play_money: Annotated[bool, Field(description="True on the simulated network: the money is not real.")]
    prices: Annotated[
        list[Price], Field(description="Prices of the countries of its numbers, and of the rest."), DERIVED
    ]
    updated_at: Annotated[Timestamp, DERIVED]


class Reference(Resource):
    """What a transaction is about."""

    type: Annotated[OwnText, Field(examples=["call"])]
    id: str


class Transaction(Resource):
    """One movement of the wallet; never changed afterwards."""

    id: str
    type: TransactionType
    amount: Annotated[Money, Field(description="Signed: a charge is negative.")]
    balance_after: Money
    reference: Reference | None = None
    description: OwnText
    status: Literal["settled"] = "settled"
    play_money: bool
    created_at: Timestamp


class GetWallet(Input):
    """The wallet."""


class UpdateWallet(Changes):
    """Changes to the wallet: below which balance to warn. Where it is below already, the event comes at once."""

    low_balance_threshold: Annotated[
        Spend | None,
        Field(description="Warn when the balance falls below this; null switches the warning off."),
        TO_NOTHING,
    ] = None


class ListTransactions(MadeBetween, PageQuery):
    """Movements of the wallet."""

    type: Annotated[
        Choices[TransactionType],
        Field(description="Only these types, for example call_charge; without it all but reservations."),
    ] = None
    reference_id: Annotated[
        FilterText | None, Field(description="Only those about this call, number or deployment."), Filter()
    ] = None


get_wallet = operation("get_wallet", "GET /wallet", takes=GetWallet, gives=Wallet, summary="Get the wallet.")
update_wallet = operation(
    "update_wallet",
    "PATCH /wallet",
    takes=UpdateWallet,
    gives=Wallet,
    summary="Set or switch off the warning of a low balance.",
)
list_transactions = listing(
    "list_transactions",
    "/wallet/transactions",
    takes=ListTransactions,
    gives=Transaction,
    counts_to=MOST_COUNTED,
    summary="List wallet transactions.",
)
