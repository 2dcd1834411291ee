"""`client.wallet`."""

from callwright.contract import wallet

from .method import Noun, listing, method


class Wallet(Noun):
    """The wallet: balance, prices and movements."""

    get = method(wallet.get_wallet)
    update = method(wallet.update_wallet)
    list_transactions = listing(wallet.list_transactions)
