"""Tools for the wallet."""

from callwright.contract import wallet as contract
from callwright.contract.wallet import Price, Transaction, Wallet
from callwright.tools.runtime.tool import CHANGES, READS, Tool
from callwright.tools.runtime.tool_context import ToolContext
from callwright.tools.wording.text import amount, line, lines, moment


def _wallet(wallet: Wallet, _: ToolContext) -> str:
    return lines(
        line(
            f"available {amount(wallet.available)}",
            f"balance {amount(wallet.balance)}",
            f"reserved for calls under way {amount(wallet.reserved)}",
            "play money, not real" if wallet.play_money else None,
        ),
        f"To top it up, on the machine of the service: callwright orgs {_command(wallet)} NAME --amount 50.00",
        "The wallet is frozen: no new call is paid." if wallet.status == "frozen" else None,
        "The balance is low." if wallet.low_balance else None,
        f"warns below {amount(wallet.low_balance_threshold)}" if wallet.low_balance_threshold else None,
        *(_price(price) for price in wallet.prices),
    )


def _price(price: Price) -> str:
    where = line(price.country or "other countries", price.called_type)
    return f"price: {price.item} {amount(price.price)} a {price.unit}, {where}"


def _command(wallet: Wallet) -> str:
    """The command that adds money: play money at once, real money by a link."""
    return "fund" if wallet.play_money else "topup"


def _entry(transaction: Transaction, _: ToolContext) -> str:
    about = transaction.reference
    return line(
        transaction.id,
        moment(transaction.created_at),
        transaction.type,
        amount(transaction.amount),
        f"balance {amount(transaction.balance_after)}",
        f"{about.type} {about.id}" if about else None,
        transaction.description,
    )


TOOLS: tuple[Tool, ...] = (
    Tool(
        operation=contract.get_wallet,
        toolset="upkeep",
        title="Get the wallet",
        description=(
            "The organization's money: available, held back for calls under way, price list, and whether it is "
            "play money. Topped up on the machine of the service: callwright orgs fund. For single charges use "
            "list_transactions. Free."
        ),
        hints=READS,
        reply=_wallet,
    ),
    Tool(
        operation=contract.update_wallet,
        toolset="upkeep",
        title="Set the low-balance warning",
        description=(
            "Sets the balance below which the event wallet.low_balance warns; null switches the warning off. It moves "
            "no money and stops no campaign. To bound a campaign's cost use update_deployment with budget_cap. Free."
        ),
        hints=CHANGES,
        reply=_wallet,
    ),
    Tool(
        operation=contract.list_transactions,
        toolset="context",
        title="List wallet transactions",
        description=(
            "Wallet movements, newest first: negative charges, top-ups, refunds. For the balance use get_overview, "
            "for call costs get_call. Free."
        ),
        hints=READS,
        reply=_entry,
        empty="No transaction fits.",
        default_fields=("id", "type", "amount", "reference", "created_at"),
        hidden=frozenset({"sort", "fields"}),
        argument_descriptions={"type": "Of these.", "reference_id": "About what."},
    ),
)
