"""Tools for the wallet."""

from callwright.contract import wallet as contract
from callwright.contract.wallet import Transaction, Wallet

from .text import amount, line, lines, moment
from .tool import READS, Tool, one_a_line
from .use import Use


def _wallet(wallet: Wallet, _: Use) -> str:
    return lines(
        line(
            f"available {amount(wallet.available)}",
            f"balance {amount(wallet.balance)}",
            f"reserved for calls under way {amount(wallet.reserved)}",
            "play money, not real" if wallet.play_money else None,
        ),
        "The balance is low." if wallet.low_balance else None,
        *(f"price: {price.item} {amount(price.price)} a {price.unit}" for price in wallet.prices),
    )


def _entry(transaction: Transaction, _: Use) -> str:
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
        toolset="context",
        title="Get the wallet",
        description=(
            "The organization's money: what is available, what is held back for calls under way, and the price "
            "list. Use it before renting numbers or starting a deployment, and to see whether the money is play "
            "money of the simulated network. For single charges use list_transactions; for what one campaign would"
            " cost use preview_deployment. Free, changes nothing."
        ),
        hints=READS,
        reply=_wallet,
    ),
    Tool(
        operation=contract.list_transactions,
        toolset="context",
        title="List wallet transactions",
        description=(
            "Movements of the wallet, newest first: charges for calls and numbers, top-ups, refunds. Use it to say"
            " what was spent and on what; filter by type, by reference_id (a call, number or deployment) or by "
            "time. For the balance use get_wallet. Free, changes nothing. A charge is negative."
        ),
        hints=READS,
        reply=one_a_line(_entry, empty="No transaction fits."),
    ),
)
