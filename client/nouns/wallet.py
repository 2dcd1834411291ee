"""`client.wallet`."""

from callwright.client.nouns.method import Noun, listing, method
from callwright.contract import wallet


class Wallet(Noun):
    """The wallet: balance, prices and movements."""

    get = method(wallet.get_wallet)
    update = method(wallet.update_wallet)
    list_transactions = listing(wallet.list_transactions)
